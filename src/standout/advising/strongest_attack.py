"""How many people the strongest of several attacks identifies.

The Bayesian attack knows the steps and the adversary's errors; the paper's attack and the user's own are
candidates too.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from standout.attack.any_attack import AnyAttack, fit_attack
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.rng import generator
from standout.data.release import Release
from standout.evaluate.compare import candidate_attacks, cross_fit
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.target_attacks import success_rates
from standout.evaluate.targets import Population
from standout.findings.advice import Among
from standout.know.adversary import Adversary
from standout.know.sanitized import Sanitized
from standout.sanitizing.cluster import ClusterRecords
from standout.sanitizing.km import KmSuppress
from standout.sanitizing.step import Step
from standout.sanitizing.suppression_steps import (
    CapRecords,
    DropEntries,
    DropRareItems,
    DropTopItems,
    MergeRepeats,
    SampleRecords,
)
from standout.sanitizing.value_steps import PerturbTime, PerturbValue, RandomizedResponse, RoundTime, RoundValue

__all__ = ["FAMILIES", "IdentificationRisk", "built_in_steps", "identification_risk", "step_family"]

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
        {name: _successes(attack, people, adversary, drawn, seed, threads) for name, attack in attacks.items()}
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
    attack: AnyAttack, people: Population, adversary: Adversary, targets: Ints, seed: int, threads: int | None
) -> Floats:
    """Probability that the best guess is right, for each target: 1/t in a tie of t."""
    parts = []
    for low in range(0, len(targets), BATCH):
        batch = targets[low : low + BATCH]
        known = people.known_facts(adversary, batch, seed)
        parts.append(success_rates(people.release, known, batch, [adversary.knows], threads, attack)[:, 0])
    return np.concatenate(parts)


# The steps that are tried by default: each kind of step in several strengths.


FAMILIES: dict[str, tuple[type[Step], ...]] = {
    "times": (RoundTime, PerturbTime),
    "values": (RoundValue, PerturbValue, RandomizedResponse),
    "items": (DropRareItems, DropTopItems, KmSuppress),
    "repeats": (MergeRepeats,),
    "entries": (DropEntries, CapRecords),
    "records": (SampleRecords, ClusterRecords),
}
"""Steps of one family are alternatives: they are not combined with each other."""
SAFE_SAMPLE, MIN_SAMPLE = 0.6, 10
"""A sample of this share of the limit meets it even if everybody in it is identified; its minimum size."""
MAX_KM_ENTRIES = 20_000_000
"""On larger releases kᵐ-suppression is not tried, because it counts pairs of items."""


def step_family(step: Step) -> str:
    """What a step changes."""
    return next((name for name, kinds in FAMILIES.items() if isinstance(step, kinds)), step.name)


def built_in_steps(release: Release, limit: float) -> list[Step]:
    """Single steps that suit the release, weak ones first in each family.

    One of them is a sample so small that it meets a limit for everybody even if all people in it are
    identified.
    """
    steps: list[Step] = []
    if release.span:
        steps += [RoundTime(to) for to in ("month", "year", "none")] + [PerturbTime(90), PerturbTime(365)]
    steps += _value_steps(release)
    steps += [DropRareItems(k) for k in (3, 10, 50) if _suits_drop_rare_items(release, k)]
    steps += [DropTopItems(k) for k in _top_counts(release)]
    steps += [KmSuppress(2, 2)] if release.n_entries <= MAX_KM_ENTRIES else []
    steps += [MergeRepeats("last")] if release.has_repeats else []
    steps += [DropEntries(share) for share in (0.25, 0.5, 0.75, 0.9)]
    steps += [CapRecords(length) for length in _caps(release)]
    samples = (0.5, 0.2, round(SAFE_SAMPLE * limit, 4))
    steps += [SampleRecords(share) for share in samples if share * release.n_records >= MIN_SAMPLE]
    return steps + [ClusterRecords(k) for k in (2, 5, 10, 25) if 4 * k <= release.n_records]


def _value_steps(release: Release) -> list[Step]:
    levels = release.levels
    if levels is None or len(levels) < 2:
        return []
    response: list[Step] = [RandomizedResponse(3), RandomizedResponse(1)]
    if isinstance(levels, tuple):
        return [PerturbValue(None, 0.5), *response, RoundValue(to="none")]
    quarter = float(levels[-1] - levels[0]) / 4
    smallest_gap = float(np.diff(levels).min())
    noise: list[Step] = [
        PerturbValue(max(quarter, smallest_gap), 0.5),
        PerturbValue(max(2 * quarter, smallest_gap), 1.0),
    ]
    return [RoundValue(bins=3), RoundValue(bins=2), *noise, *response, RoundValue(to="none")]


def _suits_drop_rare_items(release: Release, k: int) -> bool:
    """Whether dropping items with a support below k drops some, and keeps most entries."""
    rare = release.support < k
    return bool(rare.any()) and float(release.item_entries[rare].sum()) < release.n_entries / 2


def _top_counts(release: Release) -> list[int]:
    return sorted({k for k in (release.n_items // 200, release.n_items // 50) if k >= 1})


def _caps(release: Release) -> list[int]:
    """The median number of entries of a record, and a quarter of it."""
    median = int(np.median(release.lengths))
    return sorted({length for length in (median // 4, median) if length >= 2}, reverse=True)
