"""The attacks that an adversary may use on a release, and which of them is the strongest.

The strongest is always chosen on other targets than those it is reported on. The best of several attacks on
the same targets would look better than it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from standout.adversary import Adversary
from standout.attack.any_attack import AnyAttack, fit_attack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.core.arrays import Floats, Ints
from standout.core.rng import generator
from standout.evaluate.population import Population
from standout.evaluate.success_rate import success_rates
from standout.release.model import Release

__all__ = ["LIKELIHOOD", "PAPER", "CrossFit", "candidate_attacks", "choose_strongest", "cross_fit"]

PAPER, LIKELIHOOD = "paper", "likelihood"
PILOT_TARGETS = 300
"""Number of other targets on which attacks are compared."""
FEWEST = 30
"""With fewer other targets than this, attacks are compared on the reported targets with other facts."""


def candidate_attacks(release: Release, adversary: Adversary) -> dict[str, AnyAttack]:
    """The attacks of an adversary on a release, by name: the paper's and the Bayesian one.

    Parameters
    ----------
    release : Release
        The release under attack. For a sanitized one, the Bayesian attack knows the noise of its steps.
    adversary : Adversary
        Whose errors the Bayesian attack takes into account.

    Returns
    -------
    dict
        Attacks by name, the paper's first.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> list(candidate_attacks(release, so.Adversary(knows=4)))
    ['paper', 'likelihood']
    """
    return {PAPER: ScoreboardRH(), LIKELIHOOD: fit_attack(Likelihood(), adversary)}


@dataclass(frozen=True, eq=False, slots=True)
class CrossFit:
    """Success of the strongest attack, chosen for each half of the targets on the other half.

    Attributes
    ----------
    success
        Probability that the best guess is right, by target.
    names
        The attacks chosen for targets with an even and an odd index.
    """

    success: Floats
    names: tuple[str, str]

    @property
    def name(self) -> str:
        """The chosen attack, or both if the halves differ: "likelihood or paper"."""
        return " or ".join(dict.fromkeys(self.names))


def cross_fit(successes: Mapping[str, Floats]) -> CrossFit:
    """Choose the strongest of several attacks for each half of the targets on the other half.

    Parameters
    ----------
    successes : mapping of str to array
        Success by target for each attack, with the same targets in the same random order.

    Returns
    -------
    CrossFit
        The success of the chosen attacks.

    Examples
    --------
    >>> import numpy as np
    >>> cross_fit({"paper": np.array([1.0, 0, 0, 0]), "likelihood": np.array([0, 1.0, 1, 1])}).name
    'likelihood'
    """
    halves = slice(0, None, 2), slice(1, None, 2)
    names = tuple(
        _strongest({name: float(of[half].sum()) for name, of in successes.items()}) for half in halves
    )
    success = np.empty(len(next(iter(successes.values()))))
    for half, name in zip(halves, reversed(names), strict=True):
        success[half] = successes[name][half]
    return CrossFit(success, (names[1], names[0]))


def choose_strongest(
    release: Release,
    adversary: Adversary,
    attacks: Mapping[str, AnyAttack],
    reported: Ints,
    *,
    seed: int,
    targets: int = PILOT_TARGETS,
    threads: int | None = None,
) -> str:
    """Name of the attack that identifies most people other than those it will be reported on.

    Parameters
    ----------
    release : Release
        The release under attack.
    adversary : Adversary
        Whose facts are used.
    attacks : mapping of str to attack
        Candidates by name.
    reported : array of int
        Positions in the original of the people on whom the attack will be reported.
    seed : int
        Seed of the choice of targets and of their facts.
    targets : int
        Largest number of other targets.
    threads : int, optional
        Number of threads; default: all cores.

    Returns
    -------
    str
        The name. Of equally strong attacks, the Bayesian one, then the first.

    Notes
    -----
    If fewer than 30 other people have enough entries, the reported ones serve, with other facts.
    """
    if len(attacks) == 1:
        return next(iter(attacks))
    people = Population.of(release)
    order = generator(seed, "strongest").permutation(people.original.n_records)
    order = order[adversary.eligible(people.original, order)]
    others = order[~np.isin(order, reported)]
    pilot = (others if len(others) >= FEWEST else order)[:targets]
    known = people.known_facts(adversary, pilot, int(generator(seed, "strongest facts").integers(2**62)))
    identified = {
        name: float(success_rates(release, known, pilot, [adversary.knows], threads, attack).sum())
        for name, attack in attacks.items()
    }
    return _strongest(identified)


def _strongest(identified: Mapping[str, float]) -> str:
    return max(identified, key=lambda name: (identified[name], name == LIKELIHOOD))
