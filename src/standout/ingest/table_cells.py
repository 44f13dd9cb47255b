"""Columns of delimited text, with all cells as text.

Polars reads the columns, a few at a time, so that memory holds only some of the text. It accepts rows with
too few or too many fields, and reads some quotes in another way than so.read does. The tokeniser of so.read
therefore goes through the file first: it finds such rows, and how long the text of each column is. If Polars
finds anything else, it reads a copy in which all fields are quoted.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from standout.core.arrays import Ints
from standout.core.errors import ParameterError, SourceError
from standout.core.files import temporary_folder
from standout.core.progress import Progress
from standout.data.store import is_index
from standout.ingest.column_roles import numbered_names
from standout.ingest.delimited import (
    NO_ROWS,
    SEPARATOR_NAMES,
    check_two_lines,
    first_lines,
    guess_separator,
    split_lines,
    usable_quote,
)
from standout.ingest.formats import RecognisedSource, SourceFile, recognise
from standout.ingest.frames import FrameSource, is_frame, open_file, open_frame, polars_errors
from standout.ingest.options import Options
from standout.ingest.read import SOURCES
from standout.ingest.rejects import Reason
from standout.ingest.sources import Stream, expand_paths, first_bytes, is_packed, open_stream
from standout.ingest.table_header import has_header
from standout.ingest.tokens import NO_QUOTE, OPEN_QUOTE, Dialect, Rows, Window, encoding_setting, text_head, tokenise

__all__ = ["DelimitedColumns", "DelimitedLayout", "SourceColumns", "delimited_layout", "open_columns", "open_delimited"]

GROUP = 16
"""Number of columns that are read at a time."""
UNIT_SEPARATOR = "\x1f"
"""Separator of a copy, if that of the file has several characters."""
SHOWN = 5


@dataclass(frozen=True, slots=True)
class DelimitedLayout:
    """Separator, quote, names and encoding of a delimited file, which is called `source` in messages."""

    source: str
    separator: str
    quote: str
    names: tuple[str, ...]
    header: bool
    encoding: str

    def settings(self) -> dict[str, str]:
        """Return how the file is read, for the provenance."""
        return encoding_setting({self.encoding}) | {
            "separator": SEPARATOR_NAMES.get(self.separator, self.separator),
            "header": "yes" if self.header else "no",
        }

    @property
    def has_simple_separator(self) -> bool:
        """Whether the separator is one byte, as Polars needs it."""
        return len(self.separator.encode()) == 1

    def dialect(self, separator: str) -> Dialect:
        """Return the layout for the tokeniser; a copy may have another separator."""
        quote = ord(self.quote) if self.quote else NO_QUOTE
        return Dialect(np.frombuffer(separator.encode(), np.uint8), quote, np.arange(len(self.names)))


@dataclass(frozen=True, slots=True)
class DelimitedColumns:
    """A delimited file whose rows were checked; `path` is the file, or a plain copy of it in UTF-8.

    `lengths` are the bytes of all cells of each column.
    """

    path: Path
    layout: DelimitedLayout
    n_rows: int
    lengths: Ints
    has_quotes: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.layout.names

    def columns(self, wanted: Sequence[int], stack: ExitStack) -> Iterator[pl.Series]:
        """Yield the columns at some positions as text, in order."""
        path, is_copy = self.path, False
        for first in range(0, len(wanted), GROUP):
            positions = wanted[first : first + GROUP]
            frame = self._read(path, positions, is_copy)
            if not is_copy and not self._is_right(frame, positions):
                path, is_copy = self._quoted_copy(stack), True
                frame = self._read(path, positions, is_copy)
            if frame is None or not self._is_right(frame, positions):
                raise SourceError(f"{self.layout.source} cannot be read as delimited text: check its quotes")
            for position in positions:
                yield frame[str(position)].alias(self.names[position])

    def _read(self, path: Path, positions: Sequence[int], is_copy: bool) -> pl.DataFrame | None:
        layout, separator = self.layout, self._separator
        uses_quotes = is_copy or (self.has_quotes and layout.quote)
        try:
            scanned = pl.scan_csv(
                path,
                has_header=False,
                skip_rows=int(layout.header and not is_copy),
                separator="," if is_copy else separator,
                quote_char=('"' if is_copy else layout.quote) if uses_quotes else None,
                schema={str(i): pl.String for i in range(len(self.names))},
                glob=False,
            )
            return scanned.select(str(position) for position in positions).collect()
        except pl.exceptions.PolarsError:
            return None

    @property
    def _separator(self) -> str:
        """Separator of the file at `path`."""
        return self.layout.separator if self.layout.has_simple_separator else UNIT_SEPARATOR

    def _is_right(self, frame: pl.DataFrame | None, positions: Sequence[int]) -> bool:
        if frame is None or frame.height != self.n_rows:
            return False
        return all(frame[str(i)].str.len_bytes().sum() == self.lengths[i] for i in positions)

    def _quoted_copy(self, stack: ExitStack) -> Path:
        """A copy in which all fields are quoted, without the header."""
        path = stack.enter_context(temporary_folder()) / "quoted.csv"
        with open_stream(self.path) as stream, path.open("x", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
            dialect, is_first = self.layout.dialect(self._separator), self.layout.header
            for window, rows in _tokens(stream, dialect):
                text = window.buffer.tobytes()
                spans = zip(rows.starts.T.tolist(), rows.ends.T.tolist(), strict=True)
                cells = ([text[a:b].decode() for a, b in zip(*row, strict=True)] for row in spans)
                for row in cells:
                    if not is_first:
                        writer.writerow(row)
                    is_first = False
        return path


def delimited_layout(file: SourceFile, options: Options) -> DelimitedLayout:
    """Recognise the layout of a file from its first lines."""
    with open_stream(file.path, file.member, options.encoding) as stream:
        text_head(stream)
        stream.skip(options.skip_lines)
        lines = first_lines(stream)
        separator = options.separator or guess_separator(stream.name, lines, options.quote)
        quote = usable_quote(separator, options.quote)
        rows = split_lines(lines, separator, quote)
        if not rows:
            raise SourceError(f"{stream.name} is empty: check the file")
        check_two_lines(stream, rows)
        header = has_header(rows, options)
        if header and len(rows) == 1:
            raise SourceError(NO_ROWS.format(stream.name))
    names = _names(rows[0], stream.name) if header else numbered_names(len(rows[0]))
    return DelimitedLayout(stream.name, separator, quote, names, header, stream.encoding)


def open_delimited(file: SourceFile, options: Options, stack: ExitStack, progress: Progress) -> DelimitedColumns:
    """Recognise the layout of a file and check all of its rows."""
    layout = delimited_layout(file, options)
    must_copy = (
        not isinstance(file.path, Path)
        or file.member is not None
        or is_packed(first_bytes(file.path))
        or layout.encoding != "utf-8"
        or options.skip_lines > 0
        or not layout.has_simple_separator
    )
    checked = None if must_copy else _check(file, options, layout, progress)
    path = file.path
    if checked is None:
        path = stack.enter_context(temporary_folder()) / "copy.csv"
        with path.open("xb") as copy:
            checked = _check(file, options, layout, progress, copy)
    assert checked is not None and isinstance(path, Path)
    return DelimitedColumns(path, *checked)


def _names(cells: list[str], source: str) -> tuple[str, ...]:
    numbered = numbered_names(len(cells))
    names = tuple(cell.strip() or number for cell, number in zip(cells, numbered, strict=True))
    if len(set(names)) < len(names):
        raise SourceError(f"{source} has two columns with the same name: rename one")
    return names


def _tokens(stream: Stream, dialect: Dialect, copy: IO[bytes] | None = None) -> Iterator[tuple[Window, Rows]]:
    """Yield the rows of a stream, window by window; write the bytes of the rows to a copy."""
    window, rows = Window(stream), Rows.empty(0, len(dialect.slot))
    separator = dialect.separator.tobytes()
    while window.refill():
        if len(rows.line) <= window.most_rows:
            rows = Rows.empty(window.most_rows + 1, len(dialect.slot))
        original = b"" if copy is None else window.buffer[: window.end].tobytes()
        count, used, line, state = tokenise(window.buffer, window.end, window.line, dialect, rows)
        if window.last and state == OPEN_QUOTE:
            raise SourceError(
                f"{stream.name}: the quote on line {line} is never closed; close it, "
                "or add quote='' if the file does not use quotes"
            )
        if copy is not None:
            text = original[:used]
            copy.write(text if len(separator) == 1 else text.replace(separator, UNIT_SEPARATOR.encode()))
        yield window, rows.part(0, count)
        window.take(used, line)
    if window.decoder.invalid_line is not None:
        raise SourceError(
            f"{stream.name} line {window.decoder.invalid_line} is not UTF-8, and the file is not clean text in "
            "Windows-1252 either: set its encoding with encoding=…"
        )


def _check(
    file: SourceFile, options: Options, layout: DelimitedLayout, progress: Progress, copy: IO[bytes] | None = None
) -> tuple[DelimitedLayout, int, Ints, bool] | None:
    """Layout with its encoding, number of rows, bytes of each column, and whether there are quotes.

    None if the text is not UTF-8, so that a copy is needed.
    """
    quote, n_columns, is_first = layout.quote, len(layout.names), layout.header
    lengths, n_rows, has_quotes = np.zeros(n_columns, np.int64), 0, False
    bad: dict[Reason, list[int]] = {}
    with open_stream(file.path, file.member, options.encoding) as stream:
        text_head(stream)
        stream.skip(options.skip_lines)
        for window, rows in _tokens(stream, layout.dialect(layout.separator), copy):
            if window.decoder.is_windows and copy is None:
                return None
            has_quotes |= bool(quote) and bool((window.buffer[: window.end] == ord(quote)).any())
            part = rows.part(int(is_first and len(rows.line) > 0), len(rows.line))
            is_first = is_first and not len(rows.line)
            for place in np.flatnonzero(part.status).tolist():
                bad.setdefault(Reason(int(part.status[place])), []).append(int(part.line[place]))
            lengths += (part.ends - part.starts).sum(axis=1)
            n_rows += len(part.line)
            progress("reading", stream.done, stream.total)
        if bad:
            raise _bad_rows(stream.name, bad, n_rows, n_columns)
        return replace(layout, encoding=stream.encoding), n_rows, lengths, has_quotes


def _bad_rows(name: str, bad: dict[Reason, list[int]], n_rows: int, n_columns: int) -> SourceError:
    parts = []
    for reason, lines in bad.items():
        listed = ", ".join(map(str, lines[:SHOWN])) + (", …" if len(lines) > SHOWN else "")
        parts.append(f"{len(lines):,} × {reason.description} (line {listed})")
    total = sum(map(len, bad.values()))
    return SourceError(
        f"{name}: {total:,} of {n_rows:,} rows do not have {n_columns} fields: {'; '.join(parts)}. Correct "
        "these lines, or check separator=… and quote=…"
    )


# Columns of any source that so.read reads: files, databases, URLs, frames.


AT_A_TIME = {"Parquet": 8, "Arrow": 8, "SQLite": 8, "JSON lines": 16, "JSON array": 16}
"""Number of columns that are read at a time, from a source that can be read again."""


@dataclass(frozen=True, slots=True)
class SourceColumns:
    """A source as named columns. `series` reads those at some positions, one after the other, in order."""

    names: tuple[str, ...]
    series: Callable[[Sequence[int]], Iterator[pl.Series]]
    format: str
    files: tuple[str, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)


def open_columns(source: Any, options: Options, stack: ExitStack, progress: Progress) -> SourceColumns:
    """Open a source; `stack` removes temporary files after reading."""
    if not isinstance(source, (str, Path, list, tuple)):
        return _frame(source, options)
    sources = [source] if isinstance(source, (str, Path)) else list(source)
    if not sources or not all(isinstance(path, (str, Path)) for path in sources):
        raise ParameterError(SOURCES)
    paths = expand_paths(sources)
    if len(paths) == 1 and isinstance(paths[0], Path) and is_index(paths[0]):
        raise SourceError(f"{paths[0]} is an index of a history: read it with so.open")
    recognised = recognise(paths, options)
    if recognised.kind == "Netflix Prize":
        raise SourceError(f"{paths[0]} has Netflix Prize files, which are a history: read them with so.read")
    is_text = recognised.kind in ("delimited text", "MovieLens")
    opened = [
        (_delimited if is_text else _file)(recognised, place, options, stack, progress)
        for place in range(len(recognised.files))
    ]
    return opened[0] if len(opened) == 1 else _joined(opened, paths)


def _frame(source: Any, options: Options) -> SourceColumns:
    if not is_frame(source):
        raise ParameterError(f"{SOURCES}, got {type(source).__name__}")
    for name in sorted(options.changed() & {"skip_lines", "sql_table", "member", "header"}):
        raise ParameterError(f"{name} cannot be set for a frame: it applies only when files are read")
    if isinstance(source, pl.LazyFrame):  # run once: a query may return its rows in another order
        with polars_errors("the frame"):
            source = source.collect()
    with polars_errors("the frame"):
        table = open_frame(source)
    return SourceColumns(table.names, lambda wanted: _series(table, wanted, len(table.names), "the frame"), "frame")


def _file(
    source: RecognisedSource, place: int, options: Options, stack: ExitStack, progress: Progress
) -> SourceColumns:
    file = source.files[place]
    name = str(file.path)
    with polars_errors(name):
        table = open_file(source.kind, file, options, stack)
    at_a_time = AT_A_TIME.get(source.kind, len(table.names))
    return SourceColumns(
        table.names, lambda wanted: _series(table, wanted, at_a_time, name), source.kind, (_shown(file.path.name),)
    )


def _delimited(
    source: RecognisedSource, place: int, options: Options, stack: ExitStack, progress: Progress
) -> SourceColumns:
    file = source.files[place]
    opened = open_delimited(file, options, stack, progress)
    return SourceColumns(
        opened.names,
        lambda wanted: opened.columns(wanted, stack),
        "delimited text",
        (_shown(file.path.name),),
        opened.layout.settings(),
    )


def _series(table: FrameSource, wanted: Sequence[int], at_a_time: int, name: str) -> Iterator[pl.Series]:
    """Yield columns of a table of so.read, some of them at a time."""
    with polars_errors(name):
        for first in range(0, len(wanted), max(at_a_time, 1)):
            positions = list(wanted[first : first + at_a_time])
            batches = list(table.batches(positions))
            if not batches or not any(map(len, batches)):
                raise SourceError(f"{name} has no rows: check the source")
            for position in positions:
                parts = [batch[str(position)] for batch in batches]
                yield _one_type(parts).alias(table.names[position])


def _one_type(parts: list[pl.Series]) -> pl.Series:
    """Join the parts of a column; as text if their types differ."""
    kinds = {part.dtype for part in parts if part.dtype != pl.Null}
    if len(kinds) > 1:
        parts = [part.cast(pl.String) for part in parts]
    elif kinds:
        parts = [part.cast(*kinds) if part.dtype == pl.Null else part for part in parts]
    return parts[0] if len(parts) == 1 else pl.concat(parts)


def _joined(parts: list[SourceColumns], paths: list[Any]) -> SourceColumns:
    """Several files with the same columns are one table, in the order of the files."""
    first = parts[0]
    for part, path in zip(parts[1:], paths[1:], strict=False):
        if part.names != first.names:
            raise SourceError(f"{path} has other columns than {paths[0]}: read them one by one")

    def series(wanted: Sequence[int]) -> Iterator[pl.Series]:
        for columns in zip(*(part.series(wanted) for part in parts), strict=True):
            yield _one_type([column.alias(columns[0].name) for column in columns])

    return replace(first, series=series, files=tuple(name for part in parts for name in part.files))


def _shown(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
