"""Convert times from text or numbers to whole units on the wall clock of one zone.

A Unix time, or a time with a zone, is converted to the zone of the release (default: UTC). A time without a
zone is taken as written. Then it is rounded down to the unit.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError
from standout.core.jit import Array
from standout.data.build_kernels import TIME_BIAS
from standout.data.labels import SECONDS, TimeUnit
from standout.ingest.interner import Interner
from standout.ingest.rejects import Reason
from standout.ingest.time_kernels import FIRST_OF_MONTH, HIGHEST, LARGEST, LOWEST, OUTSIDE, read_iso, read_unix, trim
from standout.ingest.zones import Zone

__all__ = [
    "DatePatterns",
    "ResolvedTimes",
    "TimeBin",
    "TimeReader",
    "check_pattern",
    "count_formats",
    "fits",
    "fitting_formats",
    "fitting_patterns",
    "list_formats",
    "recognise_format",
    "recognise_pattern",
]

# Bins of time: minutes, hours, days, weeks and months, to which times are rounded down.


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
LONGEST_TIME_BINS = 36_525 * 86_400


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
        kind = next((kind for kind, names in NAMES.items() if match and match[2] in names), None)
        count = int(match[1] or 1) if match else 0
        if kind == "month" and count == 1:
            return cls(0)
        seconds = count * SECONDS_OF[kind] if kind in SECONDS_OF else 0
        if not 0 < seconds <= LONGEST_TIME_BINS:
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
        if self == wider:
            return True
        if not self.seconds:
            return False
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


# Recognise the pattern of dates that are neither ISO 8601 nor numbers, such as 31/12/2010 or 1 Dec 2010.
#
# A pattern is only concluded if the texts prove it. 3/4/2005 fits both orders of day and month; 31/12/2010 fits
# one. If no text decides, the dates are ambiguous, and the user must say which pattern is meant.


SAMPLE, MOST = 500, 8
"""Number of texts from which patterns are proposed, and of patterns that are tried on all texts."""
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
NUMBERS = re.compile(r"(\d{1,4})([-/. ])(\d{1,2})\2(\d{1,4})")
DAY_NAME_YEAR = re.compile(r"\d{1,2}([-/. ])([A-Za-z]{3,9})\1(\d{4}|\d\d)")
YEAR_NAME_DAY = re.compile(r"\d{4}([-/. ])([A-Za-z]{3,9})\1\d{1,2}")
NAME_DAY_YEAR = re.compile(r"([A-Za-z]{3,9}) \d{1,2}(,? )\d{4}")
CLOCK = re.compile(r"(\d{1,2}):\d\d(:\d\d(\.\d{1,6})?)?( ?[AaPp][Mm])?( ?)(Z|[+-]\d\d:?\d\d)?")
CTIME = re.compile(r"[A-Za-z]{3} [A-Za-z]{3} +\d{1,2} \d\d:\d\d:\d\d( [+-]\d{4})? \d{4}")
WEEKDAY = re.compile(r"([A-Za-z]{3,9})(,? )(?=\d|[A-Za-z]{3,9} \d)")
TIME_OF_DAY = re.compile(r"(T|, | |:)(?=\d{1,2}:\d\d)")


@dataclass(frozen=True, slots=True)
class DatePatterns:
    """Patterns that fit the texts of a column.

    `pattern` is the one that the texts prove, or None. `rivals` are patterns between which they do not
    decide: several fit equally well, or (`mixed`) some texts fit only the first and others only another.
    """

    pattern: str | None = None
    rivals: tuple[str, ...] = ()
    mixed: bool = False


def check_pattern(name: str, pattern: str) -> None:
    """Check a pattern once, because strptime raises one error for a bad pattern and a bad text."""
    try:
        datetime.strptime("", pattern)
    except (ValueError, IndexError, re.error) as error:
        if "does not match" not in str(error) and "unconverted" not in str(error):
            raise ParameterError(f"{name} must be a valid pattern of strptime, got {pattern!r:.100}") from error


def recognise_pattern(texts: Sequence[str]) -> DatePatterns:
    """Find the pattern of strptime that the texts have in common.

    >>> recognise_pattern(["3/4/2005", "3/31/2005 "])
    DatePatterns(pattern='%m/%d/%Y', rivals=(), mixed=False)
    >>> recognise_pattern(["3/4/2005", "4/3/2005"])
    DatePatterns(pattern=None, rivals=('%d/%m/%Y', '%m/%d/%Y'), mixed=False)
    >>> recognise_pattern(["1 Dec 2010 8:26 PM"]).pattern
    '%d %b %Y %I:%M %p'
    """
    distinct = list(dict.fromkeys(text.strip() for text in texts))
    candidates = _candidates(distinct[:SAMPLE])
    moments_of = {pattern: [_moment(text, pattern) for text in distinct] for pattern in candidates}
    counts = {pattern: len(distinct) - moments.count(None) for pattern, moments in moments_of.items()}
    most = max(counts.values(), default=0)
    if 2 * most < len(distinct) or not most:
        return DatePatterns()
    winners = [pattern for pattern, count in counts.items() if count == most]
    first = moments_of[winners[0]]
    if any(moments_of[pattern] != first for pattern in winners[1:]):
        return DatePatterns(None, tuple(sorted(winners)))
    others = [
        pattern
        for pattern in candidates
        if any(moment and not ours for moment, ours in zip(moments_of[pattern], first, strict=True))
    ]
    return DatePatterns(None, (winners[0], *sorted(others)), mixed=True) if others else DatePatterns(winners[0])


def _candidates(texts: Sequence[str]) -> list[str]:
    """Patterns with the form of some of the texts, the most frequent first."""
    forms = Counter(pattern for text in texts for pattern in dict.fromkeys(_patterns(text)))
    return [pattern for pattern, _ in forms.most_common(MOST)]


def fits(text: str, pattern: str) -> bool:
    """Whether a text is a date in a pattern."""
    return _moment(text, pattern) is not None


def fitting_patterns(text: str) -> tuple[str, ...]:
    """All patterns in which a text is a date.

    >>> fitting_patterns("25/12/2004")
    ('%d/%m/%Y',)
    """
    return tuple(dict.fromkeys(pattern for pattern in _patterns(text) if fits(text, pattern)))


def _moment(text: str, pattern: str) -> datetime | None:
    try:
        return datetime.strptime(text, pattern)
    except (ValueError, OverflowError, IndexError, re.error):
        return None


def _patterns(text: str) -> Iterator[str]:
    """Yield the patterns whose form a text has."""
    if match := CTIME.fullmatch(text):
        yield "%a %b %d %H:%M:%S %z %Y" if match[1] else "%a %b %d %H:%M:%S %Y"
        return
    start = ""
    if (match := WEEKDAY.match(text)) and match[1][:3].lower() not in MONTHS:
        start, text = ("%a" if len(match[1]) == 3 else "%A") + match[2], text[match.end() :]
    day, *clock = TIME_OF_DAY.split(text, maxsplit=1)
    end = "" if not clock else _clock_pattern(clock[1])
    if end is not None:
        yield from (start + pattern + "".join(clock[:1]) + end for pattern in _day_patterns(day))


def _clock_pattern(text: str) -> str | None:
    match = CLOCK.fullmatch(text)
    if match is None:
        return None
    seconds = "" if match[2] is None else ":%S" if match[3] is None else ":%S.%f"
    half = match[4]
    pattern = ("%H:%M" if half is None else "%I:%M") + seconds
    pattern += "" if half is None else f"{half[:-2]}%p"
    return pattern + ("" if match[6] is None else f"{match[5]}%z")


def _day_patterns(text: str) -> Iterator[str]:
    if match := NUMBERS.fullmatch(text):
        yield from _number_patterns(match[1], match[2], match[4])
    elif match := DAY_NAME_YEAR.fullmatch(text):
        year = "%Y" if len(match[3]) == 4 else "%y"
        yield from (f"%d{match[1]}{name}{match[1]}{year}" for name in _month_patterns(match[2]))
    elif match := YEAR_NAME_DAY.fullmatch(text):
        yield from (f"%Y{match[1]}{name}{match[1]}%d" for name in _month_patterns(match[2]))
    elif match := NAME_DAY_YEAR.fullmatch(text):
        yield from (f"{name} %d{match[2]}%Y" for name in _month_patterns(match[1]))


def _number_patterns(first: str, mark: str, last: str) -> Iterator[str]:
    if len(first) == 4 and len(last) <= 2:
        yield mark.join(("%Y", "%m", "%d"))
    elif len(first) <= 2 and len(last) in (2, 4):
        year = "%Y" if len(last) == 4 else "%y"
        yield mark.join(("%d", "%m", year))
        yield mark.join(("%m", "%d", year))
    if len(first) == 2 and len(last) <= 2:
        yield mark.join(("%y", "%m", "%d"))


def _month_patterns(name: str) -> Iterator[str]:
    if len(name) == 3:
        yield "%b"
    if len(name) > 3 or name.lower() == "may":
        yield "%B"


# Which formats a time has, and how many rows of a column each format fits.
#
# A format is what `time_format` takes: "iso", "s", "ms", or a pattern of strptime.


NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")
ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
COMPACT = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(([01]\d|2[0-3])[0-5]\d([0-5]\d)?)?")
COMPACT_PATTERNS = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
MOST_DIGITS = 30
"""More digits than any time has; Python refuses to convert thousands of them."""
LONGEST = 100
"""More characters than any time has."""
SHOWN = 4
"""Number of formats that a message lists."""


def recognise_format(texts: Iterable[str]) -> str | None:
    """Recognise the format of a column from its first texts: "s", "ms", "iso", "%Y%m%d…" or None."""
    numbers: list[str] = []
    for text in texts:
        if ISO.fullmatch(text):
            return "iso"
        if NUMBER.fullmatch(text):
            numbers.append(text)
    if not numbers:
        return None
    if all(COMPACT.fullmatch(text) for text in numbers) and len({len(text) for text in numbers}) == 1:
        return COMPACT_PATTERNS[len(numbers[0])]
    whole = numbers[0].split(".")[0].lstrip("+-0")[:MOST_DIGITS]
    return "ms" if int(whole or "0") >= LARGEST else "s"


@lru_cache(maxsize=10_000)
def fitting_formats(text: str) -> tuple[str, ...]:
    """All formats in which a text is a time.

    >>> fitting_formats("03/04/2005"), fitting_formats("2005-04-03"), fitting_formats("soon")
    (('%d/%m/%Y', '%m/%d/%Y'), ('iso',), ())
    """
    text = text.strip()
    if len(text) > LONGEST:
        return ()
    name = recognise_format([text])
    if name == "iso":
        return ("iso",) if _is_day(text[:10]) else ()
    return fitting_patterns(text) if name is None else (name,)


def count_formats(rows_of: Iterable[tuple[str, int]]) -> Counter[str]:
    """Number of rows that each format fits, given texts and how many rows have each.

    >>> count_formats([("03/04/2005", 2), ("25/12/2004", 1)])
    Counter({'%d/%m/%Y': 3, '%m/%d/%Y': 2})
    """
    counts: Counter[str] = Counter()
    for text, rows in rows_of:
        for name in fitting_formats(text):
            counts[name] += int(rows)
    return counts


def list_formats(counts: Counter[str], unit: str = "row") -> str:
    """The formats in words, the most frequent first.

    >>> list_formats(Counter({"iso": 1, "%d/%m/%Y": 2}))
    '%d/%m/%Y fits 2 rows, iso fits 1 row'
    """
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    parts = [f"{name} fits {rows:,} {unit}{'s' * (rows != 1)}" for name, rows in ordered[:SHOWN]]
    more = len(ordered) - SHOWN
    return ", ".join(parts) + (f", and {more} more" if more > 0 else "")


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


EPOCH = datetime(1970, 1, 1)
MOST_COUNTED = 1_000_000
"""Number of unreadable times whose formats are counted, because that is slow."""
NUMERIC = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
NO_TIME = -(1 << 61)
UNREADABLE, OUT_OF_RANGE = Reason.UNREADABLE_TIME, Reason.TIME_OUT_OF_RANGE
AMBIGUOUS, OTHER_FORMAT = Reason.AMBIGUOUS_TIME, Reason.OTHER_TIME_FORMAT


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
    patterns: DatePatterns = field(init=False, default_factory=DatePatterns)
    rows_of_text: NDArray[np.int64] = field(init=False, default_factory=lambda: np.zeros(0, np.int64))
    rows_read: int = field(init=False, default=0)
    rows_unread: int = field(init=False, default=0)
    other_formats: Counter[str] = field(init=False, default_factory=Counter)

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
        if self.format is not None and "%" in self.format:
            check_pattern("time_format", self.format)

    def read(self, buffer: Array, starts: Array, ends: Array, status: Array) -> NDArray[np.uint32]:
        """Return each span's time + TIME_BIAS, 0 if it is empty; set the status of unreadable times."""
        out = np.zeros(len(starts), np.uint32)
        if self.format is None and not self.deferred:
            self._recognise(buffer, starts, ends, status)
        if self.deferred:
            self._defer(buffer, starts, ends, status, out)
        elif self.format == "iso":
            read_iso(
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
            read_unix(
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
        if not self.deferred:
            self._count_others(buffer, starts, ends, status, out)
        return out

    def read_texts(self, texts: list[str]) -> tuple[NDArray[np.object_], NDArray[np.uint8]]:
        """Return the times of a list of texts (None if missing) and their status; for tests and examples."""
        data = np.frombuffer("".join(texts).encode(), np.uint8)
        ends = np.cumsum([len(text.encode()) for text in texts])
        starts = ends - [len(text.encode()) for text in texts]
        status = np.zeros(len(texts), np.uint8)
        coded = self.read(data, starts, ends, status)
        if self.deferred:
            times = self.resolve()
            status, coded = np.maximum(status, times.status[coded]), times.code[coded]
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

    def _recognise(self, buffer: Array, starts: Array, ends: Array, status: Array) -> None:
        starts, ends = _trimmed_spans(buffer, starts, ends)
        usable = np.flatnonzero((status == 0) & (ends > starts))[:100]
        if not len(usable):
            return
        spans = (buffer[starts[i] : ends[i]].tobytes() for i in usable)
        self.format = recognise_format(span.decode("utf-8", "replace").strip() for span in spans)
        self.guessed = self.format is not None
        self.deferred = not self.guessed

    def _defer(self, buffer: Array, starts: Array, ends: Array, status: Array, out: Array) -> None:
        """Write the code of each text + 1, which `resolve` converts; 0 if it is empty."""
        starts, ends = _trimmed_spans(buffer, starts, ends)
        used = np.flatnonzero((status == 0) & (ends > starts))
        out[used] = self.texts.codes(buffer, starts, ends, status)[used] + 1

    def decide(self) -> None:
        """Choose the format of deferred times from all their texts."""
        if not self.deferred or self.format is not None or self.patterns.rivals:
            return
        texts = list(self.texts.labels())
        self.format = recognise_format(texts[:100])
        if self.format is None:
            self.patterns = recognise_pattern(texts)
            self.format = self.patterns.pattern

    def resolve(self, codes: Iterable[NDArray[np.uint32]] = ()) -> "ResolvedTimes":
        """Convert deferred times: what each code of `read` means; `codes` are those of all rows."""
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
        return ResolvedTimes(code, status)

    def _count_others(self, buffer: Array, starts: Array, ends: Array, status: Array, out: Array) -> None:
        """Count the rows that were read, and the formats of those that were not."""
        self.rows_read += int(np.count_nonzero(out))
        odd = np.flatnonzero((status == UNREADABLE) | (status == OTHER_FORMAT))
        self.rows_unread += len(odd)
        odd = odd[: max(len(odd) - max(self.rows_unread - MOST_COUNTED, 0), 0)]
        texts = (buffer[starts[i] : ends[i]].tobytes().decode("utf-8", "replace") for i in odd)
        self.other_formats += count_formats((text, 1) for text in texts)

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
        return sum(int(rows) for text, rows in texts if not fits(text, pattern))

    def better_pattern(self) -> str | None:
        """Pattern that fits all times of a column whose given pattern does not, or None."""
        texts = list(self.texts.labels())
        found = recognise_pattern(texts).pattern if texts and not self.deferred else None
        fits = found is not None and all(fits(text, found) for text in texts)
        return found if fits and found != self.format else None

    def _read_pattern(self, buffer: Array, starts: Array, ends: Array, status: Array, out: Array) -> None:
        starts, ends = _trimmed_spans(buffer, starts, ends)
        codes = self.texts.codes(buffer, starts, ends, status)
        labels = self.texts.labels()
        fresh = [self._pattern_unit(labels[i]) for i in range(len(self.known), len(labels))]
        self.known = np.append(self.known, np.array(fresh, np.int64))
        used = np.flatnonzero((status == 0) & (ends > starts))
        rows = np.bincount(codes[used], minlength=len(labels))
        rows[: len(self.rows_of_text)] += self.rows_of_text
        self.rows_of_text = rows
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


class ResolvedTimes(NamedTuple):
    """Time + TIME_BIAS (0 if missing or unusable) and status of each code of deferred times."""

    code: NDArray[np.uint32]
    status: NDArray[np.uint8]


def _trimmed_spans(buffer: Array, starts: Array, ends: Array) -> tuple[Array, Array]:
    """Return the spans without surrounding spaces."""
    starts, ends = starts.copy(), ends.copy()
    trim(buffer, starts, ends)
    return starts, ends
