"""Files with people's data: only their owner can read them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["OWNER_ONLY", "open_private"]

OWNER_ONLY = 0o600


@contextmanager
def open_private(path: Path) -> Iterator[int]:
    """Open a file for writing and yield its descriptor; create it if needed, but do not truncate it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY)
    try:
        os.fchmod(descriptor, OWNER_ONLY)
        yield descriptor
    finally:
        os.close(descriptor)
