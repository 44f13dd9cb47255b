"""Decide which column is the record, the item, the value and the time: from the options, or by name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from standout.core.errors import ColumnError
from standout.ingest.options import Column, Options
from standout.ingest.timestamps import recognise_format

__all__ = ["Roles", "is_header", "numbered_names", "resolve_roles"]

KNOWN = {
    "record": "user userid uid username customer customerid member memberid person personid subscriber "
    "subscriberid client clientid account accountid patient patientid subject reviewer reviewerid profile "
    "profileid device deviceid visitor visitorid session sessionid record recordid rater",
    "item": "item itemid movie movieid film filmid product productid article articleid asin isbn sku "
    "stockcode book bookid track trackid song songid artist artistid place placeid poi poiid venue venueid "
    "location locationid page pageid url game gameid business businessid anime animeid show showid title",
    "value": "rating ratings score stars value quantity qty amount overall grade vote weight",
    "time": "timestamp time date datetime day ratedat createdat ratingdate invoicedate unixreviewtime "
    "reviewtime watchedat purchasedate orderdate checkintime",
}
WORDS = {role: words.split() for role, words in KNOWN.items()}
NUMBER = re.compile(r"[+-]?[\d.,:/-]*\d[\d.,:/-]*")


@dataclass(frozen=True, slots=True)
class Roles:
    """Positions (from 0) and names of the columns."""

    record: int
    item: tuple[int, ...]
    value: int | None
    time: int | None
    names: tuple[str, ...]

    def names_by_role(self) -> dict[str, str]:
        """Return the column name of each role, for the provenance."""
        names = {"record": self.names[self.record], "item": " + ".join(self.names[i] for i in self.item)}
        optional = {"value": self.value, "time": self.time}
        return names | {role: self.names[i] for role, i in optional.items() if i is not None}

    @property
    def wanted(self) -> list[int]:
        """Columns to read: record, item columns, value, time."""
        optional = [column for column in (self.value, self.time) if column is not None]
        return [self.record, *self.item, *optional]


def numbered_names(count: int) -> tuple[str, ...]:
    """Names of the columns of a file without a header."""
    return tuple(f"column {i + 1}" for i in range(count))


def is_header(first: Sequence[str], second: Sequence[str] | None, options: Options) -> bool:
    """Whether the first line is a header.

    It is one if it contains a column that the user named, or if its names are well known. If it may be either
    (words above numbers, or a single line), the user must decide: a wrong guess could lose somebody's entry.
    """
    if options.header is not None:
        return options.header
    named = (options.record, options.time, options.value, *options.items)
    if any(isinstance(name, str) and not name.isdecimal() and name in first for name in named):
        return True
    if _recognise(first, "record") is not None and _recognise(first, "item") is not None:
        return True
    if any(not cell.strip() or _is_number(cell) for cell in first) or len(set(first)) < len(first):
        return False
    if second is not None and _are_names(first, [second]):
        return True
    if second is None or any(map(_is_number, second)):
        raise ColumnError(
            "the first line may be a header or a row: add --header or --no-header"
            if second is not None
            else "the file has a single line, which may be a header or a row: add --header or --no-header"
        )
    return False


def resolve_roles(
    names: Sequence[str],
    options: Options,
    header: bool,
    sample: Sequence[Sequence[str]] = (),
    declared: bool = False,
) -> Roles:
    """Decide the role of each column.

    `sample` holds a few rows, to identify the columns of a file without a header. `declared` means that the
    names cannot be a first row of data, for example in a frame.
    """
    known = _Names(names, header, declared or options.header is True or _are_names(names, sample))
    value = known.given(options.value, "value")
    time = known.given(options.time, "time")
    if not header and options.record is None and not options.items:
        record = 0
        items: tuple[int, ...] = (1,)
        by_order = _by_order(len(names), sample)
        value = by_order[0] if options.value is None and by_order[0] != time else value
        time = by_order[1] if options.time is None and by_order[1] != value else time
    else:
        record = known.needed(options.record, "record")
        items = tuple(known.needed(column, "item") for column in options.items or (None,))
        taken = {record, *items, value, time}
        value = known.recognised("value", taken) if options.value is None else value
        time = known.recognised("time", {*taken, value}) if options.time is None else time
    roles = Roles(record, items, value, time, tuple(names))
    for column, next_column in pairwise(sorted(roles.wanted)):
        if column == next_column:
            name = f"{names[column]!r}" if known.certain else f"{column + 1}"
            raise ColumnError(
                f"column {name} would have two roles: name a column for each of --record, --item, …"
            )
    return roles


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of the columns; `certain` if they cannot be a first row of data."""

    names: Sequence[str]
    header: bool
    certain: bool

    def given(self, column: Column | bool | None, role: str) -> int | None:
        """Position of the column that the user named, or None."""
        if column is None or isinstance(column, bool):
            return None
        if self.header and column in self.names:
            return list(self.names).index(str(column))
        if isinstance(column, int) or column.isdecimal():
            if not 1 <= int(column) <= len(self.names):
                raise ColumnError(
                    f"{role} must be a column number from 1 to {len(self.names)}, got {int(column)}"
                )
            return int(column) - 1
        raise ColumnError(f"column {column!r} not found; {self}: name one with --{role}")

    def needed(self, column: Column | None, role: str) -> int:
        """Position of a column that is required."""
        position = self.given(column, role) if column is not None else self.recognised(role, set())
        if position is None:
            raise ColumnError(f"no column is recognised as the {role}; {self}: name one with --{role}")
        return position

    def recognised(self, role: str, taken: set[int | None]) -> int | None:
        """Position of a column with a well-known name that has no other role, or None."""
        position = _recognise(self.names, role) if self.header else None
        return None if position in taken else position

    def __str__(self) -> str:
        """List the names only if they are certain: a first row of data must not be shown."""
        if not self.header:
            return (
                f"the file has {len(self.names)} columns and no recognised header (if it has one: --header)"
            )
        if not self.certain:
            return f"the file has {len(self.names)} columns without well-known names"
        return f"the columns are {', '.join(self.names[:20])}{', …' if len(self.names) > 20 else ''}"


