"""Ctrl-C and SIGTERM: both raise KeyboardInterrupt, so that every command ends in the same way."""

import _thread
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from standout.cli.exit_codes import INTERRUPTED

__all__ = ["exit_code"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def exit_code(run: Callable[[], int]) -> int:
    """Run a command that Ctrl-C and SIGTERM interrupt; returns its exit code.

    Once the code is known, another signal ends the process at once, for instance while threads finish.
    """
    for number in SIGNALS:
        signal.signal(number, _interrupt)
    sys.unraisablehook = _interrupt_again
    try:
        code = run()
    except KeyboardInterrupt:  # once more, while it was ending
        code = INTERRUPTED
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    for number in SIGNALS:
        signal.signal(number, lambda *_: os._exit(code))
    return code


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _interrupt_again(unraisable: Any) -> None:
    """Repeat an interruption that happened in a destructor or a callback, where exceptions are lost."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _thread.interrupt_main()
    else:
        sys.__unraisablehook__(unraisable)
