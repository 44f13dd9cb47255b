"""A sanitized release as files: the output, its sidecar, and its key where that is asked for.

The output is written out of sight. Then an old one is moved away, key and sidecar are put in place, and the
output last: whenever this is killed, an output that is there is whole and has its own sidecar and key.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from standout.core.atomic_files import write_atomically
from standout.core.errors import ParameterError, StandoutError
from standout.core.progress import Progress, no_progress
from standout.release.export import write_table
from standout.release.index_writer import is_index
from standout.release.store import save
from standout.sanitized import Sanitized
from standout.sanitizing.key_file import write_key
from standout.sanitizing.sidecar import Sidecar, is_sidecar, sidecar_path

__all__ = ["check_output_paths", "write_sanitized"]

TABLES = (".csv", ".parquet")


def write_sanitized(
    safer: Sanitized,
    path: str | Path,
    *,
    key: str | Path | None = None,
    force: bool = False,
    progress: Progress = no_progress,
) -> Path:
    """Writes NAME.csv, NAME.parquet or else an index, and what was done beside it; returns where that is.

    NAME.sanitized.json has the steps and what each did, neither the seed nor anything of the original but its
    sizes. `key` is a file for who stands for whom, which only its owner can read. What is already there is
    replaced only by `force`.

    >>> import standout as so, tempfile
    >>> safer = so.sanitize(so.synthesize(records=10, items=10, entries=40, seed=7), so.RoundTime("month"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     so.write_sanitized(safer, f"{folder}/safer.csv").name
    'safer.csv.sanitized.json'
    """
    if not isinstance(safer, Sanitized):
        raise ParameterError("only what standout.sanitize has made can be written with what was done to it")
    target, secret = Path(path), None if key is None else Path(key)
    check_output_paths(target, secret, force)
    told = sidecar_path(target)
    fresh, old = (target.with_name(f".{target.stem}.{state}{target.suffix}") for state in ("new", "old"))
    try:
        _remove(fresh)
        _remove(old)
        (write_table if target.suffix in TABLES else save)(safer, fresh, progress)
        content = Sidecar.of(safer).to_json()

        def tell() -> None:
            if secret is not None:
                write_key(safer, secret)
            write_atomically(told, lambda file: file.write(content))

        _exchanged(target, old, tell)
        fresh.rename(target)
    except OSError as error:
        raise StandoutError(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        _remove(fresh)
        _remove(old)
    return told


def _exchanged(target: Path, old: Path, tell: Callable[[], None]) -> None:
    """Moves an old output away and puts key and sidecar in place; if that fails the old one is back."""
    there = target.exists()
    if there:
        target.rename(old)
    try:
        tell()
    except BaseException:
        if there:
            old.rename(target)
        raise


def check_output_paths(target: Path, key: Path | None, force: bool, source: Path | None = None) -> None:
    """Refuses places that cannot be written to, hold something, or are read from, before any work is done."""
    places = [target, *([] if key is None else [key])]
    try:
        _check_source(places, source)
        _check_names(places)
        _check_what_is_there(target, key, places, force)
    except (OSError, ValueError) as error:
        if isinstance(error, StandoutError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise ParameterError(f"{str(target)!r:.100} cannot be written: {reason}") from None


def _check_source(places: list[Path], source: Path | None) -> None:
    """Nothing is written over the original, nor into it or around it."""
    if source is None or not source.exists():
        return
    given = source.resolve()
    for place in [*places, sidecar_path(places[0])]:
        own = place.resolve()
        if own == given or given in own.parents or own in given.parents:
            raise ParameterError(f"{place} is where the original is: name another place")


def _check_names(places: list[Path]) -> None:
    for place in places:
        if not place.name or not place.absolute().parent.is_dir():
            raise ParameterError(f"{place} cannot be written: name a place in a folder that is there")


def _check_what_is_there(target: Path, key: Path | None, places: list[Path], force: bool) -> None:
    told = sidecar_path(target)
    if len({place.resolve() for place in [*places, told]}) <= len(places):
        raise ParameterError(f"{target.name}: the output, its sidecar and the key need a file each")
    if key is not None and target.resolve() in key.resolve().parents:
        raise ParameterError(f"{key} lies in the output, which is replaced: the key needs another place")
    for place in places:
        if place.is_symlink() or (place.is_dir() and not (place is target and is_index(place))):
            raise ParameterError(f"{place} is there and not an output: it will not be overwritten")
        if place.exists() and not force:
            raise ParameterError(f"{place} is there already: name another place, or force it")
    if target.exists() and target.is_file() != (target.suffix in TABLES):
        raise ParameterError(f"{target} is there as something else: name another place")
    if told.is_symlink() or told.is_dir():
        raise ParameterError(f"{told} is there and not a sidecar: it will not be overwritten")
    if told.exists() and not force and not is_sidecar(told):
        raise ParameterError(f"{told} is there already and not a sidecar: name another place, or force it")


def _remove(path: Path) -> None:
    """What a run that was killed has left."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
