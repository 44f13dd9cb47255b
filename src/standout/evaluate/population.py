"""The people whom a release is about, and the records that represent them.

An adversary knows facts about the original data. A release that is not sanitized is its own original.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from standout.adversary import Adversary, known_facts
from standout.attack.kernels.record_scores import has_item
from standout.core.arrays import Ints
from standout.facts import KnownFacts, facts_from_entries
from standout.release.distinct_items import distinct_positions
from standout.release.model import Release
from standout.sanitized import Sanitized

__all__ = ["Population"]


@dataclass(frozen=True, eq=False, slots=True)
class Population:
    """The release under attack, and the original that describes its people.

    People are indices of records of the original, records are indices of records of the release. Without a
    separate original these are the same.
    """

    release: Release
    original: Release

    @classmethod
    def of(cls, release: Release) -> "Population":
        """The people of a release."""
        return cls(release, release.original if isinstance(release, Sanitized) else release)

    @property
    def is_sanitized(self) -> bool:
        """Whether the release was made from an original, so that records may differ from what is true."""
        return self.original is not self.release

    def record_of(self, people: Ints) -> Ints:
        """The record that represents each of these people; -1 for none."""
        return self.release.mapping.representatives[people] if isinstance(self.release, Sanitized) else people

    def known_facts(self, adversary: Adversary, people: Ints, seed: int, draws: int = 1) -> KnownFacts:
        """What the adversary knows about these people, in codes of the release."""
        return self._in_release_codes(known_facts(adversary, self.original, people, seed, draws), people)

    def all_facts(self, people: Ints) -> KnownFacts:
        """Everything that is true of these people, in codes of the release; -1 for an item it lacks.

        Equal entries of a person are one fact.
        """
        entries, first = distinct_positions(self.original, people)
        return self._in_release_codes(facts_from_entries(self.original, entries, first), people)

    def items_in_record(self, person: int, items: Ints) -> NDArray[np.bool_]:
        """Which of a person's items are also in the record that represents them."""
        if not isinstance(self.release, Sanitized):
            return np.ones(len(items), np.bool_)
        record, code = self.release.mapping.representatives[person], self.release.mapping.item_codes[items]
        return (code >= 0) & has_item(self.release, np.full(len(items), record), code)

    def key(self) -> list[str]:
        """Fingerprints of the release, its original, and the mapping between them."""
        if not isinstance(self.release, Sanitized):
            return [self.release.fingerprint]
        mapping, digest = self.release.mapping, hashlib.blake2b(digest_size=16)
        for codes in (mapping.representatives, mapping.item_codes):
            digest.update(np.ascontiguousarray(codes, np.int64).tobytes())
        digest.update(repr((mapping.released_values, mapping.rounding_periods)).encode())
        return [self.release.fingerprint, self.original.fingerprint, digest.hexdigest()]

    def _in_release_codes(self, known: KnownFacts, people: Ints) -> KnownFacts:
        return self.release.translate_facts(known, people) if isinstance(self.release, Sanitized) else known
