"""Options for reading a source, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from standout.core.errors import ParameterError
from standout.ingest.rejects import Limit
from standout.ingest.timestamps import TimeReader
from standout.ingest.value_levels import ValueReader, ValueType
from standout.release.build import Repeats
from standout.release.clock import TimeUnit

__all__ = ["Column", "Options"]

Column = str | int
"""A column by its name or its number; 1 is the first column."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of `standout.read`, which documents them. False as value or time means no such column."""

    record: Column | None = None
    item: Column | Sequence[Column] | None = None
    value: Column | bool | None = None
    time: Column | bool | None = None
    ignore: Column | Sequence[Column] | None = None
    separator: str | None = None
    header: bool | None = None
    quote: str = '"'
    encoding: str = "utf-8"
    member: str | None = None
    value_type: ValueType = "auto"
    value_bin: float | None = None
    time_format: str | None = None
    time_unit: TimeUnit = "day"
    zone: str = "UTC"
    repeats: Repeats = "last"
    max_rejects: int | str = 0
    limit: Limit = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", Limit.of(self.max_rejects))
        if self.separator is not None and (not self.separator or set(self.separator) & set('\n\r"')):
            raise ParameterError(
                f"separator must be one or more characters, no quote or line end, got {self.separator!r}"
            )
        if len(self.quote) > 1 or not self.quote.isascii() or (self.quote in "\n\r" and self.quote):
            raise ParameterError(f"quote must be one ASCII character, or empty for none, got {self.quote!r}")
        if self.quote and self.quote == self.separator:
            raise ParameterError(
                f"quote and separator must be different characters, got {self.quote!r} twice"
            )
        if self.value is True or self.time is True:
            raise ParameterError(
                "value and time must be a column name, a column number, or False for none, got True"
            )
        self.value_reader()
        self.time_reader()

    def changed(self) -> set[str]:
        """Names of the options that differ from their default."""
        defaults = {option.name: option.default for option in fields(self) if option.init}
        return {name for name, value in defaults.items() if getattr(self, name) != value}

    @property
    def items(self) -> tuple[Column, ...]:
        """Columns that form the item, in order."""
        return _as_tuple(self.item)

    @property
    def ignored(self) -> tuple[Column, ...]:
        """Columns that the user leaves out on purpose."""
        return _as_tuple(self.ignore)

    @property
    def named(self) -> tuple[Column | bool | None, ...]:
        """Columns that the user named, for whatever purpose."""
        return (self.record, *self.items, self.value, self.time, *self.ignored)

    def value_reader(self) -> ValueReader:
        """Make the reader of the value column."""
        return ValueReader(self.value_type, self.value_bin)

    def time_reader(self) -> TimeReader:
        """Make the reader of the time column."""
        return TimeReader(self.time_unit, self.zone, self.time_format)


def _as_tuple(columns: Column | Sequence[Column] | None) -> tuple[Column, ...]:
    if columns is None:
        return ()
    return (columns,) if isinstance(columns, (str, int)) else tuple(columns)
