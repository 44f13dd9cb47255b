"""How many people the strongest of several attacks identifies: see `sanitizing.noise_aware`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from standout.adversary import Adversary
from standout.attack.scoreboard import ScoreboardRH
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.rng import generator
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.population import Population
from standout.evaluate.success_rate import success_rates
from standout.sanitized import Sanitized
from standout.sanitizing.noise_aware import noise_aware_attacks
from standout.sanitizing.step import Step

__all__ = ["Among", "Risk", "risk"]

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
    people = Population.of(safer)
    order = generator(seed, "targets").permutation(people.original.n_records)
    places = order[adversary.eligible(people.original, order)][:targets]
    if not len(places):
        raise ParameterError("nobody has as many items as the adversary knows")
    there = people.record_of(places) >= 0
    tried = {
        name: _right(attack, people, adversary, places, seed, threads)
        for name, attack in noise_aware_attacks(safer, steps, adversary).items()
    }
    strongest = max(tried, key=lambda name: float(tried[name].sum()))
    right, one = tried[strongest], 1 / safer.n_records
    return Risk(
        rate(min(float(right.sum()), len(right)), len(right), float(there.mean()) * one),
        rate(min(float(right[there].sum()), int(there.sum())), int(there.sum()), one),
        strongest,
    )


def _right(
    attack: ScoreboardRH,
    people: Population,
    adversary: Adversary,
    places: Ints,
    seed: int,
    threads: int | None,
) -> Floats:
    """The chance that the best guess is right, for each person: 1/ties if the record is among the best."""
    parts = []
    for low in range(0, len(places), BATCH):
        here = places[low : low + BATCH]
        known = people.known_facts(adversary, here, seed)
        parts.append(success_rates(people.release, known, here, [adversary.knows], threads, attack)[:, 0])
    return np.concatenate(parts)
