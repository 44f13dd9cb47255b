"""Entries by item, packed: every word is where its slow twin has it, and none that points nowhere passes."""

import tracemalloc

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import standout as so
from standout.data.build import pack_by_item
from standout.data.entries import (
    BLOCK_BITS,
    block_starts,
    mismatched_column,
    unpack_item,
    word_bits,
    word_type,
    words_are_valid,
)
from standout.data.labels import Clock
from standout.data.release import RecordEntries, code_type

SIZE = 1 << BLOCK_BITS
MOST_LEVELS, MOST_UNITS = 65_536, 2**32 - 1


def by_record(entries, n_records, n_items, n_levels, span):
    """{(record, item): (value, time)} of codes, None = missing, as a release holds them by record."""
    rows = sorted((*pair, *cells) for pair, cells in entries.items())
    start = np.searchsorted([row[0] for row in rows], np.arange(n_records + 1))
    value = [n_levels if row[2] is None else row[2] for row in rows]
    time = [span if row[3] is None else row[3] for row in rows]
    return RecordEntries(
        start.astype(np.int64),
        np.array([row[1] for row in rows], code_type(n_items)),
        np.array(value, code_type(n_levels + 1)) if n_levels else None,
        np.array(time, code_type(span + 1)) if span else None,
    )


def pack(entries, n_records, n_items, n_levels, span):
    levels = np.arange(float(n_levels)) if n_levels else None
    clock = Clock("minute", 0, span) if span else None
    return pack_by_item(by_record(entries, n_records, n_items, n_levels, span), n_items, levels, clock)


@st.composite
def tables(draw):
    """(entries in codes, records, items, levels, span), up to three blocks of records and 64 bits a word."""
    n_records = draw(st.sampled_from([1, 2, 50, SIZE - 1, SIZE, SIZE + 1, 2 * SIZE + 3]))
    n_items = draw(st.sampled_from([1, 2, 5]))
    n_levels = draw(st.sampled_from([0, 1, 3, 5, 4_000, MOST_LEVELS]))
    span = draw(st.sampled_from([0, 1, 2, 2_243, 40_000, MOST_UNITS]))
    edges = [0, SIZE - 1, SIZE, 2 * SIZE - 1, 2 * SIZE, n_records - 1]
    record = st.sampled_from([edge for edge in edges if edge < n_records]) | st.integers(0, n_records - 1)
    value = st.integers(0, n_levels - 1) | st.just(n_levels - 1) if n_levels else st.none()
    time = st.integers(0, span - 1) | st.just(span - 1) if span else st.none()
    value, time = (
        st.none() | cell if missing else cell
        for cell, missing in zip((value, time), draw(st.tuples(st.booleans(), st.booleans())), strict=True)
    )
    pairs = st.tuples(record, st.integers(0, n_items - 1))
    entries = draw(st.dictionaries(pairs, st.tuples(value, time), min_size=1, max_size=12))
    return entries, n_records, n_items, n_levels, span


