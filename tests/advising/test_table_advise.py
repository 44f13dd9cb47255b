"""Advice on tables: it equals a search by hand over few candidates, and says when nothing helps."""

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest

import standout as so
from advising.tables_to_advise import ADVERSARY, MENU, people_table
from sanitizing.sanitizing_tables import random_table
from standout.advising import search
from standout.advising.search import COLUMN_ATTACKS as ATTACKS
from standout.evaluate.estimates import rate
from standout.know.sanitized import representatives_of

pytestmark = pytest.mark.once
TARGETS, SEED, LIMIT = 250, 3, 0.4


@pytest.fixture(scope="module")
def table():
    return people_table()


@pytest.fixture(scope="module")
def advice(table):
    return so.advise(table, ADVERSARY, LIMIT, candidates=MENU, targets=TARGETS, seed=SEED, name="people")


def rates(table, steps, attack):
    """The rates of one attack in the full stage by plain functions: everybody, and those who are left."""
    safer = so.sanitize(table, *steps, seed=SEED)
    found = so.simulate(safer, ADVERSARY, attack=attack, targets=TARGETS, seed=SEED + 1).cell()
    present = representatives_of(safer)[found.targets] >= 0
    success = found.outcomes.identified[:, 0]
    return rate(float(success.sum()), len(success)), rate(float(success[present].sum()), int(present.sum()))


def test_the_recommendation_is_that_of_a_search_by_hand(table, advice):
    kept, utility = {}, {candidate.steps: candidate.utility_kept for candidate in advice.candidates}
    for text in MENU:
        steps = (so.step(text),)
        by_attack = {attack: rates(table, steps, attack) for attack in ATTACKS}
        strongest = max(by_attack, key=lambda attack: by_attack[attack][0].value)
        if by_attack[strongest][1].high <= LIMIT:
            kept[steps] = utility[steps]
        candidate = next(each for each in advice.candidates if each.steps == steps)
        if candidate.stage == "full":
            everybody, released = by_attack[strongest]
            assert candidate.risk.attack == strongest
            assert np.isclose(candidate.risk.everybody.value, everybody.value), text
            assert np.isclose(candidate.risk.released.value, released.value), text
    assert 2 <= len(kept) < len(MENU) and not advice.search.failed
    assert advice.recommended.steps == max(kept, key=lambda steps: kept[steps])


def test_the_recommended_table_is_below_the_limit_by_a_plain_simulation(table, advice):
    best = advice.recommended
    assert best.stage == "fresh" and best.rate.high <= LIMIT
    safer = so.sanitize(table, *best.steps, seed=99)
    for attack in ATTACKS:
        assert so.simulate(safer, ADVERSARY, attack=attack, targets=TARGETS, seed=98).cell().identified.value < LIMIT


def test_people_who_are_left_out_count_only_among_everybody(table):
    advice = so.advise(table, ADVERSARY, 0.01, candidates=["drop-rows age zip 2"], targets=TARGETS, among="everybody")
    risk = advice.candidates[1].risk
    assert risk.everybody.n > risk.released.n and risk.everybody.value < risk.released.value


def test_if_nothing_meets_the_limit_the_closest_candidate_is_named(table):
    advice = so.advise(table, ADVERSARY, 0.001, candidates=MENU, targets=100)
    assert advice.complete and advice.recommended is None and advice.command() == ""
    assert "None of the 5 candidates meets the limit of 0.1 %" in advice.summary
    closest = min(advice.candidates, key=lambda each: (each.rate.high, -each.utility_kept))
    assert f"The closest is {closest.name}" in advice.summary


def test_a_safer_candidate_follows_one_that_fails_when_re_measured(table, monkeypatch):
    failed = []

    class Unlucky(search.CandidateRunner):
        def measure(self, stage, steps):
            if stage == "fresh" and not failed:
                failed.append(steps)
                return super().measure("full", ())
            return super().measure(stage, steps)

    monkeypatch.setattr("standout.advising.advise.CandidateRunner", Unlucky)
    advice = so.advise(table, ADVERSARY, LIMIT, candidates=MENU, targets=TARGETS, seed=SEED)
    first = next(each for each in advice.candidates if each.steps == failed[0])
    assert len(advice.search.failed) >= 1
    assert advice.recommended is None or advice.recommended.rate.value < first.rate.value


