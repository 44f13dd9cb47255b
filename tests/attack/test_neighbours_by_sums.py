"""Nearest neighbours by any similarity are those of the twin that compares every pair."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import standout as so
from attack_cases import COMPILED, SameWeekday, same_weekday
from random_releases import random_rows, read_rows
from standout.attack.neighbours import _add_up
from standout.measure.sparsity import sparsity


def lopsided(known, value, days):
    """Tomorrow is nearer than yesterday, and a missing value is half as good."""
    alike = 0.5 if known is None or value is None else 1 / (1 + abs(known - value))
    return alike if days is None else alike * (1 / (1 + days) if days >= 0 else 0.25)


def lopsided_twin(known, entry):
    days = None if known[1] is None or entry[1] is None else entry[1] - known[1]
    return lopsided(known[0], entry[0], days)


class Everyone(so.Within):
    """A subclass of a built-in similarity, which must not be taken for it."""

    def values(self, known, levels):
        return np.full(len(levels), 0.5)


TWINS = [
    (so.Decay(), naive.mean_decay),
    (so.Decay(2, None), lambda known, entry: naive.mean_decay(known, entry, 2, None)),
    (SameWeekday(), same_weekday),
    (so.Custom(lopsided), lopsided_twin),
    (Everyone(1, None), lambda known, entry: 1.0 if known[0] is None else 0.0 if entry[0] is None else 0.5),
]


def check_against_twin(rows, similarity, twin, over, **options):
    release = read_rows(rows)
    entries = {(record, item): (value, day) for record, item, value, day in rows}
    expected = naive.nearest_neighbours(entries, twin, over)
    result = sparsity(release, similarity, over=over, **options)
    for index, nearest, neighbour in zip(result.records, result.nearest, result.neighbour, strict=True):
        record = release.records[index]
        assert nearest == pytest.approx(expected[record][0], rel=1e-9, abs=1e-12)
        if neighbour < 0:
            assert expected[record][1] is None
            continue
        found = naive.record_similarity(entries, record, release.records[neighbour], twin, over)
        assert found == pytest.approx(expected[record][0], rel=1e-9)
    return result


CELLS = st.tuples(
    st.sampled_from("abcdefgh"),
    st.sampled_from("uvwxyz"),
    st.sampled_from([None, 1.0, 1.5, 2.0, 5.0]),
    st.sampled_from([None, 0, 1, 2, 7, 9]),
)


@settings(max_examples=30 if COMPILED else 10)
@given(
    st.lists(CELLS, min_size=2, max_size=30, unique_by=lambda cell: cell[:2]).filter(
        lambda rows: all(any(row[column] is not None for row in rows) for column in (2, 3))
    ),
    st.sampled_from(TWINS),
    st.sampled_from(["union", "first"]),
)
def test_the_nearest_neighbour_by_any_similarity_is_that_of_the_twin(rows, pair, over):
    check_against_twin(rows, *pair, over)


@pytest.mark.parametrize(("similarity", "twin"), TWINS)
def test_batches_samples_and_threads_change_no_neighbour(similarity, twin, monkeypatch):
    rows = random_rows(60 if COMPILED else 12, 15, 3, missing=0.1)
    whole = check_against_twin(rows, similarity, twin, "union", threads=1)
    monkeypatch.setattr("standout.attack.neighbours.ENTRIES_AT_ONCE", 7)
    steps = []
    in_batches = sparsity(read_rows(rows), similarity, threads=3, progress=lambda *step: steps.append(step))
    assert in_batches.nearest.tobytes() == whole.nearest.tobytes()
    assert in_batches.neighbour.tolist() == whole.neighbour.tolist()
    assert steps[-1][1] == steps[-1][2] == len(steps)
    part = sparsity(read_rows(rows), similarity, sample=5, seed=1)
    assert part.nearest.tolist() == whole.nearest[part.records].tolist()


def test_sums_find_the_neighbours_that_counting_finds():
    for over, similarity in product(
        ["union", "first"], [so.Present(), so.Equal(), so.Within(1, 3.5), so.Within(None, 2), so.Within(1, None)]
    ):
        release = read_rows(random_rows(200 if COMPILED else 20, 25, 5, missing=0.05))
        counted = sparsity(release, similarity, over=over)
        summed = _add_up(release, similarity, counted.records, over == "first")
        assert summed.similarity == pytest.approx(counted.nearest, abs=1e-15)
        assert summed.record.tolist() == counted.neighbour.tolist()


@pytest.mark.parametrize(("similarity", "twin"), TWINS)
def test_the_first_of_equal_records_is_the_neighbour(similarity, twin):
    rows = [(str(r), item, float(value), value) for r in range(1, 7) for value, item in enumerate("uvw")]
    result = check_against_twin(rows, similarity, twin, "union")
    assert result.neighbour.tolist() == [1, 0, 0, 0, 0, 0]
