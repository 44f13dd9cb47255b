"""Folders, and files that appear only when they are complete."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from standout.core.errors import StandoutError
from standout.core.new_files import new_file, try_folder

__all__ = ["make_folder", "remove_empty_folders", "write_atomically", "write_content"]

NEW_FOLDERS: list[Path] = []
"""Folders that this process created."""


def make_folder(path: Path, private: bool = False) -> Path:
    """Create a folder unless it exists, and return its path."""
    try:
        new = [folder for folder in (path, *path.parents) if not folder.exists()]
        path.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
    except OSError as error:
        reason = "a file has this name" if isinstance(error, FileExistsError) else error.strerror
        raise StandoutError(f"cannot create the folder {path}: {reason}; choose another path") from error
    NEW_FOLDERS.extend(new)
    try:
        try_folder(path)
    except OSError as error:
        raise StandoutError(
            f"cannot write to the folder {path}: {error.strerror}; change that, or choose another path"
        ) from error
    return path


def remove_empty_folders() -> None:
    """Remove the folders that this process created and that are still empty, after a run without results."""
    for folder in sorted(set(NEW_FOLDERS), key=lambda folder: -len(folder.parts)):
        with suppress(OSError):
            folder.rmdir()
    NEW_FOLDERS.clear()


def write_content(path: Path, content: str | bytes) -> None:
    """Write text or bytes to a file."""
    data = content.encode() if isinstance(content, str) else content
    write_atomically(path, lambda file: file.write(data))


def write_atomically(path: Path, write: Callable[[IO[bytes]], object], private: bool = False) -> None:
    """Write a file that appears at `path` when it is complete; only its owner can read a private file."""
    try:
        with new_file(path, private) as file:
            write(file)
    except Exception as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise StandoutError(f"{path} cannot be written: {reason}") from error


def _reason(error: Exception) -> str | None:
    """Why the system refused to write; None for other errors. Polars names the system's error in a text."""
    number = error.errno if isinstance(error, OSError) else None
    if number is None and (named := re.search(r"\(os error (\d+)\)", str(error))):
        number = int(named[1])
    if number is None:
        return str(error) if isinstance(error, OSError) else None
    return os.strerror(number)
