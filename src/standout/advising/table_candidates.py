"""The steps that are tried on a table by default: each column in several strengths, then small classes."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from standout.advising.candidate import Candidate, Expectation, Steps, most_promising, smoothed, undominated
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.rng import generator
from standout.data.column import Column
from standout.data.release import Release
from standout.evaluate.estimates import Estimate
from standout.know.adversary import Adversary
from standout.know.sanitized import Sanitized
from standout.sanitizing.column_steps import (
    DropColumn,
    DropRows,
    GeneralizeColumn,
    RoundColumn,
    SuppressCells,
    SuppressToK,
    SwapColumn,
    TopCode,
)
from standout.sanitizing.step import Step
from standout.sanitizing.table_utility import ColumnUtility, association, column_utilities

__all__ = [
    "CLASSES",
    "TableCandidateUtility",
    "TableUtilityBenchmark",
    "column_bits",
    "propose_table_combinations",
    "step_columns",
    "table_built_in_steps",
    "table_step_family",
]

CLASSES = "classes"
"""Family of the steps that act on classes of rows."""
MOST_STEPS, MOST_DROPS = 64, 40
"""Number of single steps, and of columns whose removal is tried, at most."""
CLASS_COLUMNS = 5
"""Number of columns that form classes: with more, nearly every row is alone."""
CLASS_SIZES = (3, 10)
BANDS = (16, 8, 4)
"""Numbers are rounded to about this many values between the 5 % and the 95 % quantile."""
TAIL = 0.02
"""Share of the rows beyond each bound of top-coding."""
RARE_SHARES, FEWEST = (0.01, 0.05), 3
"""Values that a smaller share of the rows has are emptied; those of fewer rows than this always."""
SWAPPED, FEWEST_TO_SWAP = (0.2, 0.5), 20
"""Shares of the rows that are swapped, and the fewest rows with which it is tried."""


def table_step_family(step: Step) -> str:
    """What a step changes: steps of one family are alternatives."""
    if isinstance(step, (SuppressToK, DropRows)):
        return CLASSES
    return "column " + ",".join(step_columns(step) or (step.name,))


def step_columns(step: Step) -> tuple[str, ...]:
    """Names of the columns that a step names."""
    return tuple(getattr(step, "columns", ())) or tuple(filter(None, [getattr(step, "column", "")]))


def table_built_in_steps(table: Release, adversary: Adversary) -> list[Step]:
    """Single steps that suit a table and an adversary, for at most 64 of them.

    Only columns that the adversary may know are changed. Quasi-identifiers come first, then columns with much
    information. If there are too many columns, the others are only dropped.
    """
    columns = _known_columns(table, adversary)
    drops: list[Step] = [DropColumn(column.name) for column in columns[:MOST_DROPS]]
    if len(columns) == table.n_columns == 1:
        drops = []
    classes = _class_steps(table, columns)
    steps: list[Step] = []
    for column in columns:
        weaker = list(_column_steps(column))
        if len(steps) + len(weaker) + len(drops) + len(classes) <= MOST_STEPS:
            steps += weaker
    return [*steps, *drops, *classes]


def _known_columns(table: Release, adversary: Adversary) -> list[Column]:
    """Columns that vary and that the adversary may know, the most important first."""
    names = None if adversary.columns is None else set(adversary.columns)
    columns = [
        column
        for column in table.columns
        if (names is None or names & {column.name, column.attribute}) and column_bits(column) > 0
    ]
    return sorted(columns, key=lambda column: (column.role != "quasi-identifier", -column_bits(column)))


def column_bits(column: Column) -> float:
    """Entropy of a cell in bits, an empty one counted as a value; of a set, of its members."""
    share = column.counts / max(column.n_rows, 1)
    both = np.concatenate([share, 1 - share]) if column.starts is not None else share
    return -math.fsum(both * elementary.log(np.where(both > 0, both, 1.0))) / math.log(2.0)


def _column_steps(column: Column) -> Iterator[Step]:
    """Steps on one column, weak ones first; none that would change nothing."""
    yield from (step for step in _level_steps(column) if _merges(step, column))
    if column.kind in ("category", "set") and column.hierarchy is None:
        yield from (SuppressCells(column.name, below) for below in _useful_counts(column))
    if column.n_rows >= FEWEST_TO_SWAP:
        yield from (SwapColumn((column.name,), share) for share in SWAPPED)


def _level_steps(column: Column) -> Iterator[Step]:
    """Steps that map the values of a column."""
    name = column.name
    if column.hierarchy is not None:
        yield from (GeneralizeColumn(name, height) for height in _useful_heights(column))
    elif column.kind == "number":
        yield from _number_steps(column)
    elif column.kind == "date":
        yield from (GeneralizeColumn(name, "month"), GeneralizeColumn(name, "year"))
    elif column.kind == "ordered":
        yield from (GeneralizeColumn(name, size) for size in (2, 4) if column.n_levels >= 2 * size)


def _merges(step: Step, column: Column) -> bool:
    """Whether the step gives two values that occur the same name."""
    change = step.level_change(column)
    assert change is not None
    occurs = np.flatnonzero(column.counts[:-1])
    return len(np.unique(change.lookup[occurs])) < len(occurs)


def _useful_heights(column: Column) -> list[int]:
    """Heights at which fewer groups are left than below, and at least two."""
    assert column.hierarchy is not None
    left, heights = column.n_levels, []
    for height in range(1, column.hierarchy.height + 1):
        groups = len(np.unique(column.hierarchy.group_of(height)))
        if 2 <= groups < left:
            heights.append(height)
            left = groups
    return heights


def _number_steps(column: Column) -> Iterator[Step]:
    levels = np.asarray(column.levels, np.float64)
    if len(levels) < 3:
        return
    bottom, top = _quantile(column, TAIL), _quantile(column, 1 - TAIL)
    if bottom < top:
        yield TopCode(column.name, bottom, top)
    span = _quantile(column, 0.95) - _quantile(column, 0.05) or float(levels[-1] - levels[0])
    widths = (_round_number(span / bands) for bands in BANDS)
    yield from (RoundColumn(column.name, width) for width in dict.fromkeys(widths))


def _quantile(column: Column, share: float) -> float:
    counts: Floats = np.cumsum(column.counts[:-1])
    return float(column.levels[int(np.searchsorted(counts, share * counts[-1]))])


def _round_number(number: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten, on a logarithmic scale.

    >>> [_round_number(number) for number in (0.23, 3.0, 8.0)]
    [0.2, 2.0, 10.0]
    """
    exponent = math.floor(math.log10(number))
    choices = [float(f"{digit}e{power}") for power in (exponent, exponent + 1) for digit in (1, 2, 5)]
    return min(choices, key=lambda choice: abs(math.log(choice / number)))


