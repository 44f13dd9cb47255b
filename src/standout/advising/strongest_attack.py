"""How many people the strongest of several attacks identifies: see `sanitizing.noise_aware`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from standout.adversary import Adversary
from standout.attack.any_attack import AnyAttack
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.rng import generator
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.population import Population
from standout.evaluate.success_rate import success_rates
from standout.findings.advice import Among
from standout.sanitized import Sanitized
from standout.sanitizing.noise_aware import noise_aware_attacks
from standout.sanitizing.step import Step

__all__ = ["IdentificationRisk", "identification_risk"]

BATCH = 256


@dataclass(frozen=True, slots=True)
class IdentificationRisk:
    """Share of targets who are identified.

    Attributes
    ----------
    everybody
        Share of all targets. Targets missing from the release count as not identified.
    released
        Share of the targets whom a record of the release represents.
    attack
        How the strongest attack differs from the paper's: "", "without dates", …
    """

    everybody: Estimate
    released: Estimate
    attack: str

    def rate(self, among: Among) -> Estimate:
        """Share of identified people among those whom a limit applies to."""
        return self.everybody if among == "everybody" else self.released


def identification_risk(
    safer: Sanitized,
    steps: Sequence[Step],
    adversary: Adversary,
    targets: int,
    seed: int,
    threads: int | None = None,
    own_attacks: Mapping[str, AnyAttack] | None = None,
) -> IdentificationRisk:
    """Share of targets whom the strongest attack identifies; targets are drawn as `simulate` draws them.

    `own_attacks` are candidates besides those that take the noise of the steps into account.
    """
    people = Population.of(safer)
    order = generator(seed, "targets").permutation(people.original.n_records)
    drawn = order[adversary.eligible(people.original, order)][:targets]
    if not len(drawn):
        raise ParameterError("no record has as many items as the adversary knows")
    attacks: dict[str, AnyAttack] = {**noise_aware_attacks(safer, steps, adversary), **(own_attacks or {})}
    is_present = people.record_of(drawn) >= 0
    successes = {
        name: _successes(attack, people, adversary, drawn, seed, threads) for name, attack in attacks.items()
    }
    strongest = max(successes, key=lambda name: float(successes[name].sum()))
    success, baseline = successes[strongest], 1 / safer.n_records
    return IdentificationRisk(
        everybody=_rate(success, float(is_present.mean()) * baseline),
        released=_rate(success[is_present], baseline),
        attack=strongest,
    )


def _rate(success: Floats, baseline: float) -> Estimate:
    # The sum of shares like 1/3 may exceed the number of targets by rounding.
    return rate(min(float(success.sum()), len(success)), len(success), baseline)


def _successes(
    attack: AnyAttack,
    people: Population,
    adversary: Adversary,
    targets: Ints,
    seed: int,
    threads: int | None,
) -> Floats:
    """Probability that the best guess is right, for each target: 1/t in a tie of t."""
    parts = []
    for low in range(0, len(targets), BATCH):
        batch = targets[low : low + BATCH]
        known = people.known_facts(adversary, batch, seed)
        parts.append(success_rates(people.release, known, batch, [adversary.knows], threads, attack)[:, 0])
    return np.concatenate(parts)
