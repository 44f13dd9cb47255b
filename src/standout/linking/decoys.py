"""Decoys: profiles of people who are not in the release, so that every claim about one is a false claim.

Each decoy imitates a real profile, its template: it has as many facts, about items of the same popularity.

recombined  Each fact comes from another profile, so nobody has such a history. Items, values and dates are
            those of the public profiles, but the mix has no person's taste and therefore resembles fewer
            people. With one or two facts it may still point to the donor, who may be in the release: φ is
            then too high, never too low.
withheld    Some entries of one person of the release, who is removed from it before the attack. Taste and
            habits are real, but the population is that of the release.

Each kind alone could underestimate false claims, so a claim must be stronger than both kinds.

Like a profile, a decoy has one fact for each item, although the person it is made from may have it several
times.
"""

from dataclasses import dataclass

import numpy as np

from standout.core.arrays import Bools, Ints, offsets
from standout.core.rng import generator
from standout.facts import KnownFacts, facts_from_entries
from standout.linking.latest_entries import latest_entries
from standout.linking.profiles import Profiles
from standout.release.model import Release

__all__ = ["FEW_DONORS", "KINDS", "FactPool", "WithheldDecoys", "fact_pool", "withhold"]

KINDS = ("recombined", "withheld")
FEW_DONORS = 50
"""With fewer profiles than this, facts are drawn from the entries of the release."""
POOL_SIZE = 1_000_000
DISTINCT_DONORS, ANY_DONOR, ANY_BAND = 12, 12, 6
"""Attempts to draw a fact: with a new donor; with any donor; from any band of popularity."""
MAX_LENGTH_RATIO, MIN_CHOICE = 2, 20
"""Largest ratio of a withheld person's items to the facts of the template; smallest number of people to draw
from."""


@dataclass(frozen=True, eq=False)
class FactPool:
    """Facts to draw from, sorted by bands of popularity: band b begins at first[b].

    `donor` is the profile that a fact comes from, or a negative number for a person of the release. `fact`
    is its index in `known`, and `donors` the number of donors.
    """

    known: KnownFacts
    band: Ints
    first: Ints
    fact: Ints
    donor: Ints
    item: Ints
    donors: int

    def recombine(self, profiles: Profiles, templates: Ints, seed: int) -> KnownFacts:
        """Return a decoy for each template; its facts depend on the seed and its number only."""
        drawn = [
            self.draw(profiles.items(template), template, generator(seed, "recombined", number))
            for number, template in enumerate(templates.tolist())
        ]
        chosen = np.concatenate([np.empty(0, np.int64), *drawn])
        return self.known.select(np.zeros(len(drawn), np.int64), self.fact[chosen], _starts(drawn))

    def draw(self, items: Ints, template: int, random: np.random.Generator) -> Ints:
        """Return positions of facts for one decoy: as many as there are items, in the same bands.

        No item is drawn twice, and no donor as long as there are enough of them.
        """
        band = self.band[items]
        low, size = self.first[band], np.diff(self.first)[band]
        drawn = np.full(len(items), -1, np.int64)
        begin = DISTINCT_DONORS if 2 * len(items) > self.donors else 0
        for attempt in range(begin, DISTINCT_DONORS + ANY_DONOR + ANY_BAND):
            if attempt == DISTINCT_DONORS + ANY_DONOR:  # the band has too few items
                low, size = np.zeros_like(low), np.full_like(size, len(self.fact))
            todo = np.flatnonzero((drawn < 0) & (size > 0))
            proposal = low[todo] + (random.random(len(todo)) * size[todo]).astype(np.int64)
            taken = drawn[drawn >= 0]
            fits = (self.donor[proposal] != template) & _is_new(self.item, proposal, taken)
            if attempt < DISTINCT_DONORS:
                fits &= _is_new(self.donor, proposal, taken)
            drawn[todo[fits]] = proposal[fits]
            if (drawn >= 0).all():
                break
        return np.sort(drawn[drawn >= 0])


def _is_new(label: Ints, proposal: Ints, taken: Ints) -> Bools:
    """Which proposals have a label that neither a taken one nor an earlier proposal has."""
    proposed = label[proposal]
    is_first = np.zeros(len(proposal), np.bool_)
    is_first[np.unique(proposed, return_index=True)[1]] = True
    return np.asarray(is_first & ~np.isin(proposed, label[taken]))


