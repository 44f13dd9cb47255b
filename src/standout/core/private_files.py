"""Files with people's data: only their owner can read them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["OWNER_ONLY", "append_private", "open_private", "write_all"]

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


@contextmanager
def append_private(path: Path) -> Iterator[int]:
    """Open a file for appending and yield its descriptor; create it if needed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, OWNER_ONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: memoryview) -> None:
    """Write bytes to a descriptor, in as many steps as the system needs."""
    while content:
        content = content[os.write(descriptor, content) :]
