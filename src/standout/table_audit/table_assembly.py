"""From the results of an audit of a table to its findings."""

from collections.abc import Sequence
from dataclasses import dataclass

from standout._version import __version__
from standout.evaluate.estimates import mean
from standout.findings.audit import Check, Run, Trust
from standout.findings.before_after import AdversaryBeforeAfter, before_after
from standout.findings.gate import checked_threshold
from standout.findings.software_versions import software_versions
from standout.findings.table_adversaries import (
    TableAdversaryFindings,
    TableAttackFindings,
    TableCurvePoint,
    TableMeasures,
    TablePopulation,
)
from standout.findings.table_audit import TableFindings, TableSettings
from standout.table_audit import table_sentences
from standout.table_audit.adversary_sentences import column_errors, describe_table_adversary
from standout.table_audit.table_measures import RiskResults
from standout.table_audit.table_runs import TableAttackRun, TableCurve, TablePlan, TableRun
from standout.table_audit.table_summary import original_findings, readings, summary

__all__ = ["TableRequest", "TableResults", "assemble_table_findings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRequest:
    """What the caller asked of the audit."""

    plan: TablePlan
    headline: str
    ladder: str
    quick: bool
    fail_above: float | None
    name: str
    quasi_identifiers: tuple[str, ...]
    quasi_identifiers_reason: str
    sensitive: tuple[str, ...]
    limits: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableResults:
    """What the audit computed: adversaries in the order of the ladder, the curve, risks and checks."""

    runs: Sequence[TableRun]
    curve: TableCurve | None
    risks: RiskResults
    checks: Sequence[Check]
    before: Sequence[AdversaryBeforeAfter]
    complete: bool


def assemble_table_findings(request: TableRequest, results: TableResults) -> TableFindings:
    """The findings of an audit of a table."""
    plan, risks = request.plan, results.risks
    people, original = plan.original.n_rows, original_findings(plan.table)
    adversaries = tuple(
        _adversary(plan, run, results.curve if run.rung.name == request.headline else None)
        for run in results.runs
    )
    headline = next(each for each in adversaries if each.name == request.headline)
    trusted = bool(results.checks) and all(check.passed for check in results.checks)
    read = readings(plan.table)
    return TableFindings(
        complete=results.complete,
        run=Run(software=f"standout {__version__}", finished_at=None, seed=plan.seed),
        data=summary(plan.table, request.name),
        original=original,
        reading=read,
        settings=_settings(request),
        trust=Trust(trusted=trusted, checks=tuple(results.checks)),
        answer=table_sentences.answer(headline, people, original),
        adversaries=adversaries,
        identity=risks.identity,
        column_sets=risks.column_sets,
        disclosure=risks.disclosure,
        learned=risks.learned,
        population=risks.population,
        verdict=table_sentences.verdict(
            headline, adversaries, risks.disclosure, risks.learned, plan.budget, trusted
        ),
        threshold=checked_threshold(request.fail_above, adversaries),
        limits=table_sentences.limits(
            headline,
            people=people,
            complete=results.complete,
            quick=request.quick,
            ignored=[name for reading in read for name in reading.ignored],
            further=request.limits,
        ),
        versions=software_versions(),
        before_after=before_after(results.before, request.headline, "table"),
    )


def _settings(request: TableRequest) -> TableSettings:
    plan = request.plan
    return TableSettings(
        targets=plan.targets,
        knows=plan.knows,
        phi=plan.phi,
        posterior=plan.posterior,
        budget=plan.budget,
        quick=request.quick,
        fail_above=request.fail_above,
        headline=request.headline,
        ladder=request.ladder,
        quasi_identifiers=request.quasi_identifiers,
        quasi_identifiers_reason=request.quasi_identifiers_reason,
        sensitive=request.sensitive,
        population=plan.population,
    )


def _adversary(plan: TablePlan, run: TableRun, curve: TableCurve | None) -> TableAdversaryFindings:
    rung, adversary = run.rung, run.rung.known
    return TableAdversaryFindings(
        name=rung.name,
        title=rung.title,
        description=describe_table_adversary(adversary, plan.original),
        gate=rung.gate,
        knows=adversary.most,
        wrong=adversary.wrong,
        choose=adversary.choose,
        columns=adversary.columns,
        errors=column_errors(adversary, plan.original),
        note=rung.note,
        too_few_cells=run.n_left_out,
        attack=run.strongest.name,
        attacks=tuple(_attack(plan, attack, curve) for attack in run.attacks),
        curve_note="" if curve is None else _curve_note(curve),
    )


def _attack(plan: TablePlan, run: TableAttackRun, curve: TableCurve | None) -> TableAttackFindings:
    points: tuple[TableCurvePoint, ...] = ()
    if curve is not None:
        points = tuple(
            TableCurvePoint(knows=knows, identified=identified)
            for knows, identified in zip(curve.knows, curve.identified[run.name], strict=True)
        )
    return TableAttackFindings(name=run.name, as_named=_measures(plan, run), curve=points)


def _measures(plan: TablePlan, run: TableAttackRun) -> TableMeasures:
    simulation, rates = run.simulation, run.simulation.population
    return TableMeasures(
        targets=len(simulation.targets),
        claims_by="posterior" if run.claims_by_posterior else "phi",
        threshold=plan.posterior if run.claims_by_posterior else plan.phi,
        identified=simulation.identified,
        identified_in_table=run.identified_in_table,
        correct_claims=simulation.correct_claims,
        wrong_claims=simulation.wrong_claims,
        absent_claims=simulation.absent_claims,
        threshold_at_budget=run.threshold_at_budget,
        correct_claims_at_budget=run.within.correct_claims,
        absent_claims_at_budget=run.within.absent_claims,
        bits_gained=simulation.bits_gained,
        bits_left=mean(simulation.verdicts.bits_left),
        stated_probability=float(min(simulation.verdicts.posterior.mean(), 1.0)),
        population=None
        if rates is None
        else TablePopulation(
            in_table=rates.in_table, identified=rates.identified, confidence=rates.confidence
        ),
    )


def _curve_note(curve: TableCurve) -> str:
    notes, adversary = [], curve.adversary
    if adversary.wrong:
        are = "is" if adversary.wrong == 1 else "are"
        notes.append(
            f"{adversary.wrong} of {adversary.most} attributes {are} wrong, and on average the same share of "
            "fewer attributes"
        )
    if curve.n_left_out:
        notes.append(f"the curve covers only people with at least {adversary.most} cells")
    return "; ".join(notes)
