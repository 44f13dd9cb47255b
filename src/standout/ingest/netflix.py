"""Read the Netflix Prize files: a line `17:` for a film, then `customer,rating,YYYY-MM-DD` for each rating.

There is one file per film (mv_0000001.txt, in a folder or a tar), or several films in one file
(combined_data_1.txt). One compiled pass reads them and checks every byte.
"""

import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError, SourceError
from standout.core.jit import Array, Flag, Int, inline, kernel
from standout.core.progress import Progress
from standout.data.build import MemoryPlan
from standout.data.build_kernels import NONE, TIME_BIAS
from standout.data.labels import SECONDS
from standout.ingest.collector import Collector
from standout.ingest.column_roles import Roles
from standout.ingest.options import Options
from standout.ingest.rejects import Reason, RejectLog
from standout.ingest.sources import Stream
from standout.ingest.times import civil_day
from standout.ingest.tokens import Window

FILES = re.compile(r"mv_\d+\.txt(\.gz|\.zst)?|combined_data_\d+\.txt(\.gz|\.zst)?")
BEGINNING = re.compile(rb"(\xef\xbb\xbf)*\d{1,9}:\r?\n\d{1,10},\d,\d{4}-\d\d-\d\d\r?(\n|$)")
BAD_LINE, NO_FILM = Reason.NOT_A_RATING_LINE, Reason.NO_FILM_YET
OUT_OF_RANGE = Reason.TIME_OUT_OF_RANGE
ZERO, NINE, COMMA, COLON, DASH = 48, 57, 44, 58, 45
NEWLINE, RETURN = 10, 13
MOST_DIGITS = 18
NOT_ALLOWED = {
    "geohash", "grid", "latitude", "longitude", "record", "item", "ignore", "separator", "header", "skip_lines",
    "record_from_name", "sql_table", "quote", "encoding", "time_format", "value_type", "value_bin",
}  # fmt: skip


class Lines(NamedTuple):
    """Parsed lines of a window: spans of customers and films, ratings - 1, times + TIME_BIAS.

    film[row] = 0 for the film before the window, k for the k-th film line in it.
    """

    line: NDArray[np.int64]
    status: NDArray[np.uint8]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    rating: NDArray[np.uint32]
    time: NDArray[np.uint32]
    film: NDArray[np.int64]
    film_start: NDArray[np.int64]
    film_end: NDArray[np.int64]

    @classmethod
    def empty(cls, count: int) -> "Lines":
        """Return space for `count` lines."""
        start, end, film, film_start, film_end, line = np.empty((6, count), np.int64)
        rating, time = np.empty((2, count), np.uint32)
        return cls(line, np.empty(count, np.uint8), start, end, rating, time, film, film_start, film_end)


