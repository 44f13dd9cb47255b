"""An error as one line and an exit code: what happened, and what to do; never the content of a cell."""

import traceback
from pathlib import Path

from standout.cli.exit_codes import BUG, ERROR, INTERRUPTED
from standout.core.errors import BuildRunning, StandoutError, WorkersLost

__all__ = ["error_line"]

PACKAGE = Path(__file__).parents[1]
NO_MEMORY = (
    "there is not enough memory: build an index first (standout index), take a sample of the data, or use a "
    "machine with more"
)
TOO_DEEP = "the input is nested too deeply: check that the file is what it should be"


def error_line(error: Exception) -> tuple[str, int]:
    """The line to show for an error, and the exit code."""
    if isinstance(error, BuildRunning | WorkersLost):
        return str(error), INTERRUPTED
    if isinstance(error, StandoutError):
        return str(error), ERROR
    if isinstance(error, MemoryError):
        return NO_MEMORY, ERROR
    if isinstance(error, RecursionError):
        return TOO_DEEP, ERROR
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if isinstance(error.filename, str) else ""
        return f"{name}{error.strerror}", ERROR
    return (
        f"an error of Standout itself, {type(error).__name__} in {_place(error)}. Your data was not changed. "
        "Please report it, with what `standout --debug …` prints if that shows nothing private",
        BUG,
    )


def _place(error: Exception) -> str:
    """File and line of the innermost call of this package. Arguments, which may be data, are not shown."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)]
    if not own:
        return "an unknown place"
    return f"{Path(own[-1].filename).relative_to(PACKAGE).as_posix()}, line {own[-1].lineno}"
