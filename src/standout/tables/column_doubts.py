"""What a user should check about a column: it names people, it is empty, it says nothing."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from standout.core.arrays import run_starts
from standout.ingest.column_names import PERSONAL, name_words, plain_name
from standout.tables.column import Column
from standout.tables.distinct_cells import DistinctCells
from standout.tables.id_column import has_id_name
from standout.tables.known_names import CONTACTS, PEOPLE

__all__ = ["CLOCK", "MIXED_DATES", "Doubt", "column_doubts", "direct_identifier", "missing_number_doubts"]

EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
PHONE = re.compile(r"(\+\d|\(?0\d)[\d ()/-]{6,}")
MOSTLY, SAMPLE = 0.8, 200
SMALL_GROUP, LARGE_GROUP, FEWEST = 1.5, 50, 20
"""Mean numbers of rows of a group that may be one person, and the fewest groups."""
CLOCK = "its times of day are left out, so what they reveal is not measured"
MIXED_DATES = "its dates have no common format"
MISSING_NUMBERS = (-9, -99, -999, -9999)
"""Numbers by which surveys mark missing answers, if no other number is below 0."""
DIFFERENT = 0.5
"""Names differ in most rows; a column with few levels names groups, not people."""


def direct_identifier(name: str, cells: DistinctCells) -> str:
    """What a column looks like that names people directly; "" if it does not.

    Names of people differ in most rows. E-mail addresses and telephone numbers are recognised by their form.
    """
    texts = cells.values.head(SAMPLE).to_list() if cells.is_text else []
    if texts and sum(EMAIL.fullmatch(text) is not None for text in texts) >= MOSTLY * len(texts):
        return "an e-mail address"
    if texts and sum(PHONE.fullmatch(text) is not None for text in texts) >= MOSTLY * len(texts):
        return "a telephone number"
    words = name_words(name)
    if not texts or len(cells.values) < DIFFERENT * cells.filled or not words:
        return ""
    is_name = plain_name(name) in PEOPLE or (
        words[-1] == "name" and (words[:-1] == [] or words[-2] in PERSONAL)
    )
    return "a name or address" if is_name or {*words} & CONTACTS else ""


class Doubt(NamedTuple):
    """A warning about a column. If it `blocks`, a threshold must not pass with it: the risk may be higher."""

    text: str
    blocks: bool = False


def column_doubts(column: Column, cells: DistinctCells, doubt: str, is_settled: bool) -> Iterator[Doubt]:
    """Yield warnings about one column; `is_settled` if the user said what kind of column it is."""
    name = repr(column.name)
    if looks := direct_identifier(column.name, cells):
        yield Doubt(
            f"column {name} looks like {looks}, which identifies people directly. Remove it before you "
            "publish the table; for an audit without it, leave it out on purpose (ignore)"
        )
    if not cells.filled or not (column.n_levels and column.counts[:-1].any()):
        yield Doubt(f"column {name} has no values: all of its cells are empty")
    elif column.n_levels == 1 and not column.counts[-1]:
        yield Doubt(f"column {name} has the same value in all rows")
    if has_id_name(column.name) and column.kind != "boolean" and 1 < column.n_levels < cells.filled:
        shared = int(cells.counts[:-1][cells.counts[:-1] > 1].sum())
        yield Doubt(
            f"column {name} looks like an id of people, but {shared:,} of {cells.n_rows:,} rows share it "
            "with another row: it is read as an attribute, because a table has one row per person",
            blocks=not is_settled,
        )
    elif _groups_rows(column):
        yield Doubt(
            f"rows with the same value of column {name} stand together, {column.n_levels:,} groups of "
            f"{cells.filled / column.n_levels:.1f} rows on average. If a group is one person, the numbers "
            "understate the risk: a table must have one row per person"
        )
    if doubt:
        may_understate = doubt.startswith((CLOCK, MIXED_DATES))
        yield Doubt(f"column {name}: {doubt}", blocks=may_understate and not is_settled)


def missing_number_doubts(columns: Iterable[Column]) -> Iterator[Doubt]:
    """Yield one warning for each number that may mark missing answers."""
    names: dict[str, list[str]] = {}
    for column in columns:
        if marker := _missing_number(column):
            names.setdefault(marker, []).append(repr(column.name))
    for marker, own in names.items():
        others = f" and {len(own) - 1} more" if len(own) > 1 else ""
        yield Doubt(
            f"{marker} is the only number below 0 in column {own[0]}{others}. If it means that an answer is "
            "missing, name it (missing), with all other texts for empty cells, such as NA"
        )


def _missing_number(column: Column) -> str:
    """The number that may mark missing answers, or ""."""
    if column.kind != "number" or column.n_levels < 3:
        return ""
    lowest, second = float(column.levels[0]), float(column.levels[1])
    return f"{lowest:g}" if lowest in MISSING_NUMBERS and second >= 0 else ""


def _groups_rows(column: Column) -> bool:
    """Whether a column may be the id of people who have several rows each, one after the other."""
    n = column.n_rows
    if column.starts is not None or column.kind not in ("number", "category"):
        return False
    if (
        column.n_levels < FEWEST
        or not n / LARGE_GROUP <= column.n_levels <= n / SMALL_GROUP
        or column.counts[-1]
    ):
        return False
    return len(run_starts(column.codes)) == column.n_levels
