"""What is left of the columns of a sanitized release: marginals, associations, information, and a prediction task."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError, install_command
from standout.core.progress import Progress
from standout.core.rng import generator, key
from standout.data.column import Column
from standout.data.release import Release
from standout.evaluate.estimates import CONFIDENCE, Estimate, rate, student
from standout.know.sanitized import Channel, Sanitized
from standout.sanitizing.draft import LevelChange, recode
from standout.sanitizing.recommender import InfluenceEstimate
from standout.sanitizing.steps import same_cells

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
    """What is left of one column; all numbers are counts over all rows, or follow from the steps."""

    name: str
    is_dropped: bool
    marginal_change: float
    cells: int
    cells_kept: int
    bits_before: float
    bits_kept: float


def column_utility(safer: Sanitized, old: Column) -> ColumnUtility:
    """What is left of a column of the original."""
    cells, before = int(np.count_nonzero(~old.is_missing)), column_bits(old)
    if old.name not in safer.column_names:
        return ColumnUtility(old.name, True, 1.0, cells, 0, before, 0.0)
    new = safer.column(old.name)
    channel = _channel(safer, old)
    is_same = same_cells(old.rows(safer.original_row), new)
    kept = int(np.count_nonzero(is_same & ~new.is_missing))
    rows_left = safer.n_records / safer.original.n_records
    bits = before * kept / max(cells, 1) if old.starts is not None else _shown_bits(old, new, channel)
    # Total variation distance; emptied values have a place of their own, which no released cell has.
    place = np.append(np.where(channel.released == new.missing, new.n_levels + 1, channel.released), new.n_levels)
    shares = np.bincount(place, old.counts, new.n_levels + 2), np.append(new.counts, 0)
    marginals = [counts / max(counts.sum(), 1) for counts in shares]
    change = float(np.abs(marginals[0] - marginals[1]).sum()) / 2
    return ColumnUtility(old.name, False, change, cells, kept, before, rows_left * bits)


def _channel(safer: Sanitized, old: Column) -> Channel:
    return safer.channels.get(old.name, Channel(np.arange(old.n_levels)))


def _surprise(share: Floats) -> Floats:
    """−p · log2 p; 0 for p = 0."""
    return np.asarray(-share * elementary.log2(np.where(share > 0, share, 1.0)))


def column_bits(column: Column) -> float:
    """Entropy of a cell, an empty one counted as a value. Of a set: sum of the entropies of its members."""
    share = np.asarray(column.counts / max(column.n_rows, 1), np.float64)
    if column.starts is not None:
        share = np.concatenate([share[:-1], 1.0 - share[:-1]])
    return math.fsum(_surprise(share))


def _shown_bits(old: Column, new: Column, channel: Channel) -> float:
    """I(X; Y) = H(Y) − H(Y | X) of an original cell X and the released one Y.

    Y is empty with probability `suppressed`, else with probability `replaced` anybody's value, else X's own.
    """
    share, lost, drawn = old.counts / max(old.n_rows, 1), channel.suppressed, channel.replaced
    own = np.append(channel.released, new.missing)
    anybody = np.bincount(own, share, new.n_levels + 1)
    noise = np.asarray((1.0 - lost) * drawn * anybody, np.float64)
    noise[new.missing] += lost
    released = np.asarray(noise + (1.0 - lost) * (1.0 - drawn) * anybody, np.float64)
    certain = np.asarray(noise[own] + (1.0 - lost) * (1.0 - drawn), np.float64)
    given_x = float(_surprise(noise).sum()) - _surprise(noise)[own] + _surprise(certain)
    return max(math.fsum(_surprise(released)) - math.fsum(share * given_x), 0.0)


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
Pair = tuple[str, str]
"""Names of two columns."""


def association_change(safer: Sanitized, seed: int) -> tuple[dict[str, Estimate | None], Pair | None]:
    """Changes over all pairs of columns other than sets, by a jackknife over groups of people, and the largest."""
    names = [column.name for column in safer.original.columns if column.starts is None]
    pairs = list(combinations(names, 2))
    if not pairs:
        return {}, None
    people = generator(seed, "association rows").permutation(safer.original.n_records)[:ROWS]
    before = associations(safer.original, np.sort(people), pairs)
    change = association_changes(safer, people, before)
    largest, mean, n = int(change.argmax()), float(change.mean()), len(people)
    low = high = math.nan
    if n < safer.original.n_records:
        group, touched = np.arange(n) % GROUPS, [pair for pair in pairs if not _is_untouched(safer, pair)]
        without = [people[group != left] for left in range(GROUPS)]
        befores = [associations(safer.original, np.sort(some), touched) for some in without]
        sums = [association_changes(safer, some, old).sum() for some, old in zip(without, befores, strict=True)]
        means = np.array(sums) / len(pairs)
        error = math.sqrt((GROUPS - 1) / GROUPS * float(((means - means.mean()) ** 2).sum()))
        reach = student(GROUPS - 1, CONFIDENCE) * error
        low, high = max(mean - reach, 0.0), mean + reach
    measures: dict[str, Estimate | None] = {
        "association_change": Estimate(mean, low, high, n, float(np.mean(list(before.values())))),
        "largest_association_change": counted(float(change[largest]), n),
    }
    return measures, pairs[largest]


def associations(table: Release, rows: Ints, pairs: Iterable[Pair]) -> dict[Pair, float]:
    """Association of each pair of columns in these rows; 0 if one of the two was dropped."""
    columns = columns_at(table, rows)
    return {(a, b): association(columns[a], columns[b]) if a in columns and b in columns else 0.0 for a, b in pairs}


def association_changes(safer: Sanitized, people: Ints, before: Mapping[Pair, float]) -> Floats:
    """Absolute change of each pair, given its association in the original, among the rows of these people."""
    rows = np.flatnonzero(np.isin(safer.original_row, people))
    after = associations(safer, rows, (pair for pair in before if not _is_untouched(safer, pair)))
    return np.array([abs(after.get(pair, old) - old) for pair, old in before.items()])


def _is_untouched(safer: Sanitized, pair: Pair) -> bool:
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
    x_has_order, y_has_order = (column.kind in ("number", "date", "ordered") for column in (a, b))
    if x_has_order and y_has_order:
        p, q = _ranks(x), _ranks(y)
        return abs(float((p * q).sum()) / math.sqrt(float((p * p).sum()) * float((q * q).sum())))
    if not x_has_order and not y_has_order:
        return _cramers_v(x, y)
    return _correlation_ratio(x, _ranks(y)) if y_has_order else _correlation_ratio(y, _ranks(x))


def _dense(codes: Ints) -> Ints:
    """Codes from 0 without gaps, in the same order."""
    occurs = np.bincount(codes) > 0
    return np.asarray((np.cumsum(occurs) - 1)[codes])


def _ranks(codes: Ints) -> Floats:
    """Mean ranks of dense codes, centred."""
    counts = np.bincount(codes)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[codes]
    return np.asarray(ranks - (len(codes) + 1) / 2)


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


# A prediction task: learn from the released table to predict a column of people who were held out.
#
# Up to `people` people, at most a fifth, are drawn from the ORIGINAL and left out of all training. One model learns
# from the original rows of the others, one from their released rows. A held-out person's cells go through the map of
# the steps first: who uses a release with age bands puts 37 into its band.
#
# The classes are the ten commonest values of the target, and one for all others; of a number, date or ordered column
# with more values: above the median, or not. A released value that represents several values stands for the commonest
# class among them, so merging values of the target never helps. One thread: results do not depend on the machine.


INSTALL = "the prediction task needs scikit-learn: "
"""Begin of the error without it; the command that installs it follows."""
CLASSES, CATEGORIES, MEMBERS = 10, 250, 32
"""Most classes of the target, most categories of a column (the rest is one), most members of a set."""
TRAINING_ROWS = 50_000
PART = 5
"""At most one in 5 people is held out."""


class Prediction(NamedTuple):
    """What a model of the released columns predicted for held-out people."""

    target: str
    classes: int
    trained_on: int


def predict_target(
    safer: Sanitized, target: str, people: int, seed: int
) -> tuple[dict[str, Estimate | None], Prediction | None]:
    """Measures of the task, and what was predicted; none if the target does not vary."""
    if find_spec("sklearn") is None:
        raise ParameterError(INSTALL + install_command("prediction"))
    original, column = safer.original, safer.original.column(target)
    if target not in safer.column_names:
        raise ParameterError(f"target {target!r} was dropped from the release: choose another column")
    if column.starts is not None:
        raise ParameterError(f"target {target!r} is a set: choose a column with one value per cell")
    class_of = _classes(column)
    truth = np.append(class_of, -1)[column.codes]
    order = generator(seed, "prediction people").permutation(original.n_records)
    known = order[truth[order] >= 0]
    tested, rest = np.split(known, [min(people, len(known) // PART)])
    learners = np.sort(rest[:TRAINING_ROWS])
    is_learner: Bools = np.zeros(original.n_records, np.bool_)
    is_learner[learners] = True
    released = np.flatnonzero(is_learner[safer.original_row])
    released = released[np.argsort(safer.original_row[released])]  # in the order of the original
    labels = _released_classes(safer, column, class_of)[safer.column(target).codes[released]]
    released, labels = released[labels >= 0], labels[labels >= 0]
    if not len(tested) or len(set(truth[learners].tolist())) < 2 or not len(released):
        return {}, None
    old = [(each, each.rows(learners), each.rows(tested)) for each in original.columns if each.name != target]
    new = []
    for each in (each for each in safer.columns if each.name != target):
        source = original.column(each.name)
        change = LevelChange(each.kind, each.levels, _channel(safer, source).released)
        new.append((each, each.rows(released), recode(source.rows(tested), change)))
    before = _correct(old, truth[learners], truth[tested], seed)
    after = _correct(new, labels, truth[tested], seed)
    guess = (truth[tested] == np.bincount(truth[learners]).argmax()).astype(np.float64)
    means = [InfluenceEstimate.mean(right) for right in (before, after, guess)]
    base = means[2].value
    measures = {
        "accuracy": rate(int(after.sum()), len(after), base),
        "accuracy_before": rate(int(before.sum()), len(before), base),
        "accuracy_loss": (means[0] - means[1]).estimate(0.0),
        "kept_accuracy": (means[1] - means[2]).share_of(means[0] - means[2]),
    }
    return measures, Prediction(target, len(set(class_of.tolist())), len(released))


def _classes(column: Column) -> Ints:
    """Class of each level of the target."""
    counts = column.counts[:-1]
    if column.n_levels <= CLASSES:
        return np.arange(column.n_levels)
    if column.kind in ("number", "date", "ordered"):
        below = np.cumsum(counts) - counts
        return np.asarray(below >= counts.sum() / 2, np.int64)
    rank = np.empty(column.n_levels, np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(column.n_levels)
    return np.minimum(rank, CLASSES)


def _released_classes(safer: Sanitized, column: Column, class_of: Ints) -> Ints:
    """For each released level of the target, the commonest class of the values that became it; -1: none."""
    n_classes, missing = int(class_of.max()) + 1, safer.column(column.name).missing
    counts = np.zeros((missing + 1, n_classes), np.int64)
    np.add.at(counts, (_channel(safer, column).released, class_of), column.counts[:-1])
    commonest = np.where(counts.any(axis=1), counts.argmax(axis=1), -1)
    commonest[missing] = -1
    return commonest


def _features(columns: Iterable[tuple[Column, Column]]) -> tuple[Floats, list[bool]]:
    """Wanted cells of columns (all cells, wanted ones) as numbers, an empty one as NaN, and which are categories."""
    parts, is_category = [], []
    for column, cells in columns:
        by_count = np.argsort(-column.counts[:-1], kind="stable")
        if cells.starts is not None:  # one column for each of the commonest members: 1 if the set has it
            members = by_count[:MEMBERS]
            place = np.full(column.n_levels, -1, np.int64)
            place[members] = np.arange(len(members))
            owner, member = np.repeat(np.arange(cells.n_rows), np.diff(cells.starts)), place[cells.codes]
            part = np.zeros((cells.n_rows, len(members)))
            part[owner[member >= 0], member[member >= 0]] = 1.0
        else:
            numbers = np.arange(column.n_levels, dtype=np.float64)
            if column.kind in ("number", "date"):
                numbers = np.asarray(column.levels, np.float64)
            elif column.kind != "ordered":
                numbers[by_count] = np.minimum(np.arange(column.n_levels), CATEGORIES)
            part = np.append(numbers, np.nan)[cells.codes][:, np.newaxis]
        parts.append(part)
        is_category += [column.kind in ("category", "boolean")] * part.shape[1]
    return np.concatenate(parts, axis=1), is_category


def _correct(columns: Sequence[tuple[Column, Column, Column]], labels: Ints, truth: Ints, seed: int) -> Floats:
    """1 for each tested person whose class is predicted, else 0; of each column all cells, the learned, the tested."""
    train, is_category = _features((column, learned) for column, learned, _ in columns)
    test, _ = _features((column, tested) for column, _, tested in columns)
    useful = ~np.isnan(train).all(axis=0)  # an empty column has no bins
    if len(set(labels.tolist())) < 2 or not useful.any():
        return np.asarray(truth == np.bincount(labels).argmax(), np.float64)
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=50,
        max_leaf_nodes=15,
        categorical_features=np.array(is_category)[useful],
        early_stopping=False,
        random_state=int(key(seed, "prediction model") >> np.uint64(33)),
    )
    with threadpool_limits(1):
        predicted = model.fit(train[:, useful], labels).predict(test[:, useful])
    return np.asarray(predicted == truth, np.float64)


def column_measures(
    safer: Sanitized, target: str | None, people: int, seed: int, progress: Progress
) -> tuple[dict[str, Estimate | None], dict[str, Any]]:
    """The measures of columns, and the other fields of `Utility` about them."""
    columns = tuple(column_utility(safer, column) for column in safer.original.columns)
    progress("measuring utility", 1, 3)
    associations, pair = association_change(safer, seed)
    progress("measuring utility", 2, 3)
    sensitive = [name for name in safer.original.columns_with_role("sensitive") if name in safer.column_names]
    name = next((name for name in sensitive if safer.column(name).starts is None), None) if target is None else target
    accuracy, prediction = dict[str, Estimate | None](), None
    note = "no sensitive column is released: name the target of the prediction task"
    if name is not None:
        try:
            accuracy, prediction = predict_target(safer, name, people, seed)
            note = "" if prediction else f"too few rows have different values of {name!r} to learn from"
        except ParameterError as error:
            if target is not None and not str(error).startswith(INSTALL):
                raise
            note = str(error)
    marginals, rows = [column.marginal_change for column in columns], safer.original.n_records
    cells, bits = (sum(getattr(column, name) for column in columns) for name in ("cells", "bits_before"))
    information = counted(sum(column.bits_kept for column in columns) / bits if bits else 1.0, rows, 0.0)
    measures = {
        "kept": information,
        "information_kept": information,
        "cells_kept": counted(sum(column.cells_kept for column in columns) / max(cells, 1), cells, 0.0),
        "rows_kept": counted(safer.n_records / rows, rows, 0.0),
        "marginal_change": counted(sum(marginals) / len(marginals), rows),
        "largest_marginal_change": counted(max(marginals), rows),
    }
    details = {"columns": columns, "association_pair": pair, "prediction": prediction, "prediction_note": note}
    return measures | associations | accuracy, details


def counted(value: float, n: int, baseline: float | None = None) -> Estimate:
    """A count over all rows: it has no interval."""
    return Estimate(value, math.nan, math.nan, n, baseline)
