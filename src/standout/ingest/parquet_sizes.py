"""Check the numbers of values that the pages of a Parquet file declare, before Polars allocates them.

Polars allocates what a page declares, and an allocation that fails ends the process without a message. The
footer and the headers of pages are structures of Thrift in its compact protocol: here, a dictionary of the
numbers of their fields.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from standout.core.errors import SourceError

__all__ = ["check_parquet_sizes"]

MAGIC = b"PAR1"
MOST_NESTED = 32
HEADER_SIZES = (1 << 10, 1 << 16, 1 << 24)
"""Bytes that are read for a header of a page: most are small, and some have long statistics."""
ROW_GROUPS = 4
COLUMNS = 1
COLUMN_FILE, COLUMN_METADATA = 1, 3
N_VALUES, COMPRESSED_SIZE, DATA_OFFSET, DICTIONARY_OFFSET = 5, 7, 9, 11
PAGE_UNPACKED, PAGE_PACKED = 2, 3
PAGE_HEADERS = (5, 7, 8)
"""Data, dictionary, data of version 2: field 1 is the number of values, and 2 of the last that of nulls."""
PAGE_VALUES, PAGE_NULLS, VERSION_2 = 1, 2, 8
Fields = dict[int, Any]


class _FormError(ValueError):
    """Something that a Parquet file cannot contain."""


def check_parquet_sizes(path: Path) -> None:
    """Raise an error if a page of a Parquet file declares a number of values that it cannot have."""
    try:
        with path.open("rb") as file:
            for column in _columns(file):
                _check_pages(file, column)
    except (_FormError, IndexError, TypeError, KeyError, AttributeError, OSError) as error:
        raise SourceError(
            f"{path} is damaged: its pages declare what they do not have; copy or download it again"
        ) from error


def _columns(file: IO[bytes]) -> Iterator[Fields]:
    """Yield the metadata of the columns in all groups of rows."""
    end = file.seek(0, 2)
    tail = _read(file, max(end - 8, 0), 8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != MAGIC or length > end - 8:
        raise _FormError
    footer = _Compact(_read(file, end - 8 - length, length)).fields()
    for group in footer.get(ROW_GROUPS, []):
        for column in group[COLUMNS]:
            if COLUMN_FILE not in column:
                yield column[COLUMN_METADATA]


def _check_pages(file: IO[bytes], column: Fields) -> None:
    """Check the headers of all pages of a column."""
    at = column.get(DICTIONARY_OFFSET) or column[DATA_OFFSET]
    end, left = at + column[COMPRESSED_SIZE], column[N_VALUES]
    if not 0 <= at <= end or left < 0:
        raise _FormError
    while left > 0 and at < end:
        page, size = _page_header(file, at, end)
        if page[PAGE_UNPACKED] < 0 or page[PAGE_PACKED] < 0:
            raise _FormError
        for kind in PAGE_HEADERS:
            header = page.get(kind, {PAGE_VALUES: 0})
            if header[PAGE_VALUES] < 0 or (kind == VERSION_2 and header.get(PAGE_NULLS, 0) < 0):
                raise _FormError
            left -= header[PAGE_VALUES] if kind != PAGE_HEADERS[1] else 0
        if left < 0:
            raise _FormError
        at += size + page[PAGE_PACKED]


def _page_header(file: IO[bytes], at: int, end: int) -> tuple[Fields, int]:
    """The header of the page at a position, and its length."""
    for most in HEADER_SIZES:
        reader = _Compact(_read(file, at, min(most, end - at)))
        try:
            return reader.fields(), reader.at
        except IndexError:
            if most >= end - at:
                break
    raise _FormError


def _read(file: IO[bytes], at: int, length: int) -> bytes:
    file.seek(at)
    return file.read(length)


class _Compact:
    """Reads values of Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def fields(self, depth: int = 0) -> Fields:
        """The fields of a structure."""
        found, number = Fields(), 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            found[number] = self._value(head & 15, depth)
        return found

    def _value(self, kind: int, depth: int, in_list: bool = False) -> Any:
        if depth > MOST_NESTED:
            raise _FormError
        if kind in (1, 2):  # a truth value is its type, but in a list it has a byte
            return self._byte() == 1 if in_list else kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind in (7, 8):
            return self._skip(8 if kind == 7 else self._varint())
        if kind in (9, 10):
            return self._list(depth)
        if kind == 11:
            return self._map(depth)
        if kind == 12:
            return self.fields(depth + 1)
        raise _FormError

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count = self._varint() if head >> 4 == 15 else head >> 4
        return [self._value(head & 15, depth + 1, in_list=True) for _ in range(self._possible(count))]

    def _map(self, depth: int) -> None:
        count = self._possible(self._varint())
        kinds = self._byte() if count else 0
        for _ in range(count):
            self._value(kinds >> 4, depth + 1, in_list=True)
            self._value(kinds & 15, depth + 1, in_list=True)

    def _possible(self, count: int) -> int:
        """A number of elements, each of which takes a byte at least."""
        if count > len(self.data) - self.at:
            raise IndexError
        return count

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise _FormError

    def _signed(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def _skip(self, count: int) -> None:
        self.at += self._possible(count)
