"""Profiles, and decoys: profiles of people who are not in the release, so that every claim about one is false.

A profile has one fact for each item, its latest entry: a person who bought bread thirty times is not known thirty
times better, because purchases of one item are not independent. Decoys are made in the same way. Each imitates a
real profile, its template: it has as many facts, about items of the same popularity.

recombined  Each fact comes from another profile, so nobody has such a history. Items, values and dates are
            those of the public profiles, but the mix has no person's taste and therefore resembles fewer
            people. With one or two facts it may still point to the donor, who may be in the release: φ is
            then too high, never too low.
withheld    Some entries of one person of the release, who is removed from it before the attack. Taste and
            habits are real, but the population is that of the release.

Each kind alone could underestimate false claims, so a claim must be stronger than both kinds.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from standout.core.arrays import Bools, Floats, Ints, offsets, take_rows
from standout.core.progress import Progress, no_progress
from standout.core.rng import generator
from standout.data.labels import SECONDS
from standout.data.release import Release
from standout.evaluate.claims import ROUNDING
from standout.evaluate.estimates import rate
from standout.findings.link_and_advise import LinkSettings
from standout.know.facts import ANY_LENGTH, ANY_TIME, KnownFacts, facts_from_entries, level_values, repeat_bounds
from standout.linking.align import Alignment
from standout.linking.records import COLUMNS, TIMES, BestRecords, RecordSearch, concatenate

MAX_FACTS = 2_000
"""Longer profiles are reduced to the facts about their rarest items, which say most."""
BATCH_FACTS, BATCH_PROFILES = 20_000, 256
"""The largest batch of profiles that are attacked together."""


def latest_entries(release: Release) -> Bools:
    """Which entries, by record, are the latest of their record and item.

    Without a time, an entry counts only if no entry of the item has one. In a tie the highest value counts.
    """
    if not release.has_repeats:
        return np.broadcast_to(np.True_, release.n_entries)  # takes no memory
    start, item, _, time = release.check().by_record
    begins, n = np.append(True, item[1:] != item[:-1]), len(item)
    begins[start[:-1][release.lengths > 0]] = True
    order = np.arange(n) if time is None else np.arange(n) + n * (time < release.span)  # entries with a time win
    latest = np.zeros(n, np.bool_)
    latest[np.maximum.reduceat(order, np.flatnonzero(begins)) % n] = True
    return latest


FAR_DAYS = 1_000
"""Dates further outside the release than this, and than the release is long, count as that far."""


@dataclass(frozen=True, eq=False)
class Profiles:
    """The profiles of `public` as facts in the codes of `release`."""

    release: Release
    public: Release
    alignment: Alignment

    def __len__(self) -> int:
        return self.public.n_records

    @cached_property
    def latest(self) -> Bools:
        """Which public entries are facts."""
        return latest_entries(self.public)

    @cached_property
    def shared(self) -> Ints:
        """How many items of each profile the release has."""
        side = self.public.check().by_record
        is_shared = (self.alignment.item >= 0)[side.item] & self.latest
        return np.asarray(np.diff(offsets(is_shared)[side.start]))

    @property
    def used(self) -> Ints:
        """How many facts of each profile are used."""
        return np.minimum(self.shared, MAX_FACTS)

    @property
    def unknown(self) -> Ints:
        """How many facts of each profile name items that the release does not have."""
        return np.asarray(self.public.distinct_items - self.shared)

    def items(self, profile: int) -> Ints:
        """The release's items that the used facts of a profile name."""
        return self._used_entries(np.array([profile]))[2]

    def known(self, chosen: Ints) -> KnownFacts:
        """The facts of the chosen profiles, without items that the release does not have.

        Times are moved to the release's clock: a day becomes its first hour or minute. `values` is the same for
        all profiles, so the facts of several calls can be combined.
        """
        first, entry, item = self._used_entries(chosen)
        side, ours, theirs = self.public.by_record, self.release.clock, self.public.clock
        value = np.full(len(entry), -1) if side.value is None else self._value_index[side.value[entry]]
        time, timed = np.zeros(len(entry), np.int64), np.zeros(len(entry), np.bool_)
        if ours is not None and theirs is not None and side.time is not None and ours.span and theirs.span:
            code = side.time[entry].astype(np.int64)
            timed = code < theirs.span
            converted = (theirs.origin + code) * SECONDS[theirs.unit] // SECONDS[ours.unit] - ours.origin
            reach = max(ours.span, FAR_DAYS * SECONDS["day"] // SECONDS[ours.unit])
            time = np.where(timed, np.clip(converted, -reach, ours.span + reach), 0)
        lengths, joined = repeat_bounds(len(chosen), ANY_LENGTH), repeat_bounds(len(chosen), ANY_TIME)
        return KnownFacts(first, item, value, self._values, time, timed, lengths, joined)

    def _used_entries(self, chosen: Ints) -> tuple[Ints, Ints, Ints]:
        """(offsets, entries, items of the release) of the used facts: each profile's rarest shared items, in order."""
        side = self.public.check().by_record
        first, entry = take_rows(side.start, chosen)
        profile, item = np.repeat(np.arange(len(chosen)), np.diff(first)), self.alignment.item[side.item[entry]]
        shared = np.flatnonzero((item >= 0) & self.latest[entry])
        order = shared[np.lexsort((item[shared], self.release.support[item[shared]], profile[shared]))]
        owner = profile[order]
        used = np.sort(order[np.arange(len(owner)) - np.searchsorted(owner, owner) < MAX_FACTS])
        return np.searchsorted(profile[used], np.arange(len(chosen) + 1)).astype(np.int64), entry[used], item[used]

    @cached_property
    def _values(self) -> tuple[float | str, ...]:
        """The distinct values that facts can have."""
        if isinstance(self.release.levels, tuple):
            return level_values(self.release)
        return tuple(np.unique(self.alignment.value[~np.isnan(self.alignment.value)]).tolist())

    @cached_property
    def _value_index(self) -> Ints:
        """The index of each public level's value in `_values`, -1 for none; the last is for no value."""
        comparable = ~np.isnan(self.alignment.value)
        index, values = np.full(len(comparable) + 1, -1), self.alignment.value[comparable]
        is_category = isinstance(self.release.levels, tuple)
        index[:-1][comparable] = values if is_category else np.searchsorted(np.array(self._values), values)
        return index


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

    `donor` is the profile that a fact comes from, negative for a person of the release; `fact` its index in `known`.
    """

    known: KnownFacts
    band: Ints
    first: Ints
    fact: Ints
    donor: Ints
    item: Ints
    donors: int

    def recombine(self, profiles: Profiles, templates: Ints, seed: int) -> KnownFacts:
        """A decoy for each template; its facts depend on the seed and its number only."""
        drawn = [
            self.draw(profiles.items(template), template, generator(seed, "recombined", number))
            for number, template in enumerate(templates.tolist())
        ]
        chosen = np.concatenate([np.empty(0, np.int64), *drawn])
        return self.known.select(
            np.zeros(len(drawn), np.int64), self.fact[chosen], offsets([len(part) for part in drawn])
        )

    def draw(self, items: Ints, template: int, random: np.random.Generator) -> Ints:
        """Positions of facts for one decoy, in the bands of the items; no item twice, nor a donor if they suffice."""
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
    is_first = np.zeros(len(proposal), np.bool_)
    is_first[np.unique(label[proposal], return_index=True)[1]] = True
    return np.asarray(is_first & ~np.isin(label[proposal], label[taken]))


def fact_pool(profiles: Profiles, seed: int) -> FactPool:
    """The facts of random profiles or, if there are few profiles, of random records of the release.

    Items that only one donor has are excluded: they would point to the donor, who may be in the release.
    """
    release, usable, random = profiles.release, np.flatnonzero(profiles.used > 0), generator(seed, "pool")

    def until_enough(order: Ints, facts: Ints) -> Ints:
        return order[: int(np.searchsorted(np.cumsum(facts[order]), POOL_SIZE)) + 1]

    if len(usable) >= FEW_DONORS:
        people = donor = until_enough(random.permutation(usable), profiles.used)
        known = profiles.known(people)
    else:
        people = until_enough(random.permutation(release.n_records), release.distinct_items)
        latest, (first, entry) = latest_entries(release), take_rows(release.by_record.start, people)
        first, entry = offsets(latest[entry])[first], entry[latest[entry]]
        known, donor = facts_from_entries(release.check(), entry, first), np.arange(len(people)) - len(people)
    owner, band = np.repeat(donor, np.diff(known.first)), _bands(release.support)
    order = np.argsort(band[known.item], kind="stable")
    shared = np.bincount(known.item, minlength=release.n_items)[known.item[order]] > 1
    order = order[shared] if shared.any() else order
    item = known.item[order]
    first = np.searchsorted(band[item], np.arange(int(band.max(initial=0)) + 2)).astype(np.int64)
    return FactPool(known=known, band=band, first=first, fact=order, donor=owner[order], item=item, donors=len(people))


def withhold(profiles: Profiles, templates: Ints, seed: int) -> tuple[KnownFacts, Ints]:
    """As many facts of a person of the release as each template has, and the records to be removed.

    Only items that others have too are used: the items of a profile are all in the release.
    """
    release, side = profiles.release.check(), profiles.release.by_record
    band, band_without = _bands(release.support), _bands(release.support - 1)
    latest = latest_entries(release)
    lengths = np.diff(offsets((release.support > 1)[side.item] & latest)[side.start])
    order = np.argsort(lengths, kind="stable")
    lengths = lengths[order]
    entries, records = [], []
    for number, template in enumerate(templates.tolist()):
        items, random = profiles.items(template), generator(seed, "withheld", number)
        # a record with enough items, but not too many
        low = min(int(np.searchsorted(lengths, len(items))), max(len(lengths) - MIN_CHOICE, 0))
        high = max(int(np.searchsorted(lengths, MAX_LENGTH_RATIO * len(items), "right")), low + MIN_CHOICE)
        record = int(order[int(random.integers(low, min(high, len(lengths))))])
        # its entries in random order: as many of each band as the template has, then any others
        entry = np.arange(*side.start[record : record + 2])
        entry = random.permutation(entry[latest[entry]])
        own = band_without[side.item[entry]]
        entry, own = entry[own >= 0], own[own >= 0]
        by_band = np.argsort(own, kind="stable")
        rank = np.empty(len(entry), np.int64)
        rank[by_band] = np.arange(len(entry)) - np.searchsorted(own[by_band], own[by_band])
        fits = rank < np.bincount(band[items], minlength=int(own.max(initial=0)) + 1)[own]
        entries.append(np.sort(np.concatenate([entry[fits], entry[~fits]])[: len(items)]))
        records.append(record)
    chosen = np.concatenate([np.empty(0, np.int64), *entries])
    known = facts_from_entries(release, chosen, offsets([len(part) for part in entries]))
    return known, np.array(records, np.int64)


def _bands(support: Ints) -> Ints:
    """The band of popularity of each item, ⌊log₂ support⌋; -1 for an item that nobody has."""
    return np.where(support > 0, np.frexp(np.maximum(support, 1))[1].astype(np.int64) - 1, -1)


# When a claim is made: how often decoys would be claimed, and the φ that keeps to a budget.


@dataclass(frozen=True, eq=False)
class DecoyStrengths:
    """How strong the best match of each decoy is: the null distribution that claims must beat.

    Only the strongest decoy of a person counts, because decoys of one person are not independent. Strengths that
    differ by at most a share `slack`, or by rounding, are equal.
    """

    kind: Ints
    person: Ints
    strength: Floats
    slack: float = 0.0

    def __len__(self) -> int:
        return len(self.strength)

    @cached_property
    def _thresholds(self) -> list[Floats]:
        """For each kind, the value just above each person's strongest decoy, ascending."""
        above = np.nextafter(self.strength + np.abs(self.strength) * (self.slack + ROUNDING), np.inf)
        decoys = pl.DataFrame({"kind": self.kind, "person": self.person, "above": above})
        strongest = decoys.group_by("kind", "person").max().sort("kind", "above")
        return [kind["above"].to_numpy() for kind in strongest.partition_by("kind", maintain_order=True)]

    def false_claim(self, strength: Floats) -> Floats:
        """The p-value (1 + decoys at least as strong) / (1 + decoys), the larger of the two kinds."""
        shares = [
            (1.0 + len(kind) - np.searchsorted(kind, strength, "right")) / (1.0 + len(kind))
            for kind in self._thresholds
        ]
        return np.max(shares, axis=0) if shares else np.ones(len(strength))

    def phi(self, budget: float) -> float:
        """The smallest φ ≥ 0 at which decoys of each kind keep to the budget; ∞ if they are too few.

        The upper end of the 95 % interval of the share of claimed decoys must not exceed the budget. With too few
        decoys for that, φ lies above all of them, provided that one more would fit the budget.
        """
        phi = 0.0 if self._thresholds else math.inf
        for thresholds in self._thresholds:
            n, allowed = len(thresholds), 0
            while allowed < n and rate(allowed + 1, n).high <= budget:
                allowed += 1
            least = float(thresholds[n - 1 - allowed]) if allowed < n else 0.0
            phi = max(phi, math.inf if 1.0 > budget * (1 + n) + 1e-9 else least)
        return phi

    def expected_claims(self, phi: float, profiles: int) -> float:
        """How many of `profiles` absent profiles would be claimed at φ."""
        least = np.array([max(phi, math.ulp(0.0))])  # ties are never claimed, not even at φ = 0
        return profiles * float(self.false_claim(least)[0]) if math.isfinite(phi) else 0.0


def absent_share(false_claim: Floats) -> float:
    """Estimate the share of absent profiles: twice the share of p-values above ½ [Storey 2002, λ = ½].

    >>> absent_share(np.array([0.01, 0.01, 0.3, 0.6, 0.9]))
    0.8
    """
    n = len(false_claim)
    return min(1.0, float(np.count_nonzero(false_claim > 0.5)) / (0.5 * n)) if n else 0.0


# Decoys of both kinds, and how strongly they match records of the release.


@dataclass(frozen=True, eq=False)
class Decoys:
    """The decoys of a linking, by kind: their facts, the person each was made from, and the records removed (-1: none).

    `slack` allows for the record that is missing where a person was withheld: the eccentricity of N records
    is at most N/√(N − 1), so one record fewer changes it by a share of about 1/N.
    """

    kinds: tuple[tuple[KnownFacts, Ints, Ints], ...]
    slack: float

    def sample(self, facts: int) -> "Decoys":
        """The first decoys of each kind, with at most about this many facts."""
        n = min(max(int(np.searchsorted(known.first, facts, "right")) - 1, 1) for known, _, _ in self.kinds)
        kinds = ((known.of(np.arange(n)), person[:n], removed[:n]) for known, person, removed in self.kinds)
        return Decoys(tuple(kinds), self.slack)

    def best(self, search: RecordSearch, progress: Progress = no_progress) -> BestRecords:
        """The best record of each decoy."""
        best: list[BestRecords] = []
        done, total = 0, sum(len(person) for _, person, _ in self.kinds)
        for known, _, removed in self.kinds:
            for low, high in batches(np.diff(known.first)):
                best.append(search.find(known.of(np.arange(low, high)), removed[low:high]))
                done += high - low
                progress("decoys", done, total)
        return concatenate(best)

    def strengths(self, best: BestRecords) -> DecoyStrengths:
        """How strongly the decoys match their best records."""
        people = [person for _, person, _ in self.kinds]
        number = np.repeat(np.arange(len(people)), [len(person) for person in people])
        return DecoyStrengths(number, np.concatenate(people), best.strength, self.slack)


def draw_decoys(profiles: Profiles, settings: LinkSettings) -> Decoys:
    """Draw the decoys of both kinds; profiles with facts are templates equally often, in random order."""
    usable = generator(settings.seed, "templates").permutation(np.flatnonzero(profiles.used > 0))
    templates = np.resize(usable, settings.decoys).astype(np.int64)
    withheld, removed = withhold(profiles, templates, settings.seed)
    recombined = fact_pool(profiles, settings.seed).recombine(profiles, templates, settings.seed)
    return Decoys(
        ((recombined, np.arange(len(templates)), np.full(len(templates), -1)), (withheld, removed, removed)),
        slack=2.0 / profiles.release.n_records if settings.by == "eccentricity" else 0.0,
    )


# Learning the evidence model from the profiles that match more strongly than decoys do.


ROUNDS = 4
LEARNING_FACTS, DECOY_FACTS = 50_000, 25_000
"""The model is learned from profiles, and decoys of each kind, that have about this many facts together."""
MAX_FALSE_SHARE = 0.5
"""A profile counts only if it is more likely present than absent."""


def learn_model(
    profiles: Profiles, decoys: Decoys, search: RecordSearch, seed: int, progress: Progress = no_progress
) -> RecordSearch:
    """The search with a learned model: rounds attack profiles and decoys, and weigh profiles by how likely present."""
    decoys = decoys.sample(DECOY_FACTS)
    order = generator(seed, "learning").permutation(np.flatnonzero(profiles.used > 0))
    some = np.sort(order[: int(np.searchsorted(np.cumsum(profiles.used[order]), LEARNING_FACTS)) + 1])
    learning = [profiles.known(some[low:high]) for low, high in batches(profiles.used[some])]
    for number in range(ROUNDS):
        found = [search.find(known) for known in learning]
        best = concatenate(found)
        has_candidate = best.record >= 0
        weight = presence(best.strength, has_candidate, decoys.strengths(decoys.best(search)))
        weight = np.where(has_candidate & (best.ties == 1), weight, 0.0)
        rows = []
        for known, batch in zip(learning, found, strict=True):
            counts, has = np.zeros((len(batch), COLUMNS)), np.flatnonzero(batch.record >= 0)
            counts[has] = search.agreement.counts(known, has, batch.record[has], search.model.ratios)
            counts[~batch.dated, TIMES] = 0.0  # times count only where they were compared
            rows.append(counts)
        search = replace(search, model=search.model.updated((weight[:, None] * np.concatenate(rows)).sum(axis=0)))
        progress("learning", number + 1, ROUNDS)
    return search


def presence(strength: Floats, has_candidate: Bools, decoys: DecoyStrengths) -> Floats:
    """The probability that each profile is present: 1 − the share of absent ones at its strength."""
    false_claim = decoys.false_claim(strength)
    ordered = np.sort(strength[has_candidate])
    n = max(len(ordered), 1)
    at_least = (len(ordered) - np.searchsorted(ordered, strength)) / n
    false_share = absent_share(false_claim[has_candidate]) * false_claim / np.maximum(at_least, 1 / n)
    order = np.argsort(strength)
    false_share[order] = np.minimum.accumulate(false_share[order])  # a stronger match is no less likely
    return np.where(false_share < MAX_FALSE_SHARE, 1.0 - false_share, 0.0)
