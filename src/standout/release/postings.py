"""Entries by item: one word per entry, split into runs by blocks of records."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BLOCK_BITS",
    "NO_ITEMS",
    "NO_RUNS",
    "Postings",
    "block_starts",
    "mismatched_column",
    "unpack_attributes",
    "unpack_item",
    "word_bits",
    "word_type",
    "words_are_valid",
]

BLOCK_BITS = 13
PIECE = 1 << 20

Words = NDArray[np.unsignedinteger[Any]]
NO_RUNS: NDArray[np.uint32] = np.empty(0, np.uint32)
NO_ITEMS: NDArray[np.int64] = np.empty(0, np.int64)
for _array in (NO_RUNS, NO_ITEMS):
    _array.flags.writeable = False  # like all arrays of postings, so that kernels are compiled once


class Postings(NamedTuple):
    """All entries of a release, grouped by item and in ascending order of records.

    Records are split into blocks of 2**BLOCK_BITS. Item i owns the words start[i] to start[i + 1] and the
    runs run[i] to run[i + 1], one run for each block in which it has an entry. Run j holds the words of the
    records in block[j]; it ends before start[i] + end[j] and begins where the previous run ends. `block` and
    `end` ascend within an item.

    If records have an item several times, a run begins with the words of the records that have it once; they
    end before start[i] + single[j]. The words of each other record follow one another, by time and then by
    value: first the records with two words, then those with three, up to 31, then all others. Records with
    equally many words are in ascending order. support[i] is the number of records that have item i.
    `single` and `support` are empty if no record has an item several times.

    A word holds, from the low bits up, `time_bits` of time, `value_bits` of kind and BLOCK_BITS of the
    record's position in its block; the bits above are 0. The kind is the value code, or the number of levels
    if the value is missing. If some entries have a time and others have none, an entry without a time has
    the time 0 and a kind from a second bank: its value code + levels + 1.
    """

    start: NDArray[np.int64]
    run: NDArray[np.int64]
    block: Words
    end: NDArray[np.uint32]
    word: Words
    value_bits: int
    time_bits: int
    single: NDArray[np.uint32] = NO_RUNS
    support: NDArray[np.int64] = NO_ITEMS


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
    words, runs = slice(*postings.start[item : item + 2]), slice(*postings.run[item : item + 2])
    word = postings.word[words]
    position = (word >> (postings.value_bits + postings.time_bits)).astype(np.int64)
    block = np.repeat(postings.block[runs].astype(np.int64), np.diff(postings.end[runs], prepend=0))
    return (block << BLOCK_BITS) + position, *unpack_attributes(postings, word, n_levels, span)


def unpack_attributes(
    postings: Postings, word: Words, n_levels: int, span: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (value, time) codes of words; n_levels and span mean missing, as by record."""
    kind = ((word >> postings.time_bits) & ((1 << postings.value_bits) - 1)).astype(np.int64)
    time = (word & ((1 << postings.time_bits) - 1)).astype(np.int64)
    timed = kind <= n_levels
    return np.where(timed, kind, kind - n_levels - 1), np.where(timed, time, span)


def mismatched_column(postings: Postings, n_blocks: int) -> str | None:
    """Name of a column of runs that contradicts the others, or None; start and run must be valid."""
    support, runs = np.diff(postings.start), np.diff(postings.run)
    used = runs > 0
    if not np.array_equal(used, support > 0):
        return "run"
    first, last = postings.run[:-1][used], postings.run[1:][used] - 1
    if int(postings.block.max(initial=0)) >= n_blocks or not _ascends(postings.block, first):
        return "block"
    if len(postings.end) != len(postings.block):
        return "end"
    ends = postings.end[first].all() and np.array_equal(postings.end[last], support[used])
    if not ends or not _ascends(postings.end, first):
        return "end"
    return _mismatched_repeats(postings, first) if len(postings.single) else None


def _mismatched_repeats(postings: Postings, first: NDArray[np.int64]) -> str | None:
    """Name of a column about repeats that contradicts the others, or None; first = each item's first run."""
    begin = np.append(np.uint32(0), postings.end[:-1])
    begin[first] = 0
    single, entries = postings.single, np.diff(postings.start)
    if len(single) != len(begin) or not ((begin <= single) & (single <= postings.end)).all():
        return "single"
    support = postings.support
    if len(support) != len(entries) or not ((support <= entries) & ((support > 0) == (entries > 0))).all():
        return "support"
    return None


def _ascends(column: Words, first: NDArray[np.int64]) -> bool:
    """Whether a column of runs ascends within each item; first = the first run of each item."""
    steps = np.empty(len(column), np.bool_)
    np.greater(column[1:], column[:-1], out=steps[1:])
    steps[first] = True
    return bool(steps.all())


def words_are_valid(postings: Postings, n_records: int, n_levels: int, span: int) -> bool:
    """Whether every word has a record, a value and a time that exist; the columns must match."""
    pieces = range(0, len(postings.word), PIECE)
    return all(
        _attributes_are_valid(postings, slice(low, low + PIECE), n_levels, span) for low in pieces
    ) and all(_records_are_valid(postings, low, high, n_records) for low, high in _pieces(postings.run))


def _attributes_are_valid(postings: Postings, positions: slice, n_levels: int, span: int) -> bool:
    """Whether the kinds and times of some words exist."""
    time_bits, bank = postings.time_bits, n_levels + 1
    gaps = (postings.value_bits, time_bits) == word_bits(n_levels, span, gaps=True)
    low = postings.word[positions] & ((1 << (postings.value_bits + time_bits)) - 1)
    time = low & ((1 << time_bits) - 1)
    if (int(low.max()) >> time_bits) >= bank * (1 + gaps) or int(time.max()) >= max(span, 1):
        return False
    return not gaps or not time[low >= bank << time_bits].any()


def _records_are_valid(postings: Postings, low: int, high: int, n_records: int) -> bool:
    """Whether the records of items low … high - 1 exist and the bits above them are 0."""
    runs, begin = slice(*postings.run[[low, high]]), postings.start[low]
    owner = np.repeat(postings.start[low:high] - begin, np.diff(postings.run[low : high + 1]))
    begins = np.append(0, (owner + postings.end[runs])[:-1])
    highest = np.maximum.reduceat(postings.word[begin : postings.start[high]], begins)
    first = postings.block[runs].astype(np.int64) << BLOCK_BITS
    room = np.minimum(n_records - first, 1 << BLOCK_BITS).astype(np.uint64)
    return bool(((highest >> (postings.value_bits + postings.time_bits)) < room).all())


def _pieces(run: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of items with about PIECE runs each."""
    low = 0
    while run[low] < run[-1]:
        high = max(low + 1, int(np.searchsorted(run, run[low] + PIECE, side="right")) - 1)
        if run[low] < run[high]:
            yield low, high
        low = high
