"""A prediction task: learn from the released table to predict a column of people who were held out.

Up to `people` people, at most a fifth, are drawn from the ORIGINAL and left out of all training. One model
learns from the original rows of the others, one from their released rows. Both predict the target of the
held-out people, and their true values in the original decide. To ask the second model, a held-out person's
cells go through the map of the steps: who uses a release with age bands puts 37 into its band.

The classes are the ten commonest values of the target in the original, and one for all others; of a number,
date or ordered column with more than ten values: above the median, or not. A released value that represents
several values stands for the commonest class among them. So merging values of the target never helps.

The model is gradient boosting over binned columns (scikit-learn's HistGradientBoostingClassifier): it takes
categories and empty cells as they are. It runs on one thread, so that results do not depend on the machine.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError, install_command
from standout.core.rng import generator, key
from standout.data.column import Column
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, rate
from standout.know.sanitized import Channel, Sanitized
from standout.sanitizing.level_change import LevelChange, recode
from standout.sanitizing.recommender import InfluenceEstimate

INSTALL = "the prediction task needs scikit-learn: "
"""Begin of the error without it; the command that installs it follows."""
CLASSES, CATEGORIES, MEMBERS = 10, 250, 32
"""Most classes of the target, most categories of a column (the rest is one), most members of a set."""
TRAINING_ROWS = 50_000
PART = 5
"""At most one in 5 people is held out."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """How well the released columns predict a column of held-out people.

    `accuracy` is the share of held-out people whose class the model of the release predicts (baseline: always guessing
    the commonest class), and `accuracy_before` the same for the model of the original. `kept` is the share of its gain
    over the baseline that is left; None if there is no gain beyond sampling error.
    """

    target: str
    accuracy: Estimate
    accuracy_before: Estimate
    accuracy_loss: Estimate
    kept: Estimate | None
    classes: int
    trained_on: int


def default_target(safer: Sanitized) -> str | None:
    """The first sensitive column that is released and is not a set; None if there is none."""
    released = [name for name in safer.original.columns_with_role("sensitive") if name in safer.column_names]
    return next((name for name in released if safer.column(name).starts is None), None)


def predict_target(safer: Sanitized, target: str, people: int, seed: int) -> Prediction | None:
    """Run the task; None if nothing can be learned, because the target does not vary among the rest.

    Raises
    ------
    ParameterError
        If scikit-learn is not installed, or the target is dropped or a set.
    """
    if find_spec("sklearn") is None:
        raise ParameterError(INSTALL + install_command("prediction"))
    column = _checked(safer, target)
    class_of = _classes(column)
    truth = np.append(class_of, -1)[column.codes]
    order = generator(seed, "prediction people").permutation(safer.original.n_records)
    known = order[truth[order] >= 0]
    tested, rest = np.split(known, [min(people, len(known) // PART)])
    learners = np.sort(rest[:TRAINING_ROWS])
    released = _released_rows(safer, learners)
    labels = _released_classes(safer, column, class_of)[safer.column(target).codes[released]]
    released, labels = released[labels >= 0], labels[labels >= 0]
    if not len(tested) or len(set(truth[learners].tolist())) < 2 or not len(released):
        return None
    others = [other for other in safer.columns if other.name != target]
    before = _correct(
        _Rows.of(safer.original, safer.original.columns, target, learners), truth[learners],
        _Rows.of(safer.original, safer.original.columns, target, tested), truth[tested], seed,
    )  # fmt: skip
    after = _correct(
        _Rows.of(safer, others, target, released), labels, _Rows.through(safer, others, tested),
        truth[tested], seed,
    )  # fmt: skip
    guess = (truth[tested] == np.bincount(truth[learners]).argmax()).astype(np.float64)
    return _prediction(target, before, after, guess, len(set(class_of.tolist())), len(released))


def _prediction(target: str, before: Floats, after: Floats, guess: Floats, classes: int, trained_on: int) -> Prediction:
    original, released, base = (InfluenceEstimate.mean(right) for right in (before, after, guess))
    gain = original - base
    has_gain = gain.value > 0 and gain.estimate().low > 0
    return Prediction(
        target=target,
        accuracy=rate(int(after.sum()), len(after), base.value),
        accuracy_before=rate(int(before.sum()), len(before), base.value),
        accuracy_loss=(original - released).estimate(0.0),
        kept=((released - base) / gain).estimate(0.0) if has_gain else None,
        classes=classes,
        trained_on=trained_on,
    )


def _checked(safer: Sanitized, target: str) -> Column:
    column = safer.original.column(target)
    if target not in safer.column_names:
        raise ParameterError(f"target {target!r} was dropped from the release: choose another column")
    if column.starts is not None:
        raise ParameterError(f"target {target!r} is a set: choose a column with one value per cell")
    return column


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
    channel = _channel(safer, column)
    n_classes, missing = int(class_of.max()) + 1, safer.column(column.name).missing
    counts = np.zeros((missing + 1, n_classes), np.int64)
    np.add.at(counts, (channel.released, class_of), column.counts[:-1])
    commonest = np.where(counts.any(axis=1), counts.argmax(axis=1), -1)
    commonest[missing] = -1
    return commonest


def _channel(safer: Sanitized, column: Column) -> Channel:
    return safer.channels.get(column.name, Channel(np.arange(column.n_levels)))


def _released_rows(safer: Sanitized, people: Ints) -> Ints:
    """Released rows of these people, in the order of the original."""
    is_one: Bools = np.zeros(safer.original.n_records, np.bool_)
    is_one[people] = True
    rows = np.flatnonzero(is_one[safer.original_row])
    return rows[np.argsort(safer.original_row[rows])]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Cells as numbers, an empty one as NaN, and which of the columns are categories."""

    cells: NDArray[np.float64]
    is_category: list[bool]

    @classmethod
    def of(cls, table: Release, columns: Any, target: str, rows: Ints) -> "_Rows":
        """Rows of a table, without the target."""
        parts = [_numbers(column, column.rows(rows)) for column in columns if column.name != target]
        return cls._join(parts)

    @classmethod
    def through(cls, safer: Sanitized, columns: list[Column], people: Ints) -> "_Rows":
        """Rows of the original as they look in the release, without noise."""
        parts = []
        for column in columns:
            old = safer.original.column(column.name)
            mapped = _mapped(old.rows(people), column, _channel(safer, old))
            parts.append(_numbers(column, mapped))
        return cls._join(parts)

    @classmethod
    def _join(cls, parts: list[tuple[NDArray[np.float64], bool]]) -> "_Rows":
        kinds = [is_category for cells, is_category in parts for _ in range(cells.shape[1])]
        return cls(np.concatenate([cells for cells, _ in parts], axis=1), kinds)


