"""The runs of the entries by item, as an index stores them: their ends are relative to their item.

In memory, positions are absolute (see `Postings`). They are computed when an index is opened, and those on
disk when it is written.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.release.postings import NO_NUMBERS, Postings

__all__ = ["NO_ENDS", "StoredRuns", "mismatched_column", "run_positions", "stored_runs"]

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
    """Return the columns to store, as if the words of all runs followed one another."""
    length = postings.end - postings.begin
    end = np.cumsum(length) - np.repeat(postings.start[:-1], np.diff(postings.run))
    single = NO_ENDS
    if len(postings.single):
        single = (end - (postings.end - postings.single)).astype(np.uint32)
    return StoredRuns(
        postings.start, postings.run, postings.block, end.astype(np.uint32), single, postings.support
    )


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
