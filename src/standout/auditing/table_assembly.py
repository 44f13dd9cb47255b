"""From the results of an audit of a table to its findings."""

from collections.abc import Sequence
from dataclasses import dataclass

from standout._version import __version__
from standout.auditing import sentences
from standout.auditing.adversary_text import column_errors, describe_adversary
from standout.auditing.assemble_findings import original_findings, readings, summary
from standout.auditing.runs import control_of, envelope
from standout.auditing.table_measures import RiskResults
from standout.auditing.table_runs import TableAttackRun, TableCurve, TablePlan, TableRun
from standout.evaluate.estimates import mean
from standout.findings.adversaries import (
    AdversaryBeforeAfter,
    AdversaryFindings,
    AttackFindings,
    CurvePoint,
    Measures,
    PopulationClaims,
    before_after,
)
from standout.findings.audit import AuditFindings, Check, Run, Settings, Trust
from standout.findings.gate import checked_threshold
from standout.findings.json_types import software_versions

TOP = 10


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


def assemble_table_findings(request: TableRequest, results: TableResults) -> AuditFindings:
    """The findings of an audit of a table."""
    plan, risks = request.plan, results.risks
    people, data, original = plan.original.n_records, summary(plan.table, request.name), original_findings(plan.table)
    adversaries = tuple(
        _adversary(plan, run, results.curve if run.rung.name == request.headline else None) for run in results.runs
    )
    headline = next(each for each in adversaries if each.name == request.headline)
    trusted = bool(results.checks) and all(check.passed for check in results.checks)
    read = readings(plan.table)
    return AuditFindings(
        complete=results.complete,
        run=Run(software=f"standout {__version__}", finished_at=None, seed=plan.seed),
        data=data,
        original=original,
        reading=read,
        settings=Settings(
            targets=plan.targets,
            facts=plan.knows,
            phi=plan.phi,
            posterior=plan.posterior,
            budget=plan.budget,
            top=TOP,
            quick=request.quick,
            fail_above=request.fail_above,
            headline=request.headline,
            ladder=request.ladder,
            quasi_identifiers=request.quasi_identifiers,
            quasi_identifiers_reason=request.quasi_identifiers_reason,
            sensitive=request.sensitive,
            population=plan.population,
        ),
        trust=Trust(trusted=trusted, checks=tuple(results.checks)),
        answer=sentences.answer(headline, people, data, original),
        adversaries=adversaries,
        envelope=envelope(adversaries),
        classes=risks.identity,
        column_sets=risks.column_sets,
        disclosure=risks.disclosure,
        learned=risks.learned,
        population=risks.population,
        verdict=sentences.verdict(adversaries, headline, data, plan.budget, risks.disclosure, risks.learned, trusted),
        threshold=checked_threshold(request.fail_above, adversaries),
        limits=sentences.limits(
            headline,
            people=people,
            parts=data.parts,
            complete=results.complete,
            quick=request.quick,
            has_original=original is not None,
            ignored=[column.name for reading in read for column in reading.unused],
            further=request.limits,
        ),
        versions=software_versions(),
        before_after=before_after(results.before, request.headline),
    )


def _adversary(plan: TablePlan, run: TableRun, curve: TableCurve | None) -> AdversaryFindings:
    rung, adversary = run.rung, run.rung.adversary
    attacks = tuple(_attack(plan, attack, adversary.knows, curve) for attack in run.attacks)
    return AdversaryFindings(
        name=rung.name,
        title=rung.title,
        description=f"Knows {describe_adversary(adversary, plan.original)}.",
        gate=rung.gate,
        knows=adversary.knows,
        wrong=adversary.wrong,
        items=str(adversary.items),
        columns=adversary.columns,
        errors=column_errors(adversary, plan.original),
        note=rung.note,
        too_few_items=run.n_left_out,
        attack=run.strongest.name,
        as_named=attacks[0].as_named,
        control=control_of(*run.strongest.simulation.claims),
        curve=attacks[0].curve,
        attacks=attacks,
        curve_note=""
        if curve is None
        else sentences.curve_note(
            curve.adversary.knows,
            curve.adversary.wrong,
            curve.adversary.knows,
            curve.adversary.wrong,
            curve.n_left_out,
            "cells",
        ),
        curve_too_few_items=0 if curve is None else curve.n_left_out,
    )


def _attack(plan: TablePlan, run: TableAttackRun, knows: int, curve: TableCurve | None) -> AttackFindings:
    points = () if curve is None else tuple(zip(curve.knows, curve.identified[run.name], strict=True))
    return AttackFindings(
        name=run.name,
        as_named=_measures(plan, run, knows),
        curve=tuple(
            CurvePoint(facts=facts, enough_for=points[-1][0], identified=identified) for facts, identified in points
        ),
    )


def _measures(plan: TablePlan, run: TableAttackRun, knows: int) -> Measures:
    simulation, rates = run.simulation, run.simulation.population
    return Measures(
        facts=knows,
        targets=len(simulation.targets),
        claims_by="posterior" if run.claims_by_posterior else "phi",
        threshold=plan.posterior if run.claims_by_posterior else plan.phi,
        identified=simulation.identified,
        identified_in_release=run.identified_in_table,
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
        else PopulationClaims(in_release=rates.in_table, identified=rates.identified, confidence=rates.confidence),
    )
