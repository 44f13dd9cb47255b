"""Read CSV and similar files: any separator, with or without a header and quotes."""

import csv
from dataclasses import dataclass, replace

import numpy as np

from standout.core.errors import SourceError
from standout.core.progress import Progress
from standout.ingest.collector import Batch, Collector, Spans, constant_spans
from standout.ingest.column_roles import Roles, numbered_names, resolve_roles
from standout.ingest.diagnosis import merge_unused
from standout.ingest.header import is_header
from standout.ingest.options import Options
from standout.ingest.sources import HEAD, Stream
from standout.ingest.tokens import (
    NO_QUOTE,
    OPEN_QUOTE,
    Dialect,
    Rows,
    TextDecoder,
    Window,
    text_head,
    tokenise,
    without_marks,
)

__all__ = [
    "NO_ROWS",
    "SEPARATOR_NAMES",
    "DelimitedLayout",
    "check_two_lines",
    "decoded_head",
    "detect_layout",
    "first_lines",
    "guess_separator",
    "layout_of_further_file",
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


# Several delimited files with one layout: of each further file, only the first lines are checked.


SAMPLE_SAME_LAYOUT = 50


def layout_of_further_file(
    stream: Stream, first: DelimitedLayout, first_name: str, options: Options, examine: bool
) -> tuple[DelimitedLayout, DelimitedLayout]:
    """Return the layout of the first file and of this one, whose columns may be in another order.

    A file with a header needs the same column names. A file without one needs the same number of columns,
    and its first line must not be a header. `examine` says whether to find out what the unused columns look
    like in this file; the layout of the first file then remembers it.
    """
    rows = _first_rows(stream, first, SAMPLE_SAME_LAYOUT if examine else 2)
    if not rows:
        raise SourceError(f"{stream.name} is empty: check the file")
    layout = _layout(rows, first, options)
    if layout is None:
        raise SourceError(f"{stream.name} has another layout than {first_name}: read them one by one")
    if examine and first.roles.unused:
        sample = rows if first.header is None else rows[1:]
        unused = merge_unused(first.roles.unused, first.roles.unused_in(layout.roles.names, sample))
        first = replace(first, roles=replace(first.roles, unused=unused))
    return first, layout


def _layout(rows: list[list[str]], first: DelimitedLayout, options: Options) -> DelimitedLayout | None:
    names = tuple(rows[0])
    if names == first.header:
        return first
    if first.header is not None:
        is_same = sorted(names) == sorted(first.header) and len(set(names)) == len(names)
        return replace(first, header=names, roles=first.roles.reordered(names)) if is_same else None
    is_data = options.header is not None or len(rows) == 1 or not is_header(rows[0], rows[1], options)
    return first if is_data and len(names) == len(first.roles.names) else None


def _first_rows(stream: Stream, layout: DelimitedLayout, count: int) -> list[list[str]]:
    """Return the first rows; one with a line end inside quotes is incomplete, which changes nothing."""
    head, end = without_marks(text_head(stream)).lstrip(b"\r\n"), 0
    for _ in range(count):
        end = head.find(b"\n", end) + 1 or len(head)
    lines = decoded_head(head[:end]).replace("\0", "").splitlines()
    return split_lines([line for line in lines if line.strip()], layout.separator, layout.quote)
