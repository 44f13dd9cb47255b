"""Measure how many people can be identified in anonymised data.

Standout implements the attack of Narayanan and Shmatikov, "Robust De-anonymization of Large Datasets"
(2008), and builds an audit on it. Start with `read`, `audit`, `simulate` and `sanitize`.

Notes
-----
A name is imported when it is first used, so `import standout` loads no other module.

Examples
--------
>>> import standout as so
>>> release = so.synthesize(records=200, items=100, entries=4_000, seed=7)
>>> adversary = so.Adversary(knows=6, wrong=1, value_error=1, time_error=14)
>>> aux = adversary.observe(release, "42", seed=1)
>>> so.Likelihood(adversary).attack(release, aux).best
'42'
"""

from importlib import import_module
from typing import Any

from standout._version import __version__ as __version__

_MODULES = {
    "Adversary": "know.adversary",
    "Advice": "advising.advice",
    "Attack": "attack.own_attack",
    "Audit": "auditing.audit",
    "Aux": "know.facts",
    "Classes": "measure.classes",
    "Column": "data.column",
    "ColumnError": "core.errors",
    "ColumnSchema": "ingest.schema",
    "Comparison": "evaluate.compare",
    "Custom": "know.similarity",
    "Decay": "know.similarity",
    "Equal": "know.similarity",
    "Estimate": "evaluate.estimates",
    "ExactMatch": "attack.scoreboard",
    "Fact": "know.facts",
    "FactEntries": "attack.any_attack",
    "Hierarchy": "data.column",
    "KnownFacts": "know.facts",
    "Likelihood": "attack.likelihood",
    "Links": "linking.links",
    "NotFoundError": "core.errors",
    "ParameterError": "core.errors",
    "PlaceDecay": "know.similarity",
    "PlaceScoreboard": "attack.own_attack",
    "PlacesWithin": "know.similarity",
    "Present": "know.similarity",
    "ReadingWarning": "core.errors",
    "Release": "data.release",
    "Rung": "auditing.ladder",
    "Sanitized": "know.sanitized",
    "Schema": "ingest.schema",
    "Scoreboard": "attack.scoreboard",
    "ScoreboardRH": "attack.scoreboard",
    "Similarity": "know.similarity",
    "Simulation": "evaluate.simulation",
    "SourceError": "core.errors",
    "Sparsity": "measure.sparsity",
    "StandoutError": "core.errors",
    "Step": "sanitizing.step",
    "StoreError": "core.errors",
    "Unicity": "measure.unicity",
    "Utility": "sanitizing.utility",
    "Verdict": "attack.verdict",
    "Verdicts": "attack.verdict",
    "Within": "know.similarity",
    "advise": "advising.advise",
    "altered": "measure.sparsity",
    "audit": "auditing.audit",
    "bounds": "measure",
    "calibration": "paper.calibration",
    "classes": "measure.classes",
    "compare": "evaluate.compare",
    "composition": "advising.advise",
    "describe": "data.describe",
    "fact_entries": "attack.any_attack",
    "index": "ingest.read",
    "infer_column": "evaluate.outcomes",
    "ladder": "auditing.ladder",
    "lineup": "evaluate.lineup",
    "link": "linking.links",
    "open": "data.store",
    "open_sanitized": "sanitizing.files",
    "outside_top": "know.adversary",
    "read": "ingest.read",
    "record_similarity": "know.similarity",
    "reproduce": "paper.reproduce",
    "sanitize": "sanitizing.steps",
    "save": "data.store",
    "simulate": "evaluate.simulate",
    "sparsity": "measure.sparsity",
    "step": "sanitizing.steps",
    "steps": "sanitizing",
    "suggest_items": "data.search",
    "synthesize": "paper.synthesize",
    "unicity": "measure.unicity",
    "unicity_grid": "measure.unicity",
    "utility": "sanitizing.utility",
    "verify": "data.store",
}

__all__ = sorted(["__version__", *_MODULES])


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module 'standout' has no attribute {name!r}")
    module = import_module(f"standout.{_MODULES[name]}")
    if _MODULES[name] in ("measure", "sanitizing"):  # the name is itself a module
        return import_module(f"{module.__name__}.{name}")
    return getattr(module, "open_index" if name == "open" else name)


def __dir__() -> list[str]:
    return __all__
