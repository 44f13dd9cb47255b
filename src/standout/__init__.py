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
    "WorkersLost": "core.errors",
    "advise": "advising.advise",
    "altered": "theory.altered",
    "audit": "auditing.audit",
    "bounds": "theory",
    "calibration": "synthetic.calibration",
    "compare": "evaluate.compare",
    "composition": "advising.composition",
    "describe": "release.describe",
    "fact_entries": "attack.fact_entries",
    "index": "ingest.index_source",
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
    "synthesize_index": "synthetic.synthesize_index",
    "table_lineup": "table_attack.table_lineup",
    "table_risk": "risk_measures.table_risk",
    "unicity": "theory.unicity",
    "unicity_grid": "theory.unicity_grid",
    "utility": "data_utility.utility",
    "verify": "release.store",
    "warm_up": "attack.warm_up",
    "write_sanitized": "sanitizing.writer",
}

__all__ = sorted(["__version__", *_MODULES])


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
