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
from typing import TYPE_CHECKING, Any

from standout._version import __version__

if TYPE_CHECKING:
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

_MODULES = {
    "Adversary": "adversary",
    "Advice": "advising.advice",
    "Altered": "theory.altered",
    "Attack": "attack.own_attack",
    "Audit": "auditing.audit_result",
    "Aux": "facts",
    "BuildRunning": "core.errors",
    "Calibration": "synthetic.calibration",
    "Candidate": "attack.lineup",
    "CapRecords": "sanitizing.suppression_steps",
    "ClusterRecords": "sanitizing.cluster",
    "Column": "tables.column",
    "ColumnError": "core.errors",
    "ColumnSchema": "tables.schema",
    "ColumnSimilarity": "tables.column_similarity",
    "Comparison": "evaluate.comparison",
    "Composition": "advising.composition",
    "Custom": "similarity.attributes",
    "Decay": "similarity.attributes",
    "DropColumn": "table_sanitizing.cell_steps",
    "DropEntries": "sanitizing.suppression_steps",
    "DropItems": "sanitizing.suppression_steps",
    "DropRareItems": "sanitizing.suppression_steps",
    "DropRows": "table_sanitizing.class_steps",
    "DropTopItems": "sanitizing.suppression_steps",
    "Entry": "release.record",
    "Equal": "similarity.attributes",
    "Estimate": "evaluate.estimates",
    "ExactMatch": "table_attack.table_attacks",
    "Fact": "fact",
    "FactEntries": "attack.fact_entries",
    "GeneralizeColumn": "table_sanitizing.level_steps",
    "Hierarchy": "tables.hierarchy",
    "Inference": "table_attack.inference",
    "Item": "release.record",
    "ItemSuggestion": "release.item_search",
    "KmSuppress": "sanitizing.km",
    "KnownFacts": "facts",
    "Likelihood": "attack.likelihood",
    "Lineup": "attack.lineup",
    "LineupAnswer": "evaluate.lineup_answer",
    "Links": "linking.links",
    "Match": "attack.eccentricity",
    "MergeRepeats": "sanitizing.merge_repeats",
    "NotFoundError": "core.errors",
    "ParameterError": "core.errors",
    "Part": "attack.lineup",
    "PerturbTime": "sanitizing.time_steps",
    "PerturbValue": "sanitizing.value_steps",
    "PlaceDecay": "similarity.places",
    "PlaceScoreboard": "attack.place_scoreboard",
    "PlaceSimilarity": "similarity.places",
    "PlacesWithin": "similarity.places",
    "PosteriorVerdict": "attack.posterior_verdict",
    "Present": "similarity.attributes",
    "RandomizedResponse": "sanitizing.randomized_response",
    "ReadingWarning": "core.errors",
    "Record": "release.record",
    "RejectedRows": "core.errors",
    "Release": "release.model",
    "Reproduction": "paper.reproduction",
    "RoundColumn": "table_sanitizing.level_steps",
    "RoundTime": "sanitizing.time_steps",
    "RoundValue": "sanitizing.value_steps",
    "Rung": "auditing.ladder",
    "SampleRecords": "sanitizing.suppression_steps",
    "Sanitized": "sanitized",
    "SanitizedTable": "tables.model",
    "Schema": "tables.schema",
    "Scoreboard": "attack.scoreboard",
    "ScoreboardRH": "attack.scoreboard",
    "Similarity": "similarity.attributes",
    "Simulation": "evaluate.simulation",
    "SourceError": "core.errors",
    "Sparsity": "theory.sparsity",
    "StandoutError": "core.errors",
    "StoreError": "core.errors",
    "SuppressCells": "table_sanitizing.cell_steps",
    "SuppressToK": "table_sanitizing.class_steps",
    "SwapColumn": "table_sanitizing.cell_steps",
    "Table": "tables.model",
    "TableAdversary": "table_attack.table_adversary",
    "TableAdvice": "advising.table_advice",
    "TableAttack": "table_attack.table_attacks",
    "TableCandidate": "table_attack.table_lineup",
    "TableAudit": "table_audit.audit_table",
    "TableLikelihood": "table_attack.table_attacks",
    "TableLineup": "table_attack.table_lineup",
    "TableRisk": "risk_measures.result",
    "TableScoreboard": "table_attack.table_attacks",
    "TableSimulation": "table_attack.simulate_table",
    "TableThreshold": "table_attack.table_attacks",
    "TableUtility": "data_utility.table_utility",
    "TargetEntries": "own_observation",
    "TopCode": "table_sanitizing.level_steps",
    "Unicity": "theory.unicity",
    "UnicityCell": "theory.unicity_grid",
    "UnicityGrid": "theory.unicity_grid",
    "Utility": "data_utility.utility",
    "Verdict": "attack.verdict",
    "Verdicts": "attack.verdicts",
    "Within": "similarity.attributes",
    "advise": "advising.advise",
    "altered": "theory.altered",
    "audit": "auditing.audit",
    "bounds": "theory",
    "calibration": "synthetic.calibration",
    "compare": "evaluate.compare",
    "composition": "advising.composition",
    "describe": "release.describe",
    "fact_entries": "attack.fact_entries",
    "infer_column": "table_attack.inference",
    "ladder": "auditing.ladder",
    "lineup": "evaluate.lineup_answer",
    "link": "linking.link",
    "open": "release.store",
    "open_sanitized": "sanitizing.open_sanitized",
    "outside_top": "adversary",
    "prize": "theory",
    "read": "ingest.read",
    "read_table": "tables.read_table",
    "record_similarity": "similarity.records",
    "reproduce": "paper.reproduce",
    "sanitize": "sanitizing.sanitize",
    "save": "release.store",
    "simulate": "evaluate.simulate",
    "simulate_table": "table_attack.simulate_table",
    "sparsity": "theory.sparsity",
    "step": "sanitizing.step_parser",
    "suggest_items": "release.item_search",
    "synthesize": "synthetic.synthesize",
    "table_lineup": "table_attack.table_lineup",
    "table_risk": "risk_measures.table_risk",
    "unicity": "theory.unicity",
    "unicity_grid": "theory.unicity_grid",
    "utility": "data_utility.utility",
    "verify": "release.store",
    "warm_up": "attack.warm_up",
    "write_sanitized": "sanitizing.writer",
}

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
    "table_lineup",
    "table_risk",
    "unicity",
    "unicity_grid",
    "utility",
    "verify",
    "warm_up",
    "write_sanitized",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module 'standout' has no attribute {name!r}")
    module = import_module(f"standout.{_MODULES[name]}")
    if _MODULES[name] == "theory":  # the name is itself a module
        return import_module(f"{module.__name__}.{name}")
    return getattr(module, "open_index" if name == "open" else name)


def __dir__() -> list[str]:
    return __all__
