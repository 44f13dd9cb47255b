"""What pages share: a self-contained HTML page, functions of templates, and how a source was read, as text.

A page has no scripts and no external resources, and a policy that enforces this.
"""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from standout.core.errors import ParameterError
from standout.core.files import write_atomically
from standout.core.text import (
    LONG,
    SHORT,
    count,
    decimal,
    estimate_text,
    interval_text,
    percent,
    printable_lines,
    shorten,
)
from standout.data.export import inert
from standout.findings.audit import Threshold
from standout.findings.reading import Reading, RepeatedRows, TimeReading, ValueReading
from standout.findings.sections import AdversaryFindings

if TYPE_CHECKING:
    from markupsafe import Markup


def render_page(template: str, style: str = "", **context: Any) -> str:
    """The page of a template that extends base.html, with the common style and the given one.

    All of the context is escaped, except what is already Markup, and made printable. The content security policy admits
    only the style sheet, by its hash: an element that got into the page could neither run nor load anything.
    """
    from markupsafe import Markup

    style = template_text("base.css") + style
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return render_part(template, style=Markup(style), digest=digest, **context)


def render_part(template: str, **context: Any) -> str:
    """The HTML of a template that may use those in templates/, escaped and printable."""
    from jinja2 import ChoiceLoader, DictLoader, Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=ChoiceLoader([DictLoader({"page": template}), FunctionLoader(template_text)]),
    )
    return printable_lines(environment.get_template("page").render(**context))


@cache
def template_text(name: str) -> str:
    """Content of a file in templates/."""
    return (files("standout.report") / "templates" / name).read_text(encoding="utf-8")


# What the pages of audits share: functions of their templates, and sentences about thresholds.


OPTION = re.compile(r"(--[a-z-]+|standout advise)")
MANY = 0.2
"""From this share of identified targets on, few claims need an explanation."""


def template_functions() -> dict[str, Any]:
    """The functions that templates call, by their names there."""
    return {
        "name": isolated(SHORT),
        "say": isolated(LONG),
        "instruct": with_options,
        "shorten": shorten,
        "share": estimate_text,
        "interval": interval_text,
        "percent": percent,
        "count": count,
        "decimal": decimal,
        "rarely_claimed": rarely_claimed,
        "reading_rows": reading_rows,
        "quasi_identifier_note": quasi_identifier_note,
    }


def isolated(most: int) -> "Callable[[str], Markup]":
    """A function that shortens and escapes a text from outside and isolates its writing direction."""
    from markupsafe import Markup

    def isolate(text: str) -> Markup:
        unbroken = text.replace(" %", "\xa0%").replace("± ", "±\xa0").replace("φ = ", "φ\xa0=\xa0")
        return Markup("<bdi>{}</bdi>").format(shorten(unbroken, most))

    return isolate


def with_options(text: str) -> "Markup":
    """A sentence of ours, escaped, with options as code that is not broken at its hyphens."""
    from markupsafe import Markup, escape

    parts = OPTION.split(text.replace(" %", "\xa0%"))
    code = Markup('<code class="option">{}</code>')
    return Markup("").join(code.format(part) if OPTION.fullmatch(part) else escape(part) for part in parts)


def rarely_claimed(adversaries: Sequence[AdversaryFindings]) -> list[str]:
    """Names of adversaries who identify many targets and claim less than half of them within the budget."""
    rates = [
        (each.name, each.as_named.identified.value, each.as_named.correct_claims_at_budget.value)
        for each in adversaries
    ]
    return [shorten(name, 40) for name, identified, claimed in rates if claimed < identified / 2 >= MANY / 2]


def threshold_status(threshold: Threshold) -> str:
    """The first words of the sentence about the threshold."""
    if threshold.exceeded is None:
        return "Not compared with"
    if not threshold.exceeded:
        return "Not above"
    limit, measured = threshold.fail_above, threshold.measured
    is_certain = measured is None or limit is None or measured.low > limit
    return "Above" if is_certain else "May be above"


# Tables as files, without cells that a spreadsheet would execute.


FORMS = (".csv", ".parquet")


def table_form(path: Path) -> str:
    """Ending of a table's file name: .csv or .parquet."""
    if path.suffix not in FORMS:
        raise ParameterError(f"{path.name}: the name of a table must end in {' or '.join(FORMS)}")
    return path.suffix


