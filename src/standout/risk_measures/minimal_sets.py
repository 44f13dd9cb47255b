"""How many rows some single column, pair or triple of columns makes unique  [special uniques, SUDA2].

A row that is unique on a set of columns is unique on every larger set. So the smallest such set says how
little an adversary needs to find out who may choose the facts. A missing cell equals a missing cell only.

If the sets are few, all rows of all sets are counted, and the shares are exact. Otherwise random rows are
targets, each compared with all rows, and the shares have Wilson's intervals.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from standout.core.arrays import Ints, offsets
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import generator
from standout.core.threads import run_in_slices
from standout.evaluate.estimates import Estimate, rate
from standout.risk_measures.classes import cell_codes, equivalence_classes
from standout.risk_measures.identity import exact
from standout.risk_measures.minimal_set_kernels import RowCells, find_smallest_sizes
from standout.tables.model import Table

__all__ = ["LARGEST_SIZE", "MinimalSetShare", "minimal_sets"]

LARGEST_SIZE = 3
ROWS_TO_COUNT = 100_000_000
"""Up to this many rows, over all sets, are counted; about 6 seconds."""
TARGETS = 1_000


@dataclass(frozen=True, slots=True)
class MinimalSetShare:
    """Share of rows that some set of `size` columns makes unique.

    Attributes
    ----------
    size
        Number of columns.
    share
        Share of rows that at least one set of this size singles out.
    counted
        Whether all rows were counted, so that the share is exact; otherwise `share.n` random rows were.
    """

    size: int
    share: Estimate
    counted: bool

    def __str__(self) -> str:
        columns = "1 column" if self.size == 1 else f"{self.size} columns"
        return f"some {columns} single out {self.share.value:.1%} of the rows"


def minimal_sets(
    table: Table,
    columns: Sequence[str],
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> tuple[MinimalSetShare, ...]:
    """For sizes 1, 2 and 3, the share of rows that at least one set of as many columns singles out.

    Examples
    --------
    >>> from standout.tables.column import Column
    >>> names, codes = ("zip", "sex", "age"), ([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1])
    >>> cells = [Column(name, "category", ("a", "b"), np.array(code)) for name, code in zip(names, codes)]
    >>> for share in minimal_sets(Table(tuple(cells)), names):
    ...     print(share)
    some 1 column single out 25.0% of the rows
    some 2 columns single out 100.0% of the rows
    some 3 columns single out 100.0% of the rows
    """
    if not columns:
        raise ParameterError("columns must name at least one column")
    largest, n = min(LARGEST_SIZE, len(columns)), table.n_rows
    n_sets = sum(math.comb(len(columns), size) for size in range(1, largest + 1))
    if n_sets * n <= ROWS_TO_COUNT:
        smallest = _count_all_sets(table, columns, largest, progress)
        shares = [exact(int(np.count_nonzero(smallest <= size)) / n, n) for size in range(1, largest + 1)]
        return tuple(MinimalSetShare(size, share, True) for size, share in enumerate(shares, 1))
    targets = np.sort(generator(seed, "minimal sets").choice(n, min(n, TARGETS), replace=False))
    smallest = _compare_targets(table, columns, targets, largest, threads, progress)
    found = [int(np.count_nonzero(smallest <= size)) for size in range(1, largest + 1)]
    return tuple(
        MinimalSetShare(size, rate(count, len(targets)), False) for size, count in enumerate(found, 1)
    )


def _count_all_sets(table: Table, columns: Sequence[str], largest: int, progress: Progress) -> Ints:
    """For each row the size of the smallest set that makes it unique; one more than the largest if none."""
    smallest = np.full(table.n_rows, largest + 1)
    for size in range(largest, 0, -1):
        for chosen in combinations(columns, size):
            smallest[equivalence_classes(table, chosen).size == 1] = size
        progress("counting unique rows", largest - size + 1, largest)
    return smallest


def _compare_targets(
    table: Table, columns: Sequence[str], targets: Ints, largest: int, threads: int | None, progress: Progress
) -> Ints:
    """The same for these rows only, each compared with the rows that share its rarest values."""
    cells = row_cells(table, columns)
    smallest = np.empty(len(targets), np.int64)

    def work_on(low: int, high: int, work: None) -> None:
        find_smallest_sizes(cells, targets[low:high], largest, smallest[low:high])

    run_in_slices(
        len(targets),
        threads,
        lambda: None,
        work_on,
        lambda _, done, total: progress("comparing unique rows", done, total),
    )
    return smallest


def row_cells(table: Table, columns: Sequence[str]) -> RowCells:
    """The cells row by row, and the rows of each value of each column."""
    digits = [cell_codes(table.column(name)) for name in columns]
    dtype = np.uint16 if max(n_codes for _, n_codes in digits) <= 1 << 16 else np.uint32
    codes = np.empty((table.n_rows, len(columns)), dtype)
    rows = np.empty((len(columns), table.n_rows), np.int32)
    first = []
    for position, (code, n_codes) in enumerate(digits):
        codes[:, position] = code
        rows[position] = np.argsort(code, kind="stable")
        first.append(offsets(np.bincount(code, minlength=n_codes)))
    return RowCells(codes, rows, np.concatenate(first), offsets([len(each) for each in first])[:-1])
