"""Every error that a user can cause.

    StandoutError
    ├── ParameterError    an argument is not allowed
    ├── SourceError       a file cannot be read: missing, damaged, wrong encoding, unknown format
    │   ├── ColumnError   a column is missing or cannot be identified
    │   └── RejectedRows  more rows are unusable than the user allows
    ├── NotFoundError     the release has no such record or item
    ├── StoreError        an index on disk: damaged, not an index, other version, or the disk is full
    │   └── BuildRunning  another process is building the same index
    └── WorkersLost       the scheduler or all workers of a computation are gone

    ReadingWarning        a source was read, but something in it may have been overlooked

A message is one line: which parameter, what is allowed, what was given, and the next step. It never shows
the content of a cell, because that is somebody's data. Its text is made printable: names of files and columns
may hold escapes.
"""

import difflib
import math
import re
from collections.abc import Iterable
from importlib.util import find_spec
from numbers import Integral, Real
from typing import Any, NamedTuple

from standout.core.text import cut_middle, printable

__all__ = [
    "ColumnError",
    "NotFoundError",
    "ParameterError",
    "ReadingWarning",
    "SourceError",
    "StandoutError",
    "StoreError",
]

# What somebody may have meant who typed a name that does not exist.


CLOSE = 0.6
"""Minimum difflib ratio of a suggestion."""
LONGEST = 100
"""Longer texts are no typos, and comparing them takes long."""


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """The end of a message: the closest of the known names, or nothing if none is close.

    Capital letters do not count, and neither does the choice between a hyphen, an underscore and a space.
    """
    if not isinstance(given, str) or len(given) > LONGEST:
        return ""

    def plain_form(name: str) -> str:
        return name.casefold().replace("_", "-").replace(" ", "-")

    plain = {plain_form(name): name for name in known}
    near = difflib.get_close_matches(plain_form(given), plain, 1, CLOSE)
    return f"; did you mean {plain[near[0]]!r}?" if near else ""


def not_one_of(parameter: str, given: object, allowed: Iterable[str]) -> str:
    """The message about a parameter that must be one of some names."""
    names = list(allowed)
    return f"{parameter} must be one of {', '.join(names)}, got {given!r:.60}{did_you_mean(given, names)}"


# What to do after an error: the parameters that the next try needs.


class NextStep(NamedTuple):
    """Parameters with which a source can be read, and what they mean if there is a choice."""

    meaning: str
    parameters: dict[str, str]

    def __str__(self) -> str:
        """Parameters as they are written in Python."""
        return ", ".join(
            f"{name}={value if value.isdecimal() else repr(value)}" for name, value in self.parameters.items()
        )


def next_step_text(texts: list[str], steps: tuple[NextStep, ...]) -> str:
    """Return the last sentence of an error: what to run next, or a choice."""
    parts = [f"{step.meaning}: {text}" if step.meaning else text for step, text in zip(steps, texts, strict=True)]
    return f" Read it with {' — or '.join(parts)}" if parts else ""


class StandoutError(Exception):
    """Base class of every error that Standout raises on purpose.

    Examples
    --------
    >>> import standout as so
    >>> try:
    ...     so.read("missing.csv")
    ... except so.StandoutError as error:
    ...     print(error)
    missing.csv: no such file
    """

    def __str__(self) -> str:
        """The message in one line; names from files may hold anything."""
        return cut_middle(printable(super().__str__()))


class ParameterError(StandoutError, ValueError):
    """An argument is not allowed."""


class SourceError(StandoutError):
    """A source file cannot be read."""

    def __init__(self, problem: str, next_steps: tuple[NextStep, ...] = ()) -> None:
        super().__init__(problem + next_step_text([str(step) for step in next_steps], next_steps))
        self.problem = problem
        self.next_steps = next_steps

    def __reduce__(self) -> tuple[type["SourceError"], tuple[str, tuple[NextStep, ...]]]:
        """Return how to make a copy, for another process."""
        return type(self), (self.problem, self.next_steps)


class ColumnError(SourceError):
    """A column is missing or cannot be identified."""


class RejectedRows(SourceError):  # noqa: N818  (the name says which rows, not that it is an error)
    """More rows are unusable than `max_rejects` allows."""


class NotFoundError(StandoutError, LookupError):
    """The release has no such record or item."""


class StoreError(StandoutError):
    """An index on disk cannot be read or written."""


class BuildRunning(StoreError):  # noqa: N818
    """Another process is building the same index. Wait until it has finished, or choose another path."""


