"""The search: many ways quickly, fewer fully, and what it would recommend once more afresh."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from standout.advising.candidate import Point
from standout.advising.frontier import DIGITS, Steps, promising, proposed
from standout.advising.menu import menu
from standout.advising.runner import Lab
from standout.core.errors import ParameterError
from standout.core.progress import Progress

__all__ = ["Found", "searched"]

COMBINED, AGAIN, FINAL, ATTEMPTS = 24, 16, 12, 3
"""Combinations of the first round and of the second, ways that are tried fully, and at most afresh."""


@dataclass(slots=True)
class Found:
    """What was tried, by steps, each as well as it was tried; what was refused, and why.

    `recommended` was measured afresh and stays below the limit; those in `failed` did not.
    """

    points: dict[Steps, Point] = field(default_factory=dict)
    impossible: dict[str, str] = field(default_factory=dict)
    recommended: Point | None = None
    failed: list[Point] = field(default_factory=list)
    complete: bool = False


def searched(lab: Lab, limit: float, candidates: Sequence[Steps] | None, progress: Progress) -> Found:
    """The search for the cheapest way below the limit. Ctrl-C ends it with what there is."""
    found = Found()
    try:
        singles = [(step,) for step in menu(lab.release, limit)] if candidates is None else candidates
        _quickly(lab, [(), *singles], found, "trying steps", progress)
        if candidates is None:
            for count in (COMBINED, AGAIN):
                combined = proposed(found.points, limit, count)
                _quickly(lab, combined, found, "trying combinations", progress)
        _fully(lab, limit, found, progress)
        _afresh(lab, limit, found, progress)
        found.complete = True
    except KeyboardInterrupt:
        if len(found.points) < 2:
            raise
    return found


def _quickly(lab: Lab, ways: Sequence[Steps], found: Found, stage: str, progress: Progress) -> None:
    for done, steps in enumerate(ways):
        progress(stage, done, len(ways))
        try:
            found.points[steps] = lab.quick(steps)
        except ParameterError as error:  # a step that would leave nothing
            if not steps:
                raise
            found.impossible[" + ".join(map(str, steps))] = str(error)


def _fully(lab: Lab, limit: float, found: Found, progress: Progress) -> None:
    """Those on the frontier or near it, the untouched release among them."""
    best = promising(list(found.points.values()), limit, lab.targets, FINAL)
    some = [(), *(point.steps for point in best if point.steps)]
    for done, steps in enumerate(some):
        progress("trying the best", done, len(some))
        found.points[steps] = lab.full(steps)


def _afresh(lab: Lab, limit: float, found: Found, progress: Progress) -> None:
    """The one that leaves most of those below the limit, with fresh facts and noise; else the next."""
    below = [
        point for point in found.points.values()
        if point.stage == "full" and point.share.high <= limit
    ]  # fmt: skip
    order = sorted(below, key=lambda point: (-round(point.kept, DIGITS), len(point.steps)))[:ATTEMPTS]
    for done, point in enumerate(order):
        progress("measuring afresh", done, len(order))
        again = lab.fresh(point.steps)
        if again.share.high <= limit:
            found.recommended = again
            return
        found.failed.append(again)
