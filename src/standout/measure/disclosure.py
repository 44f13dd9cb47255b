"""What the rows that agree with a target reveal about a sensitive column.

Rows without the sensitive value are left out: a gap is no second value that would hide the first.

A guess is the commonest value of the target's class, drawn at random if several are equally common. It is
counted twice. `guess` includes the target's own row, as an adversary sees it who knows that the target is in
the table; whoever is unique is then always guessed. `guess_from_others` leaves the target's row out: this is
what the table reveals even about people who are not in it. A target alone in the class is guessed by the
commonest value of all others. Both are compared with the commonest value of the table, which needs no
knowledge.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats, Ints, run_starts
from standout.core.errors import ParameterError
from standout.data.column import Column
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, rate
from standout.measure.equivalence import EquivalenceClasses, cell_codes, equivalence_classes, exact

ORDERED_KINDS = ("number", "date", "ordered")
"""Kinds whose t-closeness counts how far values are apart in their order."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What quasi-identifiers reveal about a sensitive column."""

    column: str  # the sensitive column
    quasi_identifiers: tuple[str, ...]  # the columns that the adversary knows
    known_rows: int  # number of rows with a sensitive value; all measures are about these
    distinct_l: int  # l of distinct l-diversity: the smallest number of different values in a class
    entropy_l: float  # l of entropy l-diversity: the smallest e^H of a class, with H the entropy of its values
    # c of recursive (c, 2)-diversity: the table has it for every larger c. It is the largest ratio of the commonest
    # value to all others in a class; ∞ if a class has one value only
    recursive_c: float
    # t of t-closeness: the largest distance of a class's distribution from that of the table. Numbers, dates and
    # ordered levels by the earth mover's distance over ranks, categories by half of Σ |q − p|
    t: float
    certain: Estimate  # share of rows in classes with one value only, so that the value is certain
    # the same without rows that are unique: others with the same values share the sensitive one
    certain_in_groups: Estimate
    guess: Estimate  # share of right guesses from the target's class, with the target's own row
    # share of right guesses from the other rows of the class, with Wilson's interval over targets
    guess_from_others: Estimate

    def __str__(self) -> str:
        baseline = self.guess.baseline or 0.0
        return (
            f"{self.column}: l = {self.distinct_l}, certain for {self.certain.value:.1%}, "
            f"guessed for {self.guess.value:.1%} ({baseline:.1%} without knowledge)"
        )


def attribute_disclosure(table: Release, quasi_identifiers: Sequence[str], sensitive: str) -> Disclosure:
    """l-diversity, t-closeness and right guesses of a sensitive column."""
    if sensitive in quasi_identifiers:
        raise ParameterError(f"{sensitive!r} must not be a quasi-identifier and sensitive")
    known = ~table.column(sensitive).is_missing
    if not known.any():
        raise ParameterError(f"the sensitive column {sensitive!r} has no values")
    if not known.all():
        rows = np.flatnonzero(known)
        table = Release.of_columns(tuple(table.column(name).rows(rows) for name in (*quasi_identifiers, sensitive)))
    column = table.column(sensitive)
    classes = equivalence_classes(table, quasi_identifiers)
    cells, n = _cells(classes, column), table.n_records
    baseline = float(cells.table.max()) / n
    values = np.diff(cells.first)
    is_certain = values == 1
    right, right_from_others = _right_guesses(cells, n)
    return Disclosure(
        column=sensitive,
        quasi_identifiers=tuple(quasi_identifiers),
        known_rows=n,
        distinct_l=int(values.min()),
        entropy_l=_smallest_entropy_l(cells),
        recursive_c=_recursive_c(cells),
        t=_closeness(cells, column),
        certain=exact(float(cells.sizes[is_certain].sum()) / n, n),
        certain_in_groups=exact(float(cells.sizes[is_certain & (cells.sizes > 1)].sum()) / n, n),
        guess=exact(right / n, n, baseline),
        guess_from_others=rate(right_from_others, n, baseline),
    )


class Cells(NamedTuple):
    """How many rows of each class have each value, for the pairs that occur, by class and then by value.

    value, rows    of each pair
    first          where the pairs of each class begin, and where the last ones end
    sizes          rows of each class
    table          rows of the whole table with each value
    """

    value: Ints
    rows: Ints
    first: Ints
    sizes: Ints
    table: Ints

    def by_class(self, numbers: Floats) -> Floats:
        """Sums of numbers of pairs over each class."""
        return np.asarray(np.add.reduceat(numbers, self.first[:-1]), np.float64)

    @property
    def owner(self) -> Ints:
        """The class of each pair."""
        return np.repeat(np.arange(len(self.sizes)), np.diff(self.first))


