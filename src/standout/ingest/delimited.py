"""Read CSV and similar files: any separator, with or without a header and quotes. Each file is tokenised once."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.core.errors import ParameterError, SourceError
from standout.core.progress import Progress
from standout.data.build_kernels import NONE
from standout.data.column import code_dtype
from standout.data.labels import Provenance
from standout.ingest.cells import DistinctCells, text_cells
from standout.ingest.collector import Batch, Collector, Spans, constant_spans
from standout.ingest.formats import Options, SourceFile
from standout.ingest.report import Reason, check_rejects
from standout.ingest.roles import Roles, has_header, is_repeated, is_unlikely_row, numbered_names
from standout.ingest.sources import HEAD, Stream, open_stream
from standout.ingest.tokens import (
    NO_QUOTE,
    OPEN_QUOTE,
    Dialect,
    Interner,
    Rows,
    TextDecoder,
    Window,
    text_head,
    tokenise,
)

if TYPE_CHECKING:
    from standout.ingest.read import SourceReader

SEPARATORS = ("::", "\t", ",", ";", "|", " ")
SEPARATOR_NAMES = {"\t": "tab", " ": "space", ",": "comma", ";": "semicolon"}
SAMPLE = 50
SMALL_NUMBERS = 10**5
"""Numbers of a column that are looked up in an array: a table may have thousands of columns."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Separator, quote and column names of a delimited file; numbered names if it has no header."""

    separator: str
    quote: str
    names: tuple[str, ...]
    header: bool

    def settings(self) -> dict[str, str]:
        """Return the layout for the provenance."""
        name = SEPARATOR_NAMES.get(self.separator, self.separator)
        return {"separator": name, "header": "yes" if self.header else "no"}


@dataclass(frozen=True, slots=True)
class TextFile:
    """An open delimited file; `rows` are those in its first bytes, without the header."""

    stream: Stream
    layout: Layout
    rows: list[list[str]] = field(repr=False)

    unit = "line"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.layout.names

    @property
    def sample(self) -> list[list[str]]:
        """A few rows."""
        return self.rows[:SAMPLE]

    def has_sure_names(self, options: Options) -> bool:
        """Whether the first line is a header beyond doubt."""
        if not self.layout.header or len(set(self.names)) < len(self.names):
            return False
        is_said = options.header is not None
        return is_said or (not is_repeated(self.names, self.sample) and is_unlikely_row(self.names, self.sample))

    def repeats(self, columns: Sequence[int]) -> bool:
        """Whether a column has a cell twice in the first rows."""
        rows = [row for row in self.rows if len(row) == len(self.names)]
        return any(len({row[column].strip() for row in rows}) < len(rows) for column in columns)

    def windows(self, wanted: Sequence[int], progress: Progress) -> Iterator[tuple[Window, Rows]]:
        """Yield the rows without the header, window by window, with the spans of the wanted columns."""
        layout, slot = self.layout, np.full(len(self.layout.names), -1, np.int64)
        slot[list(wanted)] = np.arange(len(wanted))
        quote = ord(layout.quote) if layout.quote else NO_QUOTE
        dialect = Dialect(np.frombuffer(layout.separator.encode(), np.uint8), quote, slot)
        yield from tokenised(self.stream, dialect, layout.header, progress)

    def read(self, roles: Roles, record: str, collector: Collector, progress: Progress) -> None:
        """Pass every row of a history to the collector; `record` is the id of all rows if each file is one record."""
        collector.sources.append(self.stream.name)
        window = None
        for window, rows in self.windows(roles.wanted, progress):
            if len(rows.status):
                spans = [Spans(window.buffer, *ends) for ends in zip(rows.starts, rows.ends, strict=True)]
                time = spans.pop() if roles.time is not None else None
                value = spans.pop() if roles.value is not None else None
                person = constant_spans(record, len(rows.line)) if roles.record is None else spans.pop(0)
                collector.add(Batch(rows.line, rows.status, person, tuple(spans), value, time))
        if window is not None:
            collector.rejects.note_encoding(window.stream.name, window.stream.encoding, window.decoder.invalid_line)

    def cells(
        self, parts: Callable[[], Iterable["TextFile"]], reader: "SourceReader", wanted: Sequence[int]
    ) -> Iterator[DistinctCells]:
        """Yield the distinct cells of some columns of a table, in files with the same columns."""
        rejects = reader.rejects
        interners = [Interner(SMALL_NUMBERS) for _ in wanted]
        codes_of: list[list[NDArray[np.unsignedinteger]]] = [[] for _ in wanted]  # codes + 1; 0 is an empty cell
        for part in parts():
            window = None
            for window, rows in part.windows(wanted, reader.progress):
                rejects.rows += len(rows.line)
                rejects.add(part.stream.name, rows.line, rows.status)
                good = rows.status == 0
                for k, interner in enumerate(interners):
                    codes = interner.codes(window.buffer, rows.starts[k], rows.ends[k], rows.status)
                    codes = np.where(codes == NONE, 0, codes + 1)[good]  # in as few bytes as possible
                    codes_of[k].append(codes.astype(code_dtype(len(interner))))
            if window is not None:
                rejects.note_encoding(part.stream.name, window.stream.encoding, window.decoder.invalid_line)
        settings = rejects.settings() | self.layout.settings()
        check_rejects(rejects, reader.options.limit, self.unit, Provenance("", settings=settings))
        for interner, own in zip(interners, codes_of, strict=True):
            joined = np.concatenate([np.zeros(0, np.uint8), *own]).astype(np.int64) - 1
            own.clear()  # their memory is free
            yield text_cells(pl.Series(list(interner.labels()), dtype=pl.String), joined)  # -1: an empty cell


