"""What a user may say about a source, checked once."""

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
"""A column by its name, or by its place: 1 is the first."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `standout.read`; see there. `False` as value or time: there is none."""

    record: Column | None = None
    item: Column | Sequence[Column] | None = None
    value: Column | bool | None = None
    time: Column | bool | None = None
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
            raise ParameterError("separator must be one or more characters, no quote or line end")
        if len(self.quote) > 1 or not self.quote.isascii() or (self.quote in "\n\r" and self.quote):
            raise ParameterError("quote must be one ASCII character, or empty for none")
        if self.quote and self.quote == self.separator:
            raise ParameterError("quote and separator must be different characters")
        if self.value is True or self.time is True:
            raise ParameterError("value and time take a column's name or place, or False for none")
        self.value_reader()
        self.time_reader()

    def changed(self) -> set[str]:
        """The options that are not as they are if nothing is said."""
        usual = {each.name: each.default for each in fields(self) if each.init}
        return {name for name, value in usual.items() if getattr(self, name) != value}

    @property
    def items(self) -> tuple[Column, ...]:
        """The columns that form the item, in order."""
        if self.item is None:
            return ()
        return (self.item,) if isinstance(self.item, (str, int)) else tuple(self.item)

    def value_reader(self) -> ValueReader:
        return ValueReader(self.value_type, self.value_bin)

    def time_reader(self) -> TimeReader:
        return TimeReader(self.time_unit, self.zone, self.time_format)
