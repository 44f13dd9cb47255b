"""End threads that compute, because a process that is asked to stop must not wait for them."""

import ctypes
import threading
import time
from collections.abc import Sequence

__all__ = ["Stopped", "end_threads"]

PATIENCE = 0.3
"""Seconds for threads to end by themselves: a lineup takes less."""
LONGEST = 1.0
PAUSE = 0.05


class Stopped(BaseException):
    """The server ends, and with it what it computes."""


def end_threads(threads: Sequence[threading.Thread]) -> None:
    """Wait a moment for threads to end, then raise `Stopped` in those that still run.

    A kernel that is being compiled takes seconds, and nobody needs it any more. The exception is raised when
    the thread next runs Python code.
    """
    start = time.monotonic()
    while any(thread.is_alive() for thread in threads) and time.monotonic() < start + LONGEST:
        time.sleep(PAUSE)
        if time.monotonic() > start + PATIENCE:
            for thread in threads:
                _raise_stopped(thread)


def _raise_stopped(thread: threading.Thread) -> None:
    if thread.is_alive() and thread.ident is not None:
        number, error = ctypes.c_ulong(thread.ident), ctypes.py_object(Stopped)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(number, error)
