"""Every error a user can cause.

    StandoutError
    ├── ParameterError    an argument is outside what is allowed
    ├── SourceError       a file cannot be read: missing, damaged, wrong encoding, not a format we know
    │   ├── ColumnError   a column is missing, or cannot be told from the others
    │   └── RejectedRows  more rows cannot be used than the user allows
    ├── NotFoundError     no such record or item
    └── StoreError        an index on disk: damaged, foreign, older, newer, or the disk is full
        └── BuildRunning  somebody else is building the same index

A message says what is allowed, what came and the next step, in one line. It never shows the content
of a cell: that is somebody's data.
"""

__all__ = [
    "BuildRunning",
    "ColumnError",
    "NotFoundError",
    "ParameterError",
    "RejectedRows",
    "SourceError",
    "StandoutError",
    "StoreError",
]


class StandoutError(Exception):
    """The base of every error that Standout raises on purpose."""


class ParameterError(StandoutError, ValueError):
    """An argument is outside what is allowed."""


class SourceError(StandoutError):
    """A source file cannot be read."""


class ColumnError(SourceError):
    """A column is missing or cannot be told from the others."""


class RejectedRows(SourceError):  # noqa: N818  (it names what came, not that it is an error)
    """More rows cannot be used than the user allows."""


class NotFoundError(StandoutError, LookupError):
    """There is no such record or item in the release."""


class StoreError(StandoutError):
    """An index on disk cannot be used or written."""


class BuildRunning(StoreError):  # noqa: N818
    """Another process is building the same index."""
