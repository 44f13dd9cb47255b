"""Coded entries in blocks, in the order of their rows: in memory, or in files if memory would not suffice."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from standout.core.arrays import Ints
from standout.core.errors import ParameterError
from standout.core.memory import drop_pages, file_array, size_text
from standout.data import build_kernels

Block = NDArray[np.uint32]
"""One row per entry: record, item, value and time codes, as `build_kernels` describes them."""
BLOCK, SMALLEST_BLOCK = 1 << 22, 1 << 16
PER_ENTRY = 28
"""Bytes that a build needs for each entry at most: codes, bundles of records and the columns of the index."""
PROGRAM = 350 * 10**6
"""Bytes that the program and its buffers take before the first entry."""


@dataclass(slots=True, eq=False)
class MemoryPlan:
    """How much memory a build may use, and the folder for the arrays of entries if they do not fit.

    `ids` are the bytes that ids take, and `on_disk` says whether new arrays of entries go to files.
    """

    limit: int
    folder: Path
    ids: int = 0
    on_disk: bool = False

    @property
    def left(self) -> int:
        """Bytes left for entries; raises ParameterError if there are too few to build anything."""
        needed = PROGRAM + 64 * self.block_rows
        left = self.limit - needed - self.ids
        if left < SMALLEST_BLOCK * PER_ENTRY:
            least = size_text(1.05 * (needed + self.ids + SMALLEST_BLOCK * PER_ENTRY))
            raise ParameterError(
                f"memory must be at least {least}: {size_text(needed)} for the program, and {size_text(self.ids)} "
                f"for the ids so far, which are held in memory; got {size_text(self.limit)}"
            )
        return left

    @property
    def block_rows(self) -> int:
        """Rows of a block: few if memory is short."""
        rows = max(self.limit // (64 * 16), SMALLEST_BLOCK)
        return min(1 << (int(rows).bit_length() - 1), BLOCK)

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """A new array, in memory or in a file."""
        return file_array(self.folder, shape, dtype) if self.on_disk else np.empty(shape, dtype)


IN_MEMORY = MemoryPlan(sys.maxsize, Path())
"""All arrays in memory."""


class CodeCounts(NamedTuple):
    """Number of entries of each record and item, and [lowest time, highest time] of those with one."""

    per_record: Ints
    per_item: Ints
    time_bounds: Ints


@dataclass(slots=True)
class CodeBlocks:
    """Coded entries in a few large blocks, which are freed one by one while the release is built."""

    memory: MemoryPlan = IN_MEMORY
    full: list[Block] = field(default_factory=list)
    open: Block = field(default_factory=lambda: np.empty((0, 4), np.uint32))
    used: int = 0
    rows: int = 0

    def copy(self) -> "CodeBlocks":
        """Return the same blocks, which a build can free."""
        return replace(self, full=list(self.full))

    def reserve(self, rows: int) -> Block:
        """Return space for some entries; call `take` with the number that was written."""
        if self.used + rows > len(self.open):
            self._close()
            self.open = self.memory.empty((max(rows, self.memory.block_rows), 4), np.uint32)
        return self.open[self.used : self.used + rows]

    def take(self, rows: int) -> None:
        """Count entries that were written to the reserved space."""
        self.used += rows
        self.rows += rows

    def make_room(self, ids: int) -> None:
        """Move full blocks to files if the entries do not fit; ids = bytes that the ids take."""
        memory = self.memory
        if memory is IN_MEMORY:
            return
        memory.ids = ids
        if self.rows * PER_ENTRY > memory.left and not memory.on_disk:
            memory.on_disk = True
            for number, block in enumerate(self.full):
                self.full[number] = memory.empty(block.shape, block.dtype)
                self.full[number][:] = block

    def __len__(self) -> int:
        return len(self.full) + (self.used > 0)

    def __iter__(self) -> Iterator[Block]:
        """Yield all blocks."""
        for block in [*self.full, self.open[: self.used]][: len(self)]:
            yield block
            drop_pages()

    def drain(self) -> Iterator[Block]:
        """Yield all blocks, and free each one when the next is asked for."""
        self._close()
        self.open = np.empty((0, 4), np.uint32)
        blocks, self.full = self.full[::-1], []
        while blocks:
            yield blocks.pop()
            drop_pages()

    def rewrite(self, change: Callable[[Block], Block]) -> "CodeBlocks":
        """Return the blocks with changed rows; `change` may drop some. These blocks are freed."""
        changed = CodeBlocks(self.memory)
        for block in self.drain():
            rows = change(block)
            changed.reserve(len(rows))[:] = rows
            changed.take(len(rows))
        return changed

    def counts(self, records: int, items: int) -> CodeCounts:
        """Count all entries, for this many ids of records and items."""
        times = np.array([np.iinfo(np.int64).max, -1])
        counts = CodeCounts(np.zeros(records, np.int64), np.zeros(items, np.int64), times)
        for block in self:
            build_kernels.count(block, *counts)
        return counts

    def _close(self) -> None:
        if self.used:
            self.full.append(self.open[: self.used])
            self.used = 0
