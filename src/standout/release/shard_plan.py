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
from standout.release.shard_writer import shard_bounds

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
    start: Ints, shards: int | None, room: int, *, limit: int = 0, per_entry: int = PER_ENTRY
) -> tuple[int, ...]:
    """First record of each shard, and the number of records, from where the entries of each record begin.

    There are as many shards as are given, or as few as possible such that each fits into `room` bytes of the
    memory `limit`.

    >>> choose_bounds(np.arange(40_001), 2, 0), choose_bounds(np.arange(40_001), None, room=700_000)
    ((0, 16384, 40000), (0, 16384, 40000))
    """
    if shards is not None:
        return shard_bounds(start, shards)
    blocks = np.append(block_starts(len(start) - 1), len(start) - 1)
    largest = int(np.diff(start[blocks]).max()) * per_entry
    if largest > room:
        raise ParameterError(
            f"memory must be at least {size_text(limit - room + largest)}, because the entries of "
            f"{1 << BLOCK_BITS:,} records are held in memory, got {size_text(limit)}"
        )
    count = max(1, -(-int(start[-1]) * per_entry // max(room, 1)))
    while True:
        bounds = shard_bounds(start, count)
        if int(np.diff(start[np.array(bounds)]).max()) * per_entry <= room:
            return bounds
        count += 1