def private_table(table: pl.DataFrame, path: Path) -> None:
    """Write a .csv or .parquet file that only its owner can read."""
    form = table_form(path)
    write_atomically(
        path, lambda file: inert(table).write_csv(file) if form == ".csv" else table.write_parquet(file), True
    )


# How a source was read: one line for the console, and rows of a table for it and the report.

ROLES = {"record": "person"}
SHORT_FORMATS = {"comma": "CSV", "semicolon": "CSV", "tab": "TSV"}
"""Short names of delimited text."""
PLURALS = {
    "number": "numbers", "ordered": "ordered", "category": "categories", "date": "dates",
    "boolean": "booleans", "set": "sets"
}  # fmt: skip
KEPT = {"last": "the last one kept", "first": "the first one kept", "max": "the largest value kept"}
SETTINGS = {"grid": "Grid, in degrees", "geohash": "Geohash letters", "record from name": "File name pattern"}
"""Titles of settings whose names say too little."""
DATE_PARTS = {"%d": "day", "%m": "month", "%b": "month", "%B": "month", "%Y": "year", "%y": "year", "%H": "hour"}
DATE_PARTS |= {"%I": "hour", "%M": "minute", "%S": "second", "%f": "fraction", "%p": "AM or PM", "%z": "zone"}


class ReadingRow(NamedTuple):
    """A row of the table: what, how it was read, and why."""

    title: str
    text: str
    reason: str = ""


def reading_sentence(reading: Reading) -> str:
    """Return how a source was read, in one line without the name of the source."""
    if reading.synthetic:
        return f"synthetic data, whose people do not exist; {_rows(reading.rows)}."
    is_text = reading.format == "delimited text"
    form = SHORT_FORMATS.get(reading.separator or "", reading.format) if is_text else reading.format
    header = None if reading.header is None else "header" if reading.header else "no header"
    layout = ", ".join(filter(None, (form, reading.encoding, reading.separator, header)))
    columns = ", ".join(_assignment(reading, column.role, column.column) for column in reading.columns)
    if not reading.columns:
        columns = ", ".join(filter(None, (_values(reading.values), _times(reading.times))))
    counts = f"{_rows(reading.rows)}, {reading.rows_rejected:,} rejected, {_repeats(reading.repeated)}"
    parts = [layout, columns, counts if reading.rows else ""]
    if reading.attributes:
        kinds = Counter(each.kind for each in reading.attributes)
        of_kinds = ", ".join(f"{number} {kind if number == 1 else PLURALS[kind]}" for kind, number in kinds.items())
        history = reading.settings.get("history", "")
        empty = f"{sum(each.missing for each in reading.attributes):,} empty cells"
        parts = ["table", *parts[:2], f"{count(len(reading.attributes), 'column', 'columns')} ({of_kinds})"]
        parts += [history and f"history {history}", f"{_rows(reading.rows)}, {empty}"]
    return "; ".join(filter(None, parts)) + "."


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
    # the zone may matter for Unix times, times with a zone, and any zone but UTC
    matters = times.zone != "UTC" or (times.format or "").startswith("Unix") or "%z" in (times.format or "")
    return ", ".join(filter(None, (times.format, times.zone if matters else None, _span(times))))


def _time_details(times: TimeReading | None) -> str:
    if times is None:
        return "none"
    missing = f"missing in {times.missing:,} entries" if times.missing else ""
    form = words = times.format or ""
    for code, word in DATE_PARTS.items():  # also in words, because day and month are easily confused
        words = words.replace(code, word)
    zone = f"zone {times.zone}"
    if not (form.startswith("Unix") or "%z" in form):  # else no time can have one
        zone = "" if "%" in form else f"{zone} (times without a zone are taken as written)"
    shown = form if words == form or "%" in words else f"{words} ({form})"
    return ", ".join(filter(None, (shown, zone, f"by {times.unit}", _span(times), missing)))


def _span(times: TimeReading) -> str:
    """Return the first and last time, to the minute."""
    if times.first is None or times.last is None:
        return ""
    return " to ".join(time.replace("T", " ").removesuffix(":00") for time in (times.first, times.last))


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
