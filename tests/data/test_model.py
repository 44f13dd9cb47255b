"""The release: the same entries in any row order are the same bytes, and every entry comes back."""

import tempfile
from dataclasses import FrozenInstanceError, dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from index_checks import arrays_of

import naive
import standout as so
from standout.core.errors import RejectedRows
from standout.data.entries import BLOCK_BITS, unpack_item
from standout.data.export import write_table
from standout.data.labels import Labels
from standout.data.release import code_type

STEP = {"day": timedelta(days=1), "hour": timedelta(hours=1), "minute": timedelta(minutes=1)}
TIME_TYPE = {"day": pl.Date, "hour": pl.Datetime("us"), "minute": pl.Datetime("us")}
VALUE_TYPE = {"number": pl.Float64, "text": pl.String}
LAST = datetime(6_000, 1, 1)  # minutes since 1970 fit 32 bits until 6053

CHARACTERS = st.characters(exclude_categories=["Cs"])
ODD_IDS = [" ", "  ", "\t", "\0", "0", "00", "007", "7", "18446744073709551617", '"', "a,b", "é", "é", "🙂", "x" * 300]
IDS = st.one_of(st.sampled_from(ODD_IDS), st.text(CHARACTERS, min_size=1, max_size=9))
CATEGORIES = IDS.map(str.strip).filter(bool)
NUMBERS = st.one_of(st.sampled_from([0.0, -0.0, 0.5, -3.0, 4.0]), st.floats(-1e100, 1e100))


@dataclass(frozen=True)
class Table:
    """Rows (record, item, value, time), and what their values and times are; None: no such column."""

    rows: list
    kind: str | None
    unit: str | None

    def frame(self, rows=None):
        schema = {"record": pl.String, "item": pl.String, "value": pl.Null, "time": pl.Null}
        schema |= {"value": VALUE_TYPE[self.kind]} if self.kind else {}
        schema |= {"time": TIME_TYPE[self.unit]} if self.unit else {}
        frame = pl.DataFrame(self.rows if rows is None else rows, schema=schema, orient="row")
        return frame.drop(*(name for name, kind in schema.items() if kind == pl.Null))

    def read(self, rows=None, **options):
        return so.read(self.frame(rows), **self.options, **options)

    @property
    def options(self):
        return {"value_type": self.kind or "auto", "time_unit": self.unit or "day"}


def times(unit):
    if unit == "day":
        return st.dates()
    return st.datetimes(max_value=LAST).map(
        lambda moment: moment.replace(second=0, microsecond=0, minute=0 if unit == "hour" else moment.minute)
    )


@st.composite
def tables(draw, ids=IDS, kinds=(None, "number", "text"), units=(None, "day", "hour", "minute")):
    """Any table without repeats; ids come from two small pools, so that records and items are shared."""
    people = draw(st.lists(ids, min_size=1, max_size=6, unique=True))
    things = draw(st.lists(ids, min_size=1, max_size=6, unique=True))
    cells = st.tuples(st.sampled_from(people), st.sampled_from(things))
    kind, unit = draw(st.sampled_from(kinds)), draw(st.sampled_from(units))
    value = st.none() | (NUMBERS if kind == "number" else CATEGORIES) if kind else st.none()
    time = st.none() | times(unit) if unit else st.none()
    pairs = draw(st.lists(cells, min_size=1, max_size=20, unique=True))
    return Table([(*pair, draw(value), draw(time)) for pair in pairs], kind, unit)


def by_lookup(release):
    """Return {(record, item): (value, time)} from `record`."""
    records = (release.record(name) for name in release.records)
    return {(record.id, entry.item): entry[1:] for record in records for entry in record.entries}


def by_frame(release):
    """Return the same from `to_frame`."""
    frame = release.to_frame()
    missing = [pl.lit(None).alias(name) for name in ("value", "time") if name not in frame.columns]
    rows = frame.with_columns(missing).select("record", "item", "value", "time").rows()
    return {row[:2]: row[2:] for row in rows}


@given(tables(), st.randoms(use_true_random=False))
def test_any_row_order_gives_the_same_bytes_and_the_same_entries_back(table, random):
    release, rows = table.read(), table.rows.copy()
    random.shuffle(rows)
    other = table.read(rows)
    assert other.fingerprint == release.fingerprint
    assert arrays_of(other) == arrays_of(release)
    assert by_lookup(release) == by_frame(release) == naive.entries(table.rows)


