"""The audit: every number is the library's own, a broken attack is noticed, and nobody is named."""

import json
import math
import os
import stat
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cache, partial
from itertools import combinations, pairwise
from pathlib import Path

import jsonschema
import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import standout as so
import standout.auditing.selfcheck as selfcheck
import standout.evaluate.simulate as simulation
from conftest import content
from standout.attack.known_items import known_items_of_query
from standout.attack.reference import scores_1b
from standout.auditing import sentences as words
from standout.auditing.attacks import Attacked, curve_of
from standout.auditing.exposure import NEVER, by_joined, by_length, needed
from standout.auditing.ladder import LADDER, Rung, fit, fitted, ladder_of, read_ladder, scaled, words_of
from standout.auditing.risk_table import risk_table
from standout.auditing.selfcheck import SelfCheck, beta_binomial_tail, binomial_tail, planted
from standout.auditing.sensitive import listed
from standout.evaluate.estimate_json import estimate_json
from standout.evaluate.estimate_text import percent
from standout.evaluate.estimates import rate
from standout.report.safe_tables import inert

pytestmark = pytest.mark.once

COMPILED = not numba.config.DISABLE_JIT
DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "findings.schema.json").read_text())
TARGETS, FACTS = 12, [1, 2, 4]


def any_day(draw):
    return date(2004, 1, 1) + timedelta(days=int(draw.integers(900)))


def people(n=40, items=30, length=lambda r: 9 + r % 4, value=True, time=True, seed=1):
    """A release of so many people; values and times are drawn, by a function if one is given."""
    draw, rows = np.random.default_rng(seed), []
    values = value if callable(value) else lambda draw: float(draw.integers(1, 6))
    times = time if callable(time) else any_day
    for r in range(n):
        for i in draw.permutation(items)[: length(r)].tolist():
            row = {"record": f"person {r}", "item": f"thing {i}"}
            row |= {"value": values(draw)} if value else {}
            rows.append(row | ({"time": times(draw)} if time else {}))
    return so.read(
        pl.DataFrame(rows, infer_schema_length=None), time_unit="hour" if time and callable(time) else "day"
    )


@pytest.fixture(scope="module")
def release():
    return people()


ask = partial(so.audit, targets=TARGETS, facts=FACTS, name="people.csv", seed=3)


@pytest.fixture(scope="module")
def done(release):
    return ask(release, fail_above=0.05)


def valid(findings):
    jsonschema.Draft202012Validator(SCHEMA).validate(findings)
    json.dumps(findings, allow_nan=False)
    return findings


# The findings are the library's numbers.


def test_the_schema_is_one_and_the_findings_keep_to_it(done):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    found = valid(done.findings)
    assert found["schema_version"] == 2 and found["made"]["at"] is None
    assert done.complete and done.trusted and done.exceeded


def test_nothing_in_the_findings_names_a_record_or_an_item(done, release):
    text = json.dumps(done.findings)
    assert not any(f'"{name}"' in text for name in (*release.records, *release.items))
    assert "person 1" not in text and "thing 1" not in text
    assert "safe" not in text.lower()


def direct(release, adversary, facts=None):
    return so.simulate(release, adversary, facts=facts, targets=TARGETS, seed=3)


@pytest.mark.parametrize("rung", LADDER, ids=lambda rung: rung.name)
def test_every_number_of_an_adversary_is_that_of_a_direct_call(done, release, rung):
    (found,) = [one for one in done.findings["adversaries"] if one["name"] == rung.name]
    by_hand = direct(release, rung.adversary)
    within = "absent_claims<=0.01"
    wanted = {
        name: by_hand.estimate(name, setting)
        for name, setting in {
            "identified": "", "in_top": "top=10", "correct_claims": "phi=1.5", "wrong_claims": "phi=1.5",
            "absent_claims": "phi=1.5", "bits_gained": "", "bits_left": "", "lineup_size": "mass=90 %",
            "revealed": "", "revealed_correct": "", "revealed_correct_share": "",
        }.items()
    }  # fmt: skip
    wanted["correct_claims_at_budget"] = by_hand.estimate("correct_claims", within)
    at = found["at"] | {"lineup_size": found["at"]["lineup"]}
    assert {name: at[name] for name in wanted} == {name: estimate_json(one) for name, one in wanted.items()}
    assert at["phi_at_budget"] == by_hand.estimate("phi", within).value
    assert (at["facts"], at["targets"]) == (rung.adversary.knows, TARGETS)
    assert found["left_out"] == by_hand.cell().too_few_items
    assert found["left_out"] == int((release.lengths < rung.adversary.knows).sum())


@pytest.mark.parametrize("name", ["acquaintance", "worst"])
def test_a_curve_is_the_same_adversary_with_as_many_facts(done, release, name):
    (found,) = [one for one in done.findings["adversaries"] if one["name"] == name]
    (rung,) = [one for one in LADDER if one.name == name]
    by_hand = direct(release, scaled(rung.adversary, 4), FACTS)
    assert [point["facts"] for point in found["curve"]] == FACTS
    for point in found["curve"]:
        for measure in ("identified", "bits_gained"):
            assert point[measure] == estimate_json(by_hand.estimate(measure, facts=point["facts"]))
        for measure in ("correct_claims", "absent_claims"):
            assert point[measure] == estimate_json(by_hand.estimate(measure, "phi=1.5", facts=point["facts"]))


