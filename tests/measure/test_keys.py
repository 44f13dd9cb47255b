"""Sets of columns: the search finds what a search of all sets in plain loops finds."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from risk_cases import table, tables

import naive
import standout as so
from standout.measure import column_sets as keys_module
from standout.measure.column_sets import SetCounter, find_keys


def wide_rows(n_rows, n_columns, n_levels, seed=1):
    """Rows of random cells; later columns have more levels."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, n_levels + 1, n_columns)
    return [tuple(row) for row in (rng.random((n_rows, n_columns)) ** 2 * levels).astype(int).astype(float)]


@given(tables(max_columns=5), st.integers(1, 5))
def test_the_best_set_of_each_size_has_as_many_unique_rows_as_the_slow_twin_finds(case, largest):
    rows, kinds = case
    risk_table = table(rows, kinds)
    search = find_keys(risk_table, risk_table.column_names, largest)
    best = naive.best_column_sets(rows, len(kinds), largest)
    assert [found.unique.value for found in search.sets] == [share for _, share in best[: len(search.sets)]]
    assert all(found.search == "exhaustive" for found in search.sets)
    assert search.all_columns.value == naive.share_of_rows(rows, range(len(kinds)), lambda f: f == 1)
    if len(search.sets) < len(best):
        assert search.sets[-1].unique.value == search.all_columns.value


@given(tables(max_columns=5))
def test_unique_rows_and_classes_of_all_sets_are_those_of_the_slow_twin(case):
    rows, kinds = case
    risk_table, columns = table(rows, kinds), range(len(kinds))
    sets = [chosen for size in range(1, len(kinds) + 1) for chosen in combinations(columns, size)]
    counts = SetCounter(risk_table.columns, threads=2).count(sets)
    assert [each.unique for each in counts] == [naive.class_sizes(rows, chosen).count(1) for chosen in sets]
    assert [each.classes for each in counts] == [
        len({tuple(row[c] for c in chosen) for row in rows}) for chosen in sets
    ]


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_a_beam_search_says_so_and_its_share_is_exact_for_its_set(seed):
    rows = wide_rows(40, 7, 4, seed)
    risk_table = table(rows, ["number"] * 7)
    best = naive.best_column_sets(rows, 7, 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys_module, "MOST_SETS", 0)
        patch.setattr(keys_module, "BEAM_ROWS", 0)
        search = find_keys(risk_table, risk_table.column_names, 4)
    for found, (_, share) in zip(search.sets, best, strict=False):
        chosen = [int(name) for name in found.columns]
        assert found.unique.value == naive.share_of_rows(rows, chosen, lambda f: f == 1) <= share
        assert found.search == "beam" or found.unique.value == search.all_columns.value


def test_sets_do_not_depend_on_the_number_of_threads():
    risk_table = table(wide_rows(60, 8, 5), ["number"] * 8)
    threads = [find_keys(risk_table, risk_table.column_names, threads=count) for count in (1, 3)]
    assert threads[0] == threads[1]


def test_the_smallest_set_that_singles_out_a_share_is_the_first_that_reaches_it():
    rows = [(a, b, a * b) for a in (0.0, 1.0, 2.0) for b in (0.0, 1.0, 2.0)]
    search = find_keys(table(rows, ["number"] * 3), ["0", "1", "2"])
    assert search.smallest(0.1).columns == ("2",)
    assert search.smallest(0.9).columns == ("0", "1")
    assert find_keys(table([("a",), ("a",)], ["category"]), ["0"]).smallest(0.5) is None


def test_an_empty_list_of_columns_is_refused():
    with pytest.raises(so.ParameterError, match="at least one column"):
        find_keys(table([("a",)], ["category"]), [])
