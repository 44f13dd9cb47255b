"""Decoys: profiles of people who are not there. Whatever an attack claims of one is a false claim.

Each decoy has as many facts as a real profile, its template, about items as popular as the template's.

recombined  each fact is another person's: nobody has such a history. Items, values and dates are those of the
            public profiles, but taste is mixed away, and with it many chances to be like somebody. Of one
            fact or two it is still somebody's, who may be there: that claims too little, never too much.
withheld    some entries of one person of the release, who is taken out of it before the attack. Taste and
            habits are real, the population is the release's.

Either alone may promise too much; a claim has to stand out further than both kinds do.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, offsets
from standout.core.rng import generator
from standout.facts import KnownFacts, facts_from_entries
from standout.linking.profiles import Profiles
from standout.release.model import Release

__all__ = ["FEW_DONORS", "KINDS", "Pool", "Withheld", "pool_of", "withheld"]

Flags = NDArray[np.bool_]
KINDS = ("recombined", "withheld")
FEW_DONORS = 50
"""With fewer profiles than this, facts are drawn from the release's own entries."""
POOL = 1_000_000
"""Facts to draw from."""
STRICT, LOOSE, ANYWHERE = 12, 12, 6
"""Tries for a fact: with a donor of its own; with any other donor; from any band of popularity."""
LONGER, AT_LEAST = 2, 20
"""A withheld person has as many items as the template has facts, or up to so many times more; there are at
least so many people to choose from."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Facts to draw from, in the order of bands of popularity: band b has those from first[b] on.

    `donor` is whose fact it is: a profile's place, or below 0 for somebody of the release.
    """

    known: KnownFacts
    band: Ints
    first: Ints
    fact: Ints
    donor: Ints
    item: Ints
    people: int

    def decoys(self, profiles: Profiles, templates: Ints, seed: int) -> KnownFacts:
        """A decoy for each of these profiles; which facts it gets depends on (seed, its number) only."""
        drawn = [
            self._drawn(profiles.items(place), place, generator(seed, "recombined", number))
            for number, place in enumerate(templates.tolist())
        ]
        at = np.concatenate([np.empty(0, np.int64), *drawn])
        return self.known.select(np.zeros(len(drawn), np.int64), self.fact[at], _starts(drawn))

    def _drawn(self, items: Ints, template: int, draw: np.random.Generator) -> Ints:
        """Places of facts for one decoy: as many as the template has items, in the same bands.

        No item comes twice, and no donor as long as that can be helped.
        """
        band = self.band[items]
        low, size = self.first[band], np.diff(self.first)[band]
        found = np.full(len(items), -1, np.int64)
        begin = STRICT if 2 * len(items) > self.people else 0
        for attempt in range(begin, STRICT + LOOSE + ANYWHERE):
            if attempt == STRICT + LOOSE:  # the band has too few items
                low, size = np.zeros_like(low), np.full_like(size, len(self.fact))
            todo = np.flatnonzero((found < 0) & (size > 0))
            at = low[todo] + (draw.random(len(todo)) * size[todo]).astype(np.int64)
            taken = found[found >= 0]
            fits = (self.donor[at] != template) & _fresh(self.item, at, taken)
            if attempt < STRICT:
                fits &= _fresh(self.donor, at, taken)
            found[todo[fits]] = at[fits]
            if (found >= 0).all():
                break
        return np.sort(found[found >= 0])


def _fresh(label: Ints, at: Ints, taken: Ints) -> Flags:
    """Which draws have a label that neither what is taken has, nor a draw before them."""
    own = label[at]
    once = np.zeros(len(at), np.bool_)
    once[np.unique(own, return_index=True)[1]] = True
    return np.asarray(once & ~np.isin(own, label[taken]))