@given(tables(), st.data())
def test_different_entries_have_different_fingerprints(table, data):
    index = data.draw(st.integers(0, len(table.rows) - 1))
    other = data.draw(st.one_of(tables(), st.just(table)))
    rows = other.rows
    if other is table:  # a near miss: one entry more, or one cell another
        row = list(table.rows[index])
        change = data.draw(st.sampled_from(["item", "value", "time", "gone"]))
        if change == "item":
            row[1] = data.draw(IDS)
        elif change == "value" and table.kind:
            row[2] = data.draw(st.none() | (NUMBERS if table.kind == "number" else CATEGORIES))
        elif change == "time" and table.unit:
            row[3] = data.draw(st.none() | times(table.unit))
        rows = [*table.rows[:index], *([] if change == "gone" else [tuple(row)]), *table.rows[index + 1 :]]
        assume(rows)
    assume(naive.entries(rows) != naive.entries(table.rows))
    assert other.read(rows).fingerprint != table.read().fingerprint


def in_codes(entries, unit):
    """The same entries in codes from 0 on, how many levels there are, and how many units of time."""
    records = naive.shortlex({record for record, _ in entries})
    items = naive.shortlex({item for _, item in entries})
    levels = sorted({value for value, _ in entries.values() if value is not None})
    moments = [time for _, time in entries.values() if time is not None]
    coded = {
        (records.index(record), items.index(item)): (
            None if value is None else levels.index(value),
            None if time is None else (time - min(moments)) // STEP[unit],
        )
        for (record, item), (value, time) in entries.items()
    }
    return coded, len(levels), (max(moments) - min(moments)) // STEP[unit] + 1 if moments else 0


@pytest.mark.parametrize("block_bits", [0, 1, 2, BLOCK_BITS])
@settings(max_examples=30)
@given(table=tables())
def test_entries_by_item_equal_their_slow_twin_and_come_back(table, block_bits):
    entries, n_levels, span = in_codes(naive.entries(table.rows), table.unit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("standout.data.entries.BLOCK_BITS", block_bits)
        by_item = (release := table.read()).by_item
        columns = [unpack_item(by_item, item, n_levels, span) for item in range(release.n_items)]
    expected = naive.postings(entries, release.n_items, n_levels, span, block_bits)
    assert {name: np.array(part).tolist() for name, part in by_item._asdict().items()} == expected
    cells = [(item, *row) for item, parts in enumerate(columns) for row in zip(*parts, strict=True)]
    assert cells == sorted(
        (item, record, n_levels if value is None else value, span if time is None else time)
        for (record, item), (value, time) in entries.items()
    )


@given(tables())
def test_sizes_ranks_and_lengths_equal_their_slow_twins(table):
    release, entries = table.read(), naive.entries(table.rows)
    records, items = list(release.records), list(release.items)
    assert records == naive.shortlex({record for record, _ in entries})
    assert items == naive.shortlex({item for _, item in entries})
    assert (release.n_records, release.n_items, release.n_entries) == (len(records), len(items), len(entries))
    assert dict(zip(items, release.support.tolist(), strict=True)) == naive.support(entries)
    assert dict(zip(items, release.rank.tolist(), strict=True)) == naive.ranks(entries)
    assert dict(zip(records, release.lengths.tolist(), strict=True)) == naive.lengths(entries)
    for name in records:
        supported = [item for record, item in entries if record == name]
        assert list(release.record(name).support) == naive.shortlex(supported)


@given(tables(kinds=("number", "text"), units=("day", "hour", "minute")))
def test_levels_times_and_counts_equal_their_slow_twins(table):
    check_what_is_there(table.read(), naive.entries(table.rows))


def check_what_is_there(release, entries):
    values = [value for value, _ in entries.values() if value is not None]
    moments = [time for _, time in entries.values() if time is not None]
    assert list(release.levels) == sorted(set(values))
    assert release.time_range == ((min(moments), max(moments)) if moments else None)
    assert release.provenance.without_value == len(entries) - len(values)
    assert release.provenance.without_time == len(entries) - len(moments)


DAYS = [date(2005, 3, day) for day in (1, 2, 31)]


@pytest.mark.parametrize("repeats", ["last", "first", "max"])
@settings(max_examples=90)
@given(st.sampled_from(["number", "text", None]), st.sampled_from(["day", None]), st.data())
def test_the_policy_decides_which_repeat_is_kept(repeats, kind, unit, data):
    values = {"number": [None, -1.0, 2.0, 10.0], "text": [None, "b", "a", "c"], None: [None]}[kind]
    row = st.tuples(
        st.sampled_from("pq"), st.sampled_from("xyz"), st.sampled_from(values),
        st.sampled_from([None, *DAYS] if unit else [None]),
    )  # fmt: skip
    table = Table(data.draw(st.lists(row, min_size=1, max_size=12)), kind, unit)
    release, entries = table.read(repeats=repeats), naive.entries(table.rows, repeats)
    assert by_lookup(release) == by_frame(release) == entries
    assert release.provenance.repeats == len(table.rows) - len(entries)
    alone = Table([(*pair, *cells) for pair, cells in entries.items()], kind, unit).read()
    assert arrays_of(release) == arrays_of(alone)
    if kind and unit:
        check_what_is_there(release, entries)


PORTIONS = ["data.build.BUNDLES", "data.build.BLOCK", "data.build.PIECE", "data.entries.PIECE", "ingest.frames.ROWS"]
REPEATED = st.lists(
    st.tuples(
        st.sampled_from("mnopqrs"), st.sampled_from("vwxyz"), st.sampled_from([None, -1.0, 2.0]),
        st.sampled_from([None, *DAYS]),
    ),
    min_size=1, max_size=40,
)  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 3])
@settings(max_examples=25)
@given(rows=REPEATED, repeats=st.sampled_from(["last", "first", "max"]))
def test_the_sizes_of_blocks_do_not_change_the_release(size, rows, repeats):
    table = Table(rows, "number", "day")
    whole = table.read(repeats=repeats)
    with pytest.MonkeyPatch.context() as patch:
        for place in PORTIONS:
            patch.setattr(f"standout.{place}", size)
        parts = table.read(repeats=repeats)
    assert arrays_of(parts) == arrays_of(whole)
    assert parts.provenance == whole.provenance


