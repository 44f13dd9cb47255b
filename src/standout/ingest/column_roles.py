"""Decide which column is the record, the item, the value and the time: from the options, or by name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from standout.core.errors import ColumnError
from standout.data.labels import ColumnKind, Labels, Provenance, UnusedColumn
from standout.ingest.column_names import CELLS_DECIDE, PLACE_ROLES, name_rank, recognise
from standout.ingest.first_rows import (
    Sample,
    are_names,
    column_cells,
    column_kinds,
    has_decimals,
    is_repeated,
    looks_like_dates,
    table_hint,
)
from standout.ingest.options import ColumnName, Options

LONGEST_NUMBER, LISTED = 10, 20
"""Digits of a column number at most, and number of columns that a message lists."""
FILE_NAME = "the file name"
"""Column of the record where each file is one record."""
NUMERIC = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)")
IN_NUMBERS = np.zeros(256, bool)
IN_NUMBERS[[*b"0123456789+-,."]] = True


@dataclass(frozen=True, slots=True)
class Roles:
    """Positions (from 0) and names of the columns, why each was chosen, and the columns without a role.

    `record` is None if each file is one record. `places` if the item is a place: latitude and longitude.
    """

    record: int | None
    item: tuple[int, ...]
    value: int | None
    time: int | None
    names: tuple[str, ...]
    reasons: dict[str, str] = field(default_factory=dict, compare=False)
    unused: tuple[UnusedColumn, ...] = field(default=(), compare=False)
    places: bool = False

    def by_role(self) -> dict[str, int | None]:
        """Position of the column of each role; of a joined item, the first."""
        items = zip(PLACE_ROLES, self.item, strict=True) if self.places else (("item", self.item[0]),)
        optional = {"value": self.value, "time": self.time}
        return {"record": self.record, **dict(items)} | {r: i for r, i in optional.items() if i is not None}

    def names_by_role(self) -> dict[str, str]:
        """Return the column name of each role, for the provenance."""
        names = {role: FILE_NAME if i is None else self.names[i] for role, i in self.by_role().items()}
        return names if self.places else names | {"item": " + ".join(self.names[i] for i in self.item)}

    @property
    def wanted(self) -> list[int]:
        """Columns to read: record, item columns, value, time."""
        columns = (self.record, *self.item, self.value, self.time)
        return [column for column in columns if column is not None]

    def reordered(self, names: Sequence[str]) -> "Roles":
        """Return the same roles for columns with the same names in another order."""
        position = {name: i for i, name in enumerate(names)}
        record, value, time = (
            None if i is None else position[self.names[i]] for i in (self.record, self.value, self.time)
        )
        items = tuple(position[self.names[i]] for i in self.item)
        return replace(self, record=record, item=items, value=value, time=time, names=tuple(names))

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
    roles = columns.choose_in_order(in_order) if by_order else columns.choose()
    if both := sorted(columns.ignored & {*roles.wanted}):
        raise ColumnError(
            f"column {columns.shown(both[0])} has a role and cannot be ignored: name another column for the "
            "role, or remove ignore=… (for values and times: value=False, time=False)"
        )
    for column, next_column in pairwise(sorted(roles.wanted)):
        if column == next_column:
            raise ColumnError(
                f"column {columns.shown(column)} would have two roles: name a column for each of record, item, …"
            )
    if options.bin is not None and roles.time is None:
        raise ColumnError(f"no column is recognised as the time, for time_bin=…; {columns}: name one with time=…")
    if roles.record is not None and any(map(has_decimals, column_cells(sample, roles.record))):
        raise decimals_error(columns.shown(roles.record))
    return replace(roles, unused=columns.unused(roles))


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

    def choose(self) -> Roles:
        """Choose a column for each role: the one that the user named, or one with a well-known name."""
        options, ignored = self.options, self.ignored
        if not self.header and not (options.names_people and (options.items or options.places)):
            raise self._unknown_order()
        value, time = self.given(options.value, "value"), self.given(options.time, "time")
        parts: list[tuple[str, ColumnName | None]] = [("item", column) for column in options.items or (None,)]
        if options.places is not None:
            parts = list(zip(PLACE_ROLES, (options.latitude, options.longitude), strict=True))
        named = {self.given(column, role) for role, column in parts}
        named |= {self.given(options.record, "record"), value, time} - {None}
        from_name = options.record_from_name is not None
        record = None if from_name else self.needed(options.record, "record", named | ignored)
        items = tuple(self.needed(column, role, named | ignored | {record}) for role, column in parts)
        taken = {record, *items, value, time} | ignored
        value = self.recognised("value", taken) if options.value is None else value
        time = self.recognised("time", {*taken, value}) if options.time is None else time
        roles = Roles(record, items, value, time, self.names, places=options.places is not None)
        reasons = {}
        for role, column in roles.by_role().items():
            rank = None if column is None else name_rank(self.names[column], role)
            if role == "record" and from_name:
                reasons[role] = "the name of the file, as the user says"
            elif getattr(options, role) is not None:
                reasons[role] = "named by the user"
            elif rank is None or rank < CELLS_DECIDE:
                reasons[role] = "its name is well known"
            elif role in ("value", "time"):
                reasons[role] = f"its name and its cells look like a {role}"
            else:
                reasons[role] = "its name ends in a well-known name"
        return replace(roles, reasons=reasons)

    def choose_in_order(self, known_format: str) -> Roles:
        """Columns of a known format without a header: record, item, value and time."""
        value, time = self.given(self.options.value, "value"), self.given(self.options.time, "time")
        value = 2 if self.options.value is None and time != 2 else value
        time = 3 if self.options.time is None and value != 3 else time
        roles = Roles(0, (1,), value, time, self.names)
        return replace(roles, reasons=dict.fromkeys(roles.by_role(), f"its place in a {known_format} file"))

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

    @property
    def ignored(self) -> set[int]:
        """Positions of the columns that the user ignores."""
        positions = (self.given(column, "ignore") for column in self.options.ignored)
        return {position for position in positions if position is not None}

    def needed(self, column: ColumnName | bool | None, role: str, taken: set[int | None]) -> int:
        """Position of a column that is required; an error if none or several may be it."""
        if (position := self.given(column, role)) is not None:
            return position
        best = [column for column in recognise(self.names, role) if column not in taken]
        if not best:
            hint = table_hint(self.names, self.sample) if self.options.places is None else ""
            raise ColumnError(f"no column is recognised as the {role}; {self}: name one with {role}=…{hint}")
        if len(best) > 1:
            names = " and ".join(map(self.shown, best))
            options = " or ".join(f"{role}={self.shown(column)}" for column in best)
            raise ColumnError(f"columns {names} may each be the {role}: choose with {options}")
        return best[0]

    def recognised(self, role: str, taken: set[int | None]) -> int | None:
        """Position of the value or time column with the best-known name that has no other role, or None."""
        ranked = []
        for column, name in enumerate(self.names):
            rank = name_rank(name, role) if self.header and column not in taken else None
            if rank is None:
                continue
            cells = column_cells(self.sample, column)  # they decide about a name that is less well known
            fit = looks_like_dates(cells) if role == "time" else all(NUMERIC.fullmatch(cell) for cell in cells)
            if rank < CELLS_DECIDE or fit:
                ranked.append((rank, column))
        return min(ranked)[1] if ranked else None

    def unused(self, roles: Roles) -> tuple[UnusedColumn, ...]:
        """Columns without a role; those that value=False and time=False waive count as ignored."""
        ignored, kinds, taken = self.ignored, column_kinds(self.names, self.sample), set(roles.wanted)
        for role, option, place in (("value", self.options.value, 2), ("time", self.options.time, 3)):
            if option is False and self.by_order:
                ignored.add(place)
            while option is False and (waived := self.recognised(role, {*taken, *ignored})) is not None:
                ignored.add(waived)
        free = [column for column in range(len(self.names)) if column not in taken]
        return tuple(UnusedColumn(self.label(column), kinds[column], column in ignored) for column in free)

    def label(self, column: int) -> str:
        """Name of a column, or its number if the name is not certain, not unique or not readable."""
        name = self.names[column]
        clear = self.certain and name.strip() and name.isprintable() and self.names.count(name) == 1
        return name if clear else f"column {column + 1}"

    def shown(self, column: int) -> str:
        """Column as a message shows it, and as it is written in Python."""
        label = self.label(column)
        return str(column + 1) if label == f"column {column + 1}" else repr(label)

    def _unknown_order(self) -> ColumnError:
        """Error about a file without a header: what each column looks like, and an example."""
        for role in ("record", "value", "time"):  # a column that does not exist is the first thing to say
            self.given(getattr(self.options, role), role)
        kinds = column_kinds(self.names, self.sample)
        looks = ", ".join(f"{column + 1} {kind}" for column, kind in enumerate(kinds[:LISTED]))
        more = ", …" if len(kinds) > LISTED else ""
        return ColumnError(
            f"{self}, and its format is unknown: name the record and the item. The columns look like: "
            f"{looks}{more}. {self._example(kinds)}"
        )

    def _example(self, kinds: Sequence[ColumnKind]) -> str:
        """A complete call, if a column may be a person, or if the columns look like places."""
        options, cells = self.options, [column_cells(self.sample, column) for column in range(len(kinds))]
        whole = [not any(map(has_decimals, own)) and {*own} not in ({"0"}, {"0", "1"}) for own in cells]
        people = [c for kind in ("id", "text", "number") for c in range(len(kinds)) if kinds[c] == kind and whole[c]]
        record = people[0] if people and options.record_from_name is None else None
        time = kinds.index("date") if "date" in kinds else None
        degrees = [column for column, kind in enumerate(kinds) if kind == "coordinate"][:2]
        if len(degrees) == 2 and not options.items:  # the first is the latitude unless it is beyond ±90 degrees
            numbers = (cell.replace(",", ".") for cell in cells[degrees[0]] if NUMERIC.fullmatch(cell))
            north, east = reversed(degrees) if any(abs(float(number)) > 90 for number in numbers) else degrees
            columns = _typed({"latitude": north, "longitude": east, "time": time})
            grid = "grid=0.01" if options.grid is None else f"grid={options.grid!r}"
            columns += f", {grid if options.geohash is None else f'geohash={options.geohash}'}"
            by_file = f"so.read('FOLDER', record_from_name={options.record_from_name or 'REGEX'!r}, {columns})"
            if options.record_from_name is not None:
                return f"For example: {by_file}"
            if record is None:
                return f"No column looks like a person: add one (record=…). If each file is one person: {by_file}"
            instead = " (if each file is one person: record_from_name='REGEX' instead of record=…)"
            note = instead if kinds[record] == "number" else ""
            return f"For example{note}: so.read({self.source!r}, record={record + 1}, {columns})"
        if options.record_from_name is not None:
            first = people[0] + 1 if people else "COLUMN"
            return f"The record is the file's name: name the item with item=…, such as item={first}"
        if record is None:
            return "No column looks like a person: add one (record=…), or take the file's name (record_from_name=…)"
        if len(people) == 1:
            return f"No column but {record + 1} looks like an item: name it with item=…"
        item = min(people[1:])
        value = next((c for c, kind in enumerate(kinds) if kind == "number" and c not in (record, item)), None)
        roles = {"record": record, "item": item, "value": value, "time": time}
        return f"For example: so.read({self.source!r}, {_typed(roles)})"

    def __str__(self) -> str:
        """List the names only if they are certain: a first row of data must not be shown."""
        if not self.header:
            count = len(self.names)
            return f"the file has {count} columns and no recognised header (if it has one: header=True)"
        if not self.certain:
            return f"the file has {len(self.names)} columns without well-known names"
        return f"the columns are {', '.join(self.names[:LISTED])}{', …' if len(self.names) > LISTED else ''}"


def _typed(roles: dict[str, int | None]) -> str:
    return ", ".join(f"{role}={column + 1}" for role, column in roles.items() if column is not None)


def decimals_error(column: str) -> ColumnError:
    """Error about a record column with decimals: a latitude or a price was taken for a person."""
    return ColumnError(f"column {column} has decimals: it cannot be a person; name another one with record=…")


def check_people(records: Labels, provenance: Provenance) -> None:
    """Raise an error if the id of any record is a number with decimals.

    Only ids that consist of digits and signs are looked at one by one, and only if one has a point or comma.
    """
    data, starts = records.data, records.offsets
    separators = np.flatnonzero((data == ord(".")) | (data == ord(",")))
    if not len(separators):
        return
    owners = np.unique(np.searchsorted(starts, separators, side="right") - 1)
    others = np.concatenate([[0], np.cumsum(~IN_NUMBERS[data])])
    numeric = owners[others[starts[owners + 1]] == others[starts[owners]]]
    if any(has_decimals(records[record]) for record in numeric):
        column = provenance.columns.get("record", "")
        raise decimals_error(column.removeprefix("column ") if column.startswith("column ") else repr(column))