def _useful_counts(column: Column) -> list[int]:
    """Numbers of rows below which a value is rare: some values are, and at least two are not."""
    counts = column.counts[:-1]
    useful: dict[int, int] = {}
    for share in RARE_SHARES:
        below = max(FEWEST, math.ceil(share * column.n_rows))
        kept = int(np.count_nonzero(counts >= below))
        if 2 <= kept < np.count_nonzero(counts):
            useful.setdefault(kept, below)
    return list(useful.values())


def _class_steps(table: Release, columns: list[Column]) -> list[Step]:
    """Steps against small classes of the most important columns that are known."""
    names = tuple(column.name for column in columns[:CLASS_COLUMNS])
    sizes = [k for k in CLASS_SIZES if 2 * k <= table.n_records]
    if len(names) < 2:
        return []
    return [*(SuppressToK(names, k) for k in sizes), *(DropRows(names, k) for k in sizes[:1])]


# Utility of a candidate for a table: what its cells and the associations of its columns still say.
#
# information    bits that a released cell says about the original one / bits of the original one, mean over
#                all columns that vary; people who are left out say nothing
# associations   1 − Σ |change of the association of two columns| / Σ association, over all pairs that are
#                associated beyond what chance gives
# kept           the smaller of the two, so that a change that either use would notice has a cost


