"""Scores of the Bayesian attack, computed a second time by `likelihood_reference`."""

import math
from dataclasses import dataclass
from functools import cached_property

from standout.attack.any_attack import AnyAttack
from standout.attack.error_model import HasErrors
from standout.attack.likelihood import Likelihood
from standout.attack.likelihood_arrays import (
    Entries,
    Errors,
    errors_of,
    known_facts_of_query,
    release_entries,
)
from standout.attack.likelihood_reference import scores
from standout.core.arrays import Floats
from standout.facts import KnownFacts
from standout.observation import Choice
from standout.release.model import Release
from standout.sanitized import Sanitized

__all__ = ["LikelihoodAgain", "has_reference"]

MOST_ENTRIES, MOST_LEVELS, MOST_UNITS = 2_000_000, 2_000, 1 << 22
"""Beyond these, the reference implementation would need too much time or memory."""


def has_reference(attack: AnyAttack, release: Release) -> bool:
    """Whether the reference implementation covers this attack on this release.

    It knows no noise of sanitizing steps, and sums of supports are not rounded to classes.
    """
    adversary = attack.adversary if isinstance(attack, Likelihood) else None
    choice = None if adversary is None else adversary.items
    return (
        isinstance(choice, Choice)
        and choice.name != "popular"
        and not isinstance(release, Sanitized)
        and release.n_entries <= MOST_ENTRIES
        and release.n_levels <= MOST_LEVELS
        and release.span <= MOST_UNITS
    )


@dataclass(frozen=True, eq=False)
class LikelihoodAgain:
    """The Bayesian attack on one release in plain NumPy."""

    attack: Likelihood
    release: Release

    @property
    def adversary(self) -> HasErrors:
        """Whose errors the attack takes into account."""
        assert self.attack.adversary is not None
        return self.attack.adversary

    @cached_property
    def errors(self) -> Errors:
        """The errors of the adversary."""
        return errors_of(self.release, self.adversary, self.attack.coverage)

    @cached_property
    def entries(self) -> Entries:
        """All entries of the release."""
        return self._entries(-1)

    def _entries(self, removed: int) -> Entries:
        return release_entries(self.release, self.adversary.items, removed)

    def scores(self, known: KnownFacts, query: int, removed: int) -> Floats:
        """The scores of all records for one target, from the entries of all but the removed record."""
        entries = self.entries if removed < 0 else self._entries(removed)
        facts = known_facts_of_query(self.release, known, query)
        return scores(facts, entries, self.errors, self.release.n_records)

    def nobody(self, n_facts: int, candidates: int) -> float:
        """Score of the case that the target is not in the release."""
        odds = candidates * (1.0 - self.attack.present) / self.attack.present
        return (math.log(odds) if odds > 0 else -math.inf) - n_facts * math.log1p(-self.errors.coverage)
