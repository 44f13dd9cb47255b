"""Decide what the columns of a source are: whether there is a header, what each looks like, and which role it has.

Roles are the record, the item, the value and the time, from the options, or by name. If it is not clear whether
there is a header, the user must decide: a wrong guess would lose a person or an entry.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import prod

import numpy as np

from standout.core.errors import ColumnError, ParameterError
from standout.data.labels import ColumnKind, Labels, Provenance, UnusedColumn
from standout.ingest.cells import WITH_NUMBERS
from standout.ingest.formats import TEXT, ColumnName, Format, Options
from standout.ingest.names import (
    CELLS_DECIDE,
    PLACE_ROLES,
    ROLES,
    default_role,
    has_id_name,
    is_coordinate_name,
    is_id_name,
    is_quasi_identifier,
    name_rank,
    recognise,
)

Sample = Sequence[Sequence[str]]
"""A few rows of a source, as text."""

# What a column looks like, from its name and a few rows.

MOSTLY = 0.9
"""Smallest share of cells that decides about a column."""
DISTINCT, ENOUGH = 0.95, 10
"""Codes are ids if nearly all of them differ, in at least ENOUGH cells."""
NUMBER = re.compile(r"[+-]?[$€£]?\s?(\d+|\d{1,3}([ ,.'’]\d{3})+)?([.,]\d*)?([eE][+-]?\d+)?\s?[%$€£]?")
DECIMAL = re.compile(r"[+-]?\d*[.,](\d*[1-9]\d*)0*([eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|ene|abr|ago|dic|fév|avr|juin|aoû|déc)"
DAY = r"(0?[1-9]|[12]\d|3[01])"
DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(1[6-9]|20|21)\d\d[-/.](0?[1-9]|1[0-2])[-/.](0?[1-9]|[12]\d|3[01])([T ,].*)?",  # 2005-03-01
        rf"{DAY}[-/. ]{DAY}[-/., ]\s?((1[6-9]|20|21)\d\d|\d\d)([T ,].*)?",  # 1.3.2005
        r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([T ]?\d{4,6})?",  # 20050301
        rf"(\w{{2,9}}\.?,? )?\d{{1,2}}\.?[- /]{MONTH}\w*\.?[- /,]*\d{{2,4}}.*",  # 1 March 2005
        rf"(\w{{2,9}}\.?,? )?{MONTH}\w*\.?[- ]\d{{1,2}}\b.*\d{{4}}.*",  # March 1, 2005
        r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?( ?[ap]\.?m\.?)?",  # 12:30, a time of day
        r"(19|20)\d\d-(0[1-9]|1[0-2])",  # 2005-03
    )
]
UNIX = re.compile(r"(\d{9,10}|\d{12,13}|\d{15,16}|\d{18,19})(\.\d*)?")
CODES = [
    re.compile(pattern)
    for pattern in (
        r"[^@\s]+@[^@\s]+\.[^@\s]+",  # an e-mail address
        r"\{?[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?",  # a UUID
        r"[0-9a-fA-F]{16,}",  # a hash
        r"\d{1,3}(\.\d{1,3}){3}",  # an IP address
        r"\+?[\d ()/-]{7,}",  # a telephone number
    )
]
CODE = re.compile(r"(?=.*\d)[^\s]{4,}")
NESTED = "{}"
"""Cell that represents an object, a list or bytes."""


def column_cells(sample: Sample, column: int) -> list[str]:
    """Cells of a column that are not empty, without surrounding spaces."""
    cells = (row[column].strip() for row in sample if column < len(row))
    return [cell for cell in cells if cell]


def column_kinds(names: Sequence[str], sample: Sample) -> list[ColumnKind]:
    """Kind of each column, from its name and a few rows."""
    return [_column_kind(name, column_cells(sample, column)) for column, name in enumerate(names)]


def _column_kind(name: str, cells: Sequence[str]) -> ColumnKind:
    if is_quasi_identifier(name):
        return "quasi-identifier"
    if _mostly(cells, lambda cell: cell.startswith(("{", "[")) and cell.endswith(("}", "]"))):
        return "nested"
    numbers = _mostly(cells, lambda cell: NUMBER.fullmatch(cell) and any(map(str.isdigit, cell)))
    if is_coordinate_name(name) and (numbers or not cells):
        return "coordinate"
    if is_id_name(name):
        return "id"
    may_be_dates = not numbers and (not cells or any(map(str.isdigit, "".join(cells))))
    if looks_like_dates(cells) or (name_rank(name, "time") is not None and may_be_dates):
        return "date"
    if numbers or (not cells and name_rank(name, "value") is not None):
        return "number"
    if not cells:
        return "empty"
    has_codes = len(cells) >= ENOUGH and len(set(cells)) >= DISTINCT * len(cells) and _mostly(cells, CODE.fullmatch)
    return "id" if has_codes or any(_mostly(cells, pattern.fullmatch) for pattern in CODES) else "text"


def looks_like_dates(cells: Sequence[str]) -> bool:
    """Whether cells look like dates, times of day or Unix times."""
    return _mostly(cells, _is_date)


def has_decimals(cell: str) -> bool:
    """Whether a cell is a number with a fraction that is not zero."""
    return DECIMAL.fullmatch(cell) is not None and THOUSANDS.fullmatch(cell) is None


def _mostly(cells: Sequence[str], holds: Callable[[str], object]) -> bool:
    return bool(cells) and sum(bool(holds(cell)) for cell in cells) >= MOSTLY * len(cells)


def _is_date(cell: str) -> bool:
    if UNIX.fullmatch(cell):
        digits = cell.split(".")[0]
        seconds = int(digits[: len(digits) - 3 * ((len(digits) - 9) // 3)])
        return 10**8 <= seconds < 23 * 10**8  # 1973 to 2042
    return any(pattern.fullmatch(cell) for pattern in DATES)


# Whether the first line of a file has the names of its columns.

TABLE_COLUMNS = 3
"""A table with one row per person has at least so many columns."""
UNCLEAR = "the first line may be a header or a row: add header=True or header=False"
SINGLE = "the file has a single line, which may be a header or a row: add header=True or header=False"
DIGITS = re.compile(r"\s*[+-]?[\d.,:/-]*\d[\d.,:/-]*\s*")
VALUE = re.compile(r"[+-]?[$€£¥]?\s?\.?\d[\d.,]*([eE][+-]?\d+)?\s?[%$€£¥]?")
DOUBT, KNOWN = 0.01, 0.1
"""Largest probability that a line of names is a row of data, and its factor for each well-known name."""


def has_header(rows: Sample, options: Options) -> bool:
    """Whether the first line is a header.

    It is one if it has a column that the user named, or well-known names. A row with a number or a date, or with a cell
    that occurs again in its column, has no names. Otherwise it has names if a row of data would hardly look like this:
    its cells are new in columns whose cells repeat, and there are words above numbers or well-known names. It may be
    either if there are words above numbers, or if there is a single line.
    """
    if options.header is not None:
        return options.header
    first, sample = rows[0], rows[1:]
    if any(isinstance(name, str) and not name.isdecimal() and name in first for name in options.named):
        return True
    if all(recognise(first, role) for role in (("record", "item") if options.places is None else PLACE_ROLES)):
        return True
    columns = [column_cells(sample, column) for column in range(len(first))]
    named = [cell for cell in first if cell.strip()]
    has_values = any(map(_is_value, named))
    if has_values and (options.kind != "table" or not any(map(_is_word_above_values, first, columns))):
        return False
    if is_repeated([cell or "\0" for cell in first], sample):
        return False
    if not has_values and sample and (is_unlikely_row(first, sample) or are_names(first, sample[:1])):
        return True
    if options.kind != "table" and (len(named) < len(first) or len(set(first)) < len(first)):
        return False
    if not sample:
        raise ColumnError(SINGLE)
    if options.kind == "table" or any(map(DIGITS.fullmatch, sample[0])):
        raise ColumnError(UNCLEAR + table_hint(first, sample[:1]))
    return False


def is_unlikely_row(first: Sequence[str], sample: Sample) -> bool:
    """Whether a row of data would hardly look like the first one."""
    columns = [column_cells(sample, column) for column in range(len(first))]
    known = sum(
        is_quasi_identifier(name) or has_id_name(name) or is_id_name(name) or default_role(name) == "sensitive"
        for name in first
        if name.strip()
    )
    words = [Counter(cell for cell in cells if not _is_value(cell)) for cells in columns]
    pairs = list(zip(columns, words, strict=True))
    # of each column, the chance that a further cell is a word that did not occur: the share of words that occur once
    new = ((sum(count == 1 for count in counts.values()) + 1) / (len(cells) + 1) for cells, counts in pairs)
    chance, has_values = KNOWN**known * prod(new), any(counts.total() < len(cells) for cells, counts in pairs)
    return chance <= DOUBT and bool(known or has_values)


def _is_word_above_values(cell: str, cells: Sequence[str]) -> bool:
    """Whether a cell is a word, and no usual one for an empty cell, and most cells below are values."""
    is_word = cell.strip() and not _is_value(cell) and cell.strip().lower() not in WITH_NUMBERS
    return bool(is_word) and _mostly(cells, _is_value)


def _is_value(cell: str) -> bool:
    """Whether a cell is a number or a date."""
    return VALUE.fullmatch(cell.strip()) is not None or looks_like_dates([cell.strip()])


def table_hint(names: Sequence[str], sample: Sample) -> str:
    """How to read a source that may be a table with one row per person; "" if a person has several rows."""
    if len(names) < TABLE_COLUMNS or recognise(names, "item"):
        return ""
    people = [column_cells(sample, column) for column in recognise(names, "record")]
    is_repeated_person = any(len(set(cells)) < len(cells) for cells in people)
    return "" if is_repeated_person else ". If each row is one person, it is a table: add kind='table'"


def are_names(names: Sequence[str], sample: Sample) -> bool:
    """Whether two roles are recognised, or one above a row of numbers, and no row repeats a name."""
    recognised = 0 if is_repeated(names, sample) else sum(bool(recognise(names, role)) for role in ROLES)
    return recognised > 1 or (recognised == 1 and bool(sample) and all(map(DIGITS.fullmatch, sample[0])))


def is_repeated(names: Sequence[str], sample: Sample) -> bool:
    """Whether a row repeats a name in its own column, so that the names may be a row of data."""
    return any(name in row[i : i + 1] for row in sample for i, name in enumerate(names))


# The role of each column.

LONGEST_NUMBER, LISTED = 10, 20
"""Digits of a column number at most, and number of columns that a message lists."""
FILE_NAME = "the file name"
"""Column of the record where each file is one record."""
NUMERIC = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)")


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
        """Return the same roles for columns with the same names, maybe in another order."""
        if tuple(names) == self.names:
            return self
        position = {name: i for i, name in enumerate(names)}
        moved: dict[int | None, int] = {i: position[self.names[i]] for i in self.wanted}
        record, value, time = (moved.get(i) for i in (self.record, self.value, self.time))
        items = tuple(moved[i] for i in self.item)
        return replace(self, record=record, item=items, value=value, time=time, names=tuple(names))


def numbered_names(count: int) -> tuple[str, ...]:
    """Names of the columns of a file without a header."""
    return tuple(f"column {i + 1}" for i in range(count))


def position_of(names: Sequence[str], column: ColumnName | bool, parameter: str, listed: str = "") -> int:
    """Position of a column that the user names, by its name or its number; `listed` says which columns there are."""
    if isinstance(column, bool) or not isinstance(column, (str, int)):
        raise ParameterError(f"{parameter} must be the name or the number of a column, got {column!r:.100}")
    if column in names:
        return names.index(str(column))
    if isinstance(column, int) or (column.isdecimal() and len(column) < LONGEST_NUMBER):
        if not 1 <= int(column) <= len(names):
            raise ColumnError(f"{parameter} must be a column number from 1 to {len(names)}, got {int(column)}")
        return int(column) - 1
    listed = listed or f"the columns are {list_names(names)}"
    raise ColumnError(f"column {column!r} not found; {listed}: name one with {parameter}=…")


def list_names(names: Sequence[str]) -> str:
    """The first names, for a message."""
    return ", ".join(names[:LISTED]) + (", …" if len(names) > LISTED else "")


def resolve_roles(names: Sequence[str], options: Options, header: bool, sample: Sample, kind: Format) -> Roles:
    """Decide the role of each column, and what the other columns look like."""
    by_order = kind == "MovieLens" and not (header or options.names_people or options.items) and len(names) == 4
    columns = _Columns(tuple(names), options, header, sample, kind not in TEXT, by_order)
    roles = columns.choose_in_order() if by_order else columns.choose()
    if both := sorted({*roles.wanted} & columns.ignored):
        raise ColumnError(
            f"column {columns.shown(both[0])} has a role and cannot be ignored: name another column for the "
            "role, or remove ignore=… (for values and times: value=False, time=False)"
        )
    for column, next_column in pairwise(sorted(roles.wanted)):
        if column == next_column:
            raise ColumnError(f"column {columns.shown(column)} would have two roles: name a column for each role")
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
    sample: Sample
    declared: bool
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
        record, value, time = (self.given(getattr(options, role), role) for role in ("record", "value", "time"))
        if not self.header and not (options.names_people and (options.items or options.places)):
            looks = [f"{number} {kind}" for number, kind in enumerate(column_kinds(self.names, self.sample), start=1)]
            raise ColumnError(
                f"{self}, and its format is unknown: name the record and the item by their numbers, such as record=1, "
                f"item=2. The columns look like: {list_names(looks)}"
            )
        parts: list[tuple[str, ColumnName | None]] = [("item", column) for column in options.items or (None,)]
        if options.places is not None:
            parts = list(zip(PLACE_ROLES, (options.latitude, options.longitude), strict=True))
        taken = {self.given(column, role) for role, column in parts} | {record, value, time} | ignored
        if record is None and options.record_from_name is None:
            record = self.needed(None, "record", taken)
        items = tuple(self.needed(column, role, taken | {record}) for role, column in parts)
        taken |= {record, *items}
        value = self.recognised("value", taken) if options.value is None else value
        time = self.recognised("time", {*taken, value}) if options.time is None else time
        roles, reasons = Roles(record, items, value, time, self.names, places=options.places is not None), {}
        for role, column in roles.by_role().items():
            rank = None if column is None else name_rank(self.names[column], role)
            if column is None:
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

    def choose_in_order(self) -> Roles:
        """Columns of MovieLens without a header: record, item, value and time."""
        value, time = self.given(self.options.value, "value"), self.given(self.options.time, "time")
        value = 2 if self.options.value is None and time != 2 else value
        time = 3 if self.options.time is None and value != 3 else time
        roles = Roles(0, (1,), value, time, self.names)
        return replace(roles, reasons=dict.fromkeys(roles.by_role(), "its place in a MovieLens file"))

    def given(self, column: ColumnName | bool | None, role: str) -> int | None:
        """Position of the column that the user named, or None."""
        if column is None or isinstance(column, bool):
            return None
        return position_of(self.names if self.header else numbered_names(len(self.names)), column, role, str(self))

    @property
    def ignored(self) -> set[int | None]:
        """Positions of the columns that the user ignores."""
        return {self.given(column, "ignore") for column in self.options.ignored}

    def needed(self, column: ColumnName | None, role: str, taken: set[int | None]) -> int:
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

    def __str__(self) -> str:
        """List the names only if they are certain: a first row of data must not be shown."""
        if not self.header:
            count = len(self.names)
            return f"the file has {count} columns and no recognised header (if it has one: header=True)"
        if not self.certain:
            return f"the file has {len(self.names)} columns without well-known names"
        return f"the columns are {list_names(self.names)}"


def decimals_error(column: str) -> ColumnError:
    """Error about a record column with decimals: a latitude or a price was taken for a person."""
    return ColumnError(f"column {column} has decimals: it cannot be a person; name another one with record=…")


def check_people(records: Labels, provenance: Provenance) -> None:
    """Raise an error if the id of any record is a number with decimals."""
    has_marks = np.isin(records.data, list(b".,")).any()
    if has_marks and any(has_decimals(record) for record in records):
        column = provenance.columns.get("record", "")
        raise decimals_error(column.removeprefix("column ") if column.startswith("column ") else repr(column))
