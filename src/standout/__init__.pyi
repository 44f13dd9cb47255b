# The public names, for type checkers and editors; __init__.py imports them when they are first used.

from standout._version import __version__
from standout.adversary import Adversary, outside_top
from standout.advising.advice import Advice
from standout.advising.advise import advise
from standout.advising.composition import Composition, composition
from standout.advising.table_advice import TableAdvice
from standout.attack.eccentricity import Match
from standout.attack.fact_entries import FactEntries, fact_entries
from standout.attack.likelihood import Likelihood
from standout.attack.lineup import Candidate, Lineup, Part
from standout.attack.own_attack import Attack
from standout.attack.place_scoreboard import PlaceScoreboard
from standout.attack.posterior_verdict import PosteriorVerdict
from standout.attack.scoreboard import Scoreboard, ScoreboardRH
from standout.attack.verdict import Verdict
from standout.attack.verdicts import Verdicts
from standout.attack.warm_up import warm_up
from standout.auditing.audit import audit
from standout.auditing.audit_result import Audit
from standout.auditing.ladder import Rung, ladder
from standout.core.errors import (
    BuildRunning,
    ColumnError,
    NotFoundError,
    ParameterError,
    ReadingWarning,
    RejectedRows,
    SourceError,
    StandoutError,
    StoreError,
    WorkersLost,
)
from standout.data_utility.table_utility import TableUtility
from standout.data_utility.utility import Utility, utility
from standout.evaluate.compare import compare
from standout.evaluate.comparison import Comparison
from standout.evaluate.estimates import Estimate
from standout.evaluate.lineup_answer import LineupAnswer, lineup
from standout.evaluate.simulate import simulate
from standout.evaluate.simulation import Simulation
from standout.fact import Fact
from standout.facts import Aux, KnownFacts
from standout.ingest.index_source import index
from standout.ingest.read import read
from standout.linking.link import link
from standout.linking.links import Links
from standout.own_observation import TargetEntries
from standout.paper.reproduce import reproduce
from standout.paper.reproduction import Reproduction
from standout.release.describe import describe
from standout.release.item_search import ItemSuggestion, suggest_items
from standout.release.model import Release
from standout.release.record import Entry, Item, Record
from standout.release.store import open_index as open  # noqa: A004
from standout.release.store import save, verify
from standout.risk_measures.result import TableRisk
from standout.risk_measures.table_risk import table_risk
from standout.sanitized import Sanitized
from standout.sanitizing.cluster import ClusterRecords
from standout.sanitizing.km import KmSuppress
from standout.sanitizing.merge_repeats import MergeRepeats
from standout.sanitizing.open_sanitized import open_sanitized
from standout.sanitizing.randomized_response import RandomizedResponse
from standout.sanitizing.sanitize import sanitize
from standout.sanitizing.step_parser import step
from standout.sanitizing.suppression_steps import (
    CapRecords,
    DropEntries,
    DropItems,
    DropRareItems,
    DropTopItems,
    SampleRecords,
)
from standout.sanitizing.time_steps import PerturbTime, RoundTime
from standout.sanitizing.value_steps import PerturbValue, RoundValue
from standout.sanitizing.writer import write_sanitized
from standout.similarity.attributes import Custom, Decay, Equal, Present, Similarity, Within
from standout.similarity.places import PlaceDecay, PlaceSimilarity, PlacesWithin
from standout.similarity.records import record_similarity
from standout.synthetic.calibration import Calibration, calibration
from standout.synthetic.synthesize import synthesize
from standout.synthetic.synthesize_index import synthesize_index
from standout.table_attack.inference import Inference, infer_column
from standout.table_attack.simulate_table import TableSimulation, simulate_table
from standout.table_attack.table_adversary import TableAdversary
from standout.table_attack.table_attacks import (
    ExactMatch,
    TableAttack,
    TableLikelihood,
    TableScoreboard,
    TableThreshold,
)
from standout.table_attack.table_lineup import TableCandidate, TableLineup, table_lineup
from standout.table_audit.audit_table import TableAudit
from standout.table_sanitizing.cell_steps import DropColumn, SuppressCells, SwapColumn
from standout.table_sanitizing.class_steps import DropRows, SuppressToK
from standout.table_sanitizing.level_steps import GeneralizeColumn, RoundColumn, TopCode
from standout.tables.column import Column
from standout.tables.column_similarity import ColumnSimilarity
from standout.tables.hierarchy import Hierarchy
from standout.tables.model import SanitizedTable, Table
from standout.tables.read_table import read_table
from standout.tables.schema import ColumnSchema, Schema
from standout.theory import bounds, prize
from standout.theory.altered import Altered, altered
from standout.theory.sparsity import Sparsity, sparsity
from standout.theory.unicity import Unicity, unicity
from standout.theory.unicity_grid import UnicityCell, UnicityGrid, unicity_grid

