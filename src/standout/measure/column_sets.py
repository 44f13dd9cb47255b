"""The smallest sets of columns that single out most rows.

For each size the set with the most unique rows is searched: first among the best smaller sets and one more
column (beam search). Then every other set that could be better is counted, if they are few enough: a set has
at most as many unique rows as its columns have combinations of values. If all were counted, the search was
exhaustive. The sets found are counted again, exactly and on all rows.

A missing cell equals a missing cell only.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Literal, NamedTuple

import numpy as np

from standout.core.arrays import offsets
from standout.core.errors import ParameterError, whole_number
from standout.core.jit import Array, Int, kernel
from standout.core.progress import Progress, no_progress
from standout.core.rng import generator
from standout.core.threads import run_in_slices, thread_count
from standout.data.column import Column
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, rate
from standout.measure.equivalence import cell_codes, equivalence_classes, exact, matching_rows, table_bits

# Search for the smallest set of columns that makes a row unique.
#
# A set of columns does not make a row unique if another row agrees in all of them. So each other row covers the
# sets within the columns in which it agrees, and the row is unique on a set that no row covers.
#
# The columns are ordered by how rare the row's value is. A set is looked for by its rarest value: only rows
# with this value can cover it, and the search stops as soon as all sets with it are covered. If values are
# common, few rows cover all; if they are rare, there are few rows.


FIRST_ROWS, MOST_ROWS = 256, 8192
"""Rows that are compared at once: few at first, because few cover most sets."""


class RowCells:
    """The cells of n rows and m columns, row by row, and the rows of each value of each column.

    code     n × m: the code of each cell
    row      the rows ordered by their code, for each column
    first    where the rows of each code begin in `row`, for one column after the other
    start    m: where the codes of each column begin in `first`
    """

    def __init__(self, table: Release, columns: Sequence[str]) -> None:
        cells = [cell_codes(table.column(name)) for name in columns]
        dtype = np.uint16 if max(n_codes for _, n_codes in cells) <= 1 << 16 else np.uint32
        self.code = np.stack([code for code, _ in cells], axis=1, dtype=dtype, casting="unsafe")
        self.row = [np.argsort(code, kind="stable").astype(np.int32) for code, _ in cells]
        first = [offsets(np.bincount(code, minlength=n_codes)) for code, n_codes in cells]
        self.first, self.start = np.concatenate(first), offsets([len(each) for each in first])[:-1]

    def smallest_size(self, target: int, largest: int) -> int:
        """The smallest number of columns that make the target unique; largest + 1 if no set of up to 3 does."""
        own = self.code[target]
        begin, end = self.first[self.start + own], self.first[self.start + own + 1]
        order = np.argsort(end - begin, kind="stable")
        if end[order[0]] - begin[order[0]] == 1:
            return 1
        is_triple = largest < 3
        for position, column in enumerate(order[:-1].tolist()):
            others = order[position + 1 :]
            rows = self.row[column][begin[column] : end[column]]
            pairs, triples = np.zeros(len(others), np.bool_), np.zeros((len(others), len(others)), np.bool_)
            low, step = 0, FIRST_ROWS
            while low < len(rows) and not (pairs.all() and (is_triple or triples.all())):
                part = rows[low : low + step]
                agrees = self.code[part[part != target][:, None], others] == own[others]
                pairs |= agrees.any(axis=0)
                if not is_triple:
                    counts = agrees.astype(np.float32)
                    triples |= counts.T @ counts > 0
                low, step = low + step, min(2 * step, MOST_ROWS)
            if largest >= 2 and not pairs.all():
                return 2
            is_triple = is_triple or not triples.all()
        return 3 if is_triple and largest >= 3 else largest + 1


# How many rows some single column, pair or triple of columns makes unique  [special uniques, SUDA2].
#
# A row that is unique on a set of columns is unique on every larger set. So the smallest such set says how
# little an adversary needs to find out who may choose the facts. A missing cell equals a missing cell only.
#
# If the sets are few, all rows of all sets are counted, and the shares are exact. Otherwise random rows are
# targets, each compared with all rows, and the shares have Wilson's intervals.


LARGEST_MINIMAL_SET = 3
ROWS_OF_ALL_SETS = 100_000_000
"""Up to this many rows, over all sets, are counted; about 6 seconds."""
TARGETS = 1_000


@dataclass(frozen=True, slots=True)
class MinimalSetShare:
    """Share of rows that some set of `size` columns makes unique."""

    size: int  # number of columns
    share: Estimate  # share of rows that at least one set of this size singles out
    counted: bool  # whether all rows were counted, so that the share is exact; otherwise `share.n` random rows were

    def __str__(self) -> str:
        columns = "1 column" if self.size == 1 else f"{self.size} columns"
        return f"some {columns} single out {self.share.value:.1%} of the rows"


def minimal_sets(
    table: Release, columns: Sequence[str], seed: int = 0, threads: int | None = None, progress: Progress = no_progress
) -> tuple[MinimalSetShare, ...]:
    """For sizes 1, 2 and 3, the share of rows that at least one set of as many columns singles out."""
    if not columns:
        raise ParameterError("columns must name at least one column")
    largest, n = min(LARGEST_MINIMAL_SET, len(columns)), table.n_records
    n_sets = sum(math.comb(len(columns), size) for size in range(1, largest + 1))
    if n_sets * n <= ROWS_OF_ALL_SETS:  # for each row the size of the smallest set that makes it unique
        smallest = np.full(n, largest + 1)
        for size in range(largest, 0, -1):
            for chosen in combinations(columns, size):
                smallest[matching_rows(table, chosen) == 1] = size
            progress("counting unique rows", largest - size + 1, largest)
        counts = [int(np.count_nonzero(smallest <= size)) for size in range(1, largest + 1)]
        return tuple(MinimalSetShare(size, exact(count / n, n), True) for size, count in enumerate(counts, 1))
    targets = np.sort(generator(seed, "minimal sets").choice(n, min(n, TARGETS), replace=False))
    cells, smallest = RowCells(table, columns), np.empty(len(targets), np.int64)

    def work_on(low: int, high: int, work: None) -> None:
        for i in range(low, high):
            smallest[i] = cells.smallest_size(int(targets[i]), largest)

    def report(_: str, done: int, total: int) -> None:
        progress("comparing unique rows", done, total)

    run_in_slices(len(targets), threads, lambda: None, work_on, report)
    counts = [int(np.count_nonzero(smallest <= size)) for size in range(1, largest + 1)]
    return tuple(MinimalSetShare(size, rate(count, len(targets)), False) for size, count in enumerate(counts, 1))


# Unique rows and classes of many sets of columns, counted by a compiled kernel on several threads.
#
# Each level of each column has a random 64-bit number, and the key of a row in a set of columns is the sum of
# its numbers. So a set and one more column need one addition for each row. A slot and its position hold about
# 51 bits of a key with a million rows. Two different rows share them in about one of 5,000 sets, which is then
# counted two unique rows short. The search for sets tolerates that, and reported sets are counted exactly.


U, U32 = np.uint64, np.uint32
EMPTY, SEEN_TWICE, OCCUPIED = U32(0), U32(1), U32(2)
TAG, LOW_HALF, ONE = U32(0xFFFFFFFC), U(0xFFFFFFFF), U(1)


@kernel
def count_classes(keys: Array, codes: Array, numbers: Array, bits: Int, slots: Array) -> tuple[Int, Int]:
    """Count the unique rows, and the classes, of a set with these keys and one more column.

    keys, codes    n rows: their keys, and their codes in the column
    slots          2**bits; each holds 30 bits of a key, and its position holds others
    """
    slots[:] = EMPTY
    shift, mask = U(64 - bits), U((1 << bits) - 1)
    n_unique, n_classes = 0, 0
    for row in range(len(keys)):
        key = keys[row] + numbers[codes[row]]
        tag, slot = (U32(key & LOW_HALF) & TAG) | OCCUPIED, key >> shift
        while slots[slot] != EMPTY and (slots[slot] & ~SEEN_TWICE) != tag:
            slot = (slot + ONE) & mask
        if slots[slot] == EMPTY:
            slots[slot] = tag
            n_unique += 1
            n_classes += 1
        elif slots[slot] == tag:
            slots[slot] = tag | SEEN_TWICE
            n_unique -= 1
    return n_unique, n_classes


ColumnPositions = tuple[int, ...]


class CountedSet(NamedTuple):
    """A set of columns, by position, with its numbers of unique rows and of classes."""

    unique: int
    classes: int
    columns: ColumnPositions


class SetCounter:
    """Counts unique rows and classes of sets of columns."""

    def __init__(self, columns: Sequence[Column], threads: int | None = None) -> None:
        cells, most = [cell_codes(column) for column in columns], np.iinfo(np.uint64).max
        self.codes = [codes for codes, _ in cells]
        # the same for every seed, because the sets found must not depend on it
        self.numbers = [
            generator(0, "numbers of levels", position).integers(0, most, n_codes, np.uint64, endpoint=True)
            for position, (_, n_codes) in enumerate(cells)
        ]
        self.n_values = [int(np.count_nonzero(np.bincount(codes))) for codes in self.codes]
        self.threads = thread_count(threads)

    def count(self, sets: list[ColumnPositions]) -> list[CountedSet]:
        """Count the sets; those that differ in the last column only share most of the work."""
        groups = [list(group) for _, group in groupby(sets, key=lambda chosen: chosen[:-1])]
        with ThreadPoolExecutor(self.threads) as pool:
            return [counted for group in pool.map(self._count_group, groups) for counted in group]

    def _count_group(self, sets: list[ColumnPositions]) -> list[CountedSet]:
        """Count sets that differ in the last column only."""
        n = len(self.codes[0])
        keys, bits = np.zeros(n, np.uint64), table_bits(n)
        for position in sets[0][:-1]:
            keys += self.numbers[position][self.codes[position]]
        slots = np.empty(1 << bits, np.uint32)
        return [
            CountedSet(*count_classes(keys, self.codes[chosen[-1]], self.numbers[chosen[-1]], bits, slots), chosen)
            for chosen in sets
        ]


Search = Literal["exhaustive", "beam"]
LARGEST_SIZE = 6
MOST_SETS = 100_000
"""Sets of one size are listed only up to this number."""
ROWS_TO_COUNT = 1_000_000_000
"""Rows that the exhaustive search may count for each size, over all sets; about 10 seconds on two cores."""
BEAM_ROWS = 400_000_000
"""Rows that the beam search counts for each size, over all sets."""
NARROWEST, WIDEST = 4, 64


@dataclass(frozen=True, slots=True)
class ColumnSet:
    """A set of columns, and how many rows it makes unique."""

    columns: tuple[str, ...]  # names of the columns, in the order of the table
    unique: Estimate  # share of rows that the values of these columns single out; exact, all rows counted
    classes: int  # number of different combinations of values that occur
    # "exhaustive": every set that could be better was counted. These counts are by hashes and may miss a few rows in a
    # million, so only a set that is better by a few rows can have been overlooked. "beam": the best set found; another
    # one may have more
    search: Search
    tried: int  # number of sets of this size that were counted

    @property
    def text(self) -> str:
        """The names of the columns, as in "age + sex"."""
        return " + ".join(self.columns)

    def __str__(self) -> str:
        note = "" if self.search == "exhaustive" else ", best set found"
        return f"{self.text}: {self.unique.value:.1%} unique{note}"


@dataclass(frozen=True, slots=True)
class KeySearch:
    """The best set of columns of each size."""

    searched: tuple[str, ...]  # the columns among which sets were searched
    # the best set of one column, of two columns, and so on. The list ends where more columns cannot single out more
    # rows, or at the largest size
    sets: tuple[ColumnSet, ...]
    all_columns: Estimate  # share of rows that all these columns together single out: no set can have more

    def smallest(self, share: float) -> ColumnSet | None:
        """The smallest set found that singles out at least this share of the rows; None if none does."""
        return next((found for found in self.sets if found.unique.value >= share), None)


def find_keys(
    table: Release,
    columns: Sequence[str],
    largest: int = LARGEST_SIZE,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> KeySearch:
    """For each size up to `largest`, the set of columns with the most unique rows."""
    if not columns:
        raise ParameterError("columns must name at least one column")
    whole_number("largest", largest, 1)
    counter = SetCounter([table.column(name) for name in columns], threads)
    ceiling = int((equivalence_classes(table, columns).counts == 1).sum())
    largest, n = min(largest, len(columns)), table.n_records
    found: list[ColumnSet] = []
    beam: list[ColumnPositions] = [()]
    for size in range(1, largest + 1):
        extended: dict[frozenset[int], ColumnPositions] = {}  # each set of the beam and one more column
        for positions in beam:
            for position in range(len(columns)):
                if position not in positions:
                    extended.setdefault(frozenset((*positions, position)), (*positions, position))
        counted = counter.count(list(extended.values()))
        remaining = _could_be_better(counter, counted, size, ceiling)
        counted += counter.count(remaining or [])
        counted.sort(key=lambda each: sorted(each.columns))  # the order among sets with equal numbers
        by_unique = sorted(counted, key=lambda each: (-each.unique, -each.classes))
        by_classes = sorted(counted, key=lambda each: (-each.classes, -each.unique))
        chosen = tuple(columns[position] for position in sorted(by_unique[0].columns))
        search: Search = "beam" if remaining is None else "exhaustive"
        sizes = equivalence_classes(table, chosen).counts
        share = exact(int((sizes == 1).sum()) / n, n, 1 / n)
        found.append(ColumnSet(chosen, share, len(sizes), search, len(counted)))
        progress("searching for identifying columns", size, largest)
        if by_unique[0].unique >= ceiling:
            break
        # Small sets may have no unique rows at all; then the number of classes says which are promising.
        width = max(NARROWEST, min(WIDEST, BEAM_ROWS // (n * len(columns))))
        promising = by_unique[: (width + 1) // 2] + by_classes[:width]
        beam = list(dict.fromkeys(each.columns for each in promising))[:width]
    progress("searching for identifying columns", largest, largest)
    return KeySearch(tuple(columns), tuple(found), exact(ceiling / n, n))


def _could_be_better(
    counter: SetCounter, counted: list[CountedSet], size: int, ceiling: int
) -> list[ColumnPositions] | None:
    """The uncounted sets of this size that may have more unique rows; None if they are too many."""
    most, known = max(each.unique for each in counted), {frozenset(each.columns) for each in counted}
    if most >= ceiling:
        return []
    if math.comb(len(counter.n_values), size) > MOST_SETS:
        return None
    sets = [
        chosen
        for chosen in combinations(range(len(counter.n_values)), size)
        if math.prod(counter.n_values[position] for position in chosen) > most and frozenset(chosen) not in known
    ]
    return sets if len(sets) * len(counter.codes[0]) <= ROWS_TO_COUNT else None
