"""Convert times from text or numbers to whole units on the wall clock of one zone.

A Unix time, or a time with a zone, is converted to the zone of the release (default: UTC). A time without a
zone is taken as written. Then it is rounded down to the unit.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError
from standout.core.jit import Array, Flag, Int, inline, kernel
from standout.data.build_kernels import TIME_BIAS
from standout.data.labels import SECONDS, TimeUnit
from standout.ingest.date_patterns import (
    LARGEST,
    DatePatterns,
    check_pattern,
    count_formats,
    moment_of,
    recognise_format,
    recognise_pattern,
)
from standout.ingest.interner import Interner, writable
from standout.ingest.rejects import Reason

WIDTH = re.compile(r"(\d{0,7})\s*([a-z]+)")
NAMES = {
    "minute": ("minute", "minutes", "min", "mins"),
    "hour": ("hour", "hours", "h"),
    "day": ("day", "days", "d"),
    "week": ("week", "weeks", "w"),
    "month": ("month", "months"),
}
SECONDS_OF = {"minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
MONDAY = -3 * 86_400  # 29 December 1969; 1 January 1970 was a Thursday
LONGEST_BIN = 36_525 * 86_400
EPOCH = datetime(1970, 1, 1)
MOST_COUNTED = 1_000_000
"""Number of unreadable times whose formats are counted, because that is slow."""
NUMERIC = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
NO_TIME = -(1 << 61)
UNREADABLE, OUT_OF_RANGE = Reason.UNREADABLE_TIME, Reason.TIME_OUT_OF_RANGE
AMBIGUOUS, OTHER_FORMAT = Reason.AMBIGUOUS_TIME, Reason.OTHER_TIME_FORMAT
OUTSIDE = -(1 << 60)
LOWEST, HIGHEST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999, in seconds
MOST_BEFORE_NEXT = (1 << 63) // 10 - 1  # one more digit still fits into 64 bits
ZERO, NINE, DASH, DOT, COLON, PLUS, SPACE = 48, 57, 45, 46, 58, 43, 32
LETTER_T, LETTER_Z = 84, 90
FIRST_OF_MONTH = np.arange("0001-01", "10000-02", dtype="datetime64[M]").astype("datetime64[D]").astype(np.int64)
LAST_LISTED, PERIOD = 16_725_225_600, 400 * 31_556_952  # 2500-01-01; 400 years of the calendar


@dataclass(frozen=True, slots=True)
class TimeBin:
    """Bins of `seconds` each, counted from `origin` in seconds since 1970; months have 0 seconds.

    >>> TimeBin.of("90 min"), str(TimeBin.of("24h")), TimeBin.of("week").unit
    (TimeBin(seconds=5400, origin=0), 'day', 'day')
    """

    seconds: int
    origin: int = 0

    @classmethod
    def of(cls, text: object) -> "TimeBin":
        """Parse a width such as hour, 15min, 6h, 2d, week or month."""
        match = WIDTH.fullmatch(text.strip().lower()) if isinstance(text, str) else None
        kind = next((kind for kind, names in NAMES.items() if match and match[2] in names), "")
        count = int(match[1] or 1) if match else 0
        if kind == "month" and count == 1:
            return cls(0)
        seconds = count * SECONDS_OF.get(kind, 0)
        if not 0 < seconds <= LONGEST_BIN:
            raise ParameterError(
                "time_bin must be minute, hour, day, week, month, or a number of minutes, hours, days or "
                f"weeks up to 100 years such as 15min, 6h or 2d, got {text!r}"
            )
        return cls(seconds, MONDAY if kind == "week" else 0)

    @property
    def unit(self) -> TimeUnit:
        """Widest unit of a clock that represents the bins."""
        units: tuple[TimeUnit, ...] = ("day", "hour")
        return next((unit for unit in units if self.seconds % SECONDS[unit] == 0), "minute")

    def nests_in(self, wider: "TimeBin") -> bool:
        """Whether each bin lies within one bin of the other."""
        if self == wider or not self.seconds:
            return self == wider
        if not wider.seconds:
            return SECONDS["day"] % self.seconds == 0
        return wider.seconds % self.seconds == 0 and (wider.origin - self.origin) % self.seconds == 0

    def round_down(self, units: NDArray[np.int64], unit: TimeUnit) -> NDArray[np.int64]:
        """First unit of the bin of each time; times and results are whole units since 1970."""
        if not self.seconds:
            per_day = SECONDS["day"] // SECONDS[unit]
            month = np.searchsorted(FIRST_OF_MONTH, units // per_day, side="right") - 1
            return np.asarray(FIRST_OF_MONTH[month] * per_day)
        width, origin = self.seconds // SECONDS[unit], self.origin // SECONDS[unit]
        return np.asarray((units - origin) // width * width + origin)

    def round_codes(self, codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """The same for times + TIME_BIAS in the unit of these bins; 0 is a missing time."""
        rounded = self.round_down(codes.astype(np.int64) - TIME_BIAS, self.unit) + TIME_BIAS
        return np.where(codes == 0, 0, np.maximum(rounded, 1)).astype(np.uint32)

    def __str__(self) -> str:
        if not self.seconds:
            return "month"
        kinds = ("week",) if self.origin else ("day", "hour", "minute")
        kind = next(kind for kind in kinds if self.seconds % SECONDS_OF[kind] == 0)
        count = self.seconds // SECONDS_OF[kind]
        return kind if count == 1 else f"{count} {kind}s"


@dataclass(frozen=True, slots=True)
class Zone:
    """Offset of a zone from UTC: offset[i] seconds from since[i] on."""

    name: str
    since: NDArray[np.int64]
    offset: NDArray[np.int64]

    @classmethod
    @cache
    def of(cls, name: str) -> "Zone":
        """Find a zone by its name."""
        if name == "UTC":
            return cls(name, np.zeros(1, np.int64), np.zeros(1, np.int64))
        try:
            info = ZoneInfo(name)
        except (ValueError, OSError, LookupError) as error:
            raise ParameterError(f"zone must be a name such as Europe/Berlin, got {name!r}") from error
        return cls(name, *_transitions(info))

    def offsets_at(self, seconds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Offset at each second of UTC."""
        periods = np.maximum((seconds - LAST_LISTED) // PERIOD + 1, 0)
        transition = np.searchsorted(self.since, seconds - periods * PERIOD, side="right") - 1
        return np.asarray(self.offset[np.maximum(transition, 0)])


def _transitions(info: ZoneInfo) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the changes of the offset between 1840 and 2500: search by day, then to the second.

    Before 1840 local mean time applies. After 2500 the calendar, and so the rules, repeat every 400 years.
    """

    def offset(second: int) -> int:
        shift = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)).astimezone(info).utcoffset()
        return 0 if shift is None else round(shift.total_seconds())

    step, first = 86_400, -4_102_444_800
    since, offsets = [first], [offset(first)]
    for high in range(first + step, LAST_LISTED, step):
        if offset(high) == offsets[-1]:
            continue
        low, right = high - step, high
        while right - low > 1:
            middle = (low + right) // 2
            low, right = (middle, right) if offset(middle) == offsets[-1] else (low, middle)
        since.append(right)
        offsets.append(offset(right))
    return np.array(since), np.array(offsets)


@dataclass(slots=True)
class TimeReader:
    """Reads the times of one column, batch by batch, all in the format of the first.

    Dates such as 3/4/2005 are `deferred`: `read` returns codes of texts, and `resolve` converts them when all
    texts are known, because a later text may show which part is the day.

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
    deferred: bool = field(init=False, default=False)
    patterns: DatePatterns = field(init=False, default=DatePatterns())
    rows_of_text: NDArray[np.int64] = field(init=False, default_factory=lambda: np.zeros(0, np.int64))
    rows_read: int = field(init=False, default=0)
    rows_unread: int = field(init=False, default=0)
    other_formats: Counter[str] = field(init=False, default_factory=Counter)

    def __post_init__(self) -> None:
        if self.unit not in SECONDS:
            raise ParameterError(f"time_unit must be day, hour or minute, got {self.unit!r}")
        if self.format is not None and "%" in self.format:
            check_pattern("time_format", self.format)
        elif self.format is not None and self.format not in (*NUMERIC, "iso"):
            raise ParameterError(
                f"time_format must be s, ms, us, ns, iso or a pattern such as %d.%m.%Y, got {self.format!r}"
            )
        self.zone = Zone.of(self.zone_name)

    def read(self, buffer: Array, starts: Array, ends: Array, status: Array) -> NDArray[np.uint32]:
        """Return each span's time + TIME_BIAS, 0 if it is empty; set the status of unreadable times."""
        out = np.zeros(len(starts), np.uint32)
        buffer = writable(buffer, np.uint8)
        starts, ends = np.array(starts, np.int64), np.array(ends, np.int64)
        _trim(buffer, starts, ends)
        used = np.flatnonzero((status == 0) & (ends > starts))
        if self.format is None and not self.deferred and len(used):
            self.format = recognise_format(texts_at(buffer, starts, ends, used[:100]))
            self.guessed = self.format is not None
            self.deferred = not self.guessed
        if self.deferred:  # `resolve` converts the code of each text + 1
            out[used] = self.texts.codes(buffer, starts, ends, status)[used] + 1
            return out
        clock = SECONDS[self.unit], self.zone.since, self.zone.offset, status, out
        if self.format == "iso":
            read_iso(buffer, starts, ends, *clock)
        elif self.format in NUMERIC:
            read_unix(buffer, starts, ends, NUMERIC[self.format], self.guessed, *clock)
        elif self.format is not None:
            self._read_pattern(self.texts.codes(buffer, starts, ends, status)[used], used, status, out)
        self.rows_read += int(np.count_nonzero(out))
        odd = np.flatnonzero((status == UNREADABLE) | (status == OTHER_FORMAT))
        self.rows_unread += len(odd)
        odd = odd[: max(len(odd) - max(self.rows_unread - MOST_COUNTED, 0), 0)]
        self.other_formats += count_formats((text, 1) for text in texts_at(buffer, starts, ends, odd))
        return out

    def _read_pattern(
        self, codes: NDArray[np.uint32], used: NDArray[np.int64], status: Array, out: NDArray[np.uint32]
    ) -> None:
        labels = self.texts.labels()
        fresh = [self._pattern_unit(labels[i]) for i in range(len(self.known), len(labels))]
        self.known = np.append(self.known, np.array(fresh, np.int64))
        rows = np.bincount(codes, minlength=len(labels))
        rows[: len(self.rows_of_text)] += self.rows_of_text
        self.rows_of_text = rows
        units = self.known[codes]
        good = np.abs(units) < TIME_BIAS
        status[used[~good]] = np.where(units[~good] == NO_TIME, UNREADABLE, OUT_OF_RANGE)
        out[used[good]] = units[good] + TIME_BIAS

    def _pattern_unit(self, text: str) -> int:
        moment = moment_of(text, str(self.format))
        if moment is None:
            return NO_TIME
        shift = moment.utcoffset()
        seconds = (moment.replace(tzinfo=None) - EPOCH) // timedelta(seconds=1)
        if shift is None:
            return seconds // SECONDS[self.unit]
        return int(self.from_seconds(np.array([seconds - round(shift.total_seconds())]), local=False)[0])

    def read_texts(self, texts: list[str]) -> tuple[NDArray[np.object_], NDArray[np.uint8]]:
        """Return the times of a list of texts (None if missing) and their status."""
        sizes = np.array([len(text.encode()) for text in texts], np.int64)
        ends, status = np.cumsum(sizes), np.zeros(len(texts), np.uint8)
        coded = self.read(np.frombuffer("".join(texts).encode(), np.uint8), ends - sizes, ends, status)
        if self.deferred:
            code, of_code = self.resolve()
            status, coded = np.maximum(status, of_code[coded]), code[coded]
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
        self.decide()
        names = {"s": "Unix seconds", "ms": "Unix milliseconds", "iso": "ISO 8601", None: "dates"}
        return {
            "time format": names.get(self.format, str(self.format)),
            "time unit": self.unit,
            "zone": f"{self.zone_name} (times without a zone are taken as written)",
        }

    def decide(self) -> None:
        """Choose the format of deferred times from all their texts."""
        if not self.deferred or self.format is not None or self.patterns.rivals:
            return
        texts = list(self.texts.labels())
        self.format = recognise_format(texts[:100])
        if self.format is None:
            self.patterns = recognise_pattern(texts)
            self.format = self.patterns.pattern

    def resolve(self, codes: Iterable[NDArray[np.uint32]] = ()) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Time + TIME_BIAS (0 if missing) and status of each code of deferred times; `codes`: of all rows."""
        self.decide()
        texts = list(self.texts.labels())
        counts = [np.bincount(part, minlength=len(texts) + 1)[1:] for part in codes]
        self.rows_of_text = np.sum([np.zeros(len(texts), np.int64), *counts], axis=0)
        code, status = np.zeros(len(texts) + 1, np.uint32), np.zeros(len(texts) + 1, np.uint8)
        if self.format is None:
            status[1:] = AMBIGUOUS if self.patterns.rivals else UNREADABLE
        else:
            times, status[1:] = TimeReader(self.unit, self.zone_name, self.format).read_texts(texts)
            code[1:] = [0 if time is None else int(time) + TIME_BIAS for time in times]
        return code, status

    @property
    def are_formats_counted(self) -> bool:
        """Whether `format_counts` has all rows, and not only the first of those in another format."""
        return len(self.rows_of_text) > 0 or self.rows_unread <= MOST_COUNTED

    def format_counts(self) -> Counter[str]:
        """Number of rows that each format fits."""
        if len(self.rows_of_text):
            return count_formats(zip(self.texts.labels(), self.rows_of_text, strict=True))
        return Counter({str(self.format): self.rows_read}) + self.other_formats

    def count_misfits(self, pattern: str) -> int:
        """Number of rows whose deferred time does not fit a pattern."""
        texts = zip(self.texts.labels(), self.rows_of_text, strict=True)
        return sum(int(rows) for text, rows in texts if moment_of(text, pattern) is None)

    def better_pattern(self) -> str | None:
        """Pattern that fits all times of a column whose given pattern does not, or None."""
        texts = list(self.texts.labels())
        found = recognise_pattern(texts).pattern if texts and not self.deferred else None
        fits = found is not None and all(moment_of(text, found) for text in texts)
        return found if fits and found != self.format else None


def texts_at(buffer: Array, starts: Array, ends: Array, rows: Iterable[int]) -> list[str]:
    """Texts of some rows."""
    return [buffer[starts[i] : ends[i]].tobytes().decode("utf-8", "replace").strip() for i in rows]


# Compiled loops that read Unix times and ISO 8601 from bytes.


@inline
def offset_at(since: Array, offset: Array, second: Int) -> Int:
    """Offset of the zone at a second of UTC."""
    if second >= LAST_LISTED:
        second -= ((second - LAST_LISTED) // PERIOD + 1) * PERIOD
    low, high = 0, len(since)
    while high - low > 1:
        middle = (low + high) // 2
        if since[middle] <= second:
            low = middle
        else:
            high = middle
    return offset[low]


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


@kernel
def _trim(buffer: Array, starts: Array, ends: Array) -> None:
    """Remove surrounding spaces from each span."""
    for i in range(len(starts)):
        while starts[i] < ends[i] and buffer[starts[i]] == SPACE:
            starts[i] += 1
        while ends[i] > starts[i] and buffer[ends[i] - 1] == SPACE:
            ends[i] -= 1


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
        start, end = starts[row], ends[row]
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
        start, end = starts[row], ends[row]
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