SHUFFLES, CHANCE = 5, 2.0
"""A pair counts if its association exceeds twice the largest of 5 that shuffled rows have by chance."""


@dataclass(frozen=True, slots=True)
class TableCandidateUtility:
    """What is left of a table after the steps of a candidate.

    Attributes
    ----------
    kept : Estimate
        The smaller of `information` and `associations`.
    information : Estimate
        Share of the information in the cells; counted over the whole table.
    associations : Estimate or None
        Share of the associations of pairs of columns. It has no interval where a sample of the rows is used;
        None if no two columns are associated.
    rows_kept : Estimate
        Share of the rows.
    bits : Estimate
        Sum over all columns of the bits that a released cell says about the original one.
    """

    kept: Estimate
    information: Estimate
    associations: Estimate | None
    rows_kept: Estimate
    bits: Estimate

    def measures(self) -> Iterator[tuple[str, Estimate]]:
        """Name and estimate of every measure that is not None."""
        for field in fields(self):
            measure = getattr(self, field.name)
            if measure is not None:
                yield field.name, measure


@dataclass(eq=False)
class TableUtilityBenchmark:
    """The original, and the sample of its people on whom associations are compared."""

    table: Release
    rows: int
    seed: int

    def measure(self, safer: Sanitized) -> TableCandidateUtility:
        """Utility of a table that was made from the original."""
        columns, n = column_utilities(safer), self.table.n_records
        information = _exact(_information(columns), n)
        associations = self._associations(safer)
        shares = [information] if associations is None else [information, associations]
        return TableCandidateUtility(
            kept=min(shares, key=lambda share: share.value),
            information=information,
            associations=associations,
            rows_kept=_exact(safer.n_records / n, n),
            bits=_exact(math.fsum(column.bits_kept for column in columns), n),
        )

    def _associations(self, safer: Sanitized) -> Estimate | None:
        if not self._before:
            return None
        total, after = math.fsum(self._before.values()), self._after(safer)
        change = math.fsum(abs(after[pair] - before) for pair, before in self._before.items())
        value, n = max(1.0 - change / total, 0.0), len(self._people)
        return _exact(value, n) if n == self.table.n_records else Estimate(value, math.nan, math.nan, n, 0.0)

    def _after(self, safer: Sanitized) -> dict[tuple[str, str], float]:
        """The association of each pair; only pairs with a changed column are computed."""
        is_used = np.zeros(self.table.n_records, np.bool_)
        is_used[self._people] = True
        new = _columns(safer, np.flatnonzero(is_used[safer.original_row]))
        is_whole = safer.n_records == self.table.n_records
        same = {name for name in new if is_whole and name not in safer.channels}
        return {
            (a, b): before if a in same and b in same else association(new[a], new[b]) if a in new and b in new else 0.0
            for (a, b), before in self._before.items()
        }

    @cached_property
    def _people(self) -> Ints:
        order = generator(self.seed, "advice", "association rows").permutation(self.table.n_records)
        return np.sort(order[: self.rows])

    @cached_property
    def _before(self) -> dict[tuple[str, str], float]:
        """The association of each pair in the original, unless chance explains it."""
        old = _columns(self.table, self._people)
        draw, n = generator(self.seed, "advice", "shuffled rows"), len(self._people)
        orders = [draw.permutation(n) for _ in range(SHUFFLES)]
        shuffled = [{name: column.rows(order) for name, column in old.items()} for order in orders]
        before = {}
        for a, b in combinations(old, 2):
            strength = association(old[a], old[b])
            chance = max(association(old[a], columns[b]) for columns in shuffled)
            if strength > CHANCE * max(chance, 1.0 / math.sqrt(n)):
                before[a, b] = strength
        return before


def _information(columns: tuple[ColumnUtility, ...]) -> float:
    """Mean share of the bits of a column that is left; 1 if no column varies."""
    shares = [min(column.bits_kept / column.bits_before, 1.0) for column in columns if column.bits_before > 0]
    return math.fsum(shares) / len(shares) if shares else 1.0


