# The public names, for type checkers and editors; __init__.py imports them when they are first used.

from standout._version import __version__
from standout.advising.advice import Advice
from standout.advising.advise import advise, composition
from standout.attack.any_attack import FactEntries, fact_entries
from standout.attack.likelihood import Likelihood
from standout.attack.own_attack import Attack, PlaceScoreboard
from standout.attack.scoreboard import ExactMatch, Scoreboard, ScoreboardRH
from standout.attack.verdict import Verdict, Verdicts
from standout.auditing.audit import Audit, audit
from standout.auditing.ladder import Rung, ladder
from standout.core.errors import (
    ColumnError,
    NotFoundError,
    ParameterError,
    ReadingWarning,
    SourceError,
    StandoutError,
    StoreError,
)
from standout.data.column import Column, Hierarchy
from standout.data.describe import describe
from standout.data.release import Release
from standout.data.search import suggest_items
from standout.data.store import open_index as open  # noqa: A004
from standout.data.store import save, verify
from standout.evaluate.compare import Comparison, compare
from standout.evaluate.estimates import Estimate
from standout.evaluate.lineup import lineup
from standout.evaluate.outcomes import infer_column
from standout.evaluate.simulate import simulate
from standout.evaluate.simulation import Simulation
from standout.ingest.read import index, read
from standout.ingest.schema import ColumnSchema, Schema
from standout.know.adversary import Adversary, outside_top
from standout.know.facts import Aux, Fact, KnownFacts
from standout.know.sanitized import Sanitized
from standout.know.similarity import (
    Custom,
    Decay,
    Equal,
    PlaceDecay,
    PlacesWithin,
    Present,
    Similarity,
    Within,
    record_similarity,
)
from standout.linking.links import Links, link
from standout.measure import bounds
from standout.measure.classes import Classes, classes
from standout.measure.sparsity import Sparsity, altered, sparsity
from standout.measure.unicity import Unicity, unicity, unicity_grid
from standout.paper.calibration import calibration
from standout.paper.reproduce import reproduce
from standout.paper.synthesize import synthesize
from standout.sanitizing import steps
from standout.sanitizing.files import open_sanitized
from standout.sanitizing.step import Step
from standout.sanitizing.steps import sanitize, step
from standout.sanitizing.utility import Utility, utility

__all__ = [
    "Adversary",
    "Advice",
    "Attack",
    "Audit",
    "Aux",
    "Classes",
    "Column",
    "ColumnError",
    "ColumnSchema",
    "Comparison",
    "Custom",
    "Decay",
    "Equal",
    "Estimate",
    "ExactMatch",
    "Fact",
    "FactEntries",
    "Hierarchy",
    "KnownFacts",
    "Likelihood",
    "Links",
    "NotFoundError",
    "ParameterError",
    "PlaceDecay",
    "PlaceScoreboard",
    "PlacesWithin",
    "Present",
    "ReadingWarning",
    "Release",
    "Rung",
    "Sanitized",
    "Schema",
    "Scoreboard",
    "ScoreboardRH",
    "Similarity",
    "Simulation",
    "SourceError",
    "Sparsity",
    "StandoutError",
    "Step",
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
    "classes",
    "compare",
    "composition",
    "describe",
    "fact_entries",
    "index",
    "infer_column",
    "ladder",
    "lineup",
    "link",
    "open",
    "open_sanitized",
    "outside_top",
    "read",
    "record_similarity",
    "reproduce",
    "sanitize",
    "save",
    "simulate",
    "sparsity",
    "step",
    "steps",
    "suggest_items",
    "synthesize",
    "unicity",
    "unicity_grid",
    "utility",
    "verify",
]
