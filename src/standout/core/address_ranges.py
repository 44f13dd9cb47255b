"""Files mapped next to one another in one range of addresses, so that they are one array without a copy.

Python's mmap cannot place a file, so the system's own functions are called. A file that is mapped here keeps
no descriptor open. Where this is impossible, the files are read into memory instead.
"""

import ctypes
import mmap
import os
import sys
import weakref
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["STEP", "AddressRange"]

STEP = 1 << 16
"""Files are placed at multiples of this: a multiple of the page of every usual system."""
MAP_FIXED = 0x10
FAILED = ctypes.c_void_p(-1).value


class AddressRange:
    """A range of addresses that files are mapped to, in ascending order; bytes between them are 0."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._bytes = _reserve(size) if size and _can_map() else None
        self._copy = np.zeros(0 if self._bytes else size, np.uint8)

    def place(self, file: int, at: int, size: int, skip: int = 0) -> None:
        """Let bytes at … at + size - 1 be those of a file after its first `skip`.

        at - skip must be a multiple of STEP. What was placed before `at` stays: if it ends in the middle of a
        page, its end is copied into a private copy of the page that the two files share.
        """
        if (at - skip) % STEP:
            raise ValueError("at - skip must be a multiple of STEP")
        if size and self._bytes is not None:
            self._bytes.place(file, at, size, skip)
        elif size:
            _read(file, self._copy[at : at + size], skip)

    def array(self, dtype: str | np.dtype[Any]) -> NDArray[Any]:
        """The range as a read-only array of little-endian numbers; it stays mapped while the array exists."""
        array = self._copy if self._bytes is None else np.asarray(self._bytes)
        view = array.view(np.dtype(dtype).newbyteorder("<"))
        view.flags.writeable = False
        return view


class _MappedBytes:
    """Mapped bytes for NumPy; they are unmapped when no array uses them any more."""

    def __init__(self, address: int, size: int) -> None:
        self.address = address
        self.__array_interface__ = {
            "data": (address, True),
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }
        weakref.finalize(self, _system().munmap, address, size).atexit = False

    def place(self, file: int, at: int, size: int, skip: int) -> None:
        """Map a file; see `AddressRange.place`."""
        page = mmap.PAGESIZE
        shared = at % page
        first, offset = self.address + at - shared, skip - shared
        before = ctypes.string_at(first, shared)
        _map(first, shared + size, mmap.PROT_READ, mmap.MAP_SHARED | MAP_FIXED, file, offset)
        if shared:
            writable = mmap.PROT_READ | mmap.PROT_WRITE
            _map(first, page, writable, mmap.MAP_PRIVATE | MAP_FIXED, file, offset)
            ctypes.memmove(first, before, shared)
            if _system().mprotect(first, page, mmap.PROT_READ):
                raise _error()


def _reserve(size: int) -> _MappedBytes:
    kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return _MappedBytes(_map(None, size, mmap.PROT_READ, kind, -1, 0), size)


def _can_map() -> bool:
    """Whether the system can place files, with 64-bit addresses and pages that divide STEP."""
    try:
        return sys.maxsize > 1 << 32 and STEP % mmap.PAGESIZE == 0 and bool(_system())
    except (AttributeError, OSError, TypeError):  # no such library, or no such function
        return False


@cache
def _system() -> Any:
    """The functions of the C library."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    number, pointer, size = ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t
    library.mmap.argtypes = (pointer, size, number, number, number, ctypes.c_int64)
    library.munmap.argtypes = (pointer, size)
    library.mprotect.argtypes = (pointer, size, number)
    return library


def _map(address: int | None, size: int, protection: int, kind: int, file: int, offset: int) -> int:
    mapped = _system().mmap(address, size, protection, kind, file, offset)
    if mapped is None or mapped == FAILED:
        raise _error()
    return int(mapped)


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))


def _read(file: int, out: NDArray[np.uint8], skip: int) -> None:
    """Read bytes of a file into an array."""
    content, done = out.data, 0
    while done < len(content):
        count = os.preadv(file, [content[done:]], skip + done)
        if not count:
            raise OSError("the file is too short")
        done += count
