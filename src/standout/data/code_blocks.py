"""Coded entries in blocks, in the order of their rows: in memory, or in files if memory would not suffice."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.errors import ParameterError
from standout.core.memory import size_text
from standout.data import build_kernels
from standout.data.packed_blocks import Block, append_block, read_blocks

__all__ = ["PER_ENTRY", "CodeBlocks", "CodeCounts", "MemoryPlan"]

BLOCK = 1 << 22
SMALLEST_BLOCK = 1 << 16
PER_ENTRY = 28
"""Bytes that a build needs for each entry at most: codes, bundles of records and the columns of the index."""
PROGRAM = 350 * 10**6
"""Bytes that the program and its buffers take before the first entry."""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """How much memory a build may use, and the folder for blocks that do not fit.

    `forced` if the user wants shards, whatever the memory.
    """

    limit: int
    folder: Path
    forced: bool = False

    def left(self, ids: int) -> int:
        """Bytes left for entries; ids = bytes that the ids take. Raises ParameterError if there are none."""
        buffers = 64 * self.block_rows
        left = self.limit - PROGRAM - ids - buffers
        needed = PROGRAM + ids + buffers + SMALLEST_BLOCK * PER_ENTRY
        if left < SMALLEST_BLOCK * PER_ENTRY:
            raise ParameterError(
                f"memory must be at least {size_text(1.05 * needed)}: {size_text(PROGRAM + buffers)} for the "
                f"program, and {size_text(ids)} for the ids so far, which are held in memory; "
                f"got {size_text(self.limit)}"
            )
        return left

    def suffices(self, ids: int, entries: int) -> bool:
        """Whether all entries can be built in memory at once."""
        return entries * PER_ENTRY <= self.left(ids)

    @property
    def block_rows(self) -> int:
        """Rows of a block: few if memory is short."""
        rows = max(self.limit // (64 * 16), SMALLEST_BLOCK)
        return min(1 << (int(rows).bit_length() - 1), BLOCK)


@dataclass(slots=True)
class CodeCounts:
    """Number of entries of each record and item, and [lowest time, highest time] of those with one."""

    per_record: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    per_item: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    time_bounds: Ints = field(default_factory=lambda: np.array([np.iinfo(np.int64).max, -1]))

    def add(self, block: Block) -> None:
        """Count the entries of a block."""
        highest = block.max(axis=0, initial=0)
        self.grow(int(highest[0]) + 1, int(highest[1]) + 1)
        build_kernels.count(block, self.per_record, self.per_item, self.time_bounds)

    def grow(self, records: int, items: int) -> None:
        """Make room for this many records and items."""
        self.per_record = _grown(self.per_record, records)
        self.per_item = _grown(self.per_item, items)


def _grown(counts: Ints, needed: int) -> Ints:
    if needed <= len(counts):
        return counts
    larger = np.zeros(max(needed, 2 * len(counts)), np.int64)
    larger[: len(counts)] = counts
    return larger


@dataclass(slots=True)
class CodeBlocks:
    """Coded entries in a few large blocks, which are freed one by one while the release is built.

    Without a memory plan all blocks are in memory. With one, full blocks go to files once the entries do not
    fit; they are counted then, so that they need not be read for that.
    """

    memory: MemoryPlan | None = None
    full: list[Block | Path] = field(default_factory=list)
    open: NDArray[np.uint32] = field(default_factory=lambda: np.empty((0, 4), np.uint32))
    used: int = 0
    rows: int = 0
    written: CodeCounts = field(default_factory=CodeCounts)
    files: int = 0

    @classmethod
    def of_files(cls, paths: list[Path]) -> "CodeBlocks":
        """Return the blocks in files."""
        return cls(full=list(paths))

    def copy(self) -> "CodeBlocks":
        """Return the same blocks, which a build can free."""
        return replace(self, full=list(self.full))

    @property
    def spills(self) -> bool:
        """Whether some blocks are in files."""
        return self.files > 0

    def reserve(self, rows: int) -> NDArray[np.uint32]:
        """Return space for some entries; call `take` with the number that was written."""
        if self.used + rows > len(self.open):
            self._close()
            size = BLOCK if self.memory is None else self.memory.block_rows
            self.open, self.used = np.empty((max(rows, size), 4), np.uint32), 0
        return self.open[self.used : self.used + rows]

    def take(self, rows: int) -> None:
        """Count entries that were written to the reserved space."""
        self.used += rows
        self.rows += rows

    def make_room(self, ids: int) -> None:
        """Write full blocks to files if the entries do not fit; ids = bytes that the ids take."""
        if self.memory is None or (not self.spills and self.memory.suffices(ids, self.rows)):
            return
        self.memory.left(ids)
        for number, block in enumerate(self.full):
            if not isinstance(block, Path):
                self.full[number] = self._write(block)

    def __len__(self) -> int:
        return len(self.full) + (self.used > 0)

    def __iter__(self) -> Iterator[Block]:
        """Yield all blocks."""
        for block in self.full:
            yield from read_blocks(block) if isinstance(block, Path) else [block]
        if self.used:
            yield self.open[: self.used]

    def drain(self) -> Iterator[Block]:
        """Yield all blocks, and free each one when the next is asked for."""
        self._close()
        self.open = np.empty((0, 4), np.uint32)
        blocks, self.full = self.full[::-1], []
        while blocks:
            block = blocks.pop()
            if isinstance(block, Path):
                yield from read_blocks(block)
                block.unlink()
            else:
                yield block

    def rewrite(self, change: Callable[[Block], Block]) -> "CodeBlocks":
        """Return the blocks with changed rows; `change` may drop some. These blocks are freed."""
        changed = CodeBlocks(self.memory, files=self.files)
        for block in self.drain():
            rows = change(block)
            del block
            changed.reserve(len(rows))[:] = rows
            changed.take(len(rows))
            if self.spills:
                changed.make_room(0)
        return changed

    def counts(self, records: int, items: int) -> CodeCounts:
        """Count all entries, for this many ids of records and items."""
        counts = self.written
        counts.grow(records, items)
        for block in self.full:
            if not isinstance(block, Path):
                counts.add(block)
        counts.add(self.open[: self.used])
        self.written = CodeCounts()
        return CodeCounts(counts.per_record[:records], counts.per_item[:items], counts.time_bounds)

    def _close(self) -> None:
        if self.used:
            self.full.append(self.open[: self.used])
            self.used = 0

    def _write(self, block: Block) -> Path:
        assert self.memory is not None
        self.memory.folder.mkdir(mode=0o700, exist_ok=True)
        path = self.memory.folder / f"block-{self.files:06d}.bin"
        append_block(path, block)
        self.written.add(block)
        self.files += 1
        return path
