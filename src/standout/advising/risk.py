"""How many people are found in a release, by the strongest of several attacks.

Noise that misleads the paper's attack does not protect from somebody who knows of it: whoever hears that
dates were moved by a year allows for it, or leaves dates out. Where steps add noise to dates or values, the
attack is therefore also tried so, and the highest rate counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from standout.adversary import Adversary
from standout.attack.score import ScoreboardRH
from standout.errors import ParameterError
from standout.measure.estimate import Estimate, rate
from standout.measure.outcomes import own_scores
from standout.measure.people import People
from standout.rng import generator
from standout.sanitized import Sanitized
from standout.sanitizing.cluster import ClusterRecords
from standout.sanitizing.response import RandomizedResponse
from standout.sanitizing.step import Step
from standout.sanitizing.times import PerturbTime
from standout.sanitizing.values import PerturbValue

__all__ = ["Among", "Risk", "risk"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
OF_TIMES, OF_VALUES = (PerturbTime, ClusterRecords), (PerturbValue, RandomizedResponse, ClusterRecords)
"""What makes dates or values differ from what is known. Rounding does not: what is known is rounded too."""
DAYS, VALUES = 30.0, 1.5
"""The paper's d0 and ρ0."""
WIDE = 2.0
"""An attack that allows for noise takes so many times its days for d0."""
BATCH = 256

Among = Literal["everybody", "released"]


@dataclass(frozen=True, slots=True)
class Risk:
    """The share of people whose record is the best guess.

    everybody   of all whom the adversary can know: who is not in the release is not found
    released    of those for whom a record of the release stands
    attack      how the strongest attack differs from the paper's: "", "without dates", …
    """

    everybody: Estimate
    released: Estimate
    attack: str

    def among(self, whom: Among) -> Estimate:
        """The share of those whom the limit is for."""
        return self.everybody if whom == "everybody" else self.released


def risk(
    safer: Sanitized,
    steps: Sequence[Step],
    adversary: Adversary,
    targets: int,
    seed: int,
    threads: int | None = None,
) -> Risk:
    """How many of so many people are found, drawn as `standout.simulate` draws them."""
    people = People.of(safer)
    order = generator(seed, "targets").permutation(people.truth.n_records)
    places = order[adversary.eligible(people.truth, order)][:targets]
    if not len(places):
        raise ParameterError("nobody has as many items as the adversary knows")
    there = people.stands(places) >= 0
    tried = {
        name: _right(attack, people, adversary, places, seed, threads)
        for name, attack in _attacks(safer, steps).items()
    }
    strongest = max(tried, key=lambda name: float(tried[name].sum()))
    right, one = tried[strongest], 1 / safer.n_records
    return Risk(
        rate(min(float(right.sum()), len(right)), len(right), float(there.mean()) * one),
        rate(min(float(right[there].sum()), int(there.sum())), int(there.sum()), one),
        strongest,
    )


def _attacks(safer: Sanitized, steps: Sequence[Step]) -> dict[str, ScoreboardRH]:
    """The paper's attack, and those that allow for the noise of these steps, by how they differ."""
    times: dict[str, float | None] = {"": DAYS}
    values: dict[str, float | None] = {"": VALUES}
    if safer.span and any(isinstance(step, OF_TIMES) for step in steps):
        times["without dates"] = None
        days = WIDE * max((step.days for step in steps if isinstance(step, PerturbTime)), default=0.0)
        times |= {f"dates within about {days:g} days": days} if days > DAYS else {}
    if safer.n_levels and any(isinstance(step, OF_VALUES) for step in steps):
        values["without values"] = None
    return {
        ", ".join(filter(None, (of_times, of_values))): ScoreboardRH(value_scale=value, time_scale=time)
        for of_times, time in times.items()
        for of_values, value in values.items()
    }


def _right(
    attack: ScoreboardRH, people: People, adversary: Adversary, places: Ints, seed: int, threads: int | None
) -> Floats:
    """The chance that the best guess is right, for each person: 1/ties if the record is among the best."""
    parts = []
    for low in range(0, len(places), BATCH):
        here = places[low : low + BATCH]
        known = people.observed(adversary, here, seed)
        verdicts = attack.nested(people.release, known, [adversary.knows], with_z=False, threads=threads)
        score = own_scores(verdicts, people.stands(here))
        parts.append((score == verdicts.columns.highest) / np.maximum(verdicts.columns.ties, 1))
    return np.concatenate(parts)
