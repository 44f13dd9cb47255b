"""Convert times from text or numbers to whole units on the wall clock of one zone.

A Unix time, or a time with a zone, is converted to the zone of the release (default: UTC). A time without a
zone is taken as written. Then it is rounded down to the unit.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError
from standout.core.jit import Array
from standout.ingest.date_patterns import DatePatterns, check_pattern, recognise_pattern
from standout.ingest.date_patterns import fits as date_fits
from standout.ingest.interner import Interner
from standout.ingest.rejects import Reason
from standout.ingest.time_formats import count_formats, recognise_format
from standout.ingest.time_kernels import HIGHEST, LOWEST, OUTSIDE, read_iso, read_unix, trim
from standout.ingest.zones import Zone
from standout.release.build_kernels import TIME_BIAS
from standout.release.clock import SECONDS, TimeUnit

__all__ = ["ResolvedTimes", "TimeReader"]


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
        return sum(int(rows) for text, rows in texts if not date_fits(text, pattern))

    def better_pattern(self) -> str | None:
        """Pattern that fits all times of a column whose given pattern does not, or None."""
        texts = list(self.texts.labels())
        found = recognise_pattern(texts).pattern if texts and not self.deferred else None
        fits = found is not None and all(date_fits(text, found) for text in texts)
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