def test_the_answer_is_about_the_headline(done, release):
    answer, found = done.findings["answer"], direct(release, LADDER[1].adversary).estimate("identified")
    assert answer["rate"] == estimate_json(found) and answer["adversary"] == "acquaintance"
    assert answer["people"] == round(found.value * release.n_records)
    assert answer["sentence"] == (
        "An acquaintance who knows 8 things about a person, 2 of them wrongly, picks the right record for "
        f"{percent(found.value)} of people."
    )
    other = ask(release, headline="colleague", ladder={"colleague": LADDER[0], "worst": LADDER[4]})
    assert other.findings["answer"]["sentence"].startswith(
        "A colleague who knows 4 things about a person, 1 of"
    )
    assert other.findings["settings"]["ladder"] == "own" and other.exceeded is None


def test_the_data_and_the_settings_are_told(done, release):
    data, settings = done.findings["data"], done.findings["settings"]
    assert (data["records"], data["items"], data["entries"]) == (40, 30, release.n_entries)
    assert (data["first"], data["last"]) == tuple(day.isoformat() for day in release.time_range)
    assert data["median_length"] == np.median(release.lengths) and not data["synthetic"]
    assert (settings["facts"], settings["headline"], settings["ladder"]) == (FACTS, "acquaintance", "default")
    assert done.findings["theory"]["sparsity"]["similarity"] == "values within 1 and dates within 14 days"


def test_sparsity_and_bounds_are_the_librarys(done, release):
    found = so.sparsity(release, so.Within(value=1, time=14))
    theory = done.findings["theory"]
    assert [estimate_json(found.survival(row["epsilon"])) for row in theory["sparsity"]["curve"]] == [
        row["share"] for row in theory["sparsity"]["curve"]
    ]
    near = np.sort(found.nearest)[math.ceil(0.95 * 40) - 1]
    bounds = {row["theorem"]: row["bound"] for row in theory["bounds"]}
    assert bounds["Theorem 1"] == so.bounds.facts_needed(40, 0.05, 0.5)
    assert bounds["Theorem 3"] == so.bounds.facts_for_lineup(40, 10, 0.95 - near)
    assert found.delta(float(near)).value <= 0.05


# Who is exposed.


def guesses(release, adversary, places, size, seed=3):
    """For each target the share 1/ties if it is among the best by the paper's formula, with `size` facts."""
    cells, known = content(release), adversary.observe_all(release, places, seed)
    found = []
    for q, place in enumerate(places):
        facts = {}
        for fact in list(known.aux(release, q))[:size]:
            time = None if fact.time is None else (fact.time - date(1970, 1, 1)).days
            facts[fact.item] = (fact.value, time)
        tied = naive.tied(naive.sums(cells, facts))
        found.append((release.records[place] in tied) / len(tied))
    return found


def targets_of(release, adversary, seed=3):
    from standout.core.rng import generator

    order = generator(seed, "targets").permutation(release.n_records)
    return order[adversary.eligible(release, order)][:TARGETS]


def test_facts_needed_are_those_of_a_slow_twin(done, release):
    adversary = scaled(LADDER[1].adversary, 4)
    places = targets_of(release, adversary)
    by_size = {size: guesses(release, adversary, places, size) for size in FACTS}
    for row in done.findings["exposure"]["facts_needed"]:
        stays = [all(by_size[size][t] == 1 for size in FACTS if size >= row["facts"]) for t in range(TARGETS)]
        assert row["share"] == estimate_json(rate(sum(stays), TARGETS))


def test_classes_of_people_are_those_of_a_slow_twin(done, release):
    adversary = LADDER[1].adversary
    places = targets_of(release, adversary)
    right = guesses(release, adversary, places, 8)
    first = {r: min(e.time for e in release.record_at(r).entries) for r in range(release.n_records)}
    known = adversary.observe_all(release, places, 3)
    rarest = [max(release.item(fact.item).rank for fact in known.aux(release, q)) for q in range(TARGETS)]
    own = {
        "by_length": [int(release.lengths[p]) for p in places],
        "by_popularity": rarest,
        "by_joined": [first[int(p)].isoformat() for p in places],
    }
    everybody = {
        "by_length": release.lengths.tolist(),
        "by_joined": [day.isoformat() for day in first.values()],
    }
    for by, numbers in own.items():
        rows = done.findings["exposure"][by]
        assert sum(row["identified"]["n"] for row in rows) == TARGETS
        for row in rows:
            here = [t for t in range(TARGETS) if row["low"] <= numbers[t] <= row["high"]]
            assert row["identified"] == estimate_json(rate(math.fsum(right[t] for t in here), len(here)))
            if by in everybody:
                assert row["people"] == sum(row["low"] <= one <= row["high"] for one in everybody[by])


@given(st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=3, max_size=3), min_size=1, max_size=9))
def test_a_person_is_identified_from_the_first_number_on_that_stays_right(rights):
    found = needed(np.array(rights), [1, 2, 4])
    for row, least in zip(rights, found.tolist(), strict=True):
        slow = [size for at, size in enumerate([1, 2, 4]) if all(one == 1 for one in row[at:])]
        assert least == min(slow, default=NEVER)


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=60))
def test_classes_of_lengths_hold_everybody_once(lengths):
    class Fake:
        pass

    release, cell, outcomes = Fake(), Fake(), Fake()
    release.lengths, cell.targets, cell.outcomes = np.array(lengths), np.arange(len(lengths)), outcomes
    outcomes.identified = np.ones((len(lengths), 1))
    rows = by_length(release, cell)
    assert sum(row["people"] for row in rows) == sum(row["identified"]["n"] for row in rows) == len(lengths)
    assert all(row["identified"]["n"] for row in rows)
    ends = [(row["low"], row["high"]) for row in rows]
    assert all(before[1] + 1 == after[0] for before, after in pairwise(ends))


