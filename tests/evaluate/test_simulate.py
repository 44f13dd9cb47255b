"""Simulations: only the seed decides the numbers; parameters are checked; the table is complete."""

import json
import math
import threading
from functools import partial

import numpy as np
import polars as pl
import pytest

import standout as so
from evaluate.releases import ADVERSARY, released, same, targets_of
from standout.evaluate.simulate import simulate


@pytest.mark.large
def test_threads_batches_and_the_order_of_targets_change_no_bit(release, monkeypatch):
    ask = partial(simulate, release, ADVERSARY, facts=[2, 6], seed=9, draws=2)
    first = ask(targets=20, threads=1)
    assert same(first, ask(targets=20, threads=2))
    ids = [release.records[p] for p in np.sort([p for p in targets_of(release, 9) if release.lengths[p] >= 6][:20])]
    named = ask(targets=ids)
    assert same(named, ask(targets=ids[::-1], threads=2))
    monkeypatch.setattr("standout.evaluate.simulate.BATCH", 7)
    assert same(first, ask(targets=20, threads=1))
    assert same(first, ask(targets=20, threads=3))
    assert named.estimate("identified", facts=6) == first.estimate("identified", facts=6)
    assert not first.table.equals(ask(targets=20, seed=10).table)


@pytest.mark.parametrize("own", ["attack", "adversary", "weights"])
def test_code_of_the_user_runs_in_the_thread_of_the_caller(release, monkeypatch, own):
    threads = set()

    class Friend(so.Adversary):
        def choose(self, entries, rng):
            threads.add(threading.get_ident())
            return rng.permutation(len(entries))[:3]

    class Mine(so.ScoreboardRH):
        def nested(self, *arguments, **options):
            threads.add(threading.get_ident())
            return super().nested(*arguments, **options)

    def weigh(support):
        threads.add(threading.get_ident())
        return 1.0 / np.log(np.maximum(support, 2))

    attack = {"attack": Mine(), "weights": so.ScoreboardRH(weights=weigh)}.get(own, so.ScoreboardRH())
    adversary = Friend(knows=3) if own == "adversary" else so.Adversary(knows=3)
    monkeypatch.setattr("standout.evaluate.simulate.BATCH", 7)
    simulate(release, adversary, attack=attack, targets=20, threads=3, absent=False)
    assert threads == {threading.get_ident()}


@pytest.mark.large
def test_precision_adds_targets_until_the_interval_is_narrow_enough(release):
    fine = simulate(release, ADVERSARY, facts=[2, 6], precision=0.08, absent=False, seed=1)
    rough = simulate(release, ADVERSARY, facts=[2, 6], precision=0.2, absent=False, seed=1)
    assert max(fine.estimate("identified", facts=m).width for m in (2, 6)) <= 0.08
    assert len(rough.cells[0].outcomes) < len(fine.cells[0].outcomes) <= release.n_records
    everybody = simulate(release, ADVERSARY, facts=6, precision=0.0001, absent=False, seed=1)
    able = np.count_nonzero(release.lengths >= 6)
    assert everybody.complete and len(everybody.cells[0].outcomes) == able
    fixed = simulate(release, ADVERSARY, facts=6, targets="all", absent=False, seed=1)
    assert everybody.table.equals(fixed.table)


def test_the_table_has_one_row_per_measure_with_everything_needed_to_quote_it(release, tmp_path):
    adversaries = {"friend": ADVERSARY, "stranger": so.Adversary(knows=2, value_error=None, time_error=None)}
    simulation = simulate(release, adversaries, targets=30, seed=11)
    table = simulation.table
    assert table.columns == [
        "adversary", "facts", "measure", "setting", "estimate", "low", "high", "n", "baseline",
        "too_few_items", "seed", "fingerprint", "version",
    ]  # fmt: skip
    keys = table.select("adversary", "facts", "measure", "setting")
    assert len(keys.unique()) == len(keys)
    assert set(table["adversary"]) == {"friend", "stranger"}
    assert set(table["seed"]) == {11} and set(table["fingerprint"]) == {release.fingerprint}
    assert set(table["version"]) == {so.__version__}
    assert table["estimate"].is_not_null().all() and table["estimate"].is_finite().all()
    both = table.filter(pl.col("low").is_not_null())
    assert (both["low"] <= both["estimate"] + 1e-12).all() and (both["estimate"] <= both["high"] + 1e-12).all()
    row = table.filter(measure="identified", adversary="friend").row(0, named=True)
    estimate = simulation.estimate("identified", adversary="friend")
    assert (row["estimate"], row["low"], row["high"], row["n"]) == (
        estimate.value, estimate.low, estimate.high, 30,
    )  # fmt: skip
    assert row["baseline"] == 1 / release.n_records
    simulation.to_csv(tmp_path / "t.csv")
    simulation.to_parquet(tmp_path / "t.parquet")
    simulation.to_json(tmp_path / "t.json")
    assert pl.read_parquet(tmp_path / "t.parquet").equals(table)
    assert len(pl.read_csv(tmp_path / "t.csv")) == len(json.loads((tmp_path / "t.json").read_text())) == len(table)


