"""Files of a sanitized release: the output, the sidecar that lists its steps, and the key, which record is whose.

The sidecar can be published with the output. It names neither people nor the original, and does not contain the
seed, which would allow others to undo noise, order and new ids. The key is as private as the original.
"""

import csv
import io
import json
import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from functools import reduce
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from standout._version import __version__
from standout.core.arrays import Ints, read_only, slices_of
from standout.core.errors import ParameterError, SourceError, StandoutError
from standout.core.files import Part, check_csv_name, check_output_file, publish, sweep, work_folder, write_atomically
from standout.core.json_files import dump_with_checksum, is_intact, read_text
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.data.build import select_labels
from standout.data.column import Column, code_dtype
from standout.data.export import exact, inert_text, write_table
from standout.data.export import inert as inert_cells
from standout.data.labels import SECONDS, Bins, Labels, StepReport, TimeUnit
from standout.data.manifest import MANIFEST
from standout.data.release import Release
from standout.data.store import is_index, open_index, save
from standout.ingest.cells import ValueType
from standout.ingest.read import read
from standout.know.facts import level_values
from standout.know.sanitized import OriginalMapping, ReleaseNoise, Sanitized, sidecar_path
from standout.sanitizing.draft import ReleasedValues, compact, entry_counts
from standout.sanitizing.k_steps import ClusterRecords
from standout.sanitizing.step import Step
from standout.sanitizing.steps import finish, level_draft, parse_steps, rounding_periods
from standout.sanitizing.value_steps import RandomizedResponse

FORMAT, VERSION = "standout sanitized", 3
NOTE = {True: "records have new ids: the original's ids are not in it", False: "records have the original's ids"}
KEY_COLUMNS = ["record", "released"]
SEPARATOR = ";"
TABLES = (".csv", ".parquet")
PIECE = 1 << 20
"""Entries that are compared at a time."""
READ_ALIKE = "read the original as when it was sanitized, with the same schema, values, times and zone"


def released_fingerprint(release: Release) -> str:
    """Fingerprint of what is published: values of columns that do not occur any more are no part of it."""
    if not release.columns:
        return release.fingerprint
    return Release.of_columns(tuple(compact(column)[0] for column in release.columns)).fingerprint


