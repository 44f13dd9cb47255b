"""Entries by record and by item, several entries of one record and item, and the blocks of records."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Bools, Ints, offsets, read_only, slices_of, take_rows
from standout.core.threads import Part, drop_pages
from standout.data.column import Codes

if TYPE_CHECKING:
    from standout.data.release import Release


def code_type(count: int) -> np.dtype[Any]:
    """Narrowest integer type that holds the codes 0 … count - 1."""
    return np.min_scalar_type(max(count - 1, 0))


class RecordEntries(NamedTuple):
    """All entries of a release, grouped by record.

    Record r owns the positions start[r] to start[r + 1], in ascending order of `item`, the item codes.
    Several entries of a record may have the same item; they are in the order of times, then of values.
    A value code is an index into the release's levels and a time code one into its clock; the code after the
    last one means missing. `value` or `time` is None if the release has none.
    """

    start: NDArray[np.int64]
    item: Codes
    value: Codes | None
    time: Codes | None


BLOCK_BITS = 13
PIECE = 1 << 20
"""Number of entries that are worked on at a time: all of them may not fit into memory."""

Words = NDArray[np.unsignedinteger[Any]]
NO_NUMBERS: NDArray[np.int64] = np.empty(0, np.int64)
NO_NUMBERS.flags.writeable = False  # like all arrays of postings, so that kernels are compiled once


class Postings(NamedTuple):
    """All entries of a release, grouped by item and in ascending order of records.

    Records are split into blocks of 2**BLOCK_BITS. Item i has start[i + 1] - start[i] entries and owns the
    runs run[i] to run[i + 1], one run for each block in which it has an entry. Run j holds the entries of the
    records in block[j]: the words begin[j] to end[j], which is where those of run j + 1 begin. `block` ascends
    within an item.

    If records have an item several times, a run begins with the words of the records that have it once; they
    end before single[j]. The words of each other record follow one another, by time and then by value: first
    the records with two words, then those with three, up to 31, then all others. Records with equally many
    words are in ascending order. support[i] is the number of records that have item i. `single` and `support`
    are empty if no record has an item several times.

    A word holds, from the low bits up, `time_bits` of time, `value_bits` of kind and BLOCK_BITS of the
    record's position in its block; the bits above are 0. The kind is the value code, or the number of levels
    if the value is missing. If some entries have a time and others have none, an entry without a time has
    the time 0 and a kind from a second bank: its value code + levels + 1.
    """

    start: NDArray[np.int64]
    run: NDArray[np.int64]
    block: Words
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    word: Words
    value_bits: int
    time_bits: int
    single: NDArray[np.int64] = NO_NUMBERS
    support: NDArray[np.int64] = NO_NUMBERS


def block_starts(n_records: int) -> range:
    """First record of each block."""
    return range(0, n_records, 1 << BLOCK_BITS)


def word_bits(n_levels: int, span: int, gaps: bool) -> tuple[int, int]:
    """Return (value bits, time bits) of the words; gaps = some entries have a time and others have none."""
    return (2 * n_levels + 1 if gaps else n_levels).bit_length(), max(span - 1, 0).bit_length()


def word_type(value_bits: int, time_bits: int) -> np.dtype[Any]:
    """Integer type of the words."""
    n_bits = BLOCK_BITS + value_bits + time_bits
    if n_bits > 64:  # 65,536 levels and 2**32 - 1 minutes, some missing, take 63
        raise ValueError(f"a word would have {n_bits} bits")
    return np.dtype(np.uint32 if n_bits <= 32 else np.uint64)


def unpack_item(
    postings: Postings, item: int, n_levels: int, span: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return (record, value, time) codes of one item; n_levels and span mean missing, as by record.

    Records ascend only if none has the item several times.
    """
    runs = slice(*postings.run[item : item + 2])
    word = postings.word[slice(*postings.start[item : item + 2])]
    position = (word >> (postings.value_bits + postings.time_bits)).astype(np.int64)
    block = np.repeat(postings.block[runs].astype(np.int64), postings.end[runs] - postings.begin[runs])
    return (block << BLOCK_BITS) + position, *unpack_attributes(postings, word, n_levels, span)


