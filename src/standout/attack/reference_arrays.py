"""From a release, an adversary and known facts to the arrays that the two references read."""

import math
from typing import Any, NamedTuple

import numpy as np

from standout.attack.error_model import error_model
from standout.attack.reference import KnownItem
from standout.core.arrays import Floats, Ints
from standout.data.labels import SECONDS
from standout.data.release import Release
from standout.know.adversary import Adversary
from standout.know.facts import AS_ASSUMED, Aux, FactErrors, KnownFacts, encode_auxes
from standout.know.observation import Choice
from standout.know.similarity import days_per_unit

BLOCK = 1 << 24
"""Number of entries that are searched at once."""


class EntriesOfItems(NamedTuple):
    """All entries of some items, and their places in `release.by_record`."""

    record: Ints
    item: Ints
    entry: Ints


def known_items(release: Release, aux: Aux) -> list[KnownItem]:
    """Every known item with the entries that the release has of it; none if it lacks the item.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> [item] = known_items(release, so.Aux([so.Fact("17", value=4)]))
    >>> len(item.record), float(item.value_distance.max()), item.days is None
    (352, 2.0, True)
    """
    return known_items_of_query(release, encode_auxes(release, [aux]), 0)


def entries_of_items(release: Release, items: Ints) -> EntriesOfItems:
    """The entries of these items, found in one pass over all entries; -1 is no item."""
    by_record = release.by_record
    is_wanted = np.zeros(release.n_items, np.bool_)
    is_wanted[items[items >= 0]] = True
    blocks = range(0, len(by_record.item), BLOCK)
    entry = np.concatenate([low + np.flatnonzero(is_wanted[by_record.item[low : low + BLOCK]]) for low in blocks])
    record = np.searchsorted(by_record.start, entry, "right") - 1
    return EntriesOfItems(record, by_record.item[entry].astype(np.int64), entry)


def known_items_of_query(
    release: Release, known: KnownFacts, query: int, entries: EntriesOfItems | None = None
) -> list[KnownItem]:
    """The same for one of many queries in codes of the release; `entries` are those of its items, if known."""
    by_record = release.by_record
    facts = slice(int(known.first[query]), int(known.first[query + 1]))
    entries = entries or entries_of_items(release, known.item[facts])
    items = []
    for fact in range(facts.start, facts.stop):
        here = np.flatnonzero(entries.item == known.item[fact])
        entry = entries.entry[here]
        value_distance = days = None
        if by_record.value is not None and known.value[fact] >= 0:
            value_distance = _value_distances(release, by_record.value[entry], known.values[known.value[fact]])
        if by_record.time is not None and known.timed[fact]:
            time = by_record.time[entry].astype(np.int64)
            distance = np.abs(time - known.time[fact]) * days_per_unit(release)
            days = np.where(time < release.span, distance, np.inf)
        items.append(KnownItem(entries.record[here], value_distance, days))
    return items


def _value_distances(release: Release, codes: Any, known: float | str) -> Floats:
    """|known − value| of entries by their codes. Two categories are equal or infinitely far apart."""
    if isinstance(release.levels, np.ndarray):
        return np.asarray(np.abs(np.append(release.levels, np.inf)[codes] - known))
    levels = np.array([*(release.levels or ()), None], object)
    return np.where(levels[codes] == known, 0.0, np.inf)


# From a release, an adversary and known facts to the arrays that `likelihood_reference` reads.


SESSION_RECORDS = 4096
"""Sessions are looked for in up to this many records, evenly spread."""


class Entries(NamedTuple):
    """All entries of a release, and what was counted over them.

    `level` is an index into `levels`, the distinct values (for categories, their numbers); `time` is a whole
    number of units from 0 on. Both are -1 where an entry has none. `span` is the number of units
    from first to last. `session` is how often two entries of one record are of the same day. `weight` is how
    readily the adversary picks each item: 1 for all, or 0 for the most popular, or its support.
    """

    record: Ints
    item: Ints
    level: Ints
    time: Ints
    levels: Floats
    span: int
    session: float
    weight: Floats


