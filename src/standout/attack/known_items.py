"""From a release and an aux to the arrays that `reference` reads."""

from typing import Any

import numpy as np

from standout.attack.reference import KnownItem
from standout.core.arrays import Floats
from standout.facts import Aux, KnownFacts, encode_auxes
from standout.release.model import Release
from standout.similarity.attributes import days_per_unit

__all__ = ["known_items", "known_items_of_query"]


def known_items(release: Release, aux: Aux) -> list[KnownItem]:
    """Every known item with the entries that the release has of it.

    An item that the release does not have is known too, with no entries.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> [item] = known_items(release, so.Aux([so.Fact("17", value=4)]))
    >>> len(item.record), float(item.value_distance.max()), item.days is None
    (352, 2.0, True)
    """
    return known_items_of_query(release, encode_auxes(release, [aux]), 0)


def known_items_of_query(release: Release, known: KnownFacts, query: int) -> list[KnownItem]:
    """The same for one of many queries whose facts are already codes of the release."""
    by_record = release.by_record
    owner = np.repeat(np.arange(release.n_records), release.lengths)
    items = []
    for fact in range(int(known.first[query]), int(known.first[query + 1])):
        entry = np.flatnonzero(by_record.item == known.item[fact])
        value_distance = days = None
        if by_record.value is not None and known.value[fact] >= 0:
            value_distance = _value_distances(
                release, by_record.value[entry], known.values[known.value[fact]]
            )
        if by_record.time is not None and known.timed[fact]:
            time = by_record.time[entry].astype(np.int64)
            distance = np.abs(time - known.time[fact]) * days_per_unit(release)
            days = np.where(time < release.span, distance, np.inf)
        items.append(KnownItem(owner[entry], value_distance, days))
    return items


def _value_distances(release: Release, codes: Any, known: float | str) -> Floats:
    """|known − value| of entries by their codes. Two categories are equal or infinitely far apart."""
    if isinstance(release.levels, np.ndarray):
        return np.asarray(np.abs(np.append(release.levels, np.inf)[codes] - known))
    levels = np.array([*(release.levels or ()), None], object)
    return np.where(levels[codes] == known, 0.0, np.inf)
