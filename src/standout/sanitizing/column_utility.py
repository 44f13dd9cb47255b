"""What is left of the columns of a sanitized release: marginals, associations, information, and a prediction task."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError
from standout.core.progress import Progress
from standout.core.rng import generator
from standout.data.column import Column
from standout.data.release import Release
from standout.evaluate.estimates import CONFIDENCE, Estimate, student
from standout.know.sanitized import Channel, Sanitized
from standout.sanitizing.prediction import INSTALL, Prediction, default_target, predict_target
from standout.sanitizing.sanitize import same_cells

# What is left of each column of a sanitized release: its marginal, its cells, its information in bits.
#
# marginal change   half of Σ |share of a level in the release − share in the original|, the total variation
#                   distance. Levels that were merged are compared merged: the original goes through the map of
#                   the steps first. Emptied values count as changed, and a dropped column has 1.
# cells kept        share of the original's known cells whose row shows the same value
# bits              entropy of a cell, an empty one counted as a value, H(X). A released cell says I(X; Y) of
#                   it, the mutual information by what is known of the steps, times the share of rows left.


@dataclass(frozen=True, slots=True)
class ColumnUtility:
    """What is left of one column; all numbers are counts over all rows, or follow from the steps.

    `cells` is the number of known cells of the original, and `cells_kept` of those that are shown unchanged.
    `bits_before` is the entropy of a cell of the original, and `bits_kept` what a released row says about it.
    """

    name: str
    is_dropped: bool
    marginal_change: float
    cells: int
    cells_kept: int
    bits_before: float
    bits_kept: float


def column_utilities(safer: Sanitized) -> tuple[ColumnUtility, ...]:
    """What is left of each column of the original."""
    return tuple(_column_utility(safer, column) for column in safer.original.columns)


def _column_utility(safer: Sanitized, old: Column) -> ColumnUtility:
    cells, before = int(np.count_nonzero(~old.is_missing)), _bits(old)
    if old.name not in safer.column_names:
        return ColumnUtility(old.name, True, 1.0, cells, 0, before, 0.0)
    new = safer.column(old.name)
    channel = safer.channels.get(old.name, Channel(np.arange(old.n_levels)))
    is_same = same_cells(old.rows(safer.original_row), new)
    kept = int(np.count_nonzero(is_same & ~new.is_missing))
    rows_left = safer.n_records / safer.original.n_records
    bits = before * kept / max(cells, 1) if old.starts is not None else _shown_bits(old, new, channel)
    return ColumnUtility(old.name, False, _marginal_change(old, new, channel), cells, kept, before, rows_left * bits)


def _marginal_change(old: Column, new: Column, channel: Channel) -> float:
    """Total variation distance; emptied values have a place of their own, which no released cell has."""
    place = np.where(channel.released == new.missing, new.n_levels + 1, channel.released)
    place = np.append(place, new.n_levels)
    before = np.bincount(place, old.counts, new.n_levels + 2)
    after = np.append(new.counts, 0)
    return float(np.abs(before / max(before.sum(), 1) - after / max(after.sum(), 1)).sum()) / 2


def _shares(column: Column) -> Floats:
    return np.asarray(column.counts / max(int(column.counts.sum()), 1), np.float64)


def _surprise(share: Floats) -> Floats:
    """−p · log2 p; 0 for p = 0."""
    return np.asarray(-share * elementary.log2(np.where(share > 0, share, 1.0)))


def _bits(column: Column) -> float:
    """Entropy of a cell. Of a set: sum of the entropies of its members."""
    if column.starts is None:
        return float(_surprise(_shares(column)).sum())
    present = np.asarray(column.counts[:-1] / column.n_rows, np.float64)
    return float((_surprise(present) + _surprise(1.0 - present)).sum())


def _shown_bits(old: Column, new: Column, channel: Channel) -> float:
    """I(X; Y) = H(Y) − H(Y | X) of an original cell X and the released one Y.

    Y is empty with probability `suppressed`, else with probability `replaced` anybody's value, else X's own.
    """
    share, lost, drawn = _shares(old), channel.suppressed, channel.replaced
    own = np.append(channel.released, new.missing)
    anybody = np.bincount(own, share, new.n_levels + 1)
    noise = np.asarray((1.0 - lost) * drawn * anybody, np.float64)
    noise[new.missing] += lost
    released = np.asarray(noise + (1.0 - lost) * (1.0 - drawn) * anybody, np.float64)
    certain = np.asarray(noise[own] + (1.0 - lost) * (1.0 - drawn), np.float64)
    given_x = float(_surprise(noise).sum()) - _surprise(noise)[own] + _surprise(certain)
    return max(float(_surprise(released).sum()) - float((share * given_x).sum()), 0.0)


# How much the associations of pairs of columns changed.
#
# number, date or ordered × the same    |Spearman's rank correlation|
# category or boolean × the same        Cramér's V, corrected for chance [Bergsma 2013]
# one of each                           correlation ratio η of the ranks, corrected for chance [ε², Kelley 1935]
#
# All are from 0 to 1. Rows in which one of the two cells is empty do not count. A pair with a dropped column
# has 0 afterwards. Sets are left out.


ROWS, GROUPS = 10_000, 8
"""Rows of the sample, and groups of rows that the jackknife leaves out in turn."""


@dataclass(frozen=True, slots=True)
class AssociationChange:
    """Change of the associations of all pairs.

    The baseline of the mean is the mean association of the original: all of it would be lost. The largest change has
    no interval; `pair` is its pair of columns. `rows` is the number of rows of the original that were used.
    """

    mean: Estimate
    largest: Estimate
    pair: tuple[str, str]
    pairs: int
    rows: int


def association_change(safer: Sanitized, seed: int) -> AssociationChange | None:
    """Compare all pairs of columns; None if there are no two columns other than sets.

    A large table is measured on a sample of people. The interval is then that of a jackknife over groups of
    them; a whole table has no sampling error.
    """
    names = [column.name for column in safer.original.columns if column.starts is None]
    pairs = list(combinations(names, 2))
    if not pairs:
        return None
    people = generator(seed, "association rows").permutation(safer.original.n_records)[:ROWS]
    change, before = _changes(safer, people, pairs)
    largest = int(change.argmax())
    mean, n = float(change.mean()), len(people)
    low = high = math.nan
    if n < safer.original.n_records:
        reach = _jackknife_reach(safer, people, pairs)
        low, high = max(mean - reach, 0.0), mean + reach
    return AssociationChange(
        mean=Estimate(mean, low, high, n, float(before.mean())),
        largest=Estimate(float(change[largest]), math.nan, math.nan, n, None),
        pair=pairs[largest],
        pairs=len(pairs),
        rows=n,
    )


def _jackknife_reach(safer: Sanitized, people: Ints, pairs: Sequence[tuple[str, str]]) -> float:
    """Half of the 95 % interval: the mean without each group of people in turn."""
    group = np.arange(len(people)) % GROUPS
    touched = [pair for pair in pairs if not _is_untouched(safer, pair)]
    if not touched:
        return 0.0
    sums = [_changes(safer, people[group != left], touched)[0].sum() for left in range(GROUPS)]
    means = np.array(sums) / len(pairs)
    error = math.sqrt((GROUPS - 1) / GROUPS * float(((means - means.mean()) ** 2).sum()))
    return student(GROUPS - 1, CONFIDENCE) * error


def _changes(safer: Sanitized, people: Ints, pairs: Sequence[tuple[str, str]]) -> tuple[Floats, Floats]:
    """Absolute change of each pair, and its association in the original."""
    is_used = np.zeros(safer.original.n_records, np.bool_)
    is_used[people] = True
    old = columns_at(safer.original, np.flatnonzero(is_used))
    new = columns_at(safer, np.flatnonzero(is_used[safer.original_row]))
    before = np.array([association(old[a], old[b]) for a, b in pairs])
    after = before.copy()
    for place, (a, b) in enumerate(pairs):
        if not _is_untouched(safer, (a, b)):
            after[place] = association(new[a], new[b]) if a in new and b in new else 0.0
    return np.abs(after - before), before


def _is_untouched(safer: Sanitized, pair: tuple[str, str]) -> bool:
    """Whether the release has all cells of both columns as they were."""
    is_whole = safer.n_records == safer.original.n_records
    return is_whole and all(name in safer.column_names and name not in safer.channels for name in pair)


def columns_at(table: Release, rows: Ints) -> dict[str, Column]:
    """Some rows of all columns other than sets, by name."""
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


def column_measures(safer: Sanitized, target: str | None, people: int, seed: int, progress: Progress) -> dict[str, Any]:
    """The fields of `Utility` that are about columns."""
    columns = column_utilities(safer)
    progress("measuring utility", 1, 3)
    associations = association_change(safer, seed)
    progress("measuring utility", 2, 3)
    prediction, note = _prediction(safer, target, people, seed)
    marginals = [column.marginal_change for column in columns]
    rows = safer.original.n_records
    cells = sum(column.cells for column in columns)
    bits = sum(column.bits_before for column in columns)
    information = sum(column.bits_kept for column in columns) / bits if bits else 1.0
    return {
        "kept": _counted(information, rows, 0.0),
        "information_kept": _counted(information, rows, 0.0),
        "cells_kept": _counted(sum(column.cells_kept for column in columns) / max(cells, 1), cells, 0.0),
        "rows_kept": _counted(safer.n_records / rows, rows, 0.0),
        "marginal_change": _counted(sum(marginals) / len(marginals), rows),
        "largest_marginal_change": _counted(max(marginals), rows),
        "association_change": None if associations is None else associations.mean,
        "largest_association_change": None if associations is None else associations.largest,
        "accuracy": None if prediction is None else prediction.accuracy,
        "accuracy_before": None if prediction is None else prediction.accuracy_before,
        "accuracy_loss": None if prediction is None else prediction.accuracy_loss,
        "kept_accuracy": None if prediction is None else prediction.kept,
        "columns": columns,
        "association_pair": None if associations is None else associations.pair,
        "prediction": prediction,
        "prediction_note": note,
    }


def _prediction(safer: Sanitized, target: str | None, people: int, seed: int) -> tuple[Prediction | None, str]:
    """The prediction task, or why it was not run."""
    name = default_target(safer) if target is None else target
    if name is None:
        return None, "no sensitive column is released: name the target of the prediction task"
    try:
        prediction = predict_target(safer, name, people, seed)
    except ParameterError as error:
        if target is not None and not str(error).startswith(INSTALL):
            raise
        return None, str(error)
    return prediction, "" if prediction else f"too few rows have different values of {name!r} to learn from"


def _counted(value: float, n: int, baseline: float | None = None) -> Estimate:
    """A count over all rows: it has no interval."""
    return Estimate(value, math.nan, math.nan, n, baseline)
