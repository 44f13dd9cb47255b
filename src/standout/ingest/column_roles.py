"""Which column is the record, the item, the value, the time: as the user says, or from well-known names."""

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
    """The places of the columns, 0 is the first, and what they are called."""

    record: int
    item: tuple[int, ...]
    value: int | None
    time: int | None
    names: tuple[str, ...]

    def told(self) -> dict[str, str]:
        """Which column plays which part, for people and for the manifest."""
        places = {"record": (self.record,), "item": self.item, "value": self.value, "time": self.time}
        return {
            role: " + ".join(self.names[i] for i in (where if isinstance(where, tuple) else (where,)))
            for role, where in places.items()
            if where is not None
        }

    @property
    def wanted(self) -> list[int]:
        """The columns to read: record, item columns, value, time."""
        optional = [place for place in (self.value, self.time) if place is not None]
        return [self.record, *self.item, *optional]


def numbered_names(count: int) -> tuple[str, ...]:
    """Names for the columns of a file without a header."""
    return tuple(f"column {i + 1}" for i in range(count))


def is_header(first: Sequence[str], second: Sequence[str] | None, options: Options) -> bool:
    """Whether the first line names the columns.

    It does if the user named a column that stands in it, or if it surely has names. If it may have names,
    words above numbers or words alone, the user must say: to guess could cost somebody's entry.
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
    if second is not None and _surely_names(first, [second]):
        return True
    if second is None or any(map(_is_number, second)):
        raise ColumnError(
            "the first line may name the columns or be a row: say --header or --no-header"
            if second is not None
            else "there is a single line, a header or a row: say --header or --no-header"
        )
    return False


def resolve_roles(
    names: Sequence[str],
    options: Options,
    header: bool,
    sample: Sequence[Sequence[str]] = (),
    declared: bool = False,
) -> Roles:
    """The part each column plays.

    `sample`: a few rows, to tell a headerless file's columns apart. `declared`: the names are surely
    names, as in a frame, and not perhaps a first row of data.
    """
    known = _Names(names, header, declared or options.header is True or _surely_names(names, sample))
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
    for one, other in pairwise(sorted(roles.wanted)):
        if one == other:
            told = f"{names[one]!r}" if known.sure else f"{one + 1}"
            raise ColumnError(f"column {told} cannot play two parts: name each with --record, --item …")
    return roles


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of the columns; `sure` where they cannot be a first row of data."""

    names: Sequence[str]
    header: bool
    sure: bool

    def given(self, column: Column | bool | None, role: str) -> int | None:
        """The place of the column that the user gave, if any."""
        if column is None or isinstance(column, bool):
            return None
        if self.header and column in self.names:
            return list(self.names).index(str(column))
        if isinstance(column, int) or column.isdecimal():
            if not 1 <= int(column) <= len(self.names):
                raise ColumnError(f"{role} must be a column from 1 to {len(self.names)}, got {int(column)}")
            return int(column) - 1
        raise ColumnError(f"column {column!r} not found: {self}; name it with --{role}")

    def needed(self, column: Column | None, role: str) -> int:
        """The place of a column that there must be."""
        place = self.given(column, role) if column is not None else self.recognised(role, set())
        if place is None:
            raise ColumnError(f"no column is recognised as the {role}: {self}; name it with --{role}")
        return place

    def recognised(self, role: str, taken: set[int | None]) -> int | None:
        place = _recognise(self.names, role) if self.header else None
        return None if place in taken else place

    def __str__(self) -> str:
        """The names, but only if they surely are names: a first row of data is not shown."""
        if not self.header:
            return (
                f"the file has {len(self.names)} columns and, it seems, no header (if it has one: --header)"
            )
        if not self.sure:
            return f"the file has {len(self.names)} columns, and their names are not well-known ones"
        return f"the file has {', '.join(self.names[:20])}{', …' if len(self.names) > 20 else ''}"


def _surely_names(names: Sequence[str], sample: Sequence[Sequence[str]]) -> bool:
    """Two parts are recognised in them, or one, and the row below is all numbers; and no row repeats them."""
    if any(name in row[i : i + 1] for row in sample for i, name in enumerate(names)):
        return False
    recognised = sum(_recognise(names, role) is not None for role in WORDS)
    return recognised > 1 or (recognised == 1 and bool(sample) and all(map(_is_number, sample[0])))


def _by_order(count: int, sample: Sequence[Sequence[str]]) -> tuple[int | None, int | None]:
    """Where value and time stand in a headerless file: behind record and item, if there are columns."""
    if not 2 <= count <= 4:
        raise ColumnError(
            f"the file has no header and {count} columns: say which is which by their places, "
            "like --record 1 --item 2 --value 3 --time 4"
        )
    if count == 3 and _is_time([row[2] for row in sample if len(row) == 3]):
        return None, 2
    return (2 if count > 2 else None), (3 if count > 3 else None)


def _is_time(cells: Sequence[str]) -> bool:
    """Whether cells look like times and not like small numbers: ISO dates, or Unix times since 1973."""
    form = recognise_format(cell.strip() for cell in cells)
    if form != "s":
        return form is not None
    return all(re.fullmatch(r"\d{9,10}(\.\d*)?", cell.strip()) for cell in cells)


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell.strip()) is not None


def _recognise(names: Sequence[str], role: str) -> int | None:
    plain = [re.sub(r"[\s_.-]", "", name.lower()) for name in names]
    return next((plain.index(word) for word in WORDS[role] if word in plain), None)
