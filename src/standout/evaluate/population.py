"""Whom an attack is about: the people of a release, or of the original that it was made from.

What is known of people is true of the original. A release that was not made from another is the truth itself.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from standout.adversary import Adversary
from standout.attack.kernels.record_scores import has_item
from standout.core.arrays import Ints, offsets
from standout.facts import KnownFacts, facts_from_entries
from standout.release.model import Release
from standout.sanitized import Sanitized

__all__ = ["Population"]


@dataclass(frozen=True, eq=False, slots=True)
class Population:
    """The release that is attacked, and the truth about the people whom it may tell of.

    People are given by their places in the truth, records by theirs in the release: without an original
    these are the same.
    """

    release: Release
    original: Release

    @classmethod
    def of(cls, release: Release) -> "Population":
        return cls(release, release.original if isinstance(release, Sanitized) else release)

    @property
    def is_sanitized(self) -> bool:
        """Whether the release was made from another, so that who stands for somebody may tell otherwise."""
        return self.original is not self.release

    def record_of(self, people: Ints) -> Ints:
        """The record that stands for each of these people, -1 where nobody does."""
        return self.release.mapping.representatives[people] if isinstance(self.release, Sanitized) else people

    def known_facts(self, adversary: Adversary, people: Ints, seed: int, draws: int = 1) -> KnownFacts:
        """What the adversary knows of these people, in the terms of the release."""
        return self._told(adversary.observe_all(self.original, people, seed, draws), people)

    def all_facts(self, people: Ints) -> KnownFacts:
        """Everything that is true of these people, in the release's terms; an item that is gone is -1."""
        counts = self.original.lengths[people]
        first = offsets(counts)
        at = np.arange(first[-1]) + np.repeat(self.original.by_record.start[people] - first[:-1], counts)
        return self._told(facts_from_entries(self.original, at, first), people)

    def items_in_record(self, person: int, items: Ints) -> NDArray[np.bool_]:
        """Which of these items of a person the record has that stands for them."""
        if not isinstance(self.release, Sanitized):
            return np.ones(len(items), np.bool_)
        record, code = self.release.mapping.representatives[person], self.release.mapping.item_codes[items]
        return (code >= 0) & has_item(self.release, np.full(len(items), record), code)

    def _told(self, known: KnownFacts, people: Ints) -> KnownFacts:
        return self.release.translate_facts(known, people) if isinstance(self.release, Sanitized) else known

    def key(self) -> list[str]:
        """What names the release, its original, and how that is told in it."""
        if not isinstance(self.release, Sanitized):
            return [self.release.fingerprint]
        terms, told = self.release.mapping, hashlib.blake2b(digest_size=16)
        for codes in (terms.representatives, terms.item_codes):
            told.update(np.ascontiguousarray(codes, np.int64).tobytes())
        told.update(repr((terms.released_values, terms.rounding_periods)).encode())
        return [self.release.fingerprint, self.original.fingerprint, told.hexdigest()]
