"""Entries as the readers deliver them, and the final code of everything in them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, offsets
from standout.release import build_kernels
from standout.release.clock import Clock, TimeUnit
from standout.release.code_blocks import CodeBlocks
from standout.release.id_ranks import rank_used
from standout.release.labels import Labels
from standout.release.model import Levels
from standout.release.record_groups import CodeMap, ColumnSizes

__all__ = ["CodedEntries", "RankedEntries", "rank_entries"]


@dataclass(slots=True)
class CodedEntries:
    """Entries as the readers deliver them: blocks of codes, and the meaning of the codes.

    `level` maps a value code of the blocks to its level; it is None without a value column.
    `zone` is None without a time column.
    """

    blocks: CodeBlocks
    records: Labels
    items: Labels
    levels: Levels | None
    level: NDArray[np.uint32] | None
    unit: TimeUnit
    zone: str | None


@dataclass(frozen=True, slots=True)
class RankedEntries:
    """Ids in use in their final order, the final codes, and where the entries of each record begin."""

    records: Labels
    items: Labels
    codes: CodeMap
    start: Ints
    sizes: ColumnSizes


def rank_entries(coded: CodedEntries) -> RankedEntries:
    """Count the entries, sort the ids in use, and give everything its final code."""
    counts = coded.blocks.counts(len(coded.records), len(coded.items))
    records, record_rank, order = rank_used(coded.records, counts.per_record)
    items, item_rank, _ = rank_used(coded.items, counts.per_item)
    clock = _clock(coded, counts.time_bounds)
    n_levels = 0 if coded.levels is None else len(coded.levels)
    level = np.append(np.empty(0, np.uint32) if coded.level is None else coded.level, n_levels)
    first_time = 0 if clock is None else clock.origin + build_kernels.TIME_BIAS
    return RankedEntries(
        records,
        items,
        CodeMap(record_rank, item_rank, level.astype(np.uint32), first_time),
        offsets(counts.per_record[order]),
        ColumnSizes(len(items), coded.levels, clock),
    )


def _clock(coded: CodedEntries, time_bounds: Ints) -> Clock | None:
    if coded.zone is None:
        return None
    low, high = int(time_bounds[0]), int(time_bounds[1])
    if high < 0:
        return Clock(coded.unit, 0, 0, coded.zone)
    return Clock(coded.unit, low - build_kernels.TIME_BIAS, high - low + 1, coded.zone)
