"""Amounts of memory: as people write them, and how much this machine has left."""

import mmap
import os
import re
import signal
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from standout.core.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

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
    known = [1024 * size for size in [_number(system / "proc/meminfo", "MemAvailable:")] if size is not None]
    for limit, used, controller in (
        ("memory.max", "memory.current", ""),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory"),
    ):
        folder, inside = system / "sys/fs/cgroup" / controller, _group_path(system, controller)
        for path in [folder / inside, *(folder / parent for parent in inside.parents)]:
            with suppress(OSError, ValueError):  # cached files do not count: the system frees them when needed
                cached = _number(path / "memory.stat", "inactive_file ", "total_inactive_file ") or 0
                known.append(int((path / limit).read_text()) - int((path / used).read_text()) + cached)
    return max(min(known, default=UNKNOWN), 0)


def _number(file: Path, *names: str) -> int | None:
    """The number on the first line of a file that begins with one of these names."""
    with suppress(OSError, ValueError):
        for line in file.read_text().splitlines():
            if line.startswith(names):
                return int(line.split()[1])
    return None


def _group_path(system: Path, controller: str) -> Path:
    """The control group of this process."""
    with suppress(OSError):
        for line in (system / "proc/self/cgroup").read_text().splitlines():
            _, names, path = line.split(":", 2)
            if controller in names.split(","):
                return Path(path.lstrip("/"))
    return Path()


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


# Arrays in files, for what memory does not hold: the system writes and reads their pages.


_MAPS: list[weakref.ref[mmap.mmap]] = []


def file_array(folder: Path, shape: int | tuple[int, ...], dtype: "DTypeLike") -> "NDArray[Any]":
    """A new array in a file of this folder that has no name: nothing is left of it when it is not used any more.

    Its space is reserved, because a full disk would end the process at a later write.
    """
    import numpy as np

    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if not size:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile(dir=folder) as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        mapped = mmap.mmap(file.fileno(), size)
    _MAPS[:] = [*(known for known in _MAPS if known() is not None), weakref.ref(mapped)]
    return np.frombuffer(mapped, dtype).reshape(shape)


def drop_pages() -> None:
    """Let go of the pages of all such arrays; they stay in the system's cache or on the disk."""
    for known in _MAPS:
        if (mapped := known()) is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)
