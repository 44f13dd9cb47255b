"""End a process whose threads still compute, because one that is asked to stop must not wait for them."""

import os
import sys
import threading
import time

__all__ = ["THREAD_NAME", "Stopped", "end_process_if_busy"]

THREAD_NAME = "standout-explore"
"""Beginning of the names of all threads of the explorer."""
PATIENCE = 0.5
"""Seconds for threads to end by themselves: a lineup takes less."""
PAUSE = 0.02


class Stopped(BaseException):
    """The server ends, and with it what it computes."""


def end_process_if_busy() -> None:
    """Wait a moment for the explorer's threads; if one still computes, end the process with success.

    A kernel that is being compiled takes seconds and cannot be interrupted safely, and nobody needs it any
    more. It is as if the process were killed, which leaves no unfinished file behind (docs/security.md).
    """
    end = time.monotonic() + PATIENCE
    while busy := [each for each in threading.enumerate() if each.name.startswith(THREAD_NAME)]:
        if time.monotonic() > end:
            break
        busy[0].join(PAUSE)
    if busy:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
