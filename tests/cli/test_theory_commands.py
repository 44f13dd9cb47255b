"""`standout simulate`, `sparsity`, `bounds` and `unicity`: what is printed is what the library says."""

import json

import polars as pl
import pytest

import standout as so

pytestmark = pytest.mark.large  # whole runs; what they are made of has tests of its own


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "people.index"
    so.save(so.synthesize(records=300, items=120, entries=6_000, seed=3), path)
    return path


SAID = ("--knows", 6, "--wrong", 1, "--value-error", 1, "--time-error", 14, "--facts", "2,6", "--seed", 4)


def simulated(index):
    adversary = so.Adversary(knows=6, wrong=1, value_error=1, time_error=14)
    return so.simulate(so.open(index), adversary, facts=[2, 6], targets=40, seed=4)


def test_a_simulation_prints_the_librarys_numbers(run, index, tmp_path):
    done, release = simulated(index), so.open(index)
    told = run("simulate", index, *SAID, "--targets", 40, "-o", tmp_path / "t.csv")
    assert (told.code, told.err) == (0, "")
    found = done.estimate("identified", facts=6)
    assert f"{100 * found.value:.1f} % ({100 * found.low:.1f}–{100 * found.high:.1f})" in told.out
    assert "6 facts, 1 wrong, values ± 1, dates ± 14 days" in told.out
    for words in ("best guess right", "absent claimed (φ = 1.5)", "bits left", "median lineup (90 %)"):
        assert words in told.out
    too_few = int((release.lengths < 6).sum())
    assert f"40 targets tried; {too_few} of 300 records have too few items" in told.out
    assert "safe" in told.out and all(len(line) <= 100 for line in told.out.splitlines())
    assert pl.read_csv(tmp_path / "t.csv")["estimate"].to_list() == pytest.approx(
        done.table["estimate"].to_list()
    )


def test_a_simulation_for_machines(run, index):
    done, told = simulated(index), json.loads(run("simulate", index, *SAID, "--targets", 40, "--json").out)
    names = ["complete", "original", "present", "table", "curves"]
    assert list(told) == names and told["complete"]
    assert told["table"] == json.loads(done.table.write_json())
    assert [(one["adversary"], one["facts"]) for one in told["curves"]] == [
        (cell.adversary, cell.facts) for cell in done.cells
    ]
    assert told["curves"][1]["curve"] == done.cells[1].claim_rates.curve().to_dicts()
    assert told["curves"][1]["calibration"] == done.cells[1].calibration().to_dicts()


def test_a_simulation_that_is_cut_short_says_so_and_goes_on(run, index, tmp_path, monkeypatch):
    from standout.evaluate import simulate

    monkeypatch.setattr(simulate, "BATCH", 10)
    original, calls = simulate.tried, []

    def tried(*args):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(simulate, "tried", tried)
    options = ("simulate", index, *SAID, "--targets", 40, "--save", tmp_path / "run")
    told = run(*options)
    assert told.code == 3
    assert "20 targets tried (cut short)" in told.out
    whole = run(*options)
    assert whole.code == 0 and "40 targets tried;" in whole.out
    assert whole.out == run("simulate", index, *SAID, "--targets", 40).out
    assert len(calls) == 3 + 2 + 4


@pytest.mark.parametrize("items", ["rarest", "popular", "outside-top-20", "outside_top(20)"])
def test_adversaries_are_described_as_they_are_said(run, index, items):
    told = run("simulate", index, "--knows", 3, "--items", items, "--value-error", "none", "--targets", 10)
    assert told.code == 0
    assert "no values" in told.out and items.split("-")[0].split("_")[0] in told.out


