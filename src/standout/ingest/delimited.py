"""Read CSV and similar files: any separator, with or without a header and quotes. Each file is tokenised once."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import SourceError
from standout.core.progress import Progress
from standout.data.build_kernels import NONE
from standout.data.column import code_dtype
from standout.data.labels import UnusedColumn
from standout.ingest.collector import Batch, Collector, Spans, constant_spans
from standout.ingest.column_roles import Roles, numbered_names
from standout.ingest.diagnosis import merge_unused
from standout.ingest.first_rows import history_has_header, table_has_header
from standout.ingest.formats import SourceFile
from standout.ingest.interner import Interner
from standout.ingest.options import Options
from standout.ingest.rejects import RejectLog
from standout.ingest.sources import HEAD, Stream, open_stream
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

SEPARATORS = ("::", "\t", ",", ";", "|", " ")
SEPARATOR_NAMES = {"\t": "tab", " ": "space", ",": "comma", ";": "semicolon"}
SAMPLE = 50
SMALL_NUMBERS = 10**5
"""Numbers of a column that are looked up in an array: a table may have thousands of columns."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Separator, quote, column names and first rows of a delimited file; numbered names if it has no header."""

    separator: str
    quote: str
    names: tuple[str, ...] = ()
    header: bool = False
    rows: list[list[str]] = field(default_factory=list, repr=False)

    @property
    def sample(self) -> list[list[str]]:
        """The first rows without the header."""
        return self.rows[int(self.header) :]

    def settings(self) -> dict[str, str]:
        """Return the layout for the provenance."""
        name = SEPARATOR_NAMES.get(self.separator, self.separator)
        return {"separator": name, "header": "yes" if self.header else "no"}

    def as_history(self, stream: Stream, options: Options) -> "Layout":
        """Decide whether a history has a header."""
        return self._named(stream, history_has_header(self.rows, options), tuple(self.rows[0]))

    def as_table(self, stream: Stream, options: Options) -> "Layout":
        """Decide whether a table has a header; its columns need different names."""
        numbered = numbered_names(len(self.rows[0]))
        names = tuple(cell.strip() or number for cell, number in zip(self.rows[0], numbered, strict=True))
        header = table_has_header(self.rows, options)
        if header and len(set(names)) < len(names):
            raise SourceError(f"{stream.name} has two columns with the same name: rename one")
        return self._named(stream, header, names)

    def _named(self, stream: Stream, header: bool, names: tuple[str, ...]) -> "Layout":
        if header and len(self.rows) == 1:
            raise SourceError(f"{stream.name} has a header and no rows: check the file")
        return replace(self, names=names if header else numbered_names(len(names)), header=header)


@contextmanager
def open_text(file: SourceFile, options: Options, record: str = "") -> Iterator[Stream]:
    """Open a file of delimited text, behind the lines that the user skips."""
    with open_stream(file.path, file.member, options.encoding) as stream:
        text_head(stream)  # in UTF-8, whose lines can be skipped
        stream.skip(options.skip_lines)
        stream.record = record
        yield stream


def read_layout(stream: Stream, options: Options) -> Layout:
    """Recognise separator and quote from the first lines; whether there is a header depends on the kind of data."""
    head = decoded_head(text_head(stream)).lstrip("\ufeff").replace("\0", "")
    lines = [line for line in head.replace("\r\n", "\n").split("\n")[: SAMPLE + 1] if line.strip()]
    if not lines:
        raise SourceError(f"{stream.name} is empty: check the file")
    separator = options.separator or guess_separator(stream.name, lines, options.quote)
    quote = usable_quote(separator, options.quote)
    rows = split_lines(lines, separator, quote)
    if not rows:
        raise SourceError(f"{stream.name} is empty: check the file")
    if len(rows) == 1 and len(stream.peek()) >= HEAD:
        line = stream.first_line + stream.peek().count(b"\n")
        raise SourceError(
            f"{stream.name}: the first two lines together are longer than {HEAD >> 10} KB (line {line} is "
            "too long), so the layout is not recognised: shorten it, and check the separator and the quotes"
        )
    return Layout(separator, quote, rows=rows)


def decoded_head(head: bytes) -> str:
    """First bytes as text, in the encoding in which `Window` reads them; invalid bytes are reported later."""
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
    """Split lines into fields, only to recognise the layout."""
    if quote:
        try:
            return [row for row in csv.reader(lines, delimiter=separator, quotechar=quote) if row]
        except csv.Error:
            pass
    return [line.split(separator) for line in lines]


def head_columns(stream: Stream, layout: Layout, columns: Sequence[int]) -> list[list[str]]:
    """Cells of some columns in the first bytes of a file, which show whether people have several rows."""
    lines = decoded_head(text_head(stream)).lstrip("\ufeff").replace("\r\n", "\n").split("\n")
    rows = split_lines([line for line in lines if line.strip()], layout.separator, layout.quote)[int(layout.header) :]
    return [[row[column].strip() for row in rows if len(row) == len(layout.names)] for column in columns]


