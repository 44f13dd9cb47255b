"""Select some records of a release."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, offsets
from standout.core.errors import ParameterError
from standout.data.build import drop_unused_codes, pack_by_item, read_only_entries, read_only_levels
from standout.data.labels import Labels
from standout.data.postings import NO_NUMBERS, Postings, block_starts, words_of_runs
from standout.data.release import Codes, RecordEntries, Release, code_type, read_only

__all__ = ["arrange", "record_range", "select_labels", "select_rows", "subset"]


def subset(release: Release, keep: NDArray[np.bool_]) -> Release:
    """Return a release of some records, in canonical form: as if only their entries had been read.

    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> subset(release, np.arange(100) % 4 == 0).n_records
    25
    """
    if keep.shape != (release.n_records,) or not keep.any():
        raise ParameterError(
            f"keep must be {release.n_records:,} truth values with at least one True, one for each record"
        )
    entries, lengths = release.check().by_record, release.lengths
    selected = np.repeat(keep, lengths)
    items, item = np.unique(entries.item[selected], return_inverse=True)
    groups = RecordEntries(
        offsets(lengths[keep]),
        item.astype(code_type(len(items))),
        _select(entries.value, selected),
        _select(entries.time, selected),
    )
    groups, levels, clock = drop_unused_codes(groups, release.levels, release.clock)
    return Release(
        records=select_labels(release.records, np.flatnonzero(keep)),
        items=select_labels(release.items, items),
        titles=None if release.titles is None else select_labels(release.titles, items),
        levels=read_only_levels(levels),
        clock=clock,
        by_record=read_only_entries(groups),
        by_item=pack_by_item(groups, len(items), levels, clock),
        provenance=release.provenance,
    )


def select_rows(release: Release, rows: Ints) -> Release:
    """The release with these records, in this order; items, levels and times stay."""
    arranged = arrange(release, rows)
    columns = tuple(column.rows(rows) for column in release.columns)
    return replace(arranged, columns=columns, records=_unordered(release.records, rows), has_ids=release.has_ids)


def arrange(release: Release, position: Ints) -> Release:
    """The entries of the records at these positions, in this order; -1 is a record without entries.

    Columns are left out, and ids are row numbers.
    """
    old, there = release.by_record, position >= 0
    lengths = np.where(there, release.lengths[position], 0)
    start = offsets(lengths)
    source = np.arange(start[-1]) + np.repeat(np.where(there, old.start[position], 0) - start[:-1], lengths)
    item, value, time = (None if codes is None else codes[source] for codes in old[1:])
    assert item is not None
    entries = read_only_entries(RecordEntries(start, item, value, time))
    return replace(
        release,
        records=Labels.of(map(str, range(1, len(position) + 1))),
        by_record=entries,
        by_item=pack_by_item(entries, release.n_items, release.levels, release.clock),
        stored_fingerprint=None,
        stored_columns=None,
        columns=(),
        has_ids=False,
    )


def _unordered(labels: Labels, positions: Ints) -> Labels:
    return replace(select_labels(labels, positions), ordered=False)


def _select(column: Codes | None, selected: NDArray[np.bool_]) -> Codes | None:
    return None if column is None else column[selected]


def select_labels(labels: Labels, positions: NDArray[np.integer[Any]]) -> Labels:
    """Return the labels at some positions."""
    texts = [labels.raw(int(position)) for position in positions]
    return Labels(read_only(offsets([len(text) for text in texts])), np.frombuffer(b"".join(texts), np.uint8))


# A range of records as a release of its own, with all items, levels and times.


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