def test_repeats_can_be_an_error():
    rows = [("p", "x", 1.0, None), ("p", "y", 1.0, None), ("q", "x", 1.0, None)]
    table = Table(rows, "number", None)
    assert table.read(repeats="error").fingerprint == table.read().fingerprint
    with pytest.raises(so.StandoutError, match="repeat"):
        table.read([*rows, rows[0]], repeats="error")


def test_an_unknown_policy_for_repeats_is_refused():
    with pytest.raises(so.ParameterError, match="repeats must be auto, keep, last, first, max or error"):
        Table([("p", "x", None, None)], None, None).read(repeats="newest")


WIDTHS = [(255, np.uint8), (256, np.uint8), (257, np.uint16), (65_536, np.uint16), (65_537, np.uint32)]
LARGE_WIDTHS = [pytest.param(*width, marks=pytest.mark.large) if width[0] > 1_000 else width for width in WIDTHS]


def test_codes_are_of_the_narrowest_type_that_holds_them():
    for count, width in [*WIDTHS, (1, np.uint8), (2**32, np.uint32)]:
        assert code_type(count) == width


@pytest.mark.parametrize(("count", "width"), LARGE_WIDTHS)
def test_codes_of_any_width_come_back(count, width):
    """There are count - 1 levels, so `count` with the code for a missing one, and as many items."""
    values = [float(i) for i in range(count - 1)]
    rows = [("p", str(i), value, None) for i, value in enumerate([*values, None])]
    release = Table(rows, "number", None).read()
    assert release.by_record.item.dtype == release.by_record.value.dtype == width
    assert by_lookup(release) == naive.entries(rows)
    flipped = Table([(item, record, *rest) for record, item, *rest in rows], "number", None).read()
    assert flipped.by_record.item.dtype == np.uint8 and flipped.by_record.value.dtype == width
    assert len(flipped.item("p")) == count
    assert flipped.record_at(count - 1).entries == (("p", None, None),)
    assert flipped.support.tolist() == [count]


