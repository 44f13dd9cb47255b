"""From a release and an aux to the arrays that `reference` reads."""

from typing import Any, NamedTuple

import numpy as np

from standout.attack.reference import KnownItem
from standout.core.arrays import Floats, Ints
from standout.data.release import Release
from standout.know.facts import Aux, KnownFacts, encode_auxes
from standout.know.similarity import days_per_unit

__all__ = ["EntriesOfItems", "entries_of_items", "known_items", "known_items_of_query"]

BLOCK = 1 << 24
"""Number of entries that are searched at once."""


class EntriesOfItems(NamedTuple):
    """All entries of some items: their records, items, and places in `release.by_record`."""

    record: Ints
    item: Ints
    entry: Ints


def known_items(release: Release, aux: Aux) -> list[KnownItem]:
    """Every known item with the entries that the release has of it, several of a record where it repeats.

    An item that the release does not have is known too, with no entries.

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
    """The same for one of many queries whose facts are already codes of the release.

    `entries` are those of all its items, if they are known already.
    """
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
