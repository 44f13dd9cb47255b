"""Files of a sanitized release: the output, the sidecar that lists its steps, and the key, which record is whose.

The sidecar can be published with the output. It names neither people nor the original, and does not contain the
seed, which would allow others to undo noise, order and new ids. The key is as private as the original.
"""

import csv
import io
import json
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from standout._version import __version__
from standout.core.arrays import Ints
from standout.core.errors import ParameterError, SourceError, StandoutError
from standout.core.files import Part, check_csv_name, check_output_file, publish, sweep, work_folder, write_atomically
from standout.core.json_files import JsonObject, dump_with_checksum, is_intact
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.data.column import Column
from standout.data.export import inert as inert_cells
from standout.data.export import inert_text, write_table
from standout.data.labels import Bins, Labels, StepReport
from standout.data.manifest import MANIFEST
from standout.data.release import Release
from standout.data.store import is_index, save
from standout.know.sanitized import Sanitized
from standout.sanitizing.level_change import compact

FORMAT, VERSION = "standout sanitized", 3
NOTE = {True: "records have new ids: the original's ids are not in it", False: "records have the original's ids"}
KEY_COLUMNS = ["record", "released"]
SEPARATORS = (";", "|", ",")
TABLES = (".csv", ".parquet")


def sidecar_path(output: Path) -> Path:
    """Path of the sidecar of an output."""
    named = output if output.name else output.absolute()  # the folder "." has a name
    return named.parent / f"{named.name}.sanitized.json"


def is_sidecar(path: Path) -> bool:
    """Whether a file is a sidecar; an interrupted run may have left it without its output."""
    try:
        with path.open("rb") as file:
            return f'"{FORMAT}"'.encode() in file.read(1 << 10)
    except OSError:
        return False


def released_fingerprint(release: Release) -> str:
    """Fingerprint of what is published: values of columns that do not occur any more are no part of it."""
    if not release.columns:
        return release.fingerprint
    return Release.of_columns(tuple(compact(column)[0] for column in release.columns)).fingerprint


