"""How many people the strongest of several attacks identifies.

The Bayesian attack knows the steps and the adversary's errors; the paper's attack and the user's own are
candidates too.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from standout.attack.any_attack import AnyAttack, fit_attack
from standout.attack.column_scores import AttackName, attack_columns, attack_named
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.rng import generator
from standout.evaluate.compare import candidate_attacks, cross_fit
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.simulate import success_rates
from standout.evaluate.targets import Population, column_targets
from standout.findings.advice import Among
from standout.know.adversary import Adversary
from standout.know.sanitized import Sanitized

BATCH = 256
COLUMN_ATTACKS: tuple[AttackName, ...] = ("likelihood", "paper", "exact match")
"""The attacks that are tried on columns, the strongest in theory first."""


@dataclass(frozen=True, slots=True)
class IdentificationRisk:
    """Share of targets who are identified: of all, and of those whom a record of the release represents.

    Targets missing from the release count as not identified. `attack` is the name of the strongest attack:
    "likelihood", "paper", "exact match" or one of the user's own. Two names if the halves of the targets differ.
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

    Without columns, the attack for each half of the targets is chosen on the other half. `own_attacks` are
    candidates besides the paper's and the Bayesian one.
    """
    if safer.columns:
        return _column_risk(safer, adversary, targets, seed, threads, own_attacks or {})
    people = Population.of(safer)
    order = generator(seed, "targets").permutation(people.original.n_records)
    drawn = order[adversary.eligible(people.original, order)][:targets]
    if not len(drawn):
        raise ParameterError("no record has as many items as the adversary knows")
    attacks = candidate_attacks(safer, adversary)
    attacks |= {name: fit_attack(attack, adversary) for name, attack in (own_attacks or {}).items()}
    is_present = people.record_of(drawn) >= 0
    strongest = cross_fit(
        {name: _successes(attack, people, adversary, drawn, seed, threads) for name, attack in attacks.items()}
    )
    success, baseline = strongest.success, 1 / safer.n_records
    return IdentificationRisk(
        everybody=_rate(float(success.sum()), len(success), float(is_present.mean()) * baseline),
        released=_rate(float(success[is_present].sum()), int(is_present.sum()), baseline),
        attack=strongest.name,
    )


def _rate(identified: float, n: int, baseline: float) -> Estimate:
    # The sum of shares like 1/3 may exceed the number of targets by rounding.
    return rate(min(identified, n), n, baseline)


def _successes(
    attack: AnyAttack, people: Population, adversary: Adversary, targets: Ints, seed: int, threads: int | None
) -> Floats:
    """Probability that the best guess is right, for each target: 1/t in a tie of t."""
    parts = []
    for low in range(0, len(targets), BATCH):
        batch = targets[low : low + BATCH]
        known = people.known_facts(adversary, batch, seed)
        parts.append(success_rates(people.release, known, batch, [adversary.knows], threads, attack)[:, 0])
    return np.concatenate(parts)


def _column_risk(
    safer: Sanitized,
    adversary: Adversary,
    targets: int,
    seed: int,
    threads: int | None,
    own_attacks: Mapping[str, AnyAttack],
) -> IdentificationRisk:
    """The same for columns.

    The strongest attack is the one that identifies most of these targets. So the rate is a little too high,
    by less than its sampling error. Choosing the attack on other targets would have no such bias, but where
    few are identified it often chooses the weaker attack, and the rate is then too low: a limit would be met
    by chance.
    """
    rows, _ = column_targets(safer, adversary, targets, seed)
    facts = adversary.observe_all(safer.original, rows, seed)
    attacks = {name: attack_named(name, adversary) for name in COLUMN_ATTACKS} | dict(own_attacks)
    is_present = safer.mapping.representatives[rows] >= 0
    success = {name: attack_columns(safer, facts, attack, threads=threads).found for name, attack in attacks.items()}
    strongest = max(success, key=lambda name: math.fsum(success[name]))  # the first of equally strong ones
    found, baseline = success[strongest], 1 / safer.n_records
    return IdentificationRisk(
        everybody=_rate(math.fsum(found), len(found), float(is_present.mean()) * baseline),
        released=_rate(math.fsum(found[is_present]), int(is_present.sum()), baseline),
        attack=strongest,
    )
