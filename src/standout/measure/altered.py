"""Altered entries: how a record differs from the person's true history  [appendix, On perturbation].

The paper obtained the histories of two subscribers and found their records: 1 of 306 ratings was altered,
and 5 of 229.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from standout.core.errors import ParameterError
from standout.data.labels import Entry, Record, position_of_id
from standout.data.release import Release
from standout.know.facts import Aux, Fact, encode_auxes
from standout.know.similarity import Within, days_per_unit

History = Aux | Record | Iterable[Fact | Entry]


@dataclass(frozen=True, slots=True)
class Altered:
    """The differences between a person's history and the record that represents it in a release.

    All counts are upper bounds of what the publisher changed: the person may have changed, added or deleted
    entries since the release, and the history may be incomplete.
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
    record
        The id of the record.
    history
        An Aux, a record of another release, or any facts or entries. Items are named by id or title.
    value
        Values differ if they are further apart than this; None: do not compare values.
    time
        Times differ if they are more than this many days apart; None: do not compare times.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> first, second, *rest = release.record("14").entries
    >>> print(altered(release, "14", [so.Fact(first.item, first.value % 5 + 1), so.Fact("Bent"), *rest]))
    at most 1 of 12 values and 0 times altered; 1 item missing, 1 extra
    """
    threshold, columns = Within(value, time), release.by_record
    index = position_of_id(release.records, record)
    known = encode_auxes(release, [_aux(history)])
    start, stop = columns.start[index : index + 2]
    items = columns.item[start:stop].astype(np.int64)
    # each fact of the history is paired with all entries of its item, in their order
    first, last = np.searchsorted(items, known.item), np.searchsorted(items, known.item, "right")
    fact = np.repeat(np.arange(len(known.item)), last - first)
    entry = start + first[fact] + np.arange(len(fact)) - np.searchsorted(fact, fact)
    values, times = np.zeros((2, len(fact)), np.bool_)
    if threshold.value is not None and columns.value is not None and release.levels is not None:
        for i in np.flatnonzero(known.value[fact] >= 0).tolist():
            near = threshold.values(known.values[known.value[fact[i]]], release.levels)
            assert near is not None
            values[i] = not np.append(near, 0.0)[columns.value[entry[i]]]
    if threshold.time is not None and columns.time is not None:
        code = columns.time[entry].astype(np.int64)
        near = threshold.times((code - known.time[fact]).astype(np.float64) * days_per_unit(release))
        assert near is not None
        times = known.timed[fact] & ((code == release.span) | (near == 0))
    order = np.lexsort((values.astype(np.int64) + times, fact))
    best = order[np.unique(fact[order], return_index=True)[1]]
    values, times = values[best], times[best]
    return Altered(
        shared=len(best),
        values=int(values.sum()),
        times=int(times.sum()),
        changed=int((values | times).sum()),
        missing=len(known.item) - len(best),
        extra=int((~np.isin(items, known.item)).sum()),
    )


def _aux(history: Any) -> Aux:
    if isinstance(history, Aux):
        return history
    entries = history.entries if isinstance(history, Record) else history
    entries = list(entries) if isinstance(entries, Iterable) and not isinstance(entries, str) else [None]
    if not all(isinstance(entry, (Fact, Entry)) for entry in entries):
        raise ParameterError("history must be an Aux, a record, or facts: [Fact(item, value, time), …]")
    return Aux([Fact(entry.item, entry.value, entry.time) for entry in entries])


def _share(count: int, of: int) -> float:
    return count / of if of else 0.0