def fact_pool(profiles: Profiles, seed: int) -> FactPool:
    """Return the facts of random profiles or, if there are few profiles, of random records of the release.

    Items that only one donor has are excluded: they would point to the donor, who may be in the release.
    """
    release = profiles.release
    usable, random = np.flatnonzero(profiles.used > 0), generator(seed, "pool")
    if len(usable) >= FEW_DONORS:
        people = donor = _until_enough(random.permutation(usable), profiles.used)
        known = profiles.known(people)
    else:
        people = _until_enough(random.permutation(release.n_records), release.distinct_items)
        known, donor = _facts_of_records(release, people), np.arange(len(people)) - len(people)
    owner, band = np.repeat(donor, np.diff(known.first)), _bands(release.support)
    order = np.argsort(band[known.item], kind="stable")
    shared = np.bincount(known.item, minlength=release.n_items)[known.item[order]] > 1
    order = order[shared] if shared.any() else order
    item = known.item[order]
    first = np.searchsorted(band[item], np.arange(int(band.max(initial=0)) + 2)).astype(np.int64)
    return FactPool(
        known=known, band=band, first=first, fact=order, donor=owner[order], item=item, donors=len(people)
    )


@dataclass(frozen=True, slots=True)
class WithheldDecoys:
    """The facts about withheld people, and the records that must be removed from the release."""

    known: KnownFacts
    record: Ints


def withhold(profiles: Profiles, templates: Ints, seed: int) -> WithheldDecoys:
    """Return a person of the release for each template, with as many known facts.

    Only items that others have too are used: the items of a profile are all in the release.
    """
    release, side = profiles.release.check(), profiles.release.by_record
    band, band_without = _bands(release.support), _bands(release.support - 1)
    latest, usable = latest_entries(release), (release.support > 1)[side.item]
    usable = usable if latest is None else usable & latest
    lengths = np.add.reduceat(usable, side.start[:-1], dtype=np.int64)
    order = np.argsort(lengths, kind="stable")
    lengths = lengths[order]
    entries, records = [], []
    for number, template in enumerate(templates.tolist()):
        items, random = profiles.items(template), generator(seed, "withheld", number)
        record = int(order[_draw_by_length(lengths, len(items), random)])
        entries.append(_draw_entries(release, record, latest, band_without, band[items], random))
        records.append(record)
    chosen = np.concatenate([np.empty(0, np.int64), *entries])
    return WithheldDecoys(facts_from_entries(release, chosen, _starts(entries)), np.array(records, np.int64))


def _draw_by_length(lengths: Ints, facts: int, random: np.random.Generator) -> int:
    """A position among ascending lengths: a record with enough items, but not too many."""
    low = min(int(np.searchsorted(lengths, facts)), max(len(lengths) - MIN_CHOICE, 0))
    high = max(int(np.searchsorted(lengths, MAX_LENGTH_RATIO * facts, "right")), low + MIN_CHOICE)
    return int(random.integers(low, min(high, len(lengths))))


def _draw_entries(
    release: Release,
    record: int,
    latest: Bools | None,
    band_without: Ints,
    bands: Ints,
    random: np.random.Generator,
) -> Ints:
    """As many entries of a record as there are `bands`, in these bands of popularity where it has them.

    `latest` are the entries to draw from, None: all. `band_without` has the band of each item without the
    record; -1 if nobody else has the item.
    """
    entry = np.arange(*release.by_record.start[record : record + 2])
    entry = random.permutation(entry if latest is None else entry[latest[entry]])
    band = band_without[release.by_record.item[entry]]
    entry, band = entry[band >= 0], band[band >= 0]
    order = np.argsort(band, kind="stable")
    rank = np.empty(len(entry), np.int64)
    rank[order] = np.arange(len(entry)) - np.searchsorted(band[order], band[order])
    fits = rank < np.bincount(bands, minlength=int(band.max(initial=0)) + 1)[band]
    chosen = np.concatenate([entry[fits], entry[~fits]])[: len(bands)]
    return np.sort(chosen)


def _bands(support: Ints) -> Ints:
    """The band of popularity of each item, ⌊log₂ support⌋; -1 for an item that nobody has."""
    return np.where(support > 0, np.frexp(np.maximum(support, 1))[1].astype(np.int64) - 1, -1)


def _until_enough(order: Ints, facts: Ints) -> Ints:
    """The first people in this order who together have enough facts for the pool."""
    total = np.cumsum(facts[order])
    return order[: int(np.searchsorted(total, POOL_SIZE)) + 1]


def _facts_of_records(release: Release, records: Ints) -> KnownFacts:
    """The entries of these records as facts, one of each item."""
    counts, latest = release.lengths[records], latest_entries(release)
    first = offsets(counts)
    entry = np.arange(int(first[-1])) + np.repeat(release.by_record.start[records] - first[:-1], counts)
    if latest is not None:
        first, entry = np.append(0, np.cumsum(latest[entry]))[first], entry[latest[entry]]
    return facts_from_entries(release.check(), entry, first)


def _starts(parts: list[Ints]) -> Ints:
    return offsets([len(part) for part in parts])
