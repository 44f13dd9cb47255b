"""Build a release from coded entries: sort them by record and by item, in one canonical form.

Ids are in shortlex order, entries in the order of their codes, and codes have the narrowest type that holds
them. The same entries in any row order therefore give the same arrays, byte for byte.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import offsets
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.release import build_kernels
from standout.release.clock import Clock
from standout.release.coded_entries import CodedEntries, rank_entries
from standout.release.model import Codes, Levels, RecordEntries, Release, code_type, read_only
from standout.release.postings import NO_NUMBERS, Postings, block_starts, word_bits, word_type
from standout.release.provenance import Provenance
from standout.release.record_groups import group_by_record
from standout.release.repeats import Repeats, apply_rule, chosen_rule, column_or_empty, count_distinct
from standout.release.run_columns import StoredRuns, run_positions
from standout.release.used_codes import UsedCodes, count_codes, drop_unused_codes

__all__ = [
    "CodedEntries",
    "Repeats",
    "WholeRelease",
    "build_release",
    "built_provenance",
    "count_codes",
    "drop_unused_codes",
    "pack_by_item",
    "read_only_entries",
    "read_only_levels",
]

Runs = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]


def build_release(
    coded: CodedEntries, repeats: Repeats, provenance: Provenance, progress: Progress = no_progress
) -> Release:
    """Build the release of coded entries; takes the blocks out of `coded` one by one, to save memory."""
    if repeats not in get_args(Repeats):
        raise ParameterError(f"repeats must be {', '.join(get_args(Repeats)[:-1])} or error, got {repeats!r}")
    ranked, blocks = rank_entries(coded), len(coded.blocks)
    sizes = ranked.sizes
    by_record, repeated = group_by_record(
        coded.blocks.drain(), blocks, ranked.codes, ranked.start, sizes, progress
    )
    repeats = chosen_rule(repeats, repeated, int(ranked.start[-1]))
    by_record = apply_rule(by_record, repeats, repeated > 0, sizes.missing)
    used = UsedCodes.of(by_record, sizes)
    by_record, levels, clock = used.recode(by_record), used.used_levels, used.used_clock
    records, items = ranked.records, ranked.items
    return Release(
        records=records,
        items=items,
        titles=None,
        levels=read_only_levels(levels),
        clock=clock,
        by_record=read_only_entries(by_record),
        by_item=pack_by_item(by_record, len(items), levels, clock, progress),
        provenance=built_provenance(provenance, repeats, repeated, used),
    )


def built_provenance(provenance: Provenance, repeats: Repeats, repeated: int, used: UsedCodes) -> Provenance:
    """Add to a provenance what the build has found: repeated rows and missing values and times."""
    return replace(
        provenance,
        repeats=repeated,
        merged=0 if repeats == "keep" else repeated,
        settings=provenance.settings | {"repeats": repeats},
        without_value=used.without_value,
        without_time=used.without_time,
    )


class WholeRelease(NamedTuple):
    """What a whole release has, though some of its shards may not.

    `gaps`: some entries have a time and others have none; `repeats`: some record has an item several times.
    """

    gaps: bool
    repeats: bool


def pack_by_item(
    by_record: RecordEntries,
    n_items: int,
    levels: Levels | None,
    clock: Clock | None,
    progress: Progress = no_progress,
    whole: WholeRelease | None = None,
) -> Postings:
    """Sort the entries by item; levels and clock are those that `drop_unused_codes` returns.

    If the entries are a shard, `whole` says what the whole release has.
    """
    n_levels, span = 0 if levels is None else len(levels), 0 if clock is None else clock.span
    gaps = span > 0 and int(column_or_empty(by_record.time).max()) == span  # the highest code means missing
    gaps = gaps if whole is None else whole.gaps
    value_bits, time_bits = word_bits(n_levels, span, gaps)
    layout = [time_bits, time_bits + value_bits, span, n_levels + 1 if gaps else 0]
    start = offsets(count_codes(by_record.item, n_items))
    word = np.empty(len(by_record.item), word_type(value_bits, time_bits))
    repeats = (
        build_kernels.count_repeats(by_record.start, by_record.item) > 0 if whole is None else whole.repeats
    )
    runs = list(_packed_blocks(by_record, np.array(layout, np.uint64), start, word, repeats, progress))
    run, block, ends, single_ends = (read_only(column) for column in _group_runs(runs, n_items, repeats))
    begin, end, single = run_positions(StoredRuns(start, run, block, ends, single_ends))
    return Postings(
        start=read_only(start),
        run=run,
        block=block,
        begin=begin,
        end=end,
        word=read_only(word),
        value_bits=value_bits,
        time_bits=time_bits,
        single=single,
        support=read_only(count_distinct(by_record, n_items)[1]) if repeats else NO_NUMBERS,
    )


def _packed_blocks(
    by_record: RecordEntries,
    layout: NDArray[np.uint64],
    start: NDArray[np.int64],
    word: Codes,
    repeats: bool,
    progress: Progress,
) -> Iterator[Runs]:
    """Fill `word` block by block; yield the items of each block's runs, their ends and their single ends."""
    n, n_items = len(by_record.start) - 1, len(start) - 1
    value, time = column_or_empty(by_record.value), column_or_empty(by_record.time)
    cursor = np.repeat(start[:-1, None], 2, axis=1)
    touched, end = np.empty(n_items, np.uint32), np.empty(n_items, np.uint32)
    single = np.empty(n_items if repeats else 0, np.uint32)
    for low in block_starts(n):
        progress("grouping by item", low, n)
        count = build_kernels.pack(
            start=by_record.start,
            items=by_record.item,
            value=value,
            time=time,
            low=low,
            high=min(low + block_starts(n).step, n),
            layout=layout,
            first=start,
            cursor=cursor,
            word=word,
            touched=touched,
            end=end,
            single=single,
        )
        yield touched[:count].copy(), end[:count].copy(), single[:count].copy()


def _group_runs(
    runs: list[Runs], n_items: int, repeats: bool
) -> tuple[NDArray[np.int64], Codes, NDArray[np.uint32], NDArray[np.uint32]]:
    """Return (run, block, end, single) of the postings, from the runs of each block."""
    counts = np.zeros(n_items, np.int64)
    for items, _, _ in runs:
        build_kernels.tally(items, counts)
    run = offsets(counts)
    block, end = np.empty(run[-1], code_type(len(runs))), np.empty(run[-1], np.uint32)
    single = np.empty(run[-1] if repeats else 0, np.uint32)
    cursor = run[:-1].copy()
    for number, (items, ends, single_ends) in enumerate(runs):
        build_kernels.place_runs(items, ends, single_ends, number, cursor, block, end, single)
    return run, block, end, single


def read_only_entries(groups: RecordEntries) -> RecordEntries:
    """Return the entries with read-only arrays."""
    value = None if groups.value is None else read_only(groups.value)
    time = None if groups.time is None else read_only(groups.time)
    return RecordEntries(read_only(groups.start), read_only(groups.item), value, time)


def read_only_levels(levels: Levels | None) -> Levels | None:
    """Return the levels with a read-only array."""
    return read_only(levels) if isinstance(levels, np.ndarray) else levels