def tokenised(stream: Stream, dialect: Dialect, header: bool, progress: Progress) -> Iterator[tuple[Window, Rows]]:
    """Yield the rows of a stream, window by window."""
    window, slots = Window(stream), int(dialect.slot.max(initial=-1)) + 1
    rows = Rows.empty(0, slots)
    while window.refill():
        most = window.end // 2 + 1  # a row has at least one byte and a line end
        if len(rows.line) <= most:  # one more, for the row that is not complete yet
            rows = Rows.empty(most + 1, slots)
        count, used, next_line, state = tokenise(window.buffer, window.end, window.line, dialect, rows)
        if window.last and state == OPEN_QUOTE:
            at = stream.name
            raise SourceError(f"{at}: the quote on line {next_line} is never closed: close it, or add quote=''")
        kept = slice(int(header and count > 0), count)
        yield window, Rows(rows.starts[:, kept], rows.ends[:, kept], rows.status[kept], rows.line[kept])
        header = header and not count
        window.take(used, next_line)
        progress("reading", stream.done, stream.total)


@contextmanager
def open_text(file: SourceFile, options: Options, like: Layout | None = None) -> Iterator[TextFile]:
    """Open a file of delimited text, behind the lines that the user skips, and recognise its layout."""
    with open_stream(file.path, file.member, options.encoding) as stream:
        text_head(stream)  # in UTF-8, whose lines can be skipped
        stream.skip(options.skip_lines)
        head = text_head(stream)
        text = TextDecoder().to_utf8(head[: head.rfind(b"\n") + 1] or head, 1).decode()  # as `Window` reads it
        text = text.lstrip("\ufeff").replace("\0", "").replace("\r\n", "\n")
        lines = [line for line in text.split("\n") if line.strip()]
        separator = options.separator or (
            like.separator if like else _guess_separator(stream.name, lines, options.quote)
        )
        quote = _usable_quote(separator, options.quote)
        rows = _split(lines, separator, quote)
        if not rows:
            raise SourceError(f"{stream.name} is empty: check the file")
        if len(rows) == 1 and len(stream.peek()) >= HEAD:
            line = stream.first_line + stream.peek().count(b"\n")
            raise SourceError(
                f"{stream.name}: the first two lines together are longer than {HEAD >> 10} KB (line {line} is "
                "too long), so the layout is not recognised: shorten it, and check the separator and the quotes"
            )
        if like is None or (not like.header and options.header is None and len(rows) > 1):
            header = has_header(rows[: SAMPLE + 1] if like is None else rows[:2], options)
        else:
            header = like.header
        names = tuple(rows[0]) if header else numbered_names(len(rows[0]))
        if like is not None and (header != like.header or sorted(names) != sorted(like.names)):
            raise SourceError(f"{stream.name} has another layout than the first file: read them one by one")
        if header and len(rows) == 1 and like is None:
            raise SourceError(f"{stream.name} has a header and no rows: check the file")
        yield TextFile(stream, Layout(separator, quote, names, header), rows[int(header) :])


def _guess_separator(name: str, lines: list[str], quote: str) -> str:
    """Separator with which most of the first lines have the same number of fields, then the most fields."""
    fits: dict[str, tuple[float, int]] = {}
    if not lines:
        raise SourceError(f"{name} is empty: check the file")
    for candidate in SEPARATORS:
        counts = [len(row) for row in _split(lines[: SAMPLE + 1], candidate, _usable_quote(candidate, quote))]
        if counts and counts[0] > 1 and 2 * counts.count(counts[0]) >= len(counts):
            fits[candidate] = counts.count(counts[0]) / len(counts), counts[0]
    if len(fits) > 1:
        fits.pop(" ", None)
    if not fits:
        raise SourceError(f"{name}: no separator was recognised; set it with separator=…")
    return max(fits, key=lambda candidate: fits[candidate])


