"""Options for reading a source, checked once."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Literal, get_args

from standout.core.errors import ParameterError, not_one_of
from standout.data.entries import Repeats
from standout.data.labels import TimeUnit
from standout.ingest.cells import ValueType
from standout.ingest.places import Geohash, Grid, PlaceCells
from standout.ingest.report import reject_limit
from standout.ingest.schema import Schema, different_texts
from standout.ingest.times import TimeBin, TimeReader

Kind = Literal["auto", "table", "history"]
ColumnName = str | int
"""A column by its name or its number; 1 is the first column."""
MOST_LINES = 10**9
OF_HISTORIES = {
    "item", "value", "time", "latitude", "longitude", "grid", "geohash", "record_from_name", "value_type", "value_bin",
    "time_format", "time_unit", "time_bin", "repeats",
}  # fmt: skip
OF_TABLES = {"missing", "schema"}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of `standout.read`, which documents them. False as record, value or time means no such column."""

    record: ColumnName | bool | None = None
    item: ColumnName | Sequence[ColumnName] | None = None
    value: ColumnName | bool | None = None
    time: ColumnName | bool | None = None
    ignore: ColumnName | Sequence[ColumnName] | None = None
    latitude: ColumnName | None = None
    longitude: ColumnName | None = None
    grid: float | str | None = None
    geohash: int | str | None = None
    separator: str | None = None
    header: bool | None = None
    quote: str = '"'
    encoding: str = "utf-8"
    member: str | None = None
    sql_table: str | None = None
    skip_lines: int = 0
    record_from_name: str | None = None
    value_type: ValueType = "auto"
    value_bin: float | None = None
    time_format: str | None = None
    time_unit: TimeUnit | None = None
    time_bin: str | None = None
    zone: str = "UTC"
    repeats: Repeats = "auto"
    max_rejects: int | str = 0
    kind: Kind = "auto"
    schema: Schema = field(default_factory=Schema)
    missing: tuple[str, ...] | None = None
    limit: tuple[int, float] = field(init=False)
    places: PlaceCells | None = field(init=False)
    bin: TimeBin | None = field(init=False)
    unit: TimeUnit = field(init=False)
    items: tuple[ColumnName, ...] = field(init=False)
    """Columns that form the item, in order."""
    ignored: tuple[ColumnName, ...] = field(init=False)

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ParameterError(not_one_of("kind", self.kind, get_args(Kind)))
        of_tables = ["record"] if self.record is False else sorted(self.changed() & OF_TABLES)
        of_histories = sorted(self.changed() & OF_HISTORIES)
        if of_histories and (of_tables or self.kind == "table"):
            raise ParameterError(f"{of_histories[0]} is for histories, and the data is a table: leave it out")
        if of_tables and self.kind == "history":
            raise ParameterError(f"{of_tables[0]} is for tables, and the data is a history: leave it out")
        object.__setattr__(self, "kind", "table" if of_tables else "history" if of_histories else self.kind)
        missing = None if self.missing is None else different_texts(self.missing, "missing")
        object.__setattr__(self, "missing", missing)
        object.__setattr__(self, "limit", reject_limit(self.max_rejects))
        object.__setattr__(self, "places", self._places())
        time_bin = None if self.time_bin is None else TimeBin.of(self.time_bin)
        unit = time_bin.unit if time_bin is not None else "day" if self.time_unit is None else self.time_unit
        if time_bin is not None and self.time_unit not in (None, unit):
            raise ParameterError(
                f"time_unit must be left out with a time_bin of {time_bin}, whose unit is {unit}, "
                f"got {self.time_unit!r}"
            )
        object.__setattr__(self, "bin", time_bin)
        object.__setattr__(self, "unit", unit)
        for name, given in (("items", self.item), ("ignored", self.ignore)):
            columns = () if given is None else (given,) if isinstance(given, (str, int)) else tuple(given)
            object.__setattr__(self, name, columns)
        if self.separator is not None and (not self.separator or set(self.separator) & set('\n\r"')):
            raise ParameterError(
                f"separator must be one or more characters, no quote or line end, got {self.separator!r}"
            )
        if len(self.quote) > 1 or not self.quote.isascii() or (self.quote in "\n\r" and self.quote):
            raise ParameterError(f"quote must be one ASCII character, or empty for none, got {self.quote!r}")
        if self.quote and self.quote == self.separator:
            raise ParameterError(f"quote and separator must be different characters, got {self.quote!r} twice")
        if any(column is True for column in (self.record, self.value, self.time)):
            raise ParameterError(
                "record, value and time must be a column name, a column number, or False for none, got True"
            )
        is_number = isinstance(self.skip_lines, int) and not isinstance(self.skip_lines, bool)
        if not is_number or not 0 <= self.skip_lines <= MOST_LINES:
            raise ParameterError(
                f"skip_lines must be a whole number from 0 to {MOST_LINES:,}, got {self.skip_lines!r:.100}"
            )
        if self.record_from_name is not None:
            if self.record is not None:
                raise ParameterError("record and record_from_name cannot both be set: leave one out")
            try:
                re.compile(self.record_from_name)
            except (re.error, TypeError, OverflowError, RecursionError) as error:
                raise ParameterError(
                    f"record_from_name must be a regular expression, got {self.record_from_name!r}"
                ) from error
        if self.value_type not in get_args(ValueType):
            raise ParameterError(f"value_type must be auto, number or text, got {self.value_type!r}")
        if self.value_bin is not None and not 0 < self.value_bin < math.inf:
            raise ParameterError(f"value_bin must be a number above 0, got {self.value_bin!r}")
        if self.value_bin is not None and self.value_type == "text":
            raise ParameterError("value_bin must not be set if value_type is text: only numbers can be binned")
        self.time_reader()

    def changed(self) -> set[str]:
        """Names of the options that differ from their default."""
        defaults = {option.name: option.default for option in fields(self) if option.init} | {"schema": Schema()}
        return {name for name, value in defaults.items() if getattr(self, name) != value} - {"kind"}

    @property
    def names_people(self) -> bool:
        """Whether the options say where the record ids are."""
        return self.record is not None or self.record_from_name is not None

    @property
    def named(self) -> tuple[ColumnName | bool | None, ...]:
        """Columns that the user named, for whatever purpose."""
        coordinates = self.latitude, self.longitude
        return (self.record, *self.items, self.value, self.time, *self.ignored, *coordinates)

    def time_reader(self) -> TimeReader:
        """Make the reader of the time column."""
        return TimeReader(self.unit, self.zone, self.time_format)

    def _places(self) -> PlaceCells | None:
        """Return the resolution of places, if items are places."""
        if self.grid is None and self.geohash is None:
            if self.latitude is not None or self.longitude is not None:
                given = "longitude" if self.latitude is None else "latitude"
                raise ParameterError(f"{given} is used only with grid or geohash: set one of them, such as grid 0.01")
            return None
        if self.grid is not None and self.geohash is not None:
            raise ParameterError("grid and geohash exclude each other: set one of them")
        if self.item is not None:
            given = "grid" if self.geohash is None else "geohash"
            raise ParameterError(f"item must be left out with {given}: items are then places")
        return Grid(self.grid) if self.geohash is None else Geohash(self.geohash)
