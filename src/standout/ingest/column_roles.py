"""Decide which column is the record, the item, the value and the time: from the options, or by name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ColumnError
from standout.data.labels import Labels, Provenance, UnusedColumn
from standout.ingest.column_kinds import Sample, column_cells, column_kinds, has_decimals, looks_like_dates
from standout.ingest.column_names import CELLS_DECIDE, PLACE_ROLES, name_rank, recognise
from standout.ingest.diagnosis import example_command
from standout.ingest.header import are_names, is_repeated, table_hint
from standout.ingest.options import ColumnName, Options

LONGEST_NUMBER = 10

FILE_NAME = "the file name"
"""Column of the record where each file is one record."""
LISTED = 20
"""Number of columns that a message lists."""
NUMERIC = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)")


@dataclass(frozen=True, slots=True)
class Roles:
    """Positions (from 0) and names of the columns, why each was chosen, and the columns without a role.

    `record` is None if each file is one record.
    """

    record: int | None
    item: tuple[int, ...]
    value: int | None
    time: int | None
    names: tuple[str, ...]
    reasons: dict[str, str] = field(default_factory=dict, compare=False)
    unused: tuple[UnusedColumn, ...] = field(default=(), compare=False)
    places: bool = False
    """Whether the item is a place, from two columns: latitude and longitude."""

    def names_by_role(self) -> dict[str, str]:
        """Return the column name of each role, for the provenance."""
        names = {"record": FILE_NAME if self.record is None else self.names[self.record]}
        if self.places:
            names |= {role: self.names[i] for role, i in zip(PLACE_ROLES, self.item, strict=True)}
        else:
            names["item"] = " + ".join(self.names[i] for i in self.item)
        optional = {"value": self.value, "time": self.time}
        return names | {role: self.names[i] for role, i in optional.items() if i is not None}

    @property
    def wanted(self) -> list[int]:
        """Columns to read: record, item columns, value, time."""
        columns = (self.record, *self.item, self.value, self.time)
        return [column for column in columns if column is not None]

    def reordered(self, names: Sequence[str]) -> "Roles":
        """Return the same roles for columns with the same names in another order."""
        position = {name: i for i, name in enumerate(names)}
        moved = [None if i is None else position[self.names[i]] for i in (self.record, self.value, self.time)]
        items = tuple(position[self.names[i]] for i in self.item)
        return replace(self, record=moved[0], item=items, value=moved[1], time=moved[2], names=tuple(names))

    def unused_in(self, names: Sequence[str], sample: Sample) -> tuple[UnusedColumn, ...]:
        """Return the unused columns with the kinds that they have in another file with these columns."""
        kinds = column_kinds(names, sample)
        by_name = dict(zip(names, kinds, strict=True))
        is_same = tuple(names) == self.names
        free = [i for i in range(len(self.names)) if i not in self.wanted]
        return tuple(
            replace(column, kind=kinds[i] if is_same else by_name[self.names[i]])
            for i, column in zip(free, self.unused, strict=True)
        )


def numbered_names(count: int) -> tuple[str, ...]:
    """Names of the columns of a file without a header."""
    return tuple(f"column {i + 1}" for i in range(count))


def resolve_roles(
    names: Sequence[str],
    options: Options,
    header: bool,
    sample: Sample = (),
    declared: bool = False,
    source: str = "FILE",
    in_order: str = "",
) -> Roles:
    """Decide the role of each column, and what the other columns look like.

    `sample` holds a few rows. `declared` means that the names cannot be a first row of data, for example in a
    frame. `in_order` names a known format whose columns are record, item, value and time, such as MovieLens.
    """
    by_order = in_order and not header and not options.names_people and not options.items and len(names) == 4
    columns = _Columns(tuple(names), options, header, tuple(sample), declared, source, bool(by_order))
    chosen, reasons = columns.choose_in_order(in_order) if by_order else columns.choose()
    for column, next_column in pairwise(sorted(chosen.wanted)):
        if column == next_column:
            raise ColumnError(
                f"column {columns.shown(column)} would have two roles: name a column for each of record, item, …"
            )
    if options.bin is not None and chosen.time is None:
        raise ColumnError(f"no column is recognised as the time, for time_bin=…; {columns}: name one with time=…")
    if chosen.record is not None:
        columns.check_person(chosen.record)
    return replace(chosen, reasons=reasons, unused=columns.unused(chosen))


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns of a source: their names, some rows, and what the user said about them."""

    names: tuple[str, ...]
    options: Options
    header: bool
    sample: tuple[Sequence[str], ...]
    declared: bool
    source: str
    by_order: bool

    @property
    def certain(self) -> bool:
        """Whether the names cannot be a first row of data, so that messages may show them."""
        if self.declared or self.options.header is True:
            return True
        named = {column for column in self.options.named if isinstance(column, str) and column in self.names}
        return are_names(self.names, self.sample) or (
            self.header and len(named) > 1 and not is_repeated(self.names, self.sample)
        )

    def choose(self) -> tuple[Roles, dict[str, str]]:
        """Choose a column for each role: the one that the user named, or one with a well-known name."""
        options = self.options
        if not self.header and not (options.names_people and (options.items or options.places)):
            raise self._unknown_order()
        value, time = self.given(options.value, "value"), self.given(options.time, "time")
        ignored = self.ignored()
        item_roles = self._item_roles()
        named = {self.given(column, role) for role, column in item_roles}
        named |= {self.given(options.record, "record"), value, time} - {None}
        from_name = options.record_from_name is not None
        record = None if from_name else self.needed(options.record, "record", named | ignored)
        items = tuple(self.needed(column, role, named | ignored | {record}) for role, column in item_roles)
        taken = {record, *items, value, time} | ignored
        if options.value is None:
            value = self.recognised("value", taken)
        if options.time is None:
            time = self.recognised("time", {*taken, value})
        roles = Roles(record, items, value, time, self.names, places=options.places is not None)
        given = {"record": options.record, "item": options.item, "value": options.value, "time": options.time}
        given |= {"latitude": options.latitude, "longitude": options.longitude}
        reasons = {
            role: "named by the user" if given[role] is not None else self._reason(role, roles)
            for role in roles.names_by_role()
        }
        if from_name:
            reasons["record"] = "the name of the file, as the user says"
        if both := sorted(ignored & {*roles.wanted}):
            raise self._both(both[0])
        return roles, reasons

    def _item_roles(self) -> list[tuple[str, ColumnName | None]]:
        """Role and column of each part of the item; None: recognise it by its name."""
        options = self.options
        if options.places is not None:
            return list(zip(PLACE_ROLES, (options.latitude, options.longitude), strict=True))
        return [("item", column) for column in options.items or (None,)]

    def choose_in_order(self, known_format: str) -> tuple[Roles, dict[str, str]]:
        """Columns of a known format without a header: record, item, value and time."""
        value, time = self.given(self.options.value, "value"), self.given(self.options.time, "time")
        value = 2 if self.options.value is None and time != 2 else value
        time = 3 if self.options.time is None and value != 3 else time
        roles = Roles(0, (1,), value, time, self.names)
        if both := sorted(self.ignored() & {*roles.wanted}):
            raise self._both(both[0])
        reason = f"its place in a {known_format} file"
        return roles, dict.fromkeys(roles.names_by_role(), reason)

    def given(self, column: ColumnName | bool | None, role: str) -> int | None:
        """Position of the column that the user named, or None."""
        if column is None or isinstance(column, bool):
            return None
        if self.header and column in self.names:
            return self.names.index(str(column))
        if isinstance(column, int) or (column.isdecimal() and len(column) < LONGEST_NUMBER):
            if not 1 <= int(column) <= len(self.names):
                raise ColumnError(f"{role} must be a column number from 1 to {len(self.names)}, got {int(column)}")
            return int(column) - 1
        raise ColumnError(f"column {column!r} not found; {self}: name one with {role}=…")

    def ignored(self) -> set[int]:
        """Positions of the columns that the user ignores."""
        positions = {self.given(column, "ignore") for column in self.options.ignored}
        return {position for position in positions if position is not None}

    def needed(self, column: ColumnName | None, role: str, taken: set[int | None]) -> int:
        """Position of a column that is required; an error if none or several may be it."""
        if (position := self.given(column, role)) is not None:
            return position
        best = [column for column in recognise(self.names, role) if column not in taken]
        if not best:
            raise ColumnError(
                f"no column is recognised as the {role}; {self}: name one with {role}=…"
                + ("" if self.options.places is not None else table_hint(self.names, self.sample))
            )
        if len(best) > 1:
            shown = " and ".join(map(self.shown, best))
            options = " or ".join(f"{role}={self.typed(column)}" for column in best)
            raise ColumnError(f"columns {shown} may each be the {role}: choose with {options}")
        return best[0]

    def _both(self, column: int) -> ColumnError:
        return ColumnError(
            f"column {self.shown(column)} has a role and cannot be ignored: name another column for the "
            "role, or remove ignore=… (for values and times: value=False, time=False)"
        )

    def recognised(self, role: str, taken: set[int | None]) -> int | None:
        """Position of the value or time column with the best-known name that has no other role, or None."""
        ranked = []
        for column, name in enumerate(self.names):
            rank = name_rank(name, role) if self.header and column not in taken else None
            if rank is not None and (rank < CELLS_DECIDE or self._cells_fit(column, role)):
                ranked.append((rank, column))
        return min(ranked)[1] if ranked else None

    def check_person(self, record: int) -> None:
        """Raise an error if the record column has decimals."""
        if any(map(has_decimals, column_cells(self.sample, record))):
            raise decimals_error(self.shown(record))

    def unused(self, roles: Roles) -> tuple[UnusedColumn, ...]:
        """Columns without a role; those that --value none and --time none waive count as ignored."""
        ignored, kinds = self.ignored(), column_kinds(self.names, self.sample)
        taken = set(roles.wanted)
        for role, option, place in (("value", self.options.value, 2), ("time", self.options.time, 3)):
            if option is False and self.by_order:
                ignored.add(place)
            waived = self.recognised(role, {*taken, *ignored}) if option is False else None
            while waived is not None:
                ignored.add(waived)
                waived = self.recognised(role, {*taken, *ignored})
        return tuple(
            UnusedColumn(self.label(column), kinds[column], column in ignored)
            for column in range(len(self.names))
            if column not in taken
        )

    def label(self, column: int) -> str:
        """Name of a column, or its number if the name is not certain, not unique or not readable."""
        name = self.names[column]
        clear = self.certain and name.strip() and name.isprintable() and self.names.count(name) == 1
        return name if clear else f"column {column + 1}"

    def shown(self, column: int) -> str:
        """Column as a message shows it after the word "column"."""
        label = self.label(column)
        return str(column + 1) if label == f"column {column + 1}" else repr(label)

    def typed(self, column: int) -> str:
        """Column as it is written in Python."""
        label = self.label(column)
        return str(column + 1) if label == f"column {column + 1}" else repr(label)

    def _cells_fit(self, column: int, role: str) -> bool:
        """Whether the cells are dates, or numbers, as a name that is less well known suggests."""
        cells = column_cells(self.sample, column)
        if role == "time":
            return looks_like_dates(cells)
        return all(NUMERIC.fullmatch(cell) for cell in cells)

    def _reason(self, role: str, roles: Roles) -> str:
        column = {
            "record": roles.record,
            "item": roles.item[0],
            "latitude": roles.item[0],
            "longitude": roles.item[-1],
            "value": roles.value,
            "time": roles.time,
        }[role]
        rank = None if column is None else name_rank(self.names[column], role)
        if rank is None or rank < CELLS_DECIDE:
            return "its name is well known"
        if role in ("record", "item", *PLACE_ROLES):
            return "its name ends in a well-known name"
        return f"its name and its cells look like a {role}"

    def _unknown_order(self) -> ColumnError:
        """Error about a file without a header: what each column looks like, and an example."""
        options = self.options
        for role, column in (("record", options.record), ("value", options.value), ("time", options.time)):
            self.given(column, role)  # a column that does not exist is the first thing to say
        kinds = column_kinds(self.names, self.sample)
        looks = ", ".join(f"{column + 1} {kind}" for column, kind in enumerate(kinds[:LISTED]))
        more = ", …" if len(kinds) > LISTED else ""
        return ColumnError(
            f"{self}, and its format is unknown: name the record and the item. The columns look like: "
            f"{looks}{more}. {example_command(kinds, self.sample, options, self.source)}"
        )

    def __str__(self) -> str:
        """List the names only if they are certain: a first row of data must not be shown."""
        if not self.header:
            count = len(self.names)
            return f"the file has {count} columns and no recognised header (if it has one: header=True)"
        if not self.certain:
            return f"the file has {len(self.names)} columns without well-known names"
        return f"the columns are {', '.join(self.names[:LISTED])}{', …' if len(self.names) > LISTED else ''}"


