"""The doubtful pairs as a file: written for people, who decide, and read back."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import polars as pl

from standout.core.errors import ParameterError, SourceError
from standout.linking.align_map import Codes, refuse_twice
from standout.linking.small_csv import read_cells, unguarded, write_cells

__all__ = ["COLUMNS", "Reviewed", "Row", "read_review", "reviewed", "table", "write_review"]

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
NEEDED = ("public_item", "release_item", "decision")
ORDER = {"?": 0, "yes": 1, "no": 2}


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What people decided: pairs of codes that are the same item, and pairs that are not. `unknown` decisions
    name items that are not there."""

    yes: dict[int, int] = field(default_factory=dict)
    no: frozenset[tuple[int, int]] = frozenset()
    unknown: int = 0


def read_review(path: Path) -> dict[tuple[str, str], str]:
    """(public item, release item) → yes or no; what is still open is left out."""
    header, rows = read_cells(path)
    names = [name.strip().lower() for name in header]
    if any(names.count(name) != 1 for name in NEEDED):
        raise SourceError(f"{path}: the columns {', '.join(NEEDED)} are needed, each once")
    one, two, said = (names.index(name) for name in NEEDED)
    found: dict[tuple[str, str], str] = {}
    for line, cells in rows:
        decision = cells[said].strip().lower()
        if decision not in ("yes", "no", "?", ""):
            raise SourceError(f"{path}, line {line}: a decision is yes, no or ?")
        if decision in ("yes", "no"):
            pair = unguarded(cells[one]), unguarded(cells[two])
            if found.setdefault(pair, decision) != decision:
                raise SourceError(f"{path}, line {line}: the same pair is decided otherwise above")
    return found


def reviewed(path: Path, public: Codes, release: Codes) -> Reviewed:
    """The decisions in codes, or an error if they send an item to two."""
    said = read_review(path)
    coded = {
        (public[one], release[two]): decision
        for (one, two), decision in said.items()
        if one in public and two in release
    }
    if said and not coded:
        raise ParameterError(
            f"{path}: no decision names items of these data; a spreadsheet may have taken zeros off ids"
        )
    yes = [pair for pair, decision in coded.items() if decision == "yes"]
    refuse_twice(yes, list(public), list(release), str(path))
    no = frozenset(pair for pair, decision in coded.items() if decision == "no")
    return Reviewed(dict(yes), no, len(said) - len(coded))


def table(rows: Iterable[Row]) -> pl.DataFrame:
    """The pairs for review: open ones, the likeliest on top; then those taken, the least sure on top."""

    def place(row: Row) -> tuple[int, float, str, str]:
        score = -1.0 if row[4] is None else row[4]
        return ORDER[row[5]], score if row[5] == "yes" else -score, row[0], row[2]

    return pl.DataFrame(sorted(rows, key=place), schema=COLUMNS, orient="row")


def write_review(pairs: pl.DataFrame, path: str | PathLike[str]) -> None:
    """Writes the pairs as a CSV file, in which `decision` can be edited."""
    write_cells(pairs, Path(path))