def test_first_dates_are_told_by_year_quarter_or_month():
    for days, label in ((3000, "2004"), (500, "2004-01 to 2004-03"), (100, "2004-01")):
        time = lambda draw, days=days: datetime(2004, 1, 1) + timedelta(hours=int(draw.integers(24 * days)))  # noqa: E731
        release = people(n=30, length=lambda r: 1, time=time)
        cell = so.simulate(release, so.Adversary(knows=1), targets="all", absent=False).cell()
        rows = by_joined(release, cell)
        assert rows[0]["label"].startswith(label[:4]) and sum(row["people"] for row in rows) == 30
        assert rows[0]["low"] == "2004-01-01"


# What a release lacks.


CASES = {
    "one record": lambda: people(n=1),
    "one record of one item": lambda: people(n=1, items=1, length=lambda r: 1, value=False, time=False),
    "two records": lambda: people(n=2),
    "no values": lambda: people(value=False),
    "no times": lambda: people(time=False),
    "neither": lambda: people(value=False, time=False),
    "categories": lambda: people(value=lambda draw: str(draw.choice(["rented", "bought", "seen"]))),
    "hourly": lambda: people(
        time=lambda draw: datetime(2004, 1, 1) + timedelta(hours=int(draw.integers(9000)))
    ),
    "fewer items than facts": lambda: people(items=5, length=lambda r: 1 + r % 5),
    "everybody has everything": lambda: people(items=6, length=lambda r: 6, value=False, time=False),
    "one item each": lambda: people(length=lambda r: 1),
    "one value, one day": lambda: people(value=lambda draw: 3.0, time=lambda draw: datetime(2004, 1, 1)),
    "gaps": lambda: people(value=lambda draw: None if draw.random() < 0.5 else 4.0 + draw.integers(2)),
}


@pytest.mark.parametrize("case", CASES)
def test_any_release_can_be_audited(case):
    done = so.audit(CASES[case](), targets=6, facts=[1, 2], fail_above=0.5)
    found = valid(done.findings)
    assert done.trusted, [check for check in found["trust"]["checks"] if not check["passed"]]
    assert len(done.tables) == 6
    for one in found["adversaries"]:
        assert one["value_error"] is None or found["data"]["has_values"]
        assert one["time_error"] is None or found["data"]["has_times"]
    assert len(done.risk_table(draws=1)) == found["data"]["records"]


def test_what_a_release_lacks_is_left_out_and_told():
    release = people(value=False, time=False)
    fitting = fitted(ladder_of(None), release)
    assert [rung.name for rung in fitting.rungs] == ["colleague", "acquaintance", "profile", "worst"]
    assert fitting.limits == (
        "The adversary “undated” was left out: on this data it is the same as “acquaintance”.",
    )
    head = fitting.rungs[1]
    assert head.adversary == so.Adversary(
        knows=8, wrong=2, wrong_facts="items", value_error=None, time_error=None
    )
    assert head.note.split("; ") == [
        "the release has no values, so they are left out",
        "the release has no times, so dates are left out",
        "nothing else can be wrong here, so wrong facts are about items that are not there",
    ]
    assert words_of(head.adversary, release) == "8 items, 2 wrong (items not in the record)"
    assert fitted(ladder_of(None, "undated"), release).headline == "acquaintance"


def test_categories_have_no_error_and_times_alone_can_be_wrong():
    release = people(value=lambda draw: str(draw.choice(["rented", "bought"])), time=False)
    adversary = fit(LADDER[0], release).adversary
    assert (adversary.value_error, adversary.wrong_facts) == (0, "values")
    assert fit(LADDER[3], people(value=False)).adversary.wrong_facts == "items"
    assert fit(LADDER[1], people(value=False)).adversary.wrong_facts == "values"
    assert (
        fit(Rung("late", "late", so.Adversary(items="recent")), people(time=False))
        == "the release has no times"
    )
    ladder = {"late": so.Adversary(items="recent"), "any": so.Adversary()}
    found = fitted(ladder_of(ladder, "late"), people(time=False))
    assert found.headline == "any" and found.limits[1] == (
        "The headline “late” cannot be tried on this data: it is “any”."
    )
    with pytest.raises(so.ParameterError, match="no adversary of the ladder can be tried"):
        so.audit(people(time=False), ladder={"late": so.Adversary(items="recent")})


def test_who_would_know_more_than_hardly_anybody_has_is_asked_for_less():
    release = people(items=40, length=lambda r: 3 if r else 20)
    found = fit(LADDER[1], release)
    assert (found.adversary.knows, found.adversary.wrong) == (3, 1)
    assert (
        found.note
        == "fewer than 5 % of the records can be tried with 8 facts, 2 wrong, so it is 3 facts, 1 wrong"
    )
    assert fit(LADDER[1], people(items=40, length=lambda r: 3 if r > 1 else 20)).adversary.knows == 8
    huge = Rung("all", "all", so.Adversary(knows=10**9))
    assert fit(huge, release).adversary.knows == 3


@pytest.mark.parametrize("knows", [1, 2, 3, 4, 6, 8, 12, 16, 100])
@pytest.mark.parametrize("wrong", [0, 1, 2, 5, 8])
def test_the_same_share_is_wrong_with_any_number_of_facts(knows, wrong):
    found = scaled(so.Adversary(knows=8, wrong=wrong), knows)
    assert (found.knows, abs(found.wrong - knows * wrong / 8) <= 0.5) == (knows, True)
    assert knows != 8 or found.wrong == wrong


def test_a_curve_ends_where_half_of_the_records_do():
    release = people(items=40, length=lambda r: 5 if r % 2 else 20)
    one, sizes = curve_of(LADDER[1].adversary, release, [1, 2, 4, 8, 16])
    assert (one.knows, one.wrong, sizes) == (16, 4, (1, 2, 4, 8, 16))
    one, sizes = curve_of(
        LADDER[1].adversary, people(items=40, length=lambda r: 5 if r % 3 else 20), [2, 4, 8]
    )
    assert (one.knows, one.wrong, sizes) == (4, 1, (2, 4))
    assert curve_of(LADDER[1].adversary, people(length=lambda r: 1), [2, 4])[1] == (1,)
    liar, full = so.Adversary(knows=2, wrong=2, wrong_facts="items"), people(items=3, length=lambda r: 3)
    assert curve_of(liar, full, [2, 4]) == (so.Adversary(knows=1), (1,))


