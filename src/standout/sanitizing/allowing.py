"""Attacks that allow for what a publisher did.

Noise that misleads the paper's attack does not protect from somebody who knows of it: whoever hears that
dates were moved by a year allows for that, or leaves dates out. Where steps add noise to dates or values, the
attack is therefore also tried so, and the one that finds most people counts.
"""

from collections.abc import Sequence

from standout.attack.score import ScoreboardRH
from standout.release.model import Release
from standout.sanitized import Sanitized
from standout.sanitizing.cluster import ClusterRecords
from standout.sanitizing.response import RandomizedResponse
from standout.sanitizing.step import Step
from standout.sanitizing.text import step as step_of
from standout.sanitizing.times import PerturbTime
from standout.sanitizing.values import PerturbValue

__all__ = ["attacks_on", "noise_in"]

OF_TIMES, OF_VALUES = (PerturbTime, ClusterRecords), (PerturbValue, RandomizedResponse, ClusterRecords)
"""What makes dates or values differ from what is known. Rounding does not: what is known is rounded too."""
NOISY = {kind.name for kind in (*OF_TIMES, *OF_VALUES)}
DAYS, VALUES = 30.0, 1.5
"""The paper's d0 and ρ0."""
WIDE = 2.0
"""An attack that allows for noise takes so many times its days for d0."""


def noise_in(release: Release) -> list[Step]:
    """The steps by which dates or values of a release differ from what is known of people."""
    done = release.done if isinstance(release, Sanitized) else ()
    return [step_of(one.step) for one in done if one.step.split(maxsplit=1)[0] in NOISY]


def attacks_on(release: Release, steps: Sequence[Step]) -> dict[str, ScoreboardRH]:
    """The paper's attack, "", and those that allow for the noise of these steps, by how they differ."""
    times: dict[str, float | None] = {"": DAYS}
    values: dict[str, float | None] = {"": VALUES}
    if release.span and any(isinstance(step, OF_TIMES) for step in steps):
        times["without dates"] = None
        days = WIDE * max((step.days for step in steps if isinstance(step, PerturbTime)), default=0.0)
        times |= {f"dates within about {days:g} days": days} if days > DAYS else {}
    if release.n_levels and any(isinstance(step, OF_VALUES) for step in steps):
        values["without values"] = None
    return {
        ", ".join(filter(None, (of_times, of_values))): ScoreboardRH(value_scale=value, time_scale=time)
        for of_times, time in times.items()
        for of_values, value in values.items()
    }