def test_times_of_any_span_come_back():
    for unit in ["day", "hour", "minute"]:
        for count, width in WIDTHS:
            first = date(1999, 12, 31) if unit == "day" else datetime(1999, 12, 31, 23)
            last = first + (count - 2) * STEP[unit]
            rows = [("p", "x", None, first), ("p", "y", None, last), ("p", "z", None, None)]
            release = Table(rows, None, unit).read()
            assert release.by_record.time.dtype == width and release.clock.span == count - 1
            assert by_lookup(release) == by_frame(release) == naive.entries(rows)


def test_times_outside_the_calendar_are_refused():
    for time in [
        pl.Series(["-99999999999"]),  # Unix seconds before the year 1
        pl.Series(["0001-01-01T00:00:00+23:59"]),
        pl.Series(["9999-12-31T23:59:59-23:59"]),
        pl.Series([10_000_000], dtype=pl.Int32).cast(pl.Date),
        pl.Series([-10_000_000], dtype=pl.Int32).cast(pl.Date),
    ]:
        frame = pl.DataFrame({"user": ["p"], "item": ["x"], "time": time})
        with pytest.raises(RejectedRows, match="out of range"):
            so.read(frame)


@given(tables())
def test_a_release_cannot_be_changed(table):
    release = table.read()
    labels = (release.records, release.items)
    owned = [
        *release.by_record,
        *(part for part in release.by_item if isinstance(part, np.ndarray)),
        *(part for texts in labels for part in (texts.offsets, texts.data)),
    ]
    owned += [release.lengths, release.support, release.rank]
    owned += [] if isinstance(release.levels, tuple) else [release.levels]
    for array in (array for array in owned if array is not None):
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0
    for name in ("records", "levels", "by_record", "provenance"):
        with pytest.raises(FrozenInstanceError):
            setattr(release, name, None)


def test_titles_do_not_count_in_the_fingerprint():
    release = Table([("p", "x", None, None)], None, None).read()
    assert replace(release, titles=Labels.of(["Brazil"])).fingerprint == release.fingerprint


def test_a_missing_id_is_not_found():
    for wanted in ["8", "07", "", " 7", "7\0", "\ud800", "77"]:
        release = Table([("7", "x", None, None), ("007", "x", None, None)], None, None).read()
        with pytest.raises(so.NotFoundError) as caught:
            release.record(wanted)
        assert "\n" not in str(caught.value)


def test_ids_are_text_or_whole_numbers_and_positions_are_bounded():
    release = Table([("7", "x", None, None), ("007", "x", None, None)], None, None).read()
    assert [release.record(name).id for name in ("7", "007", 7, np.int64(7))] == ["7", "007", "7", "7"]
    for nothing in (7.0, None, True, b"7"):
        with pytest.raises(so.ParameterError, match="a record id must be text or a whole number, got"):
            release.record(nothing)
    for index in (-1, 2):
        with pytest.raises(so.NotFoundError, match="index must be from 0 to 1"):
            release.record_at(index)


CSV_IDS = st.one_of(
    st.sampled_from([name for name in ODD_IDS if "\0" not in name] + ["a\nb", "a\r\nb", "a\rb", "\r", "\n"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=9),
)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@settings(max_examples=40)
@given(table=tables(ids=CSV_IDS, kinds=(None, "number")))
def test_a_written_table_reads_as_the_same_release(table, suffix):
    release = table.read()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        write_table(release, path)
        again = so.read(path, **table.options)
        assert path.stat().st_mode & 0o777 == 0o600
        assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert by_lookup(again) == by_lookup(release)
    assert arrays_of(again) == arrays_of(release)


def test_an_item_lists_the_records_that_have_it():
    rows = [("7", "x", None, None), ("007", "x", None, None), ("7", "y", None, None)]
    release = Table(rows, None, None).read()
    assert [(item.id, item.support, item.rank) for item in map(release.item, ("x", "y"))] == [
        ("x", ("7", "007"), 1),
        ("y", ("7",), 2),
    ]
    for nothing in ("z", 7):
        with pytest.raises(so.NotFoundError):
            release.item(nothing)