@given(tables())
def test_words_and_runs_equal_their_slow_twin(table):
    entries, n_records, n_items, n_levels, span = table
    packed = pack(*table)
    assert {name: np.array(part).tolist() for name, part in packed._asdict().items()} == naive.postings(
        entries, n_items, n_levels, span
    )
    total = BLOCK_BITS + packed.value_bits + packed.time_bits
    assert packed.word.dtype == (np.uint32 if total <= 32 else np.uint64)
    assert packed.block.dtype == code_type(-(-n_records // SIZE))
    assert all(part.dtype == np.int64 for part in (packed.start, packed.run, packed.begin, packed.end))
    assert not any(part.flags.writeable for part in packed[:6])


@given(tables())
def test_an_item_unpacks_to_its_entries_by_record(table):
    (entries, _, n_items, n_levels, span), packed = table, pack(*table)
    for item in range(n_items):
        rows = list(zip(*(part.tolist() for part in unpack_item(packed, item, n_levels, span)), strict=True))
        assert rows == sorted(
            (record, n_levels if value is None else value, span if time is None else time)
            for (record, other), (value, time) in entries.items()
            if other == item
        )


@pytest.mark.parametrize(("n_records", "width"), [(256, np.uint8), (257, np.uint16)])
def test_blocks_are_numbered_in_the_narrowest_type(n_records, width, monkeypatch):
    monkeypatch.setattr("standout.data.entries.BLOCK_BITS", 0)
    packed = pack({(record, 0): (None, None) for record in range(n_records)}, n_records, 1, 0, 0)
    assert packed.block.dtype == width
    assert packed.block.tolist() == unpack_item(packed, 0, 0, 0)[0].tolist() == list(range(n_records))


def test_the_widest_word_has_63_bits_and_its_entries_come_back():
    entries = {
        (SIZE - 1, 0): (MOST_LEVELS - 1, MOST_UNITS - 1), (2 * SIZE - 1, 0): (None, None),
    }  # fmt: skip
    packed = pack(entries, 2 * SIZE, 1, MOST_LEVELS, MOST_UNITS)
    assert BLOCK_BITS + packed.value_bits + packed.time_bits == 63
    assert [part.tolist() for part in unpack_item(packed, 0, MOST_LEVELS, MOST_UNITS)] == [
        [SIZE - 1, 2 * SIZE - 1], [MOST_LEVELS - 1, MOST_LEVELS], [MOST_UNITS - 1, MOST_UNITS],
    ]  # fmt: skip
    with pytest.raises(ValueError, match="65 bits"):
        word_type(packed.value_bits + 2, packed.time_bits)


def test_fields_have_the_bits_that_their_codes_need():
    for n_levels, span, gaps, expected in [
        (0, 0, False, (0, 0)),
        (0, 1, False, (0, 0)),
        (0, 1, True, (1, 0)),
        (1, 0, False, (1, 0)),
        (3, 0, False, (2, 0)),
        (4, 0, False, (3, 0)),
        (5, 2_243, False, (3, 12)),
        (5, 2_243, True, (4, 12)),
        (7, 4_096, True, (4, 12)),
        (7, 4_097, True, (4, 13)),
        (7, 1, False, (3, 0)),
    ]:
        assert word_bits(n_levels, span, gaps) == expected
        kinds = (n_levels + 1) * (1 + gaps)
        assert 2 ** expected[0] >= kinds > 2 ** expected[0] // 2
        assert 2 ** expected[1] >= span > 2 ** expected[1] // 2 or span <= 1


def test_a_word_at_the_size_of_netflix_has_32_bits_even_where_times_are_missing():
    for gaps in (False, True):
        assert word_type(*word_bits(5, 2_243, gaps)) == np.uint32


def test_six_years_of_hours_fit_32_bits_and_of_minutes_64():
    assert word_type(*word_bits(5, 6 * 366 * 24, False)) == np.uint32
    assert word_type(*word_bits(5, 6 * 366 * 24 * 60, False)) == np.uint64


# Damage: the checks are compared with loops over plain numbers.


@settings(max_examples=120)
@given(tables(), st.data())
def test_contradictory_runs_are_detected(table, data):
    packed, n_blocks = pack(*table), len(block_starts(table[1]))
    assert mismatched_column(packed, n_blocks) is None
    name = data.draw(st.sampled_from(["run", "block", "edge"]))
    column = np.append(packed.begin, packed.end[-1:]) if name == "edge" else getattr(packed, name).copy()
    index = data.draw(st.integers(0, len(column) - 1))
    limit = int(np.iinfo(column.dtype).max) if name != "run" else len(packed.block)
    column[index] = data.draw(st.integers(0, min(limit, 4)) | st.sampled_from([n_blocks % 256, limit]))
    if name != "block" and (
        (np.diff(column) < 0).any() or (column[0] != 0) or (name == "run" and column[-1] != len(packed.block))
    ):
        return  # the manifest finds those, as in any column of offsets
    changed = packed._replace(**({"begin": column[:-1], "end": column[1:]} if name == "edge" else {name: column}))
    ends = changed.end - np.repeat(changed.start[:-1], np.diff(changed.run))
    parts = [part.tolist() for part in (changed.start, changed.run, changed.block, ends)]
    assert (mismatched_column(changed, n_blocks) is None) == naive.runs_fit(*parts, n_blocks)


def test_a_column_of_runs_that_contradicts_the_others_is_named():
    for name, column, named in [
        ("run", [0, 3, 3], "edge"),  # an item with words but no run
        ("run", [0, 1, 3], "edge"),  # the same runs, cut elsewhere
        ("block", [0, 0, 0], "block"),
        ("block", [1, 0, 0], "block"),
        ("block", [0, 2, 0], "block"),
        ("end", [0, 2, 3], "edge"),
        ("end", [2, 2, 3], "edge"),
        ("end", [1, 1, 3], "edge"),
        ("end", [1, 2, 4], "edge"),
        ("end", [3, 2, 3], "edge"),
        ("end", [1, 2, 3, 4], "edge"),
        ("end", [1, 2], "edge"),
    ]:
        packed = pack({(0, 0): (None, None), (SIZE, 0): (None, None), (0, 1): (None, None)}, SIZE + 1, 2, 0, 0)
        assert [part.tolist() for part in packed[:5]] == [[0, 2, 3], [0, 2, 3], [0, 1, 0], [0, 1, 2], [1, 2, 3]]
        edges = {"begin": np.array([0, *column[:-1]])} if name == "end" else {}
        changed = packed._replace(**{name: np.array(column, getattr(packed, name).dtype)}, **edges)
        assert (mismatched_column(packed, 2), mismatched_column(changed, 2)) == (None, named)


@settings(max_examples=150)
@given(table=tables(), data=st.data(), piece=st.sampled_from([1, 2, 5, 1 << 20]))
def test_an_invalid_word_is_detected(table, data, piece):
    packed, (_, n_records, _, n_levels, span) = pack(*table), table
    word, index = packed.word.copy(), data.draw(st.integers(0, len(packed.word) - 1))
    n_bits, width = BLOCK_BITS + packed.value_bits + packed.time_bits, 8 * word.itemsize
    bit = st.integers(0, width - 1) | st.just(min(n_bits, width - 1))
    flip = bit.map(lambda bit: int(word[index]) ^ 1 << bit)
    word[index] = data.draw(flip | st.integers(0, 2**n_bits - 1) | st.integers(0, 2**width - 1))
    item = int(np.searchsorted(packed.start, index, side="right")) - 1
    runs = range(packed.run[item], packed.run[item + 1])
    block = next(int(packed.block[j]) for j in runs if index < packed.end[j])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("standout.data.entries.PIECE", piece)
        assert words_are_valid(packed, n_records, n_levels, span)
        changed = packed._replace(word=word)
        assert words_are_valid(changed, n_records, n_levels, span) == naive.word_is_valid(
            int(word[index]), block, (packed.value_bits, packed.time_bits), n_records, n_levels, span
        )


# Whole releases.


def rows(n_records, value, time):
    """A frame with one or two items a record, over several blocks of records."""
    record = [i for i in range(n_records) for _ in range(1 + i % 2)]
    item = [i % 7 + 7 * k for i in range(n_records) for k in range(1 + i % 2)]
    cells = {"value": [value(i) for i in range(len(record))], "time": [time(i) for i in range(len(record))]}
    frame = pl.DataFrame({"user": map(str, record), "item": map(str, item), **cells}, strict=False)
    return frame.drop(name for name in cells if frame[name].null_count() == len(frame))


KINDS = {
    "plain": (lambda i: i % 5, lambda i: f"2005-01-{1 + i % 28:02}", "day"),
    "values missing": (lambda i: i % 5 if i % 3 else None, lambda i: f"2005-01-{1 + i % 28:02}", "day"),
    "times missing": (lambda i: i % 5, lambda i: f"2005-01-{1 + i % 28:02}" if i % 3 else None, "day"),
    "no values": (lambda i: None, lambda i: f"2005-01-{1 + i % 28:02}", "day"),
    "no times": (lambda i: i % 5, lambda i: None, "day"),
    "neither": (lambda i: None, lambda i: None, "day"),
    "categories": (lambda i: "abc"[i % 3], lambda i: None, "day"),
    "minutes": (lambda i: i % 5, lambda i: f"{1990 + i % 20}-01-01T00:{i % 60:02}:00", "minute"),
    "thousands of levels": (lambda i: i % 4_001, lambda i: f"2005-01-{1 + i % 28:02}", "day"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_of_several_blocks_has_the_same_entries_by_item_also_on_disk(kind, tmp_path):
    value, time, unit = KINDS[kind]
    release = so.read(rows(SIZE + 900, value, time), time_unit=unit)
    so.save(release, tmp_path / "index")
    again = so.open(tmp_path / "index").check()
    side, n_levels, span = release.by_record, release.n_levels, release.span
    record = np.repeat(np.arange(release.n_records), release.lengths)
    order = np.lexsort((record, side.item))
    for one in (release, again):
        parts = [unpack_item(one.by_item, item, n_levels, span) for item in range(one.n_items)]
        for column, unpacked in zip((record, side.value, side.time), zip(*parts, strict=True), strict=True):
            expected = np.zeros(len(record), int) if column is None else column[order]
            assert np.concatenate(unpacked).tolist() == expected.tolist()
    assert len(set(release.by_item.block.tolist())) == 2
    assert release.by_item.word.dtype == (np.uint64 if kind == "minutes" else np.uint32)
    assert again.by_item[6:8] == release.by_item[6:8]
    for name in ("0", "6", "13"):
        assert again.item(name) == release.item(name)
        assert len(again.item(name)) == release.support[release.items.find(name)]


@pytest.mark.large
def test_a_large_release_holds_the_same_entries_by_item():
    release = so.synthesize(records=60_000, items=500, entries=600_000, seed=5)
    packed, side, span = release.by_item, release.by_record, release.clock.span
    record = np.repeat(np.arange(release.n_records), release.lengths)
    order = np.argsort(side.item, kind="stable")
    parts = [unpack_item(packed, item, 5, span) for item in range(release.n_items)]
    for column, unpacked in zip((record, side.value, side.time), zip(*parts, strict=True), strict=True):
        assert (np.concatenate(unpacked) == column[order]).all()
    assert mismatched_column(packed, len(block_starts(release.n_records))) is None
    assert words_are_valid(packed, release.n_records, 5, span)


@pytest.mark.large
def test_a_million_items_in_a_hundred_blocks_take_memory_for_their_runs_only():
    n = 1_000_000
    side = RecordEntries(np.arange(n + 1), np.arange(n, dtype=np.uint32)[::-1].copy(), None, None)
    pack_by_item(RecordEntries(side.start[:3], side.item[:2] - np.uint32(n - 2), None, None), 2, None, None)
    tracemalloc.start()
    try:
        packed = pack_by_item(side, n, None, None)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(block_starts(n)) > 100 and len(packed.block) == n
    assert peak < 100 * n, f"{peak:,} bytes"  # an item in every block would be 123 × n times something
    assert packed.block[0] == len(block_starts(n)) - 1 and packed.block[-1] == 0
    assert (packed.end - packed.begin == 1).all() and unpack_item(packed, 0, 0, 0)[0].tolist() == [n - 1]
