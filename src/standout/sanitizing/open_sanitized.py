"""Open a sanitized output together with its original."""

from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl

from standout.core.arrays import Ints
from standout.core.errors import ParameterError, SourceError
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.data.build import select_labels
from standout.data.column import Column, code_dtype
from standout.data.entries import repeat_numbers
from standout.data.export import exact, inert_text
from standout.data.labels import SECONDS, Labels, TimeUnit
from standout.data.release import Release, read_only
from standout.data.store import is_index, open_index
from standout.ingest.read import read
from standout.ingest.value_levels import ValueType
from standout.know.facts import level_values
from standout.know.sanitized import OriginalMapping, ReleaseNoise, Sanitized
from standout.sanitizing.cluster import ClusterRecords
from standout.sanitizing.column_steps import DropColumn, SwapColumn, moved_columns
from standout.sanitizing.draft import Draft, ReleasedValues
from standout.sanitizing.output_files import (
    OriginalSize,
    Sidecar,
    member_separator,
    read_key,
    released_fingerprint,
    sidecar_path,
)
from standout.sanitizing.sanitize import finish, level_draft
from standout.sanitizing.step import Step
from standout.sanitizing.steps import parse_steps
from standout.sanitizing.value_steps import RandomizedResponse, RoundTime

PIECE = 1 << 20
"""Entries that are compared at a time."""
READ_ALIKE = "read the original as when it was sanitized, with the same schema, values, times and zone"


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
        Release that it was made from, read with the same options as when it was sanitized.
    key
        Key file. It is required if there are columns, if the records have new ids, or if one record represents
        several people.
    progress
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    Sanitized
        Release equal to the one that was written.

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
    sidecar = Sidecar.read(sidecar_path(Path(path)))
    steps = parse_steps(report.step for report in sidecar.step_reports)
    output = _Output(Path(path), sidecar, steps, original, None if key is None else Path(key))
    return output.columns() if sidecar.columns else output.entries(progress)


