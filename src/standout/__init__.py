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
    from standout.auditing.audit import Audit, audit
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
    from standout.linking.link import link
    from standout.linking.links import Links
    from standout.measure import bounds, prize
    from standout.measure.altered import Altered, altered
    from standout.measure.calibration import Calibration, calibration
    from standout.measure.estimate import Estimate
    from standout.measure.simulate import Simulation, simulate
    from standout.measure.sparsity import Sparsity, sparsity
    from standout.measure.unicity import Unicity, unicity
    from standout.paper.reproduce import reproduce
    from standout.paper.reproduction import Reproduction
    from standout.release.describe import describe
    from standout.release.model import Entry, Item, Record, Release
    from standout.release.store import open_index as open  # noqa: A004
    from standout.release.store import save, verify
    from standout.similarity.attributes import Custom, Decay, Equal, Present, Similarity, Within
    from standout.similarity.records import record_similarity
    from standout.synthetic.make import synthesize

_HOMES = {
    "Adversary": "adversary",
    "Altered": "measure.altered",
    "Audit": "auditing.audit",
    "Aux": "facts",
    "BuildRunning": "errors",
    "Calibration": "measure.calibration",
    "Candidate": "attack.select",
    "ColumnError": "errors",
    "Custom": "similarity.attributes",
    "Decay": "similarity.attributes",
    "Entry": "release.model",
    "Equal": "similarity.attributes",
    "Estimate": "measure.estimate",
    "Fact": "facts",
    "Item": "release.model",
    "Lineup": "attack.select",
    "Links": "linking.links",
    "Match": "attack.match",
    "NotFoundError": "errors",
    "ParameterError": "errors",
    "Part": "attack.select",
    "Present": "similarity.attributes",
    "Record": "release.model",
    "RejectedRows": "errors",
    "Release": "release.model",
    "Reproduction": "paper.reproduction",
    "Scoreboard": "attack.score",
    "ScoreboardRH": "attack.score",
    "Similarity": "similarity.attributes",
    "Simulation": "measure.simulate",
    "SourceError": "errors",
    "Sparsity": "measure.sparsity",
    "StandoutError": "errors",
    "StoreError": "errors",
    "Unicity": "measure.unicity",
    "Verdict": "attack.verdict",
    "Verdicts": "attack.verdict",
    "Within": "similarity.attributes",
    "altered": "measure.altered",
    "audit": "auditing.audit",
    "bounds": "measure",
    "calibration": "measure.calibration",
    "describe": "release.describe",
    "link": "linking.link",
    "open": "release.store",
    "outside_top": "adversary",
    "prize": "measure",
    "read": "ingest.read",
    "record_similarity": "similarity.records",
    "reproduce": "paper.reproduce",
    "save": "release.store",
    "simulate": "measure.simulate",
    "sparsity": "measure.sparsity",
    "synthesize": "synthetic.make",
    "unicity": "measure.unicity",
    "verify": "release.store",
}

__all__ = [
    "Adversary",
    "Altered",
    "Audit",
    "Aux",
    "BuildRunning",
    "Calibration",
    "Candidate",
    "ColumnError",
    "Custom",
    "Decay",
    "Entry",
    "Equal",
    "Estimate",
    "Fact",
    "Item",
    "Lineup",
    "Links",
    "Match",
    "NotFoundError",
    "ParameterError",
    "Part",
    "Present",
    "Record",
    "RejectedRows",
    "Release",
    "Reproduction",
    "Scoreboard",
    "ScoreboardRH",
    "Similarity",
    "Simulation",
    "SourceError",
    "Sparsity",
    "StandoutError",
    "StoreError",
    "Unicity",
    "Verdict",
    "Verdicts",
    "Within",
    "__version__",
    "altered",
    "audit",
    "bounds",
    "calibration",
    "describe",
    "link",
    "open",
    "outside_top",
    "prize",
    "read",
    "record_similarity",
    "reproduce",
    "save",
    "simulate",
    "sparsity",
    "synthesize",
    "unicity",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'standout' has no attribute {name!r}")
    if _HOMES[name] == "measure":  # a module of its own
        return import_module(f"standout.measure.{name}")
    home = import_module(f"standout.{_HOMES[name]}")
    return getattr(home, "open_index" if name == "open" else name)


def __dir__() -> list[str]:
    return __all__