def test_adversaries_with_the_same_description_are_numbered(release):
    near = [so.Adversary(knows=3, length_error=error) for error in (0.501, 0.504)]
    simulation = simulate(release, near, targets=10)
    assert [cell.adversary[-3:] for cell in simulation.cells] == ["50%", " #2"]
    with pytest.raises(so.ParameterError, match="no record can be a target"):
        simulate(release, {"a": so.Adversary(knows=3), "b": so.Adversary(knows=151)}, targets=10)


def test_named_targets_with_too_few_items_are_counted(release):
    short = [release.records[p] for p in np.flatnonzero(release.lengths < 6)[:3]]
    long = [release.records[p] for p in np.flatnonzero(release.lengths >= 6)[:4]]
    cell = simulate(release, ADVERSARY, targets=[*short, *long]).cell()
    assert (cell.too_few_items, cell.n_considered, len(cell.outcomes)) == (3, 7, 4)


DEGENERATE = {
    "one record": {("a", "x"): (1.0, 0), ("a", "y"): (2.0, 3)},
    "two identical": {(who, item): (1.0, 0) for who in "ab" for item in "xy"},
    "support 1": {(who, who + item): (1.0, 5) for who in "abc" for item in "xy"},
    "no times": {(who, item): (1.0, None) for who in "abc" for item in "xyz"[: ord(who) - 95]},
    "no values": {(who, item): (None, 5) for who in "abc" for item in "xyz"[: ord(who) - 95]},
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_releases_have_defined_results(name):
    release = released(DEGENERATE[name])
    simulation = simulate(release, so.Adversary(knows=2, value_error=0, time_error=0), facts=[1, 2], targets="all")
    assert simulation.table["estimate"].is_finite().all()
    expected = {"one record": 1.0, "two identical": 0.5, "support 1": 1.0}
    if name in expected:
        assert simulation.estimate("identified", facts=2).value == expected[name]
    if name in ("one record", "two identical"):
        assert simulation.estimate("correct_claims", "phi=1.5", facts=2).value == 0
        assert simulation.estimate("bits_left", "", facts=2).value == pytest.approx(math.log2(release.n_records))


BAD_PARAMETERS = [
    ({"targets": 0}, "targets must be a whole number ≥ 1"),
    ({"targets": "some"}, 'targets must be a number, "all", or a list'),
    ({"targets": ["nobody"]}, "no record with this id"),
    ({"targets": None}, "targets must be a whole number"),
    ({"targets": 5.0}, "targets must be a whole number"),
    ({"facts": 7}, "facts must be from 1 to 6"),
    ({"facts": []}, "facts must be from 1"),
    ({"facts": [0]}, "facts must be a whole number ≥ 1"),
    ({"precision": 0}, "precision must be a number above 0"),
    ({"precision": 2.0}, "precision must be a number above 0"),
    ({"theta": 0}, "theta must be a number above 0"),
    ({"theta": float("nan")}, "theta must be a number above 0"),
    ({"phi": -1}, "phi must be"),
    ({"budget": 0}, "budget must be a number above 0"),
    ({"draws": 0}, "draws must be a whole number ≥ 1"),
    ({"top": 0}, "top must be a whole number ≥ 1"),
    ({"seed": -1}, "seed must be"),
]


def test_parameters_out_of_range_are_refused_by_name(release):
    for options, message in BAD_PARAMETERS:
        with pytest.raises(so.StandoutError, match=message):
            simulate(release, ADVERSARY, **({"targets": 5} | options))


def test_other_types_than_adversaries_are_refused(release):
    for nobody in ([], {}, ["me"], None, {"a": 3}):
        with pytest.raises(so.ParameterError, match="adversaries must be"):
            simulate(release, nobody, targets=5)
    with pytest.raises(so.ParameterError, match="no record can be a target"):
        simulate(release, so.Adversary(knows=1000), targets=5)
    with pytest.raises(so.ParameterError, match="attack must be an attack, such as"):
        simulate(release, ADVERSARY, attack=so.Scoreboard, targets=5)
