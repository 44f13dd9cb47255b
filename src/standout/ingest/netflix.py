"""The Netflix Prize files: a film's line `17:`, then `customer,rating,YYYY-MM-DD` for each of its ratings.

They come as one file per film (mv_0000001.txt, in a folder or a tar) or several films to a file
(combined_data_1.txt). One compiled pass reads them and checks every byte.
"""

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError, SourceError
from standout.core.jit import Array, Flag, Int, inline, kernel
from standout.core.progress import Progress
from standout.ingest.collector import Collector
from standout.ingest.options import Options
from standout.ingest.rejects import Reason, RejectLog
from standout.ingest.sources import Stream
from standout.ingest.timestamps import civil_day
from standout.ingest.window import Window
from standout.release.build_kernels import NONE, TIME_BIAS
from standout.release.clock import SECONDS

__all__ = ["FILES", "is_netflix", "new_collector", "read_netflix"]

FILES = re.compile(r"mv_\d+\.txt(\.gz|\.zst)?|combined_data_\d+\.txt(\.gz|\.zst)?")
BEGINNING = re.compile(rb"(\xef\xbb\xbf)?\d{1,9}:\r?\n\d{1,10},\d,\d{4}-\d\d-\d\d\r?(\n|$)")
BAD_LINE, NO_FILM = Reason.NOT_A_RATING_LINE, Reason.NO_FILM_YET
OUT_OF_RANGE = Reason.TIME_OUT_OF_RANGE
ZERO, NINE, COMMA, COLON, DASH = 48, 57, 44, 58, 45
NEWLINE, RETURN = 10, 13
MOST_DIGITS = 18
OF_NO_USE = {
    "record", "item", "separator", "header", "quote", "encoding", "time_format", "value_type", "value_bin",
}  # fmt: skip


class Lines(NamedTuple):
    """The lines of a window: the spans of customers and films, ratings - 1, times + TIME_BIAS.

    film[row] = 0 for the film that the window began with, k for the k-th film's line in it.
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
        def numbers() -> NDArray[np.int64]:
            return np.empty(count, np.int64)

        codes = np.empty(count, np.uint32), np.empty(count, np.uint32)
        spans = numbers(), numbers(), *codes, numbers(), numbers(), numbers()
        return cls(numbers(), np.empty(count, np.uint8), *spans)


def is_netflix(head: bytes) -> bool:
    """Whether a file starts as the Netflix Prize files do."""
    return BEGINNING.match(head) is not None


def new_collector(options: Options, rejects: RejectLog) -> Collector:
    """A collector that knows the ratings 1 to 5 before the first is read."""
    if useless := sorted(options.changed() & OF_NO_USE):
        raise ParameterError(f"the form of the Netflix Prize files is known: {useless[0]} is of no use here")
    made = Collector(options, rejects, options.value is not False, options.time is not False)
    if made.values is not None:
        made.values.codes_of(["1", "2", "3", "4", "5"])
    return made


def read_netflix(stream: Stream, collector: Collector, progress: Progress) -> None:
    """Feeds every rating of a stream to the collector."""
    collector.source(stream.name)
    window, film = Window(stream), NONE
    units = SECONDS["day"] // SECONDS[collector.options.time_unit]
    lines = Lines.empty(0)
    while window.refill():
        if len(lines.line) < window.most_rows:
            lines = Lines.empty(window.most_rows)
        rows, films, known, used, next_line = _parse(
            window.buffer, window.end, window.line, units, film != NONE, lines
        )
        films_here = _codes(collector, window, lines, rows, films, film)
        film = films_here[-1] if known else NONE
        window.take(used, next_line)
        progress("reading", stream.done, stream.total)
    if window.end:
        raise SourceError(f"{stream.name} line {window.line} is not of the Netflix Prize files")


def _codes(
    collector: Collector, window: Window, lines: Lines, rows: int, films: int, film: np.uint32
) -> NDArray[np.uint32]:
    """Hands the rows over; returns the codes of the films, the one that the window began with first."""
    status = lines.status[:rows]
    begun = collector.items.codes(
        window.buffer, lines.film_start[:films], lines.film_end[:films], np.zeros(films, np.uint8)
    )
    film_codes = np.append(film, begun).astype(np.uint32)
    collector.add_codes(
        lines.line[:rows],
        status,
        collector.records.codes(window.buffer, lines.start[:rows], lines.end[:rows], status),
        film_codes[lines.film[:rows]],
        lines.rating[:rows] if collector.values is not None else np.full(rows, NONE),
        lines.time[:rows] if collector.times is not None else np.zeros(rows, np.uint32),
    )
    return film_codes


@inline
def _two(buffer: Array, at: Int) -> Int:
    """The number of two digits; negative if they are not."""
    tens, ones = np.int64(buffer[at]) - ZERO, np.int64(buffer[at + 1]) - ZERO
    return tens * 10 + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else -TIME_BIAS


@inline
def _day(buffer: Array, at: Int) -> Int:
    """The day that YYYY-MM-DD stands for; -TIME_BIAS if it is none."""
    year = _two(buffer, at) * 100 + _two(buffer, at + 2)
    day = civil_day(year, _two(buffer, at + 5), _two(buffer, at + 8))
    return day if buffer[at + 4] == DASH and buffer[at + 7] == DASH else -TIME_BIAS


@kernel
def _parse(
    buffer: Array, end: Int, line: Int, units: Int, has_film: Flag, lines: Lines
) -> tuple[Int, Int, Flag, Int, Int]:
    """Reads the lines that end before `end`; returns (rows, films, is the last known, bytes used, next line).

    After a bad line without a comma, which may have been a film's, the film is not known until the next one.
    """
    row_line, status, starts, ends = lines.line, lines.status, lines.start, lines.end
    ratings, times, film, film_start, film_end = (
        lines.rating, lines.time, lines.film, lines.film_start, lines.film_end,
    )  # fmt: skip
    rows, films, at, known = 0, 0, 0, has_film
    while at < end:
        stop = at
        while stop < end and ZERO <= buffer[stop] <= NINE:
            stop += 1
        digits, comma = stop - at, stop
        day, rating = -TIME_BIAS, np.int64(0)
        formed: Flag = False
        # the common case, laid out: comma, rating, comma, ten bytes of date, line end
        if comma + 13 < end and digits > 0 and buffer[comma] == COMMA and buffer[comma + 2] == COMMA:
            day, rating = _day(buffer, comma + 3), np.int64(buffer[comma + 1]) - ZERO
            stop = comma + 13
            if buffer[stop] == RETURN and stop + 1 < end:
                stop += 1
            formed = (
                buffer[stop] == NEWLINE and day != -TIME_BIAS and 1 <= rating <= 5 and digits <= MOST_DIGITS
            )
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
            if length == 0:  # a film's line, or an empty one: no row
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
