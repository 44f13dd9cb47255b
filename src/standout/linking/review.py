"""The review file: doubtful pairs of items, written for people to decide on, and read back."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import polars as pl

from standout.core.errors import ParameterError, SourceError
from standout.linking.item_map import Codes, refuse_duplicates
from standout.linking.small_csv import read_rows, write_rows
from standout.release.inert_cells import exact_text

__all__ = ["COLUMNS", "Decisions", "Row", "read_decisions", "review_table", "write_review"]

COLUMNS = {
    "public_item": pl.String,
    "public_title": pl.String,
    "release_item": pl.String,
    "release_title": pl.String,
    "score": pl.Float64,
    "decision": pl.String,
    "reason": pl.String,
}
Row = tuple[str, str, str, str, float | None, str, str]
REQUIRED = ("public_item", "release_item", "decision")
ORDER = {"?": 0, "yes": 1, "no": 2}


@dataclass(frozen=True, slots=True)
class Decisions:
    """Pairs of item codes that people accepted or rejected; `unknown` decisions name unknown items."""

    yes: dict[int, int] = field(default_factory=dict)
    no: frozenset[tuple[int, int]] = frozenset()
    unknown: int = 0


def read_decisions(path: Path, public: Codes, release: Codes) -> Decisions:
    """Return the decisions of a review file as codes, or raise if they map an item twice."""
    decisions = _read_file(path)
    coded = {
        (public[public_item], release[release_item]): decision
        for (public_item, release_item), decision in decisions.items()
        if public_item in public and release_item in release
    }
    if decisions and not coded:
        raise ParameterError(
            f"{path}: no decision names items of both data sets; a spreadsheet may have removed leading zeros"
        )
    accepted = [pair for pair, decision in coded.items() if decision == "yes"]
    refuse_duplicates(accepted, list(public), list(release), str(path))
    rejected = frozenset(pair for pair, decision in coded.items() if decision == "no")
    return Decisions(dict(accepted), rejected, len(decisions) - len(coded))


def _read_file(path: Path) -> dict[tuple[str, str], str]:
    """(public item, release item) → yes or no; open pairs are skipped."""
    header, rows = read_rows(path)
    names = [name.strip().lower() for name in header]
    if any(names.count(name) != 1 for name in REQUIRED):
        raise SourceError(f"{path}: the columns {', '.join(REQUIRED)} are required, each once")
    public_column, release_column, decision_column = (names.index(name) for name in REQUIRED)
    decisions: dict[tuple[str, str], str] = {}
    for line, cells in rows:
        decision = cells[decision_column].strip().lower()
        if decision not in ("yes", "no", "?", ""):
            raise SourceError(f"{path}, line {line}: decision must be yes, no or ?")
        if decision in ("yes", "no"):
            pair = exact_text(cells[public_column]), exact_text(cells[release_column])
            if decisions.setdefault(pair, decision) != decision:
                raise SourceError(f"{path}, line {line}: an earlier line decides the same pair differently")
    return decisions


def review_table(rows: Iterable[Row]) -> pl.DataFrame:
    """Return the pairs for review: open ones, the best on top; then accepted ones, the weakest on top."""

    def sort_key(row: Row) -> tuple[int, float, str, str]:
        score = -1.0 if row[4] is None else row[4]
        return ORDER[row[5]], score if row[5] == "yes" else -score, row[0], row[2]

    return pl.DataFrame(sorted(rows, key=sort_key), schema=COLUMNS, orient="row")


def write_review(pairs: pl.DataFrame, path: str | PathLike[str]) -> None:
    """Write the pairs as a CSV file in which people can edit `decision`."""
    write_rows(pairs, Path(path))
