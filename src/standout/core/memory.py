"""Amounts of memory: as people write them, and how much this machine has left."""

import ctypes
import mmap
import os
import re
import signal
import sys
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError

__all__ = ["STEP", "AddressRange", "allow", "available_memory", "explain", "memory_limit", "parse_size", "size_text"]

UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}
WRITTEN = re.compile(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*([A-Za-z]*)\s*", re.ASCII)
SHARE = 0.6
"""Share of the available memory that a build may use; the system's file cache needs the rest."""
UNKNOWN = 4 * 10**9
"""Taken for the available memory where the system does not say."""
SYSTEM = Path("/")


def parse_size(text: int | str, name: str = "memory") -> int:
    """Number of bytes of a size such as 500MB, 4GB or 2GiB.

    >>> parse_size("500MB"), parse_size("2GiB"), parse_size("1.5 gb"), parse_size(4096)
    (500000000, 2147483648, 1500000000, 4096)
    """
    is_text = isinstance(text, (str, int)) and not isinstance(text, bool)
    written = WRITTEN.fullmatch(str(text)) if is_text else None
    unit = None if written is None else UNITS.get(written[2].upper())
    size = 0 if written is None or unit is None else round(float(written[1]) * unit)
    if size < 1:
        raise ParameterError(f"{name} must be a size such as 500MB, 4GB or 2GiB, got {text!r:.100}")
    return size


def size_text(size: float) -> str:
    """A size for people, rounded up so that it suffices.

    >>> size_text(4_000_000_000), size_text(1_234_000), size_text(999)
    ('4 GB', '1.3 MB', '0.1 MB')
    """
    tenths, name = -(-int(size) // 10**5), "MB"
    if tenths >= 10_000:
        tenths, name = -(-int(size) // 10**8), "GB"
    return f"{tenths // 10} {name}" if tenths % 10 == 0 else f"{tenths / 10} {name}"


def memory_limit(memory: int | str | None) -> int:
    """Bytes that a build may use: those that are given, or a share of what is available."""
    return parse_size(memory) if memory is not None else int(SHARE * available_memory())


def available_memory(system: Path = SYSTEM) -> int:
    """Bytes that the machine, or the container around this process, has left."""
    limits = [_of_machine(system), _of_group(system, "memory.max", "memory.current", "")]
    limits.append(_of_group(system, "memory.limit_in_bytes", "memory.usage_in_bytes", "memory"))
    known = [limit for limit in limits if limit is not None]
    return max(min(known, default=UNKNOWN), 0)


def _of_machine(system: Path) -> int | None:
    with suppress(OSError, ValueError):
        for line in (system / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def _of_group(system: Path, limit: str, used: str, controller: str) -> int | None:
    """What the control group of this process and those around it have left; cached files do not count."""
    left: int | None = None
    folder = system / "sys/fs/cgroup" / controller
    inside = _group_path(system, controller)
    for path in [folder / inside, *(folder / parent for parent in inside.parents)]:
        with suppress(OSError, ValueError):
            free = int((path / limit).read_text()) - int((path / used).read_text()) + _cached(path)
            left = free if left is None else min(left, free)
    return left


def _group_path(system: Path, controller: str) -> Path:
    with suppress(OSError):
        for line in (system / "proc/self/cgroup").read_text().splitlines():
            _, names, path = line.split(":", 2)
            if controller in names.split(","):
                return Path(path.lstrip("/"))
    return Path()


def _cached(group: Path) -> int:
    """Bytes of cached files in a control group, which the system frees when they are needed."""
    with suppress(OSError, ValueError):
        for line in (group / "memory.stat").read_text().splitlines():
            if line.startswith(("inactive_file ", "total_inactive_file ")):
                return int(line.split()[1])
    return 0


# One line instead of a silent end when a mapped file is cut while it is read.
#
# The system then sends SIGBUS to the thread that touched the missing page. Python's own handlers cannot help:
# they run after the instruction, and it is repeated forever. So the handler is native code that writes a line
# to stderr and ends the process. Only the command line asks for it (`allow`), because a library must not take
# over signals.


LINE = (
    "standout: a file of the index was cut, or could not be read, while it was in use: run standout verify, "
    "then run the command again\n"
)
EXIT_CODE = 3
CODE = """
@line = private constant [{size} x i8] c"{line}"
define void @explain(i32 %signal) {{
  %write = inttoptr i64 {write} to ptr
  %leave = inttoptr i64 {leave} to ptr
  %written = call i64 %write(i32 2, ptr @line, i64 {size})
  call void %leave(i32 {code})
  ret void
}}
"""
_allowed = False
_engines: list[object] = []
"""The compiled handler, which must stay in memory."""


def allow() -> None:
    """Let `explain` install the handler; the command line calls this, libraries do not."""
    global _allowed
    _allowed = True


def explain() -> None:
    """Install the handler before a file is mapped, once; nothing happens unless it is allowed.

    It takes 15 ms in a process that uses Numba, which has loaded LLVM. A handler of somebody else stays.
    """
    if not _allowed or _engines or signal.getsignal(signal.SIGBUS) is not signal.SIG_DFL:
        return
    with suppress(ImportError, RuntimeError, AttributeError):  # without LLVM the process ends without a line
        _install()


def _install() -> None:
    import ctypes

    import llvmlite.binding as llvm

    with suppress(RuntimeError):  # newer versions initialise LLVM themselves
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    library, line = ctypes.CDLL(None), LINE.encode()
    code = CODE.format(
        size=len(line),
        line="".join(f"\\{byte:02x}" for byte in line),
        write=ctypes.cast(library.write, ctypes.c_void_p).value,
        leave=ctypes.cast(library._exit, ctypes.c_void_p).value,
        code=EXIT_CODE,
    )
    target = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(code), target)
    engine.finalize_object()
    _engines.append(engine)
    library.signal.argtypes, library.signal.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    before = library.signal(signal.SIGBUS, engine.get_function_address("explain"))
    if before:  # not the default: somebody else's native handler, such as faulthandler's
        library.signal(signal.SIGBUS, before)


# Files mapped next to one another in one range of addresses, so that they are one array without a copy.
#
# Python's mmap cannot place a file, so the system's own functions are called. A file that is mapped here keeps
# no descriptor open. Where this is impossible, the files are read into memory instead.


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
        self.__array_interface__ = {"data": (address, True), "shape": (size,), "typestr": "|u1", "version": 3}
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