@dataclass(frozen=True, slots=True)
class OriginalSize:
    """Size of an original, and what reading it did to repeated rows: `repeats` says how, "" if unknown.

    `merged_rows` is the number of rows that were dropped because an earlier row has the same record and item.
    Neither is compared.
    """

    records: int
    columns: int
    items: int
    entries: int
    repeats: str = field(default="", compare=False)
    merged_rows: int = field(default=0, compare=False)

    @classmethod
    def of(cls, release: Release) -> "OriginalSize":
        """Size of a release."""
        repeats, merged = release.provenance.settings.get("repeats", ""), release.provenance.merged
        return cls(release.n_records, release.n_columns, release.n_items, release.n_entries, repeats, merged)


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Steps of an output, the size of its original, and how to read the output.

    `columns` are the types of its columns by name. `value` is the type of the values of entries: number, text, or
    None without values. `time_unit` and `zone` are None without times. `inert` says whether texts that a spreadsheet
    would execute have an apostrophe.
    """

    fingerprint: str
    renumbered: bool
    records: int
    original: OriginalSize
    columns: dict[str, str]
    value: str | None
    time_unit: str | None
    zone: str | None
    inert: bool
    step_reports: tuple[StepReport, ...]

    @classmethod
    def of(cls, safer: Sanitized, inert: bool = False) -> "Sidecar":
        """Sidecar of a sanitized release."""
        return cls(
            fingerprint=released_fingerprint(safer),
            renumbered=safer.renumbered,
            records=safer.n_records,
            original=OriginalSize.of(safer.original),
            columns={column.name: column.kind for column in safer.columns},
            value=None if safer.levels is None else "text" if isinstance(safer.levels, tuple) else "number",
            time_unit=None if safer.clock is None else safer.clock.unit,
            zone=None if safer.clock is None else safer.clock.zone,
            inert=inert,
            step_reports=safer.step_reports,
        )

    def to_json(self) -> bytes:
        """Content of the file."""
        content: JsonObject = asdict(self) | {"steps": [_report_to_json(report) for report in self.step_reports]}
        del content["step_reports"]
        head = {"format": FORMAT, "version": VERSION, "written by": f"standout {__version__}"}
        return dump_with_checksum({**head, "ids": NOTE[self.renumbered], **content})

    @classmethod
    def read(cls, path: Path) -> "Sidecar":
        """Read a sidecar; raises a SourceError that says why it cannot be used."""
        try:
            content = json.loads(path.read_bytes())
            if content["format"] != FORMAT or content["version"] != VERSION:
                raise SourceError(f"{path} is not a sidecar that this version of Standout can read: sanitize again")
            if not is_intact(content):
                raise ValueError("checksum")
            return cls._from_json(content)
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror}") from error
        except (ArithmeticError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, StandoutError):
                raise
            raise SourceError(f"{path} is damaged: write the output again with its sidecar") from error

    @classmethod
    def _from_json(cls, content: Any) -> "Sidecar":
        """Make a sidecar of parsed JSON, whose shape nothing has checked yet."""
        size = content["original"]
        texts = {name: content[name] for name in ("value", "time_unit", "zone")}
        flags = {name: content[name] for name in ("renumbered", "inert")}
        if not all(isinstance(text, (str, type(None))) for text in texts.values()):
            raise ValueError("a text")
        if not all(type(flag) is bool for flag in flags.values()):
            raise ValueError("a flag")
        sidecar = cls(
            fingerprint=str(content["fingerprint"]),
            records=int(content["records"]),
            original=OriginalSize(
                records=int(size["records"]),
                columns=int(size["columns"]),
                items=int(size["items"]),
                entries=int(size["entries"]),
                repeats=str(size["repeats"]),
                merged_rows=int(size["merged_rows"]),
            ),
            columns={str(name): str(kind) for name, kind in content["columns"].items()},
            step_reports=tuple(map(_report_from_json, content["steps"])),
            **texts,
            **flags,
        )
        sidecar._check_counts()
        return sidecar

    def _check_counts(self) -> None:
        """Check that the steps account for every record and entry: before = after + removed + merged - added."""
        records, entries = self.original.records, self.original.entries
        for report in self.step_reports:
            counts = report.counts
            if counts["records before"] != records or not counts["records"] <= records:
                raise ValueError("records")
            records = int(counts["records"])
            if self.original.entries:
                gone = counts["entries removed"] + counts["entries merged"] - counts["entries added"]
                if counts["entries before"] != entries or counts["entries"] + gone != entries:
                    raise ValueError("entries")
                entries = int(counts["entries"])
        if records != self.records or (self.original.columns > 0) != bool(self.columns):
            raise ValueError("records or columns")


def _report_to_json(report: StepReport) -> JsonObject:
    content: JsonObject = {"step": report.step, "counts": {**report.counts}}
    if report.bins is not None:
        content["bins"] = {"edges": [*report.bins.edges], "values": [*report.bins.values]}
    return content


def _report_from_json(content: Any) -> StepReport:
    bins = content.get("bins")
    counts = {str(name): count for name, count in content["counts"].items()}
    if bins is None:
        return StepReport(str(content["step"]), counts)
    edges, values = (tuple(map(float, bins[name])) for name in ("edges", "values"))
    if len(values) != len(edges) + 1:
        raise ValueError("bins")
    return StepReport(str(content["step"]), counts, Bins(edges, values))


def write_key(safer: Sanitized, path: Path) -> None:
    """Write a CSV file with the id of each record of the original and that of its representative.

    Only the owner can read the file. Records without a representative are not in it.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(KEY_COLUMNS)
    old_ids, new_ids = list(safer.original.records), list(safer.records)
    representatives = safer.mapping.representatives
    represented = np.flatnonzero(representatives >= 0).tolist()
    table.writerows((old_ids[record], new_ids[representatives[record]]) for record in represented)
    write_atomically(path, lambda file: file.write(text.getvalue().encode()), private=True)


def read_key(path: Path, original: Release, released: Labels) -> Ints:
    """For each record of the original, the index of the record with the released id that represents it; -1: none."""
    try:
        rows = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline=""), strict=True))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path} is not a CSV file in UTF-8") from error
    if not rows or rows[0] != KEY_COLUMNS or any(len(row) != 2 for row in rows):
        raise SourceError(f"{path} is not a key file: it must have the columns record and released")
    old_index, new_index = ({id_: at for at, id_ in enumerate(ids)} for ids in (original.records, released))
    representatives = np.full(original.n_records, -1, np.int64)
    for record, new in rows[1:]:
        if record not in old_index or new not in new_index or representatives[old_index[record]] >= 0:
            raise SourceError(f"{path} is not the key of this output and original: an id is unknown or occurs twice")
        representatives[old_index[record]] = new_index[new]
    return representatives


def _write_cells(safer: Sanitized, path: Path, inert: bool) -> None:
    """Write the columns to a .csv or .parquet file that only its owner can read."""
    frame = safer.to_frame()
    if path.suffix == ".parquet":
        write_atomically(path, frame.write_parquet, private=True)
        return
    sets = [column for column in safer.columns if column.kind == "set"]
    texts = frame.with_columns(pl.col(column.name).list.join(member_separator(column)) for column in sets)
    if inert:
        texts = inert_cells(texts).rename(inert_text)
    write_atomically(path, texts.write_csv, private=True)


def member_separator(column: Column) -> str:
    """Separator of the members of a set in a CSV file: one that no member contains."""
    for separator in SEPARATORS:
        if not any(separator in str(member) for member in column.levels):
            return separator
    raise ParameterError(
        f"column {column.name!r} cannot be written as CSV: its members contain "
        f"each of {' '.join(SEPARATORS)}; write a Parquet file"
    )


