"""Compiled loops that read Unix times and ISO 8601 from bytes."""

import numpy as np

from standout.core.jit import Array, Flag, Int, inline, kernel
from standout.data.build_kernels import TIME_BIAS
from standout.ingest.rejects import Reason
from standout.ingest.zones import offset_at

__all__ = ["FIRST_OF_MONTH", "HIGHEST", "LARGEST", "LOWEST", "OUTSIDE", "civil_day", "read_iso", "read_unix", "trim"]

OUTSIDE = -(1 << 60)
LOWEST, HIGHEST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999, in seconds
MOST_BEFORE_NEXT = (1 << 63) // 10 - 1  # one more digit still fits into 64 bits
LARGEST = 100_000_000_000  # 10¹¹ seconds are in the year 5138, 10¹¹ milliseconds in 1973
UNREADABLE, OTHER_FORMAT = Reason.UNREADABLE_TIME, Reason.OTHER_TIME_FORMAT
OUT_OF_RANGE = Reason.TIME_OUT_OF_RANGE
ZERO, NINE, DASH, DOT, COLON, PLUS, SPACE = 48, 57, 45, 46, 58, 43, 32
LETTER_T, LETTER_Z = 84, 90
MONTHS = np.arange("0001-01", "10000-02", dtype="datetime64[M]")
FIRST_OF_MONTH = MONTHS.astype("datetime64[D]").astype(np.int64)


@inline
def civil_day(year: Int, month: Int, day: Int) -> Int:
    """Days since 1970-01-01 in the Gregorian calendar, or -TIME_BIAS if there is no such day."""
    if month < 1 or month > 12 or year < 1 or year > 9999:
        return -TIME_BIAS
    index = year * 12 + month - 13
    first = FIRST_OF_MONTH[index]
    if day < 1 or day > FIRST_OF_MONTH[index + 1] - first:
        return -TIME_BIAS
    return first + day - 1


@inline
def _units(second: Int, unit: Int) -> Int:
    """Whole units, or OUTSIDE if the year is not 1 to 9999 or the units exceed 32 bits."""
    units = second // unit
    return units if LOWEST <= second <= HIGHEST and -TIME_BIAS < units < TIME_BIAS else OUTSIDE


@inline
def _digits(buffer: Array, at: Int, count: Int) -> Int:
    """Number of `count` digits, or -TIME_BIAS if they are not digits."""
    number = np.int64(0)
    for i in range(at, at + count):
        digit = np.int64(buffer[i]) - ZERO
        if digit < 0 or digit > 9:
            return -TIME_BIAS
        number = number * 10 + digit
    return number


@inline
def _trimmed(buffer: Array, start: Int, end: Int) -> tuple[Int, Int]:
    while start < end and buffer[start] == SPACE:
        start += 1
    while end > start and buffer[end - 1] == SPACE:
        end -= 1
    return start, end


@kernel
def trim(buffer: Array, starts: Array, ends: Array) -> None:
    """Remove surrounding spaces from each span."""
    for i in range(len(starts)):
        starts[i], ends[i] = _trimmed(buffer, starts[i], ends[i])


@kernel
def read_unix(
    buffer: Array,
    starts: Array,
    ends: Array,
    scale: Int,
    guessed: Flag,
    unit: Int,
    since: Array,
    offset: Array,
    status: Array,
    out: Array,
) -> None:
    """Read numbers, with or without a fraction, of 1/scale seconds since 1970 in UTC."""
    for row in range(len(starts)):
        start, end = _trimmed(buffer, starts[row], ends[row])
        if status[row] != 0 or start == end:
            continue
        negative = buffer[start] == DASH
        at = start + (negative or buffer[start] == PLUS)
        first, number = at, np.int64(0)
        while at < end and ZERO <= buffer[at] <= NINE and number <= MOST_BEFORE_NEXT:
            number = number * 10 + (np.int64(buffer[at]) - ZERO)
            at += 1
        digits = at - first
        fraction = False
        if at < end and buffer[at] == DOT:
            at += 1
            while at < end and ZERO <= buffer[at] <= NINE:
                fraction = fraction or buffer[at] != ZERO
                at += 1
        if digits == 0 or at != end:
            status[row] = OUT_OF_RANGE if number > MOST_BEFORE_NEXT else UNREADABLE
            continue
        if negative:
            number = -number - fraction  # rounded down
        if guessed and (abs(number) >= LARGEST) != (scale > 1):
            status[row] = OTHER_FORMAT
            continue
        second = number // scale
        second += offset_at(since, offset, second)
        units = _units(second, unit)
        status[row] = OUT_OF_RANGE if units == OUTSIDE else 0
        out[row] = 0 if units == OUTSIDE else units + TIME_BIAS


