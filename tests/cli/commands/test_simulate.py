"""`standout simulate`: the printed numbers are the library's, and an interrupted run resumes."""

import json

import polars as pl
import pytest
from command_line import undocumented

import standout as so
from standout.evaluate import simulate as target_attacks
from standout.evaluate.claims import ClaimThreshold
from standout.findings.audit import measure_titles

pytestmark = pytest.mark.large  # whole runs; their parts have tests of their own

OPTIONS = ("--knows", 6, "--wrong", 1, "--value-error", 1, "--time-error", 14, "--facts", "2,6", "--seed", 4)
UNTITLED = {"calibration_bias", "calibration_gap", "absent_rejected"}
"""Measures that only the table and JSON contain."""


@pytest.fixture(scope="module")
def simulation(people_index):
    adversary = so.Adversary(knows=6, wrong=1, value_error=1, time_error=14)
    return so.simulate(so.open(people_index), adversary, facts=[2, 6], targets=40, seed=4)


def test_a_simulation_prints_the_librarys_numbers(run, people_index, simulation, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    release = so.open(people_index)
    command = ("simulate", people_index, *OPTIONS, "--targets", 40, "--attack", "paper")
    outcome = run(*command, "-o", tmp_path / "t.csv")
    assert (outcome.code, outcome.err) == (0, "")
    rate = simulation.estimate("identified", facts=6)
    assert f"{100 * rate.value:.1f} % ({100 * rate.low:.1f}–{100 * rate.high:.1f})" in outcome.out
    assert "6 facts, 1 wrong, values ± 1, dates ± 14 days" in outcome.out
    titles = measure_titles(ClaimThreshold("phi", 1.5), budget=0.01)
    for measure in ("identified", "absent_claims", "correct_claims", "correct_claims_at_budget", "bits_left"):
        assert titles[measure] in outcome.out
    shown = set(simulation.table["measure"]) - UNTITLED
    rows = simulation.table.filter(pl.col("measure").is_in(shown) & (pl.col("facts") == 6))
    lines = outcome.out.partition("\n\n")[0].splitlines()
    assert len(lines) == 2 + rows.height  # every measure has a title
    too_few = int((release.lengths < 6).sum())
    assert f"40 targets; {too_few} of 300 records have too few entries" in outcome.out
    assert "may be identified by another" in outcome.out
    table = pl.read_csv(tmp_path / "t.csv")
    assert set(table["attack"]) == {"paper"}
    assert table["estimate"].to_list() == pytest.approx(simulation.table["estimate"].to_list())


def test_a_simulation_fits_a_terminal_of_80_columns(run, people_index):
    out = run("simulate", people_index, *OPTIONS, "--targets", 40).out
    assert all(len(line) <= 80 for line in out.partition("\n\n")[0].splitlines()) and "…" not in out


def test_a_simulation_as_json(run, people_index, simulation):
    command = ("simulate", people_index, *OPTIONS, "--targets", 40, "--attack", "paper", "--json")
    content = json.loads(run(*command).out)
    assert {*content} == {"complete", "original", "present", "attacks", "table", "curves", "read"}
    assert content["complete"] and content["attacks"]["paper"]["threshold"] == "phi=1.5"
    assert {row.pop("attack") for row in content["table"]} == {"paper"}
    assert content["table"] == json.loads(simulation.table.write_json())
    assert undocumented("simulate", content) == []
    cells = simulation.cells
    assert [(curve["adversary"], curve["facts"]) for curve in content["curves"]] == [
        (cell.adversary, cell.facts) for cell in cells
    ]
    assert content["curves"][1]["curve"] == cells[1].claim_rates.curve().to_dicts()
    assert content["curves"][1]["calibration"] == cells[1].calibration().to_dicts()


def test_an_interrupted_simulation_says_so_and_resumes(run, people_index, tmp_path, monkeypatch):
    monkeypatch.setattr(target_attacks, "BATCH", 10)
    attack, calls = target_attacks.attack_outcomes, []

    def attack_two_batches(*args, **options):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return attack(*args, **options)

    monkeypatch.setattr(target_attacks, "attack_outcomes", attack_two_batches)
    attacked = ("simulate", people_index, *OPTIONS, "--targets", 40, "--attack", "paper", "--threads", 1)
    command = (*attacked, "--save", tmp_path / "run")
    interrupted = run(*command)
    assert interrupted.code == 3 and "20 targets (interrupted)" in interrupted.out
    resumed = run(*command)
    assert resumed.code == 0 and "40 targets;" in resumed.out
    assert resumed.out == run(*attacked).out
    assert len(calls) == 3 + 2 + 4


def test_adversaries_are_described_by_their_options(run, people_index):
    for items in ("rarest", "popular", "outside-top-20", "outside_top(20)"):
        outcome = run(
            "simulate", people_index, "--knows", 3, "--items", items, "--value-error", "none", "--targets", 10
        )
        assert outcome.code == 0
        assert "no values" in outcome.out and items.split("-")[0].split("_")[0] in outcome.out


def test_both_attacks_are_shown_side_by_side_on_the_same_targets(run, people_index, simulation):
    command = ("simulate", people_index, *OPTIONS, "--targets", 40)
    out = run(*command).out.replace("\xa0", " ")
    headers = [line.split() for line in out.splitlines() if line.split()[:1] == ["likelihood"]]
    assert headers == [["likelihood", "paper", "Baseline"]] * 2  # for 2 and for 6 facts
    assert "posterior ≥ 0.95" in out and "φ ≥ 1.5" in out and "The risk is that of the stronger attack" in out
    content = json.loads(run(*command, "--json").out)
    assert undocumented("simulate", content) == []
    release = so.open(people_index)
    adversary = so.Adversary(knows=6, wrong=1, value_error=1, time_error=14)
    stronger = so.simulate(release, adversary, attack=so.Likelihood(), facts=[2, 6], targets=40, seed=4)
    for name, expected in (("likelihood", stronger), ("paper", simulation)):
        rows = [row for row in content["table"] if row["attack"] == name]
        assert [row["estimate"] for row in rows] == expected.table["estimate"].to_list()
    settings = {row["attack"]: row["setting"] for row in content["table"] if row["measure"] == "no_claim"}
    assert settings == {"likelihood": "posterior=0.95", "paper": "phi=1.5"}


def test_claims_of_the_bayesian_attack_are_by_posterior(run, people_index, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    command = ("simulate", people_index, *OPTIONS, "--targets", 20, "--attack", "likelihood")
    out = " ".join(run(*command, "--posterior", 0.8).out.replace("\xa0", " ").split())
    assert "Correct claims at posterior ≥ 0.8" in out and "φ" not in out
    content = json.loads(run(*command, "--posterior", 0.8, "--coverage", 0.9, "--present", 0.7, "--json").out)
    curve = content["curves"][1]["curve"]
    assert next(iter(curve[0])) == "posterior" and all(0 <= point["posterior"] <= 1 for point in curve)
    assert "coverage=0.9, present=0.7" in content["attacks"]["likelihood"]["attack"]
    release, adversary = so.open(people_index), so.Adversary(knows=6, wrong=1, value_error=1, time_error=14)
    expected = so.simulate(
        release,
        adversary,
        attack=so.Likelihood(coverage=0.9, present=0.7),
        posterior=0.8,
        facts=[2, 6],
        targets=20,
        seed=4,
    )
    estimates = [row["estimate"] for row in content["table"]]
    assert estimates == expected.table["estimate"].to_list()


SCALES = {
    ("--attack", "paper", "--value-scale", "none", "--time-scale", 60): so.ScoreboardRH(
        value_scale=None, time_scale=60
    ),
    ("--attack", "paper", "--weights", "one"): so.ScoreboardRH(weights="one"),
    ("--attack", "algorithm-1a"): so.Scoreboard(so.Within(value=1, time=14)),
}


@pytest.mark.parametrize("options", SCALES)
def test_options_of_an_attack_are_those_of_the_library(run, people_index, options):
    out = run("simulate", people_index, *OPTIONS, "--targets", 20, *options, "--json").out
    adversary = so.Adversary(knows=6, wrong=1, value_error=1, time_error=14)
    expected = so.simulate(so.open(people_index), adversary, attack=SCALES[options], facts=[2, 6], targets=20, seed=4)
    estimates = [row["estimate"] for row in json.loads(out)["table"]]
    assert estimates == expected.table["estimate"].to_list()


def test_a_run_interrupted_in_the_second_attack_shows_the_first(run, people_index, monkeypatch):
    attack, calls = target_attacks.attack_outcomes, []

    def attack_one_batch(*args, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return attack(*args, **options)

    monkeypatch.setattr(target_attacks, "attack_outcomes", attack_one_batch)
    outcome = run("simulate", people_index, *OPTIONS, "--targets", 40)
    assert outcome.code == 3 and "40 targets (interrupted)" in outcome.out
    assert "likelihood" in outcome.out
