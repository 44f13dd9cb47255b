"""The Netflix Prize files: a film's line `17:`, then `customer,rating,YYYY-MM-DD` for each of its ratings.

They come as one file per film (mv_0000001.txt, in a folder or a tar) or several films to a file
(combined_data_1.txt). One compiled pass reads them and checks every byte.
"""

import re

import numpy as np

from standout.errors import SourceError
from standout.ingest.collect import Collector
from standout.ingest.intern import Table, intern_span
from standout.ingest.options import Options
from standout.ingest.rejects import Reason
from standout.ingest.sources import Stream
from standout.ingest.times import civil_day
from standout.ingest.window import Window
from standout.jit import Array, Int, inline, kernel
from standout.release.kernels import TIME_BIAS
from standout.release.progress import Progress

__all__ = ["FILES", "collector", "is_netflix", "read_netflix"]


FILES = re.compile(r"mv_\d+\.txt(\.gz|\.zst)?|combined_data_\d+\.txt(\.gz|\.zst)?")
FILM_LINE = re.compile(rb"(\xef\xbb\xbf)?\d{1,9}:\r?\n\d{1,10},\d,\d{4}-\d\d-\d\d\r?(\n|$)")
SHORTEST_LINE = len("1,3,2005-09-06\n")
BAD_LINE, NO_FILM = Reason.NOT_A_RATING_LINE, Reason.NO_FILM_YET
ZERO, NINE, COMMA, COLON, DASH = 48, 57, 44, 58, 45
NEWLINE, RETURN = 10, 13
MOST_DIGITS = 18
UNITS_A_DAY = {"day": 1, "hour": 24, "minute": 1_440}


def is_netflix(head: bytes) -> bool:
    """Whether a file starts as the Netflix Prize files do."""
    return FILM_LINE.match(head) is not None


def collector(options: Options) -> Collector:
    """A collector that knows the ratings 1 to 5 before the first is read."""
    made = Collector(options, has_value=options.value is not False, has_time=options.time is not False)
    if made.values is not None:
        made.values.codes_of(["1", "2", "3", "4", "5"])
    return made


def read_netflix(stream: Stream, collector: Collector, progress: Progress) -> None:
    """Feeds every rating of a stream to the collector."""
    collector.source(stream.name)
    window, film = Window(stream), np.full(1, -1, np.int64)
    units = UNITS_A_DAY[collector.options.time_unit]
    while window.refill():
        # a film's line is at least two bytes, a rating line SHORTEST_LINE; bad lines may be shorter
        room, films = window.lines, min(window.lines, window.end // 2 + 1)
        records = collector.records.reserve(window.end // SHORTEST_LINE + 1, window.end)
        items = collector.items.reserve(films, window.end)
        block = np.empty((room, 4), np.uint32)
        line, status = np.empty(room, np.int64), np.zeros(room, np.uint8)
        kept, rows, used, next_line = _parse(
            window.buffer, window.end, window.line, units, film, records, items, block, line, status
        )
        if collector.values is None:
            block[:kept, 2] = np.uint32(0xFFFFFFFF)
        if collector.times is None:
            block[:kept, 3] = 0
        collector.add_coded(block[:kept], line[:rows], status[:rows])
        if window.last and used < window.end:
            raise SourceError(f"{stream.name} line {next_line}: the file ends in the middle of a line")
        window.take(used, next_line)
        progress("reading", stream.done, stream.total)


@inline
def _number_end(buffer: Array, at: Int, end: Int) -> Int:
    """Where the digits from `at` on are over."""
    while at < end and ZERO <= buffer[at] <= NINE:
        at += 1
    return at


@inline
def _two(buffer: Array, at: Int) -> Int:
    """The number of two digits; negative if they are not."""
    tens, ones = np.int64(buffer[at]) - ZERO, np.int64(buffer[at + 1]) - ZERO
    return tens * 10 + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else -TIME_BIAS


@inline
def _day(buffer: Array, at: Int) -> Int:
    """The day that YYYY-MM-DD stands for; -TIME_BIAS if it is none."""
    if buffer[at + 4] != DASH or buffer[at + 7] != DASH:
        return -TIME_BIAS
    return civil_day(
        _two(buffer, at) * 100 + _two(buffer, at + 2), _two(buffer, at + 5), _two(buffer, at + 8)
    )


@kernel
def _parse(
    buffer: Array, end: Int, line: Int, units: Int, film: Array, records: Table, items: Table,
    block: Array, row_line: Array, status: Array,
) -> tuple[Int, Int, Int, Int]:  # fmt: skip
    """Reads the lines that end before `end`; returns (entries, rows, bytes used, next line).

    film[0] = code of the film the lines belong to, -1 before the first; carried from chunk to chunk.
    """
    kept, rows, at = 0, 0, 0
    while at < end:
        comma = _number_end(buffer, at, end)
        # the common case, laid out: comma, rating, comma, ten bytes of date, line end
        if comma + 13 < end and comma > at and buffer[comma] == COMMA and buffer[comma + 2] == COMMA:
            day, rating = _day(buffer, comma + 3), np.int64(buffer[comma + 1]) - ZERO
            stop = comma + 13
            if buffer[stop] == RETURN and stop + 1 < end:
                stop += 1
            if (
                day != -TIME_BIAS and 1 <= rating <= 5 and buffer[stop] == NEWLINE
                and comma - at <= MOST_DIGITS and film[0] >= 0
            ):  # fmt: skip
                block[kept, 0] = intern_span(records, buffer, at, comma)
                block[kept, 1] = film[0]
                block[kept, 2] = rating - 1
                block[kept, 3] = day * units + TIME_BIAS
                row_line[rows] = line
                kept += 1
                rows += 1
                line += 1
                at = stop + 1
                continue
        stop = comma
        while stop < end and buffer[stop] != NEWLINE:
            stop += 1
        if stop >= end:
            break
        length = stop - at - (stop > at and buffer[stop - 1] == RETURN)
        if comma > at and length == comma - at + 1 and buffer[comma] == COLON and length <= MOST_DIGITS:
            film[0] = intern_span(items, buffer, at, comma)
        elif length > 0:
            row_line[rows] = line
            status[rows] = _complaint(buffer, at, comma, length, film[0])
            rows += 1
        line += 1
        at = stop + 1
    return kept, rows, at, line


@inline
def _complaint(buffer: Array, at: Int, comma: Int, length: Int, film: Int) -> Int:
    """Why a line is not used: it may be well formed and only stand before the first film."""
    formed = (
        comma > at and length == comma - at + 13 and buffer[comma] == COMMA and buffer[comma + 2] == COMMA
        and _day(buffer, comma + 3) != -TIME_BIAS
    )  # fmt: skip
    return NO_FILM if formed and film < 0 else BAD_LINE