def pool_of(profiles: Profiles, seed: int) -> Pool:
    """The facts of profiles drawn at random; where they are few people, of the release's records.

    An item that one donor alone has is left out: it would point to the donor, who may well be there.
    """
    release = profiles.release
    able, draw = np.flatnonzero(profiles.used > 0), generator(seed, "pool")
    if len(able) >= FEW_DONORS:
        people = donor = _enough(draw.permutation(able), profiles.used)
        known = profiles.known(people)
    else:
        people = _enough(draw.permutation(release.n_records), release.lengths)
        known, donor = _records_told(release, people), np.arange(len(people)) - len(people)
    owner, band = np.repeat(donor, np.diff(known.first)), _bands(release.support)
    order = np.argsort(band[known.item], kind="stable")
    shared = np.bincount(known.item, minlength=release.n_items)[known.item[order]] > 1
    order = order[shared] if shared.any() else order
    first = np.searchsorted(band[known.item[order]], np.arange(int(band.max(initial=0)) + 2)).astype(np.int64)
    return Pool(known, band, first, order, owner[order], known.item[order], len(people))


@dataclass(frozen=True, slots=True)
class Withheld:
    """What is told of people of the release, and their records' places: to be taken out."""

    known: KnownFacts
    record: Ints


def withheld(profiles: Profiles, templates: Ints, seed: int) -> Withheld:
    """For each of these profiles somebody of the release about whom as much is told.

    Only items count that others have, too: those of a profile are all in the release.
    """
    release, side = profiles.release.check(), profiles.release.by_record
    band, left = _bands(release.support), _bands(release.support - 1)
    lengths = np.add.reduceat((release.support > 1)[side.item], side.start[:-1], dtype=np.int64)
    order = np.argsort(lengths, kind="stable")
    lengths = lengths[order]
    told, record = [], []
    for number, place in enumerate(templates.tolist()):
        items, draw = profiles.items(place), generator(seed, "withheld", number)
        one = int(order[_somebody(lengths, len(items), draw)])
        told.append(_some_entries(release, one, left, band[items], draw))
        record.append(one)
    at = np.concatenate([np.empty(0, np.int64), *told])
    return Withheld(facts_from_entries(release, at, _starts(told)), np.array(record, np.int64))


def _somebody(lengths: Ints, facts: int, draw: np.random.Generator) -> int:
    """A place among records in the order of their lengths: one with enough items, but not too many."""
    low = min(int(np.searchsorted(lengths, facts)), max(len(lengths) - AT_LEAST, 0))
    high = max(int(np.searchsorted(lengths, LONGER * facts, "right")), low + AT_LEAST)
    return int(draw.integers(low, min(high, len(lengths))))


def _some_entries(release: Release, record: int, left: Ints, bands: Ints, draw: np.random.Generator) -> Ints:
    """As many entries of a record as there are `bands`, in these bands of popularity where it has them.

    `left` are the bands of items without the record; below 0 for those that nobody else has.
    """
    at = draw.permutation(np.arange(*release.by_record.start[record : record + 2]))
    own = left[release.by_record.item[at]]
    at, own = at[own >= 0], own[own >= 0]
    order = np.argsort(own, kind="stable")
    place = np.empty(len(at), np.int64)
    place[order] = np.arange(len(at)) - np.searchsorted(own[order], own[order])
    fits = place < np.bincount(bands, minlength=int(own.max(initial=0)) + 1)[own]
    chosen = np.concatenate([at[fits], at[~fits]])[: len(bands)]
    return np.sort(chosen)


def _bands(support: Ints) -> Ints:
    """The band of popularity of every item: a new one whenever twice as many people have it; -1: nobody."""
    return np.where(support > 0, np.frexp(np.maximum(support, 1))[1].astype(np.int64) - 1, -1)


def _enough(order: Ints, facts: Ints) -> Ints:
    """The first of them, until there are facts enough."""
    total = np.cumsum(facts[order])
    return order[: int(np.searchsorted(total, POOL)) + 1]


def _records_told(release: Release, people: Ints) -> KnownFacts:
    """Everything about these records."""
    counts = release.lengths[people]
    first = offsets(counts)
    at = np.arange(int(first[-1])) + np.repeat(release.by_record.start[people] - first[:-1], counts)
    return facts_from_entries(release.check(), at, first)


def _starts(parts: list[Ints]) -> Ints:
    return offsets([len(part) for part in parts])
