"""Public profiles as known facts about people of a release.

A profile has one fact for each item. If it has an item several times, the latest entry counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from standout.core.arrays import Bools, Ints
from standout.facts import KnownFacts
from standout.linking.alignment import Alignment
from standout.linking.latest_entries import latest_entries
from standout.release.model import Release

__all__ = ["MAX_FACTS", "Profiles", "batches"]

MAX_FACTS = 2_000
"""Longer profiles are reduced to the facts about their rarest items, which say most."""
BATCH_FACTS, BATCH_PROFILES = 20_000, 256
"""The largest batch of profiles that are attacked together."""


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
        is_shared = (self.alignment.item >= 0)[side.item]
        if self.latest is not None:
            is_shared &= self.latest
        if not len(is_shared):
            return np.zeros(len(self), np.int64)
        start = np.minimum(side.start[:-1], len(is_shared) - 1)
        counts = np.add.reduceat(is_shared, start, dtype=np.int64)
        return np.where(self.public.lengths > 0, counts, 0)

    @cached_property
    def latest(self) -> Bools | None:
        """Which public entries are facts; None: all."""
        return latest_entries(self.public)

    @property
    def used(self) -> Ints:
        """How many facts of each profile are used."""
        return np.minimum(self.shared, MAX_FACTS)

    @property
    def unknown(self) -> Ints:
        """How many facts of each profile name items that the release does not have."""
        return np.asarray(self.public.distinct_items - self.shared)

    def items(self, profile: int) -> Ints:
        """Return the release's items that the used facts of a profile name."""
        entries = slice(*self.public.by_record.start[profile : profile + 2])
        item = self.alignment.item[self.public.by_record.item[entries]]
        item = item if self.latest is None else item[self.latest[entries]]
        return item[self._used_facts(item, np.zeros(len(item), np.int64))]

    def known(self, chosen: Ints) -> KnownFacts:
        """Return the facts of the chosen profiles, without items that the release does not have."""
        facts = self.alignment.known(self.public, chosen, self.latest)
        person = np.repeat(np.arange(len(chosen)), np.diff(facts.first))
        used = self._used_facts(facts.item, person)
        first = np.searchsorted(person[used], np.arange(len(chosen) + 1))
        return facts.select(np.arange(len(chosen)), used, first.astype(np.int64))

    def _used_facts(self, item: Ints, person: Ints) -> Ints:
        """The facts that are used: each person's rarest items that the release has, in their order."""
        shared = np.flatnonzero(item >= 0)
        order = shared[np.lexsort((item[shared], self.release.support[item[shared]], person[shared]))]
        owner = person[order]
        rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
        return np.sort(order[rank < MAX_FACTS])


def batches(facts: Ints) -> Iterator[tuple[int, int]]:
    """Yield (first, end) of consecutive profiles that are few and short enough to be attacked together."""
    low, total = 0, 0
    for high, count in enumerate(facts.tolist()):
        if high > low and (total + count > BATCH_FACTS or high - low == BATCH_PROFILES):
            yield low, high
            low, total = high, 0
        total += count
    if low < len(facts):
        yield low, len(facts)
