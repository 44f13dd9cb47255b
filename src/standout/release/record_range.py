"""A range of records as a release of its own, with all items, levels and times."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, offsets
from standout.release.labels import Labels
from standout.release.model import RecordEntries, Release, code_type, read_only
from standout.release.postings import NO_NUMBERS, Postings, block_starts, words_of_runs

__all__ = ["record_range"]


def record_range(release: Release, low: int, high: int) -> Release:
    """The records low … high - 1; both are at the beginning of a block, or the number of records."""
    start, ends = release.by_record.start[low : high + 1], release.records.offsets[low : high + 1]
    size = block_starts(release.n_records).step
    entries = slice(int(start[0]), int(start[-1]))
    item, value, time = (column if column is None else column[entries] for column in release.by_record[1:])
    assert item is not None
    return Release(
        records=Labels(read_only(ends - ends[0]), release.records.data[ends[0] : ends[-1]]),
        items=release.items,
        titles=release.titles,
        levels=release.levels,
        clock=release.clock,
        by_record=RecordEntries(read_only(start - start[0]), item, value, time),
        by_item=_block_range(release.by_item, low // size, -(-high // size)),
        provenance=release.provenance,
    )


def _block_range(postings: Postings, first: int, last: int) -> Postings:
    """The entries in blocks first … last - 1, which get the numbers from 0 on."""
    inside = (postings.block >= first) & (postings.block < last)
    begin, end = postings.begin[inside], postings.end[inside]
    run, edges = offsets(inside)[postings.run], offsets(end - begin)
    word = words_of_runs(postings, begin, end)
    single = support = NO_NUMBERS
    if len(postings.single) and (postings.single[inside] < end).any():
        single = edges[1:] - (end - postings.single[inside])
        support = _count_records(word >> (postings.value_bits + postings.time_bits), edges, run)
    block = (postings.block[inside] - postings.block.dtype.type(first)).astype(code_type(last - first))
    return Postings(
        start=read_only(edges[run]),
        run=read_only(run),
        block=read_only(block),
        begin=read_only(edges[:-1]),
        end=read_only(edges[1:]),
        word=read_only(word),
        value_bits=postings.value_bits,
        time_bits=postings.time_bits,
        single=read_only(single),
        support=read_only(support),
    )


def _count_records(position: NDArray[Any], edges: Ints, run: Ints) -> Ints:
    """Number of records that have each item; the words of a record follow one another in its run."""
    is_first = np.append(True, position[1:] != position[:-1])
    is_first[edges[:-1]] = True
    return np.diff(offsets(is_first)[edges[run]])
