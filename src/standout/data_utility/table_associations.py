"""How much the associations of pairs of columns changed.

number, date or ordered × the same    |Spearman's rank correlation|
category or boolean × the same        Cramér's V, corrected for chance [Bergsma 2013]
one of each                           correlation ratio η of the ranks, corrected for chance [ε², Kelley 1935]

All are from 0 to 1. Rows in which one of the two cells is empty do not count. A pair with a dropped column
has 0 afterwards. Sets are left out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from standout.core.arrays import Bools, Floats, Ints
from standout.core.rng import generator
from standout.evaluate.estimates import CONFIDENCE, Estimate, student
from standout.tables.column import Column
from standout.tables.model import SanitizedTable, Table

__all__ = ["ROWS", "AssociationChange", "association", "association_change"]

ROWS, GROUPS = 10_000, 8
"""Rows of the sample, and groups of rows that the jackknife leaves out in turn."""


@dataclass(frozen=True, slots=True)
class AssociationChange:
    """Change of the associations of all pairs.

    Attributes
    ----------
    mean : Estimate
        Mean absolute change; its baseline is the mean association of the original: all of it would be lost.
    largest : Estimate
        Largest absolute change. It has no interval.
    pair : tuple of str
        The pair of columns with the largest change.
    pairs, rows : int
        Number of pairs, and of rows of the original that were used.
    """

    mean: Estimate
    largest: Estimate
    pair: tuple[str, str]
    pairs: int
    rows: int


def association_change(safer: SanitizedTable, seed: int) -> AssociationChange | None:
    """Compare all pairs of columns; None if there are no two columns other than sets.

    A large table is measured on a sample of people. The interval is then that of a jackknife over groups of
    them; a whole table has no sampling error.
    """
    names = [column.name for column in safer.original.columns if column.starts is None]
    pairs = list(combinations(names, 2))
    if not pairs:
        return None
    people = generator(seed, "association rows").permutation(safer.original.n_rows)[:ROWS]
    change, before = _changes(safer, people, pairs)
    largest = int(change.argmax())
    mean, n = float(change.mean()), len(people)
    low = high = math.nan
    if n < safer.original.n_rows:
        reach = _jackknife_reach(safer, people, pairs)
        low, high = max(mean - reach, 0.0), mean + reach
    return AssociationChange(
        mean=Estimate(mean, low, high, n, float(before.mean())),
        largest=Estimate(float(change[largest]), math.nan, math.nan, n, None),
        pair=pairs[largest],
        pairs=len(pairs),
        rows=n,
    )


def _jackknife_reach(safer: SanitizedTable, people: Ints, pairs: Sequence[tuple[str, str]]) -> float:
    """Half of the 95 % interval: the mean without each group of people in turn."""
    group = np.arange(len(people)) % GROUPS
    touched = [pair for pair in pairs if not _is_untouched(safer, pair)]
    if not touched:
        return 0.0
    sums = [_changes(safer, people[group != left], touched)[0].sum() for left in range(GROUPS)]
    means = np.array(sums) / len(pairs)
    error = math.sqrt((GROUPS - 1) / GROUPS * float(((means - means.mean()) ** 2).sum()))
    return student(GROUPS - 1, CONFIDENCE) * error


def _changes(safer: SanitizedTable, people: Ints, pairs: Sequence[tuple[str, str]]) -> tuple[Floats, Floats]:
    """Absolute change of each pair, and its association in the original."""
    is_used = np.zeros(safer.original.n_rows, np.bool_)
    is_used[people] = True
    old = _columns(safer.original, np.flatnonzero(is_used))
    new = _columns(safer, np.flatnonzero(is_used[safer.original_row]))
    before = np.array([association(old[a], old[b]) for a, b in pairs])
    after = before.copy()
    for place, (a, b) in enumerate(pairs):
        if not _is_untouched(safer, (a, b)):
            after[place] = association(new[a], new[b]) if a in new and b in new else 0.0
    return np.abs(after - before), before


def _is_untouched(safer: SanitizedTable, pair: tuple[str, str]) -> bool:
    """Whether the release has all cells of both columns as they were."""
    is_whole = safer.n_rows == safer.original.n_rows
    return is_whole and all(name in safer.names and name not in safer.channels for name in pair)


def _columns(table: Table, rows: Ints) -> dict[str, Column]:
    return {column.name: column.rows(rows) for column in table.columns if column.starts is None}


def association(a: Column, b: Column) -> float:
    """Association of two columns, from 0 to 1; 0 if one of them does not vary.

    >>> x = Column("x", "number", np.array([1.0, 2.0, 3.0]), np.array([0, 1, 2, 2], np.uint8))
    >>> round(association(x, x), 9)
    1.0
    """
    known: Bools = ~(a.is_missing | b.is_missing)
    x, y = (_dense(column.codes[known].astype(np.int64)) for column in (a, b))
    if not len(x) or x.max() == 0 or y.max() == 0:
        return 0.0
    if _has_order(a) and _has_order(b):
        return abs(_correlation(_ranks(x), _ranks(y)))
    if not _has_order(a) and not _has_order(b):
        return _cramers_v(x, y)
    return _correlation_ratio(x, _ranks(y)) if _has_order(b) else _correlation_ratio(y, _ranks(x))


def _has_order(column: Column) -> bool:
    return column.kind in ("number", "date", "ordered")


def _dense(codes: Ints) -> Ints:
    """Codes from 0 without gaps, in the same order."""
    occurs = np.bincount(codes) > 0
    return np.asarray((np.cumsum(occurs) - 1)[codes])


def _ranks(codes: Ints) -> Floats:
    """Mean ranks of dense codes, centred."""
    counts = np.bincount(codes)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[codes]
    return np.asarray(ranks - (len(codes) + 1) / 2)


def _correlation(x: Floats, y: Floats) -> float:
    return float((x * y).sum()) / math.sqrt(float((x * x).sum()) * float((y * y).sum()))


def _cramers_v(x: Ints, y: Ints) -> float:
    """√(φ² / min(r, c)), with φ², r and c corrected for what chance gives."""
    n, r, c = len(x), int(x.max()) + 1, int(y.max()) + 1
    if n < 2:
        return 0.0
    cell, counts = np.unique(x * c + y, return_counts=True)
    expected = np.bincount(x)[cell // c] * np.bincount(y)[cell % c]
    phi2 = float((counts.astype(np.float64) ** 2 / expected).sum()) - 1.0
    phi2 = max(phi2 - (r - 1) * (c - 1) / (n - 1), 0.0)
    smaller = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1.0
    return min(math.sqrt(phi2 / smaller), 1.0) if smaller > 0 else 0.0


def _correlation_ratio(group: Ints, y: Floats) -> float:
    """√ε² = √(1 − (variance within groups, unbiased) / (variance, unbiased)) of centred numbers."""
    n, groups = len(y), int(group.max()) + 1
    if n <= groups:
        return 0.0
    counts = np.bincount(group)
    total = float((y * y).sum())
    between = float((np.bincount(group, y) ** 2 / counts).sum())
    explained = 1.0 - (total - between) / (n - groups) * (n - 1) / total
    return math.sqrt(min(max(explained, 0.0), 1.0))
