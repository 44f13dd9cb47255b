"""A second, plain implementation of the attacks on tables, with which the audit checks the fast one.

It shares no code with `table_attack`: what a known value adds to a row is computed level by level from the
formulas in docs/tables.md, and looked up cell by cell. One target at a time; no windows, no blocks.
"""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.data.column import Column
from standout.data.release import Release
from standout.know.adversary import Adversary
from standout.know.facts import KnownFacts
from standout.know.sanitized import Channel, Sanitized

UNIT = 2**20
COVERAGE = 0.98
NEARLY = 16
"""Scores that differ by no more than this many units may be equal up to rounding."""
EQUAL = 1e-9
"""Relative difference of probabilities that are equal up to rounding."""

Numbers = NDArray[np.float64]
Scores = NDArray[np.int64]


class PlainVerdict(NamedTuple):
    """What an attack says about one target; `near_ties` are rows that score nearly as much as the best."""

    found: float
    ties: int
    near_ties: int
    posterior: float
    eccentricity: float


def plain_verdict(
    table: Release, facts: KnownFacts, query: int, attack: str, adversary: Adversary, absent: bool = False
) -> PlainVerdict:
    """Attack the target of one query."""
    original = table.original if isinstance(table, Sanitized) else table
    target = int(facts.cells.target[query])
    row = target
    if isinstance(table, Sanitized):
        rows = np.flatnonzero(table.original_row == target)
        row = int(rows[0]) if len(rows) else -1
    known = [
        _Fact(
            column,
            table.column(column.name),
            table.channels.get(column.name) if isinstance(table, Sanitized) else None,
            int(facts.cells.code[f]),
            adversary.error_of(column),
            adversary.wrong / adversary.knows,
            target if absent else None,
        )
        for f in range(int(facts.cells.first[query]), int(facts.cells.first[query + 1]))
        if (column := original.columns[int(facts.cells.column[f])]).name in table.column_names
    ]
    if attack == "likelihood" and adversary.wrong:
        return _counted_verdict(_counted(known, adversary, table.n_records), row, absent)
    scores: Scores | None = None
    for fact in known:
        added = np.rint(fact.added(attack) * UNIT).astype(np.int64)
        scores = added if scores is None else np.minimum(scores, added) if attack == "exact match" else scores + added
    if scores is None:
        scores = np.full(table.n_records, UNIT if attack == "exact match" else 0, np.int64)
    return _verdict(scores, row, attack, absent)


def _counted(known: list["_Fact"], adversary: Adversary, n_rows: int) -> Numbers:
    """P(facts | row) if exactly so many attributes are wrong: the sum over all choices of these."""
    right: dict[str, Numbers] = {}
    wrong: dict[str, Numbers] = {}
    for fact in known:
        name = fact.original.attribute
        right[name] = right.get(name, np.ones(n_rows)) * fact.chances(0.0)
        wrong[name] = wrong.get(name, np.ones(n_rows)) * fact.chances(1.0)
    total = np.zeros(n_rows)
    for number in range(min(adversary.wrong, len(right)) + 1):
        ways = math.comb(adversary.knows - len(right), adversary.wrong - number)
        for chosen in combinations(right, number) if ways else ():
            factors = [wrong[name] if name in chosen else right[name] for name in right]
            total += ways * np.prod([np.ones(n_rows), *factors], axis=0)
    return total / math.comb(adversary.knows, adversary.wrong)


def _counted_verdict(chances: Numbers, row: int, absent: bool) -> PlainVerdict:
    own = 0.0 if absent or row < 0 else float(chances[row])
    if absent and row >= 0:
        chances = np.delete(chances, row)
    best = float(chances.max())
    ties = int((chances >= best * (1.0 - EQUAL)).sum())
    near_ties = int((chances >= best * math.exp(-NEARLY / UNIT)).sum())
    found = 1.0 / ties if own >= best * (1.0 - EQUAL) else 0.0
    return PlainVerdict(found, ties, near_ties, best / float(chances.sum()), 0.0)


def _verdict(scores: Scores, row: int, attack: str, absent: bool) -> PlainVerdict:
    own = None if absent or row < 0 else int(scores[row])
    if absent and row >= 0:
        scores = np.delete(scores, row)
    if attack == "exact match":
        passing = int((scores >= UNIT).sum())
        found = 1.0 / passing if own is not None and own >= UNIT else 0.0
        return PlainVerdict(found, passing, passing, 1.0 / passing if passing else 0.0, 0.0)
    ordered = np.sort(scores)
    best, second = int(ordered[-1]), int(ordered[-2]) if len(ordered) > 1 else int(ordered[-1])
    ties = int((scores == best).sum())
    found = 1.0 / ties if own == best else 0.0
    sigma = float((scores / UNIT).std())
    scale = 1.0 if attack == "likelihood" else 1.0 / max(sigma, 1e-9)
    weight = float(np.exp((scores - best) / UNIT * scale).sum())
    gap = (best - second) / UNIT / sigma if sigma > 0 and ties == 1 else 0.0
    return PlainVerdict(found, ties, int((scores >= best - NEARLY).sum()), 1.0 / weight, gap)


