"""Folders and files that a command writes, tried before the long work."""

from collections.abc import Iterable
from pathlib import Path

from standout.core.atomic_files import make_folder
from standout.core.errors import ParameterError
from standout.core.output_paths import check_output_file, check_output_files

__all__ = ["output_file", "output_folder"]


def output_file(path: Path, option: str, inputs: Iterable[str | Path | None] = ()) -> Path:
    """Return the path of an output file; raises an error if it cannot be written or is an input."""
    for source in inputs:
        if source is not None and _is_same(path, Path(source)):
            raise ParameterError(f"{option} {str(path)!r} is an input: choose another path")
    check_output_file(path, option)
    return path


def output_folder(path: Path, *files: str) -> Path:
    """Create a folder for these files unless it exists; raises an error if they cannot be written there."""
    from standout.release.index_writer import is_index

    if is_index(path):
        raise ParameterError(f"--output must be a folder for the results, {path} is an index")
    make_folder(path)
    check_output_files(path, *files)
    return path


def _is_same(path: Path, source: Path) -> bool:
    try:
        return path.exists() and source.exists() and path.samefile(source)
    except (OSError, ValueError):
        return False
