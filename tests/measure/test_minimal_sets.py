"""Smallest sets that make a row unique: both methods find what the slow twin finds."""

import numpy as np
import pytest
from hypothesis import given
from risk_cases import table, tables

import naive
import standout as so
from standout.measure import column_sets as module
from standout.measure.column_sets import RowCells, minimal_sets


@given(tables(max_columns=5))
def test_shares_are_those_of_the_slow_twin(case):
    rows, kinds = case
    risk_table = table(rows, kinds)
    smallest = naive.smallest_unique_sizes(rows, len(kinds), 3)
    for found in minimal_sets(risk_table, risk_table.column_names):
        assert found.counted
        assert found.share.value == sum(size <= found.size for size in smallest) / len(rows)


@given(tables(max_rows=16, max_columns=6))
def test_a_compared_target_has_the_smallest_size_of_the_slow_twin(case):
    rows, kinds = case
    risk_table, largest = table(rows, kinds), min(3, len(kinds))
    cells = RowCells(risk_table, risk_table.column_names)
    smallest = [cells.smallest_size(target, largest) for target in range(len(rows))]
    assert smallest == naive.smallest_unique_sizes(rows, len(kinds), largest)


def test_more_than_64_columns_are_compared_too():
    rng = np.random.default_rng(5)
    rows = [tuple(row) for row in rng.integers(0, 2, (40, 70)).astype(float)]
    risk_table = table(rows, ["number"] * 70)
    cells = RowCells(risk_table, risk_table.column_names)
    smallest = [cells.smallest_size(target, 3) for target in range(4)]
    sets = naive.smallest_unique_sizes(rows, 70, 2, range(4))
    assert [min(size, 3) for size in smallest] == sets


def test_random_targets_have_an_interval_and_do_not_depend_on_threads():
    rng = np.random.default_rng(6)
    rows = [tuple(row) for row in (rng.random((300, 6)) ** 2 * 12).astype(int).astype(float)]
    risk_table = table(rows, ["number"] * 6)
    counted = minimal_sets(risk_table, risk_table.column_names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS_OF_ALL_SETS", 0)
        patch.setattr(module, "TARGETS", 100)
        drawn = minimal_sets(risk_table, risk_table.column_names, seed=1, threads=1)
        assert drawn == minimal_sets(risk_table, risk_table.column_names, seed=1, threads=3)
    for exactly, sample in zip(counted, drawn, strict=True):
        assert not sample.counted and sample.share.n == 100
        assert sample.share.low <= exactly.share.value <= sample.share.high


def test_an_empty_list_of_columns_is_refused():
    with pytest.raises(so.ParameterError, match="at least one column"):
        minimal_sets(table([("a",)], ["category"]), [])