@inline
def _clock_time(buffer: Array, at: Int, end: Int) -> tuple[Int, Int]:
    """Seconds after midnight of T or a space and HH:MM[:SS[.fraction]], or -1; and where the text ends."""
    if end - at < 6 or (buffer[at] != LETTER_T and buffer[at] != SPACE) or buffer[at + 3] != COLON:
        return np.int64(-1), at
    hour, minute, second = _digits(buffer, at + 1, 2), _digits(buffer, at + 4, 2), np.int64(0)
    at += 6
    if at < end and buffer[at] == COLON:
        if end - at < 3:
            return np.int64(-1), at
        second = _digits(buffer, at + 1, 2)
        at += 3
        if at < end and buffer[at] == DOT:
            at += 1
            while at < end and ZERO <= buffer[at] <= NINE:
                at += 1
    if hour < 0 or hour > 23 or minute < 0 or minute > 59 or second < 0 or second > 60:
        return np.int64(-1), at
    return hour * 3_600 + minute * 60 + min(second, 59), at  # a leap second counts as the second before


@inline
def _zone_shift(buffer: Array, at: Int, end: Int) -> Int:
    """Offset in seconds of Z, ±HH, ±HHMM or ±HH:MM; OUTSIDE if it is none of them."""
    if buffer[at] == LETTER_Z and end - at == 1:
        return np.int64(0)
    if (buffer[at] != PLUS and buffer[at] != DASH) or end - at < 3:
        return np.int64(OUTSIDE)
    hours, minutes = _digits(buffer, at + 1, 2), np.int64(0)
    colon = end - at > 3 and buffer[at + 3] == COLON
    left = end - at - 3 - colon
    if left == 2:
        minutes = _digits(buffer, at + 3 + colon, 2)
    if (left != 2 and (left != 0 or colon)) or hours < 0 or hours > 23 or minutes < 0 or minutes > 59:
        return np.int64(OUTSIDE)
    return (hours * 3_600 + minutes * 60) * (1 if buffer[at] == PLUS else -1)


@kernel
def read_iso(
    buffer: Array, starts: Array, ends: Array, unit: Int, since: Array, offset: Array, status: Array, out: Array
) -> None:
    """Read YYYY-MM-DD, optionally followed by a time of day and a zone."""
    for row in range(len(starts)):
        start, end = _trimmed(buffer, starts[row], ends[row])
        if status[row] != 0 or start == end:
            continue
        status[row] = UNREADABLE  # until the whole text has been read
        if end - start < 10 or buffer[start + 4] != DASH or buffer[start + 7] != DASH:
            continue
        day = civil_day(_digits(buffer, start, 4), _digits(buffer, start + 5, 2), _digits(buffer, start + 8, 2))
        if day == -TIME_BIAS:
            continue
        second, at = day * 86_400, start + 10
        if at < end:
            time_of_day, at = _clock_time(buffer, at, end)
            if time_of_day < 0:
                continue
            second += time_of_day
        if at < end:
            shift = _zone_shift(buffer, at, end)
            if shift == OUTSIDE:
                continue
            second -= shift
            second += offset_at(since, offset, second)
        units = _units(second, unit)
        status[row] = OUT_OF_RANGE if units == OUTSIDE else 0
        out[row] = 0 if units == OUTSIDE else units + TIME_BIAS