def decimals_error(column: str) -> ColumnError:
    """Error about a record column with decimals."""
    return ColumnError(f"column {column} has decimals: it cannot be a person; name another one with record=…")


# Ids of people that are decimal numbers: a latitude or a price was taken for a person.


ZERO, NINE, POINT = ord("0"), ord("9"), ord(".")
IN_NUMBERS = np.zeros(256, bool)
IN_NUMBERS[[*range(ZERO, NINE + 1), *b"+-,."]] = True


def check_people(records: Labels, provenance: Provenance) -> None:
    """Raise an error if the id of any record is a number with decimals.

    Only ids that consist of digits and signs are looked at one by one, and only if one has a point or comma.
    """
    column = provenance.columns.get("record", "")
    if any(has_decimals(records[record]) for record in _numeric_ids(records)):
        raise decimals_error(column.removeprefix("column ") if column.startswith("column ") else repr(column))


def _numeric_ids(records: Labels) -> NDArray[np.int64]:
    """Positions of ids of digits and signs with a point or comma."""
    data, offsets = records.data, records.offsets
    separators = np.flatnonzero((data == POINT) | (data == ord(",")))
    if not len(separators):
        return separators
    owners = np.unique(np.searchsorted(offsets, separators, side="right") - 1)
    others = np.concatenate([[0], np.cumsum(~IN_NUMBERS[data])])
    numeric: NDArray[np.int64] = owners[others[offsets[owners + 1]] == others[offsets[owners]]]
    return numeric