def unpack_attributes(
    postings: Postings, word: Words, n_levels: int, span: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (value, time) codes of words; n_levels and span mean missing, as by record."""
    kind = ((word >> postings.time_bits) & ((1 << postings.value_bits) - 1)).astype(np.int64)
    time = (word & ((1 << postings.time_bits) - 1)).astype(np.int64)
    timed = kind <= n_levels
    return np.where(timed, kind, kind - n_levels - 1), np.where(timed, time, span)


# Whether the entries of an index point somewhere: a kernel reads outside its arrays otherwise.


def mismatched_column(postings: Postings, n_blocks: int) -> str | None:
    """Name of a column of runs that contradicts the others, or None; start and run must be offsets."""
    start, run, block, begin, end = postings[:5]
    edges = np.append(begin, end[-1:])
    if len(end) != len(block) or (end <= begin).any() or not np.array_equal(edges[run], start):
        return "edge"
    ascends = np.append(True, block[1:] > block[:-1])
    ascends[run[:-1][np.diff(run) > 0]] = True
    if not ascends.all() or int(block.max(initial=0)) >= n_blocks:
        return "block"
    single, support, entries = postings.single, postings.support, np.diff(start)
    if len(single) and (len(single) != len(block) or (single < begin).any() or (single > end).any()):
        return "single"
    is_count = len(support) == len(entries) and ((support > 0) == (entries > 0)).all() and (support <= entries).all()
    return None if is_count or not len(single) else "support"


def words_are_valid(postings: Postings, n_records: int, n_levels: int, span: int) -> bool:
    """Whether every word has a record, a value and a time that exist; the columns must match."""
    value_bits, time_bits, bank = postings.value_bits, postings.time_bits, n_levels + 1
    gaps = (value_bits, time_bits) == word_bits(n_levels, span, gaps=True)
    for at in range(0, len(postings.word), PIECE):
        word = postings.word[at : at + PIECE] & ((1 << (value_bits + time_bits)) - 1)
        time = word & ((1 << time_bits) - 1)
        if (int(word.max()) >> time_bits) >= bank * (1 + gaps) or int(time.max()) >= max(span, 1):
            return False
        if gaps and time[word >= bank << time_bits].any():
            return False
    for low in range(0, len(postings.begin), PIECE):  # records exist, and the bits above them are 0
        begin, end = postings.begin[low : low + PIECE], postings.end[low : low + PIECE]
        highest = np.maximum.reduceat(postings.word[begin[0] : end[-1]], begin - begin[0])
        first = postings.block[low : low + PIECE].astype(np.int64) << BLOCK_BITS
        room = np.minimum(n_records - first, 1 << BLOCK_BITS).astype(np.uint64)
        if ((highest >> (value_bits + time_bits)) >= room).any():
            return False
    return True


def items_ascend(by_record: RecordEntries, may_repeat: bool) -> bool:
    """Whether the items of each record ascend, and are distinct if nothing repeats."""
    compare = np.greater_equal if may_repeat else np.greater
    for _, part in record_pieces(by_record):
        ascends = np.append(True, compare(part.item[1:], part.item[:-1]))
        ascends[part.start[:-1][np.diff(part.start) > 0]] = True
        if not ascends.all():
            return False
    return True


# Several entries of one record and item.


Repeats = Literal["auto", "keep", "last", "first", "max", "error"]
KEPT_FROM = 0.01
"""Repeated rows are kept if more than this share of the rows repeat and the user has not chosen."""


def entries_at(by_record: RecordEntries, positions: Any, start: Ints) -> RecordEntries:
    """The entries at some positions (a slice, numbers or truth values), which begin at `start` by record."""
    item, value, time = (None if column is None else column[positions] for column in by_record[1:])
    assert item is not None
    return RecordEntries(start, item, value, time)


def record_pieces(by_record: RecordEntries) -> Iterator[tuple[slice, RecordEntries]]:
    """Ranges of records, and their entries alone, with about PIECE entries each."""
    for records in slices_of(np.diff(by_record.start), PIECE):
        start = by_record.start[records.start : records.stop + 1]
        yield records, entries_at(by_record, slice(start[0], start[-1]), start - start[0])
        drop_pages()


def code_columns(by_record: RecordEntries, low: int, high: int) -> NDArray[np.uint32]:
    """Codes of item, value and time of the entries low … high - 1, for kernels; 0 for what the release lacks."""
    columns = np.zeros((3, high - low), np.uint32)
    for codes, column in zip(columns, by_record[1:], strict=True):
        if column is not None:
            codes[:] = column[low:high]
    return columns


def apply_rule(by_record: RecordEntries, repeats: Repeats, missing: Ints) -> RecordEntries:
    """Keep all entries of a record and item, by time and then by value, or one; changes the arrays that are given.

    Entries are in row order. The rule is not "auto". missing = [value code, time code] of an entry without one: it is
    the lowest, and for "first" the latest. Of equals the later row is kept, for "first" the earlier.
    """
    kept_start, total = np.zeros_like(by_record.start), 0
    for records, part in record_pieces(by_record):
        is_first = first_entries(part)
        is_last = np.roll(is_first, -1)
        several = np.flatnonzero(~(is_first & is_last))
        value, time = code_columns(part, 0, len(is_first))[1:, several].astype(np.int64)
        if repeats in ("last", "max"):
            value[value == missing[0]] = time[time == missing[1]] = -1
        keys = {"keep": (value, time), "last": (time,), "first": (-several, -time), "max": (time, value)}[repeats]
        kept = np.arange(len(is_first))
        kept[several] = several[np.lexsort((*keys, np.cumsum(is_first)[several]))]
        kept = kept if repeats == "keep" else kept[is_last]
        for column, codes in zip(by_record[1:], part[1:], strict=True):
            if column is not None and codes is not None:
                column[total : total + len(kept)] = codes[kept]
        start = part.start if repeats == "keep" else offsets(is_last)[part.start]
        kept_start[records.start + 1 : records.stop + 1] = start[1:] + total
        total += len(kept)
    return entries_at(by_record, slice(total), kept_start)


def sort_repeats(by_record: RecordEntries) -> RecordEntries:
    """Sort the entries of each (record, item) by time, then by value: the canonical order."""
    everything = np.arange(len(by_record.item))
    return apply_rule(entries_at(by_record, everything, by_record.start), "keep", np.zeros(2, np.int64))


def has_repeats(by_record: RecordEntries) -> bool:
    """Whether some record has an item several times."""
    return not all(first_entries(part).all() for _, part in record_pieces(by_record))


def count_distinct(by_record: RecordEntries, n_items: int) -> tuple[Ints, Ints]:
    """Return the number of distinct items of each record, and of distinct records of each item."""
    per_record, per_item = np.zeros(len(by_record.start) - 1, np.int64), np.zeros(n_items, np.int64)
    for records, part in record_pieces(by_record):
        distinct = distinct_items(part)
        per_record[records] = np.diff(distinct.start)
        per_item += np.bincount(distinct.item, minlength=n_items)
    return per_record, per_item


class DistinctItems(NamedTuple):
    """Distinct items of each record: record r has item[start[r]:start[r + 1]], in ascending order."""

    start: Ints
    item: Codes


def first_entries(by_record: RecordEntries) -> Bools:
    """Whether each entry is the first of its record and item."""
    is_first = np.ones(len(by_record.item), np.bool_)
    np.not_equal(by_record.item[1:], by_record.item[:-1], out=is_first[1:])
    begins = by_record.start[:-1]
    is_first[begins[begins < len(is_first)]] = True
    return is_first


def distinct_items(by_record: RecordEntries) -> DistinctItems:
    """Return the distinct items of each record."""
    is_first = first_entries(by_record)
    if is_first.all():
        return DistinctItems(by_record.start, by_record.item)
    return DistinctItems(read_only(offsets(is_first)[by_record.start]), read_only(by_record.item[is_first]))


def distinct_positions(release: "Release", records: Ints) -> tuple[Ints, Ints]:
    """Positions of these records' distinct entries among the entries by record; where each record's begin."""
    first, position = take_rows(release.by_record.start, records)
    if not release.has_repeats:
        return position, first
    is_new = np.zeros(len(position), np.bool_)
    is_new[first[:-1][np.diff(first) > 0]] = True
    for codes in (column[position] for column in release.by_record[1:] if column is not None):
        is_new[1:] |= codes[1:] != codes[:-1]  # equal entries of a record are neighbours
    return position[is_new], offsets(is_new)[first]


# Parts of a release: ranges of its blocks of records, and the records in them.


def block_count(release: "Release") -> int:
    """Number of blocks of records."""
    return len(block_starts(release.n_records))


def whole(release: "Release") -> Part:
    """The part with all blocks."""
    return Part(0, block_count(release))


def record_range(release: "Release", part: Part) -> range:
    """The records in a part."""
    first, last = part.first_block << BLOCK_BITS, part.last_block << BLOCK_BITS
    return range(min(first, release.n_records), min(last, release.n_records))
