"""The entries that a release has of each known fact's item: what an attack of the user's own reads."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints, run_starts
from standout.facts import KnownFacts
from standout.release.model import Release
from standout.release.postings import unpack_item
from standout.similarity.attributes import days_per_unit

__all__ = ["FactEntries", "fact_entries"]


class FactEntries(NamedTuple):
    """All entries of one known fact's item, in the order of their records.

    A record that has the item several times has an entry for each; `highest` gives one number per record.

    Attributes
    ----------
    target : int
        Number of the target that the fact is about.
    item : int
        Position of the item in `release.items`.
    known_value : float or str or None
        The known value; None if it is not known.
    record : array of int
        Position of each entry's record; the same several times if the record has the item several times.
    value : array of float, or of str
        The value of each entry; NaN or None if it has none.
    days : array of float
        Date of the entry minus known date, in days; NaN if either is missing.

    Examples
    --------
    >>> FactEntries(0, 17, 4.0, np.array([3]), np.array([5.0]), np.array([-2.0])).record.tolist()
    [3]
    """

    target: int
    item: int
    known_value: float | str | None
    record: Ints
    value: NDArray[Any]
    days: Floats

    def highest(self, numbers: NDArray[Any]) -> tuple[Ints, Floats]:
        """Reduce numbers by entry to one for each record: that of its best entry.

        Parameters
        ----------
        numbers : array of float
            A number for each entry, such as its similarity to the fact.

        Returns
        -------
        (array of int, array of float)
            Each record once, and its highest number. Add them with `scores[fact.target, record] += number`.

        Examples
        --------
        >>> record, days = np.array([3, 5, 5]), np.array([9.0, 2.0, -1.0])
        >>> visits = FactEntries(0, 17, None, record, np.full(3, np.nan), days)
        >>> record, similarity = visits.highest(1 / (1 + abs(visits.days)))
        >>> record.tolist(), similarity.tolist()
        ([3, 5], [0.1, 0.5])
        """
        if not len(self.record):
            return self.record, np.empty(0)
        first = run_starts(self.record)
        return self.record[first], np.maximum.reduceat(np.asarray(numbers, np.float64), first)


def fact_entries(release: Release, known: KnownFacts) -> Iterator[FactEntries]:
    """For each known fact the entries that the release has of its item.

    Facts about items that the release does not have are skipped.

    Parameters
    ----------
    release : Release
        The data set.
    known : KnownFacts
        What is known about each target.

    Yields
    ------
    FactEntries
        The entries of the item, with record, value and distance in days.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> known = so.Adversary(knows=2).observe_all(release, [41])
    >>> [len(fact.record) for fact in so.fact_entries(release, known)]
    [380, 213]
    """
    levels, day = _levels(release), days_per_unit(release)
    target = np.repeat(np.arange(len(known)), np.diff(known.first))
    for fact in np.flatnonzero(known.item >= 0).tolist():
        item, value = int(known.item[fact]), int(known.value[fact])
        record, code, time = unpack_item(release.by_item, item, release.n_levels, release.span)
        if release.has_repeats:
            order = np.argsort(record, kind="stable")
            record, code, time = record[order], code[order], time[order]
        is_dated = bool(known.timed[fact]) & (time < release.span)
        yield FactEntries(
            target=int(target[fact]),
            item=item,
            known_value=None if value < 0 else known.values[value],
            record=record,
            value=levels[code],
            days=np.where(is_dated, (time - known.time[fact]) * day, np.nan),
        )


def _levels(release: Release) -> NDArray[Any]:
    """The value of each code, and what an entry without a value has."""
    if isinstance(release.levels, tuple):
        return np.array([*release.levels, None], object)
    return np.append(np.empty(0) if release.levels is None else release.levels, np.nan)