def _size(release: Release) -> dict[str, int]:
    sizes = {"records": release.n_records, "columns": release.n_columns}
    return sizes | {"items": release.n_items, "entries": release.n_entries}


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Steps of an output, its original's size and what reading did to repeated rows, and how to read the output.

    `columns` has the types of columns by name, `value` that of the values of entries: number, text, or None.
    """

    fingerprint: str
    renumbered: bool
    records: int
    original: dict[str, Any]
    columns: dict[str, str]
    value: str | None
    time_unit: str | None
    zone: str | None
    inert: bool
    steps: tuple[StepReport, ...]

    @classmethod
    def of(cls, safer: Sanitized, inert: bool = False) -> "Sidecar":
        """Sidecar of a sanitized release."""
        source, clock = safer.original.provenance, safer.clock
        rows = {"repeats": source.settings.get("repeats", ""), "merged_rows": source.merged}
        return cls(
            fingerprint=released_fingerprint(safer),
            renumbered=safer.renumbered,
            records=safer.n_records,
            original=_size(safer.original) | rows,
            columns={column.name: column.kind for column in safer.columns},
            value=None if safer.levels is None else "text" if isinstance(safer.levels, tuple) else "number",
            time_unit=None if clock is None else clock.unit,
            zone=None if clock is None else clock.zone,
            inert=inert,
            steps=safer.step_reports,
        )

    def to_json(self) -> bytes:
        """Content of the file."""
        content = asdict(self)
        content["steps"] = [{k: v for k, v in step.items() if v is not None} for step in content["steps"]]
        head = {"format": FORMAT, "version": VERSION, "written by": f"standout {__version__}"}
        return dump_with_checksum({**head, "ids": NOTE[self.renumbered], **content})

    @classmethod
    def read(cls, path: Path) -> "Sidecar":
        """Read a sidecar; raises a SourceError that says why it cannot be used."""
        try:
            content = json.loads(path.read_bytes())
            if content["format"] != FORMAT or content["version"] != VERSION:
                raise SourceError(f"{path} is not a sidecar that this version of Standout can read: sanitize again")
            read = {each.name: content[each.name] for each in fields(cls)}
            sidecar = cls(**read | {"steps": tuple(map(_report_from_json, content["steps"]))})
            if not is_intact(content) or not sidecar._is_sound():
                raise ValueError("content")
            return sidecar
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror}") from error
        except (ArithmeticError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise damaged_sidecar(path) from error

    def _is_sound(self) -> bool:
        """Whether types are right, and steps account for all: before = after + removed + merged - added."""
        texts = [self.fingerprint, *self.columns, *self.columns.values(), self.original["repeats"]]
        is_typed = all(isinstance(text, str) for text in texts)
        is_typed &= all(isinstance(text, str | None) for text in (self.value, self.time_unit, self.zone))
        is_typed &= type(self.renumbered) is type(self.inert) is bool
        records, items, entries = (self.original[name] for name in ("records", "items", "entries"))
        has_entries = entries > 0 <= items
        for counts in (report.counts for report in self.steps):
            is_typed &= counts["records before"] == records >= counts["records"]
            records = counts["records"]
            if has_entries:
                gone = counts["entries removed"] + counts["entries merged"] - counts["entries added"]
                is_typed &= counts["entries before"] == entries == counts["entries"] + gone
                entries = counts["entries"]
        return is_typed and records == self.records and (self.original["columns"] > 0) == bool(self.columns)


def damaged_sidecar(path: Path) -> SourceError:
    """The error about a sidecar that is not as it was written."""
    return SourceError(f"{path} is damaged: write the output again with its sidecar")


def _report_from_json(content: Any) -> StepReport:
    bins, counts = content.get("bins"), {str(name): count for name, count in content["counts"].items()}
    if bins is not None:
        bins = Bins(*(tuple(map(float, bins[name])) for name in ("edges", "values")))
        if len(bins.values) != len(bins.edges) + 1:
            raise ValueError("bins")
    return StepReport(str(content["step"]), counts, bins)


# Writing. All files are prepared in a private folder with a random name next to their target. Then an old output is
# moved away, key and sidecar are moved to their places, and the new output last. So an output that exists is
# complete and has its own sidecar and key. If the process is killed before that, the next run in the folder
# makes everything what it was (`core.files`).


@with_progress
def write_sanitized(
    safer: Sanitized,
    path: str | Path,
    *,
    key: str | Path | None = None,
    force: bool = False,
    inert: bool = False,
    progress: ProgressOption = no_progress,
) -> Path:
    """Write a sanitized release to NAME.csv, NAME.parquet or an index, and its steps to the sidecar, which it returns.

    Of people with columns and entries only the columns are written. `key` is a private CSV file that lists which record
    represents which person. `force` overwrites existing files. `inert` puts an apostrophe before texts of a CSV file
    that a spreadsheet would execute; `open_sanitized` removes them.
    """
    if not isinstance(safer, Sanitized):
        raise ParameterError("write_sanitized takes a release made by standout.sanitize")
    output, key_path = Path(path), None if key is None else Path(key)
    check_output_name(output, bool(safer.columns), inert)
    check_output_paths(output, key_path, force)
    sidecar = sidecar_path(output)
    parts: list[Part] = []
    try:
        with ExitStack() as stack:
            folder = stack.enter_context(work_folder(output.parent))
            new = folder / f"output{output.suffix}"
            parts += [Part(folder / "sidecar", sidecar), Part(new, output)]
            if safer.columns:
                _write_cells(safer, new, inert)
            elif output.suffix in TABLES:
                write_table(safer, new, progress, inert)
            else:
                save(safer, new, progress)
            content = Sidecar.of(safer, inert).to_json()
            write_atomically(folder / "sidecar", lambda file: file.write(content))
            if key_path is not None:
                private = stack.enter_context(work_folder(key_path.parent))
                parts.insert(0, Part(private / "key", key_path))
                _write_key(safer, private / "key")
            publish(parts)
    except OSError as error:
        raise StandoutError(f"{output} cannot be written: {error.strerror or error}") from error
    except StandoutError as error:  # its message names targets instead of the work folder
        message = str(error)
        names = [(part.new, part.target) for part in parts]
        for new, target in [*names, *((new.parent, target.parent) for new, target in names)]:
            message = message.replace(str(new), str(target))
        raise type(error)(message) from error
    return sidecar


def _write_cells(safer: Sanitized, path: Path, inert: bool) -> None:
    """Write the columns to a .csv or .parquet file that only its owner can read."""
    frame = safer.to_frame()
    if path.suffix == ".parquet":
        write_atomically(path, frame.write_parquet, private=True)
        return
    sets = [column for column in safer.columns if column.kind == "set"]
    for column in sets:
        if any(SEPARATOR in str(member) for member in column.levels):
            raise ParameterError(f"column {column.name!r} has members with {SEPARATOR!r}: write a Parquet file")
    texts = frame.with_columns(pl.col(column.name).list.join(SEPARATOR) for column in sets)
    if inert:
        texts = inert_cells(texts).rename(inert_text)
    write_atomically(path, texts.write_csv, private=True)


def _write_key(safer: Sanitized, path: Path) -> None:
    """Write the id of each record of the original that has a representative, and that of its representative."""
    text, representatives = io.StringIO(), safer.mapping.representatives
    old_ids, new_ids = list(safer.original.records), list(safer.records)
    represented = np.flatnonzero(representatives >= 0).tolist()
    pairs = ((old_ids[record], new_ids[representatives[record]]) for record in represented)
    csv.writer(text, lineterminator="\n").writerows([KEY_COLUMNS, *pairs])
    write_atomically(path, lambda file: file.write(text.getvalue().encode()), private=True)


def check_output_name(output: Path, has_columns: bool, inert: bool) -> None:
    """Refuse an index of columns, and inert texts outside CSV: no spreadsheet executes those."""
    if has_columns and output.suffix not in TABLES:
        raise ParameterError(f"{output}: the output of a release with columns must end in .csv or .parquet")
    if inert and output.suffix != ".csv":
        raise ParameterError(f"inert is for CSV files only, which spreadsheets open; {output.name} is none")


def check_output_paths(output: Path, key: Path | None, force: bool, source: Path | None = None) -> None:
    """Refuse paths that cannot be written, that exist, or that are read from, before any work is done."""
    try:
        paths = [output, sidecar_path(output), *([] if key is None else [key])]
        places = [Path(os.path.realpath(path)) for path in paths]  # resolve() fails on a loop of links
        original = source.resolve() if source is not None and source.exists() else None
        for path, place in zip(paths, places, strict=True):
            if original is not None and (original in (place, *place.parents) or place in original.parents):
                raise ParameterError(f"{path} is where the original is: choose another path")
        if key is not None:
            check_csv_name(key, "key")
        for path in paths:
            check_output_file(path / MANIFEST if path is output and is_index(path) else path)
        if len(set(places)) < len(paths):
            raise ParameterError(f"{output.name}: the output, its sidecar and the key must be different files")
        if key is not None and places[0] in places[-1].parents:
            raise ParameterError(f"{key} is inside the output, which will be replaced: choose another path")
        for path in paths:
            sweep(path.parent)  # removes the key of a run that was killed before its output was complete
            is_ours = path is not output or (path.suffix in TABLES if path.is_file() else is_index(path))
            if path.is_symlink() or (path.exists() and not is_ours) or (path.is_dir() and path is not output):
                raise ParameterError(f"{path} exists and is something else: it will not be overwritten")
            if path.exists() and not force:
                raise ParameterError(f"force is needed to overwrite {path}: it exists already; or choose another path")
    except StandoutError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ParameterError(f"{str(output)!r:.100} cannot be written: {reason}") from None


# Opening.


@with_progress
def open_sanitized(
    path: str | Path, original: Release, key: str | Path | None = None, progress: ProgressOption = no_progress
) -> Sanitized:
    """Open an output of ``standout sanitize`` together with its original.

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
    >>> from standout.sanitizing.files import write_sanitized
    >>> release = so.synthesize(records=10, items=10, entries=40, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_sanitized(so.sanitize(release, "round-time month"), f"{folder}/safer.csv")
    ...     safer = so.open_sanitized(f"{folder}/safer.csv", release)
    >>> [report.step for report in safer.step_reports]
    ['round-time month']
    """
    sidecar = Sidecar.read(sidecar_path(Path(path)))
    steps = parse_steps(report.step for report in sidecar.steps)
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
        size, expected = _size(self.original), self.sidecar.original
        differing = {name for name, count in size.items() if count != expected[name]}
        if differing == {"entries"} and expected["repeats"]:
            raise SourceError(
                f"{self.path.name} was made from {expected['entries']:,} entries, and this original has "
                f"{size['entries']:,} of as many records and items: read it with repeats {expected['repeats']!r}, as "
                "when it was sanitized"
            )
        if differing:
            raise self._wrong_original()

    def _representatives(self, released: Labels) -> Ints:
        """For each record of the original, the index of the released record that represents it; -1: none."""
        if self.key is not None:
            return _read_key(self.key, self.original, released)
        if self.sidecar.renumbered or any(isinstance(step, ClusterRecords) for step in self.steps):
            reason = "its ids are new" if self.sidecar.renumbered else "it has one record for several people"
            raise ParameterError(f"key is needed, the key file of {self.path.name}: {reason}")
        return _match_ids(self.original.records, released)

    def _wrong_original(self) -> SourceError:
        return SourceError(
            f"{self.path.name} was not made from this original as it was read, or the key belongs to another output"
        )

    def _changed(self) -> SourceError:
        return SourceError(f"{self.path} does not match its sidecar: one of the two was changed or replaced")

    def columns(self) -> Sanitized:
        """The columns, in the rows of the people whom the key names; steps and original give the levels."""
        sidecar, original = self.sidecar, self.original
        ids = Labels.of(map(str, range(1, sidecar.records + 1)))
        self._check_size()
        if self.key is None:
            self._representatives(ids)
        try:
            levels = level_draft(original, self.steps)
            columns = [levels.column(name) for name in sidecar.columns]
        except ParameterError:
            raise self._wrong_original() from None
        if [column.kind for column in columns] != list(sidecar.columns.values()):
            raise self._wrong_original()
        cells = {column.name: column for column in _read_cells(self.path, columns, sidecar.inert)}
        if columns and cells[columns[0].name].n_rows != sidecar.records:
            raise self._changed()
        representatives = self._representatives(ids)
        people = np.flatnonzero(representatives >= 0)
        rows = np.full(sidecar.records, -1, np.int64)
        rows[representatives[people]] = people
        if len(people) != len(rows) or (rows < 0).any():
            raise SourceError(
                f"{self.key} is not the key of this output and original: an id is unknown, missing or occurs twice"
            )
        draft = levels.keep_records(representatives >= 0).reorder_records(np.argsort(np.argsort(rows)))
        draft = replace(draft, columns=tuple(cells.values()))
        for step, report in zip(self.steps, sidecar.steps, strict=True):
            try:
                noises = step.cell_noise(report, original.columns)
            except (KeyError, TypeError, ZeroDivisionError):
                raise damaged_sidecar(sidecar_path(self.path)) from None
            for name in filter(cells.__contains__, noises):
                draft = draft.with_cells(cells[name], *noises[name])
        safer = finish(draft, sidecar.steps, ReleaseNoise(), True)
        if released_fingerprint(safer) != sidecar.fingerprint:
            raise self._changed()
        if not all(_agrees(column, safer) for column in safer.columns):
            raise self._wrong_original()
        return safer

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
        titles = release.titles
        if titles is None and original.titles is not None:
            removed = original.n_items - release.n_items
            titles = select_labels(original.titles, np.argsort(item_codes, kind="stable")[removed:])
        reports = zip(self.steps, sidecar.steps, strict=True)
        try:
            noise = reduce(ReleaseNoise.then, (step.noise(report) for step, report in reports), ReleaseNoise())
        except (KeyError, TypeError, ZeroDivisionError, ParameterError):
            raise damaged_sidecar(sidecar_path(path)) from None
        same: dict[str, Any] = {field.name: getattr(release, field.name) for field in fields(Release)}
        same["titles"] = titles
        values, periods = self._released_values(release), rounding_periods(noise)
        same["mapping"] = OriginalMapping(read_only(representatives), read_only(item_codes), values, periods)
        new_ids = sidecar.renumbered
        return Sanitized(**same, original=original, step_reports=sidecar.steps, noise=noise, renumbered=new_ids)

    def _released_values(self, release: Release) -> ReleasedValues:
        """For each level of the original, its released value.

        Refuses an original that lacks values or times of the release: known facts would be lost, and people would
        seem safer than they are.
        """
        values: ReleasedValues = level_values(self.original)
        if release.levels is None:
            values = (None,) * len(values)
        elif not isinstance(self.original.levels, tuple):  # categories have no bins
            for bins in (report.bins for report in self.sidecar.steps if report.bins is not None):
                values = bins.bin_values([float(value) for value in values])  # type: ignore[arg-type]
        if release.levels is not None and not set(level_values(release)) <= set(values):
            raise SourceError(f"{self.path.name} has values that the original lacks: {READ_ALIKE}")
        old, new = self.original.clock, release.clock
        if release.span and (
            old is None or new is None or not old.span or old.zone != new.zone or SECONDS[old.unit] > SECONDS[new.unit]
        ):
            raise SourceError(f"{self.path.name} has times that the original lacks: {READ_ALIKE}")
        return values


def _read_key(path: Path, original: Release, released: Labels) -> Ints:
    """For each record of the original, the index of the record with the released id that represents it; -1: none."""
    try:
        rows = list(csv.reader(io.StringIO(read_text(path, "a CSV file"), newline=""), strict=True))
    except csv.Error as error:
        raise SourceError(f"{path} is not a CSV file: {error}") from error
    if not rows or rows[0] != KEY_COLUMNS or any(len(row) != 2 for row in rows):
        raise SourceError(f"{path} is not a key file: it must have the columns record and released")
    old = _match_ids((record for record, _ in rows[1:]), original.records)
    new = _match_ids((record for _, record in rows[1:]), released)
    if (old < 0).any() or (new < 0).any() or len(np.unique(old)) < len(old):
        raise SourceError(f"{path} is not the key of this output and original: an id is unknown or occurs twice")
    representatives = np.full(original.n_records, -1, np.int64)
    representatives[old] = new
    return representatives


def _match_ids(ids: Iterable[str], others: Labels) -> Ints:
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


def _read_texts(path: Path, inert: bool, names: Sequence[str] = ()) -> pl.DataFrame:
    """The columns of a CSV file as texts, without the apostrophes for spreadsheets; default: all columns."""
    written = {inert_text(name) if inert else name: name for name in names}
    texts = pl.read_csv(path, columns=list(written) or None, infer_schema=False)
    return (exact(texts) if inert else texts).rename(written)


def _read_cells(path: Path, columns: list[Column], inert: bool) -> list[Column]:
    """Read the cells of columns whose types and levels are known, as `_write_cells` wrote them."""
    names = [column.name for column in columns]
    try:
        frame = _read_texts(path, inert, names) if path.suffix == ".csv" else pl.read_parquet(path, columns=names)
    except (OSError, pl.exceptions.PolarsError):
        raise SourceError(f"{path} cannot be read, or lacks columns that its sidecar lists") from None
    try:
        return [_read_column(frame[column.name], column) for column in columns]
    except (pl.exceptions.PolarsError, ValueError):
        raise SourceError(f"{path.name} has values that the original lacks: {READ_ALIKE}") from None


def _read_column(cells: pl.Series, column: Column) -> Column:
    """The cells in the codes of this column's levels."""
    starts = None
    if column.kind == "set":
        lists = cells.str.split(SEPARATOR) if cells.dtype == pl.String else cells
        starts = np.append(0, np.cumsum(lists.list.len().fill_null(0).to_numpy().astype(np.int64)))
        cells = lists.filter(lists.list.len() > 0).explode()
    elif column.kind == "date":
        cells = (cells.str.to_date("%Y-%m-%d") if cells.dtype == pl.String else cells).to_physical()
    dtype = pl.String if isinstance(column.levels, tuple) else pl.Float64
    levels = pl.Series(column.levels, dtype=dtype)
    found = cells.cast(dtype).replace_strict(levels, np.arange(column.n_levels), return_dtype=pl.Int64)
    codes = found.fill_null(column.missing).to_numpy().astype(code_dtype(column.n_levels))
    return replace(column, codes=read_only(codes), starts=starts)


def _read_output(path: Path, sidecar: Sidecar, progress: Progress) -> Release:
    """Read the output as the sidecar says; `read` checks what the sidecar says."""
    has_values, has_times = sidecar.value is not None, sidecar.zone is not None
    try:
        source = _read_texts(path, inert=True) if sidecar.inert else path
    except (OSError, pl.exceptions.PolarsError):
        raise SourceError(f"{path} cannot be read: it is not the CSV file of its sidecar") from None
    return read(
        source,
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


def _items_agree(release: Release, original: Release, representatives: Ints, item_codes: Ints) -> bool:
    """Whether each record has, of each item, at most as many entries as some person whom it represents."""
    own_codes = np.arange(original.n_items)
    agrees, people = np.zeros(release.n_records, np.bool_), np.flatnonzero(representatives >= 0)
    for some in (people[part] for part in slices_of(original.lengths[people], PIECE)):
        records = representatives[some]
        has_more = entry_counts(release, records, item_codes) > entry_counts(original, some, own_codes)
        agrees[records[has_more.sum(axis=1) == 0]] = True
    return bool(agrees.all())
