"""Convert times from text or numbers to whole units on the wall clock of one zone.

A Unix time, or a time with a zone, is converted to the zone of the release (default: UTC). A time without a
zone is taken as written. Then it is rounded down to the unit.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError
from standout.core.jit import Array, Flag, Int, inline, kernel
from standout.ingest.interner import Interner
from standout.ingest.rejects import Reason
from standout.ingest.zones import Zone, offset_at
from standout.release.build_kernels import TIME_BIAS
from standout.release.clock import SECONDS, TimeUnit

__all__ = ["TimeReader", "civil_day", "recognise_format"]


EPOCH = datetime(1970, 1, 1)
NUMERIC = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
NO_TIME, OUTSIDE = -(1 << 61), -(1 << 60)
LOWEST, HIGHEST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999, in seconds
MOST_BEFORE_NEXT = (1 << 63) // 10 - 1  # one more digit still fits into 64 bits
LARGEST = 100_000_000_000  # 10¹¹ seconds are in the year 5138, 10¹¹ milliseconds in 1973
UNREADABLE, OTHER_FORMAT = Reason.UNREADABLE_TIME, Reason.OTHER_TIME_FORMAT
OUT_OF_RANGE = Reason.TIME_OUT_OF_RANGE
ZERO, NINE, DASH, DOT, COLON, PLUS, SPACE = 48, 57, 45, 46, 58, 43, 32
LETTER_T, LETTER_Z = 84, 90
MONTHS = np.arange("0001-01", "10000-02", dtype="datetime64[M]")
FIRST_OF_MONTH = MONTHS.astype("datetime64[D]").astype(np.int64)

NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")
ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
COMPACT = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")


def recognise_format(texts: Iterable[str]) -> str | None:
    """Recognise the format of a column from its first texts: "s", "ms", "iso", "%Y%m%d" or None."""
    numbers: list[str] = []
    for text in texts:
        if ISO.fullmatch(text):
            return "iso"
        if NUMBER.fullmatch(text):
            numbers.append(text)
    if not numbers:
        return None
    if all(COMPACT.fullmatch(text) for text in numbers):
        return "%Y%m%d"
    return "ms" if abs(int(numbers[0].split(".")[0])) >= LARGEST else "s"


@dataclass(slots=True)
class TimeReader:
    """Reads the times of one column, batch by batch, all in the format of the first.

    >>> reader = TimeReader("day", "UTC", None)
    >>> reader.read_texts(["2005-03-01", "2005-02-30", ""])[0].tolist()
    [12843, None, None]
    """

    unit: TimeUnit
    zone_name: str
    format: str | None
    zone: Zone = field(init=False)
    texts: Interner = field(init=False, default_factory=Interner)
    known: NDArray[np.int64] = field(init=False, default_factory=lambda: np.zeros(0, np.int64))
    guessed: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        if self.unit not in SECONDS:
            raise ParameterError(f"time_unit must be day, hour or minute, got {self.unit!r}")
        if self.format is not None and self.format not in (*NUMERIC, "iso") and "%" not in self.format:
            raise ParameterError(
                f"time_format must be s, ms, us, ns, iso or a pattern such as %d.%m.%Y, got {self.format!r}"
            )
        self._check_pattern()
        self.zone = Zone.of(self.zone_name)

    def _check_pattern(self) -> None:
        """Check the pattern once, because strptime raises one error for a bad pattern and a bad text."""
        if self.format is None or "%" not in self.format:
            return
        try:
            datetime.strptime("", self.format)
        except (ValueError, IndexError, re.error) as error:
            if "does not match" not in str(error) and "unconverted" not in str(error):
                raise ParameterError(
                    f"time_format must be a valid pattern of strptime, got {self.format!r}"
                ) from error

    def read(self, buffer: Array, starts: Array, ends: Array, status: Array) -> NDArray[np.uint32]:
        """Return each span's time + TIME_BIAS, 0 if it is empty; set the status of unreadable times."""
        out = np.zeros(len(starts), np.uint32)
        if self.format is None:
            self._recognise(buffer, starts, ends, status)
        if self.format is None:
            _reject_all(*_trimmed_spans(buffer, starts, ends), status)
        elif self.format == "iso":
            _read_iso(
                buffer=buffer,
                starts=starts,
                ends=ends,
                unit=SECONDS[self.unit],
                since=self.zone.since,
                offset=self.zone.offset,
                status=status,
                out=out,
            )
        elif self.format in NUMERIC:
            _read_unix(
                buffer=buffer,
                starts=starts,
                ends=ends,
                scale=NUMERIC[self.format],
                guessed=self.guessed,
                unit=SECONDS[self.unit],
                since=self.zone.since,
                offset=self.zone.offset,
                status=status,
                out=out,
            )
        else:
            self._read_pattern(buffer, starts, ends, status, out)
        return out

    def read_texts(self, texts: list[str]) -> tuple[NDArray[np.object_], NDArray[np.uint8]]:
        """Return the times of a list of texts (None if missing) and their status; for tests and examples."""
        data = np.frombuffer("".join(texts).encode(), np.uint8)
        ends = np.cumsum([len(text.encode()) for text in texts])
        starts = ends - [len(text.encode()) for text in texts]
        status = np.zeros(len(texts), np.uint8)
        coded = self.read(data, starts, ends, status)
        return np.array([int(code) - TIME_BIAS if code else None for code in coded], object), status

    def from_seconds(self, seconds: NDArray[np.int64], local: bool) -> NDArray[np.int64]:
        """Convert seconds since 1970 to units on the wall clock; local seconds need no zone.

        The result is OUTSIDE before the year 1 and after 9999.
        """
        if not local:
            seconds = seconds + self.zone.offsets_at(seconds)
        inside = (seconds >= LOWEST) & (seconds <= HIGHEST)
        return np.where(inside, seconds // SECONDS[self.unit], OUTSIDE)

    def settings(self) -> dict[str, str]:
        """Return how times were interpreted, for the provenance."""
        names = {"s": "Unix seconds", "ms": "Unix milliseconds", "iso": "ISO 8601", None: "dates"}
        return {
            "time format": names.get(self.format, str(self.format)),
            "time unit": self.unit,
            "zone": f"{self.zone_name} (times without a zone are taken as written)",
        }

    def _recognise(self, buffer: Array, starts: Array, ends: Array, status: Array) -> None:
        usable = np.flatnonzero((status == 0) & (ends > starts))[:100]
        spans = (buffer[starts[i] : ends[i]].tobytes() for i in usable)
        self.format = recognise_format(span.decode("utf-8", "replace").strip() for span in spans)
        self.guessed = self.format is not None

    def _read_pattern(self, buffer: Array, starts: Array, ends: Array, status: Array, out: Array) -> None:
        starts, ends = _trimmed_spans(buffer, starts, ends)
        codes = self.texts.codes(buffer, starts, ends, status)
        labels = self.texts.labels()
        fresh = [self._pattern_unit(labels[i]) for i in range(len(self.known), len(labels))]
        self.known = np.append(self.known, np.array(fresh, np.int64))
        used = np.flatnonzero((status == 0) & (ends > starts))
        units = self.known[codes[used]]
        status[used[units == NO_TIME]] = UNREADABLE
        status[used[(units != NO_TIME) & (np.abs(units) >= TIME_BIAS)]] = OUT_OF_RANGE
        good = np.abs(units) < TIME_BIAS
        out[used[good]] = units[good] + TIME_BIAS

    def _pattern_unit(self, text: str) -> int:
        try:
            moment = datetime.strptime(text, str(self.format))
            shift = moment.utcoffset()
            seconds = (moment.replace(tzinfo=None) - EPOCH) // timedelta(seconds=1)
        except (ValueError, OverflowError, IndexError, re.error):
            return NO_TIME
        if shift is None:
            return seconds // SECONDS[self.unit]
        moved = np.array([seconds - round(shift.total_seconds())])
        return int(self.from_seconds(moved, local=False)[0])


def _trimmed_spans(buffer: Array, starts: Array, ends: Array) -> tuple[Array, Array]:
    """Return the spans without surrounding spaces."""
    starts, ends = starts.copy(), ends.copy()
    _trim(buffer, starts, ends)
    return starts, ends


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
def _trim(buffer: Array, starts: Array, ends: Array) -> None:
    for i in range(len(starts)):
        starts[i], ends[i] = _trimmed(buffer, starts[i], ends[i])


@kernel
def _reject_all(starts: Array, ends: Array, status: Array) -> None:
    for i in range(len(starts)):
        if status[i] == 0 and ends[i] > starts[i]:
            status[i] = UNREADABLE


@kernel
def _read_unix(
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
def _read_iso(
    buffer: Array,
    starts: Array,
    ends: Array,
    unit: Int,
    since: Array,
    offset: Array,
    status: Array,
    out: Array,
) -> None:
    """Read YYYY-MM-DD, optionally followed by a time of day and a zone."""
    for row in range(len(starts)):
        start, end = _trimmed(buffer, starts[row], ends[row])
        if status[row] != 0 or start == end:
            continue
        status[row] = UNREADABLE  # until the whole text has been read
        if end - start < 10 or buffer[start + 4] != DASH or buffer[start + 7] != DASH:
            continue
        day = civil_day(
            _digits(buffer, start, 4), _digits(buffer, start + 5, 2), _digits(buffer, start + 8, 2)
        )
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