def _usable_quote(separator: str, quote: str) -> str:
    """The quote, or "": only files whose separator is one ASCII character have quotes."""
    return quote if len(separator.encode()) == 1 else ""


def _split(lines: list[str], separator: str, quote: str) -> list[list[str]]:
    """Split lines into fields, only to recognise the layout."""
    if quote:
        try:
            return [row for row in csv.reader(lines, delimiter=separator, quotechar=quote) if row]
        except csv.Error:
            pass
    return [line.split(separator) for line in lines]


# The Netflix Prize files: a line `17:` for a film, then `customer,rating,YYYY-MM-DD` for each rating. There is one file
# per film (mv_0000001.txt, in a folder or a tar), or several films in one file (combined_data_1.txt).

NETFLIX_NAMES = ("customer", "film", "rating", "date")
COMMAS = Dialect(np.frombuffer(b",", np.uint8), NO_QUOTE, np.arange(3))
ZERO, FIVE, NINE, COMMA, COLON = map(ord, "059,:")
MOST_DIGITS, DATE = 18, 10
NOT_ALLOWED = {
    "geohash", "grid", "latitude", "longitude", "record", "item", "ignore", "separator", "header", "skip_lines",
    "record_from_name", "sql_table", "quote", "encoding", "time_format", "value_type", "value_bin",
}  # fmt: skip


def netflix_roles(options: Options) -> Roles:
    """The roles of the columns of Netflix Prize files, whose order is fixed."""
    if not_allowed := sorted(options.changed() & NOT_ALLOWED):
        raise ParameterError(f"{not_allowed[0]} cannot be set for Netflix Prize files, whose format is fixed")
    value, time = (None if column is False else i for i, column in ((2, options.value), (3, options.time)))
    roles = Roles(0, (1,), value, time, NETFLIX_NAMES)
    return replace(roles, reasons=dict.fromkeys(roles.names_by_role(), "its place in a Netflix Prize file"))


def read_netflix(stream: Stream, collector: Collector, progress: Progress) -> None:
    """Pass every rating of a stream to the collector."""
    collector.sources.append(stream.name)
    window, film = None, np.uint32(NONE)
    reader = collector.times or collector.options.time_reader()
    reader.format = "iso"
    for window, rows in tokenised(stream, COMMAS, False, progress):
        buffer, (start, rating, _), (end, rating_end, _) = window.buffer, rows.starts, rows.ends
        others = np.append(np.int32(0), np.cumsum((buffer < ZERO) | (buffer > NINE), dtype=np.int32))
        is_alone = (rows.status == Reason.TOO_FEW_FIELDS) & (buffer[end] != COMMA)  # a line without a comma
        is_film = is_alone & (end - start > 1) & (end - start <= MOST_DIGITS + 1)
        is_film &= (buffer[end - 1] == COLON) & (others[end - is_film] == others[start])
        films = np.full(len(start), NONE, np.uint32)
        films[is_film] = collector.items.codes(buffer, start[is_film], end[is_film] - 1, rows.status[is_film] * 0)
        latest = np.maximum.accumulate(np.where(is_alone, np.arange(len(start)), -1))
        films = np.where(latest < 0, film, films[latest])
        film = films[-1] if len(films) else film
        well_formed = (rows.status == 0) & (end > start) & (end - start <= MOST_DIGITS) & (others[end] == others[start])
        well_formed &= (rating_end - rating == 1) & (buffer[rating] > ZERO) & (buffer[rating] <= FIVE)
        well_formed &= rows.ends[2] - rows.starts[2] == DATE
        status = np.where(well_formed, 0, Reason.NOT_A_RATING_LINE).astype(np.uint8)
        times = reader.read(buffer, rows.starts[2], rows.ends[2], status)
        status[status == Reason.UNREADABLE_TIME] = Reason.NOT_A_RATING_LINE
        status[(status == 0) & (films == NONE)] = Reason.NO_FILM_YET
        values = np.full(len(status), NONE, np.uint32)
        if collector.values is not None:
            values = collector.values.codes(buffer, rating, rating_end, status)
        people = collector.records.codes(buffer, start, end, status)
        columns = (rows.line, status, people, films, values, times if collector.times is not None else times * 0)
        collector.add_codes(*(column[~is_film] for column in columns))
    if window is not None:
        collector.rejects.note_encoding(window.stream.name, window.stream.encoding, window.decoder.invalid_line)