def _columns(table: Release, rows: Ints) -> dict[str, Column]:
    return {column.name: column.rows(rows) for column in table.columns if column.starts is None}


def _exact(value: float, n: int) -> Estimate:
    """A number that is counted, not estimated."""
    return Estimate(value, value, value, n, 0.0)


# Which combinations of steps on a table are worth trying.
#
# A table has one family of steps for each column, so there are too many combinations to look at each. Log-odds
# of being identified add up if steps work independently, and shares of utility multiply. So the frontier of all
# expected combinations is built family by family, and keeps only what is not dominated.


WIDEST = 300
"""Number of combinations that are kept from one family to the next, at most."""
NEIGHBOURS_OF = 12
"""Number of tried candidates near the limit whose neighbours are considered."""
SATURATED = 0.8
"""Above this risk, the effect of a single step hardly shows: its lost bits say more."""
LEAST_RISK = 0.2
"""Multiple of the limit: combinations with less risk cost utility for nothing."""
LEAST_UTILITY = 1e-3
SLOPES = 0.25, 4.0
"""Bounds of the ratio of a measured effect to the expected one."""

TableCandidates = Mapping[Steps, Candidate[TableCandidateUtility]]


class Effect(NamedTuple):
    """What a step adds to the log-odds of being identified, and to the log of the utility."""

    odds: float
    utility: float


Combination = tuple[tuple[Step, ...], Effect]


def propose_table_combinations(tried: TableCandidates, limit: float, count: int, known_share: float) -> list[Steps]:
    """Combinations that were not tried yet and promise most; see `frontier.most_promising`.

    `known_share` is the share of the attributes that the adversary knows.
    """
    effects = _effects(tried, known_share)
    expected = {each.steps: each for each in _expected_frontier(tried, effects)}
    expected |= {each.steps: each for each in _neighbours(tried, effects, limit)}
    untried = [each for steps, each in expected.items() if steps not in tried]
    useful = [each for each in untried if each.identified >= LEAST_RISK * limit]
    return most_promising(useful or untried, limit, count)


def _effects(tried: TableCandidates, known_share: float) -> dict[Step, Effect]:
    """The effect of each single step that was tried."""
    untouched = tried[()]
    start = _point(untouched)
    effects = {}
    for steps, candidate in tried.items():
        if len(steps) == 1 and isinstance(steps[0], Step):
            odds, utility = (after - before for after, before in zip(_point(candidate), start, strict=True))
            if untouched.rate.value > SATURATED:
                lost = untouched.utility.bits.value - candidate.utility.bits.value
                odds = min(odds, -math.log(2.0) * lost * known_share)
            effects[steps[0]] = Effect(odds, utility)
    return effects


def _point(candidate: Candidate[TableCandidateUtility]) -> Effect:
    """Log-odds of being identified, and log of the utility."""
    expectation = smoothed(candidate)
    risk = expectation.identified
    return Effect(math.log(risk / (1.0 - risk)), math.log(max(expectation.utility, LEAST_UTILITY)))


def _expected_frontier(tried: TableCandidates, effects: Mapping[Step, Effect]) -> list[Expectation]:
    """The frontier of all combinations of at most one step of each family."""
    start, slope = _point(tried[()]), _slope(tried, effects)
    columns, classes = _families(effects)
    combinations = _column_combinations(columns, effects, None)
    for last in classes:
        combinations += [
            ((*steps, last), _sum(effect, effects[last]))
            for steps, effect in _column_combinations(columns, effects, last)
        ]
    return [
        _expectation(steps, start.odds + slope * effect.odds, start.utility + effect.utility)
        for steps, effect in _thinned(combinations)
        if len(steps) >= 2
    ]


