"""Attacks on tables that Likelihood is compared with, in plain NumPy: each gives every row a score.

most matches    the rows that agree with most facts, within the error
rarest matches  the sum of −ln share over the facts that a row agrees with
Gower           the nearest row: numbers by their distance relative to the range, others equal or not
leave out       rows that agree with all facts but as many as are wrong
logistic        logistic regression on pairs (facts, row), trained on simulated targets of the same table
exact count     the posterior of an adversary who knows exactly how many facts are wrong, and nothing else
                beyond what Likelihood knows: no attack that ignores which columns are known can do better
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import standout as so
from standout.core.arrays import Bools, Floats, Ints
from standout.data.column import Column, Near, near_levels
from standout.evaluate.targets import random_targets
from standout.know.facts import KnownFacts

__all__ = ["Known", "Rival", "found", "known_facts", "most_matches", "rivals"]

TRAINING, TRAINING_SEED = 400, 77
CLOSE, OTHERS = 30, 10
"""Rows beside the target's in training: some that agree with nearly all facts, and random ones."""
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Known:
    """A table, its adversary, and what is known about some of its people."""

    table: so.Release
    adversary: so.Adversary
    targets: Ints
    facts: KnownFacts
    near: tuple[Near, ...]

    def of(self, query: int) -> list[tuple[int, int]]:
        """The known (column, level) of a target."""
        part = slice(int(self.facts.cells.first[query]), int(self.facts.cells.first[query + 1]))
        return list(zip(self.facts.cells.column[part].tolist(), self.facts.cells.code[part].tolist(), strict=True))

    def agrees(self, column: int, code: int) -> Bools:
        """Which levels are near a known one; the last element is an empty cell."""
        near = self.near[column]
        return np.append((near.low <= code) & (code < near.high), False)

    def share(self, column: int, code: int) -> float:
        """The share of rows whose cell is near a known level."""
        cells = self.table.columns[column]
        agreeing = cells.counts[self.agrees(column, code)].sum()
        return max(float(agreeing) / cells.n_rows, 1.0 / (cells.n_rows + 1))


Rival = Callable[[Known, int], Floats]


def known_facts(table: so.Release, adversary: so.Adversary, targets: int, seed: int) -> Known:
    """The targets and facts of `so.simulate` with this seed."""
    rows = random_targets(table, adversary, seed)[:targets]
    near = tuple(near_levels(column, adversary.error_of(column)) for column in table.columns)
    return Known(table, adversary, rows, adversary.observe_all(table, rows, seed), near)


def found(known: Known, rival: Rival) -> Floats:
    """For each target the probability that a random one of the best rows is the right one."""
    right = np.zeros(len(known.targets))
    for query, target in enumerate(known.targets.tolist()):
        scores = rival(known, query)
        best = scores >= scores.max() - SAME
        right[query] = best[target] / best.sum()
    return right


def rivals(table: so.Release, adversary: so.Adversary) -> dict[str, Rival]:
    """All rivals by name."""
    return {
        "most matches": most_matches,
        "rarest matches": rarest_matches,
        "Gower": gower,
        "leave out": leave_out,
        "logistic": logistic(known_facts(table, adversary, TRAINING, TRAINING_SEED)),
        "exact count": exact_count,
    }


def most_matches(known: Known, query: int) -> Floats:
    """The number of facts that each row agrees with."""
    scores = np.zeros(known.table.n_records)
    for column, code in known.of(query):
        scores += known.agrees(column, code)[known.table.columns[column].codes]
    return scores


def rarest_matches(known: Known, query: int) -> Floats:
    """The same, a rare value counting more."""
    scores = np.zeros(known.table.n_records)
    for column, code in known.of(query):
        agrees = known.agrees(column, code)[known.table.columns[column].codes]
        scores -= agrees * np.log(known.share(column, code))
    return scores


def gower(known: Known, query: int) -> Floats:
    """The distance of each row, with a minus; an empty cell is as far as can be."""
    scores = np.zeros(known.table.n_records)
    for column, code in known.of(query):
        scores -= _distances(known.table.columns[column], code)[known.table.columns[column].codes]
    return scores


def _distances(column: Column, code: int) -> Floats:
    if column.kind == "number":
        levels = np.asarray(column.levels, np.float64)
        return np.append(np.abs(levels - levels[code]) / max(levels[-1] - levels[0], 1e-300), 1.0)
    return np.where(np.arange(column.n_levels + 1) == code, 0.0, 1.0)


def leave_out(known: Known, query: int) -> Floats:
    """0 for rows that disagree with as many facts as are wrong, less for others."""
    disagreeing = len(known.of(query)) - most_matches(known, query)
    return -np.abs(disagreeing - known.adversary.wrong)


def exact_count(known: Known, query: int) -> Floats:
    """The logarithm of P(facts | row): a sum over the choices of wrong facts, computed fact by fact."""
    wrong = known.adversary.wrong
    chance = [np.ones(known.table.n_records), *(np.zeros(known.table.n_records) for _ in range(wrong))]
    for column, code in known.of(query):
        cells = known.table.columns[column]
        agrees, number = known.agrees(column, code), np.append(known.near[column].number, 1)
        rest = cells.n_levels - number
        is_present = np.append(np.ones(cells.n_levels), 0.0)
        right = np.where(agrees, 1.0 / number, 0.0)[cells.codes]
        off = np.where(agrees, 0.0, is_present / np.maximum(rest, 1))[cells.codes]
        for count in range(wrong, 0, -1):
            chance[count] = chance[count] * right + chance[count - 1] * off
        chance[0] = chance[0] * right
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chance[wrong]), np.float64)


def logistic(training: Known) -> Rival:
    """Learn weights of agreeing and of disagreeing in each column, and of the number of agreements."""
    from sklearn.linear_model import LogisticRegression

    draw = np.random.default_rng(0)
    features, labels = [], []
    for query, target in enumerate(training.targets.tolist()):
        close = np.flatnonzero(leave_out(training, query) >= -1)
        close = draw.permutation(close[close != target])[:CLOSE]
        rows = np.concatenate([[target], close, draw.integers(0, training.table.n_records, OTHERS)])
        features.append(_features(training, query, rows))
        labels.append(np.arange(len(rows)) == 0)
    model = LogisticRegression(max_iter=300).fit(np.vstack(features), np.concatenate(labels))
    weights = np.asarray(model.coef_[0], np.float64)

    def scores(known: Known, query: int) -> Floats:
        everybody = np.full(known.table.n_records, -1e9)
        rows = np.flatnonzero(leave_out(known, query) >= -1)
        if len(rows):
            everybody[rows] = np.round(_features(known, query, rows) @ weights, 7)
        return everybody

    return scores


def _features(known: Known, query: int, rows: NDArray[np.int64]) -> Floats:
    """Three numbers for each column, and one for each number of agreements."""
    facts = known.of(query)
    features = np.zeros((len(rows), 3 * known.table.n_columns))
    count = np.zeros(len(rows), np.int64)
    for column, code in facts:
        agrees = known.agrees(column, code)[known.table.columns[column].codes[rows]]
        rarity = -np.log(known.share(column, code))
        features[:, 3 * column : 3 * column + 3] = np.column_stack([agrees, agrees * rarity, ~agrees * rarity])
        count += agrees
    return np.column_stack([features, count[:, None] == np.arange(len(facts) + 1)])
