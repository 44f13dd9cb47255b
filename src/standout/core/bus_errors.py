"""One line instead of a silent end when a mapped file is cut while it is read.

The system then sends SIGBUS to the thread that touched the missing page. Python's own handlers cannot help:
they run after the instruction, and it is repeated forever. So the handler is native code that writes a line
to stderr and ends the process. Only the command line asks for it (`allow`), because a library must not take
over signals.
"""

import signal
from contextlib import suppress

__all__ = ["allow", "explain"]

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