@dataclass(frozen=True, eq=False, slots=True)
class _Fact:
    """One known level, and the column that it is about; `absent` is the target's row if it is removed."""

    original: Column
    released: Column
    channel: Channel | None
    code: int
    error: float
    wrong: float
    absent: int | None

    def added(self, attack: str) -> Numbers:
        """What the fact adds to the score of each row."""
        if self.original.starts is not None:
            return self._added_by_member(attack)
        if attack == "likelihood":
            return np.asarray(np.log(self.chances(self.wrong)))
        numbers = self._similarity() / math.log(max(self._support(), 2)) if attack == "paper" else self._equality()
        return numbers[self.released.codes]

    def _support(self) -> int:
        return self.released.n_rows - int(self.released.is_missing.sum()) - (self.absent is not None)

    def _is_near(self, level: int) -> NDArray[np.bool_]:
        """Which levels are near a level."""
        column, codes = self.original, np.arange(self.original.n_levels)
        if column.kind in ("number", "date"):
            levels = np.asarray(column.levels, np.float64)
            return np.asarray(np.abs(levels - levels[level]) <= self.error * (1.0 + 1e-9))
        if column.kind == "ordered":
            return np.asarray(np.abs(codes - level) <= int(self.error))
        if column.hierarchy is not None and self.error >= 1:
            group = column.hierarchy.groups[min(int(self.error), column.hierarchy.height) - 1]
            return np.asarray(group == group[level])
        return np.asarray(codes == level)

    def _number_near(self, levels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of levels that are near each of these."""
        if self.original.kind not in ("number", "date"):
            return np.array([int(self._is_near(level).sum()) for level in levels.tolist()])
        values, reach = np.asarray(self.original.levels, np.float64), self.error * (1.0 + 1e-9)
        below = np.searchsorted(values, values[levels] - reach, "left")
        return np.asarray(np.searchsorted(values, values[levels] + reach, "right") - below)

    def _counts(self) -> Numbers:
        """Number of cells of each level, without the target if it is absent."""
        column = self.original
        counts = np.bincount(column.codes, minlength=column.n_levels + 1)[: column.n_levels].astype(float)
        if self.absent is not None and int(column.codes[self.absent]) < column.n_levels:
            counts[int(column.codes[self.absent])] -= 1.0
        return counts

    def chances(self, wrong: float) -> Numbers:
        """1 − c + c · P(v | cell) / P(v) of each row, if the fact is wrong with this probability."""
        if self.original.starts is not None:
            return self._chances_by_member(wrong)
        near = self._is_near(self.code)
        given = self._given(near, wrong)
        if wrong != self.wrong:  # where all levels are near, no fact is wrong
            levels = np.flatnonzero(near)
            all_near = levels[self._number_near(levels) == len(near)]
            given[all_near] = 1.0 / len(near)
        usual, counts = self._given(near, self.wrong), self._counts()
        total = float((usual * counts).sum())
        mean = total / counts.sum() if total > 0 else float(usual[near].max()) / (counts.sum() + 1.0)
        ratio = np.append(given / mean, 0.0)
        if self.channel is not None:
            ratio = self._through(self.channel, given, mean)
        return np.asarray(1.0 - COVERAGE + COVERAGE * ratio)[self.released.codes]

    def _given(self, near: NDArray[np.bool_], wrong: float) -> Numbers:
        """P(v | level) of each level of the original."""
        rest = len(near) - int(near.sum())
        given = np.full(len(near), wrong / rest if rest else 0.0)
        levels = np.flatnonzero(near)
        given[levels] = (1.0 - wrong) / self._number_near(levels)
        return given

    def _through(self, channel: Channel, given: Numbers, mean: float) -> Numbers:
        """P(v | released cell) / P(v): averages over the levels that the cell may come from."""
        column, n = self.original, self.released.n_levels
        counts = np.bincount(column.codes, minlength=column.n_levels + 1).astype(float)
        never, counts = counts[-1], counts[:-1]
        mass = np.bincount(channel.released, counts, n + 1)
        sums = np.bincount(channel.released, counts * given, n + 1)
        lowest = float(given.min()) if len(given) else 0.0
        average = np.where(mass > 0, sums / np.maximum(mass, 1e-300), lowest)
        ratio = (1.0 - channel.replaced) * average / mean + channel.replaced
        suppressed, cells = channel.suppressed, float(counts.sum())
        empties = never + suppressed * cells + (1.0 - suppressed) * mass[n]
        explained = suppressed * cells * mean + (1.0 - suppressed) * sums[n]
        ratio[n] = explained / empties / mean if empties else 0.0
        return np.asarray(ratio)

    def _similarity(self) -> Numbers:
        """The paper's Sim of the known level, by released code."""
        column, similarity = self.original, self.original.similarity
        codes = np.arange(column.n_levels)
        if similarity.name == "equal":
            sim = (codes == self.code).astype(float)
        elif similarity.name == "ordered":
            sim = 1.0 - np.abs(codes - self.code) / max(column.n_levels - 1, 1)
        elif similarity.name == "hierarchy":
            assert column.hierarchy is not None
            sim = np.zeros(column.n_levels)
            for height in range(column.hierarchy.height, 0, -1):
                group = column.hierarchy.groups[height - 1]
                sim[group == group[self.code]] = 1.0 - height / column.hierarchy.height
            sim[self.code] = 1.0
        else:
            levels, scale = np.asarray(column.levels, np.float64), float(similarity.scale or 0.0)
            distance = np.abs(levels - levels[self.code])
            if similarity.name == "within":
                sim = (distance <= scale + 1e-9).astype(float)
            else:
                sim = np.where(distance <= 15 * scale + 1e-9, np.exp(-distance / scale), 0.0)
        if self.channel is None:
            return np.append(sim, 0.0)
        counts = np.bincount(column.codes, minlength=column.n_levels + 1)[:-1].astype(float)
        mass = np.bincount(self.channel.released, counts, self.released.n_levels + 1)
        sums = np.bincount(self.channel.released, counts * sim, self.released.n_levels + 1)
        average = sums / np.maximum(mass, 1.0)
        average[-1] = 0.0
        return np.asarray(average)

    def _equality(self) -> Numbers:
        """1 for released codes that show the known level."""
        equal = np.zeros(self.released.n_levels + 1)
        if self.channel is None:
            equal[self.code] = 1.0
            return equal
        became, missing = int(self.channel.released[self.code]), self.released.n_levels
        equal[became] = 1.0
        if self.channel.suppressed > 0 or bool((self.channel.released == missing).any()):
            equal[missing] = 1.0
        return equal

    def _added_by_member(self, attack: str) -> Numbers:
        """What a known member of a set adds, row by row."""
        if attack == "likelihood":
            return np.asarray(np.log(self._chances_by_member(self.wrong)))
        released, became = self.released, self._became()
        if became == released.n_levels:
            return np.zeros(released.n_rows)
        weight = 1.0 / math.log(max(self._support(), 2)) if attack == "paper" else 1.0
        sizes, has = _members(released, became)
        return np.where((sizes > 0) & has, weight, 0.0)

    def _became(self) -> int:
        return self.code if self.channel is None else int(self.channel.released[self.code])

    def _chances_by_member(self, wrong: float) -> Numbers:
        """1 − c + c · P(v | set) / P(v) of each row, if the fact is wrong with this probability."""
        column, released, became = self.original, self.released, self._became()
        if became == released.n_levels:
            return np.ones(released.n_rows)
        sizes, has = _members(released, became)
        has_all = (sizes == column.n_levels) & (wrong != self.wrong)
        inside = np.where(has_all, 1.0, 1.0 - wrong) / np.clip(sizes, 1, 254)
        given = np.where(has, inside, wrong / max(column.n_levels - 1, 1)) / self._member_mean()
        replaced, empty = 0.0, 0.0
        if self.channel is not None:
            replaced, missing = self.channel.replaced, int(column.is_missing.sum())
            emptied = self.channel.suppressed * (column.n_rows - missing)
            empty = emptied / (emptied + missing) if emptied else 0.0
        ratio = np.where(sizes == 0, empty, (1.0 - replaced) * given + replaced)
        return np.asarray(1.0 - COVERAGE + COVERAGE * ratio)

    def _member_mean(self) -> float:
        """P(v) of a known member: the mean of P(v | set) over all sets."""
        owned, has = _members(self.original, self.code)
        counts = owned > 0
        if self.absent is not None:
            counts[self.absent] = False
        outside = self.wrong / max(self.original.n_levels - 1, 1)
        given = np.where(has, (1.0 - self.wrong) / np.maximum(owned, 1), outside)[counts]
        total, n = float(given.sum()), int(counts.sum())
        return total / n if total > 0 else 1.0 / (n + 1.0)


def _members(column: Column, code: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The size of each row's set, and whether it has the member."""
    assert column.starts is not None
    sizes = np.diff(column.starts)
    owner = np.repeat(np.arange(column.n_rows), sizes)
    has = np.zeros(column.n_rows, np.bool_)
    has[owner[column.codes == code]] = True
    return sizes, has