# All files are prepared in a private folder with a random name next to their target. Then an old output is
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
    """Write a sanitized release, and its steps to a sidecar file next to it.

    Of people with columns and entries only the columns are written: write the entries as a release of their own.
    The sidecar, NAME.sanitized.json, has the steps and their counts. It has neither the seed nor anything
    about the original except its size. If the process is killed, an output that exists is complete.

    Parameters
    ----------
    safer
        Release made by `standout.sanitize`.
    path
        Output: NAME.csv, NAME.parquet, or, without columns, any other name for an index.
    key
        File that lists which record represents which person. Only its owner can read it; it is as private as the
        original. Default: not written.
    force
        Whether to overwrite existing files.
    inert
        Whether to put an apostrophe before texts of a CSV file that a spreadsheet would execute. The sidecar
        says so, and `open_sanitized` removes them.
    progress
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    Path
        Path of the sidecar.

    Raises
    ------
    ParameterError
        If a file exists and `force` is False, or a path cannot be written.
    StandoutError
        If writing fails, for example because the disk is full.

    Examples
    --------
    >>> import standout as so, tempfile
    >>> safer = so.sanitize(so.synthesize(records=10, items=10, entries=40, seed=7), "round-time month")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     so.write_sanitized(safer, f"{folder}/safer.csv").name
    'safer.csv.sanitized.json'
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
                write_key(safer, private / "key")
            publish(parts)
    except OSError as error:
        raise StandoutError(f"{output} cannot be written: {error.strerror or error}") from error
    except StandoutError as error:
        raise _naming(error, parts) from error
    return sidecar


def _naming(error: StandoutError, parts: list[Part]) -> StandoutError:
    """The error, with targets instead of the work folder in its message."""
    message = str(error)
    names = [(part.new, part.target) for part in parts]
    for new, target in [*names, *((new.parent, target.parent) for new, target in names)]:
        message = message.replace(str(new), str(target))
    return type(error)(message)


def check_output_name(output: Path, has_columns: bool, inert: bool) -> None:
    """Refuse an index of columns, and inert texts outside CSV: no spreadsheet executes those."""
    if has_columns and output.suffix not in TABLES:
        raise ParameterError(f"{output}: the output of a release with columns must end in .csv or .parquet")
    if inert and output.suffix != ".csv":
        raise ParameterError(f"inert is for CSV files only, which spreadsheets open; {output.name} is none")


def check_output_paths(output: Path, key: Path | None, force: bool, source: Path | None = None) -> None:
    """Refuse paths that cannot be written, that exist, or that are read from, before any work is done."""
    paths = [output, *([] if key is None else [key])]
    try:
        _check_source(paths, source)
        if key is not None:
            check_csv_name(key, "key")
        _check_folders(output, paths)
        _check_distinct(output, key, paths)
        for path in paths:
            sweep(path.parent)  # removes the key of a run that was killed before its output was complete
        _check_existing(output, paths, force)
    except (OSError, ValueError) as error:
        if isinstance(error, StandoutError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise ParameterError(f"{str(output)!r:.100} cannot be written: {reason}") from None


def _check_source(paths: list[Path], source: Path | None) -> None:
    """Refuse to overwrite the original, or to write into it or around it."""
    if source is None or not source.exists():
        return
    original = source.resolve()
    for path in [*paths, sidecar_path(paths[0])]:
        resolved = path.resolve()
        if resolved == original or original in resolved.parents or resolved in original.parents:
            raise ParameterError(f"{path} is where the original is: choose another path")


def _check_folders(output: Path, paths: list[Path]) -> None:
    for path in paths:
        check_output_file(path / MANIFEST if path is output and is_index(path) else path)


def _check_distinct(output: Path, key: Path | None, paths: list[Path]) -> None:
    if len({path.resolve() for path in [*paths, sidecar_path(output)]}) <= len(paths):
        raise ParameterError(f"{output.name}: the output, its sidecar and the key must be different files")
    if key is not None and output.resolve() in key.resolve().parents:
        raise ParameterError(f"{key} is inside the output, which will be replaced: choose another path")


def _needs_force(path: Path, reason: str) -> str:
    return f"force is needed to overwrite {path}: {reason}; or choose another path"


def _check_existing(output: Path, paths: list[Path], force: bool) -> None:
    for path in paths:
        if path.is_symlink() or (path.is_dir() and not (path is output and is_index(path))):
            raise ParameterError(f"{path} exists and is not an output: it will not be overwritten")
        if path.exists() and not force:
            raise ParameterError(_needs_force(path, "it exists already"))
    if output.exists() and output.is_file() != (output.suffix in TABLES):
        raise ParameterError(f"{output} exists and is something else: choose another path")
    sidecar = sidecar_path(output)
    if not sidecar.is_dir():
        check_output_file(sidecar)
    if sidecar.is_symlink() or sidecar.is_dir():
        raise ParameterError(f"{sidecar} exists and is not a sidecar: it will not be overwritten")
    if sidecar.exists() and not force and not is_sidecar(sidecar):
        raise ParameterError(_needs_force(sidecar, "it exists already and is not a sidecar"))
