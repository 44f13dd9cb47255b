"""Repeated entries: all are kept, in one canonical order, and counted as what they are."""

from collections import Counter
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_checks import arrays_of, forge_column

import naive
import standout as so
from standout.data.build import subset
from standout.data.entries import BLOCK_BITS, mismatched_column, unpack_item
from standout.data.manifest import release_columns

FIRST = date(2005, 3, 1)
SCHEMA = {"record": pl.String, "item": pl.String, "value": pl.Float64, "time": pl.Date}
ROWS = st.lists(
    st.tuples(
        st.sampled_from("abcdef"),
        st.sampled_from("xyz"),
        st.none() | st.sampled_from([0.5, 1.0, 4.0]),
        st.none() | st.integers(0, 9).map(lambda day: FIRST + timedelta(days=day)),
    ),
    min_size=1,
    max_size=30,
)


def read(rows, **options):
    return so.read(pl.DataFrame(rows, schema=SCHEMA, orient="row"), **options)


def rows_of(release):
    """All rows (record, item, value, time) of a release, with how often each occurs."""
    frame = release.to_frame()
    missing = [pl.lit(None).alias(name) for name in SCHEMA if name not in frame.columns]
    return Counter(frame.with_columns(missing).select(*SCHEMA).rows())


def in_codes(rows):
    """Rows in codes from 0 on, the number of levels and the span."""
    records, items = (sorted({row[i] for row in rows}) for i in (0, 1))
    levels = sorted({row[2] for row in rows} - {None})
    days = sorted({row[3] for row in rows} - {None})
    coded = [
        (
            records.index(record),
            items.index(item),
            None if value is None else levels.index(value),
            None if day is None else (day - days[0]).days,
        )
        for record, item, value, day in rows
    ]
    return coded, len(levels), (days[-1] - days[0]).days + 1 if days else 0


@given(rows=ROWS, random=st.randoms(use_true_random=False))
def test_every_row_is_kept_and_any_row_order_gives_the_same_bytes(rows, random):
    release, shuffled = read(rows, repeats="keep"), rows.copy()
    random.shuffle(shuffled)
    assert rows_of(release) == Counter(rows)
    assert arrays_of(read(shuffled, repeats="keep")) == arrays_of(release)
    assert release.provenance.repeats == len(rows) - len({row[:2] for row in rows})
    assert release.provenance.merged == 0 and release.provenance.settings["repeats"] == "keep"


@pytest.mark.parametrize("block_bits", [0, 1, BLOCK_BITS])
@settings(max_examples=40)
@given(rows=ROWS)
def test_repeated_entries_by_item_equal_their_slow_twin_and_come_back(block_bits, rows):
    coded, n_levels, span = in_codes(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("standout.data.entries.BLOCK_BITS", block_bits)
        release = read(rows, repeats="keep")
        columns = [unpack_item(release.by_item, i, n_levels, span) for i in range(release.n_items)]
        assert mismatched_column(release.by_item, -(-release.n_records // 2**block_bits)) is None
    expected = naive.postings(coded, release.n_items, n_levels, span, block_bits)
    found = {name: np.array(part).tolist() for name, part in release.by_item._asdict().items()}
    assert found == expected
    cells = [(item, *row) for item, parts in enumerate(columns) for row in zip(*parts, strict=True)]
    assert Counter(cells) == Counter(
        (item, record, n_levels if value is None else value, span if day is None else day)
        for record, item, value, day in coded
    )


@given(rows=ROWS)
def test_supports_count_records_and_lengths_count_entries(rows):
    release, pairs = read(rows, repeats="keep"), {row[:2] for row in rows}
    assert release.has_repeats == (len(pairs) < len(rows))
    for column, counts in [
        (release.lengths, Counter(row[0] for row in rows)),
        (release.distinct_items, Counter(record for record, _ in pairs)),
    ]:
        assert column.tolist() == [counts[record] for record in release.records]
    for column, counts in [
        (release.item_entries, Counter(row[1] for row in rows)),
        (release.support, Counter(item for _, item in pairs)),
    ]:
        assert column.tolist() == [counts[item] for item in release.items]
    for item in release.items:
        assert list(release.item(item).support) == sorted(record for record, other in pairs if other == item)
    for record in release.records:
        assert list(release.record(record).support) == sorted(item for own, item in pairs if own == record)
    description = so.describe(release)
    assert description.density == len(pairs) / (release.n_records * release.n_items)
    assert description.repeats == len(rows) - len(pairs)


@given(rows=ROWS, chosen=st.sets(st.sampled_from("abcdef"), min_size=1))
def test_a_subset_equals_reading_the_rows_of_its_records(rows, chosen):
    release = read(rows, repeats="keep")
    keep = np.array([record in chosen for record in release.records])
    if keep.any():
        expected = read([row for row in rows if row[0] in chosen], repeats="keep")
        selected = subset(release, keep)
        levels, clock = selected.levels is None, selected.clock is None
        assert rows_of(selected) == rows_of(expected)
        if not levels and not clock:
            assert selected.fingerprint == expected.fingerprint


@given(rows=ROWS)
@settings(max_examples=20)
def test_an_index_of_repeats_opens_as_it_was_saved(tmp_path_factory, rows):
    release, path = read(rows, repeats="keep"), tmp_path_factory.mktemp("index") / "repeats"
    so.save(release, path)
    opened = so.open(path)
    assert arrays_of(opened) == arrays_of(release) and opened.has_repeats == release.has_repeats
    assert opened.provenance == release.provenance


@pytest.mark.parametrize(("repeated", "kept"), [(0, "last"), (1, "last"), (2, "last"), (3, "keep")])
def test_repeats_are_kept_by_default_if_more_than_one_percent_of_the_rows_repeat(repeated, kept):
    rows = [(f"{i:03}", "x", 1.0, FIRST) for i in range(200 - repeated)]
    rows += [(f"{i:03}", "x", 4.0, FIRST) for i in range(repeated)]
    release = read(rows, repeats="auto", kind="history")
    assert release.provenance.settings["repeats"] == kept
    assert (release.provenance.repeats, release.provenance.merged) == (repeated, repeated if kept == "last" else 0)
    assert arrays_of(release) == arrays_of(read(rows, repeats=kept, kind="history"))


@pytest.mark.parametrize("column", ["by-item-single", "by-item-support"])
def test_an_index_whose_repeats_contradict_its_entries_is_refused(tmp_path, column):
    release = read([("a", "x", 1.0, FIRST)] * 3 + [("b", "x", 1.0, FIRST)], repeats="keep")
    so.save(release, tmp_path / "index")
    array = release_columns(release)[column].copy()
    array[0] = 99
    forge_column(tmp_path / "index", column, array)
    with pytest.raises(so.StoreError, match=f"{column}.bin contradicts"):
        so.open(tmp_path / "index")
