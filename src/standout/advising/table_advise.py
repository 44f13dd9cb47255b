"""`advise` for a table: the smallest change that brings the risk below a limit, or that there is none."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from standout.adversary import check_checkpoint_key
from standout.advising.candidate import Steps
from standout.advising.search import search_candidates
from standout.advising.table_advice import TableAdvice
from standout.advising.table_built_in_steps import step_columns
from standout.advising.table_identification import table_attacks_by_name
from standout.advising.table_runner import TableCandidateRunner
from standout.core.atomic_files import make_folder
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.foreign_text import printable
from standout.core.progress import Progress
from standout.core.rng import check_seed
from standout.core.threads import thread_count
from standout.findings.advice import Among
from standout.risk_measures.known_columns import known_columns
from standout.table_attack.table_adversary import TableAdversary
from standout.table_audit.table_ladder import (
    TableLadderSource,
    fit_table_ladder,
    resolve_table_ladder,
)
from standout.table_sanitizing.table_step import TableStep
from standout.table_sanitizing.table_step_parser import parse_table_step
from standout.tables.model import SanitizedTable, Table

__all__ = ["TableAdviceSettings", "advise_table", "headline_table_adversary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAdviceSettings:
    """The parameters of `advise` that apply to tables."""

    candidates: Any = None
    attacks: Any = None
    targets: int = 1000
    among: Among = "released"
    name: str = ""
    seed: int = 0
    threads: int | None = None
    work: str | Path | None = None


def advise_table(
    table: Table,
    adversary: TableAdversary | None,
    limit: float,
    settings: TableAdviceSettings,
    progress: Progress,
) -> TableAdvice:
    """Search for the smallest change of a table; see `standout.advise`."""
    if isinstance(table, SanitizedTable):
        raise ParameterError("release is sanitized already: give advise the original")
    if adversary is None:
        adversary = headline_table_adversary(table)
    if not isinstance(adversary, TableAdversary):
        raise ParameterError(
            f"adversary must be a TableAdversary for a table, got {type(adversary).__name__}"
        )
    if settings.work is not None and adversary.entries is not None:
        check_checkpoint_key(adversary.entries, "work")
    runner = TableCandidateRunner(
        table=table,
        adversary=adversary,
        targets=min(whole_number("targets", settings.targets, 1), table.n_rows),
        seed=check_seed(settings.seed),
        among=settings.among,
        threads=thread_count(settings.threads),
        work=None if settings.work is None else make_folder(Path(settings.work), private=True),
        attacks={} if settings.attacks is None else table_attacks_by_name(settings.attacks),
    )
    given = None if settings.candidates is None else _parse_candidates(settings.candidates, table)
    result = search_candidates(runner, limit, given, progress)
    return TableAdvice(
        original=table,
        search=result,
        adversary=adversary,
        limit=limit,
        among=settings.among,
        seed=runner.seed,
        name=printable(str(settings.name)),
    )


def headline_table_adversary(
    table: Table, ladder: TableLadderSource = None, headline: str | None = None
) -> TableAdversary:
    """The headline adversary of a ladder, adapted to the table; default: the acquaintance."""
    resolved = resolve_table_ladder(ladder, headline)
    rung = next(rung for rung in resolved.rungs if rung.name == resolved.headline)
    known = known_columns(table, None, None).quasi_identifiers
    fitted = fit_table_ladder(resolved._replace(rungs=(rung,)), table, known)
    return fitted.rungs[0].known


def _parse_candidates(candidates: Any, table: Table) -> list[Steps]:
    """Candidates as tuples of steps, without duplicates."""
    if isinstance(candidates, str) or not isinstance(candidates, Iterable):
        raise ParameterError(
            "candidates must be a list of steps or of sequences of steps, like ['round:age=5', …], "
            f"got {type(candidates).__name__}"
        )
    parsed = [_parse_candidate(candidate, table) for candidate in candidates]
    if not parsed:
        raise ParameterError("candidates must have at least one candidate; default: built-in steps")
    return list(dict.fromkeys(parsed))


def _parse_candidate(candidate: Any, table: Table) -> Steps:
    several = [candidate] if isinstance(candidate, (str, TableStep)) else candidate
    if not isinstance(several, Iterable):
        raise ParameterError(
            f"candidates must be steps or sequences of steps, got one that is a {type(candidate).__name__}"
        )
    steps = tuple(parse_table_step(step) if isinstance(step, str) else step for step in several)
    if not steps or not all(isinstance(step, TableStep) for step in steps):
        raise ParameterError("candidates for a table must be steps on tables, such as 'round:age=5'")
    for name in {name for step in steps for name in step_columns(step)}:
        table.position(name)
    return steps
