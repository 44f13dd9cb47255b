"""Altered entries: how a record differs from the person's true history  [appendix, On perturbation].

The paper obtained the histories of two subscribers and found their records: 1 of 306 ratings was altered,
and 5 of 229.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError
from standout.data.labels import Entry, Record, position_of_id
from standout.data.release import Release
from standout.know.fact import Fact
from standout.know.facts import Aux, KnownFacts, encode_auxes
from standout.know.similarity import Within, days_per_unit

__all__ = ["Altered", "altered"]

History = Aux | Record | Iterable[Fact | Entry]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Altered:
    """The differences between a person's history and the record that represents it in a release.

    All counts are upper bounds of what the publisher changed: the person may have changed, added or deleted
    entries since the release, and the history may be incomplete.

    Attributes
    ----------
    shared
        Number of items in both. If the history has an item several times, each of its entries counts.
    values
        Number of shared items whose value differs, or is missing in the record.
    times
        Number of shared items whose time differs, or is missing in the record.
    changed
        Number of shared items whose value or time differs.
    missing
        Number of items of the history that the record lacks.
    extra
        Number of items of the record that the history lacks.

    Examples
    --------
    >>> differences = Altered(shared=306, values=1, times=0, changed=1, missing=0, extra=0)
    >>> round(differences.value_share, 4)
    0.0033
    """

    shared: int
    values: int
    times: int
    changed: int
    missing: int
    extra: int

    @property
    def agree(self) -> int:
        """Number of shared items that are unchanged."""
        return self.shared - self.changed

    @property
    def value_share(self) -> float:
        """Share of the shared items whose value differs: the paper's "1 of 306"."""
        return _share(self.values, self.shared)

    @property
    def time_share(self) -> float:
        """Share of the shared items whose time differs."""
        return _share(self.times, self.shared)

    @property
    def changed_share(self) -> float:
        """Share of the shared items whose value or time differs."""
        return _share(self.changed, self.shared)

    @property
    def missing_share(self) -> float:
        """Share of the history's items that the record lacks."""
        return _share(self.missing, self.shared + self.missing)

    @property
    def extra_share(self) -> float:
        """Share of the record's items that the history lacks."""
        return _share(self.extra, self.shared + self.extra)

    def __str__(self) -> str:
        return (
            f"at most {self.values:,} of {self.shared:,} values and {self.times:,} times altered; "
            f"{self.missing:,} item{'s' * (self.missing != 1)} missing, {self.extra:,} extra"
        )


def altered(
    release: Release, record: str, history: History, value: float | None = 0, time: float | None = 0
) -> Altered:
    """Compare a record with the true history of the person whom it represents.

    A part that the history lacks (a fact without a value or a time) is not compared. A part that only the
    record's entry lacks differs. If the release has hours, a day without an hour is its first hour.

    If the record has an item several times, the entry that differs least from the history's is compared: in
    as few parts as possible, the first in a tie. Each entry of the history is compared on its own, so that
    two may be compared with the same entry of the record.

    Parameters
    ----------
    release
        The release.
    record
        The id of the record.
    history
        An Aux, a record of another release, or any facts or entries. Items are named by id or title.
    value
        Values differ if they are further apart than this; None: do not compare values.
    time
        Times differ if they are more than this many days apart; None: do not compare times.

    Returns
    -------
    Altered
        The number of differences.

    Raises
    ------
    NotFoundError
        If the release has no such record.
    ParameterError
        If the history has another type, or a parameter is out of range.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> first, second, *rest = release.record("14").entries
    >>> print(altered(release, "14", [so.Fact(first.item, first.value % 5 + 1), so.Fact("Bent"), *rest]))
    at most 1 of 12 values and 0 times altered; 1 item missing, 1 extra
    """
    threshold = Within(value, time)
    index = position_of_id(release.records, record)
    known = encode_auxes(release, [_aux(history)])
    shared = _shared_items(release, index, known)
    values = _differing_values(release, known, shared, threshold)
    times = _differing_times(release, known, shared, threshold)
    best = _least_different(shared, values, times)
    values, times = values[best], times[best]
    items = release.by_record.item[slice(*release.by_record.start[index : index + 2])]
    return Altered(
        shared=len(best),
        values=int(values.sum()),
        times=int(times.sum()),
        changed=int((values | times).sum()),
        missing=len(known.item) - len(best),
        extra=int((~np.isin(items, known.item)).sum()),
    )


class _SharedItems(NamedTuple):
    """Pairs about one item: indices of the facts of the history, and of the entries of the release by record.

    Each fact is paired with all entries of its item, in their order.
    """

    fact: NDArray[np.int64]
    entry: NDArray[np.int64]


def _aux(history: Any) -> Aux:
    if isinstance(history, Aux):
        return history
    entries = history.entries if isinstance(history, Record) else history
    entries = list(entries) if isinstance(entries, Iterable) and not isinstance(entries, str) else [None]
    if not all(isinstance(entry, (Fact, Entry)) for entry in entries):
        raise ParameterError("history must be an Aux, a record, or facts: [Fact(item, value, time), …]")
    return Aux([Fact(entry.item, entry.value, entry.time) for entry in entries])


def _shared_items(release: Release, record: int, known: KnownFacts) -> _SharedItems:
    start, stop = release.by_record.start[record : record + 2]
    items = release.by_record.item[start:stop].astype(np.int64)
    first, last = np.searchsorted(items, known.item), np.searchsorted(items, known.item, "right")
    fact = np.repeat(np.arange(len(known.item)), last - first)
    return _SharedItems(fact, start + first[fact] + np.arange(len(fact)) - np.searchsorted(fact, fact))


def _least_different(shared: _SharedItems, values: Flags, times: Flags) -> NDArray[np.int64]:
    """The pair of each shared fact that differs in the fewest parts, the first in a tie."""
    order = np.lexsort((values.astype(np.int64) + times, shared.fact))
    return order[np.unique(shared.fact[order], return_index=True)[1]]


def _differing_values(release: Release, known: KnownFacts, shared: _SharedItems, threshold: Within) -> Flags:
    """Which of the shared items have a different value in the release."""
    code, column, levels = known.value[shared.fact], release.by_record.value, release.levels
    differ = np.zeros(len(code), np.bool_)
    if threshold.value is None or column is None or levels is None:
        return differ
    for i in np.flatnonzero(code >= 0).tolist():
        near = threshold.values(known.values[code[i]], levels)
        assert near is not None
        differ[i] = not np.append(near, 0.0)[column[shared.entry[i]]]
    return differ


def _differing_times(release: Release, known: KnownFacts, shared: _SharedItems, threshold: Within) -> Flags:
    """Which of the shared items have a different time in the release."""
    is_known, column = known.timed[shared.fact], release.by_record.time
    if threshold.time is None or column is None:
        return np.zeros(len(is_known), np.bool_)
    code = column[shared.entry].astype(np.int64)
    days = (code - known.time[shared.fact]).astype(np.float64) * days_per_unit(release)
    near = threshold.times(days)
    assert near is not None
    return np.asarray(is_known & ((code == release.span) | (near == 0)))


def _share(count: int, of: int) -> float:
    return count / of if of else 0.0