def rows_of(stream: Stream, layout: Layout, wanted: Sequence[int], progress: Progress) -> Iterator[tuple[Window, Rows]]:
    """Yield the rows of a stream without its header, window by window, with the spans of the wanted columns."""
    slot = np.full(len(layout.names), -1, np.int64)
    slot[list(wanted)] = np.arange(len(wanted))
    quote = ord(layout.quote) if layout.quote else NO_QUOTE
    dialect = Dialect(np.frombuffer(layout.separator.encode(), np.uint8), quote, slot)
    window, header, rows = Window(stream), layout.header, Rows.empty(0, len(wanted))
    while window.refill():
        if len(rows.line) <= window.most_rows:  # one more, for the row that is not complete yet
            rows = Rows.empty(window.most_rows + 1, len(wanted))
        count, used, next_line, state = tokenise(window.buffer, window.end, window.line, dialect, rows)
        if window.last and state == OPEN_QUOTE:
            raise SourceError(
                f"{stream.name}: the quote on line {next_line} is never closed; close it, "
                "or add quote='' if the file does not use quotes"
            )
        yield window, rows.part(1 if header and count else 0, count)
        header = header and not count
        window.take(used, next_line)
        progress("reading", stream.done, stream.total)


def read_delimited(stream: Stream, layout: Layout, roles: Roles, collector: Collector, progress: Progress) -> None:
    """Pass every row of a history to the collector."""
    collector.begin_source(stream.name)
    window = None
    for window, rows in rows_of(stream, layout, roles.wanted, progress):
        if len(rows.status):
            spans = [Spans(window.buffer, starts, ends) for starts, ends in zip(rows.starts, rows.ends, strict=True)]
            time = spans.pop() if roles.time is not None else None
            value = spans.pop() if roles.value is not None else None
            record = constant_spans(stream.record, len(rows.line)) if roles.record is None else spans.pop(0)
            collector.add(Batch(rows.line, rows.status, record, tuple(spans), value, time))
    if window is not None:
        collector.note_encoding(window)


def layout_of_further_file(
    stream: Stream, first: Layout, roles: Roles, first_name: str, options: Options, examine: bool
) -> tuple[Layout, Roles, tuple[UnusedColumn, ...]]:
    """Return the layout and the roles of a further file, whose columns may be in another order.

    A file with a header needs the same column names. A file without one needs the same number of columns,
    and its first line must not be a header. If `examine`, also find out what the unused columns look like in
    this file.
    """
    rows = _first_rows(stream, first, SAMPLE if examine else 2)
    if not rows:
        raise SourceError(f"{stream.name} is empty: check the file")
    names, layout, own = tuple(rows[0]), first, roles
    if first.header and names != first.names:
        is_same = sorted(names) == sorted(first.names) and len(set(names)) == len(names)
        layout, own = replace(first, names=names), roles.reordered(names) if is_same else roles
    elif not first.header:
        is_data = options.header is not None or len(rows) == 1 or not history_has_header(rows[:2], options)
        is_same = is_data and len(names) == len(first.names)
    else:
        is_same = True
    if not is_same:
        raise SourceError(f"{stream.name} has another layout than {first_name}: read them one by one")
    unused = roles.unused
    if examine and unused:
        unused = merge_unused(unused, roles.unused_in(layout.names, rows[int(first.header) :]))
    return layout, own, unused


def _first_rows(stream: Stream, layout: Layout, count: int) -> list[list[str]]:
    """Return the first rows; one with a line end inside quotes is incomplete, which changes nothing."""
    head, end = without_marks(text_head(stream)).lstrip(b"\r\n"), 0
    for _ in range(count):
        end = head.find(b"\n", end) + 1 or len(head)
    lines = decoded_head(head[:end]).replace("\0", "").splitlines()
    return split_lines([line for line in lines if line.strip()], layout.separator, layout.quote)


class ColumnTexts:
    """The distinct texts of some columns of a table, and the code of each row; NONE is an empty cell."""

    def __init__(self, wanted: Sequence[int]) -> None:
        self.wanted = wanted
        self.interners = [Interner(SMALL_NUMBERS) for _ in wanted]
        self.codes: list[list[NDArray[np.unsignedinteger]]] = [[] for _ in wanted]
        self.encodings: set[str] = set()

    def read(self, stream: Stream, layout: Layout, rejects: RejectLog, progress: Progress) -> None:
        """Add all rows of a file."""
        window = None
        for window, rows in rows_of(stream, layout, self.wanted, progress):
            rejects.rows += len(rows.line)
            rejects.add(stream.name, rows.line, rows.status)
            good = rows.status == 0
            for k, interner in enumerate(self.interners):
                codes = interner.codes(window.buffer, rows.starts[k], rows.ends[k], rows.status)
                codes = np.where(codes == NONE, 0, codes + 1)[
                    good
                ]  # in as few bytes as possible: most columns are short
                self.codes[k].append(codes.astype(code_dtype(len(interner))))
        if window is not None:
            self.encodings.add(window.stream.encoding)
            if window.decoder.invalid_line is not None:
                rejects.invalid_text.append((stream.name, window.decoder.invalid_line))
