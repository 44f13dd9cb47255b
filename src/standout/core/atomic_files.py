"""Files that appear when they are whole, and folders, or an error in one line."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

from standout.core.errors import StandoutError
from standout.core.private_files import OWNER_ONLY, open_private

__all__ = ["make_folder", "write_atomically", "write_content"]


def make_folder(path: Path, private: bool = False) -> Path:
    """The folder, made if it is not there."""
    try:
        path.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
    except OSError as error:
        reason = "it is a file" if isinstance(error, FileExistsError) else error.strerror
        raise StandoutError(f"{path} cannot be made a folder: {reason}") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise StandoutError(f"{path} cannot be written to")
    return path


def write_content(path: Path, content: str | bytes) -> None:
    """Writes a text or bytes."""
    write_atomically(path, lambda file: file.write(content.encode() if isinstance(content, str) else content))


def write_atomically(path: Path, write: Callable[[IO[bytes]], object], private: bool = False) -> None:
    """Writes a file beside its place first, then puts it there; a private one is its owner's alone."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.unlink(missing_ok=True)
        with open_private(new) as made, os.fdopen(os.dup(made), "wb") as file:
            write(file)
        if not private:
            new.chmod((0o666 & ~_umask()) | OWNER_ONLY)
        new.replace(path)
    except OSError as error:
        raise StandoutError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        new.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
