"""Open a sanitized output together with its original."""

from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl

from standout.core.arrays import Ints
from standout.core.errors import ParameterError, SourceError
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.data.build import select_labels
from standout.data.export import exact
from standout.data.labels import SECONDS, Labels, TimeUnit
from standout.data.release import Release, read_only
from standout.data.repeats import repeat_numbers
from standout.data.store import is_index, open_index
from standout.ingest.read import read
from standout.ingest.value_levels import ValueType
from standout.know.facts import level_values
from standout.know.sanitized import OriginalMapping, Period, ReleaseNoise, Sanitized
from standout.sanitizing.cluster import ClusterRecords
from standout.sanitizing.draft import ReleasedValues
from standout.sanitizing.output_files import OriginalSize, Sidecar, match_ids, read_key, sidecar_path
from standout.sanitizing.randomized_response import RandomizedResponse
from standout.sanitizing.sanitize import parse_step
from standout.sanitizing.step import Step
from standout.sanitizing.table_files import open_table
from standout.sanitizing.value_steps import RoundTime

__all__ = ["open_sanitized"]

PIECE = 1 << 20
"""Entries that are compared at a time."""
READ_ALIKE = "read the original with the same values, times and zone as when it was sanitized"


@with_progress
def open_sanitized(
    path: str | Path, original: Release, key: str | Path | None = None, progress: ProgressOption = no_progress
) -> Sanitized:
    """Open an output of `standout.write_sanitized` together with its original.

    Parameters
    ----------
    path
        Output: a CSV or Parquet file, or an index. Its sidecar must be next to it.
    original
        Release or table that it was made from, read with the same options as when it was sanitized.
    key
        Key file. It is required for a table, if the records have new ids, or if one record represents several
        people.
    progress
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    Sanitized
        Release or table equal to the one that was written.

    Raises
    ------
    SourceError
        If the output was changed, was made from another original, or has values or times that this original
        lacks; or if a file cannot be read.
    ParameterError
        If the key is required and missing.

    Examples
    --------
    >>> import standout as so, tempfile
    >>> release = so.synthesize(records=10, items=10, entries=40, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = so.write_sanitized(so.sanitize(release, "round-time month"), f"{folder}/safer.csv")
    ...     safer = so.open_sanitized(f"{folder}/safer.csv", release)
    >>> [report.step for report in safer.step_reports]
    ['round-time month']
    """
    key_path = None if key is None else Path(key)
    if original.columns:
        return open_table(Path(path), sidecar_path(Path(path)), original, key_path)
    output = _Output.read(Path(path), original, progress)
    mapping = output.mapping(key_path)
    release, sidecar = output.release, output.sidecar
    return Sanitized(
        records=release.records,
        items=release.items,
        titles=output.titles(mapping.item_codes),
        levels=release.levels,
        clock=release.clock,
        by_record=release.by_record,
        by_item=release.by_item,
        provenance=release.provenance,
        stored_fingerprint=release.stored_fingerprint,
        original=original,
        mapping=mapping,
        step_reports=sidecar.step_reports,
        noise=output.noise(),
        renumbered=sidecar.renumbered,
    )


