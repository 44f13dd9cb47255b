"""Unicity of records that have items several times: distinct points, each equally likely to be known."""

from collections import Counter
from datetime import date

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from random_releases import FIRST, read_rows
from standout.measure.unicity import draw_points, record_points, unicity

COMPILED = not numba.config.DISABLE_JIT
SEED = 2008
START = (FIRST.date() - date(1970, 1, 1)).days
CELLS = st.tuples(
    st.sampled_from(["9", "10", "2", "007", "7", "é"]),
    st.sampled_from("bcd"),
    st.sampled_from([None, 1.0, 2.0, 3.5]),
    st.sampled_from([None, 0, 1, 2, 3, 15, 40]),
)
ROWS = st.lists(CELLS, min_size=1, max_size=30).filter(
    lambda rows: all(any(row[column] is not None for row in rows) for column in (2, 3))
)


def traces_of(rows):
    """{record: [(item, value, day since 1970), …]}."""
    traces = {}
    for record, item, value, day in rows:
        traces.setdefault(record, []).append((item, value, None if day is None else START + day))
    return traces


def entry_at(release, at):
    """(item, value, day since 1970) of the entry at a position by record."""
    record = int(np.searchsorted(release.by_record.start, at, "right")) - 1
    entry = release.record_at(record).entries[at - int(release.by_record.start[record])]
    return entry.item, entry.value, None if entry.time is None else (entry.time - date(1970, 1, 1)).days


def counted(release, traces, k, most, value, days):
    """(targets whom the first k of `most` points single out, targets, records with too few), by the twin."""
    drawn, points, _ = draw_points(
        release, record_points(release, value is not None, days), None, most, SEED, "unicity"
    )
    alone = 0
    for target, entries in zip(drawn.tolist(), points[:, :k].tolist(), strict=True):
        record, known = release.records[target], [entry_at(release, at) for at in entries]
        distinct = naive.points(traces[record], value, days)
        assert set(known) <= set(traces[record])
        assert len(naive.points(known, value, days)) == k <= len(distinct)
        alone += naive.is_unique_trace(traces, record, known, value, days)
    too_few = sum(len(naive.points(trace, value, days)) < most for trace in traces.values())
    return alone, len(drawn), too_few


@settings(max_examples=120 if COMPILED else 12)
@given(
    ROWS,
    st.sampled_from([0, 1, 1.5, 100, None]),
    st.sampled_from([None, 1, 2, 7, 365]),
    st.lists(st.integers(1, 5), min_size=1, unique=True),
)
def test_unique_traces_equal_the_slow_twin(rows, value, days, sizes):
    release, traces = read_rows(rows, "keep"), traces_of(rows)
    results = unicity(release, sizes, value=value, time=days, targets=None, seed=SEED, threads=1)
    for k, result in zip(sizes, results, strict=True):
        alone, n, too_few = counted(release, traces, k, max(sizes), value, days)
        assert (result.share.n, result.too_few_entries) == (n, too_few)
        assert result.share.value * n == pytest.approx(alone)


@given(ROWS, st.booleans(), st.sampled_from([None, 1, 2, 7]))
def test_points_of_records_equal_the_slow_twin(rows, with_values, days):
    release, traces = read_rows(rows, "keep"), traces_of(rows)
    start, first_entry = record_points(release, with_values, days)
    for index, record in enumerate(release.records):
        value = 0 if with_values else None
        at = np.arange(*start[index : index + 2])
        entries = [entry_at(release, i) for i in (at if first_entry is None else first_entry[at]).tolist()]
        expected = naive.points(traces[record], value, days)
        assert {*naive.points(entries, value, days)} == {*expected} and len(entries) == len(expected)


def commuters(people=60, days=20):
    """Rows of people who share a station and one of four offices on every day, and go to a shop on one."""
    draw, rows = np.random.default_rng(SEED), []
    for person in range(people):
        for day in range(days):
            rows += [(str(person), "station", 1.0, day), (str(person), f"office {person % 4}", 1.0, day)]
        rows.append((str(person), f"shop {draw.integers(10)}", 1.0, int(draw.integers(days))))
    return [row for row in rows if draw.random() < 0.8]


def test_merged_visits_overstate_unicity_by_day():
    """Few people were last at a place on the same day, although many were there on every day."""
    rows = commuters()
    kept, merged = (
        unicity(read_rows(rows, repeats), 2, time=1, targets=None, seed=SEED).share.value
        for repeats in ("keep", "last")
    )
    assert kept < merged - 0.2
    release, traces = read_rows(rows, "keep"), traces_of(rows)
    alone, n, _ = counted(release, traces, 2, 2, 0, 1)
    assert kept == pytest.approx(alone / n)


def test_all_points_of_a_record_are_equally_likely_to_be_known():
    rows = [("7", "b", 1.0, 0)] * 8 + [("7", "c", 1.0, 0), ("7", "c", 1.0, 1)]
    release = read_rows([*rows, ("9", "b", 1.0, 0)], "keep")
    points = record_points(release, True, 1)
    counts = Counter(
        entry_at(release, draw_points(release, points, None, 1, seed, "unicity")[1][0, 0])[::2]
        for seed in range(400)
        if draw_points(release, points, None, 1, seed, "unicity")[0][0] == release.records.find("7")
    )
    assert len(counts) == 3 and min(counts.values()) > sum(counts.values()) / 5


def test_kept_rows_without_a_repeat_give_the_unicity_of_merged_ones():
    rows = list({row[:2]: row for row in commuters()}.values())
    for time in (None, 1, 7):
        kept, merged = (unicity(read_rows(rows, repeats), [1, 2], time=time, seed=SEED) for repeats in ("keep", "last"))
        assert kept == merged


def test_without_times_and_values_points_are_items_so_merging_changes_nothing():
    kept, merged = (
        unicity(read_rows(commuters(), repeats), [1, 2, 3], value=None, targets=None, seed=SEED)
        for repeats in ("keep", "last")
    )
    assert kept == merged and kept[0].share.n > 0


def test_more_points_and_finer_times_single_out_no_fewer():
    release = read_rows(commuters(), "keep")
    shares = [result.share.value for result in unicity(release, [1, 2, 4, 8], time=1, seed=SEED)]
    assert shares == sorted(shares) and shares[0] < shares[-1]
    assert unicity(release, 2, time=1, threads=3) == unicity(release, 2, time=1, threads=1)


def test_a_day_of_a_visit_is_compared_with_all_visits():
    """Both were there on all days, so neither is unique by this place."""
    rows = [(who, "b", 1.0, day) for who in "79" for day in range(30)] + [("9", "c", 1.0, 3)]
    result = unicity(read_rows(rows, "keep"), [1, 5, 30], time=1, value=None)
    assert result[-1].share.value <= 0.5 and result[0].share.n == 2
