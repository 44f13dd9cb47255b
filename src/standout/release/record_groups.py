"""Group coded entries by record, in two steps that stay in the cache: bundles of records, then records."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.progress import Progress
from standout.release import build_kernels
from standout.release.clock import Clock
from standout.release.model import Codes, Levels, RecordEntries, code_type
from standout.release.packed_blocks import Block

__all__ = ["CodeMap", "ColumnSizes", "group_by_record"]

BUNDLES = 512
"""Number of bundles of records in the first pass: few enough that their ends stay in the cache."""
NO_CODES: Codes = np.empty(0, np.uint8)


class ColumnSizes(NamedTuple):
    """Number of items, and the levels and clock before unused codes are dropped."""

    n_items: int
    levels: Levels | None
    clock: Clock | None

    @property
    def missing(self) -> Ints:
        """Value code and time code of an entry without one."""
        n_levels = 0 if self.levels is None else len(self.levels)
        return np.array([n_levels, 0 if self.clock is None else self.clock.span], np.int64)

    def empty_columns(self, entries: int) -> tuple[Codes, Codes, Codes]:
        """Return new columns of item, value and time codes."""
        no_value, no_time = self.missing
        value = NO_CODES if self.levels is None else np.empty(entries, code_type(no_value + 1))
        time = NO_CODES if self.clock is None else np.empty(entries, code_type(no_time + 1))
        return np.empty(entries, code_type(self.n_items)), value, time


@dataclass(frozen=True, slots=True)
class CodeMap:
    """The final code of each record, item and value code of blocks, and the lowest time of blocks.

    The last element of `level` is for entries without a value.
    """

    record: NDArray[np.uint32]
    item: NDArray[np.uint32]
    level: NDArray[np.uint32]
    first_time: int

    @classmethod
    def unchanged(cls, n_records: int, sizes: ColumnSizes) -> "CodeMap":
        """Codes of blocks that have final codes already, and time codes that are 1 higher."""
        counts = n_records, sizes.n_items, int(sizes.missing[0]) + 1
        record, item, level = (np.arange(count, dtype=np.uint32) for count in counts)
        return cls(record, item, level, first_time=1)


def group_by_record(
    blocks: Iterable[Block],
    n_blocks: int,
    codes: CodeMap,
    start: Ints,
    sizes: ColumnSizes,
    progress: Progress,
) -> tuple[RecordEntries, int]:
    """Sort entries by record and item; also return how many have the item of an earlier one.

    Entries with the same record and item stay in the order of their rows.
    """
    shift = ((len(start) - 1) // BUNDLES).bit_length()
    bundles = _bundle(blocks, n_blocks, codes, start, int(sizes.missing[1]), shift, progress=progress)
    return _sort_records(start, bundles, shift, sizes, progress)


def _bundle(
    blocks: Iterable[Block],
    n_blocks: int,
    codes: CodeMap,
    start: Ints,
    span: int,
    shift: int,
    *,
    progress: Progress,
) -> NDArray[np.uint32]:
    """Give all entries their final codes, in bundles of 2**shift records."""
    cursor = start[:-1][:: 1 << shift].copy()
    bundles = np.empty((start[-1], 4), np.uint32)
    clock = np.array([codes.first_time, span], np.int64)
    for number, block in enumerate(blocks):
        progress("grouping by record", number, n_blocks)
        build_kernels.partition(
            block=block,
            record_rank=codes.record,
            item_rank=codes.item,
            level=codes.level,
            clock=clock,
            shift=shift,
            cursor=cursor,
            out=bundles,
        )
    return bundles


def _sort_records(
    start: Ints, bundles: NDArray[np.uint32], shift: int, sizes: ColumnSizes, progress: Progress
) -> tuple[RecordEntries, int]:
    """Sort each record's entries by item; also return how many have the item of an earlier one."""
    n, repeated = len(start) - 1, 0
    item, value, time = sizes.empty_columns(len(bundles))
    cursor = start[:-1].copy()
    ends = np.append(start[:: 1 << shift], start[-1])
    rows = np.empty((int(np.diff(ends).max()), 3), np.uint32)
    for low in range(0, n, 1 << shift):
        progress("sorting records", low, n)
        high = min(low + (1 << shift), n)
        build_kernels.scatter(bundles[start[low] : start[high]], start[low], cursor, rows)
        repeated += build_kernels.settle(
            start=start, rows=rows, low=low, high=high, item=item, value=value, time=time
        )
    by_record = RecordEntries(
        start, item, None if sizes.levels is None else value, None if sizes.clock is None else time
    )
    return by_record, repeated