def test_built_in_steps_are_combined_by_default(table, monkeypatch, tmp_path):
    monkeypatch.setattr(search, "COLUMN_ROUNDS", (3, 2))
    monkeypatch.setattr(search, "FULL_CANDIDATES", 3)
    settings = {"limit": 0.2, "targets": 60, "work": tmp_path}
    advice = so.advise(table, ADVERSARY, **settings)
    assert max(len(candidate.steps) for candidate in advice.candidates) >= 2 and not advice.search.impossible
    monkeypatch.setattr(search, "sanitize", None)  # nothing is measured again
    again = so.advise(table, ADVERSARY, threads=1, **settings)
    assert json.dumps(again.to_dict()) == json.dumps(advice.to_dict())


def test_columns_of_every_type_are_searched(monkeypatch):
    monkeypatch.setattr(search, "COLUMN_ROUNDS", (4,))
    monkeypatch.setattr(search, "FULL_CANDIDATES", 3)
    table = random_table(120, 1)
    advice = so.advise(table, so.Adversary(knows=2, wrong=1), 0.3, targets=40)
    changed = " ".join(candidate.name for candidate in advice.candidates)
    assert advice.complete and all(f" {name}" in changed for name in table.column_names)
    assert advice.to_dict()["candidates"][0]["steps"] == []


def test_a_history_stays_and_counts_if_the_adversary_knows_it():
    history = so.synthesize(records=60, items=30, entries=600, seed=7)
    table = replace(history, columns=people_table(60).columns)
    known = so.Adversary(knows=1, entries=so.Adversary(knows=3))
    advice = so.advise(table, known, 0.5, candidates=["drop-column age"], targets=20)
    assert "3 entries of the history" in advice.summary and advice.candidates[1].rate.value > 0.5
    assert any("history" in limit for limit in advice.findings.limits)


def test_the_default_adversary_is_an_acquaintance_adapted_to_the_table(table):
    advice = so.advise(table, limit=0.9, candidates=["drop-column zip"], targets=20)
    assert (advice.adversary.knows, advice.adversary.wrong) == (4, 1)
    assert "4 attributes, exact, 1 wrong" in advice.summary
    assert "nothing has to be changed" in advice.summary


def test_the_command_names_the_table_and_every_step(advice):
    words = shlex.split(advice.command(["my data.csv", "--ignore", "weight"], "safer.csv"))
    assert words[:6] == ["standout", "sanitize", "my data.csv", "--ignore", "weight", "--table"]
    given = [words[at + 1] for at, word in enumerate(words) if word == "--step"]
    assert given == list(map(str, advice.recommended.steps)) and words[-2:] == ["-o", "safer.csv"]
    assert "--seed" not in words


def test_the_report_shows_the_parts_of_the_utility(advice, tmp_path):
    advice.to_html(tmp_path / "report.html")
    advice.to_json(tmp_path / "advice.json")
    page = (tmp_path / "report.html").read_text()
    for text in ("300 people, 4 columns", "associations", "and the frontier", "sanitized table"):
        assert text in page, text
    assert "recommender" not in page and "seed" not in json.loads((tmp_path / "advice.json").read_text())
    assert {"kept", "information", "associations", "rows_kept"} < set(advice.table.columns)
    assert repr(advice).startswith("<Advice: 5 candidates; recommended")


def test_impossible_parameters_are_errors(table):
    cases = [
        ({"candidates": "round age 5"}, "list of steps"),
        ({"candidates": []}, "at least one"),
        ({"candidates": [4]}, "sequences of steps"),
        ({"adversary": 4}, "Adversary"),
        ({"limit": 1.0}, "limit"),
        ({"among": "all"}, "among"),
        ({"attacks": [so.Likelihood]}, "must be an attack"),
        ({"attacks": {"paper": so.ScoreboardRH()}}, "names other than"),
    ]
    for settings, message in cases:
        with pytest.raises(so.ParameterError, match=message):
            so.advise(table, **settings)
    with pytest.raises(so.NotFoundError, match="no column 'street'"):
        so.advise(table, candidates=[["round age 5", "drop-column street"]])
    with pytest.raises(so.ParameterError, match="original"):
        so.advise(so.sanitize(table, "round age 5"))


def test_a_step_that_does_not_fit_is_not_tried_and_says_so(table):
    advice = so.advise(table, ADVERSARY, candidates=["round sex 5"], targets=20)
    assert "No candidate could be tried, and the untouched table does not meet" in advice.summary
    assert "numbers" in advice.search.impossible["round sex 5"]
    assert any("do not fit the table" in limit for limit in advice.findings.limits)


def test_an_attack_of_ones_own_is_tried(table):
    advice = so.advise(table, ADVERSARY, candidates=["round age 10"], targets=50, attacks={"sharp": so.Scoreboard()})
    assert {candidate.risk.attack for candidate in advice.candidates} <= {*ATTACKS, "sharp"}
