"""Entries by item: one word per entry, split into runs by blocks of records."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints

BLOCK_BITS = 13
PIECE = 1 << 20

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


def locate(postings: Postings, rank: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (run, position of the word) of entries: the k-th of item i has the rank start[i] + k."""
    return np.searchsorted(postings.end, rank, side="right").astype(np.int64), rank


def unpack_attributes(
    postings: Postings, word: Words, n_levels: int, span: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (value, time) codes of words; n_levels and span mean missing, as by record."""
    kind = ((word >> postings.time_bits) & ((1 << postings.value_bits) - 1)).astype(np.int64)
    time = (word & ((1 << postings.time_bits) - 1)).astype(np.int64)
    timed = kind <= n_levels
    return np.where(timed, kind, kind - n_levels - 1), np.where(timed, time, span)


def words_are_valid(postings: Postings, n_records: int, n_levels: int, span: int) -> bool:
    """Whether every word has a record, a value and a time that exist; the columns must match."""
    pieces = range(0, len(postings.word), PIECE)
    return all(
        _attributes_are_valid(postings, slice(low, low + PIECE), n_levels, span) for low in pieces
    ) and _records_are_valid(postings, n_records)


def _attributes_are_valid(postings: Postings, positions: slice, n_levels: int, span: int) -> bool:
    """Whether the kinds and times of some words exist."""
    time_bits, bank = postings.time_bits, n_levels + 1
    gaps = (postings.value_bits, time_bits) == word_bits(n_levels, span, gaps=True)
    low = postings.word[positions] & ((1 << (postings.value_bits + time_bits)) - 1)
    time = low & ((1 << time_bits) - 1)
    if (int(low.max()) >> time_bits) >= bank * (1 + gaps) or int(time.max()) >= max(span, 1):
        return False
    return not gaps or not time[low >= bank << time_bits].any()


def _records_are_valid(postings: Postings, n_records: int) -> bool:
    """Whether the records of all words exist and the bits above them are 0."""
    for low in range(0, len(postings.begin), PIECE):
        begin, end = postings.begin[low : low + PIECE], postings.end[low : low + PIECE]
        highest = np.maximum.reduceat(postings.word[begin[0] : end[-1]], begin - begin[0])
        first = postings.block[low : low + PIECE].astype(np.int64) << BLOCK_BITS
        room = np.minimum(n_records - first, 1 << BLOCK_BITS).astype(np.uint64)
        if ((highest >> (postings.value_bits + postings.time_bits)) >= room).any():
            return False
    return True


# The runs of the entries by item, as an index stores them: their ends are relative to their item.
#
# In memory, positions are absolute (see `Postings`). They are computed when an index is opened, and those on
# disk when it is written.


Codes = NDArray[np.unsignedinteger[Any]]
Ends = NDArray[np.uint32]
NO_ENDS: Ends = np.empty(0, np.uint32)


class StoredRuns(NamedTuple):
    """The columns by item without the words. `end` and `single` count from the first word of the item."""

    start: Ints
    run: Ints
    block: Codes
    end: Ends
    single: Ends = NO_ENDS
    support: Ints = NO_NUMBERS


def stored_runs(postings: Postings) -> StoredRuns:
    """Return the columns to store."""
    owner = np.repeat(postings.start[:-1], np.diff(postings.run))
    end = (postings.end - owner).astype(np.uint32)
    single = (postings.single - owner).astype(np.uint32) if len(postings.single) else NO_ENDS
    return StoredRuns(postings.start, postings.run, postings.block, end, single, postings.support)


def run_positions(stored: StoredRuns) -> tuple[Ints, Ints, Ints]:
    """Return (begin, end, single) of all runs, whose words follow one another; all read-only."""
    owner = np.repeat(stored.start[:-1], np.diff(stored.run))
    edges = np.zeros(len(stored.end) + 1, np.int64)
    np.add(owner, stored.end, out=edges[1:])
    single = NO_NUMBERS if not len(stored.single) else owner + stored.single
    for array in (edges, single):
        array.flags.writeable = False
    return edges[:-1], edges[1:], single


def mismatched_column(stored: StoredRuns, n_blocks: int) -> str | None:
    """Name of a column of runs that contradicts the others, or None; start and run must be valid."""
    support, runs = np.diff(stored.start), np.diff(stored.run)
    used = runs > 0
    if not np.array_equal(used, support > 0):
        return "run"
    first, last = stored.run[:-1][used], stored.run[1:][used] - 1
    if int(stored.block.max(initial=0)) >= n_blocks or not _ascends(stored.block, first):
        return "block"
    if len(stored.end) != len(stored.block):
        return "end"
    ends = stored.end[first].all() and np.array_equal(stored.end[last], support[used])
    if not ends or not _ascends(stored.end, first):
        return "end"
    return _mismatched_repeats(stored, first) if len(stored.single) else None


def _mismatched_repeats(stored: StoredRuns, first: Ints) -> str | None:
    """Name of a column about repeats that contradicts the others, or None; first = each item's first run."""
    begin = np.append(np.uint32(0), stored.end[:-1])
    begin[first] = 0
    single, entries = stored.single, np.diff(stored.start)
    if len(single) != len(begin) or not ((begin <= single) & (single <= stored.end)).all():
        return "single"
    support = stored.support
    if len(support) != len(entries) or not ((support <= entries) & ((support > 0) == (entries > 0))).all():
        return "support"
    return None


def _ascends(column: NDArray[Any], first: Ints) -> bool:
    """Whether a column of runs ascends within each item; first = the first run of each item."""
    steps = np.empty(len(column), np.bool_)
    np.greater(column[1:], column[:-1], out=steps[1:])
    steps[first] = True
    return bool(steps.all())
