"""From the results of an audit to its findings: the content of findings.json."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias, TypedDict

import numpy as np
import polars as pl

from standout._version import __version__
from standout.auditing import sentences
from standout.auditing.adversary_text import describe_adversary
from standout.auditing.exposure import (
    SensitiveList,
    by_first_date,
    by_length,
    by_popularity,
    facts_needed,
    revealed_categories,
)
from standout.auditing.grids import GridRun, grid_findings
from standout.auditing.runs import AdversaryRun, AttackRun, AuditPlan, control_of, envelope
from standout.auditing.theory_section import theory_findings, yardstick
from standout.data.release import Release
from standout.evaluate.cell import SimulationCell
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.simulation import Simulation
from standout.evaluate.targets import Population
from standout.findings.adversaries import (
    AdversaryBeforeAfter,
    AdversaryFindings,
    AttackFindings,
    CurvePoint,
    DateGroup,
    ErrorGrids,
    Exposure,
    MeasuresAsNamed,
    RankGroup,
    SensitiveItems,
    SizeGroup,
    before_after,
)
from standout.findings.audit import (
    AppliedStep,
    AuditFindings,
    Check,
    DataSummary,
    Original,
    Run,
    Settings,
    Theory,
    Trust,
    Yardstick,
)
from standout.findings.gate import LINEUP_MASS, checked_threshold
from standout.findings.json_types import software_versions, to_json_object
from standout.findings.reading import Reading, reading_of
from standout.know.sanitized import Sanitized
from standout.measure.sparsity import Sparsity

__all__ = ["AuditRequest", "AuditResults", "assemble_findings", "result_frames"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResults:
    """What the audit computed: adversaries in the order of the ladder, checks, grids, nearest neighbours."""

    runs: Sequence[AdversaryRun]
    checks: Sequence[Check]
    grids: Sequence[GridRun] | None
    sparsity: Sparsity | None
    before: Sequence[AdversaryBeforeAfter]
    complete: bool


def assemble_findings(request: AuditRequest, results: AuditResults) -> AuditFindings:
    """The findings of an audit."""
    plan, release = request.plan, request.plan.release
    people, original = plan.people.original.n_records, _original(release)
    runs = [run for run in results.runs if run.named_cell is not None]
    adversaries = tuple(_adversary(run, plan) for run in runs)
    index = next(i for i, run in enumerate(runs) if run.rung.name == request.headline)
    headline, headline_run = adversaries[index], runs[index]
    assert headline_run.as_named is not None
    settings = _settings(request)
    trusted = bool(results.checks) and all(check.passed for check in results.checks)
    sensitive_limit = request.sensitive.limit if request.sensitive else ""
    return AuditFindings(
        complete=results.complete,
        run=Run(software=f"standout {__version__}", finished_at=None, seed=plan.seed),
        data=DataSummary(name=request.name, **_size(release)),
        original=original,
        reading=_reading(release),
        settings=settings,
        trust=Trust(trusted=trusted, checks=tuple(results.checks)),
        answer=sentences.answer(headline, people, original),
        adversaries=adversaries,
        envelope=envelope(adversaries),
        error_grids=grid_findings(plan, headline_run, results.grids),
        yardstick=_yardstick(request, headline_run),
        exposure=_exposure(headline_run, request),
        theory=theory_findings(release, headline_run.as_named.criteria.similarity, results.sparsity, runs),
        verdict=sentences.verdict(headline, adversaries, settings, trusted),
        threshold=checked_threshold(request.fail_above, adversaries),
        limits=sentences.limits(
            headline,
            people=people,
            complete=results.complete,
            quick=request.quick,
            has_original=original is not None,
            further=[*request.limits, *filter(None, [sensitive_limit])],
        ),
        versions=software_versions(),
        before_after=before_after(results.before, request.headline, "release"),
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
    )


def _reading(release: Release) -> tuple[Reading, ...]:
    """How the release was read, and its original."""
    original = (reading_of(release.original, "original"),) if isinstance(release, Sanitized) else ()
    return (reading_of(release), *original)


class _Size(TypedDict):
    """Size and content of a data set, as `DataSummary` and `Original` hold it."""

    fingerprint: str
    records: int
    items: int
    entries: int
    repeats: int
    has_values: bool
    has_times: bool
    levels: int
    first: str | None
    last: str | None
    median_length: float
    rows_rejected: int
    synthetic: bool


def _size(release: Release) -> _Size:
    time_range = release.time_range
    return _Size(
        fingerprint=release.fingerprint,
        records=release.n_records,
        items=release.n_items,
        entries=release.n_entries,
        repeats=release.n_entries - int(release.support.sum()),
        has_values=release.n_levels > 0,
        has_times=release.span > 0,
        levels=release.n_levels,
        first=None if time_range is None else _day(time_range[0]),
        last=None if time_range is None else _day(time_range[1]),
        median_length=float(np.median(release.lengths)),
        rows_rejected=sum(release.provenance.rejected.values()),
        synthetic=Population.of(release).original.provenance.format == "synthetic",
    )


def _day(moment: date) -> str:
    return moment.isoformat()[:10]


def _original(release: Release) -> Original | None:
    """The original of a sanitized release."""
    if not isinstance(release, Sanitized):
        return None
    represented_by = release.mapping.representatives
    not_in_release = int(np.count_nonzero(represented_by < 0))
    shared_records = int(np.count_nonzero(np.bincount(represented_by[represented_by >= 0]) > 1))
    steps = tuple(AppliedStep(step=step.step, counts=step.counts) for step in release.step_reports)
    return Original(
        **_size(release.original),
        not_in_release=not_in_release,
        shared_records=shared_records,
        steps=steps,
        explanation=sentences.original_explanation(release.original.n_records, not_in_release, shared_records, steps),
    )


def _adversary(run: AdversaryRun, plan: AuditPlan) -> AdversaryFindings:
    rung, adversary, cell = run.rung, run.rung.adversary, run.named_cell
    assert cell is not None
    curve_too_few = run.curve_cells[0].too_few_items if run.curve_cells else 0
    attacks = tuple(_attack(run, part, plan) for part in run.attacks if run.named_cell_of(part) is not None)
    return AdversaryFindings(
        name=rung.name,
        title=rung.title,
        description=describe_adversary(adversary, plan.people.original),
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
        control=control_of(cell),
        curve=attacks[0].curve,
        attacks=attacks,
        curve_note=sentences.curve_note(
            adversary.knows, adversary.wrong, run.curve_adversary.knows, run.curve_adversary.wrong, curve_too_few
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


def _measures(simulation: Simulation | None, cell: SimulationCell, plan: AuditPlan) -> MeasuresAsNamed:
    """All measures of an adversary with one number of facts."""
    assert simulation is not None
    estimates: dict[tuple[str, str], Estimate] = {
        (measure, setting): estimate for measure, setting, estimate in simulation.measurements(cell)
    }
    threshold, at_budget = simulation.threshold, f"absent_claims<={plan.budget:g}"
    at_phi = threshold.setting
    return MeasuresAsNamed(
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
        lineup_mass=LINEUP_MASS,
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


def _curve_point(measures: MeasuresAsNamed, enough_for: int) -> CurvePoint:
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


# Findings as tidy tables, one for each part.


CellValue: TypeAlias = str | int | float | bool | None
Row: TypeAlias = tuple[CellValue, ...]
Columns: TypeAlias = dict[str, type[pl.DataType]]

TEXT, COUNT = pl.String, pl.Int64
ESTIMATE: Columns = {"estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": COUNT, "baseline": pl.Float64}
MEASURES: Columns = {"adversary": TEXT, "attack": TEXT, "facts": COUNT, "measure": TEXT, "setting": TEXT}
MEASURES |= ESTIMATE | {"too_few_items": COUNT}
ENVELOPE: Columns = {"among": TEXT, "facts": COUNT, "adversary": TEXT} | ESTIMATE
EXPOSURE: Columns = {"adversary": TEXT, "by": TEXT, "class": TEXT, "from": TEXT, "to": TEXT, "people": COUNT}
EXPOSURE |= ESTIMATE
SENSITIVE: Columns = {"adversary": TEXT, "category": TEXT, "items": COUNT, "people_with": COUNT}
SENSITIVE |= {"people_revealed": COUNT} | ESTIMATE
THEORY: Columns = {"what": TEXT, "setting": TEXT, "bound": COUNT} | ESTIMATE
THEORY |= {"statement": TEXT, "measured": TEXT}
CONTROL: Columns = {"adversary": TEXT, "attack": TEXT, "rate": TEXT} | ESTIMATE
GRIDS: Columns = {"adversary": TEXT, "varies": TEXT, "error": pl.Float64, "label": TEXT, "facts": COUNT}
GRIDS |= {"attack": TEXT} | ESTIMATE
CHECKS: Columns = {"name": TEXT, "title": TEXT, "expected": TEXT, "observed": TEXT}
CHECKS |= {"passed": pl.Boolean, "explanation": TEXT}
NO_ESTIMATE: Row = (None,) * len(ESTIMATE)


def result_frames(findings: AuditFindings) -> dict[str, pl.DataFrame]:
    """The tables by name."""
    checks = ((*(getattr(check, name) for name in CHECKS),) for check in findings.trust.checks)
    return {
        "adversaries": _frame(MEASURES, _adversaries(findings)),
        "control": _frame(CONTROL, _controls(findings)),
        "curves": _frame(MEASURES, _curves(findings)),
        "envelope": _frame(ENVELOPE, _envelope(findings)),
        "grids": _frame(GRIDS, _grids(findings.error_grids)),
        "exposure": _frame(EXPOSURE, _exposure_result_frames(findings.exposure)),
        "sensitive": _frame(SENSITIVE, _sensitive(findings.exposure.sensitive)),
        "theory": _frame(THEORY, _theory(findings.theory)),
        "checks": _frame(CHECKS, checks),
    }


def _frame(columns: Columns, rows: Iterable[Row]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=columns, orient="row")


def _estimate(estimate: Estimate) -> Row:
    """Value, ends of the interval, n and baseline; null for what is not finite."""
    plain = to_json_object(estimate)
    return tuple(plain[name] for name in ("value", "low", "high", "n", "baseline"))  # type: ignore[misc]


def _measures_result_frames(
    name: str, attack: AttackFindings, measures: MeasuresAsNamed | CurvePoint, too_few_items: int, settings: Settings
) -> Iterator[Row]:
    """Rows of one adversary and attack with one number of facts."""
    claims_by, threshold = attack.as_named.claims_by, attack.as_named.threshold
    at_threshold, at_budget = f"{claims_by}={threshold:g}", f"absent_claims<={settings.budget:g}"
    setting_of = dict.fromkeys(("correct_claims", "wrong_claims", "absent_claims"), at_threshold)
    setting_of |= {"in_top": f"top={settings.top}", "correct_claims_at_budget": at_budget}
    setting_of |= {"absent_claims_at_budget": at_budget}
    setting_of |= {"lineup_size": "mass=90 %"}
    for key in measures.__dataclass_fields__:
        estimate = getattr(measures, key)
        if isinstance(estimate, Estimate):
            measure = key.removesuffix("_at_budget")
            row = (name, attack.name, measures.facts, measure, setting_of.get(key, ""))
            yield (*row, *_estimate(estimate), too_few_items)
    chosen = (measures.threshold_at_budget, None, None, measures.absent_claims.n, None)
    yield (name, attack.name, measures.facts, claims_by, at_budget, *chosen, too_few_items)


def _adversaries(findings: AuditFindings) -> Iterator[Row]:
    for adversary in findings.adversaries:
        for attack in adversary.attacks:
            yield from _measures_result_frames(
                adversary.name, attack, attack.as_named, adversary.too_few_items, findings.settings
            )


def _curves(findings: AuditFindings) -> Iterator[Row]:
    for adversary in findings.adversaries:
        for attack in adversary.attacks:
            for point in attack.curve:
                is_named = point.enough_for == adversary.knows
                too_few = adversary.too_few_items if is_named else adversary.curve_too_few_items
                yield from _measures_result_frames(adversary.name, attack, point, too_few, findings.settings)


def _controls(findings: AuditFindings) -> Iterator[Row]:
    for adversary in findings.adversaries:
        control = adversary.control
        for name in ("main", "control", "difference", "residual"):
            estimate = getattr(control, name)
            numbers = NO_ESTIMATE if estimate is None else _estimate(estimate)
            yield (adversary.name, adversary.attack, name, *numbers)


def _grids(grids: ErrorGrids) -> Iterator[Row]:
    for grid in grids.grids:
        for row in grid.rows:
            for cell in row.cells:
                place = (grids.adversary, grid.varies, row.error, row.label, cell.facts, cell.attack)
                yield (*place, *_estimate(cell.identified))


def _envelope(findings: AuditFindings) -> Iterator[Row]:
    """The strongest of all adversaries, then the strongest of those that count for the threshold."""
    for point in findings.envelope:
        yield ("all", point.facts, point.adversary, *_estimate(point.identified))
    for point in findings.envelope:
        if point.gate_identified is not None:
            yield ("gate", point.facts, point.gate_adversary, *_estimate(point.gate_identified))


def _exposure_result_frames(exposure: Exposure) -> Iterator[Row]:
    name = exposure.adversary
    for row in exposure.facts_needed:
        label = f"at most {row.facts}"
        yield (name, "facts", label, None, str(row.facts), None, *_estimate(row.share))
    kinds: dict[str, Sequence[SizeGroup | RankGroup | DateGroup]] = {
        "length": exposure.by_length,
        "popularity": exposure.by_popularity,
        "first_date": exposure.by_first_date,
    }
    for kind, groups in kinds.items():
        for group in groups:
            ends = str(group.low), str(group.high)
            yield (name, kind, group.label, *ends, group.people, *_estimate(group.identified))


def _sensitive(sensitive: SensitiveItems | None) -> Iterator[Row]:
    if sensitive is None:
        return
    for row in sensitive.rows:
        counts = (row.category, row.items, row.people_with, row.people_revealed)
        yield (sensitive.adversary, *counts, *_estimate(row.revealed))


def _theory(theory: Theory) -> Iterator[Row]:
    for point in theory.sparsity.curve:
        setting = f"similarity>={point.epsilon:g}, {theory.sparsity.similarity}"
        yield ("nearest neighbour", setting, None, *_estimate(point.share), None, None)
    for bound in theory.bounds:
        yield (bound.theorem, bound.setting, bound.bound, *NO_ESTIMATE, bound.statement, bound.measured)
