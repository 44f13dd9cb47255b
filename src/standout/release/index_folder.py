"""Read the folder of an index while another process may replace it.

A replaced index is removed file by file, so a reader that has its folder open can miss files. The reader sees
then that the path leads to another folder, and begins again there: it gets the old index or the new one.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from standout.core.errors import StoreError
from standout.release.manifest import FORMAT, MANIFEST

__all__ = ["is_index", "leads_to", "open_file", "read_folder"]

T = TypeVar("T")
HEAD = 1 << 16
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def is_index(path: Path) -> bool:
    """Whether a path is a folder with a Standout manifest, damaged or not."""
    try:
        return read_folder(path, _has_manifest)
    except StoreError:
        return False


def read_folder(path: Path, read: Callable[[int], T]) -> T:
    """Return read(folder), called again if the index was replaced meanwhile; folder is a descriptor."""
    while True:
        folder = _open(path)
        try:
            return read(folder)
        except (StoreError, OSError):
            if leads_to(path, folder):
                raise
        finally:
            os.close(folder)


def leads_to(path: Path, folder: int) -> bool:
    """Whether a path leads to the folder of a descriptor, also through links."""
    try:
        return os.path.samestat(os.fstat(folder), path.stat())
    except OSError:
        return False


def open_file(folder: int, name: str) -> int:
    """Open a file of an index for reading. A pipe does not block."""
    return os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)


def _has_manifest(folder: int) -> bool:
    try:
        with os.fdopen(open_file(folder, MANIFEST), "rb") as file:
            return f'"{FORMAT}"'.encode() in file.read(HEAD)
    except OSError as error:
        raise StoreError(f"no {MANIFEST}") from error


def _open(path: Path) -> int:
    try:
        return os.open(path, FOLDER)
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno or 0).lower() if isinstance(error, OSError) else "not a valid path"
        raise StoreError(f"{path} is not an index: {reason}") from error