class Errors(NamedTuple):
    """The adversary's errors: a share `wrong` of the facts is off by more than `value` and `reach`.

    `coverage` is the chance that a fact comes from the target's own record. `reach` is a number of units of
    time; None if times do not count.
    """

    coverage: float
    wrong: float
    value: float
    reach: int | None


class KnownFact(NamedTuple):
    """One fact, None for what is not known; it `repeats` if an earlier fact is of the same day.

    `errors` are its own, None if they are those of all facts.
    """

    item: int
    value: float | None
    time: int | None
    repeats: bool
    errors: Errors | None = None


def release_entries(release: Release, choice: Choice | str = "any", exclude: int = -1) -> Entries:
    """All entries of a release, except those of one record, for an adversary who chooses items in this way."""
    by_record, name = release.by_record, choice.name if isinstance(choice, Choice) else choice
    record = np.repeat(np.arange(release.n_records), release.lengths)
    keep = record != exclude
    record, item = record[keep], by_record.item[keep].astype(np.int64)
    none = np.full(len(item), -1)
    level = none if by_record.value is None else by_record.value[keep].astype(np.int64)
    time = none if by_record.time is None else by_record.time[keep].astype(np.int64)
    time = np.where(time < release.span, time, -1)
    weight = np.ones(release.n_items)
    if name == "popular":
        weight = release.support.astype(np.float64)
    elif isinstance(choice, Choice) and name == "outside_top":
        weight = (release.rank > choice.top).astype(np.float64)
    levels = release.levels if isinstance(release.levels, np.ndarray) else np.arange(release.n_levels)
    return Entries(
        record=record,
        item=item,
        level=np.where(level < release.n_levels, level, -1),
        time=time,
        levels=levels.astype(np.float64),
        span=release.span,
        session=_session_share(release, record, time),
        weight=weight,
    )


def errors_of(
    release: Release, adversary: Adversary, coverage: float | None = None, own: FactErrors = AS_ASSUMED
) -> Errors:
    """The errors of an adversary's facts in units of a release without noise; `own`: of facts known better."""
    model = error_model(release, adversary, coverage, own)
    assert not model.has_noise
    reach = None if model.times is None else model.times.reach
    is_number = isinstance(release.levels, np.ndarray)
    return Errors(model.coverage, model.wrong, model.values.error or 0.0 if is_number else 0.0, reach)


def known_facts_of_query(
    release: Release, known: KnownFacts, query: int, adversary: Adversary | None = None
) -> list[KnownFact]:
    """The facts about one target. If some have errors of their own, the adversary has those of the others."""
    facts: list[KnownFact] = []
    days: set[int] = set()
    for at in range(int(known.first[query]), int(known.first[query + 1])):
        value = None if known.value[at] < 0 else _number(release, known.values[known.value[at]])
        time = int(known.time[at]) if known.timed[at] else None
        day = None if time is None else int(_days(release, time))
        errors = None
        if known.error is not None and adversary is not None:
            errors = errors_of(release, adversary, own=known.errors[known.error[at]])
        facts.append(KnownFact(int(known.item[at]), value, time, day in days, errors))
        days |= set() if day is None else {day}
    return facts


def _number(release: Release, value: float | str) -> float:
    """A value; of a category, its number among the levels, ∞ if it is not among them."""
    levels = release.levels
    if not isinstance(levels, tuple):
        return float(value)
    return float(levels.index(value)) if value in levels else math.inf


def _days(release: Release, time: Any) -> Any:
    assert release.clock is not None
    return (time + release.clock.origin) // (SECONDS["day"] // SECONDS[release.clock.unit])


def _session_share(release: Release, record: Ints, time: Ints) -> float:
    """How often two entries of one record are of the same day."""
    if release.clock is None:
        return 0.0
    chosen = np.unique(np.linspace(0, release.n_records - 1, SESSION_RECORDS).astype(np.int64))
    here = np.isin(record, chosen) & (time >= 0)
    day = _days(release, time[here]) - _days(release, 0)
    of_day = np.unique(record[here] * (release.span + 1) + day, return_counts=True)[1]
    of_record = np.bincount(record[here])
    possible = (of_record * (of_record - 1)).sum()
    return float((of_day * (of_day - 1)).sum() / possible) if possible else 0.0
