"""How the records of a release are divided into shards, each a range of whole blocks of records."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, offsets
from standout.core.errors import ParameterError
from standout.core.memory_sizes import size_text
from standout.release.code_blocks import PER_ENTRY
from standout.release.labels import Labels
from standout.release.model import read_only
from standout.release.postings import BLOCK_BITS, block_starts
from standout.release.provenance import Provenance
from standout.release.record_groups import ColumnSizes
from standout.release.repeats import Repeats

__all__ = ["ShardPlan", "check_shards", "choose_bounds"]

MOST_SHARDS = 10_000


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """Everything about a release that its shards share, before unused levels and times are dropped.

    Shard s has the records bounds[s] to bounds[s + 1] - 1. `lengths` has the number of rows of each record.
    `is_built` if the entries come from a release, whose provenance is complete.
    """

    records: Labels
    items: Labels
    titles: Labels | None
    lengths: NDArray[np.integer]
    sizes: ColumnSizes
    bounds: tuple[int, ...]
    repeats: Repeats
    provenance: Provenance
    is_built: bool = False

    @property
    def n_shards(self) -> int:
        """Number of shards."""
        return len(self.bounds) - 1

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the first record of each shard, and the one after its last."""
        yield from pairwise(self.bounds)

    def start(self, shard: int) -> Ints:
        """Where the rows of each record of a shard begin."""
        return offsets(self.lengths[self.bounds[shard] : self.bounds[shard + 1]])

    def shard_records(self, shard: int) -> Labels:
        """Ids of the records of a shard."""
        ends = self.records.offsets[self.bounds[shard] : self.bounds[shard + 1] + 1]
        return Labels(read_only(ends - ends[0]), read_only(self.records.data[ends[0] : ends[-1]]))

    def shard_of_block(self) -> NDArray[np.uint32]:
        """Shard of each block of records."""
        blocks = np.array(block_starts(self.bounds[-1]))
        return (np.searchsorted(self.bounds, blocks, side="right") - 1).astype(np.uint32)


def check_shards(shards: int | None) -> int | None:
    """Check a number of shards that the user gave."""
    is_number = isinstance(shards, int) and not isinstance(shards, bool)
    if shards is not None and not (is_number and 1 <= shards <= MOST_SHARDS):
        raise ParameterError(f"shards must be a whole number from 1 to {MOST_SHARDS:,}, got {shards!r:.100}")
    return shards


def choose_bounds(
    lengths: NDArray[np.integer],
    shards: int | None,
    room: int,
    *,
    limit: int = 0,
    per_entry: int = PER_ENTRY,
) -> tuple[int, ...]:
    """First record of each shard, and the number of records: at block boundaries, with similar entries.

    There are as many shards as are given, or as few as possible such that each fits into `room` bytes of the
    memory `limit`; at most one for each block.

    >>> choose_bounds(np.full(40_000, 5), 2, 0), choose_bounds(np.full(40_000, 5), None, 4 * 10**6)
    ((0, 16384, 40000), (0, 16384, 40000))
    """
    ends = np.cumsum(np.add.reduceat(lengths, block_starts(len(lengths)), dtype=np.int64))
    if shards is not None:
        return _bounds(ends, len(lengths), shards)
    largest = int(np.diff(ends, prepend=0).max()) * per_entry
    if largest > room:
        raise ParameterError(
            f"memory must be at least {size_text(limit - room + largest)}, because the entries of "
            f"{1 << BLOCK_BITS:,} records are held in memory, got {size_text(limit)}"
        )
    count = max(1, -(-int(ends[-1]) * per_entry // max(room, 1)))
    while True:
        bounds = _bounds(ends, len(lengths), count)
        sizes = np.diff(ends[np.array(bounds[1:]) - 1 >> BLOCK_BITS], prepend=0)
        if int(sizes.max()) * per_entry <= room:
            return bounds
        count += 1


def _bounds(ends: Ints, n_records: int, shards: int) -> tuple[int, ...]:
    """Bounds of shards from the number of entries up to the end of each block."""
    shards = min(shards, len(ends))
    wanted = ends[-1] * np.arange(1, shards) / shards
    after = np.searchsorted(ends, wanted)
    before = np.maximum(after - 1, 0)
    nearer = np.where(np.abs(ends[before] - wanted) < np.abs(ends[after] - wanted), before, after)
    last = nearer + 1
    for number in range(len(last)):  # each shard has a block, and leaves one for each of those after it
        low = last[number - 1] + 1 if number else 1
        last[number] = min(max(last[number], low), len(ends) - (shards - 1 - number))
    return (0, *(int(block) * block_starts(n_records).step for block in last), n_records)
