"""Unique rows and classes of many sets of columns, counted on several threads."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.rng import generator
from standout.core.threads import thread_count
from standout.risk_measures.class_kernels import table_bits
from standout.risk_measures.classes import cell_codes
from standout.risk_measures.set_kernels import add_numbers, count_classes, find_repeated
from standout.tables.column import Column

__all__ = ["SetCounter", "SetCounts"]

ColumnPositions = tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class SetCounts:
    """Sets of columns, by position, with their numbers of unique rows and of classes."""

    sets: list[ColumnPositions]
    unique: Ints
    classes: Ints

    @property
    def most_unique(self) -> int:
        """Largest number of unique rows."""
        return int(self.unique.max())

    @property
    def best(self) -> ColumnPositions:
        """The set with the most unique rows, then the most classes, then the first columns."""
        return tuple(sorted(self.sets[self._order(self.unique, self.classes)[0]]))

    def beam(self, width: int) -> list[ColumnPositions]:
        """The best sets: half of them by unique rows, half by classes.

        Small sets may have no unique rows at all; then the number of classes says which are promising.
        """
        half = (width + 1) // 2
        chosen = [*self._order(self.unique, self.classes)[:half], *self._order(self.classes, self.unique)]
        distinct = list(dict.fromkeys(int(position) for position in chosen))
        return [self.sets[position] for position in distinct[:width]]

    def joined(self, other: "SetCounts") -> "SetCounts":
        """These sets and others."""
        unique, classes = (
            np.concatenate(pair) for pair in ((self.unique, other.unique), (self.classes, other.classes))
        )
        return SetCounts(self.sets + other.sets, unique, classes)

    def _order(self, first: Ints, second: Ints) -> Ints:
        """Positions of the sets by falling counts; ties by the order of the columns."""
        by_columns = sorted(range(len(self.sets)), key=lambda i: sorted(self.sets[i]))
        rank = np.empty(len(self.sets), np.int64)
        rank[by_columns] = np.arange(len(self.sets))
        return np.lexsort((rank, -second, -first))


class Workspace(NamedTuple):
    """Arrays that a thread uses again and again: keys and numbers of rows, and the slots of a hash table."""

    keys: NDArray[np.uint64]
    rows: NDArray[np.int32]
    slots: NDArray[np.uint32]

    @classmethod
    def of(cls, n_rows: int) -> "Workspace":
        """Arrays for this many rows."""
        n_slots = 1 << table_bits(n_rows)
        return cls(np.empty(n_rows, np.uint64), np.empty(n_rows, np.int32), np.empty(n_slots, np.uint32))


class SetCounter:
    """Counts unique rows and classes of sets of columns.

    >>> column = Column("sex", "category", ("f", "m"), np.array([0, 1, 1], np.uint8))
    >>> SetCounter([column]).count([(0,)]).unique.tolist()
    [1]
    """

    def __init__(self, columns: Sequence[Column], threads: int | None = None) -> None:
        cells = [cell_codes(column) for column in columns]
        self.codes = [codes for codes, _ in cells]
        self.numbers = [_random_numbers(position, n_codes) for position, (_, n_codes) in enumerate(cells)]
        self.n_values = [int(np.count_nonzero(np.bincount(codes))) for codes in self.codes]
        self.n_rows = len(self.codes[0])
        self.all_rows = np.arange(self.n_rows, dtype=np.int32)
        self.threads = thread_count(threads)
        self._free: SimpleQueue[Workspace] = SimpleQueue()
        for _ in range(self.threads):
            self._free.put(Workspace.of(self.n_rows))

    def count(self, sets: list[ColumnPositions]) -> SetCounts:
        """Count the sets; those that differ in the last column only share most of the work."""
        groups = [list(group) for _, group in groupby(sets, key=lambda chosen: chosen[:-1])]
        with ThreadPoolExecutor(self.threads) as pool:
            counts = [count for group in pool.map(self._count_group, groups) for count in group]
        pairs = np.array(counts, np.int64).reshape(-1, 2)
        return SetCounts(sets, pairs[:, 0], pairs[:, 1])

    def _count_group(self, sets: list[ColumnPositions]) -> list[tuple[int, int]]:
        """Count sets that differ in the last column only."""
        work = self._free.get()
        try:
            return self._count_in(work, sets)
        finally:
            self._free.put(work)

    def _count_in(self, work: "Workspace", sets: list[ColumnPositions]) -> list[tuple[int, int]]:
        """Rows that the first columns make unique stay unique, so only the others are counted."""
        keys, rows = self._repeated_keys(sets[0][:-1], len(sets) > 2, work)
        n_settled, bits = self.n_rows - len(rows), table_bits(len(rows))
        counts = []
        for *_, last in sets:
            slots = work.slots[: 1 << bits]
            unique, classes = count_classes(keys, rows, self.codes[last], self.numbers[last], bits, slots)
            counts.append((n_settled + unique, n_settled + classes))
        return counts

    def _repeated_keys(
        self, positions: ColumnPositions, search: bool, work: "Workspace"
    ) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """The keys of the rows that these columns do not make unique, and which rows these are."""
        keys, rows = work.keys, self.all_rows
        keys[:] = 0
        for position in positions:
            add_numbers(keys, self.codes[position], self.numbers[position])
        if not positions or not search:
            return keys, rows
        n_repeated = find_repeated(keys, table_bits(self.n_rows), work.slots, work.rows)
        rows = work.rows[:n_repeated]
        return keys[rows], rows


def _random_numbers(position: int, n_codes: int) -> NDArray[np.uint64]:
    """The same for every seed, because the sets found must not depend on it."""
    rng = generator(0, "numbers of levels", position)
    return rng.integers(0, np.iinfo(np.uint64).max, n_codes, np.uint64, endpoint=True)
