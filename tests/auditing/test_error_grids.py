"""The grids of an audit: facts known by date error, and by value error."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import naive
import standout as so
from auditing.audit_samples import (
    ACQUAINTANCE,
    CASES,
    SEED,
    TARGETS,
    identified,
    people,
    small_audit,
    targets_of,
    valid,
)
from standout.auditing.ladder import DataSpread
from standout.auditing.runs import SameDraws, error_levels, grid_sizes
from standout.evaluate.compare import cross_fit

pytestmark = pytest.mark.once


def labels(result):
    return {grid.varies: [row.label for row in grid.rows] for grid in result.findings.error_grids.grids}


def test_cells_are_the_shares_that_the_slow_attack_finds(release):
    result = small_audit(release, attack="paper")
    own = result.adversaries["acquaintance"]
    targets = targets_of(release, own)
    for grid in result.findings.error_grids.grids:
        errors = error_levels(own, release, grid.varies, DataSpread(release))
        for row, level in zip(grid.rows, errors, strict=True):
            assert row.error == level.error and getattr(level.adversary, grid.varies) == row.error
            drawn = SameDraws.of(own, level.adversary)
            for cell in row.cells:
                expected = np.mean(identified(release, drawn, targets, cell.facts))
                assert cell.identified.value == pytest.approx(expected, abs=1e-12)
                assert (cell.identified.n, cell.attack) == (TARGETS, "paper")


def test_the_attack_of_a_target_is_chosen_on_the_other_half():
    draw = np.random.default_rng(3)
    for n in (1, 2, 7, 40):
        successes = {name: draw.integers(0, 3, n) / 2 for name in ("paper", "likelihood", "own")}
        chosen = cross_fit(successes)[1]
        expected = naive.strongest_by_halves({name: list(of) for name, of in successes.items()})
        assert chosen.mean() == pytest.approx(expected)


def test_the_last_cell_of_the_own_row_is_the_adversary_as_named(release):
    result = small_audit(release, attack="likelihood")
    for grid in result.findings.error_grids.grids:
        (own,) = [row for row in grid.rows if row.is_own]
        assert own.cells[-1].identified == result.findings.headline.as_named.identified
        assert own.cells[-1].facts == ACQUAINTANCE.knows


def test_a_release_has_the_grids_of_what_it_has():
    dates = ["exact", "± 3 days", "± 14 days", "± 60 days", "not known"]
    kinds = {
        "no times": {"value_error": ["exact", "± 1", "± 2", "not known"]},
        "no values": {"time_error": dates},
        "neither": {},
        "categories": {"time_error": dates, "value_error": ["exact", "not known"]},
    }
    for case, expected in kinds.items():
        result = small_audit(CASES[case]())
        assert labels(result) == expected, case
        note = valid(result)["error_grids"]["note"]
        assert ("dates" in note) == (case in ("no times", "neither"))
        assert ("values" in note) == (case in ("no values", "neither"))


def test_wrong_facts_are_wrong_items_where_nothing_else_is_known():
    release = people(time=False)
    own = replace(ACQUAINTANCE, time_error=None)
    levels = error_levels(own, release, "value_error", DataSpread(release))
    assert [level.adversary.wrong_facts for level in levels][-1] == "items"
    assert {level.adversary.wrong_facts for level in levels[:-1]} == {"values"}


def test_all_rows_know_the_same_items(release):
    other = replace(ACQUAINTANCE, time_error=None)
    targets = np.arange(5)
    known = [
        each.observe_all(release, targets, SEED).item
        for each in (ACQUAINTANCE, SameDraws.of(ACQUAINTANCE, other), other)
    ]
    assert np.array_equal(known[0], known[1]) and not np.array_equal(known[0], known[2])


def test_columns_end_with_everything_that_the_adversary_knows():
    assert grid_sizes([1, 2, 4, 16], 8) == (1, 2, 4, 8)
    sizes = grid_sizes(range(1, 100), 50)
    assert len(sizes) == 8 and sizes[0] == 1 and sizes[-1] == 50


def test_an_adversary_with_draws_of_its_own_has_no_grids(release):
    @dataclass(frozen=True)
    class First(so.Adversary):
        def choose(self, entries, rng):
            return np.arange(self.knows)

    result = small_audit(release, ladder={"first": First(knows=3)})
    grids = result.findings.error_grids
    assert not grids.grids and "a way of its own" in grids.note