def _column_combinations(
    families: list[list[Step]], effects: Mapping[Step, Effect], last: Step | None
) -> list[Combination]:
    """The frontier of all combinations of steps on columns that a step on classes can follow."""
    combinations: list[Combination] = [((), Effect(0.0, 0.0))]
    for family in families:
        longer = [
            ((*steps, step), _sum(effect, effects[step]))
            for steps, effect in combinations
            for step in family
            if last is None or _fits([step], last)
        ]
        combinations = _thinned([*combinations, *longer])
    return combinations


def _sum(first: Effect, second: Effect) -> Effect:
    return Effect(first.odds + second.odds, first.utility + second.utility)


def _families(effects: Mapping[Step, Effect]) -> tuple[list[list[Step]], list[Step]]:
    """The steps on each column, and the steps on classes, which look at the columns as they are then."""
    families: dict[str, list[Step]] = {}
    for step in effects:
        families.setdefault(table_step_family(step), []).append(step)
    classes = families.pop(CLASSES, [])
    return list(families.values()), classes


def _fits(steps: Sequence[Step], step: Step) -> bool:
    """Whether a step can follow others: a step on classes needs columns that were not dropped."""
    if not isinstance(step, (SuppressToK, DropRows)):
        return True
    return not any(isinstance(other, DropColumn) and other.column in step.columns for other in steps)


def _thinned(combinations: list[Combination]) -> list[Combination]:
    """Combinations that no other dominates; evenly spread ones if there are too many."""
    effect_of = dict(combinations)
    best = undominated([Expectation(steps, *effect) for steps, effect in combinations])
    if len(best) > WIDEST:
        best = [best[at * (len(best) - 1) // (WIDEST - 1)] for at in range(WIDEST)]
    chosen = {each.steps for each in best}
    return [(steps, effect_of[steps]) for steps, _ in combinations if steps in chosen]


def _slope(tried: TableCandidates, effects: Mapping[Step, Effect]) -> float:
    """Measured effect of the combinations so far / the sum of the effects of their steps."""
    start, products, squares = _point(tried[()]).odds, 0.0, 0.0
    for steps, candidate in tried.items():
        if len(steps) >= 2 and all(step in effects for step in steps):
            expected = math.fsum(effects[step].odds for step in steps if isinstance(step, Step))
            products += expected * (_point(candidate).odds - start)
            squares += expected * expected
    return min(max(products / squares, SLOPES[0]), SLOPES[1]) if squares else 1.0


def _neighbours(tried: TableCandidates, effects: Mapping[Step, Effect], limit: float) -> list[Expectation]:
    """Tried candidates near the limit with one step added, removed or replaced."""
    combined = [each for steps, each in tried.items() if all(step in effects for step in steps)]
    goal = math.log(limit / (1.0 - limit))
    edge = {each.steps for each in undominated([smoothed(each) for each in combined])}
    near = sorted((each for each in combined if each.steps in edge), key=lambda each: abs(_point(each).odds - goal))
    columns, classes = _families(effects)
    order = [*(step for family in columns for step in family), *classes]
    return [each for base in near[:NEIGHBOURS_OF] for each in _changed(base, effects, order)]


def _changed(
    base: Candidate[TableCandidateUtility], effects: Mapping[Step, Effect], order: list[Step]
) -> list[Expectation]:
    point, changed = _point(base), []
    own = {table_step_family(step): step for step in base.steps if isinstance(step, Step)}
    variants: list[tuple[str, Step | None]] = [(family, None) for family in own]
    variants += [(table_step_family(step), step) for step in order]
    for family, step in variants:
        old = effects[own[family]] if family in own else Effect(0.0, 0.0)
        new = effects[step] if step is not None else Effect(0.0, 0.0)
        chosen = {**own, family: step}
        steps = tuple(each for each in order if each in chosen.values())
        if len(steps) >= 2 and all(_fits(steps, each) for each in steps):
            odds, utility = point.odds + new.odds - old.odds, point.utility + new.utility - old.utility
            changed.append(_expectation(steps, odds, utility))
    return changed


def _expectation(steps: tuple[Step, ...], odds: float, utility: float) -> Expectation:
    return Expectation(steps, 1.0 / (1.0 + math.exp(-odds)), min(math.exp(utility), 1.0))
