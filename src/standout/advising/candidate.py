"""A candidate: one combination of steps, with its risk and its utility."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from standout.advising.built_in_steps import CLASSES, FAMILIES, step_family
from standout.advising.risk import IdentificationRisk
from standout.core.json_files import JsonObject
from standout.evaluate.estimates import Estimate
from standout.findings.advice import Among, Stage
from standout.sanitizing.column_steps import DropColumn, DropRows, SuppressToK
from standout.sanitizing.step import Step
from standout.sanitizing.utility import Utility

UNTOUCHED = "as it is"
"""Name of the candidate without steps."""
Steps: TypeAlias = tuple[Step, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Candidate:
    """A combination of steps, the share of people identified after it, and the utility that is left.

    Without steps it is the untouched release. `stage` says how well the numbers are known: "quick", "full", or "fresh"
    (re-measured on fresh targets); `among` whom the limit applies to.
    """

    steps: Steps
    risk: IdentificationRisk
    utility: Utility
    stage: Stage
    among: Among = "released"

    @property
    def rate(self) -> Estimate:
        """Share of identified people that is compared with the limit."""
        return self.risk.rate(self.among)

    @property
    def name(self) -> str:
        """The steps as one text."""
        return steps_text(self.steps)

    @property
    def utility_kept(self) -> float:
        """Share of the utility that is left; 1 if the untouched release has no utility either."""
        return 1.0 if self.utility.kept is None else self.utility.kept.value

    def to_checkpoint(self) -> JsonObject:
        """The numbers as plain values, infinities included."""
        return {
            "stage": self.stage,
            "attack": self.risk.attack,
            "identified": asdict(self.risk.everybody),
            "identified_in_release": asdict(self.risk.released),
            "utility": {name: asdict(estimate) for name, estimate in self.utility.measures()},
        }

    @classmethod
    def from_checkpoint(cls, numbers: Any, steps: Steps, among: Among) -> "Candidate":
        """The candidate whose numbers `to_checkpoint` returned; `numbers` is their parsed JSON."""
        utility: dict[str, Any] = {name: Estimate(**estimate) for name, estimate in numbers["utility"].items()}
        risk = IdentificationRisk(
            everybody=Estimate(**numbers["identified"]),
            released=Estimate(**numbers["identified_in_release"]),
            attack=numbers["attack"],
        )
        return cls(steps, risk, Utility(steps=tuple(map(str, steps)), **utility), numbers["stage"], among)


def steps_text(steps: Sequence[Step]) -> str:
    """Steps as one text: round-time month + drop-entries 0.5, or `UNTOUCHED` if there are none."""
    return " + ".join(map(str, steps)) or UNTOUCHED


# Which candidates are worth trying: the frontier of those measured, and what to expect of combinations.


LIMIT_FACTORS = (1.25, 1.0, 0.75, 0.5)
"""Combinations are proposed below each of these multiples of the limit: expectations err to both sides."""
MIN_RISK = 1e-3
"""Avoids a division by zero where the untouched release carries no risk."""
DIGITS = 9
"""Utilities are compared to this many digits, because the others differ between processors."""
STANDARD_ERRORS = 2.0
"""Distance from a rate to the upper end of its interval, approximately."""


class Expectation(NamedTuple):
    """Measured or expected share of people identified after steps, and of the utility that is left."""

    steps: Steps
    identified: float
    utility: float


def frontier(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates for which no other has both less risk and more utility, by decreasing risk."""
    best = {each.steps for each in undominated([_measured(candidate) for candidate in candidates])}
    chosen = (candidate for candidate in candidates if candidate.steps in best)
    return sorted(chosen, key=lambda candidate: -candidate.rate.value)


