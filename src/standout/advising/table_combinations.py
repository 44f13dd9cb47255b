"""Which combinations of steps on a table are worth trying.

A table has one family of steps for each column, so there are too many combinations to look at each. Log-odds
of being identified add up if steps work independently, and shares of utility multiply. So the frontier of all
expected combinations is built family by family, and keeps only what is not dominated.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from standout.advising.candidate import Candidate, Steps
from standout.advising.frontier import Expectation, most_promising, smoothed, undominated
from standout.advising.table_built_in_steps import CLASSES, table_step_family
from standout.advising.table_candidate_utility import TableCandidateUtility
from standout.table_sanitizing.cell_steps import DropColumn
from standout.table_sanitizing.class_steps import DropRows, SuppressToK
from standout.table_sanitizing.table_step import TableStep

__all__ = ["propose_table_combinations"]

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


Combination = tuple[tuple[TableStep, ...], Effect]


def propose_table_combinations(
    tried: TableCandidates, limit: float, count: int, known_share: float
) -> list[Steps]:
    """Combinations that were not tried yet and promise most; see `frontier.most_promising`.

    `known_share` is the share of the attributes that the adversary knows.
    """
    effects = _effects(tried, known_share)
    expected = {each.steps: each for each in _expected_frontier(tried, effects)}
    expected |= {each.steps: each for each in _neighbours(tried, effects, limit)}
    untried = [each for steps, each in expected.items() if steps not in tried]
    useful = [each for each in untried if each.identified >= LEAST_RISK * limit]
    return most_promising(useful or untried, limit, count)


def _effects(tried: TableCandidates, known_share: float) -> dict[TableStep, Effect]:
    """The effect of each single step that was tried."""
    untouched = tried[()]
    start = _point(untouched)
    effects = {}
    for steps, candidate in tried.items():
        if len(steps) == 1 and isinstance(steps[0], TableStep):
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


def _expected_frontier(tried: TableCandidates, effects: Mapping[TableStep, Effect]) -> list[Expectation]:
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
    families: list[list[TableStep]], effects: Mapping[TableStep, Effect], last: TableStep | None
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


def _families(effects: Mapping[TableStep, Effect]) -> tuple[list[list[TableStep]], list[TableStep]]:
    """The steps on each column, and the steps on classes, which look at the columns as they are then."""
    families: dict[str, list[TableStep]] = {}
    for step in effects:
        families.setdefault(table_step_family(step), []).append(step)
    classes = families.pop(CLASSES, [])
    return list(families.values()), classes


def _fits(steps: Sequence[TableStep], step: TableStep) -> bool:
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


def _slope(tried: TableCandidates, effects: Mapping[TableStep, Effect]) -> float:
    """Measured effect of the combinations so far / the sum of the effects of their steps."""
    start, products, squares = _point(tried[()]).odds, 0.0, 0.0
    for steps, candidate in tried.items():
        if len(steps) >= 2 and all(step in effects for step in steps):
            expected = math.fsum(effects[step].odds for step in steps if isinstance(step, TableStep))
            products += expected * (_point(candidate).odds - start)
            squares += expected * expected
    return min(max(products / squares, SLOPES[0]), SLOPES[1]) if squares else 1.0


def _neighbours(
    tried: TableCandidates, effects: Mapping[TableStep, Effect], limit: float
) -> list[Expectation]:
    """Tried candidates near the limit with one step added, removed or replaced."""
    combined = [each for steps, each in tried.items() if all(step in effects for step in steps)]
    goal = math.log(limit / (1.0 - limit))
    edge = {each.steps for each in undominated([smoothed(each) for each in combined])}
    near = sorted(
        (each for each in combined if each.steps in edge), key=lambda each: abs(_point(each).odds - goal)
    )
    columns, classes = _families(effects)
    order = [*(step for family in columns for step in family), *classes]
    return [each for base in near[:NEIGHBOURS_OF] for each in _changed(base, effects, order)]


def _changed(
    base: Candidate[TableCandidateUtility], effects: Mapping[TableStep, Effect], order: list[TableStep]
) -> list[Expectation]:
    point, changed = _point(base), []
    own = {table_step_family(step): step for step in base.steps if isinstance(step, TableStep)}
    variants: list[tuple[str, TableStep | None]] = [(family, None) for family in own]
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


def _expectation(steps: tuple[TableStep, ...], odds: float, utility: float) -> Expectation:
    return Expectation(steps, 1.0 / (1.0 + math.exp(-odds)), min(math.exp(utility), 1.0))
