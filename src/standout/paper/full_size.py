"""Our own result at full size, which a smaller stand-in is compared with.

data/full_size.csv and data/full_size.json have the numbers of docs/paper.md, where a run of `standout paper`
on the stand-in at the size of the Netflix Prize data is recorded; `python -m tools.paper_full_size` writes
them.
"""

import csv
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from standout.evaluate.estimates import Estimate
from standout.paper.comparison_rows import ComparisonRow
from standout.paper.paper_results import PEOPLE
from standout.release.model import Release

if TYPE_CHECKING:
    from standout.paper.figure import FigureResult

__all__ = ["full_size_run", "is_small_standin", "with_full_size"]


def is_small_standin(release: Release) -> bool:
    """Whether a release is the stand-in with another number of people than the paper's data."""
    provenance = release.provenance
    is_standin = provenance.format == "synthetic" and provenance.settings.get("like") == "netflix"
    return is_standin and release.n_records != PEOPLE


def with_full_size(results: "Mapping[str, FigureResult]") -> "dict[str, FigureResult]":
    """The results with our own numbers at full size next to them, where there are any."""
    return {
        key: result._replace(rows=tuple(_with_full_size(key, row) for row in result.rows))
        for key, result in results.items()
    }


def _with_full_size(figure: str, row: ComparisonRow) -> ComparisonRow:
    name = ", ".join(filter(None, (row.panel, row.label)))
    return replace(row, full_size=_rows().get((figure, name)))


@cache
def full_size_run() -> dict[str, Any]:
    """How the numbers were made: command, size, targets, fingerprint, version.

    >>> full_size_run()["command"], full_size_run()["people"]
    ('standout paper -o paper', 480189)
    """
    text = (files("standout.paper") / "data" / "full_size.json").read_text(encoding="utf-8")
    run: dict[str, Any] = json.loads(text)
    return run


@cache
def _rows() -> dict[tuple[str, str], Estimate]:
    """Our numbers at full size by figure and name."""
    with (files("standout.paper") / "data" / "full_size.csv").open(encoding="utf-8") as file:
        return {(row["figure"], row["number"]): _estimate(row) for row in csv.DictReader(file)}


def _estimate(row: Mapping[str, str]) -> Estimate:
    measured, low, high = (float(row[name] or row["measured"]) for name in ("measured", "low", "high"))
    return Estimate(measured, low, high, full_size_run()["targets"])
