"""From the results of an audit to its findings: the content of findings.json."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from standout._version import __version__
from standout.auditing import sentences
from standout.auditing.data_measures import theory_findings, yardstick
from standout.auditing.exposure import by_first_date, by_length, by_popularity, facts_needed, revealed_categories
from standout.auditing.findings_checks import checked_findings
from standout.auditing.runs import AdversaryRun, AttackRun, AuditPlan, GridRun, Varies, varying
from standout.data.release import Release
from standout.evaluate.compare import cross_fit
from standout.evaluate.estimates import Estimate, paired_difference, rate, rate_by_target
from standout.evaluate.simulation import SimulationCell
from standout.evaluate.targets import Population
from standout.findings.audit import (
    AppliedStep,
    AuditFindings,
    Check,
    DataSummary,
    Original,
    Run,
    Trust,
    Verdict,
    VerdictPart,
    checked_threshold,
)
from standout.findings.json_types import software_versions
from standout.findings.reading import reading_of
from standout.findings.sections import (
    AdversaryBeforeAfter,
    AdversaryFindings,
    AttackFindings,
    Control,
    CurvePoint,
    EnvelopePoint,
    ErrorGrid,
    ErrorGrids,
    ErrorRow,
    Exposure,
    GridCell,
    Measures,
    PopulationClaims,
    SensitiveItems,
    before_after,
)
from standout.know.adversary import Adversary, has_own_draws
from standout.know.sanitized import Sanitized
from standout.measure.sparsity import Sparsity

LINEUP_SETTING = "mass=90 %"


@dataclass(slots=True, kw_only=True)
class AuditResults:
    """What the audit computed so far: adversaries in the order of the ladder, checks, and sections."""

    runs: dict[str, AdversaryRun] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    grids: Sequence[GridRun] | None = None
    sparsity: Sparsity | None = None
    of_columns: dict[str, Any] = field(default_factory=dict)
    before: list[AdversaryBeforeAfter] = field(default_factory=list)
    complete: bool = False


def assemble_findings(plan: AuditPlan, results: AuditResults) -> AuditFindings:
    """The findings of an audit, after a check of their numbers."""
    release, settings = plan.release, plan.settings
    original, data = original_findings(release), DataSummary(name=plan.name, **_size(release))
    runs = {name: run for name, run in results.runs.items() if run.strongest.cell is not None}
    main, adversaries = runs[settings.headline], tuple(_adversary(run, plan) for run in runs.values())
    headline = next(each for each in adversaries if each.name == settings.headline)
    read = [reading_of(release)]
    if isinstance(release, Sanitized):
        read.append(reading_of(release.original, "original"))
    nothing = VerdictPart(title="", answer="partly", explanation="", rate=headline.as_named.identified)
    sections = {**results.of_columns}
    if not release.columns:
        similarity = main.strongest.simulation.criteria.similarity
        sections["error_grids"] = grid_findings(plan, main, results.grids)
        sections["exposure"] = _exposure(main, plan)
        sections["theory"] = theory_findings(release, similarity, results.sparsity, [*runs.values()])
        if settings.ladder == "default":
            sections["yardstick"] = yardstick(main.rung.name, main.rung.adversary, plan.people.original)
    findings = AuditFindings(
        complete=results.complete,
        run=Run(software=f"standout {__version__}", finished_at=None, seed=plan.seed),
        data=data,
        original=original,
        reading=tuple(read),
        settings=settings,
        trust=Trust(trusted=bool(results.checks), checks=tuple(results.checks)),
        answer=sentences.answer(headline, data, original),
        adversaries=adversaries,
        envelope=envelope(adversaries),
        verdict=Verdict(summary="", singling_out=nothing, linkability=nothing, inference=nothing),  # decided below
        threshold=checked_threshold(settings.fail_above, adversaries),
        limits=(),
        versions=software_versions(),
        before_after=before_after(results.before, settings.headline),
        **sections,
    )
    further = [*plan.limits, *([plan.sensitive.limit] if plan.sensitive and plan.sensitive.limit else [])]
    findings = replace(findings, limits=sentences.limits(findings, further))
    return checked_findings(findings, plan, runs, results.grids or ())


def _size(release: Release) -> dict[str, Any]:
    """The fields of a `DataSize`."""
    time_range = release.time_range
    return {
        "fingerprint": release.fingerprint,
        "records": release.n_records,
        "columns": release.n_columns,
        "attributes": len(release.attributes),
        "missing_cells": sum(int(column.counts[-1]) for column in release.columns),
        "items": release.n_items,
        "entries": release.n_entries,
        "repeats": release.n_entries - int(release.support.sum()),
        "has_values": release.n_levels > 0,
        "has_times": release.span > 0,
        "levels": release.n_levels,
        "first": None if time_range is None else time_range[0].isoformat()[:10],
        "last": None if time_range is None else time_range[1].isoformat()[:10],
        "median_length": float(np.median(release.lengths)),
        "rows_rejected": sum(release.provenance.rejected.values()),
        "synthetic": Population.of(release).original.provenance.format == "synthetic",
    }


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
    rung, adversary, cell, longest = run.rung, run.rung.adversary, run.strongest.cell, run.curve_adversary
    assert cell is not None
    original, columns = plan.people.original, bool(plan.release.columns)
    attacks = tuple(_attack(run, part, plan) for part in run.attacks if part.cell is not None)
    curve_note, too_few = "", 0
    if longest is not None and not run.strongest.curve:
        curve_note = "the audit was interrupted before the curve"
    elif longest is not None:
        too_few = original.n_records - int(np.count_nonzero(longest.eligible(original, np.arange(original.n_records))))
        named = longest if columns else adversary
        parts = "cells" if columns else "entries"
        curve_note = sentences.curve_note(named.knows, named.wrong, longest.knows, longest.wrong, too_few, parts)
    same = ("knows", "wrong", "wrong_facts", "length_error", "joined_error", "columns")
    return AdversaryFindings(
        name=rung.name,
        title=rung.title,
        description=f"Knows {sentences.describe_adversary(adversary, original)}.",
        gate=rung.gate,
        **{name: getattr(adversary, name) for name in same},
        value_error=None if columns else adversary.value_error,
        time_error=None if columns else adversary.time_error,
        items=str(adversary.items),
        errors=sentences.column_errors(adversary, original),
        note=rung.note,
        too_few_items=cell.too_few_items,
        attack=attacks[0].name,
        as_named=attacks[0].as_named,
        control=_control(cell),
        curve=attacks[0].curve,
        attacks=attacks,
        curve_note=curve_note,
        curve_too_few_items=too_few,
    )


def _attack(run: AdversaryRun, part: AttackRun, plan: AuditPlan) -> AttackFindings:
    assert part.cell is not None
    most = 0 if run.curve_adversary is None else run.curve_adversary.knows
    points = tuple(
        CurvePoint(
            enough_for=most if cell.facts <= most else run.rung.adversary.knows,
            **_estimates(CurvePoint, part, cell, plan),
        )
        for cell in (*part.curve, *part.further)
    )
    cell, rates = part.cell, part.cell.population
    is_present = plan.people.record_of(cell.targets) >= 0
    as_named = Measures(
        targets=len(cell.outcomes),
        claims_by="posterior" if cell.threshold.by_posterior else "phi",
        threshold=cell.threshold.value,
        identified_in_release=rate_by_target(cell.outcomes.identified[is_present], 1 / plan.release.n_records),
        stated_probability=float(cell.outcomes.best_probability.mean()),
        population=None
        if rates is None
        else PopulationClaims(in_release=rates.in_table, identified=rates.identified, confidence=rates.confidence),
        **_estimates(Measures, part, cell, plan),
    )
    return AttackFindings(name=part.name, as_named=as_named, curve=points)


def _estimates(kind: type, part: AttackRun, cell: SimulationCell, plan: AuditPlan) -> dict[str, Any]:
    """The measures of a cell that this kind of finding has, as far as the attack has them."""
    names, at_budget = {each.name for each in fields(kind)}, f"absent_claims<={plan.settings.budget:g}"
    settings = {"", f"top={plan.settings.top}", cell.threshold.setting, LINEUP_SETTING, at_budget}
    numbers: dict[str, Any] = {"facts": cell.facts}
    for measure, setting, estimate in cell.measurements(part.simulation.criteria, plan.settings.budget):
        name = f"{measure}_at_budget" if setting == at_budget else measure
        if name == f"{cell.threshold.measure}_at_budget":
            numbers["threshold_at_budget"] = estimate.value
        elif name in names and setting in settings:
            numbers[name] = estimate
    return numbers


# The control of an adversary: the same attack on people who are not in the data.
#
# As in Anonymeter (Giomi et al., PoPETs 2023), a main attack on people in the data is compared with a control
# attack on people who are not in it. Here the control is each target after its record is removed. A claim about
# somebody who is not in the data is always wrong, so the control shows how often the adversary is sure without
# reason.


def _control(cell: SimulationCell) -> Control:
    """Correct claims about targets in the data, and claims about the same targets without their records."""
    outcomes, threshold = cell.outcomes, cell.threshold.strength
    main = (outcomes.claim_strength >= threshold) & (outcomes.identified == 1.0)
    control = outcomes.absent_claim_strength >= threshold
    main_rate, control_rate = rate_by_target(main), rate_by_target(control)
    return Control(
        main=main_rate,
        control=control_rate,
        difference=paired_difference(main.mean(axis=1), control.mean(axis=1)),
        residual=residual(main_rate, control_rate),
    )


def residual(main: Estimate, control: Estimate) -> Estimate | None:
    """Anonymeter's risk: (main − control) / (1 − control), at least 0; None if the control always claims.

    The ends of its interval combine how far it moves with each end of the main and of the control rate, as
    Newcombe's interval of a difference does.

    >>> round(residual(rate(90, 100), rate(20, 100)).value, 3)
    0.875
    """
    if control.value >= 1.0:
        return None

    def of(main: float, control: float) -> float:
        return (main - control) / (1.0 - control) if control < 1.0 else -math.inf

    value = of(main.value, control.value)
    below = math.hypot(value - of(main.low, control.value), value - of(main.value, control.high))
    above = math.hypot(value - of(main.high, control.value), value - of(main.value, control.low))
    low, middle, high = (min(max(end, 0.0), 1.0) for end in (value - below, value, value + above))
    return Estimate(middle, low, high, main.n)


def envelope(adversaries: Sequence[AdversaryFindings]) -> tuple[EnvelopePoint, ...]:
    """The highest identified rate at each number of facts, as named or on a curve; the first among equals."""
    by_facts: dict[int, list[tuple[AdversaryFindings, Estimate]]] = {}
    for each in adversaries:
        points: list[Measures | CurvePoint] = [each.as_named, *each.curve]
        for point in points:
            by_facts.setdefault(point.facts, []).append((each, point.identified))
    found = []
    for facts, rates in sorted(by_facts.items()):
        ranked = sorted(rates, key=lambda pair: -pair[1].value)
        gate, of_gate = next(((each.name, rate) for each, rate in ranked if each.gate), (None, None))
        strongest, identified = ranked[0]
        found.append(
            EnvelopePoint(
                facts=facts,
                adversary=strongest.name,
                identified=identified,
                gate_adversary=gate,
                gate_identified=of_gate,
            )
        )
    return tuple(found)


def _exposure(headline: AdversaryRun, plan: AuditPlan) -> Exposure:
    """Who is exposed to the headline adversary."""
    people, cell, adversary, name = plan.people, headline.strongest.cell, headline.rung.adversary, headline.rung.name
    assert cell is not None
    truth, listed, sensitive = people.original, plan.sensitive, None
    known = adversary.observe_all(truth, cell.targets, plan.seed)
    if listed is not None:
        eligible = adversary.eligible(truth, np.arange(truth.n_records))
        sensitive = SensitiveItems(
            file=listed.file,
            items_listed=listed.lines,
            items_in_release=listed.matched,
            adversary=name,
            rows=revealed_categories(people, listed, cell, known, eligible),
        )
    return Exposure(
        adversary=name,
        facts_needed=facts_needed(headline.strongest.curve),
        by_length=by_length(truth, cell),
        by_popularity=by_popularity(truth, cell, known),
        by_first_date=by_first_date(truth, cell),
        sensitive=sensitive,
    )


# From the attacks of the grids to their findings, with what is fixed in words.


def grid_findings(plan: AuditPlan, headline: AdversaryRun, grids: Sequence[GridRun] | None) -> ErrorGrids:
    """The grids of the headline adversary, and why one is missing; None if the audit was interrupted before them."""
    adversary, cell, original = headline.rung.adversary, headline.strongest.cell, plan.people.original
    assert cell is not None
    n, present, note = plan.release.n_records, varying(plan.release, original), ""
    if grids is None:
        note = "The audit was interrupted before the grids."
    elif has_own_draws(adversary):
        note = "The adversary draws its facts in a way of its own, so its errors cannot be varied."
    elif not present:
        note = (
            "The data has neither dates nor values, so there are no grids of their errors. Only the number "
            "of facts varies: see the chart by number of known facts."
        )
    elif len(present) == 1:
        missing = "values" if "value_error" not in present else "dates"
        note = f"The data has no {missing}, so there is no grid of their errors."
    return ErrorGrids(
        adversary=headline.rung.name,
        at_least=adversary.knows,
        too_few_items=cell.too_few_items,
        grids=tuple(
            ErrorGrid(
                varies=grid.varies,
                fixed=_fixed(original, adversary, grid),
                targets=len(grid.targets),
                rows=tuple(
                    ErrorRow(
                        error=level.error,
                        label=_label(level.error, grid.varies),
                        is_own=level.error == getattr(adversary, grid.varies),
                        cells=tuple(
                            GridCell(
                                facts=size,
                                identified=rate(min(float(found.sum()), len(found)), len(found), 1 / n),
                                attack=attack,
                            )
                            for column, size in enumerate(grid.sizes)
                            for attack, found in [cross_fit({name: of[:, column] for name, of in success.items()})]
                        ),
                    )
                    for level, success in zip(grid.levels, grid.success, strict=True)
                ),
            )
            for grid in grids or ()
        ),
        note=note,
    )


def _label(error: float | None, varies: Varies) -> str:
    if not error:
        return "not known" if error is None else "exact"
    return f"± {sentences.time_text(error) if varies == 'time_error' else f'{error:g}'}"


def _fixed(original: Release, adversary: Adversary, grid: GridRun) -> str:
    """What is the same in all cells: the other error, the wrong facts, and which items are known."""
    parts = list[str]()
    other: Varies = "value_error" if grid.varies == "time_error" else "time_error"
    if original.n_levels if other == "value_error" else original.span:
        error = getattr(adversary, other)
        label = _label(error, other)
        known = f"known to {label}" if error else label if error is None else "known exactly"
        parts.append(f"{'values' if other == 'value_error' else 'dates'} are {known}")
    if adversary.wrong:
        wrong_items = any(level.adversary.wrong_facts != adversary.wrong_facts for level in grid.levels)
        lacks = "; where nothing but items is known, a wrong fact is an item that the record lacks"
        parts.append(
            f"{adversary.wrong} of {adversary.knows} facts are wrong, and on average the same share of fewer "
            f"facts{lacks if wrong_items else ''}"
        )
    kinds = {"popular": "popular items", "rarest": "the rarest items", "recent": "the latest items"}
    kinds |= {"burst": "items close in time"}
    choice = str(adversary.items)
    if choice != "any":
        parts.append(f"the facts are about {kinds.get(choice, choice.replace('_', ' '))}")
    return "; ".join(parts)
