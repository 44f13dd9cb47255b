"""Give each distinct text a small whole number, in the order of first appearance.

Made for millions of short ids. A number of up to 7 digits without leading zeros is looked up in a plain
array: one memory access. Other texts are in a hash table with open addressing. A text of up to 7 bytes is its
own key (its length and bytes in one 64-bit word). The key of a longer text is a hash, marked in the top byte,
and its bytes are compared.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.jit import Array, Int, inline, kernel
from standout.data.build import id_bytes
from standout.data.build_kernels import NONE
from standout.data.labels import Labels

SHORT = 7
ZERO = 48
NUMBERS = 10**SHORT
S8, S29, S32, S56 = np.uint64(8), np.uint64(29), np.uint64(32), np.uint64(56)
LONG = np.uint64(0xFF) << S56
LOW56 = np.uint64((1 << 56) - 1)
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
SECOND = np.uint64(0xBF58476D1CE4E5B9)


class Table(NamedTuple):
    """Arrays of an interner for the compiled loops; the caller reserves space for new texts.

    number[n] = code + 1 of the number n; slots[i] = (key, code + 1); 0 means empty.
    Text c is data[ends[c] : ends[c + 1]]; size[0] = number of texts.
    """

    number: NDArray[np.uint32]
    slots: NDArray[np.uint64]
    data: NDArray[np.uint8]
    ends: NDArray[np.int64]
    size: NDArray[np.int64]


class Interner:
    """Assigns codes to texts; grows as needed. Numbers below `numbers` are looked up in an array."""

    def __init__(self, numbers: int = NUMBERS) -> None:
        self.table = Table(
            np.zeros(numbers, np.uint32),  # 40 MB of address space, but only used pages take memory
            np.zeros((1 << 10, 2), np.uint64),
            np.empty(1 << 12, np.uint8),
            np.zeros(1 << 9, np.int64),
            np.zeros(1, np.int64),
        )

    def __len__(self) -> int:
        return int(self.table.size[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return Interner._of, (self.labels(), len(self.table.number))  # without the space for more

    @classmethod
    def _of(cls, labels: Labels, numbers: int) -> "Interner":
        new = cls(numbers)
        new.codes(labels.data, labels.offsets[:-1], labels.offsets[1:], np.zeros(len(labels), np.uint8))
        return new

    @property
    def build_bytes(self) -> int:
        """Bytes of memory that the texts take while a release is built: table, order, ranks and counts."""
        return self.table.slots.nbytes + id_bytes(self.labels())

    def reserve(self, texts: int, size: int) -> Table:
        """Return the table with space for more texts of `size` bytes in total."""
        table = self.table
        needed, used = len(self) + texts, int(table.ends[len(self)])
        slots, data, ends = table.slots, table.data, table.ends
        if 2 * needed > len(slots):
            slots = np.zeros((1 << int(2 * needed).bit_length(), 2), np.uint64)
            _rehash(table.slots, slots)
        if used + size > len(data):
            data = _grow(data, used + size)
        if needed + 1 > len(ends):
            ends = _grow(ends, needed + 1)
        self.table = Table(table.number, slots, data, ends, table.size)
        return self.table

    def codes(self, buffer: Array, starts: Array, ends: Array, status: Array) -> NDArray[np.uint32]:
        """Code of each span of the buffer; NONE if it is empty or the status of its row is not 0."""
        out = np.empty(len(starts), np.uint32)
        table = self.reserve(len(starts), int((ends - starts).sum()))
        low, high = writable(starts, np.int64), writable(ends, np.int64)
        _intern(table, writable(buffer, np.uint8), low, high, writable(status, np.uint8), out)
        return out

    def codes_of(self, texts: list[str]) -> NDArray[np.uint32]:
        """Code of each text of a list."""
        labels = Labels.of(texts)
        return self.codes(labels.data, labels.offsets[:-1], labels.offsets[1:], np.zeros(len(labels), np.uint8))

    def labels(self) -> Labels:
        """Texts in the order of their codes."""
        ends = self.table.ends[: len(self) + 1]
        return Labels(ends, self.table.data[: ends[-1]])


def writable(array: Array, dtype: type[np.generic]) -> Array:
    """The array, or a copy: kernels are compiled for one type, contiguous and not read-only."""
    return np.require(array, dtype, ["C", "W"])


def _grow(array: Array, needed: int) -> Array:
    larger = np.zeros(max(needed, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def _intern(table: Table, buffer: Array, starts: Array, ends: Array, status: Array, out: Array) -> None:
    """Set out[i] to the code of buffer[starts[i]:ends[i]]; a new text gets the next code.

    The search is part of the loop: a helper function with its own loop over the table's arrays would count
    references in every step, which takes three times as long as the search.
    """
    number, slots, data, text_ends = table.number, table.slots, table.data, table.ends
    mask = len(slots) - 1
    for i in range(len(starts)):
        start, end = starts[i], ends[i]
        if status[i] != 0 or start == end:
            out[i] = NONE
            continue
        spelled = _number(buffer, start, end, len(number))
        if spelled >= 0:
            code = np.int64(number[spelled]) - 1
        else:
            key = _key(buffer, start, end)
            slot = _slot(key) & mask
            while True:
                code = np.int64(slots[slot, 1]) - 1
                if code < 0:
                    break
                if slots[slot, 0] == key:
                    if end - start <= SHORT:
                        break
                    first, k = text_ends[code], 0
                    if text_ends[code + 1] - first == end - start:
                        while k < end - start and data[first + k] == buffer[start + k]:
                            k += 1
                        if k == end - start:
                            break
                slot = (slot + 1) & mask
        out[i] = code if code >= 0 else _add(table, buffer, start, end)


@kernel
def _add(table: Table, buffer: Array, start: Int, end: Int) -> Int:
    """Add a new text to the table and return its code."""
    code = table.size[0]
    first = table.ends[code]
    for i in range(end - start):
        table.data[first + i] = buffer[start + i]
    table.ends[code + 1] = first + end - start
    table.size[0] = code + 1
    spelled = _number(buffer, start, end, len(table.number))
    if spelled >= 0:
        table.number[spelled] = code + 1
    else:
        key = _key(buffer, start, end)
        _put(table.slots, key, np.uint64(code + 1))
    return code


@inline
def _put(slots: Array, key: np.uint64, code: np.uint64) -> None:
    mask = len(slots) - 1
    slot = _slot(key) & mask
    while slots[slot, 1] != 0:
        slot = (slot + 1) & mask
    slots[slot, 0] = key
    slots[slot, 1] = code


@inline
def _number(buffer: Array, start: Int, end: Int, most: Int) -> Int:
    """Number below `most` that the text spells without leading zeros, or -1."""
    if end - start > SHORT or (buffer[start] == ZERO and end - start > 1):
        return np.int64(-1)
    number = np.int64(0)
    for i in range(start, end):
        digit = np.int64(buffer[i]) - ZERO
        if digit < 0 or digit > 9:
            return np.int64(-1)
        number = number * 10 + digit
    return number if number < most else np.int64(-1)


@inline
def _key(buffer: Array, start: Int, end: Int) -> np.uint64:
    key = np.uint64(end - start)
    if end - start <= SHORT:
        shift = np.uint64(8 * (SHORT - (end - start)))
        for i in range(start, end):
            key = (key << S8) | np.uint64(buffer[i])
        return key << shift
    for i in range(start, end):
        key = (key ^ np.uint64(buffer[i])) * MULTIPLIER
        key ^= key >> S29
    return (key & LOW56) | LONG


@inline
def _slot(key: np.uint64) -> Int:
    mixed = (key ^ (key >> S32)) * MULTIPLIER
    mixed = (mixed ^ (mixed >> S29)) * SECOND
    return np.int64(mixed >> S32)


@kernel
def _rehash(old: Array, new: Array) -> None:
    for i in range(len(old)):
        if old[i, 1] != 0:
            _put(new, old[i, 0], old[i, 1])
