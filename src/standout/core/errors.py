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

from standout.core.foreign_text import cut_middle, printable
from standout.core.next_steps import NextStep, next_step_text

__all__ = [
    "BuildRunning",
    "ColumnError",
    "NotFoundError",
    "ParameterError",
    "ReadingWarning",
    "RejectedRows",
    "SourceError",
    "StandoutError",
    "StoreError",
    "WorkersLost",
]


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
    """An argument is not allowed.

    Examples
    --------
    >>> import standout as so
    >>> so.read("ratings.csv", time_unit="week")
    Traceback (most recent call last):
    standout.core.errors.ParameterError: time_unit must be day, hour or minute, got 'week'
    """


class SourceError(StandoutError):
    """A source file cannot be read.

    Examples
    --------
    >>> import standout as so
    >>> so.read("missing.csv")
    Traceback (most recent call last):
    standout.core.errors.SourceError: missing.csv: no such file
    """

    def __init__(self, problem: str, next_steps: tuple[NextStep, ...] = ()) -> None:
        super().__init__(problem + next_step_text([str(step) for step in next_steps], next_steps))
        self.problem = problem
        self.next_steps = next_steps

    def __reduce__(self) -> tuple[type["SourceError"], tuple[str, tuple[NextStep, ...]]]:
        """Return how to make a copy, for another process."""
        return type(self), (self.problem, self.next_steps)


class ColumnError(SourceError):
    """A column is missing or cannot be identified.

    Examples
    --------
    >>> import polars as pl, standout as so
    >>> so.read(pl.DataFrame({"user": ["7"], "film": ["Brazil"]}), time="when")
    Traceback (most recent call last):
    standout.core.errors.ColumnError: column 'when' not found; the columns are user, film: ...
    """


class RejectedRows(SourceError):  # noqa: N818  (the name says which rows, not that it is an error)
    """More rows are unusable than `max_rejects` allows.

    Examples
    --------
    >>> import polars as pl, standout as so
    >>> frame = pl.DataFrame({"user": ["7", None], "item": ["1", "2"]})
    >>> try:
    ...     so.read(frame)
    ... except so.RejectedRows as error:
    ...     print(str(error)[:60])
    1 of 2 rows are unusable: 1 × no record id (row 2). Read as:
    >>> so.read(frame, max_rejects=1).n_entries
    1
    """


class NotFoundError(StandoutError, LookupError):
    """The release has no such record or item.

    Examples
    --------
    >>> import polars as pl, standout as so
    >>> so.read(pl.DataFrame({"user": ["007"], "item": ["1"]})).record("7")
    Traceback (most recent call last):
    standout.core.errors.NotFoundError: the release has no record with this id; ids are text, so 007 is not 7
    """


class StoreError(StandoutError):
    """An index on disk cannot be read or written.

    Examples
    --------
    >>> import standout as so
    >>> so.open("missing.index")
    Traceback (most recent call last):
    standout.core.errors.StoreError: missing.index is not an index: no such file or directory
    """


class BuildRunning(StoreError):  # noqa: N818
    """Another process is building the same index. Wait until it has finished, or choose another path."""


class WorkersLost(StandoutError):  # noqa: N818
    """The scheduler or all workers are gone. A run with a checkpoint resumes when it is started again."""


class ReadingWarning(UserWarning):
    """A source was read, but something in it may have been overlooked, such as an unused column of dates.

    Examples
    --------
    >>> import warnings
    >>> import polars as pl, standout as so
    >>> frame = pl.DataFrame({"user": ["7"], "film": ["Brazil"], "moment": ["2005-03-01"]})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     release = so.read(frame)
    >>> print(caught[0].message)
    column 'moment' looks like a date and is not used: add time="moment", or ignore=["moment"]
    """

    def __str__(self) -> str:
        """The message in one line; names from files may hold anything."""
        return cut_middle(printable(super().__str__()))
