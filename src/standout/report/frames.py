"""The findings of an audit as tidy frames, one for each part: the content of its CSV files."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import polars as pl

from standout.evaluate.estimates import Estimate
from standout.findings.adversaries import AttackFindings, CurvePoint, Measures
from standout.findings.audit import AuditFindings, Settings
from standout.findings.json_types import to_json_object

Row: TypeAlias = tuple[Any, ...]
Columns: TypeAlias = dict[str, type[pl.DataType]]

TYPES: dict[str, type[pl.DataType]] = {
    name: kind
    for kind, names in (
        (pl.Float64, "estimate low high baseline error unique entropy_l same_value t_closeness control"),
        (pl.Int64, "n facts too_few_items people items people_with people_revealed bound levels missing"),
        (pl.Int64, "smallest_size largest_size rows size tried distinct_l"),
        (pl.Boolean, "passed exhaustive"),
    )
    for name in names.split()
}
"""Types of the columns that are not text."""
ESTIMATE = "estimate low high n baseline"
NO_ESTIMATE: Row = (None,) * 5
MEASURES = f"adversary attack facts measure setting {ESTIMATE} too_few_items"
AT_THRESHOLD = ("correct_claims", "wrong_claims", "absent_claims")


def result_frames(findings: AuditFindings) -> dict[str, pl.DataFrame]:
    """The frames by name: of adversaries and checks, and of the sections that the findings have."""
    frames = {
        "adversaries": _frame(MEASURES, _adversaries(findings)),
        "control": _frame(f"adversary attack rate {ESTIMATE}", _controls(findings)),
        "curves": _frame(MEASURES, _curves(findings)),
        "envelope": _frame(f"among facts adversary {ESTIMATE}", _envelope(findings)),
    }
    if findings.data.entries:
        frames |= {
            "grids": _frame(f"adversary varies error label facts attack {ESTIMATE}", _grids(findings)),
            "exposure": _frame(f"adversary by class from to people {ESTIMATE}", _exposure(findings)),
            "sensitive": _frame(
                f"adversary category items people_with people_revealed {ESTIMATE}", _sensitive(findings)
            ),
            "theory": _frame(f"what setting bound {ESTIMATE} statement measured", _theory(findings)),
        }
    if findings.data.columns:
        sizes = findings.classes.sizes if findings.classes else ()
        sets = [(len(s.columns), " + ".join(s.columns), s.unique, s.exhaustive, s.tried) for s in findings.column_sets]
        read = [
            (c.name, c.kind, c.levels, c.missing, c.similarity, c.error, c.role) for c in findings.reading[0].attributes
        ]
        frames |= {
            "classes": _frame("smallest_size largest_size rows", ((s.low, s.high, s.rows) for s in sizes)),
            "column_sets": _frame("size columns unique exhaustive tried", sets),
            "disclosure": _frame(
                f"column {ESTIMATE} control distinct_l entropy_l same_value t_closeness", _disclosure(findings)
            ),
            "columns": _frame("column kind levels missing similarity precision role", read),
        }
    heads = "name title expected observed passed explanation"
    checks = (tuple(getattr(check, name) for name in heads.split()) for check in findings.trust.checks)
    return frames | {"checks": _frame(heads, checks)}


def _frame(heads: str, rows: Iterable[Row]) -> pl.DataFrame:
    schema = {name: TYPES.get(name, pl.String) for name in heads.split()}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def _estimate(estimate: Estimate | None) -> Row:
    """Value, ends of the interval, n and baseline; null for what is not finite."""
    return NO_ESTIMATE if estimate is None else tuple(to_json_object(estimate).values())


def _measures(
    name: str, attack: AttackFindings, measures: Measures | CurvePoint, too_few: int, settings: Settings
) -> Iterator[Row]:
    """Rows of one adversary and attack with one number of facts."""
    claims_by, at_budget = attack.as_named.claims_by, f"absent_claims<={settings.budget:g}"
    setting_of = dict.fromkeys(AT_THRESHOLD, f"{claims_by}={attack.as_named.threshold:g}")
    setting_of |= {f"{measure}_at_budget": at_budget for measure in AT_THRESHOLD}
    setting_of |= {"in_top": f"top={settings.top}", "lineup_size": "mass=90 %"}
    for key in measures.__dataclass_fields__:
        estimate = getattr(measures, key)
        if isinstance(estimate, Estimate):
            row = (name, attack.name, measures.facts, key.removesuffix("_at_budget"), setting_of.get(key, ""))
            yield (*row, *_estimate(estimate), too_few)
    if measures.threshold_at_budget is not None and measures.absent_claims is not None:
        chosen = (measures.threshold_at_budget, None, None, measures.absent_claims.n, None)
        yield (name, attack.name, measures.facts, claims_by, at_budget, *chosen, too_few)


def _adversaries(findings: AuditFindings) -> Iterator[Row]:
    for adversary in findings.adversaries:
        for attack in adversary.attacks:
            yield from _measures(adversary.name, attack, attack.as_named, adversary.too_few_items, findings.settings)


def _curves(findings: AuditFindings) -> Iterator[Row]:
    for adversary in findings.adversaries:
        for attack in adversary.attacks:
            for point in attack.curve:
                is_named = point.enough_for == adversary.knows
                too_few = adversary.too_few_items if is_named else adversary.curve_too_few_items
                yield from _measures(adversary.name, attack, point, too_few, findings.settings)


def _controls(findings: AuditFindings) -> Iterator[Row]:
    for adversary in findings.adversaries:
        for name in ("main", "control", "difference", "residual") if adversary.control else ():
            yield (adversary.name, adversary.attack, name, *_estimate(getattr(adversary.control, name)))


def _envelope(findings: AuditFindings) -> Iterator[Row]:
    """The strongest of all adversaries, then the strongest of those that count for the threshold."""
    for point in findings.envelope:
        yield ("all", point.facts, point.adversary, *_estimate(point.identified))
    for point in findings.envelope:
        if point.gate_identified is not None:
            yield ("gate", point.facts, point.gate_adversary, *_estimate(point.gate_identified))


def _grids(findings: AuditFindings) -> Iterator[Row]:
    grids = findings.error_grids
    for grid in grids.grids if grids else ():
        for row in grid.rows:
            for cell in row.cells:
                place = (findings.answer.adversary, grid.varies, row.error, row.label, cell.facts, cell.attack)
                yield (*place, *_estimate(cell.identified))


def _exposure(findings: AuditFindings) -> Iterator[Row]:
    exposure = findings.exposure
    if exposure is None:
        return
    for needed in exposure.facts_needed:
        row = (exposure.adversary, "facts", f"at most {needed.facts}", None, str(needed.facts), None)
        yield (*row, *_estimate(needed.share))
    for kind in ("length", "popularity", "first_date"):
        for group in getattr(exposure, f"by_{kind}"):
            ends = str(group.low), str(group.high)
            yield (exposure.adversary, kind, group.label, *ends, group.people, *_estimate(group.identified))


def _sensitive(findings: AuditFindings) -> Iterator[Row]:
    sensitive = findings.exposure.sensitive if findings.exposure else None
    for row in sensitive.rows if sensitive else ():
        counts = (findings.answer.adversary, row.category, row.items, row.people_with, row.people_revealed)
        yield (*counts, *_estimate(row.revealed))


def _theory(findings: AuditFindings) -> Iterator[Row]:
    if findings.theory is None:
        return
    for point in findings.theory.sparsity.curve:
        setting = f"similarity>={point.epsilon:g}, {findings.theory.sparsity.similarity}"
        yield ("nearest neighbour", setting, None, *_estimate(point.share), None, None)
    for bound in findings.theory.bounds:
        yield (bound.theorem, bound.setting, bound.bound, *NO_ESTIMATE, bound.statement, bound.measured)


def _disclosure(findings: AuditFindings) -> Iterator[Row]:
    for each in findings.disclosure:
        found = each.diversity
        classes = (None,) * 4 if found is None else (found.distinct, found.entropy, found.same_value, found.t_closeness)
        guessed = (*_estimate(each.guessed)[:4], each.baseline)
        yield (each.column, *guessed, None if each.control is None else each.control.value, *classes)
