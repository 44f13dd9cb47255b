"""From the results of an audit to its findings: the content of findings.json."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from standout._version import __version__
from standout.auditing import sentences
from standout.auditing.adversary_text import column_errors, describe_adversary
from standout.auditing.exposure import (
    SensitiveList,
    by_first_date,
    by_length,
    by_popularity,
    facts_needed,
    revealed_categories,
)
from standout.auditing.grids import GridRun, grid_findings
from standout.auditing.runs import AdversaryRun, AttackRun, AuditPlan, control_of, control_of_cell, envelope
from standout.auditing.table_measures import RiskResults
from standout.auditing.table_runs import TableAttackRun, TableCurve, TableRun
from standout.auditing.theory_section import theory_findings, yardstick
from standout.core.arrays import Floats
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, mean, rate
from standout.evaluate.simulation import Simulation, SimulationCell
from standout.evaluate.targets import Population
from standout.findings.adversaries import (
    AdversaryBeforeAfter,
    AdversaryFindings,
    AttackFindings,
    CurvePoint,
    Measures,
    PopulationClaims,
    before_after,
)
from standout.findings.audit import (
    AppliedStep,
    AuditFindings,
    Check,
    DataSize,
    DataSummary,
    Original,
    Run,
    Settings,
    Trust,
)
from standout.findings.gate import checked_threshold
from standout.findings.json_types import software_versions
from standout.findings.reading import Reading, reading_of
from standout.findings.sections import Exposure, SensitiveItems, Yardstick
from standout.know.sanitized import Sanitized
from standout.measure.sparsity import Sparsity

LINEUP_SETTING = "mass=90 %"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """What the caller asked of the audit."""

    plan: AuditPlan
    headline: str
    ladder: str
    quick: bool
    fail_above: float | None
    name: str
    limits: tuple[str, ...]
    sensitive: SensitiveList | None
    quasi_identifiers: tuple[str, ...] = ()
    quasi_identifiers_reason: str = ""
    sensitive_columns: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class AuditResults:
    """What the audit computed so far: adversaries in the order of the ladder, checks, and sections."""

    runs: dict[str, AdversaryRun] = field(default_factory=dict)
    table_runs: dict[str, TableRun] = field(default_factory=dict)
    curve: TableCurve | None = None
    checks: list[Check] = field(default_factory=list)
    grids: Sequence[GridRun] | None = None
    sparsity: Sparsity | None = None
    risks: RiskResults = field(default_factory=RiskResults)
    before: list[AdversaryBeforeAfter] = field(default_factory=list)
    complete: bool = False


def assemble_findings(request: AuditRequest, results: AuditResults) -> AuditFindings:
    """The findings of an audit."""
    plan, release, risks = request.plan, request.plan.release, results.risks
    people, data, original = plan.original.n_records, summary(release, request.name), original_findings(release)
    runs = {name: run for name, run in results.runs.items() if run.named_cell is not None}
    adversaries = tuple(_adversary(run, plan) for run in runs.values())
    if results.table_runs:
        curves = {request.headline: results.curve}
        adversaries = tuple(_table_adversary(plan, run, curves.get(name)) for name, run in results.table_runs.items())
    headline = next(each for each in adversaries if each.name == request.headline)
    trusted = bool(results.checks) and all(check.passed for check in results.checks)
    sensitive_limit = request.sensitive.limit if request.sensitive else ""
    read, entries = readings(release), runs.get(request.headline)
    findings = AuditFindings(
        complete=results.complete,
        run=Run(software=f"standout {__version__}", finished_at=None, seed=plan.seed),
        data=data,
        original=original,
        reading=read,
        settings=_settings(request),
        trust=Trust(trusted=trusted, checks=tuple(results.checks)),
        answer=sentences.answer(headline, people, data, original),
        adversaries=adversaries,
        envelope=envelope(adversaries),
        classes=risks.classes,
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
            ignored=[column.name for reading in read for column in reading.unused] if data.columns else (),
            further=[*request.limits, *filter(None, [sensitive_limit])],
        ),
        versions=software_versions(),
        before_after=before_after(results.before, request.headline),
    )
    if entries is None:
        return findings
    assert entries.as_named is not None
    similarity = entries.as_named.criteria.similarity
    return replace(
        findings,
        error_grids=grid_findings(plan, entries, results.grids),
        yardstick=_yardstick(request, entries),
        exposure=_exposure(entries, request),
        theory=theory_findings(release, similarity, results.sparsity, list(runs.values())),
    )


def _yardstick(request: AuditRequest, headline: AdversaryRun) -> Yardstick | None:
    rung = headline.rung
    is_default = request.ladder == "default"
    return yardstick(rung.name, rung.adversary, request.plan.people.original) if is_default else None


def _settings(request: AuditRequest) -> Settings:
    plan = request.plan
    return Settings(
        targets=plan.targets,
        facts=plan.facts,
        phi=plan.phi,
        posterior=plan.posterior,
        budget=plan.budget,
        top=plan.top,
        quick=request.quick,
        fail_above=request.fail_above,
        headline=request.headline,
        ladder=request.ladder,
        quasi_identifiers=request.quasi_identifiers,
        quasi_identifiers_reason=request.quasi_identifiers_reason,
        sensitive=request.sensitive_columns,
        population=plan.population,
    )


def readings(release: Release) -> tuple[Reading, ...]:
    """How the release was read, and its original."""
    original = (reading_of(release.original, "original"),) if isinstance(release, Sanitized) else ()
    return (reading_of(release), *original)


def summary(release: Release, name: str) -> DataSummary:
    """Name and size of a release."""
    return DataSummary(name=name, **_size(release))


def _size(release: Release) -> dict[str, Any]:
    """The fields of a `DataSize`."""
    time_range = release.time_range
    size = DataSize(
        fingerprint=release.fingerprint,
        records=release.n_records,
        columns=release.n_columns,
        attributes=len(release.attributes),
        missing_cells=sum(int(column.counts[-1]) for column in release.columns),
        items=release.n_items,
        entries=release.n_entries,
        repeats=release.n_entries - int(release.support.sum()),
        has_values=release.n_levels > 0,
        has_times=release.span > 0,
        levels=release.n_levels,
        first=None if time_range is None else time_range[0].isoformat()[:10],
        last=None if time_range is None else time_range[1].isoformat()[:10],
        median_length=float(np.median(release.lengths)),
        rows_rejected=sum(release.provenance.rejected.values()),
        synthetic=Population.of(release).original.provenance.format == "synthetic",
    )
    return {field.name: getattr(size, field.name) for field in fields(size)}


def original_findings(release: Release) -> Original | None:
    """The original of a sanitized release."""
    if not isinstance(release, Sanitized):
        return None
    represented_by = release.mapping.representatives
    missing = int(np.count_nonzero(represented_by < 0))
    shared = int(np.count_nonzero(np.bincount(represented_by[represented_by >= 0]) > 1))
    dropped = tuple(name for name in release.original.column_names if name not in release.column_names)
    steps = tuple(AppliedStep(step=step.step, counts=step.counts) for step in release.step_reports)
    return Original(
        **_size(release.original),
        not_in_release=missing,
        shared_records=shared,
        dropped=dropped,
        steps=steps,
        explanation=sentences.original_explanation(release.original.n_records, missing, shared, dropped, steps),
    )


def _adversary(run: AdversaryRun, plan: AuditPlan) -> AdversaryFindings:
    rung, adversary, cell = run.rung, run.rung.adversary, run.named_cell
    assert cell is not None
    curve_too_few = run.curve_cells[0].too_few_items if run.curve_cells else 0
    attacks = tuple(_attack(run, part, plan) for part in run.attacks if run.named_cell_of(part) is not None)
    return AdversaryFindings(
        name=rung.name,
        title=rung.title,
        description=f"Knows {describe_adversary(adversary, plan.people.original)}.",
        gate=rung.gate,
        knows=adversary.knows,
        wrong=adversary.wrong,
        wrong_facts=adversary.wrong_facts,
        value_error=adversary.value_error,
        time_error=adversary.time_error,
        items=str(adversary.items),
        length_error=adversary.length_error,
        joined_error=adversary.joined_error,
        note=rung.note,
        too_few_items=cell.too_few_items,
        attack=attacks[0].name,
        as_named=attacks[0].as_named,
        control=control_of_cell(cell),
        curve=attacks[0].curve,
        attacks=attacks,
        curve_note=sentences.curve_note(
            adversary.knows,
            adversary.wrong,
            run.curve_adversary.knows,
            run.curve_adversary.wrong,
            curve_too_few,
            "entries",
        )
        if run.curve_cells
        else "the audit was interrupted before the curve",
        curve_too_few_items=curve_too_few,
    )


def _attack(run: AdversaryRun, part: AttackRun, plan: AuditPlan) -> AttackFindings:
    cell = run.named_cell_of(part)
    assert cell is not None
    most, knows = run.curve_adversary.knows, run.rung.adversary.knows
    return AttackFindings(
        name=part.name,
        as_named=_measures(part.as_named, cell, plan),
        curve=tuple(
            _curve_point(_measures(simulation, point, plan), most if point.facts <= most else knows)
            for simulation, point in run.points_of(part)
        ),
    )


def _measures(simulation: Simulation | None, cell: SimulationCell, plan: AuditPlan) -> Measures:
    """All measures of an adversary with one number of facts."""
    assert simulation is not None
    estimates: dict[tuple[str, str], Estimate] = {
        (measure, setting): estimate for measure, setting, estimate in simulation.measurements(cell)
    }
    threshold, at_budget = simulation.threshold, f"absent_claims<={plan.budget:g}"
    at_phi = threshold.setting
    return Measures(
        facts=cell.facts,
        targets=len(cell.outcomes),
        claims_by="posterior" if threshold.by_posterior else "phi",
        threshold=threshold.value,
        identified=estimates["identified", ""],
        identified_in_release=_identified_in_release(cell, plan),
        in_top=estimates["in_top", f"top={plan.top}"],
        correct_claims=estimates["correct_claims", at_phi],
        wrong_claims=estimates["wrong_claims", at_phi],
        absent_claims=estimates["absent_claims", at_phi],
        threshold_at_budget=estimates[threshold.measure, at_budget].value,
        correct_claims_at_budget=estimates["correct_claims", at_budget],
        absent_claims_at_budget=estimates["absent_claims", at_budget],
        bits_gained=estimates["bits_gained", ""],
        bits_left=estimates["bits_left", ""],
        lineup_size=estimates.get(("lineup_size", LINEUP_SETTING)),
        revealed=estimates["revealed", ""],
        revealed_correct=estimates["revealed_correct", ""],
        revealed_correct_share=estimates["revealed_correct_share", ""],
        stated_probability=float(cell.outcomes.best_probability.mean()),
        calibration_bias=estimates["calibration_bias", ""],
    )


def _identified_in_release(cell: SimulationCell, plan: AuditPlan) -> Estimate:
    """Share of identified targets among those whom a record of the release represents."""
    is_present = plan.people.record_of(cell.targets) >= 0
    correct, n = cell.outcomes.identified.mean(axis=1)[is_present], int(is_present.sum())
    return rate(min(float(correct.sum()), n), n, 1 / plan.release.n_records)


def _curve_point(measures: Measures, enough_for: int) -> CurvePoint:
    return CurvePoint(
        facts=measures.facts,
        enough_for=enough_for,
        identified=measures.identified,
        correct_claims=measures.correct_claims,
        absent_claims=measures.absent_claims,
        threshold_at_budget=measures.threshold_at_budget,
        correct_claims_at_budget=measures.correct_claims_at_budget,
        bits_gained=measures.bits_gained,
        lineup_size=measures.lineup_size,
    )


def _exposure(headline: AdversaryRun, request: AuditRequest) -> Exposure:
    """Who is exposed to the headline adversary."""
    people, cell, adversary = request.plan.people, headline.named_cell, headline.rung.adversary
    truth = people.original
    assert cell is not None
    known = adversary.observe_all(truth, cell.targets, request.plan.seed)
    sensitive = None
    if request.sensitive is not None:
        eligible = adversary.eligible(truth, np.arange(truth.n_records))
        sensitive = SensitiveItems(
            file=request.sensitive.file,
            items_listed=request.sensitive.lines,
            items_in_release=request.sensitive.matched,
            adversary=headline.rung.name,
            rows=revealed_categories(people, request.sensitive, cell, known, eligible),
        )
    return Exposure(
        adversary=headline.rung.name,
        facts_needed=facts_needed(headline),
        by_length=by_length(truth, cell),
        by_popularity=by_popularity(truth, cell, known),
        by_first_date=by_first_date(truth, cell),
        sensitive=sensitive,
    )


# Adversaries who attack columns.


def _table_adversary(plan: AuditPlan, run: TableRun, curve: TableCurve | None) -> AdversaryFindings:
    """Findings about one adversary; only the headline adversary has a curve."""
    rung, adversary = run.rung, run.rung.adversary
    attacks = tuple(_table_attack(plan, attack, adversary.knows, curve) for attack in run.attacks)
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
        control=control_of(*_claims_of_targets(run.strongest)),
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


def _table_attack(plan: AuditPlan, run: TableAttackRun, knows: int, curve: TableCurve | None) -> AttackFindings:
    points = () if curve is None else tuple(zip(curve.knows, curve.identified[run.name], strict=True))
    return AttackFindings(
        name=run.name,
        as_named=_table_measures(plan, run, knows),
        curve=tuple(
            CurvePoint(facts=facts, enough_for=points[-1][0], identified=identified) for facts, identified in points
        ),
    )


def _claims_of_targets(run: TableAttackRun) -> tuple[Floats, Floats]:
    """For each target, whether it is claimed rightly, and whether a row is claimed after its own is removed."""
    outcomes, least = run.cell.outcomes, run.cell.threshold.strength
    right = (outcomes.identified == 1.0) & (outcomes.claim_strength >= least)
    return right[:, 0].astype(float), (outcomes.absent_claim_strength[:, 0] >= least).astype(float)


def _table_measures(plan: AuditPlan, run: TableAttackRun, knows: int) -> Measures:
    cell, rates, claims, n = run.cell, run.cell.population, run.cell.claims, len(run.cell.targets)
    return Measures(
        facts=knows,
        targets=n,
        claims_by="posterior" if run.claims_by_posterior else "phi",
        threshold=plan.posterior if run.claims_by_posterior else plan.phi,
        identified=cell.identified,
        identified_in_release=run.identified_in_table,
        in_top=rate(min(float(cell.outcomes.in_top.sum()), n), n, min(plan.top / plan.release.n_records, 1.0)),
        correct_claims=claims.correct_claims,
        wrong_claims=claims.wrong_claims,
        absent_claims=claims.absent_claims,
        threshold_at_budget=run.threshold_at_budget,
        correct_claims_at_budget=run.within.correct_claims,
        absent_claims_at_budget=run.within.absent_claims,
        bits_gained=cell.bits_gained,
        bits_left=mean(run.verdicts.bits_left),
        stated_probability=float(min(run.verdicts.posterior.mean(), 1.0)),
        population=None
        if rates is None
        else PopulationClaims(in_release=rates.in_table, identified=rates.identified, confidence=rates.confidence),
    )
