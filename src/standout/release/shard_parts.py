"""Divide coded entries among the shards: one file for each shard, in the order of rows, with final codes."""

import os
from pathlib import Path

import numpy as np

from standout.core.progress import Progress
from standout.release.code_blocks import CodeBlocks
from standout.release.model import RecordEntries
from standout.release.packed_blocks import append_block, read_blocks
from standout.release.record_groups import CodeMap, group_by_record
from standout.release.shard_kernels import split
from standout.release.shard_plan import ShardPlan

__all__ = ["PartitionedRows"]


class PartitionedRows:
    """The rows of each shard, in files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, blocks: CodeBlocks, codes: CodeMap, plan: ShardPlan, progress: Progress) -> None:
        """Write the rows of all blocks, which are freed one by one; files are on the disk at the end."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        shard_of_block, total = plan.shard_of_block(), len(blocks)
        first = np.array(plan.bounds, np.int64)
        time = np.array([codes.first_time, plan.sizes.missing[1]], np.int64)
        for number, block in enumerate(blocks.drain()):
            progress("partitioning", number, total)
            out, ends = np.empty_like(block), np.zeros(plan.n_shards + 1, np.int64)
            split(
                block=block,
                record_rank=codes.record,
                item_rank=codes.item,
                level=codes.level,
                clock=time,
                shard_of_block=shard_of_block,
                first=first,
                ends=ends,
                out=out,
            )
            for shard in range(plan.n_shards):
                if ends[shard] < ends[shard + 1]:
                    append_block(self._path(shard), out[ends[shard] : ends[shard + 1]])
        for shard in range(plan.n_shards):
            with self._path(shard).open("rb") as file:
                os.fsync(file.fileno())

    def entries(self, plan: ShardPlan, shard: int, progress: Progress) -> tuple[RecordEntries, int]:
        """Sort the rows of a shard by record and item; also return how many repeat an earlier one."""
        start, path = plan.start(shard), self._path(shard)
        codes = CodeMap.unchanged(len(start) - 1, plan.sizes)
        return group_by_record(read_blocks(path), 1, codes, start, plan.sizes, progress)

    def discard(self, shard: int) -> None:
        """Remove the rows of a shard."""
        self._path(shard).unlink(missing_ok=True)

    def _path(self, shard: int) -> Path:
        return self.folder / f"rows-{shard:04d}.bin"
