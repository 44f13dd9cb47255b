"""Ids and titles: many short texts in two flat arrays that can be mapped from disk."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import offsets, read_only
from standout.core.errors import NotFoundError, ParameterError
from standout.core.json_files import JsonObject

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]


def shortlex(text: bytes) -> tuple[int, bytes]:
    """Sort key of ids: by length, then by bytes, so that 9 comes before 10."""
    return len(text), text


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """A sequence of texts; those of ids are in shortlex order, unless records are in the order of a survey's rows."""

    offsets: Offsets
    data: Bytes
    ordered: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", read_only(self.offsets))
        object.__setattr__(self, "data", read_only(self.data))

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Labels":
        """Make labels from Python strings."""
        encoded = [text.encode() for text in texts]
        return cls(offsets([len(text) for text in encoded]), np.frombuffer(b"".join(encoded), np.uint8))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int | np.integer[Any]) -> str:
        return self.raw(int(index)).decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        data, ends = self.data.tobytes(), self.offsets.tolist()  # several times faster than slicing the array
        return (data[start:end].decode("utf-8", "replace") for start, end in pairwise(ends))

    def raw(self, index: int) -> bytes:
        """Return one text as UTF-8 bytes."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def find(self, text: str) -> int | None:
        """Position of an id, or None; a binary search, so that few pages of a mapped index are loaded."""
        if not self.ordered:
            return next((position for position, label in enumerate(self) if label == text), None)
        target = text.encode("utf-8", "surrogatepass")
        low = bisect_left(range(len(self)), shortlex(target), key=lambda position: shortlex(self.raw(position)))
        return low if low < len(self) and self.raw(low) == target else None


def position_of_id(labels: Labels, text: object, kind: str = "record") -> int:
    """Position of the id of a record or an item; a NotFoundError if there is none."""
    position = labels.find(id_text(text, kind))
    if position is None:
        raise NotFoundError(f"the release has no {kind} with this id; ids are text, so 007 is not 7")
    return position


def id_text(given: object, kind: str = "record") -> str:
    """An id as text. Ids are often whole numbers in the source, so whole numbers are taken as ids too."""
    if isinstance(given, str):
        return given
    if isinstance(given, Integral) and not isinstance(given, bool):
        return str(int(given))
    raise ParameterError(f"a {kind} id must be text or a whole number, got {type(given).__name__}")


# Time in a release: whole days, hours or minutes on the wall clock of one zone.


TimeUnit = Literal["day", "hour", "minute"]
SECONDS: dict[TimeUnit, int] = {"day": 86_400, "hour": 3_600, "minute": 60}
EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Clock:
    """Meaning of the time codes of a release.

    Code c means `origin + c` units since 1970-01-01 00:00 on the wall clock of `zone`. Codes run
    from 0 to span - 1; the code `span` means that the entry has no time.
    """

    unit: TimeUnit
    origin: int
    span: int
    zone: str = "UTC"

    def __post_init__(self) -> None:
        if self.unit not in SECONDS:
            raise ParameterError(f"time_unit must be day, hour or minute, got {self.unit!r}")

    def encode(self, moment: date) -> int:
        """Code of a date or datetime on the wall clock; below 0 or at least `span` if it is out of range."""
        wall = moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day)
        return int((wall - EPOCH) // timedelta(seconds=SECONDS[self.unit])) - self.origin

    def decode(self, code: int) -> date | None:
        """Date of a code (datetime if the unit is hour or minute), or None if the time is missing."""
        return None if code >= self.span else self.moment(code)

    def moment(self, code: int) -> date:
        """Date or datetime of any code, also outside the range of the release."""
        moment = EPOCH + timedelta(seconds=(self.origin + int(code)) * SECONDS[self.unit])
        return moment.date() if self.unit == "day" else moment


# One record, one item and one entry of a release, with ids, values and dates instead of codes.


class Entry(NamedTuple):
    """One cell of a release: an item, with its value and time if they are known."""

    item: str
    value: float | str | None
    time: date | None


@dataclass(frozen=True, slots=True)
class Record:
    """One person's record: its id and its entries, in the order of item ids, then of times and values."""

    id: str
    index: int
    entries: tuple[Entry, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def support(self) -> tuple[str, ...]:
        """Items that the record has [the paper's supp(r)]."""
        return tuple(dict.fromkeys(entry.item for entry in self.entries))


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its id and title, its popularity rank, and the records that have it."""

    id: str
    index: int
    title: str
    rank: int
    support: tuple[str, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.support)


# How the source of a release was read; kept in the release and in the manifest of its index.


ColumnKind = Literal["date", "number", "coordinate", "id", "quasi-identifier", "nested", "text", "empty"]
"""What an unused column looks like. A quasi-identifier is a column such as postcode, age or sex.

A nested column has objects, lists or bytes. A column is empty if its first rows are: later rows may contain
anything."""


@dataclass(frozen=True, slots=True)
class UnusedColumn:
    """A column of the source that has no role; `ignored` if the user said so."""

    name: str
    kind: ColumnKind
    ignored: bool = False


@dataclass(frozen=True, slots=True)
class Provenance:
    """What was read, how it was interpreted, and what was left out: counts and column names only.

    `columns` maps a role (record, item, value, time) to a column, and `reasons` maps it to why this column
    was chosen. `rejected` maps each reason to a number of rows. `repeats` is the number of rows with the
    record and item of an earlier row, and `merged` the number of those that were dropped. `rejected_lines`
    has the first lines of each reason of `rejected`, as text. `column_notes` is for tables: by column, how
    its cells were read and how many are empty.
    """

    format: str
    files: tuple[str, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    unused: tuple[UnusedColumn, ...] = ()
    rows: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    repeats: int = 0
    merged: int = 0
    without_value: int = 0
    without_time: int = 0
    rejected_lines: dict[str, str] = field(default_factory=dict)
    column_notes: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> JsonObject:
        """Return the fields as a dictionary for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: Any) -> "Provenance":
        """Make a provenance from the dictionary of a manifest, whose shape nothing has checked."""
        unused = tuple(UnusedColumn(**column) for column in fields["unused"])
        return replace(cls(**fields), files=tuple(fields["files"]), unused=unused)


# What a step of sanitizing changed: counts, and the bins of values if it made any.


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of numbers, each replaced by one value.

    The bins are: below edges[0], from edges[0] up to edges[1], …, from the last edge on.
    """

    edges: tuple[float, ...]
    values: tuple[float, ...]

    def bin_values(self, numbers: Sequence[float]) -> tuple[float, ...]:
        """Value of the bin that contains each number."""
        return tuple(self.values[index] for index in np.searchsorted(self.edges, numbers, side="right"))


@dataclass(frozen=True, slots=True)
class StepReport:
    """Effect of one step: the step as text, counts of what changed, and the bins of values if it made any."""

    step: str
    counts: dict[str, float]
    bins: Bins | None = None
