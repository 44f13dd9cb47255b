"""Public profiles as facts about people of a release."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from standout.core.arrays import Ints
from standout.facts import KnownFacts
from standout.linking.align import Alignment
from standout.release.model import Release

__all__ = ["MOST_FACTS", "Profiles", "batches"]

MOST_FACTS = 2_000
"""Of a longer profile so many are used, the rarest: they tell most."""
BATCH_FACTS, BATCH = 20_000, 256
"""Profiles that are attacked together have so many facts at most, and are so many at most."""


@dataclass(frozen=True, eq=False)
class Profiles:
    """The profiles of `public`, aligned with `release`."""

    release: Release
    public: Release
    alignment: Alignment

    def __len__(self) -> int:
        return self.public.n_records

    @cached_property
    def shared(self) -> Ints:
        """How many items of each profile the release has."""
        side = self.public.check().by_record
        there = (self.alignment.item >= 0)[side.item]
        if not len(there):
            return np.zeros(len(self), np.int64)
        counts = np.add.reduceat(there, np.minimum(side.start[:-1], len(there) - 1), dtype=np.int64)
        return np.where(self.public.lengths > 0, counts, 0)

    @property
    def used(self) -> Ints:
        """How many facts of each profile are used."""
        return np.minimum(self.shared, MOST_FACTS)

    @property
    def unknown(self) -> Ints:
        """How many facts of each profile name items that the release does not have."""
        return np.asarray(self.public.lengths - self.shared)

    def items(self, place: int) -> Ints:
        """The release's items that a profile names, those that are used."""
        here = slice(*self.public.by_record.start[place : place + 2])
        item = self.alignment.item[self.public.by_record.item[here]]
        return item[self._kept(item, np.zeros(len(item), np.int64))]

    def known(self, places: Ints) -> KnownFacts:
        """What the profiles at these places tell, without items that the release does not have."""
        told = self.alignment.known(self.public, places)
        person = np.repeat(np.arange(len(places)), np.diff(told.first))
        kept = self._kept(told.item, person)
        first = np.searchsorted(person[kept], np.arange(len(places) + 1))
        return told.select(np.arange(len(places)), kept, first.astype(np.int64))

    def _kept(self, item: Ints, person: Ints) -> Ints:
        """Which facts are used: of items that are there, the rarest of each person, in their order."""
        there = np.flatnonzero(item >= 0)
        order = there[np.lexsort((item[there], self.release.support[item[there]], person[there]))]
        own = person[order]
        place = np.arange(len(own)) - np.searchsorted(own, own)
        return np.sort(order[place < MOST_FACTS])


def batches(facts: Ints) -> Iterator[tuple[int, int]]:
    """Stretches of profiles with so many facts each that are small enough to be attacked together."""
    low, total = 0, 0
    for high, count in enumerate(facts.tolist()):
        if high > low and (total + count > BATCH_FACTS or high - low == BATCH):
            yield low, high
            low, total = high, 0
        total += count
    if low < len(facts):
        yield low, len(facts)
