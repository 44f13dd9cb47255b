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
    from standout.adversary import Adversary, outside_top
    from standout.attack.match import Match
    from standout.attack.score import Scoreboard, ScoreboardRH
    from standout.attack.select import Candidate, Lineup, Part
    from standout.attack.verdict import Verdict, Verdicts
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
    from standout.facts import Aux, Fact
    from standout.ingest.read import read
    from standout.release.describe import describe
    from standout.release.model import Entry, Item, Record, Release
    from standout.release.store import open_index as open  # noqa: A004
    from standout.release.store import save, verify
    from standout.release.synthetic import synthesize
    from standout.similarity.attributes import Custom, Decay, Equal, Present, Similarity, Within
    from standout.similarity.records import record_similarity

_HOMES = {
    "Adversary": "adversary",
    "Aux": "facts",
    "BuildRunning": "errors",
    "Candidate": "attack.select",
    "ColumnError": "errors",
    "Custom": "similarity.attributes",
    "Decay": "similarity.attributes",
    "Entry": "release.model",
    "Equal": "similarity.attributes",
    "Fact": "facts",
    "Item": "release.model",
    "Lineup": "attack.select",
    "Match": "attack.match",
    "NotFoundError": "errors",
    "ParameterError": "errors",
    "Part": "attack.select",
    "Present": "similarity.attributes",
    "Record": "release.model",
    "RejectedRows": "errors",
    "Release": "release.model",
    "Scoreboard": "attack.score",
    "ScoreboardRH": "attack.score",
    "Similarity": "similarity.attributes",
    "SourceError": "errors",
    "StandoutError": "errors",
    "StoreError": "errors",
    "Verdict": "attack.verdict",
    "Verdicts": "attack.verdict",
    "Within": "similarity.attributes",
    "describe": "release.describe",
    "open": "release.store",
    "outside_top": "adversary",
    "read": "ingest.read",
    "record_similarity": "similarity.records",
    "save": "release.store",
    "synthesize": "release.synthetic",
    "verify": "release.store",
}

__all__ = [
    "Adversary",
    "Aux",
    "BuildRunning",
    "Candidate",
    "ColumnError",
    "Custom",
    "Decay",
    "Entry",
    "Equal",
    "Fact",
    "Item",
    "Lineup",
    "Match",
    "NotFoundError",
    "ParameterError",
    "Part",
    "Present",
    "Record",
    "RejectedRows",
    "Release",
    "Scoreboard",
    "ScoreboardRH",
    "Similarity",
    "SourceError",
    "StandoutError",
    "StoreError",
    "Verdict",
    "Verdicts",
    "Within",
    "__version__",
    "describe",
    "open",
    "outside_top",
    "read",
    "record_similarity",
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
