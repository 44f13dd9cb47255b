"""How many people the strongest of several attacks identifies.

The Bayesian attack knows the steps and the adversary's errors; the paper's attack and the user's own are
candidates too.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from standout.adversary import Adversary
from standout.attack.any_attack import AnyAttack, fit_attack
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.rng import generator
from standout.evaluate.candidate_attacks import candidate_attacks, cross_fit
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.population import Population
from standout.evaluate.success_rate import success_rates
from standout.findings.advice import Among
from standout.sanitized import Sanitized

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
        Name of the strongest attack: "likelihood", "paper" or one of the user's own. Two names if the halves
        of the targets differ.
    """

    everybody: Estimate
    released: Estimate
    attack: str

    def rate(self, among: Among) -> Estimate:
        """Share of identified people among those whom a limit applies to."""
        return self.everybody if among == "everybody" else self.released


def identification_risk(
    safer: Sanitized,
    adversary: Adversary,
    targets: int,
    seed: int,
    threads: int | None = None,
    own_attacks: Mapping[str, AnyAttack] | None = None,
) -> IdentificationRisk:
    """Share of targets whom the strongest attack identifies; targets are drawn as `simulate` draws them.

    The attack for each half of the targets is chosen on the other half. `own_attacks` are candidates besides
    the paper's and the Bayesian one.
    """
    people = Population.of(safer)
    order = generator(seed, "targets").permutation(people.original.n_records)
    drawn = order[adversary.eligible(people.original, order)][:targets]
    if not len(drawn):
        raise ParameterError("no record has as many items as the adversary knows")
    attacks = candidate_attacks(safer, adversary)
    attacks |= {name: fit_attack(attack, adversary) for name, attack in (own_attacks or {}).items()}
    is_present = people.record_of(drawn) >= 0
    strongest = cross_fit(
        {
            name: _successes(attack, people, adversary, drawn, seed, threads)
            for name, attack in attacks.items()
        }
    )
    success, baseline = strongest.success, 1 / safer.n_records
    return IdentificationRisk(
        everybody=_rate(success, float(is_present.mean()) * baseline),
        released=_rate(success[is_present], baseline),
        attack=strongest.name,
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
