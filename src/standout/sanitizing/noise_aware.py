"""Attacks that allow for what a publisher did.

Noise that misleads the paper's attack does not protect from somebody who knows of it: whoever hears that
dates were moved by a year allows for that, or leaves dates out. Where steps add noise to dates or values, the
attack is therefore also tried so, and the one that finds most people counts.
"""

from collections.abc import Sequence

import numpy as np

from standout.adversary import Adversary
from standout.attack.scoreboard import ScoreboardRH
from standout.release.model import Release
from standout.sanitized import Sanitized
from standout.sanitizing.cluster import ClusterRecords
from standout.sanitizing.randomized_response import RandomizedResponse
from standout.sanitizing.step import Step
from standout.sanitizing.step_parser import parse_step
from standout.sanitizing.time_steps import PerturbTime
from standout.sanitizing.value_steps import PerturbValue
from standout.similarity.attributes import Within

__all__ = ["noise_aware_attacks", "noise_steps"]

OF_TIMES, OF_VALUES = (PerturbTime, ClusterRecords), (PerturbValue, RandomizedResponse, ClusterRecords)
"""What makes dates or values differ from what is known. Rounding does not: what is known is rounded too."""
NOISY = {kind.name for kind in (*OF_TIMES, *OF_VALUES)}
DAYS, VALUES = 30.0, 1.5
"""The paper's d0 and ρ0."""
WIDE = 2.0
"""An attack that allows for noise takes so many times its days for d0."""


def noise_steps(release: Release) -> list[Step]:
    """The steps by which dates or values of a release differ from what is known of people."""
    done = release.step_reports if isinstance(release, Sanitized) else ()
    return [parse_step(one.step) for one in done if one.step.split(maxsplit=1)[0] in NOISY]


def noise_aware_attacks(
    release: Release, steps: Sequence[Step], adversary: Adversary
) -> dict[str, ScoreboardRH]:
    """The paper's attack, "", and those that allow for the noise of these steps, by how they differ: without
    dates or values, with a wider scale, or counting what lies within noise and the adversary's own error."""
    times: dict[str, float | None] = {"": DAYS}
    values: dict[str, float | None] = {"": VALUES}
    if release.span and any(isinstance(step, OF_TIMES) for step in steps):
        times["without dates"] = None
        days = WIDE * max((step.days for step in steps if isinstance(step, PerturbTime)), default=0.0)
        times |= {f"dates within about {days:g} days": days} if days > DAYS else {}
    if release.n_levels and any(isinstance(step, OF_VALUES) for step in steps):
        values["without values"] = None
    ways = {
        ", ".join(filter(None, (of_times, of_values))): ScoreboardRH(value_scale=value, time_scale=time)
        for of_times, time in times.items()
        for of_values, value in values.items()
    }
    return ways | _within(release, steps, adversary) if len(ways) > 1 else ways


def _within(release: Release, steps: Sequence[Step], adversary: Adversary) -> dict[str, ScoreboardRH]:
    """The attack that counts what lies within the noise of the steps; none where that has no bounds."""
    if any(isinstance(step, ClusterRecords) for step in steps):
        return {}
    days = [step.days for step in steps if isinstance(step, PerturbTime)]
    noise = [step.error for step in steps if isinstance(step, PerturbValue)]
    known, when, value, time = adversary.value_error, adversary.time_error, None, None
    bounded = [error for error in noise if error is not None]
    if isinstance(release.levels, np.ndarray) and known is not None and len(bounded) == len(noise):
        value = None if any(isinstance(step, RandomizedResponse) for step in steps) else known + sum(bounded)
    if release.span and when is not None:
        time = when + sum(days)
    if value is None and time is None:
        return {}
    return {"counting what lies within the noise": ScoreboardRH(Within(value=value, time=time))}
