"""From the results of an audit of a table to its findings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from standout._version import __version__
from standout.attack.table_scores import representing_rows
from standout.auditing import table_sentences
from standout.auditing.table_ladder import column_errors, describe_table_adversary, error_text, listed
from standout.auditing.table_measures import RiskResults
from standout.auditing.table_runs import TableAttackRun, TableCurve, TablePlan, TableRun
from standout.data.column import Column
from standout.data.release import Release
from standout.evaluate.estimates import mean
from standout.findings.adversaries import AdversaryBeforeAfter, before_after
from standout.findings.audit import Check, Run, Trust
from standout.findings.gate import checked_threshold
from standout.findings.json_types import software_versions
from standout.findings.reading import ColumnReading, TableOriginal, TableReading, TableSummary
from standout.findings.tables import (
    TableAdversaryFindings,
    TableAttackFindings,
    TableCurvePoint,
    TableFindings,
    TableMeasures,
    TablePopulation,
    TableSettings,
)
from standout.know.sanitized import Sanitized

__all__ = [
    "TableRequest",
    "TableResults",
    "assemble_table_findings",
    "original_findings",
    "readings",
    "summary",
    "table_frames",
]

# How a table was read, and the original of a sanitized one, as findings.


def summary(table: Release, name: str) -> TableSummary:
    """Name and size of a table."""
    return TableSummary(
        name=name,
        fingerprint=table.fingerprint,
        rows=table.n_records,
        columns=table.n_columns,
        attributes=len(table.attributes),
        missing_cells=sum(int(column.counts[-1]) for column in table.columns),
        history_entries=table.n_entries,
    )


def readings(table: Release) -> tuple[TableReading, ...]:
    """How the table was read, and its original."""
    if isinstance(table, Sanitized):
        return _reading(table, "table"), _reading(table.original, "original")
    return (_reading(table, "table"),)


def _reading(table: Release, of: Literal["table", "original"]) -> TableReading:
    source = table.provenance
    return TableReading(
        of=of,
        format=source.format,
        files=tuple(source.files),
        id=source.columns.get("record"),
        id_reason=source.reasons.get("record", ""),
        columns=tuple(_column(column, source.column_notes.get(column.name, "")) for column in table.columns),
        ignored=tuple(column.name for column in source.unused),
        settings=dict(source.settings),
    )


def _column(column: Column, note: str) -> ColumnReading:
    scale = column.similarity.scale
    return ColumnReading(
        name=column.name,
        kind=column.kind,
        levels=column.n_levels,
        missing=int(column.counts[-1]),
        similarity=column.similarity.name + ("" if scale is None else f" {scale:g}"),
        error=error_text(column, column.error),
        role=column.role,
        attribute=column.attribute,
        note=note,
    )


def original_findings(table: Release) -> TableOriginal | None:
    """The original of a sanitized table."""
    if not isinstance(table, Sanitized):
        return None
    original = table.original
    gone = int(np.count_nonzero(representing_rows(table) < 0))
    dropped = tuple(name for name in original.column_names if name not in table.column_names)
    steps = tuple(report.step for report in table.step_reports)
    return TableOriginal(
        fingerprint=original.fingerprint,
        rows=original.n_records,
        columns=original.n_columns,
        not_in_table=gone,
        dropped=dropped,
        steps=steps,
        changes=tuple({name: float(number) for name, number in report.counts.items()} for report in table.step_reports),
        explanation=_explanation(original.n_records, gone, dropped, steps),
    )


def _explanation(people: int, gone: int, dropped: tuple[str, ...], steps: tuple[str, ...]) -> str:
    sentences = [
        f"This table was made from an original with {people:,} people. Targets and the values that "
        "adversaries know come from the original. Adversaries know which steps were applied."
    ]
    if gone:
        sentences.append(
            f"{gone:,} people are missing from the table. They cannot be identified, but they count among the targets."
        )
    if dropped:
        sentences.append(f"The table lacks {listed(list(dropped))}: knowing these does not help.")
    return " ".join([*sentences, f"Steps that were applied: {'; '.join(steps) or 'none'}."])


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
    people, original = plan.original.n_records, original_findings(plan.table)
    adversaries = tuple(
        _adversary(plan, run, results.curve if run.rung.name == request.headline else None) for run in results.runs
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
        verdict=table_sentences.verdict(headline, adversaries, risks.disclosure, risks.learned, plan.budget, trusted),
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
        knows=adversary.knows,
        wrong=adversary.wrong,
        choose="rarest" if str(adversary.items) == "rarest" else "any",
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
        else TablePopulation(in_table=rates.in_table, identified=rates.identified, confidence=rates.confidence),
    )


def _curve_note(curve: TableCurve) -> str:
    notes, adversary = [], curve.adversary
    if adversary.wrong:
        are = "is" if adversary.wrong == 1 else "are"
        notes.append(
            f"{adversary.wrong} of {adversary.knows} attributes {are} wrong, and on average the same share of "
            "fewer attributes"
        )
    if curve.n_left_out:
        notes.append(f"the curve covers only people with at least {adversary.knows} cells")
    return "; ".join(notes)


# The findings of an audit of a table as frames, for its CSV files.


RATES = ("identified", "correct_claims", "wrong_claims", "absent_claims", "correct_claims_at_budget")


def table_frames(findings: TableFindings) -> dict[str, pl.DataFrame]:
    """One frame for each table of the report."""
    return {
        "adversaries": _adversaries(findings),
        "curves": _curves(findings),
        "classes": _classes(findings),
        "column_sets": _column_sets(findings),
        "disclosure": _disclosure(findings),
        "columns": _columns(findings),
        "checks": _checks(findings),
    }


def _adversaries(findings: TableFindings) -> pl.DataFrame:
    """One row for each adversary, attack and measure."""
    rows = [
        (each.name, attack.name, attack.name == each.attack, measure, number.value, number.low, number.high, number.n)
        for each in findings.adversaries
        for attack in each.attacks
        for measure in (*RATES, "bits_gained")
        for number in [getattr(attack.as_named, measure)]
    ]
    heads = {"adversary": pl.String, "attack": pl.String, "strongest": pl.Boolean, "measure": pl.String}
    return pl.DataFrame(rows, schema=heads | _numbers(), orient="row")


def _curves(findings: TableFindings) -> pl.DataFrame:
    rows = [
        (each.name, attack.name, point.knows, number.value, number.low, number.high, number.n)
        for each in findings.adversaries
        for attack in each.attacks
        for point in attack.curve
        for number in [point.identified]
    ]
    heads = {"adversary": pl.String, "attack": pl.String, "known_attributes": pl.Int64}
    return pl.DataFrame(rows, schema=heads | _numbers(), orient="row")


def _numbers() -> dict[str, type[pl.DataType]]:
    return {"estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64}


def _classes(findings: TableFindings) -> pl.DataFrame:
    sizes = findings.identity.sizes if findings.identity else ()
    rows = [(size.low, size.high, size.rows) for size in sizes]
    heads = {"smallest_size": pl.Int64, "largest_size": pl.Int64, "rows": pl.Int64}
    return pl.DataFrame(rows, schema=heads, orient="row")


def _column_sets(findings: TableFindings) -> pl.DataFrame:
    rows = [
        (len(found.columns), " + ".join(found.columns), found.unique, found.exhaustive, found.tried)
        for found in findings.column_sets
    ]
    heads = {"size": pl.Int64, "columns": pl.String, "unique": pl.Float64, "exhaustive": pl.Boolean, "tried": pl.Int64}
    return pl.DataFrame(rows, schema=heads, orient="row")


def _disclosure(findings: TableFindings) -> pl.DataFrame:
    rows = []
    for each in findings.disclosure:
        guessed, control, classes = each.guessed, each.control, each.diversity
        rows.append(
            (
                each.column,
                None if guessed is None else guessed.value,
                None if guessed is None else guessed.low,
                None if guessed is None else guessed.high,
                None if control is None else control.value,
                each.baseline,
                None if classes is None else classes.distinct,
                None if classes is None else classes.entropy,
                None if classes is None else classes.same_value,
                None if classes is None else classes.t_closeness,
            )
        )
    numbers = ("guessed", "low", "high", "control", "baseline")
    heads = {"column": pl.String, **dict.fromkeys(numbers, pl.Float64), "distinct_l": pl.Int64}
    heads |= dict.fromkeys(("entropy_l", "same_value", "t_closeness"), pl.Float64)
    return pl.DataFrame(rows, schema=heads, orient="row")


def _columns(findings: TableFindings) -> pl.DataFrame:
    rows = [
        (column.name, column.kind, column.levels, column.missing, column.similarity, column.error, column.role)
        for column in findings.reading[0].columns
    ]
    heads = {"column": pl.String, "kind": pl.String, "levels": pl.Int64, "missing": pl.Int64}
    heads |= dict.fromkeys(("similarity", "error", "role"), pl.String)
    return pl.DataFrame(rows, schema=heads, orient="row")


def _checks(findings: TableFindings) -> pl.DataFrame:
    rows = [(check.name, check.passed, check.expected, check.observed) for check in findings.trust.checks]
    heads = {"check": pl.String, "passed": pl.Boolean, "expected": pl.String, "observed": pl.String}
    return pl.DataFrame(rows, schema=heads, orient="row")
