"""How the source of a release was read: part of findings.json, of the report and of every command.

It has counts, ranges and the names of columns and files, and never the content of a cell.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from standout.data.labels import ColumnKind, Provenance, UnusedColumn
from standout.data.release import Release
from standout.findings.json_types import Count, NonNegative, PositiveCount

__all__ = [
    "ColumnReading",
    "ColumnRole",
    "Reading",
    "RejectedReason",
    "RepeatedRows",
    "TableOriginal",
    "TableReading",
    "TableSummary",
    "TimeReading",
    "UnusedColumnFinding",
    "ValueReading",
    "reading_of",
]

OWN_FIELDS = {"encoding", "max rejects", "separator", "header", "time format", "time unit", "zone", "repeats"}
"""Settings of the provenance that have a place of their own in a reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRole:
    """A column that the release was made from.

    Attributes
    ----------
    role
        record (the person), item, value or time; or another part of an item, such as a coordinate.
    column
        Name of the column, or its number where the file has no header.
    reason
        Why this column was chosen; empty if unknown.
    """

    role: str
    column: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedColumnFinding:
    """A column of the source that the release does not contain.

    Attributes
    ----------
    kind
        What the column looks like. A quasi-identifier is a column such as postcode, age or sex. A nested
        column has objects, lists or bytes. A column is empty if its first rows are.
    ignored
        Whether the user chose to ignore it.
    """

    name: str
    kind: ColumnKind
    ignored: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueReading:
    """How values were read.

    Attributes
    ----------
    levels
        Number of different values.
    low
        Smallest number; null for categories.
    high
        Largest number; null for categories.
    missing
        Number of entries without a value.
    """

    type: Literal["numbers", "categories"]
    levels: Count
    low: float | None
    high: float | None
    missing: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeReading:
    """How times were read.

    Attributes
    ----------
    format
        Format of the times in the source.
    zone
        Zone that Unix times and times with a zone were converted to. Other times are taken as written.
    unit
        Resolution of the times in the release.
    first
        Earliest time.
    last
        Latest time.
    missing
        Number of entries without a time.
    """

    format: str | None
    zone: str
    unit: str
    first: str | None
    last: str | None
    missing: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedReason:
    """Rows that were left out for one reason.

    Attributes
    ----------
    lines
        Lines of the first of these rows; empty if unknown.
    """

    reason: str
    rows: Count
    lines: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRows:
    """Rows with the record and item of an earlier row.

    Attributes
    ----------
    rows
        Number of these rows.
    merged
        Number of these rows that were dropped.
    rule
        What was done with them: keep (all), or which row was kept (last, first, max); null if unknown.
    """

    rows: Count
    merged: Count
    rule: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a data set was read.

    Attributes
    ----------
    of
        The release that was audited, or the original that it was made from.
    synthetic
        Whether the data is synthetic, so that there is no source.
    format
        Format of the source, such as MovieLens or Parquet.
    encoding
        Text encoding; null if the source is not text.
    separator
        Separator of the columns; null if the source has none.
    header
        Whether the first line has the names of the columns; null if the source has no such line.
    columns
        The columns that were used.
    unused
        The columns that were not used.
    rows
        Number of rows of the source.
    rejected
        Rows that were left out, by reason.
    settings
        Further settings of the reader.
    """

    of: Literal["release", "original"]
    synthetic: bool
    format: str
    files: tuple[str, ...]
    encoding: str | None
    separator: str | None
    header: bool | None
    columns: tuple[ColumnRole, ...]
    unused: tuple[UnusedColumnFinding, ...]
    values: ValueReading | None
    times: TimeReading | None
    rows: Count
    rejected: tuple[RejectedReason, ...]
    repeated: RepeatedRows
    settings: Mapping[str, str]

    @property
    def rows_rejected(self) -> int:
        """Number of rows that were left out."""
        return sum(reason.rows for reason in self.rejected)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Names of unused columns, such as postcode or age, that single out people together."""
        return tuple(column.name for column in self.unused if column.kind == "quasi-identifier")


def reading_of(release: Release, of: Literal["release", "original"] = "release") -> Reading:
    """Return how a release was read.

    >>> import polars as pl, standout as so
    >>> reading = reading_of(so.read(pl.DataFrame({"user": ["7"], "film": ["Brazil"], "stars": [4.5]})))
    >>> reading.values
    ValueReading(type='numbers', levels=1, low=4.5, high=4.5, missing=0)
    """
    source = release.provenance
    settings = source.settings
    header = settings.get("header")
    return Reading(
        of=of,
        synthetic=source.format == "synthetic",
        format=source.format,
        files=tuple(source.files),
        encoding=settings.get("encoding"),
        separator=settings.get("separator"),
        header=None if header is None else header == "yes",
        columns=tuple(
            ColumnRole(role=role, column=column, reason=source.reasons.get(role, ""))
            for role, column in source.columns.items()
        ),
        unused=tuple(map(_unused, source.unused)),
        values=_values(release),
        times=_times(release),
        rows=source.rows,
        rejected=_rejected(source),
        repeated=RepeatedRows(rows=source.repeats, merged=source.merged, rule=settings.get("repeats")),
        settings={name: setting for name, setting in settings.items() if name not in OWN_FIELDS},
    )


def _unused(column: UnusedColumn) -> UnusedColumnFinding:
    return UnusedColumnFinding(name=column.name, kind=column.kind, ignored=column.ignored)


def _rejected(source: Provenance) -> tuple[RejectedReason, ...]:
    return tuple(
        RejectedReason(reason=reason, rows=rows, lines=source.rejected_lines.get(reason, ""))
        for reason, rows in source.rejected.items()
    )


def _values(release: Release) -> ValueReading | None:
    levels, missing = release.levels, release.provenance.without_value
    if levels is None:
        return None
    if isinstance(levels, tuple) or not len(levels):
        kind: Literal["numbers", "categories"] = "categories" if isinstance(levels, tuple) else "numbers"
        return ValueReading(type=kind, levels=len(levels), low=None, high=None, missing=missing)
    ends = float(levels[0]), float(levels[-1])
    return ValueReading(type="numbers", levels=len(levels), low=ends[0], high=ends[1], missing=missing)


def _times(release: Release) -> TimeReading | None:
    clock, ends = release.clock, release.time_range
    if clock is None:
        return None
    return TimeReading(
        format=release.provenance.settings.get("time format"),
        zone=clock.zone,
        unit=clock.unit,
        first=None if ends is None else ends[0].isoformat(),
        last=None if ends is None else ends[1].isoformat(),
        missing=release.provenance.without_time,
    )


# How a table was read: its columns, their types and roles. Counts and names of columns only.


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
