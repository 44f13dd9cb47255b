"""`standout bounds`: the theorems without data, and checked on data."""

import json

import polars as pl
import pytest

import standout as so

pytestmark = pytest.mark.large  # whole runs; their parts have tests of their own


def test_bounds_need_no_data(run):
    outcome = run("bounds", "--records", 480_189)
    assert outcome.code == 0
    rows = {line.split()[0]: line.split()[1:] for line in outcome.out.splitlines() if line[:1] == "0"}
    assert (rows["0.5"], rows["0.9"]) == (["26", "19", "16", "13"], ["8", "6", "5", "4"])
    content = json.loads(run("bounds", "--records", 480_189, "--json").out)
    assert [row["facts"] for row in content["needed"] if row["delta"] in (0.5, 0.9)] == [26, 8]


def test_bounds_are_checked_on_data(run, people_index, tmp_path):
    checks = so.bounds.check(so.open(people_index), delta=0.9, targets=30)
    options = (people_index, "--delta", 0.9, "--targets", 30)
    outcome = run("bounds", *options, "-o", tmp_path / "b.csv")
    assert outcome.code == 0 and "The theorems on this release" in outcome.out
    verdicts = (outcome.out.count(f"{verdict}\n") for verdict in (" holds", "not hold", "undecided"))
    assert sum(verdicts) == len(checks)
    content = json.loads(run("bounds", *options, "--json").out)
    assert content["checks"] == so.bounds.table(checks).to_dicts()
    assert len(pl.read_csv(tmp_path / "b.csv")) == len(checks)


def test_bounds_need_either_data_or_a_number_of_records(run, people_index):
    for args in ((), (people_index, "--records", 5)):
        assert "bounds needs DATA or --records N" in run("bounds", *args).err


def test_bounds_are_checked_with_imprecise_facts(run, people_index):
    adversary = so.Adversary(knows=1, wrong=1, value_error=1, time_error=None)
    checks = so.bounds.check(so.open(people_index), delta=0.9, targets=30, adversary=adversary)
    errors = ("--wrong", 1, "--value-error", 1, "--time-error", "none")
    outcome = run("bounds", people_index, "--delta", 0.9, "--targets", 30, *errors, "--json")
    assert json.loads(outcome.out)["checks"] == so.bounds.table(checks).to_dicts()
    assert "need DATA" in run("bounds", "--records", 9, *errors).err
    assert "--wrong must be" in run("bounds", people_index, "--wrong", -1).err