@dataclass(frozen=True)
class _Output:
    """An output, its sidecar and steps, and the original that it should have been made from."""

    path: Path
    sidecar: Sidecar
    steps: list[Step]
    release: Release
    original: Release

    @classmethod
    def read(cls, path: Path, original: Release, progress: Progress) -> "_Output":
        sidecar = Sidecar.read(sidecar_path(path))
        steps = [parse_step(report.step) for report in sidecar.step_reports]
        release = open_index(path).check() if is_index(path) else _read_output(path, sidecar, progress)
        if release.fingerprint != sidecar.fingerprint:
            raise SourceError(f"{path} does not match its sidecar: one of the two was changed or replaced")
        output = cls(path, sidecar, steps, release, original)
        size, expected = OriginalSize.of(original), sidecar.original
        if size != expected:
            if (size.records, size.items) == (expected.records, expected.items) and expected.repeats:
                raise output._other_repeats(size)
            raise output._wrong_original()
        return output

    def mapping(self, key: Path | None) -> OriginalMapping:
        """Mapping from the original, checked against the entries of both."""
        item_codes = match_ids(self.original.items, self.release.items)
        if int((item_codes >= 0).sum()) != self.release.n_items:
            raise self._wrong_original()
        representatives = self._representatives(key)
        has_false_entries = any(isinstance(step, RandomizedResponse) and step.items for step in self.steps)
        if not has_false_entries and not _items_agree(self.release, self.original, representatives, item_codes):
            raise self._wrong_original()
        released_values = self._released_values()
        self._check_values_and_times(released_values)
        return OriginalMapping(
            read_only(representatives), read_only(item_codes), released_values, self._rounding_periods()
        )

    def noise(self) -> ReleaseNoise:
        """What the steps did to entries, by the sidecar."""
        reports = zip(self.steps, self.sidecar.step_reports, strict=True)
        try:
            return reduce(ReleaseNoise.then, (step.noise(report) for step, report in reports), ReleaseNoise())
        except (KeyError, TypeError, ZeroDivisionError, ParameterError):
            path = sidecar_path(self.path)
            raise SourceError(f"{path} is damaged: write the output again with its sidecar") from None

    def titles(self, item_codes: Ints) -> Labels | None:
        """Titles of the release, or of the original if the output has none."""
        titles = self.original.titles
        if self.release.titles is not None or titles is None:
            return self.release.titles
        removed = self.original.n_items - self.release.n_items
        return select_labels(titles, np.argsort(item_codes, kind="stable")[removed:])

    def _representatives(self, key: Path | None) -> Ints:
        if key is not None:
            return read_key(key, self.original, self.release)
        if self.sidecar.renumbered:
            raise ParameterError(f"key is needed, the key file of {self.path.name}: its ids are new")
        if any(isinstance(step, ClusterRecords) for step in self.steps):
            raise ParameterError(
                f"key is needed, the key file of {self.path.name}: it has one record for several people"
            )
        return match_ids(self.original.records, self.release.records)

    def _released_values(self) -> ReleasedValues:
        values = level_values(self.original)
        if self.release.levels is None:
            return (None,) * len(values)
        if isinstance(self.original.levels, tuple):
            return values  # categories have no bins
        for report in self.sidecar.step_reports:
            if report.bins is not None:
                values = report.bins.bin_values([float(value) for value in values])
        return values

    def _rounding_periods(self) -> tuple[Period, ...]:
        periods = (step.period for step in self.steps if isinstance(step, RoundTime))
        return tuple(period for period in periods if period is not None)

    def _check_values_and_times(self, released_values: ReleasedValues) -> None:
        """Refuse an original that lacks values or times of the release.

        Known facts would be lost, and people would seem safer than they are.
        """
        levels = () if self.release.levels is None else level_values(self.release)
        if not set(levels) <= set(released_values):
            raise SourceError(f"{self.path.name} has values that the original lacks: {READ_ALIKE}")
        if self.release.span and not self._original_has_times():
            raise SourceError(f"{self.path.name} has times that the original lacks: {READ_ALIKE}")

    def _original_has_times(self) -> bool:
        old, new = self.original.clock, self.release.clock
        if old is None or new is None or not old.span:
            return False
        return old.zone == new.zone and SECONDS[old.unit] <= SECONDS[new.unit]

    def _other_repeats(self, size: OriginalSize) -> SourceError:
        expected = self.sidecar.original
        return SourceError(
            f"{self.path.name} was made from {expected.entries:,} entries, and this original has "
            f"{size.entries:,} of as many records and items: read it with repeats {expected.repeats!r}, as "
            "when it was sanitized"
        )

    def _wrong_original(self) -> SourceError:
        return SourceError(f"{self.path.name} was not made from this original, or the key belongs to another output")


def _read_output(path: Path, sidecar: Sidecar, progress: Progress) -> Release:
    """Read the output as the sidecar says; `read` checks what the sidecar says."""
    has_values, has_times = sidecar.value is not None, sidecar.zone is not None
    return read(
        _exact_texts(path) if sidecar.inert else path,
        record="record",
        item="item",
        value="value" if has_values else False,
        time="time" if has_times else False,
        value_type=cast(ValueType, sidecar.value) if has_values else "auto",
        time_unit=cast(TimeUnit, sidecar.time_unit) if has_times else "day",
        zone="UTC" if sidecar.zone is None else sidecar.zone,
        repeats="keep",
        progress=progress,
    )


def _exact_texts(path: Path) -> pl.DataFrame:
    """The cells of a CSV file whose texts have apostrophes for spreadsheets, without these."""
    try:
        return exact(pl.read_csv(path, infer_schema=False))
    except (OSError, pl.exceptions.PolarsError):
        raise SourceError(f"{path} cannot be read: it is not the CSV file of its sidecar") from None


def _items_agree(release: Release, original: Release, representatives: Ints, item_codes: Ints) -> bool:
    """Whether each record has only entries of some person whom it represents.

    Entries are matched by item and number: of each item a record has at most as many entries as the person.
    Which entry is which cannot be said, because steps change values and times and so their order.
    """
    present = np.flatnonzero(item_codes >= 0)
    original_item = np.empty(release.n_items, np.int64)
    original_item[item_codes[present]] = present
    cells = np.repeat(np.arange(original.n_records), original.lengths) * original.n_items
    cells += original.by_record.item
    number = repeat_numbers(release.by_record) if release.has_repeats else None
    agrees = np.zeros(release.n_records, np.bool_)
    people = np.flatnonzero(representatives >= 0)
    ends = np.cumsum(release.lengths[representatives[people]])
    cuts = np.searchsorted(ends, np.arange(PIECE, ends[-1] if len(ends) else 0, PIECE))
    for some in np.split(people, cuts):
        records = representatives[some]
        lengths = release.lengths[records]
        first = np.cumsum(lengths) - lengths
        entry = np.repeat(release.by_record.start[records] - first, lengths) + np.arange(lengths.sum())
        wanted = np.repeat(some, lengths) * original.n_items + original_item[release.by_record.item[entry]]
        place = np.searchsorted(cells, wanted) + (0 if number is None else number[entry])
        is_present = cells[np.minimum(place, len(cells) - 1)] == wanted
        agrees[records[np.add.reduceat(is_present, first, dtype=np.int64) == lengths]] = True
    return bool(agrees.all())
