"""The audit of a table: how many people adversaries identify, what equal rows reveal, what is learned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from standout.auditing.ladder import FittedLadder, LadderSource, fit_ladder, resolve_ladder
from standout.auditing.table_assembly import TableRequest, TableResults, assemble_table_findings
from standout.auditing.table_checks import check_table_findings, check_table_runs
from standout.auditing.table_measures import (
    RiskResults,
    column_sets,
    disclosures,
    identity_findings,
    learned,
    population_findings,
)
from standout.auditing.table_runs import (
    TableCurve,
    TablePlan,
    TableRun,
    attack_original_table,
    run_curve,
    run_table_adversary,
)
from standout.core.errors import ParameterError, positive_share, whole_number
from standout.core.progress import Progress, ProgressMeter, no_progress
from standout.core.rng import check_seed
from standout.core.text import printable
from standout.core.threads import thread_count
from standout.data.release import Release
from standout.findings.adversaries import AdversaryBeforeAfter
from standout.findings.audit import AuditFindings, Check
from standout.know.adversary import Adversary
from standout.know.sanitized import Sanitized, original_of
from standout.measure.equivalence import known_columns
from standout.report.audit_output import AuditOutput

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TableAudit", "audit_table"]

QUICK_TARGETS = 200
KNOWS, QUICK_KNOWS = (1, 2, 3, 4, 6, 8, 10, 12), (1, 2, 4, 8)
RISK_COST, ADVERSARY_COST, CURVE_COST, CHECK_COST, ORIGINAL_COST = 0.5, 1.0, 1.0, 0.3, 0.3
"""Approximate relative costs of the parts of an audit, for its progress."""


@dataclass(frozen=True, eq=False, repr=False)
class TableAudit(AuditOutput):
    """Result of an audit of a table.

    Attributes
    ----------
    table : Release
        The table that was audited.
    findings : AuditFindings
        Everything that was found; docs/findings.schema.json describes its JSON form.
    adversaries : Mapping[str, Adversary]
        The adversaries by name, as they were adapted to the table.
    complete : bool
        Whether the audit finished. False if it was interrupted.
    seed : int
        Seed of all random draws.
    threads : int or None
        Number of threads; None for all.
    """

    table: Release
    findings: AuditFindings
    adversaries: Mapping[str, Adversary]
    complete: bool
    seed: int = 0
    threads: int | None = None

    def _make_tables(self) -> "dict[str, pl.DataFrame]":
        from standout.report.frames import result_frames

        return result_frames(self.findings)

    def _page(self) -> str:
        from standout.report.audit_page import audit_page

        return audit_page(self.findings)


def audit_table(
    table: Release,
    *,
    ladder: LadderSource = None,
    headline: str | None = None,
    targets: int = 1000,
    facts: Sequence[int] | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive_columns: Sequence[str] | None = None,
    population: int | None = None,
    phi: float = 1.5,
    posterior: float = 0.95,
    budget: float = 0.01,
    fail_above: float | None = None,
    quick: bool = False,
    name: str = "",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> TableAudit:
    """Audit a table with one row per person; see `standout.audit`, which calls this for a table."""
    resolved = resolve_ladder(ladder, headline)
    if fail_above is not None and not _is_share(fail_above):
        raise ParameterError(f"fail_above must be a number from 0 to 1, got {fail_above!r}")
    if not _is_share(budget) or not 0 < budget < 1:
        raise ParameterError(f"budget must be above 0 and below 1, got {budget!r}")
    original = original_of(table)
    if table.n_records < 2:
        raise ParameterError(f"the table must have at least 2 rows to be audited, got {table.n_records}")
    columns = known_columns(original, quasi_identifiers, sensitive_columns)
    fitted = fit_ladder(resolved, original, columns.quasi_identifiers)
    if fail_above is not None and not any(rung.gate for rung in fitted.rungs):
        raise ParameterError(
            "fail_above must have an adversary that counts for the threshold: set gate = true in the ladder"
        )
    targets = whole_number("targets", targets, 1)
    plan = TablePlan(
        table=table,
        targets=min(targets, QUICK_TARGETS) if quick else targets,
        knows=_counts(facts, quick),
        phi=_phi(phi),
        posterior=positive_share("posterior", posterior),
        budget=float(budget),
        population=_population(table, population),
        seed=check_seed(seed),
        threads=thread_count(threads),
    )
    request = TableRequest(
        plan=plan,
        headline=fitted.headline,
        ladder=resolved.source,
        quick=bool(quick),
        fail_above=None if fail_above is None else float(fail_above),
        name=printable(str(name)),
        quasi_identifiers=columns.quasi_identifiers,
        quasi_identifiers_reason=_reason(original, quasi_identifiers) or columns.reason,
        sensitive=columns.sensitive,
        limits=fitted.limits,
    )
    results = _run(request, fitted, progress)
    return TableAudit(
        table,
        check_table_findings(assemble_table_findings(request, results), request, results),
        {rung.name: rung.adversary for rung in fitted.rungs},
        results.complete,
        plan.seed,
        plan.threads,
    )


def _reason(table: Release, named: Sequence[str] | None) -> str:
    """Why columns are quasi-identifiers if their roles say so; empty otherwise."""
    if named is not None or not table.columns_with_role("quasi-identifier"):
        return ""
    source = table.provenance
    if "schema" in source.settings:
        return "by their roles, in the schema or recognised by their names"
    return "recognised by their names" if source.column_notes else "by their roles"


def _is_share(number: object) -> bool:
    return isinstance(number, (int, float)) and not isinstance(number, bool) and 0 <= number <= 1


def _phi(phi: object) -> float:
    if isinstance(phi, bool) or not isinstance(phi, (int, float)) or not 0 <= phi < float("inf"):
        raise ParameterError(f"phi must be a finite number ≥ 0, got {phi!r}")
    return float(phi)


def _counts(facts: Sequence[int] | None, quick: bool) -> tuple[int, ...]:
    """Numbers of attributes in the curve, ascending."""
    if facts is None:
        return QUICK_KNOWS if quick else KNOWS
    if isinstance(facts, str) or not isinstance(facts, Sequence) or not facts:
        raise ParameterError(f"facts must be a list of whole numbers such as [1, 2, 4, 8], got {facts!r}")
    return tuple(sorted({whole_number("facts", count, 1) for count in facts}))


def _population(table: Release, population: int | None) -> int | None:
    if population is None:
        return None
    people = whole_number("population", population, 1)
    if people < original_of(table).n_records:
        raise ParameterError(
            f"population must be at least the number of rows, {original_of(table).n_records:,}, got {people:,}"
        )
    return people


@dataclass
class _Partial:
    """What was computed so far."""

    runs: dict[str, TableRun] = field(default_factory=dict)
    curve: TableCurve | None = None
    risks: RiskResults = field(default_factory=lambda: RiskResults(None, (), (), None, None))
    checks: list[Check] = field(default_factory=list)
    before: list[AdversaryBeforeAfter] = field(default_factory=list)
    complete: bool = False


def _run(request: TableRequest, fitted: FittedLadder, progress: Progress) -> TableResults:
    """Run the headline adversary, its checks, the other adversaries, the curve and the risk measures.

    An interruption before the checks of the headline adversary is raised again.
    """
    order = sorted(fitted.rungs, key=lambda rung: rung.name != request.headline)
    originals = fitted.rungs if isinstance(request.plan.table, Sanitized) else ()
    total = ADVERSARY_COST * len(order) + CHECK_COST + CURVE_COST + RISK_COST + ORIGINAL_COST * len(originals)
    meter, done = ProgressMeter("auditing", total, progress), _Partial()
    try:
        for rung in order:
            with meter.part(ADVERSARY_COST):
                done.runs[rung.name] = run_table_adversary(request.plan, rung, meter)
            if rung.name == request.headline:
                with meter.part(CHECK_COST):
                    done.checks = check_table_runs(request.plan, done.runs[rung.name])
        with meter.part(CURVE_COST):
            done.curve = run_curve(request.plan, order[0].adversary, meter)
        with meter.part(RISK_COST):
            done.risks = _risks(request, done.runs[request.headline], meter)
        for rung in originals:
            with meter.part(ORIGINAL_COST):
                done.before.append(attack_original_table(request.plan, done.runs[rung.name], meter))
        done.complete = True
    except KeyboardInterrupt:
        if not done.checks:
            raise
    return TableResults(
        runs=[done.runs[rung.name] for rung in fitted.rungs if rung.name in done.runs],
        curve=done.curve,
        risks=done.risks,
        checks=done.checks,
        before=done.before,
        complete=done.complete,
    )


def _risks(request: TableRequest, headline: TableRun, progress: Progress) -> RiskResults:
    plan = request.plan
    identity = identity_findings(plan.table, request.quasi_identifiers)
    others = [name for name in plan.table.column_names if name not in request.sensitive]
    return RiskResults(
        identity=None if identity is None else identity[0],
        column_sets=column_sets(plan, others, progress),
        disclosure=disclosures(plan, headline.rung.adversary, request.sensitive, request.quasi_identifiers, progress),
        learned=learned(plan.table, headline),
        population=population_findings(None if identity is None else identity[1], plan.population, plan.seed),
    )
