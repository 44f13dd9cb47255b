"""Ids and titles: many short texts in two flat arrays that can be mapped from disk."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import offsets
from standout.core.errors import NotFoundError, ParameterError

__all__ = ["Labels", "id_text", "position_of_id", "shortlex"]

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]


def shortlex(text: bytes) -> tuple[int, bytes]:
    """Sort key of ids: by length, then by bytes, so that 9 comes before 10."""
    return len(text), text


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """A sequence of texts; `find` needs them in shortlex order, which ids are in.

    >>> ids = Labels.of(["7", "42", "007"])
    >>> list(ids), ids.find("007"), ids.find("8")
    (['7', '42', '007'], 2, None)
    """

    offsets: Offsets
    data: Bytes

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Labels":
        """Make labels from Python strings."""
        encoded = [text.encode() for text in texts]
        return cls(offsets([len(text) for text in encoded]), np.frombuffer(b"".join(encoded), np.uint8))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int | np.integer[Any]) -> str:
        return self.raw(int(index)).decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        data, ends = self.data.tobytes(), self.offsets.tolist()  # several times faster than slicing the array
        return (data[start:end].decode("utf-8", "replace") for start, end in pairwise(ends))

    def raw(self, index: int) -> bytes:
        """Return one text as UTF-8 bytes."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def find(self, text: str) -> int | None:
        """Position of an id, or None; a binary search, so that few pages of a mapped index are loaded."""
        target = shortlex(text.encode("utf-8", "surrogatepass"))
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if shortlex(self.raw(middle)) < target:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and shortlex(self.raw(low)) == target else None


def position_of_id(labels: Labels, text: object, kind: str = "record") -> int:
    """Position of the id of a record or an item; a NotFoundError if there is none."""
    position = labels.find(id_text(text, kind))
    if position is None:
        raise NotFoundError(f"the release has no {kind} with this id; ids are text, so 007 is not 7")
    return position


def id_text(given: object, kind: str = "record") -> str:
    """An id as text. Ids are often whole numbers in the source, so whole numbers are taken as ids too.

    >>> id_text("007"), id_text(7)
    ('007', '7')
    """
    if isinstance(given, str):
        return given
    if isinstance(given, Integral) and not isinstance(given, bool):
        return str(int(given))
    raise ParameterError(f"a {kind} id must be text or a whole number, got {type(given).__name__}")