__all__ = [
    "Adversary",
    "Advice",
    "Altered",
    "Attack",
    "Audit",
    "Aux",
    "BuildRunning",
    "Calibration",
    "Candidate",
    "CapRecords",
    "ClusterRecords",
    "Column",
    "ColumnError",
    "ColumnSchema",
    "ColumnSimilarity",
    "Comparison",
    "Composition",
    "Custom",
    "Decay",
    "DropColumn",
    "DropEntries",
    "DropItems",
    "DropRareItems",
    "DropRows",
    "DropTopItems",
    "Entry",
    "Equal",
    "Estimate",
    "ExactMatch",
    "Fact",
    "FactEntries",
    "GeneralizeColumn",
    "Hierarchy",
    "Inference",
    "Item",
    "ItemSuggestion",
    "KmSuppress",
    "KnownFacts",
    "Likelihood",
    "Lineup",
    "LineupAnswer",
    "Links",
    "Match",
    "MergeRepeats",
    "NotFoundError",
    "ParameterError",
    "Part",
    "PerturbTime",
    "PerturbValue",
    "PlaceDecay",
    "PlaceScoreboard",
    "PlaceSimilarity",
    "PlacesWithin",
    "PosteriorVerdict",
    "Present",
    "RandomizedResponse",
    "ReadingWarning",
    "Record",
    "RejectedRows",
    "Release",
    "Reproduction",
    "RoundColumn",
    "RoundTime",
    "RoundValue",
    "Rung",
    "SampleRecords",
    "Sanitized",
    "SanitizedTable",
    "Schema",
    "Scoreboard",
    "ScoreboardRH",
    "Similarity",
    "Simulation",
    "SourceError",
    "Sparsity",
    "StandoutError",
    "StoreError",
    "SuppressCells",
    "SuppressToK",
    "SwapColumn",
    "Table",
    "TableAdversary",
    "TableAdvice",
    "TableAttack",
    "TableAudit",
    "TableCandidate",
    "TableLikelihood",
    "TableLineup",
    "TableRisk",
    "TableScoreboard",
    "TableSimulation",
    "TableThreshold",
    "TableUtility",
    "TargetEntries",
    "TopCode",
    "Unicity",
    "UnicityCell",
    "UnicityGrid",
    "Utility",
    "Verdict",
    "Verdicts",
    "Within",
    "WorkersLost",
    "__version__",
    "advise",
    "altered",
    "audit",
    "bounds",
    "calibration",
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
    "prize",
    "read",
    "read_table",
    "record_similarity",
    "reproduce",
    "sanitize",
    "save",
    "simulate",
    "simulate_table",
    "sparsity",
    "step",
    "suggest_items",
    "synthesize",
    "synthesize_index",
    "table_lineup",
    "table_risk",
    "unicity",
    "unicity_grid",
    "utility",
    "verify",
    "warm_up",
    "write_sanitized",
]
