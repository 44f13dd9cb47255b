"""Standout: how many people stand out of your anonymised data?

    import standout as so

    release = so.read("ratings.csv")
    release.record("1337").support

Names are loaded when they are first used: importing Standout costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from standout._version import __version__

if TYPE_CHECKING:
    from standout.errors import (
        BuildRunning,
        ColumnError,
        NotFoundError,
        ParameterError,
        RejectedRows,
        SourceError,
        StandoutError,
        StoreError,
    )
    from standout.ingest.read import read
    from standout.release.describe import describe
    from standout.release.model import Entry, Item, Record, Release
    from standout.release.store import open_index as open  # noqa: A004
    from standout.release.store import save, verify
    from standout.release.synthetic import synthesize

_HOMES = {
    "BuildRunning": "errors",
    "ColumnError": "errors",
    "Entry": "release.model",
    "Item": "release.model",
    "NotFoundError": "errors",
    "ParameterError": "errors",
    "Record": "release.model",
    "RejectedRows": "errors",
    "Release": "release.model",
    "SourceError": "errors",
    "StandoutError": "errors",
    "StoreError": "errors",
    "describe": "release.describe",
    "open": "release.store",
    "read": "ingest.read",
    "save": "release.store",
    "synthesize": "release.synthetic",
    "verify": "release.store",
}

__all__ = [
    "BuildRunning",
    "ColumnError",
    "Entry",
    "Item",
    "NotFoundError",
    "ParameterError",
    "Record",
    "RejectedRows",
    "Release",
    "SourceError",
    "StandoutError",
    "StoreError",
    "__version__",
    "describe",
    "open",
    "read",
    "save",
    "synthesize",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'standout' has no attribute {name!r}")
    home = import_module(f"standout.{_HOMES[name]}")
    return getattr(home, "open_index" if name == "open" else name)


def __dir__() -> list[str]:
    return __all__