# The ladder.


def test_the_ladder_in_the_docs_is_the_usual_one():
    found = read_ladder(DOCS / "ladder.toml")
    assert found.rungs == LADDER
    assert (found.headline, found.source) == ("acquaintance", "ladder.toml")
    assert ladder_of(None).headline == "acquaintance"


def test_a_ladder_of_ones_own(put, release):
    path = put(
        """
        [[adversary]]
        name = "nosy"
        knows = 3
        items = "outside_top(5)"
        time_error = "none"
        length_error = 0.5

        [[adversary]]
        name = "late"
        title = "Who saw the latest"
        gate = false
        items = "recent"
        """,
        "mine.toml",
    )
    ladder = read_ladder(path)
    assert (ladder.headline, ladder.source) == ("nosy", "mine.toml")
    assert ladder.rungs == (
        Rung(
            "nosy", "nosy", so.Adversary(knows=3, items=so.outside_top(5), time_error=None, length_error=0.5)
        ),
        Rung("late", "Who saw the latest", so.Adversary(items="recent"), gate=False),
    )
    done = ask(release, ladder=path, fail_above=0.5)
    assert valid(done.findings)["settings"]["ladder"] == "mine.toml"
    assert done.findings["threshold"]["adversary"] == "nosy"
    assert done.findings["answer"]["sentence"].startswith(
        "The adversary “nosy” who knows 3 things about a person"
    )
    assert [one["gate"] for one in done.findings["adversaries"]] == [True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"at least one table \[\[adversary\]\]"),
        ("adversary = 3", r"at least one table \[\[adversary\]\]"),
        ("adversary = []", r"at least one table \[\[adversary\]\]"),
        ("[adversary]\nname = 'a'", r"at least one table \[\[adversary\]\]"),
        ("[[adversary]]\nknows = 3", "adversary 1: it needs a name"),
        (
            "[[adversary]]\nname = 'a'\nknow = 3",
            "adversary 1: unknown option 'know': there are name, title, gate",
        ),
        ("[[adversary]]\nname = 'a'\nknows = '3'", "adversary 1: knows must be a whole number"),
        ("[[adversary]]\nname = 'a'\nknows = true", "adversary 1: knows must be a whole number"),
        ("[[adversary]]\nname = 'a'\nwrong = 9", "adversary 1: wrong must be at most knows"),
        ("[[adversary]]\nname = 'a'\ngate = 1", "gate must be true or false"),
        ("[[adversary]]\nname = 3", "name must be text"),
        ("[[adversary]]\nname = 'a'\nitems = 'some'", "items must be any, rarest"),
        ("[[adversary]]\nname = 'a'\nitems = 3", "items must be text"),
        ("[[adversary]]\nname = 'a'\nitems = 'outside_top(0)'", "adversary 1: outside_top must be a whole"),
        ("[[adversary]]\nname = 'a'\nvalue_error = 'much'", 'value_error must be a number, or "none"'),
        ("[[adversary]]\nname = 'a'\ntime_error = -1", "time_error must be a finite number"),
        ("[[adversary]]\nname = 'a'\ntime_error = nan", "time_error must be a finite number"),
        ("[[adversary]]\nname = 'a'\nwrong_facts = 'lies'", "wrong_facts must be values, items"),
        ("[[adversary]]\nname = 'a'\n[[adversary]]\nname = 'a'", "two adversaries have the same name"),
        ("[[adversary]]\nname = ' '", "names and titles are one line"),
        ("[[adversary]]\nname = 'a'\ntitle = '" + "x" * 99 + "'", "names and titles are one line"),
        ("headline = 'b'\n[[adversary]]\nname = 'a'", "headline must be one of a, got 'b'"),
        ("headline = 3\n[[adversary]]\nname = 'a'", "headline is the name of an adversary"),
        ("ladder = 3\n[[adversary]]\nname = 'a'", "unknown key 'ladder'"),
        ("[[adversary", "is not a TOML file"),
        (b"\xff\xfe", "is not a TOML file"),
    ],
)
def test_a_bad_ladder_is_a_clear_error(put, text, message):
    with pytest.raises(so.ParameterError, match=message):
        read_ladder(put(text, "ladder.toml"))


def test_a_ladder_that_is_not_there_or_none_at_all(tmp_path, release):
    with pytest.raises(so.SourceError, match=r"nothing\.toml cannot be read"):
        read_ladder(tmp_path / "nothing.toml")
    for wrong in ({}, [], 3, {"a": 3}, {3: so.Adversary()}, [so.Adversary()]):
        with pytest.raises(so.ParameterError, match="ladder"):
            so.audit(release, ladder=wrong)
    with pytest.raises(so.ParameterError, match="headline must be one of colleague"):
        so.audit(release, headline="nobody")