def _cells(classes: EquivalenceClasses, column: Column) -> Cells:
    codes, n_codes = cell_codes(column)
    pair = np.sort(classes.number.astype(np.int64) * n_codes + codes)
    starts = run_starts(pair)
    number, value = np.divmod(pair[starts], n_codes)
    return Cells(
        value=value,
        rows=np.diff(starts, append=len(pair)),
        first=np.append(run_starts(number), len(number)),
        sizes=classes.counts,
        table=np.bincount(codes, minlength=n_codes).astype(np.int64),
    )


def _smallest_entropy_l(cells: Cells) -> float:
    """The smallest e^H; a class with one value has 1."""
    share = cells.rows / cells.sizes[cells.owner]
    entropy = -cells.by_class(share * elementary.log(share))
    return float(elementary.exp([max(float(entropy.min()), 0.0)])[0])


def _recursive_c(cells: Cells) -> float:
    commonest = np.maximum.reduceat(cells.rows, cells.first[:-1])
    others = cells.sizes - commonest
    return float("inf") if (others == 0).any() else float((commonest / others).max())


def _right_guesses(cells: Cells, n: int) -> tuple[float, float]:
    """Expected number of right guesses with and without the target's own row."""
    whole = np.array([0, len(cells.table)])
    from_class = _chance_from_others(cells.rows, cells.first)
    from_table = _chance_from_others(cells.table, whole)[cells.value]
    chance = np.where(cells.sizes[cells.owner] == 1, from_table, from_class)
    commonest = np.maximum.reduceat(cells.rows, cells.first[:-1])
    return float(commonest.sum()), min(float((cells.rows * chance).sum()), float(n))


def _chance_from_others(rows: Ints, first: Ints) -> Floats:
    """Chance to guess a target with each value from the other rows of its group.

    Without the target, its value is the commonest only if it was the only commonest one. Values with one row
    fewer than it are then equally common.
    """
    starts, owner = first[:-1], np.repeat(np.arange(len(first) - 1), np.diff(first))
    most = np.maximum.reduceat(rows, starts)[owner]
    n_most = np.add.reduceat((rows == most).astype(np.int64), starts)[owner]
    n_next = np.add.reduceat((rows == most - 1).astype(np.int64), starts)[owner]
    wins = (rows == most) & (n_most == 1) & (most > 1)
    return np.where(wins, 1.0 / (1.0 + n_next), 0.0)


def _closeness(cells: Cells, column: Column) -> float:
    """The largest distance between the values of a class and those of the table."""
    share = cells.table / cells.table.sum()
    if column.kind in ORDERED_KINDS:
        return _largest_ordered_distance(cells, share)
    own = cells.rows / cells.sizes[cells.owner]
    usual = share[cells.value]
    absent = 1.0 - cells.by_class(usual)
    return float(((cells.by_class(np.abs(own - usual)) + absent) / 2).max())


def _largest_ordered_distance(cells: Cells, share: Floats) -> float:
    """Σ |Q_i − P_i| / (m − 1), the largest over classes, with Q and P the cumulative shares of m values.

    Q is constant between two values of a class, and P rises, so prefix sums of P give each part at once.
    """
    occurs = np.flatnonzero(cells.table)
    m = len(occurs)
    if m < 2:
        return 0.0
    cumulative = np.cumsum(share[occurs])
    prefix = np.append(0.0, np.cumsum(cumulative))
    low = np.searchsorted(occurs, cells.value)
    is_last = np.zeros(len(low), np.bool_)
    is_last[cells.first[1:] - 1] = True
    high = np.where(is_last, m, np.append(low[1:], 0))
    running = np.cumsum(cells.rows)
    before = np.append(0, running)[cells.first[:-1]][cells.owner]
    level = (running - before) / cells.sizes[cells.owner]
    middle = np.clip(np.searchsorted(cumulative, level), low, high)
    below = level * (middle - low) - (prefix[middle] - prefix[low])
    above = (prefix[high] - prefix[middle]) - level * (high - middle)
    start = prefix[low[cells.first[:-1]]]
    return float((cells.by_class(below + above) + start).max()) / (m - 1)
