"""Blocks of coded entries in files: each column in the narrowest type that holds it, with a checksum."""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import StoreError
from standout.core.files import append_private, write_all
from standout.data.flat_arrays import array_bytes
from standout.data.release import Codes, code_type

__all__ = ["Block", "append_block", "read_blocks"]

Block = NDArray[np.uint32]
"""One row per entry: record, item, value and time codes, as `build_kernels` describes them."""
HEAD = struct.Struct("<8sQI4BI")
MAGIC = b"so-block"
VALUE, TIME = 2, 3


def append_block(path: Path, block: Block) -> int:
    """Append a block to a file, which only its owner can read; return the number of bytes."""
    columns, low = _narrow(block)
    checksum = 0
    for column in columns:
        checksum = zlib.crc32(array_bytes(column), checksum)
    head = HEAD.pack(MAGIC, len(block), low, *(column.itemsize for column in columns), checksum)
    with append_private(path) as file:
        write_all(file, memoryview(head))
        for column in columns:
            write_all(file, array_bytes(column))
    return HEAD.size + sum(column.nbytes for column in columns)


def read_blocks(path: Path) -> Iterator[Block]:
    """Yield the blocks of a file in their order; raise StoreError if it is not as it was written."""
    with path.open("rb") as file:
        while head := file.read(HEAD.size):
            if len(head) < HEAD.size:
                raise _damaged(path)
            magic, rows, low, *sizes, checksum = HEAD.unpack(head)
            if magic != MAGIC or any(size not in (1, 2, 4) for size in sizes):
                raise _damaged(path)
            content = file.read(rows * sum(sizes))
            if len(content) < rows * sum(sizes) or zlib.crc32(content) != checksum:
                raise _damaged(path)
            yield _wide(content, rows, low, sizes)


def _narrow(block: Block) -> tuple[list[Codes], int]:
    """The columns of a block, and the number that was taken from its times; none and missing become 0."""
    value, time = block[:, VALUE] + np.uint32(1), block[:, TIME]
    known = time[time > 0]
    low = int(known.min()) - 1 if len(known) else 0
    time = np.where(time > 0, time - np.uint32(low), np.uint32(0))
    columns = block[:, 0], block[:, 1], value, time
    return [column.astype(_type(int(column.max(initial=0)))) for column in columns], low


def _type(highest: int) -> np.dtype[Any]:
    return code_type(highest + 1).newbyteorder("<")


def _wide(content: bytes, rows: int, low: int, sizes: list[int]) -> Block:
    block, at = np.empty((rows, 4), np.uint32), 0
    for number, size in enumerate(sizes):
        block[:, number] = np.frombuffer(content, f"<u{size}", rows, at)
        at += rows * size
    block[:, VALUE] -= np.uint32(1)
    time = block[:, TIME]
    time[time > 0] += np.uint32(low)
    return block


def _damaged(path: Path) -> StoreError:
    return StoreError(f"{path.name} of the build is damaged: run the command again")
