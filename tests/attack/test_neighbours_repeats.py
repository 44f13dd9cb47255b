"""Nearest neighbours of records that have items several times: each item counts once, by its best pair."""

from functools import partial

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

COUNTING_TWINS = {
    so.Present(): naive.present,
    so.Equal(): naive.equal,
    so.Within(None, None): partial(naive.within, value=None, time=None),
    so.Within(0, None): partial(naive.within, value=0, time=None),
    so.Within(None, 2): partial(naive.within, value=None, time=2),
    so.Within(1, 3.5): partial(naive.within, value=1, time=3.5),
}
TWINS = [
    *COUNTING_TWINS.items(),
    (so.Decay(), naive.mean_decay),
    (so.Decay(2, None), partial(naive.mean_decay, value_scale=2, time_scale=None)),
    (SameWeekday(), same_weekday),
]
TINY = {"MAX_BITMAP_BYTES": 1, "BATCH": 7}
"""Every column is a tile of its own, and seven records are a batch."""
CELLS = st.tuples(
    st.sampled_from("abcdef"),
    st.sampled_from("uvwx"),
    st.sampled_from([None, 1.0, 1.5, 2.0, 5.0]),
    st.sampled_from([None, 0, 1, 2, 7, 9]),
)
ROWS = st.lists(CELLS, min_size=2, max_size=30).filter(
    lambda rows: all(any(row[column] is not None for row in rows) for column in (2, 3))
)


CROWDED = st.lists(
    st.tuples(
        st.sampled_from("abcdefghijklmnop"),
        st.sampled_from("uv"),
        st.sampled_from([None, 1.0, 2.0]),
        st.sampled_from([None, 0, 1, 3]),
    ),
    min_size=90,
    max_size=120,
)
"""Rows of people at two places: more of them than there are values and times."""


def random_visits(records, items, seed):
    """Rows of a random release in which records have many items several times."""
    draw, rows = np.random.default_rng(seed), random_rows(records, items, seed, missing=0.05)
    more = draw.integers(0, 4, len(rows))
    return [
        (record, item, value if i == 0 else float(draw.integers(1, 6)), day if i == 0 else int(draw.integers(20)))
        for (record, item, value, day), count in zip(rows, more, strict=True)
        for i in range(1 + count)
    ]


@settings(max_examples=60 if COMPILED else 15)
@given(ROWS | CROWDED, st.sampled_from(TWINS), st.sampled_from(["union", "first"]))
def test_the_nearest_neighbour_with_repeats_equals_the_slow_twin(rows, pair, over):
    similarity, twin = pair
    release, entries = read_rows(rows, "keep"), naive.visits(rows)
    expected = naive.nearest_neighbours(entries, twin, over)
    result = sparsity(release, similarity, over=over, threads=1)
    assert [release.records[index] for index in result.records] == [*expected]
    for index, nearest, neighbour in zip(result.records, result.nearest, result.neighbour, strict=True):
        record = release.records[index]
        assert nearest == pytest.approx(expected[record][0], rel=1e-9, abs=1e-12)
        if neighbour < 0:
            assert expected[record][1] is None
            continue
        other = release.records[neighbour]
        found = naive.record_similarity(entries, record, other, twin, over)
        assert found == pytest.approx(expected[record][0], rel=1e-9)
        assert so.record_similarity(release, record, other, similarity, over) == pytest.approx(found, rel=1e-9)


@settings(max_examples=30 if COMPILED else 15)
@given(ROWS, st.sampled_from(list(COUNTING_TWINS)))
def test_similarity_with_repeats_is_symmetric_where_nothing_is_missing_and_1_for_the_same_record(rows, similarity):
    release = read_rows([row for row in rows if None not in row] or [("a", "u", 1.0, 0)], "keep")
    for one in release.records:
        assert so.record_similarity(release, one, one, similarity) == 1.0
        for other in release.records:
            there = so.record_similarity(release, one, other, similarity)
            assert there == so.record_similarity(release, other, one, similarity)


@pytest.mark.parametrize("over", ["union", "first"])
def test_counted_items_with_repeats_are_those_of_the_sums_in_any_tiles(over, monkeypatch):
    release = read_rows(random_visits(600 if COMPILED else 40, 25, 5), "keep")
    summed = _add_up(release, so.Present(), np.arange(release.n_records), over == "first")
    for constants in ({}, TINY):
        for name, value in constants.items():
            monkeypatch.setattr(f"standout.attack.neighbours.{name}", value)
        counted = sparsity(release, so.Present(), over=over)
        assert counted.nearest == pytest.approx(summed.similarity, abs=1e-15)
        assert counted.neighbour.tolist() == summed.record.tolist()


@pytest.mark.parametrize("similarity", [so.Within(1, 3.5), so.Decay(), so.Present()], ids=str)
def test_batches_samples_and_threads_change_no_neighbour_with_repeats(similarity, monkeypatch):
    release = read_rows(random_visits(60 if COMPILED else 12, 15, 3), "keep")
    whole = sparsity(release, similarity, threads=1)
    monkeypatch.setattr("standout.attack.neighbours.ENTRIES_AT_ONCE", 7)
    in_batches = sparsity(release, similarity, threads=3)
    assert in_batches.nearest.tobytes() == whole.nearest.tobytes()
    assert in_batches.neighbour.tolist() == whole.neighbour.tolist()
    part = sparsity(release, similarity, sample=5, seed=1)
    assert part.nearest.tolist() == whole.nearest[part.records].tolist()


@pytest.mark.parametrize("similarity", [so.Present(), so.Within(1, 3.5), so.Decay()], ids=str)
def test_rows_that_occur_twice_change_no_similarity(similarity):
    rows = random_rows(40 if COMPILED else 12, 12, 11, missing=0.1)
    once, twice = read_rows(rows), read_rows(rows + rows[::3], "keep")
    assert twice.has_repeats
    expected, result = sparsity(once, similarity), sparsity(twice, similarity)
    assert result.nearest == pytest.approx(expected.nearest, rel=1e-12)


def test_kept_rows_without_a_repeat_give_the_result_of_merged_ones():
    rows = random_rows(40 if COMPILED else 12, 12, 11)
    for similarity in (so.Present(), so.Within(1, 3.5), so.Decay()):
        kept, merged = (sparsity(read_rows(rows, repeats), similarity) for repeats in ("keep", "last"))
        assert kept.nearest.tobytes() == merged.nearest.tobytes()
        assert kept.neighbour.tolist() == merged.neighbour.tolist()


def test_more_entries_never_make_neighbours_less_similar():
    """A further entry of an item that a record has can only agree better: nothing else changes."""
    rows = random_rows(60 if COMPILED else 12, 12, 5)
    more = [(record, item, 1.0 + value % 5, (day + 7) % 20) for record, item, value, day in rows[::2]]
    for similarity in (so.Within(0, 2), so.Decay()):
        before = sparsity(read_rows(rows), similarity).nearest
        assert (sparsity(read_rows(rows + more, "keep"), similarity).nearest >= before - 1e-12).all()
