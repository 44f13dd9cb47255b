"""Which column is the record, the item, the value, the time: as the user says, or from well-known names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from standout.errors import ColumnError
from standout.ingest.options import Column, Options
from standout.ingest.times import recognised

__all__ = ["Roles", "is_header", "resolve", "unnamed"]

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


def unnamed(count: int) -> tuple[str, ...]:
    """Names for the columns of a file without a header."""
    return tuple(f"column {i + 1}" for i in range(count))


def is_header(first: Sequence[str], second: Sequence[str] | None, options: Options) -> bool:
    """Whether the first line names the columns.

    It does if the user named a column that stands in it, or if a record and an item are recognised in
    it, or if it has no number where the second line has one.
    """
    if options.header is not None:
        return options.header
    named = (options.record, options.time, options.value, *options.items)
    if any(isinstance(name, str) and not name.isdecimal() and name in first for name in named):
        return True
    if any(not cell.strip() or NUMBER.fullmatch(cell.strip()) for cell in first) or len(set(first)) < len(
        first
    ):
        return False
    if _recognise(first, "record") is not None and _recognise(first, "item") is not None:
        return True
    return second is not None and any(NUMBER.fullmatch(cell.strip()) for cell in second)


def resolve(
    names: Sequence[str], options: Options, header: bool, sample: Sequence[Sequence[str]] = ()
) -> Roles:
    """The part each column plays. `sample`: a few rows, to tell a headerless file's columns apart."""
    if not header and options.record is None and not options.items:
        return _by_order(names, options, sample)
    record = _place(names, options.record, "record", header)
    items = tuple(_place(names, column, "item", header) for column in options.items or (None,))
    value = _optional(names, options.value, "value", header)
    time = _optional(names, options.time, "time", header)
    roles = Roles(record, items, value, time, tuple(names))
    for one, other in pairwise(sorted(roles.wanted)):
        if one == other:
            raise ColumnError(
                f"column {roles.names[one]!r} cannot play two parts: name each with --record, --item …"
            )
    return roles


def _by_order(names: Sequence[str], options: Options, sample: Sequence[Sequence[str]]) -> Roles:
    """A headerless file: record, item, then value and time as far as there are columns for them."""
    count = len(names)
    if not 2 <= count <= 4:
        raise ColumnError(
            f"the file has no header and {count} columns: say which is which by their places, "
            "like --record 1 --item 2 --value 3 --time 4"
        )
    value, time = (2 if count > 2 else None), (3 if count > 3 else None)
    if count == 3 and _is_time([row[2] for row in sample if len(row) == 3]):
        value, time = None, 2
    if options.value is not None or options.time is not None:
        value = _optional(names, options.value, "value", header=False)
        time = _optional(names, options.time, "time", header=False)
    return Roles(0, (1,), value, time, tuple(names))


def _is_time(cells: Sequence[str]) -> bool:
    """Whether cells look like times and not like small numbers: ISO dates, or Unix times since 1980."""
    form = recognised(cell.strip() for cell in cells)
    if form != "s":
        return form is not None
    return all(re.fullmatch(r"\d{9,10}(\.\d*)?", cell.strip()) for cell in cells)


def _optional(names: Sequence[str], column: Column | bool | None, role: str, header: bool) -> int | None:
    if isinstance(column, bool):
        return None
    if column is None:
        return _recognise(names, role) if header else None
    return _place(names, column, role, header)


def _place(names: Sequence[str], column: Column | None, role: str, header: bool) -> int:
    if column is None:
        found = _recognise(names, role) if header else None
        if found is None:
            raise ColumnError(
                f"no column is recognised as the {role}: {_listed(names, header)}; name it with --{role}"
            )
        return found
    if header and column in names:
        return list(names).index(str(column))
    if isinstance(column, int) or column.isdecimal():
        if not 1 <= int(column) <= len(names):
            raise ColumnError(f"{role} must be a column from 1 to {len(names)}, got {int(column)}")
        return int(column) - 1
    raise ColumnError(f"column {column!r} not found: {_listed(names, header)}; name it with --{role}")


def _recognise(names: Sequence[str], role: str) -> int | None:
    plain = [re.sub(r"[^a-z]", "", name.lower()) for name in names]
    return next((plain.index(word) for word in WORDS[role] if word in plain), None)


def _listed(names: Sequence[str], header: bool) -> str:
    """The columns' names, but only if they surely are names: a first row of data is not shown."""
    if not header:
        return f"the file has {len(names)} columns and, it seems, no header (if it has one: --header)"
    if all(_recognise(names, role) is None for role in WORDS):
        return f"the file has {len(names)} columns, none with a well-known name"
    return f"the file has {', '.join(names[:20])}{', …' if len(names) > 20 else ''}"