WRONG = [
    {"fail_above": 2}, {"fail_above": True}, {"budget": 0}, {"budget": "1"}, {"targets": 0}, {"phi": -1},
    {"seed": -1}, {"facts": []}, {"facts": "4"}, {"facts": [0]}, {"facts": [10**6]}, {"threads": 0},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_a_setting_out_of_range_is_an_error(release, wrong):
    with pytest.raises(so.ParameterError):
        so.audit(release, **wrong)


# Sensitive items.


def titled(release, put):
    titles = {item: f"Title of {item.removeprefix('thing ')} (1999)" for item in release.items}
    rows = "".join(f"{item},{title}\n" for item, title in titles.items())
    return so.read(release.to_frame(), titles=put("item,title\n" + rows, "titles.csv"))


def test_sensitive_items_are_found_by_id_or_title(put, release):
    path = put(
        "# a comment\nthing 1\thealth\nTitle of 2\thealth \r\n\nthing 3\nnobody knows\tpolitics\n", "list.txt"
    )
    found = listed(path, titled(release, put))
    codes = {name: [release.items[code] for code in some] for name, some in found.categories.items()}
    assert codes == {
        "health": ["thing 1", "thing 2"],
        "politics": [],
        "any": ["thing 1", "thing 2", "thing 3"],
    }
    assert (found.file, found.lines, found.found) == ("list.txt", 4, 3)
    assert found.limit == "1 of 4 lines of list.txt name no item of the release."
    with pytest.raises(so.ParameterError, match=r"list\.txt lists no item"):
        listed(put("# nothing\n", "list.txt"), release)
    with pytest.raises(so.SourceError, match="not a text file"):
        listed(put(b"\xff\xfe", "list.txt"), release)
    with pytest.raises(so.SourceError, match="cannot be read"):
        listed(path.with_name("none"), release)


def test_who_would_have_one_revealed_is_counted_as_a_slow_twin_does(put, release):
    chosen = {"health": ["thing 1", "thing 2"], "politics": ["thing 3"]}
    text = (
        "".join(f"{item}\t{name}\n" for name, items in chosen.items() for item in items)
        + "thing 4\nno such\n"
    )
    done = ask(release, sensitive=put(text, "sensitive.txt"))
    found = valid(done.findings)["exposure"]["sensitive"]
    assert (found["file"], found["items_listed"], found["items_found"]) == ("sensitive.txt", 5, 4)
    assert "1 of 5 lines of sensitive.txt name no item of the release." in done.findings["limits"]
    adversary = LADDER[1].adversary
    places = targets_of(release, adversary)
    right, known = guesses(release, adversary, places, 8), adversary.observe_all(release, places, 3)
    chosen["any"] = ["thing 1", "thing 2", "thing 3", "thing 4"]
    assert [row["category"] for row in found["rows"]] == list(chosen)
    records = [set(release.record_at(r).support) for r in range(release.n_records)]
    for row in found["rows"]:
        items = {*chosen[row["category"]]}
        having = [t for t, place in enumerate(places) if items & records[place]]
        hits = [
            right[t] for t in having
            if (items & records[places[t]]) - {fact.item for fact in known.aux(release, t)}
        ]  # fmt: skip
        assert row["revealed"] == estimate_json(rate(math.fsum(hits), len(having)))
        assert row["people_with"] == sum(bool(items & record) for record in records)
        assert row["people_revealed"] == round(row["revealed"]["value"] * row["people_with"])
        assert row["items"] == len(items)
    assert done.tables["sensitive"]["category"].to_list() == list(chosen)


# The risk table.


def test_the_risk_table_is_that_of_a_slow_twin(release):
    adversary = so.Adversary(knows=4, wrong=1, value_error=1, time_error=30)
    table = risk_table(release, adversary, records=5, draws=3, seed=2, facts=[1, 2])
    from standout.core.rng import key

    assert table.columns == ["record", "length", "facts_needed", "probability", "low", "high"]
    for name, length, least, chance, low, high in table.rows():
        place = release.records.find(name)
        seeds = [int(key(2, "risk", draw) >> np.uint64(1)) for draw in range(3)]
        right = [[guesses(release, adversary, [place], size, own)[0] for size in (1, 2, 4)] for own in seeds]
        wanted = rate(sum(row[-1] for row in right), 3)
        assert (length, chance, low, high) == (
            len(release.record(name)),
            wanted.value,
            wanted.low,
            wanted.high,
        )
        first = sorted(
            min(
                (size for at, size in enumerate((1, 2, 4)) if all(one == 1 for one in row[at:])),
                default=math.inf,
            )
            for row in right
        )[1]
        assert least == (None if first == math.inf else first)


def test_the_risk_table_has_every_record_and_is_the_same_in_any_batches(release, monkeypatch):
    short = people(length=lambda r: 1 + r % 9)
    ask = partial(risk_table, short, so.Adversary(knows=4), draws=2, seed=1)
    table, seen = ask(), []
    assert table["record"].to_list() == list(short.records)
    assert table.filter(pl.col("probability").is_null())["length"].max() == 3
    assert table.filter(pl.col("probability").is_not_null())["length"].min() == 4
    monkeypatch.setattr("standout.auditing.risk_table.BATCH", 7)
    assert ask(progress=lambda *told: seen.append(told), threads=1).equals(table)
    assert seen[:2] == [("risk table", 7, 40), ("risk table", 14, 40)] and seen[-1][1] == 40
    some = ask(records=9)
    assert some.equals(table.filter(pl.col("record").is_in(some["record"].to_list()))) and len(some) == 9


def test_the_risk_table_in_a_file_is_inert_and_for_its_owner(tmp_path, done):
    rows = [("=HYPERLINK(1)", "a"), ("+1", "a"), ("-1", "b"), ("@x", "b"), ("\tx", "a"), ("plain", "b")]
    odd = so.read(pl.DataFrame(rows, schema=["record", "item"], orient="row"))
    for name in ("risk.csv", "risk.parquet"):
        path = tmp_path / name
        table = risk_table(odd, so.Adversary(knows=1), draws=1, path=path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert sorted(table["record"]) == sorted(record for record, _ in rows)
    text = (tmp_path / "risk.csv").read_text()
    assert not any(line.strip('"')[:1] in "=+-@\t" for line in text.split("\n")[1:] if line)
    assert "'=HYPERLINK(1)" in text
    assert pl.read_parquet(tmp_path / "risk.parquet")["record"].to_list() == list(odd.records)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["risk.csv", "risk.parquet"]
    for wrong in (
        {"path": tmp_path / "risk.txt"},
        {"records": "some"},
        {"records": 0},
        {"draws": 0},
        {"facts": [9]},
    ):
        with pytest.raises(so.ParameterError):
            risk_table(odd, so.Adversary(knows=1), **wrong)
    with pytest.raises(so.StandoutError, match="cannot be written"):
        risk_table(odd, so.Adversary(knows=1), path=tmp_path / "nowhere" / "risk.csv")
    with pytest.raises(so.ParameterError, match="adversary must be one of colleague"):
        done.risk_table(adversary="nobody")


def test_texts_that_a_spreadsheet_would_run_are_made_inert():
    frame = pl.DataFrame(
        {"text": ["=1", "+1", "-1", "@1", "\t1", "\r1", "＝1", "1=1", "", None], "n": range(10)}
    )
    found = inert(frame)["text"].to_list()
    assert found == ["'=1", "'+1", "'-1", "'@1", "'\t1", "'\r1", "'＝1", "1=1", "", None]


# The files.


def test_a_name_of_any_bytes_can_be_written(release, tmp_path):
    done = ask(release, name="a\udcff\u202eb", ladder={"one": so.Adversary(knows=2)})
    done.to_json(tmp_path / "findings.json")
    assert json.loads((tmp_path / "findings.json").read_text())["data"]["name"] == "a��b"


def test_the_files_of_an_audit(tmp_path, done):
    done.to_json(tmp_path / "findings.json")
    assert json.loads((tmp_path / "findings.json").read_text()) == done.findings
    done.to_csv(tmp_path / "tables")
    names = ["adversaries", "checks", "curves", "exposure", "sensitive", "theory"]
    assert sorted(path.stem for path in (tmp_path / "tables").iterdir()) == names
    found = pl.read_csv(tmp_path / "tables" / "adversaries.csv")
    row = found.filter(adversary="acquaintance", measure="identified").row(0, named=True)
    assert row["estimate"] == done.findings["answer"]["rate"]["value"] and row["facts"] == 8
    if os.name == "posix":
        mask = os.umask(0o077)
        os.umask(mask)
        assert stat.S_IMODE((tmp_path / "findings.json").stat().st_mode) == 0o666 & ~mask


def test_the_report_is_made_of_the_findings(tmp_path, done, monkeypatch):
    page = pytest.importorskip("standout.report.audit_page")
    monkeypatch.setattr(page, "page", lambda findings: f"<p>{findings['answer']['adversary']}")
    done.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == "<p>acquaintance"


# The same seed, cut short, resumed.


def test_the_same_seed_gives_the_same_bytes(release, done):
    again = ask(release, fail_above=0.05, threads=1)
    assert json.dumps(again.findings) == json.dumps(done.findings)
    assert json.dumps(ask(release, seed=4).findings["adversaries"]) != json.dumps(
        done.findings["adversaries"]
    )


def stop_at(share):
    def tell(stage, done, total):
        assert stage == "auditing" and 0 <= done <= total
        if done >= share * total:
            raise KeyboardInterrupt

    return tell


def test_an_audit_that_is_cut_short_keeps_what_is_done_and_goes_on(release, done, monkeypatch, tmp_path):
    monkeypatch.setattr("standout.evaluate.simulate.BATCH", 5)
    with pytest.raises(KeyboardInterrupt):
        ask(release, progress=stop_at(0), work=tmp_path)
    some = ask(release, progress=stop_at(0.4), work=tmp_path)
    found = valid(some.findings)
    assert not some.complete and not found["complete"]
    assert [one["name"] for one in found["adversaries"]] in (["acquaintance"], ["colleague", "acquaintance"])
    assert found["theory"]["sparsity"]["curve"] == [] and some.trusted
    assert "The audit was cut short: what is missing was not tried." in found["limits"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    tries, original = [], simulation.tried
    monkeypatch.setattr(simulation, "tried", lambda *args: tries.append(len(args[3])) or original(*args))
    rest = ask(release, fail_above=0.05, work=tmp_path)
    assert json.dumps(rest.findings) == json.dumps(done.findings)
    once = sum(tries)
    tries.clear()
    ask(release, fail_above=0.05, work=tmp_path)
    assert sum(tries) < once  # only the checks are made anew


def test_the_headline_on_some_people_is_better_than_nothing(release, monkeypatch):
    monkeypatch.setattr("standout.evaluate.simulate.BATCH", 5)
    done = ask(release, progress=stop_at(0.08), fail_above=0.5)
    (one,) = valid(done.findings)["adversaries"]
    assert not done.complete and (one["name"], one["at"]["targets"], one["curve"]) == ("acquaintance", 5, [])
    assert one["curve_note"] == "the curve was not tried: the audit was cut short"
    assert done.findings["exposure"]["facts_needed"] == [] and len(done.tables["curves"]) == 0


def test_progress_runs_once_from_nothing_to_all(release):
    seen = []
    ask(release, progress=lambda stage, done, total: seen.append(done / total))
    assert seen == sorted(seen) and seen[-1] == 1.0


def test_a_quick_audit_asks_for_less(release):
    done = so.audit(release, quick=True, targets=2000, ladder={"one": so.Adversary(knows=2)})
    assert done.findings["settings"]["targets"] == 200 and done.findings["settings"]["facts"] == [1, 2, 4, 8]
    assert any("quick" in limit for limit in done.findings["limits"])
    assert valid(done.findings)["answer"]["rate"]["n"] == 40


# The self-check.


def checks(release, **more):
    own = SelfCheck.of(release, replace(LADDER[1], **more), 0.01, 0, None)
    return {check.name: check for check in own.run()}


def test_the_checks_pass_and_say_so(release):
    found = checks(release)
    assert list(found) == ["canaries", "guessing", "control", "twin"]
    assert all(check.passed for check in found.values())
    assert (found["canaries"].expected, found["canaries"].found) == ("20 of 20", "20 of 20")


def broken(monkeypatch, change):
    """The attack, with its verdicts changed."""
    import standout.attack.scoreboard as score

    original = score.run_nested

    def run(queries, *args):
        wide, columns = original(queries, *args)
        return wide, change(queries, columns)

    monkeypatch.setattr(score, "run_nested", run)


def test_an_attack_that_takes_its_neighbour_is_not_trusted(release, monkeypatch):
    broken(monkeypatch, lambda queries, columns: replace(columns, highest=columns.highest * 1.5))
    found = checks(release)
    assert not found["canaries"].passed and not found["twin"].passed
    done = so.audit(release, targets=5, facts=[2])
    assert not done.trusted and not valid(done.findings)["trust"]["trusted"]
    assert done.findings["verdict"]["summary"].startswith(
        "Do not trust this: the audit did not pass its own checks."
    )


def test_an_attack_for_which_all_are_alike_is_not_trusted(release, monkeypatch):
    broken(monkeypatch, lambda queries, columns: replace(columns, ties=np.full_like(columns.ties, 2)))
    assert not checks(release)["canaries"].passed


def test_scores_that_are_off_are_noticed(release, monkeypatch):
    broken(monkeypatch, lambda queries, columns: replace(columns, sigma=columns.sigma * 1.001))
    assert not checks(release)["twin"].passed


def test_somebody_who_knows_the_answer_is_noticed(release, monkeypatch):
    original = selfcheck.tried

    def peeking(*args, **more):
        found = original(*args, **more)
        return replace(found, right=np.ones_like(found.right))

    monkeypatch.setattr(selfcheck, "tried", peeking)
    assert not checks(release)["guessing"].passed


def test_claims_of_everybody_who_is_gone_are_noticed(monkeypatch):
    monkeypatch.setattr(selfcheck, "claims", lambda columns: np.full(len(columns.ties), 1e9))
    found = checks(people(n=120))["control"]
    assert (found.found, found.passed) == ("12 of 12", False)


def test_planted_records_are_in_the_release_and_nothing_else_changes(release):
    places = np.array([3, 17])
    among = planted(release, places, 5)
    old, new = content(release), content(among)
    own = {release.records[place] for place in places.tolist()}
    assert {pair: cell for pair, cell in new.items() if pair[0] not in own} == {
        pair: cell for pair, cell in old.items() if pair[0] not in own
    }
    assert list(among.records) == list(release.records)
    assert [int(among.lengths[place]) for place in places] == [16, 16]
    assert all(cell[0] is not None and cell[1] is not None for pair, cell in new.items() if pair[0] in own)


@pytest.mark.parametrize("case", ["gaps", "categories", "hourly", "neither", "no times"])
def test_the_reference_scores_of_the_check_are_the_papers(case):
    release = CASES[case]()
    rung = fit(LADDER[1], release)
    known = rung.adversary.observe_all(release, [4], 1)
    cells = {pair: (value, time) for pair, (value, time) in content(release).items()}
    unit = 24 if release.clock and release.clock.unit == "hour" else 1
    facts = {}
    for fact in known.aux(release, 0):
        time = None
        if fact.time is not None:
            moment = fact.time if isinstance(fact.time, datetime) else datetime(*fact.time.timetuple()[:3])
            time = naive.units(moment, release.clock.unit) / unit
        facts[fact.item] = (fact.value, time)
    cells = {pair: (value, None if time is None else time / unit) for pair, (value, time) in cells.items()}
    slow = naive.sums(cells, facts)
    scores = scores_1b(known_items_of_query(release, known, 0), release.n_records)
    assert scores.tolist() == pytest.approx([slow[name] for name in release.records])


@given(st.integers(0, 8), st.integers(0, 8), st.floats(0, 1))
def test_the_tail_of_a_binomial_is_the_sum_of_its_chances(hits, n, chance):
    slow = sum(math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(hits, n + 1))
    assert binomial_tail(hits, n, chance) == pytest.approx(slow, abs=1e-9)


@given(st.integers(0, 4), st.integers(1, 4), st.integers(1, 3), st.integers(1, 4))
def test_the_tail_of_a_beta_binomial_counts_orders(hits, n, a, b):
    """Of all orders of the old and the new, in how many are so many new above the a-th highest of the old?"""
    old, above = a + b - 1, []
    for new in combinations(range(old + n), n):  # places of the new, the highest first
        olds = [place for place in range(old + n) if place not in new]
        above.append(sum(place < olds[a - 1] for place in new))
    assert beta_binomial_tail(hits, n, a, b) == pytest.approx(sum(k >= hits for k in above) / len(above))


def test_a_large_release_is_checked_on_some_of_its_records(release, monkeypatch):
    monkeypatch.setattr(selfcheck, "SAMPLE", 25)
    own = SelfCheck.of(release, LADDER[1], 0.01, 0, None)
    assert own.release.n_records == 25 and {*own.release.records} < {*release.records}
    assert all(check.passed for check in own.run())


# Words.


def test_shares_are_told_with_as_many_digits_as_matter():
    shares = [0, 0.0001, 0.004, 0.01, 0.05, 0.0496, 0.123, 0.843, 0.9123, 0.999, 0.9999, 1]
    assert [percent(share) for share in shares] == [
        "0 %", "less than 0.1 %", "0.4 %", "1 %", "5 %", "5 %", "12 %", "84 %", "91.2 %", "99.9 %",
        "more than 99.9 %", "100 %",
    ]  # fmt: skip


@cache
def tried(name="nosy", gate=True):
    return Attacked(Rung(name, name, so.Adversary(knows=2), gate), so.Adversary(knows=2), None, None)


@pytest.mark.parametrize(
    ("hits", "limit", "exceeded", "words_of_it"),
    [
        (0, 0.5, False, "stays within the threshold of 50 %"),
        (2, 0.05, True, "may be above the threshold of 5 %: that cannot be ruled out"),
        (0, 0.03, True, "may be above the threshold of 3 %: that cannot be ruled out"),
        (80, 0.05, True, "is above the threshold of 5 %"),
    ],
)
def test_the_threshold_is_held_against_the_upper_end(hits, limit, exceeded, words_of_it):
    both = ("identified", ""), ("identified_in_release", "")
    seen = {"nosy": dict.fromkeys(both, rate(hits, 100)), "worst": dict.fromkeys(both, rate(100, 100))}
    found = words.threshold(limit, seen, [tried(), tried("worst", False)])
    assert (found["exceeded"], found["adversary"]) == (exceeded, "nosy")
    assert words_of_it in found["words"]
    assert words.threshold(limit, seen, [tried("worst", False)])["exceeded"] is None
    assert words.threshold(None, seen, [tried()])["words"] == "No threshold was set."


def test_the_worst_adversary_is_the_worst_for_those_in_the_release():
    both = ("identified", ""), ("identified_in_release", "")
    shares = {"nosy": (50, 5), "friend": (10, 90)}
    seen = {
        name: {key: rate(hits, 100) for key, hits in zip(both, own, strict=True)}
        for name, own in shares.items()
    }
    found = words.threshold(0.3, seen, [tried(), tried("friend", True)])
    assert found["exceeded"] and found["adversary"] == "friend"


def judged(hits, n=100, records=1000, share=0.0, claims=0):
    seen = {
        ("identified", ""): rate(hits, n, 1 / records),
        ("correct_claims", "absent_claims<=0.01"): rate(claims, n, 1 / records),
        ("correct_claims", "phi=1.5"): rate(claims, n, 1 / records),
        ("absent_claims", "phi=1.5"): rate(0, n, 1.0),
        ("revealed_correct_share", ""): rate(share * n, n, 0.02),
        ("revealed_correct", ""): rate(share * n, n),
    }
    return words.verdict(tried(), {"nosy": seen}, [tried()], 1.5, 0.01, True)


def test_the_verdict_says_yes_partly_or_not_by_these_adversaries():
    answers = [
        [judged(*asked)[key]["answer"] for key in ("singling_out", "linkability", "inference")]
        for asked in ((90, 100, 1000, 0.9, 50), (4, 100, 1000, 0.1, 1), (0, 100, 1000, 0.02, 0))
    ]
    assert answers == [["yes"] * 3, ["partly"] * 3, ["not by these adversaries"] * 3]
    assert judged(0)["summary"] == (
        "The people in this data were not identified by these adversaries; others may do better."
    )
    assert judged(90, share=0.1)["summary"] == (
        "By such adversaries people in this data can be singled out; some can also be learned about: on this "
        "evidence the data cannot be taken to be anonymous."
    )
    assert judged(1, 1, 1)["singling_out"]["answer"] == "yes"  # of one record a guess is right as well


# Real data, and a release of some size.


@pytest.mark.realdata
@pytest.mark.large
def test_movielens_is_audited_as_it_was_measured(realdata):
    release = so.read(realdata / "movielens-latest-small")
    done = so.audit(release, fail_above=0.05, targets=610, seed=2008)
    found = valid(done.findings)
    assert done.trusted and done.exceeded
    by_hand = so.simulate(release, LADDER[1].adversary, targets=610, seed=2008)
    assert found["answer"]["rate"] == estimate_json(by_hand.estimate("identified"))
    assert found["answer"]["rate"]["value"] == pytest.approx(0.987, abs=0.001)  # docs/results.md
    curve = {point["facts"]: point["identified"]["value"] for point in found["adversaries"][1]["curve"]}
    assert list(curve) == [1, 2, 3, 4, 6, 8, 12, 16] and curve[1] < curve[4] < curve[16]


OTHERS = {
    "bitcoin-otc/soc-sign-bitcoinotc.csv": {},
    "movietweetings/2013-11-06": {},
    "online-retail/online-retail.csv.gz": {
        "record": "CustomerID", "item": "StockCode", "value": "Quantity", "time": "InvoiceDate",
        "time_format": "%m/%d/%Y %H:%M", "encoding": "latin-1", "max_rejects": "30%",
    },
}  # fmt: skip


@pytest.mark.realdata
@pytest.mark.large
@pytest.mark.parametrize("name", OTHERS)
def test_other_real_data_is_audited_with_no_more_than_column_options(realdata, name):
    release = so.read(realdata / name, **OTHERS[name])
    done = so.audit(release, targets=60, facts=[1, 2, 4, 8], seed=1)
    found = valid(done.findings)
    assert done.trusted
    for one in found["adversaries"]:
        adversary = done.adversaries[one["name"]]
        by_hand = so.simulate(release, adversary, targets=60, seed=1)
        assert one["at"]["identified"] == estimate_json(by_hand.estimate("identified"))
        assert one["left_out"] == by_hand.cell().too_few_items
    assert found["data"]["rows_rejected"] == sum(release.provenance.rejected.values())


@pytest.mark.large
def test_a_release_of_some_size_is_audited_and_checked():
    release = so.synthesize(records=25_000, items=2_000, entries=500_000, seed=5)
    done = so.audit(release, quick=True, targets=100)
    assert done.trusted and valid(done.findings)["data"]["synthetic"]
    assert done.findings["theory"]["sparsity"]["n"] == 200
