"""Compiled loop that divides coded entries among shards."""

import numpy as np

from standout.core.jit import Array, kernel
from standout.release.build_kernels import NONE
from standout.release.postings import BLOCK_BITS

__all__ = ["split"]


@kernel
def split(
    block: Array,
    record_rank: Array,
    item_rank: Array,
    level: Array,
    clock: Array,
    shard_of_block: Array,
    first: Array,
    ends: Array,
    out: Array,
) -> None:
    """Put a block's entries in the order of shards, with final codes; records count from the shard's first.

    Shard s gets out[ends[s] : ends[s + 1]], in row order; ends is 0 before. Times are 1 higher than final
    codes, and 0 if missing. first[s] = first record of shard s; clock = [lowest time, span].
    """
    for i in range(len(block)):
        ends[shard_of_block[record_rank[block[i, 0]] >> BLOCK_BITS] + 1] += 1
    cursor = np.zeros(len(ends), np.int64)
    for number in range(1, len(ends)):
        ends[number] += ends[number - 1]
        cursor[number] = ends[number]
    for i in range(len(block)):
        record = np.int64(record_rank[block[i, 0]])
        shard = np.int64(shard_of_block[record >> BLOCK_BITS])
        p = cursor[shard]
        cursor[shard] = p + 1
        value, time = block[i, 2], np.int64(block[i, 3])
        out[p, 0] = record - first[shard]
        out[p, 1] = item_rank[block[i, 1]]
        out[p, 2] = level[value] if value != NONE else level[len(level) - 1]
        out[p, 3] = time - clock[0] + 1 if time != 0 else 0