BAD = [
    (("simulate", "--value-error", "much"), "--value-error must be a number or none, got 'much'"),
    (("simulate", "--facts", "a"), "--facts must be like 4, 2,4,8 or 2-10, got 'a'"),
    (("simulate", "--knows", "3", "--facts", "4"), "facts must be from 1 to the 3 that the adversary knows"),
    (("simulate", "--items", "best"), "items must be any, rarest"),
    (("simulate", "--targets", "few"), "--targets must be a whole number or all, got 'few'"),
    (("simulate", "--targets", "²"), "--targets must be a whole number or all, got '²'"),
    (("simulate", "-o", "table.xlsx"), "--output must end in .csv, .parquet, .json, got 'table.xlsx'"),
    (("simulate", "-o", "nowhere/table.csv"), "nowhere is not a folder"),
    (("simulate", "--phi", "-1"), "phi must be"),
    (("unicity", "-k", "0"), "whole number"),
    (("sparsity", "--within-days", "-3"), "time must be a finite number ≥ 0"),
    (("bounds", "--epsilon", "2"), "epsilon"),
]


@pytest.mark.parametrize(("said", "message"), BAD, ids=str)
def test_bad_options_are_one_line(run, index, said, message):
    told = run(said[0], index, *said[1:])
    assert told.code == 1 and told.out == ""
    assert message in told.err and told.err.count("\n") == 1


def test_sparsity_prints_the_librarys_numbers(run, index, tmp_path):
    release = so.open(index)
    found = so.sparsity(release, so.Within(value=1, time=None))
    told = run("sparsity", index, "--within-value", 1, "-o", tmp_path / "curve.parquet")
    assert told.code == 0 and "by items in common, values within 1" in told.out
    assert f"{100 * found.delta(0.1).value:.1f} %" in told.out
    assert pl.read_parquet(tmp_path / "curve.parquet").equals(found.curve())
    machine = json.loads(run("sparsity", index, "--sample", 50, "--seed", 7, "--json").out)
    some = so.sparsity(release, sample=50, seed=7)
    assert (machine["records"], machine["of"]) == (50, 300)
    assert machine["table"] == some.table().to_dicts()
    assert machine["fingerprint"] == release.fingerprint


def test_bounds_need_no_data(run):
    told = run("bounds", "--records", 480_189)
    assert told.code == 0
    rows = {line.split()[0]: line.split()[1:] for line in told.out.splitlines() if line[:1] == "0"}
    assert (rows["0.5"], rows["0.9"]) == (["26", "19", "16", "13"], ["8", "6", "5", "4"])
    machine = json.loads(run("bounds", "--records", 480_189, "--json").out)
    assert [row["facts"] for row in machine["needed"] if row["delta"] in (0.5, 0.9)] == [26, 8]


def test_bounds_are_checked_on_data(run, index, tmp_path):
    release = so.open(index)
    checks = so.bounds.check(release, delta=0.9, targets=30)
    told = run("bounds", index, "--delta", 0.9, "--targets", 30, "-o", tmp_path / "b.csv")
    assert told.code == 0 and "The theorems on this release" in told.out
    assert told.out.count(" holds\n") + told.out.count("not hold\n") + told.out.count("told\n") == len(checks)
    machine = json.loads(run("bounds", index, "--delta", 0.9, "--targets", 30, "--json").out)
    assert machine["checks"] == so.bounds.table(checks).to_dicts()
    assert len(pl.read_csv(tmp_path / "b.csv")) == len(checks)
    for said in ((), (index, "--records", 5)):
        assert "bounds takes DATA, or --records N" in run("bounds", *said).err


def test_unicity_prints_the_librarys_numbers(run, index):
    release = so.open(index)
    found = so.unicity(release, [1, 2, 3], time=30)
    told = run("unicity", index, "-k", "1-3", "--bin-days", 30)
    assert told.code == 0
    for one in found:
        assert (
            f"{100 * one.share.value:.1f} % ({100 * one.share.low:.1f}–{100 * one.share.high:.1f})"
            in told.out
        )
    machine = json.loads(run("unicity", index, "-k", "1-3", "--bin-days", 30, "--json").out)
    assert [row["share"] for row in machine["unicity"]] == [one.share.value for one in found]
