"""Checkpoint files: results so far, from which an interrupted run resumes.

The first line names the format, the version of Standout, what the results depend on and a digest of the
results. A file in which anything of this differs is ignored with a warning, and the work starts over. So is
a file that somebody else owns or can write: its results would be taken for our own.
"""

import hashlib
import os
import stat
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from standout._version import __version__
from standout.core.atomic_files import write_atomically
from standout.core.foreign_text import printable

__all__ = ["CHECKPOINTS", "read_checkpoint", "write_checkpoint"]

CHECKPOINTS = "checkpoints"
"""Folder of the checkpoints of a command that writes to a folder."""
FORMAT = "standout checkpoint 1"
LONGEST_HEAD = 200
Result = TypeVar("Result")


class _NotUsableError(Exception):
    """Why a file is ignored."""


def write_checkpoint(path: Path, about: str, content: bytes) -> None:
    """Write results, readable by their owner only; `about` is everything that they depend on."""
    head = _head(about, content)
    write_atomically(path, lambda file: file.write(head + content), private=True)


def read_checkpoint(path: Path, about: str, parse: Callable[[bytes], Result]) -> Result | None:
    """Results that were written with the same `about`; None if there are none that can be used.

    `parse` turns the content into results; whatever it raises means that the content is not usable.
    """
    try:
        head, content = _read(path)
        if head != _head(about, content):
            raise _NotUsableError(_difference(head))
        return parse(content)
    except FileNotFoundError:
        return None
    except Exception as error:  # whatever a damaged file can cause
        reason = error if isinstance(error, _NotUsableError) else "it cannot be read"
        message = printable(f"{path} is not used: {reason}. This part of the work starts over")
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return None


def _head(about: str, content: bytes) -> bytes:
    return f"{FORMAT} {__version__} {_digest(about.encode())} {_digest(content)}\n".encode()


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _read(path: Path) -> tuple[bytes, bytes]:
    """First line and content of a regular file that nobody else owns or can write."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise _NotUsableError("it is not a file")
        if status.st_uid != os.geteuid() or status.st_mode & 0o022:
            raise _NotUsableError("somebody else owns it or can write it")
        return file.readline(LONGEST_HEAD), file.read()


def _difference(head: bytes) -> str:
    """Why a first line is not the expected one."""
    words = head.decode("utf-8", "replace").split()
    if " ".join(words[:3]) != FORMAT or len(words) != 6:
        return "it is not a checkpoint"
    return "it is of another version" if words[3] != __version__ else "it is damaged or of another run"
