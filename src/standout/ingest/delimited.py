"""Read CSV and similar files: any separator, with or without a header and quotes."""

import csv
from dataclasses import dataclass

import numpy as np

from standout.core.errors import SourceError
from standout.core.progress import Progress
from standout.ingest.collector import Batch, Collector, Spans, constant_spans
from standout.ingest.column_roles import Roles, numbered_names, resolve_roles
from standout.ingest.encodings import TextDecoder
from standout.ingest.header import is_header
from standout.ingest.options import Options
from standout.ingest.sources import HEAD, Stream
from standout.ingest.tokens import NO_QUOTE, OPEN_QUOTE, Dialect, Rows, tokenise
from standout.ingest.window import Window, text_head

__all__ = [
    "NO_ROWS",
    "SEPARATOR_NAMES",
    "DelimitedLayout",
    "check_two_lines",
    "decoded_head",
    "detect_layout",
    "first_lines",
    "guess_separator",
    "read_delimited",
    "split_lines",
    "usable_quote",
]

SEPARATORS = ("::", "\t", ",", ";", "|", " ")
NO_ROWS = "{} has a header and no rows: check the file"
SEPARATOR_NAMES = {"\t": "tab", " ": "space", ",": "comma", ";": "semicolon"}
SAMPLE = 50


@dataclass(frozen=True, slots=True)
class DelimitedLayout:
    """Separator, quote, header and column roles of a delimited file."""

    separator: str
    quote: str
    header: tuple[str, ...] | None
    roles: Roles

    def settings(self) -> dict[str, str]:
        """Return the layout for the provenance."""
        return {
            "separator": SEPARATOR_NAMES.get(self.separator, self.separator),
            "header": "no" if self.header is None else "yes",
        }

    def dialect(self) -> Dialect:
        """Return the layout for the tokeniser."""
        slot = np.full(len(self.roles.names), -1, np.int64)
        slot[self.roles.wanted] = np.arange(len(self.roles.wanted))
        quote = ord(self.quote) if self.quote else NO_QUOTE
        return Dialect(np.frombuffer(self.separator.encode(), np.uint8), quote, slot)


def check_two_lines(stream: Stream, rows: list[list[str]]) -> None:
    """Check that the first bytes of a long file have more than one line, which the layout is guessed from."""
    if len(rows) == 1 and len(stream.peek()) >= HEAD:
        line = stream.first_line + stream.peek().count(b"\n")
        raise SourceError(
            f"{stream.name}: the first two lines together are longer than {HEAD >> 10} KB (line {line} is "
            "too long), so the layout is not recognised: shorten it, and check the separator and the quotes"
        )


def detect_layout(stream: Stream, options: Options, in_order: str = "") -> DelimitedLayout:
    """Detect the layout of a file from its first lines and the options.

    `in_order` names a known format whose files without a header have record, item, value and time.
    """
    lines = first_lines(stream)
    separator = options.separator or guess_separator(stream.name, lines, options.quote)
    quote = usable_quote(separator, options.quote)
    rows = split_lines(lines, separator, quote)
    if not rows:
        raise SourceError(f"{stream.name} is empty: check the file")
    check_two_lines(stream, rows)
    header = is_header(rows[0], rows[1] if len(rows) > 1 else None, options, stream.name)
    if header and len(rows) == 1:
        raise SourceError(NO_ROWS.format(stream.name))
    names = tuple(rows[0]) if header else numbered_names(len(rows[0]))
    sample = rows[1:] if header else rows
    roles = resolve_roles(names, options, header, sample, source=stream.name, in_order=in_order)
    return DelimitedLayout(separator, quote, names if header else None, roles)


def read_delimited(stream: Stream, layout: DelimitedLayout, collector: Collector, progress: Progress) -> None:
    """Pass every row of the stream to the collector."""
    collector.begin_source(stream.name)
    dialect, width = layout.dialect(), len(layout.roles.wanted)
    window, header = Window(stream), layout.header is not None
    rows = Rows.empty(0, width)
    while window.refill():
        if len(rows.line) <= window.most_rows:  # one more, for the row that is not complete yet
            rows = Rows.empty(window.most_rows + 1, width)
        count, used, next_line, state = tokenise(window.buffer, window.end, window.line, dialect, rows)
        if window.last and state == OPEN_QUOTE:
            raise SourceError(
                f"{stream.name}: the quote on line {next_line} is never closed; close it, "
                "or add quote='' if the file does not use quotes"
            )
        complete = rows.part(1 if header and count else 0, count)
        header = header and not count
        if len(complete.status):
            collector.add(_batch(stream, window, complete, layout.roles))
        window.take(used, next_line)
        progress("reading", stream.done, stream.total)
    collector.note_encoding(window)


def _batch(stream: Stream, window: Window, rows: Rows, roles: Roles) -> Batch:
    spans = [Spans(window.buffer, rows.starts[k], rows.ends[k]) for k in range(len(roles.wanted))]
    n_items = len(roles.item)
    time = spans.pop() if roles.time is not None else None
    value = spans.pop() if roles.value is not None else None
    items = tuple(spans[len(spans) - n_items :])
    record = constant_spans(stream.record, len(rows.line)) if roles.record is None else spans[0]
    return Batch(rows.line, rows.status, record, items, value, time)


def first_lines(stream: Stream) -> list[str]:
    """First lines as text, only to detect the layout; invalid bytes are reported later."""
    head = decoded_head(text_head(stream)).lstrip("\ufeff").replace("\0", "")
    lines = head.replace("\r\n", "\n").split("\n")
    if not head.strip():
        raise SourceError(f"{stream.name} is empty: check the file")
    return [line for line in lines[: SAMPLE + 1] if line.strip()]


def decoded_head(head: bytes) -> str:
    """First bytes as text, in the encoding in which `Window` reads them."""
    complete = head[: head.rfind(b"\n") + 1] or head
    return TextDecoder().to_utf8(complete, 1).decode()


def guess_separator(name: str, lines: list[str], quote: str) -> str:
    """Separator with which most of the first lines have the same number of fields, then the most fields.

    A space is only used if no other separator fits.
    """
    fits: dict[str, tuple[float, int]] = {}
    for candidate in SEPARATORS:
        counts = [len(row) for row in split_lines(lines, candidate, usable_quote(candidate, quote))]
        if counts and counts[0] > 1 and 2 * counts.count(counts[0]) >= len(counts):
            fits[candidate] = counts.count(counts[0]) / len(counts), counts[0]
    if len(fits) > 1:
        fits.pop(" ", None)
    if not fits:
        raise SourceError(f"{name}: no separator was recognised; set it with separator=…")
    return max(fits, key=lambda candidate: fits[candidate])


def usable_quote(separator: str, quote: str) -> str:
    """The quote, or "": only files whose separator is one ASCII character have quotes."""
    return quote if len(separator.encode()) == 1 else ""


def split_lines(lines: list[str], separator: str, quote: str) -> list[list[str]]:
    """Split lines into fields, only to detect the layout."""
    if not quote:
        return [line.split(separator) for line in lines]
    try:
        return [row for row in csv.reader(lines, delimiter=separator, quotechar=quote) if row]
    except csv.Error:
        return [line.split(separator) for line in lines]
