"""Check the sizes of buffers that an Arrow IPC file declares, before Polars allocates them.

Polars allocates what a file declares, and an allocation that fails ends the process without a message. The
metadata are flatbuffers: tables whose fields are found through a table of offsets.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from standout.core.errors import SourceError
from standout.ingest.expansion import check_expansion

__all__ = ["check_arrow_sizes"]

MAGIC = b"ARROW1"
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
    if file.read(len(MAGIC)) == MAGIC:
        file.seek(size - len(MAGIC) - 4)
        (length,) = struct.unpack("<i", file.read(4))
        end = size - len(MAGIC) - 4
        footer = _Table.root(_read(file, end - length, length, size))
        for field in (FOOTER_DICTIONARIES, FOOTER_BATCHES):
            for offset, length, _ in footer.structs(field, BLOCK):
                framed = _read(file, offset, length, size)
                yield _Message(framed[_frame(framed) :], offset + length)
        return
    at = 0
    while at < size:
        start = _read(file, at, min(8, size - at), size)
        begin = at + _frame(start)
        (length,) = struct.unpack_from("<i", start, begin - at - 4)
        if length == 0:
            return
        message = _Message(_read(file, begin, length, size), begin + length)
        yield message
        at = message.body + _Table.root(message.metadata).number(MESSAGE_BODY, "<q")


def _frame(start: bytes) -> int:
    """Number of bytes before the metadata: their length, and in all but old files a mark."""
    return 8 if start.startswith(CONTINUED) else 4


def _read(file: IO[bytes], at: int, length: int, size: int) -> bytes:
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
            (declared,) = struct.unpack("<q", _read(file, message.body + offset, 8, size))
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