@dataclass(frozen=True)
class _Output:
    """An output, its sidecar and steps, the original that it should have been made from, and its key."""

    path: Path
    sidecar: Sidecar
    steps: list[Step]
    original: Release
    key: Path | None

    def _check_size(self) -> None:
        size, expected = OriginalSize.of(self.original), self.sidecar.original
        if size == expected:
            return
        if replace(size, entries=expected.entries) == expected and expected.repeats:
            raise SourceError(
                f"{self.path.name} was made from {expected.entries:,} entries, and this original has "
                f"{size.entries:,} of as many records and items: read it with repeats {expected.repeats!r}, as "
                "when it was sanitized"
            )
        raise self._wrong_original()

    def _noise(self) -> ReleaseNoise:
        """What the steps did to entries, by the sidecar."""
        reports = zip(self.steps, self.sidecar.step_reports, strict=True)
        try:
            return reduce(ReleaseNoise.then, (step.noise(report) for step, report in reports), ReleaseNoise())
        except (KeyError, TypeError, ZeroDivisionError, ParameterError):
            raise self._damaged() from None

    def _representatives(self, released: Labels) -> Ints:
        if self.key is not None:
            return read_key(self.key, self.original, released)
        reason = ""
        if self.sidecar.renumbered:
            reason = "its ids are new" if not self.sidecar.columns else "its rows are in a random order"
        elif any(isinstance(step, ClusterRecords) for step in self.steps):
            reason = "it has one record for several people"
        if reason:
            raise ParameterError(f"key is needed, the key file of {self.path.name}: {reason}")
        return _match_ids(self.original.records, released)

    def _wrong_original(self) -> SourceError:
        return SourceError(
            f"{self.path.name} was not made from this original as it was read, or the key belongs to another output"
        )

    def _changed(self) -> SourceError:
        return SourceError(f"{self.path} does not match its sidecar: one of the two was changed or replaced")

    def _damaged(self) -> SourceError:
        return SourceError(f"{sidecar_path(self.path)} is damaged: write the output again with its sidecar")

    # Columns. What the steps did to the levels is worked out again from the original: the sidecar has no values.

    def columns(self) -> Sanitized:
        """The columns, in the rows of the people whom the key names."""
        ids = Labels.of(map(str, range(1, self.sidecar.records + 1)))
        self._check_size()
        if self.key is None:
            self._representatives(ids)
        try:
            levels = level_draft(self.original, self.steps)
            columns = [levels.column(name) for name in self.sidecar.columns]
        except ParameterError:
            raise self._wrong_original() from None
        if [column.kind for column in columns] != list(self.sidecar.columns.values()):
            raise self._wrong_original()
        cells = tuple(_read_cells(self.path, columns, self.sidecar.inert))
        if cells[0].n_rows != self.sidecar.records:
            raise self._changed()
        representatives = self._representatives(ids)
        people = np.flatnonzero(representatives >= 0)
        rows = np.full(self.sidecar.records, -1, np.int64)
        rows[representatives[people]] = people
        if len(people) != len(rows) or (rows < 0).any():
            raise SourceError(
                f"{self.key} is not the key of this output and original: an id is unknown, missing or occurs twice"
            )
        keep = np.zeros(self.original.n_records, np.bool_)
        keep[people] = True
        draft = levels.keep_records(keep).reorder_records(np.argsort(np.argsort(rows)))
        safer = finish(self._with_noise(replace(draft, columns=cells)), self.sidecar.step_reports, ReleaseNoise(), True)
        if released_fingerprint(safer) != self.sidecar.fingerprint:
            raise self._changed()
        if not all(_agrees(column, safer) for column in safer.columns):
            raise self._wrong_original()
        return safer

    def _with_noise(self, draft: Draft) -> Draft:
        """The draft with the probabilities that cells were replaced or emptied, by the reports of the steps."""
        for step, report in zip(self.steps, self.sidecar.step_reports, strict=True):
            counts = report.counts
            if isinstance(step, SwapColumn):
                named = [self.original.column(name) for name in step.columns]
                for name in moved_columns(named, draft.columns):
                    draft = draft.with_cells(draft.column(name), counts["rows swapped"] / counts["records before"])
            for name in [column.name for column in draft.columns]:
                if f"emptied in {name}" in counts and not isinstance(step, DropColumn):
                    share = counts[f"emptied in {name}"] / counts[f"of cells in {name}"]
                    draft = draft.with_cells(draft.column(name), suppressed=share)
        return draft

    # Entries.

    def entries(self, progress: Progress) -> Sanitized:
        """The entries, in the records that represent the people of the original."""
        path, sidecar, original = self.path, self.sidecar, self.original
        release = open_index(path).check() if is_index(path) else _read_output(path, sidecar, progress)
        if release.fingerprint != sidecar.fingerprint:
            raise self._changed()
        self._check_size()
        item_codes = _match_ids(original.items, release.items)
        if int((item_codes >= 0).sum()) != release.n_items:
            raise self._wrong_original()
        representatives = self._representatives(release.records)
        has_false_entries = any(isinstance(step, RandomizedResponse) and step.items for step in self.steps)
        if not has_false_entries and not _items_agree(release, original, representatives, item_codes):
            raise self._wrong_original()
        released_values = self._released_values(release)
        self._check_values_and_times(release, released_values)
        periods = (step.period for step in self.steps if isinstance(step, RoundTime))
        titles = release.titles
        if titles is None and original.titles is not None:
            removed = original.n_items - release.n_items
            titles = select_labels(original.titles, np.argsort(item_codes, kind="stable")[removed:])
        return Sanitized(
            records=release.records,
            items=release.items,
            titles=titles,
            levels=release.levels,
            clock=release.clock,
            by_record=release.by_record,
            by_item=release.by_item,
            provenance=release.provenance,
            stored_fingerprint=release.stored_fingerprint,
            original=original,
            mapping=OriginalMapping(
                read_only(representatives),
                read_only(item_codes),
                released_values,
                tuple(period for period in periods if period is not None),
            ),
            step_reports=sidecar.step_reports,
            noise=self._noise(),
            renumbered=sidecar.renumbered,
        )

    def _released_values(self, release: Release) -> ReleasedValues:
        values = level_values(self.original)
        if release.levels is None:
            return (None,) * len(values)
        if isinstance(self.original.levels, tuple):
            return values  # categories have no bins
        for report in self.sidecar.step_reports:
            if report.bins is not None:
                values = report.bins.bin_values([float(value) for value in values])
        return values

    def _check_values_and_times(self, release: Release, released_values: ReleasedValues) -> None:
        """Refuse an original that lacks values or times of the release.

        Known facts would be lost, and people would seem safer than they are.
        """
        levels = () if release.levels is None else level_values(release)
        if not set(levels) <= set(released_values):
            raise SourceError(f"{self.path.name} has values that the original lacks: {READ_ALIKE}")
        old, new = self.original.clock, release.clock
        if release.span and (
            old is None or new is None or not old.span or old.zone != new.zone or SECONDS[old.unit] > SECONDS[new.unit]
        ):
            raise SourceError(f"{self.path.name} has times that the original lacks: {READ_ALIKE}")


