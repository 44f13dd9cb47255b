"""A limit on what compressed files become: a file of one megabyte must not fill the memory or the disk.

Ratings as text become 5 to 30 times as long when they are decompressed. Small files may grow by more; only
beyond FREE_BYTES does the ratio count. The environment variable STANDOUT_MAX_EXPANSION sets another ratio.
"""

import os
from typing import IO, Any

from standout.core.errors import ParameterError, SourceError

__all__ = ["CappedReader", "check_expansion", "largest_expansion"]

FREE_BYTES = 1 << 28
"""Up to this many bytes, the ratio does not matter."""
RATIO = 100.0
VARIABLE = "STANDOUT_MAX_EXPANSION"


def largest_expansion() -> float:
    """Largest ratio of decompressed and compressed bytes.

    >>> largest_expansion()
    100.0
    """
    text = os.environ.get(VARIABLE, "")
    try:
        ratio = float(text) if text else RATIO
    except ValueError:
        ratio = 0.0
    if not ratio >= 1.0:
        raise ParameterError(f"the environment variable {VARIABLE} must be a number from 1")
    return ratio


def check_expansion(unpacked: int, packed: int, name: str) -> None:
    """Raise an error if so many compressed bytes must not become so many."""
    most, ratio = _most_bytes(packed), largest_expansion()
    if unpacked > most:
        raise SourceError(
            f"{name} becomes more than {ratio:g} times as long when it is decompressed "
            f"({most >> 20:,} MB so far): if you trust it, decompress it first, "
            f"or set a higher ratio, for example {VARIABLE}={10 * ratio:.0f} in the environment"
        )


def _most_bytes(packed: int) -> int:
    return max(FREE_BYTES, int(min(largest_expansion() * packed, 1 << 62)))


class CappedReader:
    """A stream of decompressed bytes that ends with an error where they are too many.

    `packed` is the number of compressed bytes. What counts is the bytes that were read, not those that a
    header declares.
    """

    def __init__(self, body: IO[bytes], packed: int, name: str) -> None:
        self.body, self.name, self.count, self.packed = body, name, 0, packed
        self.most = _most_bytes(packed)

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes; all if it is negative."""
        content = self.body.read(size if size >= 0 else self.most - self.count + 1)
        if size < 0:
            while more := self.body.read(self.most - self.count - len(content) + 1):
                content += more
                self._check(len(content))
        self._add(len(content))
        return content

    def readinto(self, room: Any) -> int:
        """Read into `room`."""
        count = self.body.readinto(room) or 0  # type: ignore[attr-defined]
        self._add(count)
        return int(count)

    def _add(self, count: int) -> None:
        self._check(count)
        self.count += count

    def _check(self, count: int) -> None:
        if self.count + count > self.most:
            check_expansion(self.count + count, self.packed, self.name)
