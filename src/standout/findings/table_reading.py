"""How a table was read: its columns, their types and roles. Counts and names of columns only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from standout.findings.json_types import Count, NonNegative, PositiveCount

__all__ = ["ColumnReading", "TableOriginal", "TableReading", "TableSummary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnReading:
    """One column of a table.

    Attributes
    ----------
    kind
        Type of the column.
    levels
        Number of different values.
    missing
        Number of empty cells.
    similarity
        How two values are compared.
    error
        How far an imprecise adversary is off, at most, in words.
    role
        quasi-identifier (others may know it), sensitive (must not be learned), or other.
    attribute
        The attribute that the column is part of.
    note
        How its cells were read.
    """

    name: str
    kind: Literal["number", "ordered", "category", "date", "boolean", "set"]
    levels: Count
    missing: Count
    similarity: str
    error: str
    role: Literal["quasi-identifier", "sensitive", "other"]
    attribute: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReading:
    """How a table was read.

    Attributes
    ----------
    of
        The table that was audited, or the original that it was made from.
    format
        Format of the source.
    id
        Column with the ids of the rows; null if there is none.
    id_reason
        Why this column, or none, is the id.
    columns
        The columns that were audited.
    ignored
        Columns of the source that the user left out: the audit says nothing about them.
    settings
        Further settings of the reader.
    """

    of: Literal["table", "original"]
    format: str
    files: tuple[str, ...]
    id: str | None
    id_reason: str
    columns: tuple[ColumnReading, ...]
    ignored: tuple[str, ...]
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSummary:
    """The table that was audited.

    Attributes
    ----------
    name
        Name of the file.
    fingerprint
        Hash of the content.
    attributes
        Number of attributes; columns of a tuple are one.
    missing_cells
        Number of empty cells.
    history_entries
        Number of entries of a history that was read with the table; 0 if there is none.
    """

    name: str
    fingerprint: str
    rows: PositiveCount
    columns: PositiveCount
    attributes: PositiveCount
    missing_cells: Count
    history_entries: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOriginal:
    """The original from which a sanitized table was made. Targets and known values come from it.

    Attributes
    ----------
    not_in_table
        People of the original whose rows were removed.
    dropped
        Columns of the original that the table lacks.
    steps
        The changes that turned the original into the table.
    changes
        What each step changed, in the order of the steps.
    explanation
        What this means for the reader of the report.
    """

    fingerprint: str
    rows: PositiveCount
    columns: PositiveCount
    not_in_table: Count
    dropped: tuple[str, ...]
    steps: tuple[str, ...]
    changes: tuple[Mapping[str, NonNegative], ...]
    explanation: str
