"""Dates and times: which format texts have, and whole units on the wall clock of one zone.

A format is "iso", "s", "ms", "us" or "ns" since 1970, or a pattern of strptime. A pattern is only concluded if the
texts prove it: 3/4/2005 fits both orders of day and month, 31/12/2010 fits one. If no text decides, the dates are
ambiguous, and the user must say which pattern is meant. A Unix time, or a time with a zone, is converted to the zone
of the release (default: UTC). A time without a zone is taken as written. Then it is rounded down to the unit.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.core.arrays import Bools, Ints
from standout.core.errors import ParameterError
from standout.core.jit import Array, Flag, Int, inline, kernel
from standout.data.build_kernels import TIME_BIAS
from standout.data.labels import SECONDS, TimeUnit
from standout.ingest.report import Reason
from standout.ingest.tokens import Interner, writable

# Widths of bins of time.

WIDTH = re.compile(r"(\d{0,7})\s*(min|h|d|w|minute|hour|day|week|month)s?")
NAMES = {"min": "minute", "h": "hour", "d": "day", "w": "week"}
SECONDS_OF = {"minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
MONDAY = -3 * 86_400  # 29 December 1969; 1 January 1970 was a Thursday
LONGEST_BIN = 36_525 * 86_400
FIRST_OF_MONTH = np.arange("0001-01", "10000-02", dtype="datetime64[M]").astype("datetime64[D]").astype(np.int64)


@dataclass(frozen=True, slots=True)
class TimeBin:
    """Bins of `seconds` each, counted from `origin` in seconds since 1970; months have 0 seconds."""

    seconds: int
    origin: int = 0

    @classmethod
    def of(cls, text: object) -> "TimeBin":
        """Parse a width such as hour, 15min, 6h, 2d, week or month."""
        match = WIDTH.fullmatch(text.strip().lower()) if isinstance(text, str) else None
        kind, count = (NAMES.get(match[2], match[2]), int(match[1] or 1)) if match else ("", 0)
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

    def round_down(self, units: Ints, unit: TimeUnit) -> Ints:
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


# Which format texts have.

SAMPLE, MOST = 500, 8
"""Number of texts from which patterns are proposed, and of patterns that are tried on all texts."""
WHOLE = ("%a %b %d %H:%M:%S %z %Y", "%a %b %d %H:%M:%S %Y", "%a, %d %b %Y %H:%M:%S")
DAYS = (
    "%Y-%m-%d", "%d-%m-%Y", "%m-%d-%Y", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d", "%d-%b-%Y", "%d-%B-%Y", "%d-%b-%y",
    "%d-%B-%y", "%Y-%b-%d", "%Y-%B-%d", "%b-%d,-%Y", "%B-%d,-%Y", "%b-%d-%Y", "%B-%d-%Y",
)  # fmt: skip
"""Patterns of a day; the sign between its parts is that of the text."""
SIGN = re.compile(r"[\dA-Za-z]{1,9}([-/. ])[\dA-Za-z]")
CLOCK = re.compile(r"(T|, | |:)\d{1,2}:\d\d(:\d\d(\.\d{1,6})?)?( ?[AaPp][Mm])?( ?)(Z|[+-]\d\d:?\d\d)?$")
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")
ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
COMPACT = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(([01]\d|2[0-3])[0-5]\d([0-5]\d)?)?")
COMPACT_PATTERNS = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
MOST_DIGITS = 30
"""More digits than any time has; Python refuses to convert thousands of digits."""
LARGEST = 100_000_000_000  # 10¹¹ seconds are in the year 5138, 10¹¹ milliseconds in 1973


def check_pattern(name: str, pattern: str) -> None:
    """Check a pattern once, because strptime raises one error for a bad pattern and a bad text."""
    try:
        datetime.strptime("", pattern)
    except (ValueError, IndexError, re.error) as error:
        if "does not match" not in str(error) and "unconverted" not in str(error):
            raise ParameterError(f"{name} must be a valid pattern of strptime, got {pattern!r:.100}") from error


def _moments(texts: Sequence[str], pattern: str) -> list[datetime | None]:
    """The moment of each text in a pattern, or None if it does not fit."""
    moments: list[datetime | None] = []
    for text in texts:
        try:
            moments.append(datetime.strptime(text, pattern))
        except (ValueError, OverflowError, IndexError, re.error):
            moments.append(None)
    return moments


def recognise_pattern(texts: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """The pattern of strptime that the texts prove, or None and those between which they do not decide."""
    distinct = list(dict.fromkeys(text.strip() for text in texts))
    sample = distinct[:SAMPLE]
    proposed = dict.fromkeys(pattern for text in sample for pattern in _patterns(text))
    fits = Counter({pattern: len(sample) - _moments(sample, pattern).count(None) for pattern in proposed})
    candidates = [pattern for pattern, count in fits.most_common(MOST) if count]
    moments_of = {pattern: _moments(distinct, pattern) for pattern in candidates}
    counts = {pattern: len(distinct) - moments.count(None) for pattern, moments in moments_of.items()}
    most = max(counts.values(), default=0)
    if 2 * most < len(distinct) or not most:
        return None, ()
    winners = [pattern for pattern, count in counts.items() if count == most]
    first = moments_of[winners[0]]
    if any(moments_of[pattern] != first for pattern in winners[1:]):
        return None, tuple(sorted(winners))
    others = [  # some texts fit only the winner, and others only another pattern
        pattern
        for pattern in candidates
        if any(moment and not ours for moment, ours in zip(moments_of[pattern], first, strict=True))
    ]
    return (None, (winners[0], *sorted(others))) if others else (winners[0], ())


def _patterns(text: str) -> Iterator[str]:
    """Yield the patterns that a text may have."""
    end = ""
    if match := CLOCK.search(text):
        seconds = "" if match[2] is None else ":%S" if match[3] is None else ":%S.%f"
        hours = f"%H:%M{seconds}" if match[4] is None else f"%I:%M{seconds}{match[4][:-2]}%p"
        end = match[1] + hours + ("" if match[6] is None else f"{match[5]}%z")
    yield from WHOLE
    if sign := SIGN.match(text):
        yield from (day.replace("-", sign[1]) + end for day in DAYS)


def recognise_format(texts: Sequence[str]) -> str | None:
    """Recognise the format of a column from its first texts: "s", "ms", "iso", "%Y%m%d…" or None."""
    if any(ISO.fullmatch(text) for text in texts):
        return "iso"
    numbers = [text for text in texts if NUMBER.fullmatch(text)]
    if not numbers:
        return None
    if all(COMPACT.fullmatch(text) for text in numbers) and len({len(text) for text in numbers}) == 1:
        return COMPACT_PATTERNS[len(numbers[0])]
    whole = numbers[0].split(".")[0].lstrip("+-0")[:MOST_DIGITS]
    return "ms" if int(whole or "0") >= LARGEST else "s"


# Dates in the distinct cells of a table: ISO 8601, year and month, eight digits, or a pattern that the texts prove.

FORMS = {
    "iso": r"^(1[6-9]|20|21)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([T ].*)?$",
    "%Y-%m": r"^(1[6-9]|20|21)\d\d-(0[1-9]|1[0-2])$",
    "%Y%m%d": r"^(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$",
}
PROBABLE = r"^\D{0,12}\d{1,4}[-/. ]\s?(\d{1,2}|[A-Za-z]{3,9}\.?)[-/. ,]\s?\d{1,4}|^[A-Za-z]{3,9},? "
MOSTLY, ENOUGH, MOST_TEXTS, FEW_TEXTS = 0.9, 3, 2_000, 50
NOT_A_DATE = np.iinfo(np.int64).min


class Dates(NamedTuple):
    """Days since 1970-01-01 of some distinct texts, NOT_A_DATE where a text is none, and their format."""

    days: Ints
    format: str = ""
    has_clock: bool = False

    @property
    def fits(self) -> Bools:
        """Which texts are dates."""
        return np.asarray(self.days != NOT_A_DATE)


def dates_in(texts: pl.Series, pattern: str | None = None) -> Dates:
    """Read texts as dates, in a format or in the one that they prove. Times of day are left out."""
    if pattern is None:
        pattern = next((name for name, form in FORMS.items() if _mostly(texts, form)), None)
    if pattern is None:
        sample = _sample(texts, MOST_TEXTS)
        pattern = recognise_pattern(sample.to_list())[0] if _mostly(sample, PROBABLE) else None
    if pattern is None:
        return Dates(np.full(len(texts), NOT_A_DATE))
    has_clock = "%H" in pattern or "%I" in pattern
    if pattern == "iso":
        has_clock = bool(texts.str.slice(10).str.contains("[1-9]").any())
        days = texts.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
    else:
        moments = _moments(texts.to_list(), pattern)
        days = pl.Series([None if moment is None else moment.date() for moment in moments], dtype=pl.Date)
    return Dates(days.to_physical().cast(pl.Int64).fill_null(NOT_A_DATE).to_numpy(), pattern, has_clock)


def _sample(texts: pl.Series, most: int) -> pl.Series:
    return texts.gather(np.linspace(0, len(texts) - 1, min(len(texts), most)).astype(np.uint32))


def _mostly(texts: pl.Series, form: str) -> bool:
    return bool(texts.str.contains(form).sum() >= MOSTLY * len(texts))


def are_digit_dates(texts: pl.Series) -> bool:
    """Whether texts are dates of eight digits, such as 20101231: several of them, and no other number."""
    has_form = len(texts) >= ENOUGH and bool(texts.str.contains(FORMS["%Y%m%d"]).all())
    return has_form and bool(dates_in(texts).fits.all())


def are_dates(texts: pl.Series) -> bool:
    """Whether most texts are dates, each in some format."""
    sample = _sample(texts, FEW_TEXTS).to_list()
    fit = sum(
        ISO.fullmatch(text) is not None
        or COMPACT.fullmatch(text) is not None
        or any(_moments([text], pattern)[0] for pattern in _patterns(text))
        for text in sample
    )
    return bool(sample) and fit >= MOSTLY * len(sample)


# Times of the entries of a history.

UNIX = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
UNIX_NAMES = {"s": "Unix seconds", "ms": "Unix milliseconds", "iso": "ISO 8601", None: "dates"}
NO_TIME, OUTSIDE = -(1 << 61), -(1 << 60)
UNREADABLE, OUT_OF_RANGE = Reason.UNREADABLE_TIME, Reason.TIME_OUT_OF_RANGE
LOWEST, HIGHEST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999, in seconds


@dataclass(slots=True)
class TimeReader:
    """Reads the times of one column, batch by batch, all in the format of the first.

    Unix times and ISO 8601 are read at once. Times in a pattern are `coded`: `read` returns the code of each text
    + 1, and `resolve` converts them when all texts are known, because a later text may show which part is the day.
    """

    unit: TimeUnit
    zone: str
    format: str | None
    coded: bool = field(init=False)
    guessed: bool = field(init=False, default=False)
    rivals: tuple[str, ...] = field(init=False, default=())
    texts: Interner = field(init=False, default_factory=Interner)

    def __post_init__(self) -> None:
        self.coded = self.format is not None and "%" in self.format
        if self.unit not in SECONDS:
            raise ParameterError(f"time_unit must be day, hour or minute, got {self.unit!r}")
        if self.coded:
            check_pattern("time_format", str(self.format))
        elif self.format not in (*UNIX, "iso", None):
            raise ParameterError(f"time_format must be s, ms, us, ns, iso or like %d.%m.%Y, got {self.format!r}")
        try:
            ZoneInfo(self.zone)
            self.to_codes(np.zeros(1, np.int64), np.zeros(1, np.bool_), np.zeros(1, np.uint8))
        except (ValueError, OSError, LookupError, pl.exceptions.PolarsError) as error:
            raise ParameterError(f"zone must be a name such as Europe/Berlin, got {self.zone!r}") from error

    def read(self, buffer: Array, starts: Array, ends: Array, status: Array) -> NDArray[np.uint32]:
        """Return each span's time + TIME_BIAS (or its code + 1), 0 if empty; set the status of unreadable times."""
        buffer = writable(buffer, np.uint8)
        starts, ends = np.array(starts, np.int64), np.array(ends, np.int64)
        _trim(buffer, starts, ends)
        used = (status == 0) & (ends > starts)
        if self.format is None and not self.coded and used.any():
            spans = (buffer[starts[i] : ends[i]] for i in np.flatnonzero(used)[:100])
            self.format = recognise_format([span.tobytes().decode("utf-8", "replace").strip() for span in spans])
            self.guessed = self.format is not None
            self.coded = self.format is None or "%" in self.format
        if self.coded:
            return np.where(used, self.texts.codes(buffer, starts, ends, status) + np.uint32(1), 0).astype(np.uint32)
        seconds, is_local = np.full(len(starts), NO_TIME), np.zeros(len(starts), np.bool_)
        if self.format == "iso":
            _read_iso(buffer, starts, ends, status, seconds, is_local)
        elif self.format is not None:
            _read_unix(buffer, starts, ends, UNIX[self.format], self.guessed, status, seconds)
        return self.to_codes(seconds, is_local, status)

    def to_codes(self, seconds: Ints, is_local: Bools, status: Array) -> NDArray[np.uint32]:
        """Seconds since 1970 as time + TIME_BIAS; 0 for NO_TIME, and for what is out of range, whose status is set."""
        missing = seconds == NO_TIME
        inside = (seconds >= LOWEST) & (seconds <= HIGHEST)
        if self.zone != "UTC" and not is_local.all():  # local seconds need no zone
            moments = pl.Series(np.where(inside, seconds, 0) * 1_000).cast(pl.Datetime("ms", "UTC"))
            wall = moments.dt.convert_time_zone(self.zone).dt.replace_time_zone(None).to_physical().to_numpy()
            seconds = np.where(is_local | ~inside, seconds, wall // 1_000)
            inside &= (seconds >= LOWEST) & (seconds <= HIGHEST)
        units = np.where(inside, seconds // SECONDS[self.unit], OUTSIDE)
        outside = (np.abs(units) >= TIME_BIAS) & ~missing
        status[outside] = OUT_OF_RANGE
        return np.where(missing | outside, 0, units + TIME_BIAS).astype(np.uint32)

    def decide(self) -> None:
        """Choose the format of coded times from all their texts."""
        if self.coded and self.format is None and not self.rivals:
            self.format, self.rivals = recognise_pattern(list(self.texts.labels()))

    def resolve(self) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Time + TIME_BIAS (0 if missing) and status of each code of coded times."""
        self.decide()
        texts = list(self.texts.labels())
        seconds, is_local = np.full(len(texts), NO_TIME), np.ones(len(texts), np.bool_)
        for row, moment in enumerate(_moments(texts, self.format) if self.format is not None else ()):
            if moment is not None:
                shift = moment.utcoffset()
                wall = (moment.replace(tzinfo=None) - datetime(1970, 1, 1)) // timedelta(seconds=1)
                seconds[row], is_local[row] = wall - (shift.total_seconds() if shift else 0), shift is None
        bad = Reason.AMBIGUOUS_TIME if self.rivals else UNREADABLE
        status = np.where(seconds == NO_TIME, bad, 0).astype(np.uint8)
        times = self.to_codes(seconds, is_local, status)
        return np.append(np.uint32(0), times), np.append(np.uint8(0), status)

    def settings(self) -> dict[str, str]:
        """Return how times were interpreted, for the provenance."""
        self.decide()
        return {
            "time format": UNIX_NAMES.get(self.format, str(self.format)),
            "time unit": self.unit,
            "zone": f"{self.zone} (times without a zone are taken as written)",
        }


# Compiled loops that read Unix times and ISO 8601 from bytes.

OTHER_FORMAT = Reason.OTHER_TIME_FORMAT
MOST_BEFORE_NEXT = (1 << 63) // 10 - 1  # one more digit still fits into 64 bits
ZERO, NINE, DASH, DOT, COLON, PLUS, SPACE = 48, 57, 45, 46, 58, 43, 32
LETTER_T, LETTER_Z = 84, 90


@inline
def _civil_day(year: Int, month: Int, day: Int) -> Int:
    """Days since 1970-01-01 in the Gregorian calendar, or -TIME_BIAS if there is no such day."""
    if month < 1 or month > 12 or year < 1 or year > 9999:
        return -TIME_BIAS
    index = year * 12 + month - 13
    first = FIRST_OF_MONTH[index]
    if day < 1 or day > FIRST_OF_MONTH[index + 1] - first:
        return -TIME_BIAS
    return first + day - 1


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
def _read_unix(
    buffer: Array, starts: Array, ends: Array, scale: Int, guessed: Flag, status: Array, seconds: Array
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
        seconds[row] = number // scale


@inline
def _clock_time(buffer: Array, at: Int, end: Int) -> tuple[Int, Int]:
    """Seconds after midnight of T or a space and HH:MM[:SS[.fraction]], or -1; and where the text ends."""
    if end - at < 6 or (buffer[at] != LETTER_T and buffer[at] != SPACE) or buffer[at + 3] != COLON:
        return np.int64(-1), at
    hour, minute, second = _digits(buffer, at + 1, 2), _digits(buffer, at + 4, 2), np.int64(0)
    at += 6
    if at < end and buffer[at] == COLON:
        second = _digits(buffer, at + 1, 2) if end - at > 2 else np.int64(-1)
        at += 3
        if at < end and buffer[at] == DOT:
            at += 1
            while at < end and ZERO <= buffer[at] <= NINE:
                at += 1
    is_time = 0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 60
    # a leap second counts as the second before
    return hour * 3_600 + minute * 60 + min(second, 59) if is_time else np.int64(-1), at


@inline
def _zone_shift(buffer: Array, at: Int, end: Int) -> Int:
    """Offset in seconds of Z, ±HH, ±HHMM or ±HH:MM; OUTSIDE if it is none of them."""
    if buffer[at] == LETTER_Z and end - at == 1:
        return np.int64(0)
    if (buffer[at] != PLUS and buffer[at] != DASH) or end - at < 3:
        return np.int64(OUTSIDE)
    colon = end - at == 6 and buffer[at + 3] == COLON
    hours, minutes = _digits(buffer, at + 1, 2), np.int64(0)
    if end - at - colon == 5:
        minutes = _digits(buffer, at + 3 + colon, 2)
    elif end - at != 3:
        return np.int64(OUTSIDE)
    if not (0 <= hours <= 23 and 0 <= minutes <= 59):
        return np.int64(OUTSIDE)
    return (hours * 3_600 + minutes * 60) * (1 if buffer[at] == PLUS else -1)


@kernel
def _read_iso(buffer: Array, starts: Array, ends: Array, status: Array, seconds: Array, is_local: Array) -> None:
    """Read YYYY-MM-DD, optionally followed by a time of day and a zone."""
    for row in range(len(starts)):
        start, end = starts[row], ends[row]
        if status[row] != 0 or start == end:
            continue
        status[row] = UNREADABLE  # until the whole text has been read
        if end - start < 10 or buffer[start + 4] != DASH or buffer[start + 7] != DASH:
            continue
        day = _civil_day(_digits(buffer, start, 4), _digits(buffer, start + 5, 2), _digits(buffer, start + 8, 2))
        second, at, shift = np.int64(0), start + 10, np.int64(0)
        if at < end:
            second, at = _clock_time(buffer, at, end)
        is_local[row] = at >= end
        if second >= 0 and at < end:
            shift = _zone_shift(buffer, at, end)
        if day != -TIME_BIAS and second >= 0 and shift != OUTSIDE:
            seconds[row] = day * 86_400 + second - shift
            status[row] = 0
