"""Attacks that allow for the noise which a publisher added.

Noise that misleads the paper's attack does not protect from an adversary who knows about it. Such an
adversary tolerates dates that are a year off, or ignores dates. Where steps add noise to dates or values,
these attacks are tried too, and the one that identifies most people counts.
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

TIME_NOISE = (PerturbTime, ClusterRecords)
VALUE_NOISE = (PerturbValue, RandomizedResponse, ClusterRecords)
"""Steps that make dates or values differ from known facts. Rounding does not: facts are rounded too."""
NOISY = {kind.name for kind in (*TIME_NOISE, *VALUE_NOISE)}
TIME_SCALE, VALUE_SCALE = 30.0, 1.5
"""The paper's d0 and ρ0."""
WIDE = 2.0
"""d0 of an attack that allows for noise, as a multiple of the largest shift in days."""


def noise_steps(release: Release) -> list[Step]:
    """Steps that made dates or values of a release differ from known facts."""
    reports = release.step_reports if isinstance(release, Sanitized) else ()
    return [parse_step(report.step) for report in reports if report.step.split(maxsplit=1)[0] in NOISY]


def noise_aware_attacks(
    release: Release, steps: Sequence[Step], adversary: Adversary
) -> dict[str, ScoreboardRH]:
    """Return the paper's attack, named "", and those that allow for the noise of these steps.

    The others ignore dates or values, use a wider scale, or count what lies within the noise and the
    adversary's own error.
    """
    times: dict[str, float | None] = {"": TIME_SCALE}
    values: dict[str, float | None] = {"": VALUE_SCALE}
    if release.span and any(isinstance(step, TIME_NOISE) for step in steps):
        times["without dates"] = None
        days = WIDE * max((step.days for step in steps if isinstance(step, PerturbTime)), default=0.0)
        if days > TIME_SCALE:
            times[f"dates within about {days:g} days"] = days
    if release.n_levels and any(isinstance(step, VALUE_NOISE) for step in steps):
        values["without values"] = None
    attacks = {
        ", ".join(filter(None, (time_name, value_name))): ScoreboardRH(value_scale=value, time_scale=time)
        for time_name, time in times.items()
        for value_name, value in values.items()
    }
    return attacks | _within_noise(release, steps, adversary) if len(attacks) > 1 else attacks


def _within_noise(release: Release, steps: Sequence[Step], adversary: Adversary) -> dict[str, ScoreboardRH]:
    """Attack that counts what lies within the noise of the steps; empty if the noise has no bounds."""
    if any(isinstance(step, ClusterRecords) for step in steps):
        return {}
    value, time = _value_bound(release, steps, adversary), _time_bound(release, steps, adversary)
    if value is None and time is None:
        return {}
    return {"counting what lies within the noise": ScoreboardRH(Within(value=value, time=time))}


def _value_bound(release: Release, steps: Sequence[Step], adversary: Adversary) -> float | None:
    errors = [step.error for step in steps if isinstance(step, PerturbValue)]
    bounded = [error for error in errors if error is not None]
    is_unbounded = len(bounded) < len(errors) or any(isinstance(step, RandomizedResponse) for step in steps)
    if not isinstance(release.levels, np.ndarray) or adversary.value_error is None or is_unbounded:
        return None
    return adversary.value_error + sum(bounded)


def _time_bound(release: Release, steps: Sequence[Step], adversary: Adversary) -> float | None:
    if not release.span or adversary.time_error is None:
        return None
    return adversary.time_error + sum([step.days for step in steps if isinstance(step, PerturbTime)])