def _mapped(old: Column, new: Column, channel: Channel) -> Column:
    """Cells of the original in the codes of the released column."""
    return recode(old, LevelChange(new.kind, new.levels, channel.released, new.hierarchy))


def _numbers(column: Column, cells: Column) -> tuple[NDArray[np.float64], bool]:
    """Cells as columns of numbers, and whether they are categories. `column` has all cells of the table."""
    if cells.starts is not None:
        return _member_columns(column, cells), False
    if column.kind in ("number", "date"):
        numbers = np.append(np.asarray(column.levels, np.float64), np.nan)
    elif column.kind == "ordered":
        numbers = np.append(np.arange(column.n_levels, dtype=np.float64), np.nan)
    else:
        rank = np.empty(column.n_levels)
        rank[np.argsort(-column.counts[:-1], kind="stable")] = np.arange(column.n_levels)
        numbers = np.append(np.minimum(rank, CATEGORIES), np.nan)
    return numbers[cells.codes][:, np.newaxis], column.kind in ("category", "boolean")


def _member_columns(column: Column, cells: Column) -> NDArray[np.float64]:
    """One column for each of the commonest members: 1 if the set has it."""
    assert cells.starts is not None
    members = np.argsort(-column.counts[:-1], kind="stable")[:MEMBERS]
    place = np.full(column.n_levels, -1, np.int64)
    place[members] = np.arange(len(members))
    owner, member = np.repeat(np.arange(cells.n_rows), np.diff(cells.starts)), place[cells.codes]
    has = np.zeros((cells.n_rows, len(members)))
    has[owner[member >= 0], member[member >= 0]] = 1.0
    return has


def _correct(train: _Rows, labels: Ints, test: _Rows, truth: Ints, seed: int) -> Floats:
    """1 for each tested person whose class is predicted, else 0."""
    useful = ~np.isnan(train.cells).all(axis=0)  # an empty column has no bins
    if len(set(labels.tolist())) < 2 or not useful.any():
        return np.asarray(truth == np.bincount(labels).argmax(), np.float64)
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=50,
        max_leaf_nodes=15,
        categorical_features=np.array(train.is_category)[useful],
        early_stopping=False,
        random_state=int(key(seed, "prediction model") >> np.uint64(33)),
    )
    with threadpool_limits(1):
        predicted = model.fit(train.cells[:, useful], labels).predict(test.cells[:, useful])
    return np.asarray(predicted == truth, np.float64)
