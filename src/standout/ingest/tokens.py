"""Find the fields of each row of delimited text, in one compiled pass over the bytes.

Fields may be quoted (RFC 4180): they can then contain separators, line ends and doubled quotes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.jit import Array, Flag, Int, inline, kernel
from standout.ingest.rejects import Reason

__all__ = ["NO_QUOTE", "OPEN_QUOTE", "Dialect", "Rows", "tokenise"]


NEWLINE, RETURN = np.uint8(10), np.uint8(13)
NO_QUOTE = 256
OPEN_QUOTE = 1
TOO_FEW, TOO_MANY, STRAY_QUOTE = Reason.TOO_FEW_FIELDS, Reason.TOO_MANY_FIELDS, Reason.STRAY_QUOTE


class Dialect(NamedTuple):
    """Separator and quote of a file, and which of its fields are read.

    slot[f] = column of field f in `Rows`, or -1 if it is not read.
    """

    separator: NDArray[np.uint8]
    quote: int
    slot: NDArray[np.int64]


class Rows(NamedTuple):
    """Rows as spans of the buffer, one column per field that is read, with their status and line."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    status: NDArray[np.uint8]
    line: NDArray[np.int64]

    @classmethod
    def empty(cls, rows: int, slots: int) -> "Rows":
        """Return space for some rows; the spans of an unusable row may be left from an earlier one."""
        spans = np.zeros((slots, rows), np.int64), np.zeros((slots, rows), np.int64)
        return cls(*spans, np.zeros(rows, np.uint8), np.empty(rows, np.int64))

    def part(self, low: int, high: int) -> "Rows":
        """Return rows low … high - 1."""
        rows = slice(low, high)
        return Rows(self.starts[:, rows], self.ends[:, rows], self.status[rows], self.line[rows])


@inline
def _separates(buffer: Array, at: Int, end: Int, separator: Array) -> Flag:
    if at + len(separator) > end:
        return False
    for k in range(len(separator)):  # noqa: SIM110
        if buffer[at + k] != separator[k]:
            return False
    return True


@inline
def _unescape(buffer: Array, start: Int, end: Int, quote: Int) -> Int:
    """Replace each doubled quote by one, in place; return the new end of the text."""
    w = start
    i = start
    while i < end:
        buffer[w] = buffer[i]
        w += 1
        i += 2 if buffer[i] == quote else 1
    return w


@kernel
def tokenise(buffer: Array, end: Int, line: Int, dialect: Dialect, rows: Rows) -> tuple[Int, Int, Int, Int]:
    """Find the rows that end before `end`; return (rows, bytes used, next line, state).

    An incomplete row is left for the next call. The state is OPEN_QUOTE if it ends inside quotes. Empty lines
    are skipped.
    """
    # unpacked once, because access to an array in a tuple counts references
    separator, quote, slot = dialect.separator, dialect.quote, dialect.slot
    starts, ends, row_status, row_line = rows.starts, rows.ends, rows.status, rows.line
    first, wide = separator[0], len(separator)
    doubled = np.zeros(len(starts), np.uint8)
    n, begin = 0, 0
    while begin < end:
        field, at, lines, status = 0, begin, 1, 0
        any_doubled = False
        while True:  # one field
            low = at
            if at < end and np.int64(buffer[at]) == quote:
                at += 1
                low = at
                escaped = False
                while True:
                    while at < end and np.int64(buffer[at]) != quote:
                        lines += buffer[at] == NEWLINE
                        at += 1
                    if at + 1 >= end:
                        return n, begin, line, OPEN_QUOTE if at >= end else 0
                    if np.int64(buffer[at + 1]) != quote:
                        break
                    escaped = True
                    at += 2
                high = at
                at += 1
                if buffer[at] == RETURN and at + 1 < end and buffer[at + 1] == NEWLINE:
                    at += 1
                elif buffer[at] != NEWLINE and not _separates(buffer, at, end, separator):
                    status = STRAY_QUOTE
                    while at < end and buffer[at] != NEWLINE and not _separates(buffer, at, end, separator):
                        at += 1
                    if at >= end:
                        return n, begin, line, 0
                if escaped and field < len(slot) and slot[field] >= 0:
                    doubled[slot[field]] = 1
                    any_doubled = True
            else:
                while at < end and buffer[at] != NEWLINE:
                    if buffer[at] == first and (wide == 1 or _separates(buffer, at, end, separator)):
                        break
                    at += 1
                if at >= end:
                    return n, begin, line, 0
                high = at
                if buffer[at] == NEWLINE and high > low and buffer[high - 1] == RETURN:
                    high -= 1
            if field < len(slot) and slot[field] >= 0:
                starts[slot[field], n] = low
                ends[slot[field], n] = high
            field += 1
            if buffer[at] == NEWLINE:
                break
            at += wide
        if field > 1 or high > low or status != 0 or np.int64(buffer[begin]) == quote:
            if status == 0 and field != len(slot):
                status = TOO_FEW if field < len(slot) else TOO_MANY
            row_status[n] = status
            row_line[n] = line
            if any_doubled:
                for k in range(len(doubled)):
                    if doubled[k] != 0 and status == 0:
                        ends[k, n] = _unescape(buffer, starts[k, n], ends[k, n], quote)
                    doubled[k] = 0
            n += 1
        line += lines
        begin = at + 1
    return n, begin, line, 0
