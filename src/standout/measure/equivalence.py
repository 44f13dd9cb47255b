"""Equivalence classes: rows with equal values of some columns.

Cells are codes, so the codes of several columns are the digits of one whole number (mixed radix), and rows
are equal if their numbers are. Where the number would not fit into 64 bits, the classes found so far are
numbered first. Nothing is hashed without comparing, so the classes are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, read_only
from standout.core.errors import ParameterError
from standout.core.jit import Array, Int, kernel
from standout.core.rng import mix
from standout.data.column import Column
from standout.data.release import Release
from standout.evaluate.estimates import Estimate

# Compiled hash tables that number and count 64-bit keys.


U = np.uint64
ZERO = U(0)


def table_bits(n: int) -> int:
    """Size of a hash table for n keys, as a power of two: at most half of it is used."""
    return max(4, (2 * n - 1).bit_length())


@kernel
def number_keys(keys: Array, bits: Int, number: Array, counts: Array) -> Int:
    """Number the different keys in the order in which they first occur, and count each.

    keys      n different or equal 64-bit keys
    number    n, written: the number of each key
    counts    n, written: how often the keys 0, 1, … occur
    """
    slot_key, slot_number = np.empty(1 << bits, np.uint64), np.full(1 << bits, np.int32(-1))
    shift, mask, n_classes = U(64 - bits), U((1 << bits) - 1), 0
    for row in range(len(keys)):
        key = keys[row]
        slot = mix(key, ZERO) >> shift
        while slot_number[slot] >= 0 and slot_key[slot] != key:
            slot = (slot + U(1)) & mask
        if slot_number[slot] < 0:
            slot_key[slot], slot_number[slot] = key, n_classes
            counts[n_classes] = 0
            n_classes += 1
        number[row] = slot_number[slot]
        counts[slot_number[slot]] += 1
    return n_classes


Missing = Literal["equal", "any"]
MISSING: tuple[Missing, ...] = ("equal", "any")
LARGEST_KEY = 1 << 64
MOST_COMPARISONS = 500_000_000
"""Patterns of missing cells × classes that are compared at most; about a minute."""
MOST_PATTERNS = 1000
"""Each pattern is compared with each."""


class EquivalenceClasses(NamedTuple):
    """The class of each row, numbered in the order of their first rows, and the number of rows in each class."""

    number: NDArray[np.int32]
    counts: Ints


def equivalence_classes(table: Release, columns: Sequence[str]) -> EquivalenceClasses:
    """Rows with equal values of these columns; a missing cell equals only a missing cell.

    A set of categories is one value: two rows agree if they have the same members.
    """
    if not columns:
        raise ParameterError("columns must name at least one column")
    return _numbered(_radix_key([cell_codes(table.column(name)) for name in columns]))


def _radix_key(digits: Sequence[tuple[NDArray[Any], int]]) -> NDArray[np.uint64]:
    """One whole number for each row, equal for equal rows only."""
    key, n_values = np.zeros(len(digits[0][0]), np.uint64), 1
    for codes, n_codes in digits:
        if n_values * n_codes > LARGEST_KEY:
            number, counts = _numbered(key)
            key, n_values = number.astype(np.uint64), len(counts)
        key = key * np.uint64(n_codes) + codes.astype(np.uint64)
        n_values *= n_codes
    return key


def _numbered(key: NDArray[np.uint64]) -> EquivalenceClasses:
    """The classes of equal keys."""
    number, counts = np.empty(len(key), np.int32), np.empty(len(key), np.int64)
    n_classes = number_keys(key, table_bits(len(key)), number, counts)
    return EquivalenceClasses(read_only(number), read_only(counts[:n_classes].copy()))


def cell_codes(column: Column) -> tuple[NDArray[Any], int]:
    """One code for each cell, equal for equal cells, and the number of codes; missing cells have one too."""
    if column.starts is None:
        return column.codes, column.n_levels + 1
    length, digits = np.diff(column.starts), np.zeros(column.n_rows, np.uint64)
    for position in range(int(length.max(initial=0))):
        has = np.flatnonzero(length > position)
        member = np.zeros(column.n_rows, np.uint64)
        member[has] = column.codes[column.starts[has] + position].astype(np.uint64) + np.uint64(1)
        number, _ = _numbered(digits)
        digits = number.astype(np.uint64) * np.uint64(column.n_levels + 1) + member
    number, counts = _numbered(digits)
    return number, len(counts)


def matching_rows(table: Release, columns: Sequence[str], missing: Missing = "equal") -> Ints:
    """For each row the number of rows that agree with it in these columns, itself included."""
    if missing not in MISSING:
        raise ParameterError(f"missing must be one of {', '.join(MISSING)}, got {missing!r}")
    classes = equivalence_classes(table, columns)
    if missing == "equal":
        return read_only(classes.counts[classes.number])
    return _matches_with_gaps([table.column(name) for name in columns], classes)[classes.number]


def _matches_with_gaps(columns: Sequence[Column], classes: EquivalenceClasses) -> Ints:
    """For each class the number of rows that agree with it where neither has a gap.

    Classes are grouped by which columns they lack. Two groups are compared in the columns that neither lacks.
    """
    n_classes = len(classes.counts)
    first = np.full(n_classes, -1, np.int64)
    first[classes.number[::-1]] = np.arange(len(classes.number))[::-1]
    cells = [(codes[first], n_codes) for codes, n_codes in map(cell_codes, columns)]
    gaps = np.column_stack([column.is_missing[first] for column in columns])
    patterns, group = np.unique(gaps, axis=0, return_inverse=True)
    if len(patterns) * n_classes > MOST_COMPARISONS or len(patterns) > MOST_PATTERNS:
        raise ParameterError(
            f'missing="any" compares rows by which cells are missing; there are {len(patterns):,} such '
            'patterns: name fewer columns, or use missing="equal"'
        )
    members = [np.flatnonzero(group.ravel() == g) for g in range(len(patterns))]
    total = np.zeros(n_classes, np.int64)
    for g, own in enumerate(members):
        for h, other in enumerate(members):
            shared = np.flatnonzero(~(patterns[g] | patterns[h]))
            both = np.concatenate([own, other])
            digits = [(np.zeros(len(both), np.uint8), 1)]
            digits += [(cells[column][0][both], cells[column][1]) for column in shared]
            number, counts = _numbered(_radix_key(digits))
            rows = np.zeros(len(counts), np.int64)
            np.add.at(rows, number[len(own) :], classes.counts[other])
            total[own] += rows[number[: len(own)]]
    return total


# Which columns the adversary is assumed to know, and which ones must not be learned.


@dataclass(frozen=True, slots=True)
class KnownColumns:
    """The columns of a measurement, and why these."""

    quasi_identifiers: tuple[str, ...]  # the columns that the adversary knows
    sensitive: tuple[str, ...]  # the columns that must not be learned
    reason: str  # why these are the quasi-identifiers


def known_columns(
    table: Release, quasi_identifiers: Sequence[str] | None, sensitive: Sequence[str] | None
) -> KnownColumns:
    """The named columns; else those with the role; else, as quasi-identifiers, all that are not sensitive.

    A column without any value has nothing to learn, so it is sensitive only if it is named.
    """
    declared = [column for column in table.columns if column.role == "sensitive" and not column.is_missing.all()]
    secret = tuple(column.name for column in declared)
    if sensitive is not None:
        secret = _checked(table, sensitive, "sensitive")
    if quasi_identifiers is not None:
        known, reason = _checked(table, quasi_identifiers, "quasi_identifiers"), "named by the user"
        if not known:
            raise ParameterError("quasi_identifiers must name at least one column; default: None")
    elif table.columns_with_role("quasi-identifier"):
        known, reason = table.columns_with_role("quasi-identifier"), "declared as quasi-identifiers in the schema"
        known = tuple(name for name in known if name not in secret)
    else:
        known = tuple(name for name in table.column_names if name not in secret)
        reason = "no column is declared as a quasi-identifier, so all that are not sensitive count as known"
    if both := sorted(set(known) & set(secret)):
        raise ParameterError(f"a column is either a quasi-identifier or sensitive, not both: {both[0]!r}")
    if not known:
        raise ParameterError("sensitive names all columns: at least one must be left that others may know")
    return KnownColumns(known, secret, reason)


def _checked(table: Release, names: Sequence[str], parameter: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise ParameterError(f"{parameter} must be a list of column names, got the text {names!r}")
    if len(set(names)) < len(names):
        raise ParameterError(f"{parameter} must not name a column twice")
    for name in names:
        table.column_position(name)
    return tuple(names)


# How many rows agree with a person's row: k, uniqueness, prosecutor and marketer risk.
#
# The prosecutor knows that the target is in the table, and knows the target's values of some columns. If f rows
# have these values, a guess among them is right with probability 1/f. The marketer guesses for everyone, and
# is right for the mean of 1/f over all rows: the number of classes divided by the number of rows.
#
# These numbers count all rows of the table, so they are exact: both ends of an interval are the number itself.


SIZES = (2, 3, 5, 10)
"""Share of rows in classes smaller than these."""
THRESHOLDS = (0.05, 0.1, 0.2, 0.5)
"""Share of rows with a risk above these."""


@dataclass(frozen=True, slots=True)
class SizeCount:
    """How many rows agree with `size` rows (themselves included)."""

    size: int
    rows: int


@dataclass(frozen=True, slots=True)
class IdentityRisk:
    """How well the values of some columns single out the rows of a table."""

    columns: tuple[str, ...]  # the columns that the adversary knows
    missing: Missing  # what a missing cell agrees with: "equal" (missing cells only) or "any" (every value)
    k: int  # the smallest number of rows that agree with a row, itself included: the table is k-anonymous
    unique: Estimate  # share of rows that no other row agrees with
    smaller: tuple[tuple[int, Estimate], ...]  # for each size s, the share of rows that fewer than s rows agree with
    highest: Estimate  # the prosecutor's chance for the row at most risk, 1/k
    mean: Estimate  # the mean of the prosecutor's chances 1/f, which is the marketer's risk
    above: tuple[tuple[float, Estimate], ...]  # for each threshold, the share of rows with a chance 1/f above it
    sizes: tuple[SizeCount, ...]  # the distribution of f: how many rows agree with f rows

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.unique.n

    def __str__(self) -> str:
        columns = ", ".join(self.columns)
        return f"k = {self.k:,}, {self.unique.value:.1%} unique, marketer risk {self.mean.value:.1%} ({columns})"


def exact(value: float, n: int, baseline: float | None = None) -> Estimate:
    """A number that counts all n rows: its interval is the number itself."""
    return Estimate(value, value, value, n, baseline)


def identity_risk(table: Release, columns: Sequence[str], missing: Missing = "equal") -> IdentityRisk:
    """k, uniqueness and prosecutor risk of a set of columns, counted over all rows."""
    n = table.n_records
    size, rows = np.unique(matching_rows(table, columns, missing), return_counts=True)
    chance = 1.0 / size

    def share(chosen: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Estimate:
        return exact(int(rows[chosen].sum()) / n, n, 1 / n)

    return IdentityRisk(
        columns=tuple(columns),
        missing=missing,
        k=int(size[0]),
        unique=share(size < 2),
        smaller=tuple((limit, share(size < limit)) for limit in SIZES),
        highest=exact(float(chance[0]), n, 1 / n),
        mean=exact(float((rows * chance).sum()) / n, n, 1 / n),
        above=tuple((limit, share(chance > limit)) for limit in THRESHOLDS),
        sizes=tuple(SizeCount(int(s), int(count)) for s, count in zip(size, rows, strict=True)),
    )