class WorkersLost(StandoutError):  # noqa: N818
    """The scheduler or all workers are gone. A run with a checkpoint resumes when it is started again."""


class ReadingWarning(UserWarning):
    """A source was read, but something in it may have been overlooked, such as an unused column of dates."""

    def __str__(self) -> str:
        """The message in one line; names from files may hold anything."""
        return cut_middle(printable(super().__str__()))


# Optional parts of Standout: how to install what they need.
#
# The packages themselves are named, not the extra: Standout is not in a package index yet, and a package of its
# name there would be a stranger's.


EXTRAS = {
    "cluster": ("cryptography>=42", "dask>=2026.8", "distributed>=2026.8"),
    "duckdb": ("duckdb>=1.4", "pyarrow"),
    "explore": ("starlette>=1", "uvicorn>=0.40"),
    "pandas": ("pandas", "pyarrow"),
    "prediction": ("scikit-learn>=1.4",),
    "remote": ("aiohttp", "fsspec>=2024.6"),
}
"""The extras of pyproject.toml that are for users."""


def install_command(extra: str) -> str:
    """The command that installs what an extra adds, for messages."""
    return pip_install(*EXTRAS[extra])


def pip_install(*requirements: str) -> str:
    """The command that installs these packages, for messages."""
    quoted = (part if re.fullmatch(r"[\w.-]+", part) else f"'{part}'" for part in requirements)
    return f"pip install {' '.join(quoted)}"


def check_installed(method: str, *packages: str) -> None:
    """Raise an error that says what to install if one of the packages is missing."""
    if missing := [name for name in packages if find_spec(name) is None]:
        names, are = " and ".join(missing), "are" if len(missing) > 1 else "is"
        raise StandoutError(f"{method} needs {names}, which {are} not installed: {pip_install(*missing)}")


# Parameter checks that several packages share; each returns the value or raises a ParameterError.


LARGEST = 2**63 - 1


def whole_number(name: str, number: Any, least: int) -> int:
    """Check that `number` is a whole number of at least `least` that fits into 64 bits."""
    if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
        raise ParameterError(f"{name} must be a whole number ≥ {least}, got {number!r}")
    if int(number) > LARGEST:
        raise ParameterError(f"{name} must be at most {LARGEST}, got a number of {int(number).bit_length()} bits")
    return int(number)


def check_share(name: str, share: Any, *, zero: bool = False, one: bool = True) -> float:
    """Check that `share` is a number between 0 and 1; `zero` and `one` say whether these are allowed."""
    is_number = isinstance(share, Real) and not isinstance(share, bool)
    if not is_number or not 0 <= share <= 1 or (share == 0 and not zero) or (share == 1 and not one):
        limits = "from 0 to 1" if zero else f"above 0 and {'at most' if one else 'below'} 1"
        raise ParameterError(f"{name} must be a number {limits}, got {share!r:.100}")
    return float(share)


def finite_number(name: str, number: Any, *, zero: bool = True, optional: bool = False) -> Any:
    """Check that `number` is finite and at least 0, or above 0 unless `zero` is allowed; None if it is `optional`."""
    if number is None and optional:
        return None
    fits = isinstance(number, Real) and not isinstance(number, bool) and math.isfinite(number)
    if not fits or number < 0 or (number == 0 and not zero):
        none = ", or None" if optional else ""
        raise ParameterError(f"{name} must be a finite number {'≥' if zero else '>'} 0{none}, got {number!r}")
    return float(number) + 0.0


def fact_value(value: Any) -> float | str | None:
    """Check that `value` is a finite number, text or None. A number of Python keeps its type."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"value must be a number or text, or None, got {type(value).__name__}")
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        raise ParameterError("value must be finite, or None if it is not known")
    return value if isinstance(value, (int, float)) else float(value)


def check_range(name: str, ends: Any, kind: type) -> None:
    """Check that `ends` is None, or (lowest, highest) of whole numbers or of dates."""
    if ends is None:
        return
    fits = isinstance(ends, (tuple, list)) and len(ends) == 2 and all(isinstance(end, kind) for end in ends)
    fits = fits and not any(isinstance(end, bool) for end in ends)
    fits = fits and (kind is Integral or type(ends[0]) is type(ends[1]))
    if not fits or ends[0] > ends[1] or (kind is Integral and ends[0] < 0):
        allowed = "two whole numbers ≥ 0" if kind is Integral else "two dates of the same type"
        raise ParameterError(f"{name} must be (lowest, highest), {allowed}, got {ends!r}")
