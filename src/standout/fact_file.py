"""Facts as text: the rows of a CSV file, and how values and times are written."""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from standout.core.errors import SourceError
from standout.fact import ALLOWED_ERRORS, is_error

__all__ = ["FactRow", "WrittenNumber", "parse_time", "parse_value", "read_fact_rows"]


class FactRow(NamedTuple):
    """One line of the file: an item, and what is known about it."""

    item: str
    value: float | str | None
    time: date | None
    value_error: float | None = None
    time_error: float | None = None
    doubt: float | None = None


class WrittenNumber(float):
    """A number that remembers its text: if values are categories, 4.50 and 4.5 are two of them."""

    def __new__(cls, text: str) -> "WrittenNumber":
        """Make the number that the text spells."""
        return super().__new__(cls, text)

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def read_fact_rows(path: str | Path) -> list[FactRow]:
    """Read the rows of a CSV file with the columns item and, if known, the others of FactRow."""
    try:
        text = io.StringIO(Path(path).read_bytes().decode("utf-8-sig"), newline="")
        return list(_rows(csv.DictReader(text, strict=True), path))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path} is not a CSV file in UTF-8") from error


def _rows(lines: "csv.DictReader[str]", path: str | Path) -> Iterator[FactRow]:
    columns = [name.strip().lower() for name in lines.fieldnames or ()]
    if "item" not in columns or not set(columns) <= set(FactRow._fields) or len(set(columns)) < len(columns):
        raise SourceError(
            f"{path}: the first line must name the columns: item and, if known, value, time, value_error, "
            "time_error and doubt"
        )
    lines.fieldnames = columns
    for cells in lines:
        try:
            yield _row(cells)
        except ValueError as error:
            raise SourceError(f"{path}, line {lines.line_num}: {error}") from error


def _row(cells: Mapping[str, str]) -> FactRow:
    if None in cells or None in cells.values():
        raise ValueError("the line has more or fewer cells than the first line")
    if not cells["item"].strip():
        raise ValueError("the item is missing")
    errors = {name: _parse_error(name, cells.get(name, "")) for name in ALLOWED_ERRORS}
    value, time = parse_value(cells.get("value", "")), parse_time(cells.get("time", ""))
    return FactRow(cells["item"], value, time, **errors)


def _parse_error(name: str, text: str) -> float | None:
    """Parse an error of a fact; None if the text is blank."""
    if not text.strip():
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not is_error(name, number):
        raise ValueError(f"{name} must be a number {ALLOWED_ERRORS[name]}, or blank")
    return number


def parse_value(text: str) -> float | str | None:
    """Parse a value: a number if the text is one, None if it is blank."""
    text = text.strip()
    try:
        number = WrittenNumber(text)
    except ValueError:
        return text or None
    if not math.isfinite(number):
        raise ValueError("a value must be finite")
    return number


def parse_time(text: str) -> date | None:
    """Parse an ISO date or datetime; None if the text is blank."""
    text = text.strip()
    if not text:
        return None
    try:
        return date.fromisoformat(text) if len(text) <= 10 else datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("a time must be written like 2005-03-01 or 2005-03-01T20:15") from None
