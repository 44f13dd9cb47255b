"""How the source of a release was read; kept in the release and in the manifest of its index."""

from dataclasses import asdict, dataclass, field, replace
from typing import Literal, TypedDict

__all__ = ["ColumnKind", "Provenance", "ProvenanceFields", "UnusedColumn"]

ColumnKind = Literal["date", "number", "coordinate", "id", "quasi-identifier", "nested", "text", "empty"]
"""What an unused column looks like. A quasi-identifier is a column such as postcode, age or sex.

A nested column has objects, lists or bytes. A column is empty if its first rows are: later rows may contain
anything."""


class UnusedColumnFields(TypedDict):
    """JSON form of an unused column."""

    name: str
    kind: ColumnKind
    ignored: bool


@dataclass(frozen=True, slots=True)
class UnusedColumn:
    """A column of the source that has no role; `ignored` if the user said so."""

    name: str
    kind: ColumnKind
    ignored: bool = False


class ProvenanceFields(TypedDict):
    """JSON form of a provenance; JSON turns the tuple of files into a list."""

    format: str
    files: tuple[str, ...]
    columns: dict[str, str]
    settings: dict[str, str]
    reasons: dict[str, str]
    unused: list[UnusedColumnFields]
    rows: int
    rejected: dict[str, int]
    repeats: int
    merged: int
    without_value: int
    without_time: int
    rejected_lines: dict[str, str]
    column_notes: dict[str, str]


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

    def to_dict(self) -> ProvenanceFields:
        """Return the fields as a dictionary for JSON."""
        fields: ProvenanceFields = asdict(self)  # type: ignore[assignment]
        return fields

    @classmethod
    def from_dict(cls, fields: ProvenanceFields) -> "Provenance":
        """Make a provenance from the dictionary of a manifest."""
        unused = tuple(UnusedColumn(**column) for column in fields["unused"])
        return replace(cls(**fields), files=tuple(fields["files"]), unused=unused)  # type: ignore[arg-type]
