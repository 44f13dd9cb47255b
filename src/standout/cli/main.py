"""The entry point: run the command line, and end it at Ctrl-C and SIGTERM.

It is ready for signals before it imports anything else. Both raise KeyboardInterrupt: a command removes its
temporary files, and shows and saves what it has.
"""

import _thread
import atexit
import os
import signal
import sys
from types import FrameType
from typing import Any

from standout.cli.error_lines import INTERRUPTED

__all__ = ["main"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)
AGAIN = 0.02
"""Seconds until an interruption is tried again that came while a module was imported."""
IMPORT = "<frozen importlib._bootstrap>"
WINDOWS = "standout: Windows is not supported: run Standout in WSL 2 or Docker, see docs/install.md"
NO_RESULT = "standout: interrupted before there was a result: run the same command again\n"


def main() -> None:
    """Run the command line.

    Once the exit code is known, another signal ends the process at once, for instance while threads finish.
    """
    if not hasattr(signal, "SIGALRM"):
        sys.exit(WINDOWS)
    for number in (*SIGNALS, signal.SIGALRM):
        signal.signal(number, _interrupt)
    sys.unraisablehook = _interrupt_again
    try:
        from standout.cli.command_group import run

        code = run()
    except KeyboardInterrupt:
        from standout.core.files import published

        code = INTERRUPTED
        if sys.stderr is not None:  # None if it is closed
            complete = ", ".join(path.name for path in published())
            text = f"standout: interrupted, but {complete} is complete\n" if complete else NO_RESULT
            sys.stderr.write("\n" * sys.stderr.isatty() + text)
    signal.setitimer(signal.ITIMER_REAL, 0)
    if code:
        from standout.core.files import remove_empty_folders

        remove_empty_folders()
    for number in (*SIGNALS, signal.SIGALRM):
        signal.signal(number, lambda *_: os._exit(code))
    atexit.unregister(_ignore_signals)
    atexit.register(_ignore_signals)
    exec("")  # Python forgets that Ctrl-C came within exec(), and exits with our code
    sys.exit(code)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt: after an import, where libraries catch it, but the second time at once."""
    is_second = number != signal.SIGALRM and signal.getitimer(signal.ITIMER_REAL)[0] > 0
    importing = None  # the outermost frame that imports something
    while frame is not None and not is_second:
        importing = frame.f_back if frame.f_code.co_filename == IMPORT else importing
        frame = frame.f_back
    if importing is None:
        _raise_now()
    else:
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
        importing.f_trace = _raise_now
        sys.settrace(lambda *_: None)  # lets Python call f_trace at the next line of the frame


def _raise_now(*_: object) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)
    sys.settrace(None)
    raise KeyboardInterrupt


def _interrupt_again(unraisable: Any) -> None:
    """Repeat an interruption that happened in a destructor or a callback, where exceptions are lost."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _thread.interrupt_main()
    else:
        sys.__unraisablehook__(unraisable)


def _ignore_signals() -> None:
    for number in (*SIGNALS, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
