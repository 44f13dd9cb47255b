"""Write a sanitized release: the output, its sidecar, and its key file if it is asked for.

All of them are prepared in a private folder with a random name next to their target. Then an old output is
moved away, key and sidecar are moved to their places, and the new output last. So an output that exists is
complete and has its own sidecar and key. If the process is killed before that, the next run in the folder
makes everything what it was (`core.work_folders`).
"""

from contextlib import ExitStack
from pathlib import Path

from standout.core.atomic_files import write_atomically
from standout.core.errors import ParameterError, StandoutError
from standout.core.new_files import sweep
from standout.core.output_paths import check_csv_name, check_output_file
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.core.work_folders import Part, publish, work_folder
from standout.release.export import write_table
from standout.release.index_writer import is_index
from standout.release.manifest import MANIFEST
from standout.release.store import save
from standout.sanitized import Sanitized
from standout.sanitizing.key_file import write_key
from standout.sanitizing.sidecar import Sidecar, is_sidecar, sidecar_path
from standout.table_sanitizing.table_files import write_cells, write_table_key
from standout.table_sanitizing.table_sidecar import TableSidecar
from standout.tables.model import SanitizedTable

__all__ = ["check_inert", "check_output_paths", "check_table_path", "write_sanitized"]

TABLES = (".csv", ".parquet")


@with_progress
def write_sanitized(
    safer: Sanitized | SanitizedTable,
    path: str | Path,
    *,
    key: str | Path | None = None,
    force: bool = False,
    inert: bool = False,
    progress: ProgressOption = no_progress,
) -> Path:
    """Write a sanitized release or table, and its steps to a sidecar file next to it.

    The sidecar, NAME.sanitized.json, has the steps and their counts. It has neither the seed nor anything
    about the original except its size. If the process is killed, an output that exists is complete.

    Parameters
    ----------
    safer
        Release or table made by `standout.sanitize`. The history of a table is not written.
    path
        Output: NAME.csv, NAME.parquet, or, of a release, any other name for an index.
    key
        File that lists which record or row represents which person. Only its owner can read it; it is as
        private as the original. Default: not written.
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
    >>> safer = so.sanitize(so.synthesize(records=10, items=10, entries=40, seed=7), so.RoundTime("month"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     so.write_sanitized(safer, f"{folder}/safer.csv").name
    'safer.csv.sanitized.json'
    """
    if not isinstance(safer, (Sanitized, SanitizedTable)):
        raise ParameterError("write_sanitized takes a release or table made by standout.sanitize")
    output, key_path = Path(path), None if key is None else Path(key)
    if isinstance(safer, SanitizedTable):
        check_table_path(output)
    check_inert(output, inert)
    check_output_paths(output, key_path, force)
    sidecar = sidecar_path(output)
    parts: list[Part] = []
    try:
        with ExitStack() as stack:
            folder = stack.enter_context(work_folder(output.parent))
            parts += [Part(folder / "sidecar", sidecar), Part(folder / f"output{output.suffix}", output)]
            content = _write_output(safer, parts[-1].new, inert, progress)
            write_atomically(folder / "sidecar", lambda file: file.write(content))
            if key_path is not None:
                private = stack.enter_context(work_folder(key_path.parent))
                parts.insert(0, Part(private / "key", key_path))
                _write_key(safer, private / "key")
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


def check_table_path(output: Path) -> None:
    """Refuse an output of a table that is neither CSV nor Parquet."""
    if output.suffix not in TABLES:
        raise ParameterError(f"{output}: the output of a table must end in .csv or .parquet")


def check_inert(output: Path, inert: bool) -> None:
    """Refuse to make the texts of an index or a Parquet file inert: no spreadsheet executes those."""
    if inert and output.suffix != ".csv":
        raise ParameterError(f"inert is for CSV files only, which spreadsheets open; {output.name} is none")


def _write_output(safer: Sanitized | SanitizedTable, path: Path, inert: bool, progress: Progress) -> bytes:
    """Write the output, and return the content of its sidecar."""
    if isinstance(safer, SanitizedTable):
        write_cells(safer, path, inert)
        return TableSidecar.of(safer, inert).to_json()
    if path.suffix in TABLES:
        write_table(safer, path, progress, inert)
    else:
        save(safer, path, progress)
    return Sidecar.of(safer, inert).to_json()


def _write_key(safer: Sanitized | SanitizedTable, path: Path) -> None:
    if isinstance(safer, SanitizedTable):
        write_table_key(safer, path)
    else:
        write_key(safer, path)


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
