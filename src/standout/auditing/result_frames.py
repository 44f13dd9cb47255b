"""Findings as tidy tables, one for each part."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import polars as pl

from standout.evaluate.estimates import Estimate
from standout.findings.adversaries import AttackFindings, CurvePoint, MeasuresAsNamed
from standout.findings.audit import AuditFindings, Settings
from standout.findings.error_grids import ErrorGrids
from standout.findings.exposure import DateGroup, Exposure, RankGroup, SensitiveItems, SizeGroup
from standout.findings.serialize import to_json_object
from standout.findings.theory import Theory

__all__ = ["result_frames"]

CellValue: TypeAlias = str | int | float | bool | None
Row: TypeAlias = tuple[CellValue, ...]
Columns: TypeAlias = dict[str, type[pl.DataType]]

TEXT, COUNT = pl.String, pl.Int64
ESTIMATE: Columns = {
    "estimate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": COUNT,
    "baseline": pl.Float64,
}
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
        "exposure": _frame(EXPOSURE, _exposure(findings.exposure)),
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


def _measures(
    name: str,
    attack: AttackFindings,
    measures: MeasuresAsNamed | CurvePoint,
    too_few_items: int,
    settings: Settings,
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
            yield from _measures(
                adversary.name, attack, attack.as_named, adversary.too_few_items, findings.settings
            )


def _curves(findings: AuditFindings) -> Iterator[Row]:
    for adversary in findings.adversaries:
        for attack in adversary.attacks:
            for point in attack.curve:
                is_named = point.enough_for == adversary.knows
                too_few = adversary.too_few_items if is_named else adversary.curve_too_few_items
                yield from _measures(adversary.name, attack, point, too_few, findings.settings)


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


def _exposure(exposure: Exposure) -> Iterator[Row]:
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