def _are_names(names: Sequence[str], sample: Sequence[Sequence[str]]) -> bool:
    """Whether two roles are recognised, or one above a row of numbers, and no row repeats a name."""
    if any(name in row[i : i + 1] for row in sample for i, name in enumerate(names)):
        return False
    recognised = sum(_recognise(names, role) is not None for role in WORDS)
    return recognised > 1 or (recognised == 1 and bool(sample) and all(map(_is_number, sample[0])))


def _by_order(count: int, sample: Sequence[Sequence[str]]) -> tuple[int | None, int | None]:
    """Positions of value and time in a file without a header: after record and item, if present."""
    if not 2 <= count <= 4:
        raise ColumnError(
            f"the file has no header and {count} columns: give their numbers, "
            "for example --record 1 --item 2 --value 3 --time 4"
        )
    if count == 3 and _is_time([row[2] for row in sample if len(row) == 3]):
        return None, 2
    return (2 if count > 2 else None), (3 if count > 3 else None)


def _is_time(cells: Sequence[str]) -> bool:
    """Whether cells look like times (ISO dates, or Unix times since 1973) and not like small numbers."""
    time_format = recognise_format(cell.strip() for cell in cells)
    if time_format != "s":
        return time_format is not None
    return all(re.fullmatch(r"\d{9,10}(\.\d*)?", cell.strip()) for cell in cells)


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell.strip()) is not None


def _recognise(names: Sequence[str], role: str) -> int | None:
    plain = [re.sub(r"[\s_.-]", "", name.lower()) for name in names]
    return next((plain.index(word) for word in WORDS[role] if word in plain), None)
