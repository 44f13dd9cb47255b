"""How the source of a release was read: part of findings.json, of the report and of every command.

It has counts, ranges and the names of columns and files, and never the content of a cell.
"""

from collections.abc import Mapping
from typing import Literal

from standout.data.column import Column
from standout.data.labels import UnusedColumn
from standout.data.release import Release
from standout.findings.json_types import Count, about, finding

OWN_FIELDS = {"encoding", "max rejects", "separator", "header", "time format", "time unit", "zone", "repeats"}
"""Settings of the provenance that have a place of their own in a reading."""


@finding
class ColumnRole:
    """A column that the release was made from."""

    role: str = about("record (the person), item, value or time; or another part of an item, such as a coordinate")
    column: str = about("Name of the column, or its number where the file has no header")
    reason: str = about("Why this column was chosen; empty if unknown")


@finding
class ColumnReading:
    """One column with a cell for each person.

    role: quasi-identifier (others may know it), sensitive (must not be learned), or other
    """

    name: str
    kind: Literal["number", "ordered", "category", "date", "boolean", "set"] = about("Type of the column")
    levels: Count = about("Number of different values")
    missing: Count = about("Number of empty cells")
    similarity: str = about("How two values are compared")
    error: str = about("How far an imprecise adversary is off, at most, in words")
    role: Literal["quasi-identifier", "sensitive", "other"]
    attribute: str = about("The attribute that the column is part of")
    note: str = about("How its cells were read")


@finding
class ValueReading:
    """How values were read."""

    type: Literal["numbers", "categories"]
    levels: Count = about("Number of different values")
    low: float | None = about("Smallest and largest number; null for categories")
    high: float | None = about("Smallest and largest number; null for categories")
    missing: Count = about("Number of entries without a value")


@finding
class TimeReading:
    """How times were read."""

    format: str | None = about("Format of the times in the source")
    zone: str = about("Zone that Unix times and times with a zone were converted to. Other times are taken as written.")
    unit: str = about("Resolution of the times in the release")
    first: str | None = about("Earliest and latest time")
    last: str | None = about("Earliest and latest time")
    missing: Count = about("Number of entries without a time")


@finding
class RejectedReason:
    """Rows that were left out for one reason."""

    reason: str
    rows: Count
    lines: str = about("Lines of the first of these rows; empty if unknown")


@finding
class RepeatedRows:
    """Rows with the record and item of an earlier row.

    rule: What was done with them: keep (all), or which row was kept (last, first, max); null if unknown
    """

    rows: Count = about("Number of these rows")
    merged: Count = about("Number of these rows that were dropped")
    rule: str | None


@finding
class Reading:
    """How a data set was read.

    header: Whether the first line has the names of the columns; null if the source has no such line
    """

    of: Literal["release", "original"] = about("The release that was audited, or the original that it was made from")
    synthetic: bool = about("Whether the data is synthetic, so that there is no source")
    format: str = about("Format of the source, such as MovieLens or Parquet")
    files: tuple[str, ...]
    encoding: str | None = about("Text encoding; null if the source is not text")
    separator: str | None = about("Separator of the columns; null if the source has none")
    header: bool | None
    columns: tuple[ColumnRole, ...] = about("The columns of the source that have a part in records and entries")
    attributes: tuple[ColumnReading, ...] = about("The columns with one cell for each person; none for a history")
    unused: tuple[UnusedColumn, ...] = about("The columns that were not used")
    values: ValueReading | None
    times: TimeReading | None
    rows: Count = about("Number of rows of the source")
    rejected: tuple[RejectedReason, ...] = about("Rows that were left out, by reason")
    repeated: RepeatedRows
    settings: Mapping[str, str] = about("Further settings of the reader")

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
    source, settings = release.provenance, release.provenance.settings
    header, roles, levels = settings.get("header"), dict(source.columns), release.levels
    values = times = None
    if isinstance(levels, tuple):
        values = ValueReading(type="categories", levels=len(levels), low=None, high=None, missing=source.without_value)
    elif levels is not None:
        low, high = (float(levels[0]), float(levels[-1])) if len(levels) else (None, None)
        values = ValueReading(type="numbers", levels=len(levels), low=low, high=high, missing=source.without_value)
    if release.clock is not None:
        first, last = (moment.isoformat() for moment in release.time_range) if release.time_range else (None, None)
        times = TimeReading(
            format=settings.get("time format"),
            zone=release.clock.zone,
            unit=release.clock.unit,
            first=first,
            last=last,
            missing=source.without_time,
        )
    if release.columns and not roles:
        roles["record"] = "none"
    return Reading(
        of=of,
        synthetic=source.format == "synthetic",
        format=source.format,
        files=tuple(source.files),
        encoding=settings.get("encoding"),
        separator=settings.get("separator"),
        header=None if header is None else header == "yes",
        columns=tuple(
            ColumnRole(role=role, column=column, reason=source.reasons.get(role, "")) for role, column in roles.items()
        ),
        attributes=tuple(
            ColumnReading(
                name=column.name,
                kind=column.kind,
                levels=column.n_levels,
                missing=int(column.counts[-1]),
                similarity=" ".join([column.similarity.name, *([] if scale is None else [f"{scale:g}"])]),
                error=error_text(column, column.error),
                role=column.role,
                attribute=column.attribute,
                note=source.column_notes.get(column.name, ""),
            )
            for column in release.columns
            for scale in [column.similarity.scale]
        ),
        unused=source.unused,
        values=values,
        times=times,
        rows=source.rows,
        rejected=tuple(
            RejectedReason(reason=reason, rows=rows, lines=source.rejected_lines.get(reason, ""))
            for reason, rows in source.rejected.items()
        ),
        repeated=RepeatedRows(rows=source.repeats, merged=source.merged, rule=settings.get("repeats")),
        settings={name: setting for name, setting in settings.items() if name not in OWN_FIELDS},
    )


def error_text(column: Column, error: float) -> str:
    """The error of a column in words: ± 14 days, ± 2, ± 1 step, within its group at height 1, exact."""
    if not column.has_distances or not error:
        return "exact"
    if column.kind == "date":
        return f"± {error:g} day{'' if error == 1 else 's'}"
    if column.kind == "number":
        return f"± {error:,.6g}".removesuffix(".0")
    steps = int(error)
    if column.kind == "ordered":
        return f"± {steps} step{'' if steps == 1 else 's'}" if steps else "exact"
    return f"within its group at height {steps}" if steps else "exact"
