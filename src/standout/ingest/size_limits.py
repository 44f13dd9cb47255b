"""Check the numbers of values that the pages of a Parquet file declare, before Polars allocates them.

Polars allocates what a page declares, and an allocation that fails ends the process without a message. The
footer and the headers of pages are structures of Thrift in its compact protocol: here, a dictionary of the
numbers of their fields.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from standout.core.errors import SourceError
from standout.ingest.sources import check_expansion

__all__ = ["check_arrow_sizes", "check_parquet_sizes"]

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


# Check the sizes of buffers that an Arrow IPC file declares, before Polars allocates them.
#
# Polars allocates what a file declares, and an allocation that fails ends the process without a message. The
# metadata are flatbuffers: tables whose fields are found through a table of offsets.


MAGIC_ARROW_SIZES = b"ARROW1"
CONTINUED = b"\xff\xff\xff\xff"
MOST_METADATA = 1 << 28
FOOTER_DICTIONARIES, FOOTER_BATCHES = 2, 3
MESSAGE_KIND, MESSAGE_CONTENT, MESSAGE_BODY = 1, 2, 3
DICTIONARY_KIND, BATCH_KIND = 2, 3
DICTIONARY_BATCH = 1
BATCH_BUFFERS, BATCH_COMPRESSION = 2, 3
BLOCK, BUFFER = struct.Struct("<qi4xq"), struct.Struct("<qq")
NOT_COMPRESSED = -1


class _Message(NamedTuple):
    """Metadata of a message, and where its body begins."""

    metadata: bytes
    body: int


def check_arrow_sizes(path: Path) -> None:
    """Raise an error if a buffer of an Arrow file or stream is larger than what the file has for it."""
    size = path.stat().st_size
    unpacked = 0
    try:
        with path.open("rb") as file:
            for message in _messages(file, size):
                unpacked += _checked_body(file, message, size)
    except (struct.error, _SizeError) as error:
        raise SourceError(
            f"{path} is damaged: its buffers are not inside the file; copy or download it again"
        ) from error
    check_expansion(unpacked, size, str(path))


class _SizeError(ValueError):
    """A position or size that is not inside the file."""


def _messages(file: IO[bytes], size: int) -> Iterator[_Message]:
    """Yield the messages of a file, which its footer lists, or of a stream, one after the other."""
    if file.read(len(MAGIC_ARROW_SIZES)) == MAGIC_ARROW_SIZES:
        file.seek(size - len(MAGIC_ARROW_SIZES) - 4)
        (length,) = struct.unpack("<i", file.read(4))
        end = size - len(MAGIC_ARROW_SIZES) - 4
        footer = _Table.root(_read_arrow_sizes(file, end - length, length, size))
        for field in (FOOTER_DICTIONARIES, FOOTER_BATCHES):
            for offset, length, _ in footer.structs(field, BLOCK):
                framed = _read_arrow_sizes(file, offset, length, size)
                yield _Message(framed[_frame(framed) :], offset + length)
        return
    at = 0
    while at < size:
        start = _read_arrow_sizes(file, at, min(8, size - at), size)
        begin = at + _frame(start)
        (length,) = struct.unpack_from("<i", start, begin - at - 4)
        if length == 0:
            return
        message = _Message(_read_arrow_sizes(file, begin, length, size), begin + length)
        yield message
        at = message.body + _Table.root(message.metadata).number(MESSAGE_BODY, "<q")


def _frame(start: bytes) -> int:
    """Number of bytes before the metadata: their length, and in all but old files a mark."""
    return 8 if start.startswith(CONTINUED) else 4


def _read_arrow_sizes(file: IO[bytes], at: int, length: int, size: int) -> bytes:
    if not (0 <= at <= size and 0 <= length <= min(size - at, MOST_METADATA)):
        raise _SizeError
    file.seek(at)
    return file.read(length)


def _checked_body(file: IO[bytes], message: _Message, size: int) -> int:
    """Check that all buffers are inside the file; return how many bytes they have decompressed."""
    content = _Table.root(message.metadata)
    kind = content.number(MESSAGE_KIND, "<B")
    if kind not in (DICTIONARY_KIND, BATCH_KIND):
        return 0
    batch = content.table(MESSAGE_CONTENT)
    if batch is not None and kind == DICTIONARY_KIND:
        batch = batch.table(DICTIONARY_BATCH)
    if batch is None:
        return 0
    is_compressed, unpacked = batch.table(BATCH_COMPRESSION) is not None, 0
    for offset, length in batch.structs(BATCH_BUFFERS, BUFFER):
        if not (0 <= offset and 0 <= length and message.body + offset + length <= size):
            raise _SizeError
        if is_compressed and length:
            (declared,) = struct.unpack("<q", _read_arrow_sizes(file, message.body + offset, 8, size))
            if declared < NOT_COMPRESSED:
                raise _SizeError
            unpacked += max(declared, 0)
    return unpacked


class _Table(NamedTuple):
    """A table of a flatbuffer."""

    data: bytes
    position: int

    @classmethod
    def root(cls, data: bytes) -> "_Table":
        return cls(data, _unpack("<I", data, 0))

    def _field(self, number: int) -> int | None:
        """Position of a field, or None if it has its default."""
        offsets = self.position - _unpack("<i", self.data, self.position)
        at = 4 + 2 * number
        if at + 2 > _unpack("<H", self.data, offsets):
            return None
        offset = _unpack("<H", self.data, offsets + at)
        return self.position + offset if offset else None

    def number(self, number: int, kind: str) -> int:
        at = self._field(number)
        return 0 if at is None else _unpack(kind, self.data, at)

    def table(self, number: int) -> "_Table | None":
        at = self._field(number)
        return None if at is None else _Table(self.data, at + _unpack("<I", self.data, at))

    def structs(self, number: int, kind: struct.Struct) -> Iterator[tuple[int, ...]]:
        at = self._field(number)
        if at is None:
            return
        start = at + _unpack("<I", self.data, at)
        count = _unpack("<I", self.data, start)
        if start + 4 + count * kind.size > len(self.data):
            raise _SizeError
        yield from kind.iter_unpack(self.data[start + 4 : start + 4 + count * kind.size])


def _unpack(kind: str, data: bytes, at: int) -> int:
    if at < 0:
        raise _SizeError
    return int(struct.unpack_from(kind, data, at)[0])