def _match_ids(ids: Labels, others: Labels) -> Ints:
    """For each id, its index among the others; -1: it is not there."""
    index = {id_: at for at, id_ in enumerate(others)}
    return np.array([index.get(id_, -1) for id_ in ids], np.int64)


def _agrees(column: Column, safer: Sanitized) -> bool:
    """Whether the cells are what the steps make of the original's; not known if some are random."""
    old, channel = safer.original.column(column.name), safer.channels.get(column.name)
    if column.starts is not None or (channel is not None and (channel.replaced or channel.suppressed)):
        return True
    released = np.arange(old.n_levels) if channel is None else channel.released
    return bool((np.append(released, column.missing)[old.codes[safer.original_row]] == column.codes).all())


def _read_cells(path: Path, columns: list[Column], inert_texts: bool = False) -> list[Column]:
    """Read the cells of columns whose types and levels are known, as `write_cells` wrote them."""
    names = [column.name for column in columns]
    try:
        frame = _read_csv(path, names, inert_texts) if path.suffix == ".csv" else pl.read_parquet(path, columns=names)
    except (OSError, pl.exceptions.PolarsError):
        raise SourceError(f"{path} cannot be read, or lacks columns that its sidecar lists") from None
    try:
        return [_read_column(frame[column.name], column) for column in columns]
    except (pl.exceptions.PolarsError, ValueError):
        raise SourceError(f"{path.name} has values that the original lacks: {READ_ALIKE}") from None


def _read_csv(path: Path, names: list[str], inert_texts: bool) -> pl.DataFrame:
    """The columns of a CSV file as texts."""
    if not inert_texts:
        return pl.read_csv(path, columns=names, infer_schema=False)
    written = [inert_text(name) for name in names]
    texts = pl.read_csv(path, columns=written, infer_schema=False)
    return exact(texts).rename(dict(zip(written, names, strict=True)))


def _read_column(cells: pl.Series, column: Column) -> Column:
    """The cells in the codes of this column's levels."""
    if column.kind != "set":
        codes = _codes(cells, column)
        return replace(column, codes=read_only(codes.astype(code_dtype(column.n_levels))), starts=None)
    lists = cells.str.split(member_separator(column)) if cells.dtype == pl.String else cells
    lengths = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
    members = lists.filter(lists.list.len() > 0).explode()
    codes = _codes(members, column).astype(code_dtype(column.n_levels))
    return replace(column, codes=read_only(codes), starts=np.append(0, np.cumsum(lengths)))


def _codes(cells: pl.Series, column: Column) -> Ints:
    if isinstance(column.levels, tuple):
        codes = cells.cast(pl.String).cast(pl.Enum(list(column.levels))).to_physical()
        return np.asarray(codes.cast(pl.Int64).fill_null(column.missing).to_numpy())
    if column.kind == "date":
        cells = cells.str.to_date("%Y-%m-%d") if cells.dtype == pl.String else cells
        cells = cells.cast(pl.Date).to_physical()
    numbers = cells.cast(pl.Float64)
    is_empty = numbers.is_null().to_numpy()
    known = numbers.fill_null(0.0).to_numpy()
    place = np.minimum(np.searchsorted(column.levels, known), max(column.n_levels - 1, 0))
    is_known = column.levels[place] == known if column.n_levels else np.zeros(len(known), np.bool_)
    if not (is_empty | is_known).all():
        raise ValueError("levels")
    return np.where(is_empty, column.missing, place).astype(np.int64)


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
