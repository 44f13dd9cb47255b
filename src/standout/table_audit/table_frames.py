"""The findings of an audit of a table as frames, for its CSV files."""

import polars as pl

from standout.findings.table_audit import TableFindings

__all__ = ["table_frames"]

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
        (
            each.name,
            attack.name,
            attack.name == each.attack,
            measure,
            number.value,
            number.low,
            number.high,
            number.n,
        )
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
    heads = {
        "size": pl.Int64,
        "columns": pl.String,
        "unique": pl.Float64,
        "exhaustive": pl.Boolean,
        "tried": pl.Int64,
    }
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
        (
            column.name,
            column.kind,
            column.levels,
            column.missing,
            column.similarity,
            column.error,
            column.role,
        )
        for column in findings.reading[0].columns
    ]
    heads = {"column": pl.String, "kind": pl.String, "levels": pl.Int64, "missing": pl.Int64}
    heads |= dict.fromkeys(("similarity", "error", "role"), pl.String)
    return pl.DataFrame(rows, schema=heads, orient="row")


def _checks(findings: TableFindings) -> pl.DataFrame:
    rows = [(check.name, check.passed, check.expected, check.observed) for check in findings.trust.checks]
    heads = {"check": pl.String, "passed": pl.Boolean, "expected": pl.String, "observed": pl.String}
    return pl.DataFrame(rows, schema=heads, orient="row")
