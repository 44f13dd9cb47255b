"""Near levels are those of the slow twin, and nearness is symmetric."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from naive import tables as naive
from standout.data.column import Column, near_levels
from standout.ingest.schema import hierarchy_rows, with_hierarchy


def ranges(column, error):
    near = near_levels(column, error)
    return [list(range(low, high)) for low, high in zip(near.low, near.high, strict=True)]


def column_of(kind, levels):
    return Column("c", kind, levels, np.zeros(1, np.uint8))


def is_symmetric(near):
    return all(a in near[b] for a in range(len(near)) for b in near[a])


@given(st.lists(st.integers(-40, 40), min_size=1, unique=True), st.sampled_from([0, 0.1, 0.5, 1, 2, 7]))
def test_numbers_and_dates_are_near_within_the_error(tenths, error):
    levels = np.array(sorted(tenths)) / 10
    for kind in ("number", "date"):
        near = ranges(column_of(kind, levels), error)
        assert near == naive.near(levels.tolist(), kind, error) and is_symmetric(near)


@given(st.integers(1, 9), st.sampled_from([0, 1, 1.9, 3, 20]))
def test_ordered_levels_are_near_within_steps(n, error):
    levels = tuple("abcdefghi"[:n])
    assert ranges(column_of("ordered", levels), error) == naive.near(levels, "ordered", error)


@given(st.lists(st.text("012", min_size=3, max_size=3), min_size=1, max_size=12, unique=True), st.integers(0, 5))
def test_categories_are_near_within_a_height_of_their_hierarchy(codes, error):
    column = with_hierarchy(column_of("category", tuple(sorted(codes))), "prefix", None)
    near = ranges(column, error)
    assert near == naive.near(column.levels, "category", error, hierarchy_rows(column)) and is_symmetric(near)
    plain = column_of("category", tuple(sorted(codes)))
    assert ranges(plain, error) == naive.near(plain.levels, "category", error)


def test_nearness_does_not_depend_on_the_unit():
    levels = np.array([0.0, 1, 2, 5, 9, 10])
    for unit in (1.0, 1e-9, 1e9):
        column = Column("c", "number", levels * unit, np.zeros(1, np.uint8))
        near = near_levels(column, 1.0 * unit)
        assert (near.high - near.low).tolist() == [2, 3, 2, 1, 2, 2]
        exact = near_levels(column, 0.0)
        assert (exact.high - exact.low).tolist() == [1] * 6
