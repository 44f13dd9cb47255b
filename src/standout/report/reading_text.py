"""How a source was read, as text: one line for the console, and rows of a table for it and the report."""

from collections.abc import Iterator
from typing import NamedTuple

from standout.findings.reading import ColumnReading, Reading, RepeatedRows, TimeReading, ValueReading

ROLES = {"record": "person"}
SHORT_FORMATS = {
    ("delimited text", "comma"): "CSV",
    ("delimited text", "semicolon"): "CSV",
    ("delimited text", "tab"): "TSV",
}
KEPT = {"last": "the last one kept", "first": "the first one kept", "max": "the largest value kept"}
SETTINGS = {"grid": "Grid, in degrees", "geohash": "Geohash letters", "record from name": "File name pattern"}
"""Titles of settings whose names say too little."""
DATE_PARTS = {
    "%d": "day",
    "%m": "month",
    "%b": "month",
    "%B": "month",
    "%Y": "year",
    "%y": "year",
    "%H": "hour",
    "%I": "hour",
    "%M": "minute",
    "%S": "second",
    "%f": "fraction",
    "%p": "AM or PM",
    "%z": "zone",
}


class ReadingRow(NamedTuple):
    """A row of the table: what, how it was read, and why."""

    title: str
    text: str
    reason: str = ""


class ReadingTable(NamedTuple):
    """The table of one data set in the report."""

    title: str
    rows: list[ReadingRow]
    attributes: tuple[ColumnReading, ...]
    note: str

    @classmethod
    def of(cls, reading: Reading) -> "ReadingTable":
        """Return the table of a reading."""
        title = "The release" if reading.of == "release" else "The original"
        return cls(title, reading_rows(reading), reading.attributes, quasi_identifier_note(reading))


def reading_sentence(reading: Reading) -> str:
    """Return how a source was read, in one line without the name of the source.

    >>> import polars as pl, standout as so
    >>> from standout.findings.reading import reading_of
    >>> release = so.read(pl.DataFrame({"user": ["7"], "film": ["Brazil"], "stars": [4.5]}))
    >>> reading_sentence(reading_of(release))  # doctest: +ELLIPSIS
    'frame; person = user, item = film...1 row, 0 rejected, 0 repeated.'
    """
    if reading.synthetic:
        return f"synthetic data, whose people do not exist; {_rows(reading.rows)}."
    form = SHORT_FORMATS.get((reading.format, reading.separator or ""), reading.format)
    header = None if reading.header is None else "header" if reading.header else "no header"
    layout = ", ".join(filter(None, (form, reading.encoding, reading.separator, header)))
    columns = ", ".join(_assignment(reading, column.role, column.column) for column in reading.columns)
    if not reading.columns:
        columns = ", ".join(filter(None, (_values(reading.values), _times(reading.times))))
    counts = f"{_rows(reading.rows)}, {reading.rows_rejected:,} rejected, {_repeats(reading.repeated)}"
    return "; ".join(filter(None, (layout, columns, counts if reading.rows else ""))) + "."


def reading_rows(reading: Reading) -> list[ReadingRow]:
    """Return everything about how a source was read, row by row."""
    if reading.synthetic:
        return [ReadingRow("Source", "none: the data is synthetic, and its people do not exist")]
    return [row for row in _all_rows(reading) if row.text]


def quasi_identifier_note(reading: Reading) -> str:
    """Sentence about unused columns such as postcode and age; empty if there are none."""
    names = ", ".join(reading.quasi_identifiers)
    if not names:
        return ""
    return (
        f"These columns may single out people together with other sources, and they were not measured by "
        f"this audit: {names}. Remove them before you publish the data, or assess their risk separately."
    )