def is_netflix(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a Netflix Prize file."""
    return BEGINNING.match(head) is not None


def new_collector(options: Options, rejects: RejectLog, memory: MemoryPlan | None = None) -> Collector:
    """Make a collector in which the ratings 1 to 5 have the codes 0 to 4."""
    if not_allowed := sorted(options.changed() & NOT_ALLOWED):
        raise ParameterError(f"{not_allowed[0]} cannot be set for Netflix Prize files, whose format is fixed")
    has_value, has_time = options.value is not False, options.time is not False
    collector = Collector(options, rejects, has_value, has_time, memory=memory)
    if collector.values is not None:
        collector.values.codes_of(["1", "2", "3", "4", "5"])
    return collector


def column_roles(options: Options) -> Roles:
    """Return the roles of the columns, whose order is fixed."""
    value, time = (None if column is False else i for i, column in ((2, options.value), (3, options.time)))
    roles = Roles(0, (1,), value, time, ("customer", "film", "rating", "date"))
    return replace(roles, reasons=dict.fromkeys(roles.names_by_role(), "its place in a Netflix Prize file"))


def read_netflix(stream: Stream, collector: Collector, progress: Progress) -> None:
    """Pass every rating of a stream to the collector."""
    collector.begin_source(stream.name)
    window, film = Window(stream), NONE
    units = SECONDS["day"] // SECONDS[collector.options.unit]
    lines = Lines.empty(0)
    while window.refill():
        if len(lines.line) < window.most_rows:
            lines = Lines.empty(window.most_rows)
        rows, films, known, used, next_line = _parse(window.buffer, window.end, window.line, units, film != NONE, lines)
        status, no_status = lines.status[:rows], np.zeros(films, np.uint8)
        new_films = collector.items.codes(window.buffer, lines.film_start[:films], lines.film_end[:films], no_status)
        film_codes = np.append(film, new_films).astype(np.uint32)  # the film before the window first
        collector.add_codes(
            lines.line[:rows],
            status,
            collector.records.codes(window.buffer, lines.start[:rows], lines.end[:rows], status),
            film_codes[lines.film[:rows]],
            lines.rating[:rows] if collector.values is not None else np.full(rows, NONE),
            lines.time[:rows] if collector.times is not None else np.zeros(rows, np.uint32),
        )
        film = film_codes[-1] if known else NONE
        window.take(used, next_line)
        progress("reading", stream.done, stream.total)
    collector.note_encoding(window)
    if window.end:
        raise SourceError(f"{stream.name} line {window.line} is not a line of a Netflix Prize file: check the file")


@inline
def _two(buffer: Array, at: Int) -> Int:
    """Number of two digits; negative if they are not digits."""
    tens, ones = np.int64(buffer[at]) - ZERO, np.int64(buffer[at + 1]) - ZERO
    return tens * 10 + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else -TIME_BIAS


@inline
def _day(buffer: Array, at: Int) -> Int:
    """Day of the text YYYY-MM-DD, or -TIME_BIAS if it is not a date."""
    year = _two(buffer, at) * 100 + _two(buffer, at + 2)
    day = civil_day(year, _two(buffer, at + 5), _two(buffer, at + 8))
    return day if buffer[at + 4] == DASH and buffer[at + 7] == DASH else -TIME_BIAS


@kernel
def _parse(
    buffer: Array, end: Int, line: Int, units: Int, has_film: Flag, lines: Lines
) -> tuple[Int, Int, Flag, Int, Int]:
    """Read the lines that end before `end`; return (rows, films, film is known, bytes used, next line).

    A bad line without a comma may be a damaged film line, so the film is unknown until the next film line.
    """
    row_line, status, starts, ends = lines.line, lines.status, lines.start, lines.end
    ratings, times, film = lines.rating, lines.time, lines.film
    film_start, film_end = lines.film_start, lines.film_end
    rows, films, at, known = 0, 0, 0, has_film
    while at < end:
        stop = at
        while stop < end and ZERO <= buffer[stop] <= NINE:
            stop += 1
        digits, comma = stop - at, stop
        day, rating = -TIME_BIAS, np.int64(0)
        formed: Flag = False
        # the common case, unrolled: comma, rating, comma, ten bytes of date, line end
        if comma + 13 < end and digits > 0 and buffer[comma] == COMMA and buffer[comma + 2] == COMMA:
            day, rating = _day(buffer, comma + 3), np.int64(buffer[comma + 1]) - ZERO
            stop = comma + 13
            if buffer[stop] == RETURN and stop + 1 < end:
                stop += 1
            formed = buffer[stop] == NEWLINE and day != -TIME_BIAS and 1 <= rating <= 5 and digits <= MOST_DIGITS
        if not formed:
            stop, commas = comma, 0
            while stop < end and buffer[stop] != NEWLINE:
                commas += buffer[stop] == COMMA
                stop += 1
            if stop >= end:
                break
            length = stop - at - (stop > at and buffer[stop - 1] == RETURN)
            if digits > 0 and length == digits + 1 and buffer[comma] == COLON and digits <= MOST_DIGITS:
                film_start[films], film_end[films] = at, comma
                films += 1
                known = True
                length = 0
            elif length > 0 and commas == 0:
                known = False
            if length == 0:  # a film line or an empty line: no row
                line += 1
                at = stop + 1
                continue
        row_line[rows], starts[rows], ends[rows], film[rows] = line, at, comma, films
        if formed and abs(day * units) >= TIME_BIAS:
            status[rows], ratings[rows], times[rows] = OUT_OF_RANGE, 0, 0
        elif formed:
            status[rows] = 0 if known else NO_FILM
            ratings[rows], times[rows] = rating - 1, day * units + TIME_BIAS
        else:
            status[rows], ratings[rows], times[rows] = BAD_LINE, 0, 0
        rows += 1
        line += 1
        at = stop + 1
    return rows, films, known, at, line
