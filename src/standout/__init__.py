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
    from standout.advising.advise import Advice, advise
    from standout.advising.composition import Composition, composition
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
    from standout.pricing.utility import Utility, utility
    from standout.release.describe import describe
    from standout.release.model import Entry, Item, Record, Release
    from standout.release.store import open_index as open  # noqa: A004
    from standout.release.store import save, verify
    from standout.sanitized import Sanitized
    from standout.sanitizing.cluster import ClusterRecords
    from standout.sanitizing.km import KmSuppress
    from standout.sanitizing.reopen import open_sanitized
    from standout.sanitizing.response import RandomizedResponse
    from standout.sanitizing.sanitize import sanitize
    from standout.sanitizing.suppress import (
        CapRecords,
        DropEntries,
        DropItems,
        DropRareItems,
        DropTopItems,
        SampleRecords,
    )
    from standout.sanitizing.text import step
    from standout.sanitizing.times import PerturbTime, RoundTime
    from standout.sanitizing.values import PerturbValue, RoundValue
    from standout.sanitizing.write import write_sanitized
    from standout.similarity.attributes import Custom, Decay, Equal, Present, Similarity, Within
    from standout.similarity.records import record_similarity
    from standout.synthetic.make import synthesize

_HOMES = {
    "Adversary": "adversary",
    "Advice": "advising.advise",
    "Altered": "measure.altered",
    "Audit": "auditing.audit",
    "Aux": "facts",
    "BuildRunning": "errors",
    "Calibration": "measure.calibration",
    "Candidate": "attack.select",
    "CapRecords": "sanitizing.suppress",
    "ClusterRecords": "sanitizing.cluster",
    "ColumnError": "errors",
    "Composition": "advising.composition",
    "Custom": "similarity.attributes",
    "Decay": "similarity.attributes",
    "DropEntries": "sanitizing.suppress",
    "DropItems": "sanitizing.suppress",
    "DropRareItems": "sanitizing.suppress",
    "DropTopItems": "sanitizing.suppress",
    "Entry": "release.model",
    "Equal": "similarity.attributes",
    "Estimate": "measure.estimate",
    "Fact": "facts",
    "Item": "release.model",
    "KmSuppress": "sanitizing.km",
    "Lineup": "attack.select",
    "Links": "linking.links",
    "Match": "attack.match",
    "NotFoundError": "errors",
    "ParameterError": "errors",
    "Part": "attack.select",
    "PerturbTime": "sanitizing.times",
    "PerturbValue": "sanitizing.values",
    "Present": "similarity.attributes",
    "RandomizedResponse": "sanitizing.response",
    "Record": "release.model",
    "RejectedRows": "errors",
    "Release": "release.model",
    "Reproduction": "paper.reproduction",
    "RoundTime": "sanitizing.times",
    "RoundValue": "sanitizing.values",
    "SampleRecords": "sanitizing.suppress",
    "Sanitized": "sanitized",
    "Scoreboard": "attack.score",
    "ScoreboardRH": "attack.score",
    "Similarity": "similarity.attributes",
    "Simulation": "measure.simulate",
    "SourceError": "errors",
    "Sparsity": "measure.sparsity",
    "StandoutError": "errors",
    "StoreError": "errors",
    "Unicity": "measure.unicity",
    "Utility": "pricing.utility",
    "Verdict": "attack.verdict",
    "Verdicts": "attack.verdict",
    "Within": "similarity.attributes",
    "advise": "advising.advise",
    "altered": "measure.altered",
    "audit": "auditing.audit",
    "bounds": "measure",
    "calibration": "measure.calibration",
    "composition": "advising.composition",
    "describe": "release.describe",
    "link": "linking.link",
    "open": "release.store",
    "open_sanitized": "sanitizing.reopen",
    "outside_top": "adversary",
    "prize": "measure",
    "read": "ingest.read",
    "record_similarity": "similarity.records",
    "reproduce": "paper.reproduce",
    "sanitize": "sanitizing.sanitize",
    "save": "release.store",
    "simulate": "measure.simulate",
    "sparsity": "measure.sparsity",
    "step": "sanitizing.text",
    "synthesize": "synthetic.make",
    "unicity": "measure.unicity",
    "utility": "pricing.utility",
    "verify": "release.store",
    "write_sanitized": "sanitizing.write",
}

__all__ = [
    "Adversary",
    "Advice",
    "Altered",
    "Audit",
    "Aux",
    "BuildRunning",
    "Calibration",
    "Candidate",
    "CapRecords",
    "ClusterRecords",
    "ColumnError",
    "Composition",
    "Custom",
    "Decay",
    "DropEntries",
    "DropItems",
    "DropRareItems",
    "DropTopItems",
    "Entry",
    "Equal",
    "Estimate",
    "Fact",
    "Item",
    "KmSuppress",
    "Lineup",
    "Links",
    "Match",
    "NotFoundError",
    "ParameterError",
    "Part",
    "PerturbTime",
    "PerturbValue",
    "Present",
    "RandomizedResponse",
    "Record",
    "RejectedRows",
    "Release",
    "Reproduction",
    "RoundTime",
    "RoundValue",
    "SampleRecords",
    "Sanitized",
    "Scoreboard",
    "ScoreboardRH",
    "Similarity",
    "Simulation",
    "SourceError",
    "Sparsity",
    "StandoutError",
    "StoreError",
    "Unicity",
    "Utility",
    "Verdict",
    "Verdicts",
    "Within",
    "__version__",
    "advise",
    "altered",
    "audit",
    "bounds",
    "calibration",
    "composition",
    "describe",
    "link",
    "open",
    "open_sanitized",
    "outside_top",
    "prize",
    "read",
    "record_similarity",
    "reproduce",
    "sanitize",
    "save",
    "simulate",
    "sparsity",
    "step",
    "synthesize",
    "unicity",
    "utility",
    "verify",
    "write_sanitized",
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