def _all_rows(reading: Reading) -> Iterator[ReadingRow]:
    header = {None: "", True: "the first line names the columns", False: "none"}
    yield ReadingRow("Source", ", ".join(reading.files))
    yield ReadingRow("Format", reading.format)
    yield ReadingRow("Encoding", reading.encoding or "")
    yield ReadingRow("Separator", reading.separator or "")
    yield ReadingRow("Header", header[reading.header])
    for column in reading.columns:
        role = ROLES.get(column.role, column.role)
        yield ReadingRow(f"{role.capitalize()} column", column.column, column.reason)
    has_entries = reading.values or reading.times or not reading.attributes
    yield ReadingRow("Values", _value_details(reading.values) if has_entries else "")
    yield ReadingRow("Times", _time_details(reading.times) if has_entries else "")
    for kind, title in ((False, "Unused columns"), (True, "Ignored columns")):
        names = [f"{column.name} ({column.kind})" for column in reading.unused if column.ignored == kind]
        yield ReadingRow(title, ", ".join(names))
    yield ReadingRow("Rows", f"{reading.rows:,}" if reading.rows else "")
    yield ReadingRow("Rejected rows", f"{reading.rows_rejected:,}" if reading.rows else "")
    for reason in reading.rejected:
        lines = f" ({reason.lines})" if reason.lines else ""
        yield ReadingRow("Rejected", f"{reason.rows:,} × {reason.reason}{lines}")
    yield ReadingRow("Repeated rows", _repeat_details(reading.repeated) if reading.rows and has_entries else "")
    for name, setting in reading.settings.items():
        yield ReadingRow(SETTINGS.get(name, name[:1].upper() + name[1:]), setting)


def _assignment(reading: Reading, role: str, column: str) -> str:
    about = {"value": _values(reading.values), "time": _times(reading.times)}.get(role, "")
    return f"{ROLES.get(role, role)} = {column}" + (f" ({about})" if about else "")


def _rows(rows: int) -> str:
    return f"{rows:,} row" + ("" if rows == 1 else "s")


def _values(values: ValueReading | None) -> str:
    if values is None:
        return ""
    if values.type == "categories":
        return f"{values.levels:,} categories"
    if values.low is None or values.high is None:
        return "numbers"
    return f"numbers {values.low:.6g} to {values.high:.6g}"


def _value_details(values: ValueReading | None) -> str:
    if values is None:
        return "none"
    levels = f", {values.levels:,} levels" if values.type == "numbers" else ""
    missing = f", missing in {values.missing:,} entries" if values.missing else ""
    return _values(values) + levels + missing


def _times(times: TimeReading | None) -> str:
    if times is None:
        return ""
    return ", ".join(filter(None, (times.format, _zone(times), _span(times))))


def _zone(times: TimeReading) -> str | None:
    """Return the zone where it may matter: for Unix times, times with a zone, and any zone but UTC."""
    matters = times.zone != "UTC" or (times.format or "").startswith("Unix") or "%z" in (times.format or "")
    return times.zone if matters else None


def _time_details(times: TimeReading | None) -> str:
    if times is None:
        return "none"
    missing = f"missing in {times.missing:,} entries" if times.missing else ""
    details = _format(times), _zone_details(times), f"by {times.unit}", _span(times), missing
    return ", ".join(filter(None, details))


def _span(times: TimeReading) -> str:
    """Return the first and last time, to the minute."""
    if times.first is None or times.last is None:
        return ""
    return " to ".join(time.replace("T", " ").removesuffix(":00") for time in (times.first, times.last))


def _format(times: TimeReading) -> str | None:
    """Return the format of times; a pattern also in words, because day and month are easily confused."""
    words = times.format or ""
    for code, word in DATE_PARTS.items():
        words = words.replace(code, word)
    return times.format if words == times.format or "%" in words else f"{words} ({times.format})"


def _zone_details(times: TimeReading) -> str:
    """Return the zone, unless no time can have one."""
    pattern = times.format or ""
    if pattern.startswith("Unix") or "%z" in pattern:
        return f"zone {times.zone}"
    return "" if "%" in pattern else f"zone {times.zone} (times without a zone are taken as written)"


def _repeats(repeated: RepeatedRows) -> str:
    if not repeated.rows:
        return "0 repeated"
    if not repeated.merged:
        return f"{repeated.rows:,} repeated (all kept)"
    kept = KEPT.get(repeated.rule or "", "one kept")
    return f"{repeated.rows:,} repeated ({repeated.merged:,} dropped, {kept})"


def _repeat_details(repeated: RepeatedRows) -> str:
    if not repeated.rows:
        return "0"
    text = f"{repeated.rows:,} rows have the same person and item as an earlier row; "
    if not repeated.merged:
        return text + "all were kept"
    return text + f"{repeated.merged:,} were dropped, {KEPT.get(repeated.rule or '', 'one kept')}"
