"""Files that hold people's data: only their owner can read them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["OWNER_ONLY", "open_private"]

OWNER_ONLY = 0o600


@contextmanager
def open_private(path: Path) -> Iterator[int]:
    """A file opened for writing, made if it is not there; what is in it is not cut off."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY)
    try:
        os.fchmod(file, OWNER_ONLY)
        yield file
    finally:
        os.close(file)
