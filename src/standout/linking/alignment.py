"""The result of an alignment: public profiles as facts in the codes of a release."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.errors import NotFoundError, ParameterError
from standout.facts import ANY_LENGTH, ANY_TIME, KnownFacts, level_values, repeat_bounds
from standout.findings.links import AlignmentCounts
from standout.linking import sentences
from standout.linking.review import write_review
from standout.release.clock import SECONDS, Clock
from standout.release.model import Release

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Alignment"]

FAR_DAYS = 1_000
"""Dates further outside the release than this, and than the release is long, count as that far."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """A public data set expressed in the codes of a release.

    Attributes
    ----------
    release : Release
        The release.
    item : ndarray of int
        The release's item code for each public item, -1 if it has none. No code occurs twice.
    value : ndarray of float
        The value of each public level on the release's scale, NaN if it cannot be compared. It may lie
        between levels. For categories it is the code of the release's level.
    doubtful : polars.DataFrame
        Pairs of items for review: open ("?"), accepted although not identical ("yes"), rejected ("no").
    counts : AlignmentCounts
        How many public items were aligned, and how.
    value_explanation : str
        How values were aligned, in a sentence.
    """

    release: Release = field(repr=False)
    item: Ints = field(repr=False)
    value: Floats = field(repr=False)
    doubtful: "pl.DataFrame" = field(repr=False)
    counts: AlignmentCounts
    value_explanation: str

    @property
    def explanation(self) -> str:
        """How items and values were aligned, in a few sentences."""
        return sentences.alignment(self.counts, self.value_explanation)

    def known(self, public: Release, profiles: Sequence[int] | Ints, used: Bools | None = None) -> KnownFacts:
        """Return what these profiles say, as facts in the release's codes.

        Entries about items that the release does not have are omitted; missing values and times stay
        missing. Times are moved to the release's clock: a day becomes its first hour or minute. `values` is
        the same for all profiles, so the facts of several calls can be combined.

        Parameters
        ----------
        public : Release
            The public data that were aligned.
        profiles : sequence of int
            Positions of profiles in `public`.
        used : ndarray of bool, optional
            Which entries of `public`, by record, are facts. Default: all.

        Returns
        -------
        KnownFacts
            The facts of each profile, in this order.

        Raises
        ------
        NotFoundError
            If a position does not exist.
        """
        entry, first = self._entries(public, profiles)
        side = public.by_record
        item = self.item[side.item[entry]]
        shared = np.flatnonzero(item >= 0 if used is None else (item >= 0) & used[entry])
        entry, first = entry[shared], np.searchsorted(shared, first).astype(np.int64)
        value = np.full(len(entry), -1) if side.value is None else self._value_index[side.value[entry]]
        time, timed = self._times(public, entry)
        n = len(first) - 1
        return KnownFacts(
            first=first,
            item=item[shared],
            value=value,
            values=self._values,
            time=time,
            timed=timed,
            length=repeat_bounds(n, ANY_LENGTH),
            joined=repeat_bounds(n, ANY_TIME),
        )

    def write_review(self, path: str | PathLike[str]) -> None:
        """Write `doubtful` as a CSV file: edit its decisions and pass it to `align` as `review`.

        Parameters
        ----------
        path : path-like
            The file to write.
        """
        write_review(self.doubtful, path)

    def _entries(self, public: Release, profiles: Sequence[int] | Ints) -> tuple[Ints, Ints]:
        """The entries of these profiles, and where each profile's begin."""
        if public.n_items != len(self.item) or public.n_levels != len(self.value):
            raise ParameterError("public must be the data set that was aligned, got a different one")
        position = np.asarray(profiles, np.int64).reshape(-1)
        if len(position) and not (0 <= position.min() and position.max() < public.n_records):
            raise NotFoundError(f"profiles must be positions from 0 to {public.n_records - 1:,}")
        start, counts = public.check().by_record.start[position], public.lengths[position]
        first = offsets(counts)
        return np.arange(first[-1]) + np.repeat(start - first[:-1], counts), first

    @cached_property
    def _values(self) -> tuple[float | str, ...]:
        """The distinct values that facts can have."""
        if isinstance(self.release.levels, tuple):
            return level_values(self.release)
        return tuple(np.unique(self.value[~np.isnan(self.value)]).tolist())

    @cached_property
    def _value_index(self) -> Ints:
        """The index of each public level's value in `_values`, -1 for none; the last is for no value."""
        comparable = ~np.isnan(self.value)
        index = np.full(len(self.value) + 1, -1)
        values = self.value[comparable]
        is_category = isinstance(self.release.levels, tuple)
        index[:-1][comparable] = values if is_category else np.searchsorted(np.array(self._values), values)
        return index

    def _times(self, public: Release, entry: Ints) -> tuple[Ints, Bools]:
        """Times on the release's clock, 0 where unknown, and where they are known."""
        ours, theirs, column = self.release.clock, public.clock, public.by_record.time
        if ours is None or theirs is None or column is None or not (ours.span and theirs.span):
            return np.zeros(len(entry), np.int64), np.zeros(len(entry), np.bool_)
        code = column[entry].astype(np.int64)
        timed = code < theirs.span
        return np.where(timed, _convert(code, theirs, ours), 0), timed


def _convert(code: Ints, theirs: Clock, ours: Clock) -> Ints:
    """Times of one clock on another. Time zones are not converted: both are wall clocks, and a day stays."""
    seconds = (theirs.origin + code) * SECONDS[theirs.unit]
    reach = max(ours.span, FAR_DAYS * SECONDS["day"] // SECONDS[ours.unit])
    converted = seconds // SECONDS[ours.unit] - ours.origin
    return np.clip(converted, -reach, ours.span + reach)
