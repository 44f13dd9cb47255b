"""Altered entries: what a release changed of a person's true history  [appendix, On perturbation].

The paper got the histories of two subscribers and found their records: 1 of 306 ratings was altered, and 5 of
229.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import NotFoundError, ParameterError
from standout.facts import Aux, Fact, KnownFacts, encode_auxes
from standout.release.model import Entry, Record, Release
from standout.similarity.attributes import Within, days_per_unit

__all__ = ["Altered", "altered"]

History = Aux | Record | Iterable[Fact | Entry]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Altered:
    """A history beside the record that stands for it in a release.

    shared     how many items both have
    values     of these, how many have another value in the release, or none
    times      how many have another time, or none
    changed    how many have another value or another time
    missing    how many items of the history the record lacks
    extra      how many items of the record the history lacks

    All are upper bounds of what the publisher changed: a person may have changed, added or deleted entries
    since the release was taken, and the history may be incomplete.
    """

    shared: int
    values: int
    times: int
    changed: int
    missing: int
    extra: int

    @property
    def agree(self) -> int:
        """How many of the shared items are unchanged."""
        return self.shared - self.changed

    @property
    def value_share(self) -> float:
        """The share of the shared items with another value: the paper's "1 of 306"."""
        return _share(self.values, self.shared)

    @property
    def time_share(self) -> float:
        """The share of the shared items with another time."""
        return _share(self.times, self.shared)

    @property
    def changed_share(self) -> float:
        """The share of the shared items with another value or time."""
        return _share(self.changed, self.shared)

    @property
    def missing_share(self) -> float:
        """The share of the history that is not in the record."""
        return _share(self.missing, self.shared + self.missing)

    @property
    def extra_share(self) -> float:
        """The share of the record that is not in the history."""
        return _share(self.extra, self.shared + self.extra)

    def __str__(self) -> str:
        return (
            f"at most {self.values:,} of {self.shared:,} values altered, {self.times:,} times; "
            f"{self.missing:,} missing, {self.extra:,} extra"
        )


def altered(
    release: Release, record: str, history: History, value: float | None = 0, time: float | None = 0
) -> Altered:
    """How a record differs from the true history of the person whom it stands for.

    The history is an Aux, another release's record, or any facts or entries; its items are named by id or
    title. Values differ that are further than `value` apart, times that are more than `time` days apart;
    None: not compared. What the history does not tell is not compared, and what the record's entry lacks of
    it differs. A day without an hour is its first one, where the release has hours.

    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> one, two, *rest = release.record("14").entries
    >>> print(altered(release, "14", [so.Fact(one.item, one.value % 5 + 1), so.Fact("Bent"), *rest]))
    at most 1 of 12 values altered, 0 times; 1 missing, 1 extra
    """
    threshold = Within(value, time)
    place = release.records.find(record) if isinstance(record, str) else None
    if place is None:
        raise NotFoundError("the release has no record of that id; ids are text, so 007 is not 7")
    known = encode_auxes(release, [_aux(history)])
    both = _shared(release, place, known)
    values, times = _values(release, known, both, threshold), _times(release, known, both, threshold)
    shared = len(both.fact)
    return Altered(
        shared,
        int(values.sum()),
        int(times.sum()),
        int((values | times).sum()),
        len(known.item) - shared,
        int(release.lengths[place]) - shared,
    )


class _Shared(NamedTuple):
    """The items that both have: where they stand in the history, and among the entries by record."""

    fact: NDArray[np.int64]
    entry: NDArray[np.int64]


def _aux(history: Any) -> Aux:
    if isinstance(history, Aux):
        return history
    entries = history.entries if isinstance(history, Record) else history
    entries = list(entries) if isinstance(entries, Iterable) and not isinstance(entries, str) else [None]
    if not all(isinstance(entry, (Fact, Entry)) for entry in entries):
        raise ParameterError("a history is an Aux, a record, or facts: [Fact(item, value, time), …]")
    return Aux([Fact(entry.item, entry.value, entry.time) for entry in entries])


def _shared(release: Release, place: int, known: KnownFacts) -> _Shared:
    start, stop = release.by_record.start[place : place + 2]
    own = release.by_record.item[start:stop].astype(np.int64)
    _, fact, entry = np.intersect1d(known.item, own, return_indices=True)
    return _Shared(fact, start + entry)


def _values(release: Release, known: KnownFacts, both: _Shared, threshold: Within) -> Flags:
    """Which of the shared items have another value in the release."""
    told, column, levels = known.value[both.fact], release.by_record.value, release.levels
    differ = np.zeros(len(told), np.bool_)
    if threshold.value is None or column is None or levels is None:
        return differ
    for i in np.flatnonzero(told >= 0).tolist():
        near = threshold.values(known.values[told[i]], levels)
        assert near is not None
        differ[i] = not np.append(near, 0.0)[column[both.entry[i]]]
    return differ


def _times(release: Release, known: KnownFacts, both: _Shared, threshold: Within) -> Flags:
    """Which of the shared items have another time in the release."""
    told, column = known.timed[both.fact], release.by_record.time
    if threshold.time is None or column is None:
        return np.zeros(len(told), np.bool_)
    code = column[both.entry].astype(np.int64)
    days = (code - known.time[both.fact]).astype(np.float64) * days_per_unit(release)
    near = threshold.times(days)
    assert near is not None
    return np.asarray(told & ((code == release.span) | (near == 0)))


def _share(count: int, of: int) -> float:
    return count / of if of else 0.0