def select_for_full_stage(candidates: Sequence[Candidate], limit: float, targets: int, count: int) -> list[Candidate]:
    """Select candidates that deserve the full stage.

    One half has the highest utility among those whose interval, with this number of targets, should end below
    the limit. The others are on the frontier, those near the limit first.
    """
    goal = max(limit - STANDARD_ERRORS * math.sqrt(limit * (1 - limit) / targets), 0.0)
    measured = [_measured(candidate) for candidate in candidates]
    below = sorted((each for each in measured if each.identified <= goal), key=lambda each: -each.utility)
    edge = sorted(undominated(measured), key=lambda each: abs(each.identified - limit))
    order = dict.fromkeys(each.steps for each in [*below[: count // 2], *edge, *below])
    chosen = set(list(order)[:count])
    return [candidate for candidate in candidates if candidate.steps in chosen]


def propose_combinations(tried: Mapping[Steps, Candidate], limit: float, count: int) -> list[Steps]:
    """Combinations that were not tried yet and promise most.

    One half should keep most utility below the limit, the others are spread over the expected frontier.
    """
    expected = [each for each in _expected_combinations(tried) if each.steps not in tried]
    return most_promising(expected, limit, count)


def most_promising(expected: Sequence[Expectation], limit: float, count: int) -> list[Steps]:
    """One half should keep most utility below the limit, the others are spread over the expected frontier."""
    best = sorted(expected, key=lambda each: (-each.utility, each.identified))
    near: list[Steps] = []
    for factor in LIMIT_FACTORS:
        below = [each.steps for each in best if each.identified <= factor * limit and each.steps not in near]
        near += below[: max(1, count // (2 * len(LIMIT_FACTORS)))]
    edge = sorted(undominated(expected), key=lambda each: each.identified)
    spread = [edge[at * len(edge) // count].steps for at in range(count)] if edge else []
    return list(dict.fromkeys([*near, *spread]))[:count]


def _expected_combinations(tried: Mapping[Steps, Candidate]) -> list[Expectation]:
    """What to expect of all combinations of at most one tried step of each family."""
    singles = [steps[0] for steps in tried if len(steps) == 1]
    families = list(dict.fromkeys([*FAMILIES, *map(step_family, singles)]))
    choices = [[None, *(step for step in singles if step_family(step) == name)] for name in families]
    known = {steps: smoothed(candidate) for steps, candidate in tried.items()}
    combinations = (tuple(step for step in chosen if step is not None) for chosen in product(*choices))
    return [_expectation(steps, known) for steps in combinations if len(steps) >= 2]


def _expectation(steps: Steps, known: Mapping[Steps, Expectation]) -> Expectation:
    """What was measured for the largest tried part, times the effect of each further step on its own.

    Shares multiply if the steps work independently.
    """
    part = max((subset for subset in _parts(steps) if subset in known), key=len)
    identified, utility = known[part].identified, known[part].utility
    for step in steps:
        if step not in part:
            identified *= known[(step,)].identified / max(known[()].identified, MIN_RISK)
            utility *= known[(step,)].utility
    return Expectation(steps, identified, utility)


def _parts(steps: Steps) -> list[Steps]:
    """The steps themselves, all but one of them, and each alone."""
    without = [(*steps[:at], *steps[at + 1 :]) for at in range(len(steps))]
    return [steps, *without, *((step,) for step in steps)]


def smoothed(candidate: Candidate) -> Expectation:
    """What was measured, with half a person more identified, so that a rate of 0 does not stay 0."""
    n, utility = candidate.rate.n, round(candidate.utility_kept, DIGITS)
    identified = (candidate.rate.value * n + 0.5) / (n + 1)
    return Expectation(candidate.steps, identified, min(max(utility, 0.0), 1.0))


def _measured(candidate: Candidate) -> Expectation:
    return Expectation(candidate.steps, candidate.rate.value, round(candidate.utility_kept, DIGITS))


def undominated(expectations: Sequence[Expectation]) -> list[Expectation]:
    """Those for which no other has less risk and at least as much utility, or more utility at equal risk."""
    most, chosen = float("-inf"), []
    for each in sorted(expectations, key=lambda each: (each.identified, -each.utility, len(each.steps))):
        if each.utility > most:
            most = each.utility
            chosen.append(each)
    return chosen


# Which combinations of steps on columns are worth trying.
#
# There is one family of steps for each column, so there are too many combinations to look at each. Log-odds
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

Candidates = Mapping[Steps, Candidate]


class Effect(NamedTuple):
    """What a step adds to the log-odds of being identified, and to the log of the utility."""

    odds: float
    utility: float


NO_EFFECT = Effect(0.0, 0.0)
Combination = tuple[Steps, Effect]


def propose_column_combinations(tried: Candidates, limit: float, count: int, known_share: float) -> list[Steps]:
    """Combinations that were not tried yet and promise most; see `most_promising`.

    `known_share` is the share of the attributes that the adversary knows.
    """
    effects = _effects(tried, known_share)
    expected = {each.steps: each for each in _column_frontier(tried, effects)}
    expected |= {each.steps: each for each in _neighbours(tried, effects, limit)}
    untried = [each for steps, each in expected.items() if steps not in tried]
    useful = [each for each in untried if each.identified >= LEAST_RISK * limit]
    return most_promising(useful or untried, limit, count)


def _effects(tried: Candidates, known_share: float) -> dict[Step, Effect]:
    """The effect of each single step that was tried."""
    untouched = tried[()]
    start = _point(untouched)
    effects = {}
    for steps, candidate in tried.items():
        if len(steps) == 1:
            odds, utility = (after - before for after, before in zip(_point(candidate), start, strict=True))
            if untouched.rate.value > SATURATED:
                before, after = untouched.utility.bits, candidate.utility.bits
                lost = 0.0 if before is None or after is None else before.value - after.value
                odds = min(odds, -math.log(2.0) * lost * known_share)
            effects[steps[0]] = Effect(odds, utility)
    return effects


def _point(candidate: Candidate) -> Effect:
    """Log-odds of being identified, and log of the utility."""
    expectation = smoothed(candidate)
    risk = expectation.identified
    return Effect(math.log(risk / (1.0 - risk)), math.log(max(expectation.utility, LEAST_UTILITY)))


def _column_frontier(tried: Candidates, effects: Mapping[Step, Effect]) -> list[Expectation]:
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
        _expected(steps, start.odds + slope * effect.odds, start.utility + effect.utility)
        for steps, effect in _thinned(combinations)
        if len(steps) >= 2
    ]


def _column_combinations(
    families: list[list[Step]], effects: Mapping[Step, Effect], last: Step | None
) -> list[Combination]:
    """The frontier of all combinations of steps on columns that a step on classes can follow."""
    combinations: list[Combination] = [((), NO_EFFECT)]
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
        families.setdefault(step_family(step), []).append(step)
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


def _slope(tried: Candidates, effects: Mapping[Step, Effect]) -> float:
    """Measured effect of the combinations so far / the sum of the effects of their steps."""
    start, products, squares = _point(tried[()]).odds, 0.0, 0.0
    for steps, candidate in tried.items():
        if len(steps) >= 2 and all(step in effects for step in steps):
            expected = math.fsum(effects[step].odds for step in steps)
            products += expected * (_point(candidate).odds - start)
            squares += expected * expected
    return min(max(products / squares, SLOPES[0]), SLOPES[1]) if squares else 1.0


def _neighbours(tried: Candidates, effects: Mapping[Step, Effect], limit: float) -> list[Expectation]:
    """Tried candidates near the limit with one step added, removed or replaced."""
    combined = [each for steps, each in tried.items() if all(step in effects for step in steps)]
    goal = math.log(limit / (1.0 - limit))
    edge = {each.steps for each in undominated([smoothed(each) for each in combined])}
    near = sorted((each for each in combined if each.steps in edge), key=lambda each: abs(_point(each).odds - goal))
    columns, classes = _families(effects)
    order = [*(step for family in columns for step in family), *classes]
    return [each for base in near[:NEIGHBOURS_OF] for each in _changed(base, effects, order)]


def _changed(base: Candidate, effects: Mapping[Step, Effect], order: list[Step]) -> list[Expectation]:
    point, changed = _point(base), []
    own = {step_family(step): step for step in base.steps}
    variants: list[tuple[str, Step | None]] = [(family, None) for family in own]
    variants += [(step_family(step), step) for step in order]
    for family, step in variants:
        old = effects[own[family]] if family in own else NO_EFFECT
        new = effects[step] if step is not None else NO_EFFECT
        chosen = {**own, family: step}
        steps = tuple(each for each in order if each in chosen.values())
        if len(steps) >= 2 and all(_fits(steps, each) for each in steps):
            odds, utility = point.odds + new.odds - old.odds, point.utility + new.utility - old.utility
            changed.append(_expected(steps, odds, utility))
    return changed


def _expected(steps: Steps, odds: float, utility: float) -> Expectation:
    return Expectation(steps, 1.0 / (1.0 + math.exp(-odds)), min(math.exp(utility), 1.0))
