"""Findings as tables: a tidy frame for each part."""

from collections.abc import Iterator
from typing import Any

import polars as pl

__all__ = ["tables"]

NUMBERS = {
    "estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "baseline": pl.Float64,
}  # fmt: skip
TEXT, COUNT = pl.String, pl.Int64
MEASURED = (
    {"adversary": TEXT, "facts": COUNT, "measure": TEXT, "setting": TEXT} | NUMBERS | {"left_out": COUNT}
)
EXPOSED = {"adversary": TEXT, "by": TEXT, "class": TEXT, "from": TEXT, "to": TEXT, "people": COUNT} | NUMBERS
REVEALED = {
    "adversary": TEXT,
    "category": TEXT,
    "items": COUNT,
    "people_with": COUNT,
    "people_revealed": COUNT,
}
THEORY = {"what": TEXT, "setting": TEXT, "bound": COUNT} | NUMBERS | {"words": TEXT, "measured": TEXT}
CHECKS = dict.fromkeys(("name", "title", "expected", "found"), TEXT) | {"passed": pl.Boolean, "words": TEXT}
Row = tuple[Any, ...]


def tables(findings: dict[str, Any]) -> dict[str, pl.DataFrame]:
    """adversaries, curves, exposure, sensitive, theory and checks."""
    return {
        "adversaries": _frame(MEASURED, _adversaries(findings)),
        "curves": _frame(MEASURED, _curves(findings)),
        "exposure": _frame(EXPOSED, _exposure(findings["exposure"])),
        "sensitive": _frame(REVEALED | NUMBERS, _sensitive(findings["exposure"]["sensitive"])),
        "theory": _frame(THEORY, _theory(findings["theory"])),
        "checks": _frame(
            CHECKS, (tuple(one[name] for name in CHECKS) for one in findings["trust"]["checks"])
        ),
    }


def _frame(schema: dict[str, Any], rows: Iterator[Row]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def _numbers(estimate: dict[str, Any]) -> Row:
    return tuple(estimate[name] for name in ("value", "low", "high", "n", "baseline"))


def _measures(name: str, at: dict[str, Any], left_out: int, settings: dict[str, Any]) -> Iterator[Row]:
    """The estimates of one adversary with one number of facts."""
    phi = f"phi={settings['phi']:g}"
    within = f"absent_claims<={settings['budget']:g}"
    setting = dict.fromkeys(("correct_claims", "wrong_claims", "absent_claims"), phi)
    setting |= {"in_top": f"top={settings['top']}", "correct_claims_at_budget": within, "lineup": "mass=90 %"}
    for measure, found in at.items():
        if isinstance(found, dict):
            said = measure.removeprefix("budget_")
            yield (name, at["facts"], said, setting.get(measure, ""), *_numbers(found), left_out)
    yield (
        name,
        at["facts"],
        "phi",
        within,
        at["phi_at_budget"],
        None,
        None,
        at["absent_claims"]["n"],
        None,
        left_out,
    )


def _adversaries(findings: dict[str, Any]) -> Iterator[Row]:
    for one in findings["adversaries"]:
        yield from _measures(one["name"], one["at"], one["left_out"], findings["settings"])


def _curves(findings: dict[str, Any]) -> Iterator[Row]:
    for one in findings["adversaries"]:
        for at in one["curve"]:
            yield from _measures(one["name"], at, one["curve_left_out"], findings["settings"])


def _exposure(found: dict[str, Any]) -> Iterator[Row]:
    for row in found["facts_needed"]:
        facts = row["facts"]
        yield (
            found["adversary"],
            "facts",
            f"at most {facts}",
            None,
            str(facts),
            None,
            *_numbers(row["share"]),
        )
    for by in ("length", "popularity", "joined"):
        for row in found[f"by_{by}"]:
            ends = str(row["low"]), str(row["high"])
            yield (found["adversary"], by, row["label"], *ends, row["people"], *_numbers(row["identified"]))


def _sensitive(found: dict[str, Any] | None) -> Iterator[Row]:
    for row in [] if found is None else found["rows"]:
        counts = (row[name] for name in ("category", "items", "people_with", "people_revealed"))
        assert found is not None
        yield (found["adversary"], *counts, *_numbers(row["revealed"]))


def _theory(found: dict[str, Any]) -> Iterator[Row]:
    for row in found["sparsity"]["curve"]:
        setting = f"similarity>={row['epsilon']:g}, {found['sparsity']['similarity']}"
        yield ("nearest neighbour", setting, None, *_numbers(row["share"]), None, None)
    for row in found["bounds"]:
        yield (
            row["theorem"],
            row["setting"],
            row["bound"],
            None,
            None,
            None,
            None,
            None,
            row["says"],
            row["measured"],
        )
