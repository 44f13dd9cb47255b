"""Which of many ways are worth trying: the frontier of what was measured, and what combinations promise."""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from standout.advising.candidate import Point
from standout.advising.menu import FAMILIES, family
from standout.sanitizing.step import Step

__all__ = ["DIGITS", "Guess", "frontier", "promising", "proposed"]

Steps = tuple[Step, ...]
ROOMS = (1.25, 1.0, 0.75, 0.5)
"""Some are tried of what is expected up to so many times the limit: expectations err to both sides."""
LEAST = 1e-3
DIGITS = 9
"""Shares of use are compared to so many digits: the others differ between processors."""
STRAY = 2.0
"""Standard deviations between a share and the upper end of its interval, about."""


class Guess(NamedTuple):
    """What is measured or expected of steps: the share of people found, and the share of use that is left."""

    steps: Steps
    risk: float
    kept: float


def frontier(points: Sequence[Point]) -> list[Point]:
    """Those beside which no other finds fewer people and leaves more, from the highest risk to the lowest."""
    best = {guess.steps for guess in _undominated([_measured(point) for point in points])}
    return sorted((point for point in points if point.steps in best), key=lambda point: -point.share.value)


def promising(points: Sequence[Point], limit: float, targets: int, count: int) -> list[Point]:
    """So many that are worth to be tried fully: half of them those that leave most of what may be below the
    limit for sure, the others from the frontier, those near the limit first."""
    goal = max(limit - STRAY * math.sqrt(limit * (1 - limit) / targets), 0.0)
    guesses = [_measured(point) for point in points]
    below = sorted((guess for guess in guesses if guess.risk <= goal), key=lambda guess: -guess.kept)
    edge = sorted(_undominated(guesses), key=lambda guess: abs(guess.risk - limit))
    order = dict.fromkeys(guess.steps for guess in [*below[: count // 2], *edge, *below])
    chosen = set(list(order)[:count])
    return [point for point in points if point.steps in chosen]


def proposed(tried: Mapping[Steps, Point], limit: float, count: int) -> list[Steps]:
    """So many combinations that were not tried: what is expected to leave most below the limit, and between.

    It is expected of a combination what was measured of a part of it, times what each further step alone did:
    shares multiply where steps do not know of each other.
    """
    guesses = [guess for guess in _combined(tried) if guess.steps not in tried]
    best = sorted(guesses, key=lambda guess: (-guess.kept, guess.risk))
    near = []
    for room in ROOMS:
        below = [guess.steps for guess in best if guess.risk <= room * limit and guess.steps not in near]
        near += below[: max(1, count // (2 * len(ROOMS)))]
    edge = sorted(_undominated(guesses), key=lambda guess: guess.risk)
    spaced = [edge[at * len(edge) // count] for at in range(count)] if edge else []
    others = [guess.steps for guess in spaced]
    return list(dict.fromkeys([*near, *others]))[:count]


def _combined(tried: Mapping[Steps, Point]) -> list[Guess]:
    """What is expected of all combinations of at most one tried step of each family."""
    singles = [steps[0] for steps in tried if len(steps) == 1]
    kinds = list(dict.fromkeys([*FAMILIES, *map(family, singles)]))
    choices = [[None, *(step for step in singles if family(step) == kind)] for kind in kinds]
    whole = tried[()]
    known = {steps: _seen(point) for steps, point in tried.items()}
    found = []
    for picked in product(*choices):
        steps = tuple(step for step in picked if step is not None)
        if len(steps) < 2:
            continue
        part = max((one for one in _parts(steps) if one in known), key=len)
        guess = known[part]
        risk, kept = guess.risk, guess.kept
        for step in steps:
            if step not in part:
                risk *= known[(step,)].risk / max(_seen(whole).risk, LEAST)
                kept *= known[(step,)].kept
        found.append(Guess(steps, risk, kept))
    return found


def _parts(steps: Steps) -> list[Steps]:
    """The steps themselves, without one of them, and each alone."""
    without = [(*steps[:at], *steps[at + 1 :]) for at in range(len(steps))]
    return [steps, *without, *((step,) for step in steps)]


def _seen(point: Point) -> Guess:
    """What was measured; of nobody found among n it is expected that half a person is."""
    n, kept = point.share.n, round(point.kept, DIGITS)
    return Guess(point.steps, (point.share.value * n + 0.5) / (n + 1), min(max(kept, 0.0), 1.0))


def _measured(point: Point) -> Guess:
    return Guess(point.steps, point.share.value, round(point.kept, DIGITS))


def _undominated(guesses: list[Guess]) -> list[Guess]:
    """Those beside which none has a lower risk and leaves as much, or leaves more at the same risk."""
    best, found = float("-inf"), []
    for guess in sorted(guesses, key=lambda guess: (guess.risk, -guess.kept, len(guess.steps))):
        if guess.kept > best:
            best = guess.kept
            found.append(guess)
    return found
