"""Unusable rows: counted by reason, with their line numbers and never with their content.

A source is read to its end before anything is reported, so that the next try can be the last: one error has the
problems, what was concluded, and the next step.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import NextStep, ParameterError, RejectedRows, SourceError
from standout.data.labels import Provenance
from standout.ingest.date_patterns import list_formats

if TYPE_CHECKING:
    from standout.ingest.times import TimeReader

SHOWN = 5
"""Number of rows that a message lists."""


class Reason(IntEnum):
    """Why a row is unusable; 0 means that it is usable."""

    description: str

    def __new__(cls, number: int, description: str = "") -> "Reason":
        """Make a member with its text for people."""
        member = int.__new__(cls, number)
        member._value_, member.description = number, description
        return member

    NO_RECORD = 1, "no record id"
    NO_ITEM = 2, "no item id"
    TOO_FEW_FIELDS = 3, "too few fields"
    TOO_MANY_FIELDS = 4, "too many fields"
    STRAY_QUOTE = 5, "text after a closing quote"
    NOT_A_NUMBER = 6, "value is not a number, but others are (for categories: value_type='text')"
    NOT_FINITE = 7, "value is NaN or infinite"
    UNREADABLE_TIME = 8, "time is not recognised (set time_format=…)"
    OTHER_TIME_FORMAT = 9, "time in another format than the first row"
    TIME_OUT_OF_RANGE = 10, "time out of range (for microseconds: time_format='us', nanoseconds: 'ns')"
    NOT_A_RATING_LINE = 11, "not of the form customer,rating,YYYY-MM-DD"
    NO_FILM_YET = 12, "rating without a film: the line of the film is missing or damaged"
    TOO_MANY_DIGITS = 13, "value has more digits than a number holds (for categories: value_type='text')"
    TOO_LARGE = 14, "value is below -1e100 or above 1e100 (for categories: value_type='text')"
    NO_COORDINATE = 15, "no latitude or no longitude"
    NOT_A_COORDINATE = 16, "latitude or longitude is not a number in decimal degrees"
    COORDINATE_OUT_OF_RANGE = 17, "latitude beyond ±90 degrees or longitude beyond ±180"
    AMBIGUOUS_TIME = 18, "time fits several patterns (set time_format=…)"


@dataclass(frozen=True, slots=True)
class Limit:
    """Largest number of unusable rows: a count, or a share of all rows.

    >>> Limit.of("5%").allows(6, rows=100), Limit.of(6).allows(6, rows=100)
    (False, True)
    """

    count: int = 0
    share: float = 0.0

    @classmethod
    def of(cls, given: int | str) -> "Limit":
        """Parse a count or a percentage."""
        text = str(given).strip()
        try:
            limit = cls(share=float(text[:-1]) / 100) if text.endswith("%") else cls(count=int(text))
        except ValueError:
            limit = cls(count=-1)
        if limit.count < 0 or not 0 <= limit.share <= 1:
            raise ParameterError(f"max_rejects must be a number of rows or a percentage such as 5%, got {given!r}")
        return limit

    def allows(self, rejected: int, rows: int) -> bool:
        """Whether this many unusable rows are allowed."""
        return rejected <= max(self.count, self.share * rows)


class RejectedRowsFields(TypedDict):
    """What a provenance says about unusable rows."""

    rows: int
    rejected: dict[str, int]
    rejected_lines: dict[str, str]


@dataclass(slots=True)
class RejectLog:
    """Lines and reasons of the unusable rows of all sources.

    `invalid_text` has the first line of each source that is not valid text.
    """

    rows: int = 0
    invalid_text: list[tuple[str, int]] = field(default_factory=list)
    batches: list[tuple[str, NDArray[np.int64], NDArray[np.uint8]]] = field(default_factory=list)

    def add(self, source: str, lines: NDArray[np.int64], status: NDArray[np.uint8]) -> None:
        """Add the rows with a status other than 0."""
        bad = status != 0
        if bad.any():
            self.batches.append((source, lines[bad], status[bad]))

    def counts(self) -> dict[Reason, int]:
        """Number of rows for each reason."""
        total = np.zeros(max(Reason) + 1, np.int64)
        for _, _, status in self.batches:
            total += np.bincount(status, minlength=len(total))
        return {reason: int(total[reason]) for reason in Reason if total[reason]}

    def __len__(self) -> int:
        return sum(len(lines) for _, lines, _ in self.batches)

    def __iter__(self) -> Iterator[tuple[str, int, Reason]]:
        """Yield (source, line, reason) of each row."""
        for source, lines, status in self.batches:
            yield from ((source, int(line), Reason(code)) for line, code in zip(lines, status, strict=True))

    def first_lines(self, unit: str) -> dict[Reason, str]:
        """Return the lines of the first few rows of each reason, as text."""
        several = len({source for source, _, _ in self.batches}) > 1
        texts = {}
        for reason, count in self.counts().items():
            found = ((source, lines[status == reason][:SHOWN]) for source, lines, status in self.batches)
            rows = [f"{source} {line}" if several else f"{line}" for source, lines in found for line in lines][:SHOWN]
            texts[reason] = f"{unit} {', '.join(rows)}" + (", …" if count > len(rows) else "")
        return texts

    def provenance(self, unit: str) -> "RejectedRowsFields":
        """Fields of the provenance about the rows."""
        rejected = {reason.description: count for reason, count in self.counts().items()}
        lines = {reason.description: text for reason, text in self.first_lines(unit).items()}
        return {"rows": self.rows, "rejected": rejected, "rejected_lines": lines}

    def next_step(self, unit: str) -> str:
        """Return how to see the unusable rows."""
        if not self.batches:
            return ""
        source, lines, _ = self.batches[0]
        if unit != "line" or source.endswith((".gz", ".zst", ".zip", ".tar")) or not Path(source).is_file():
            return ""
        command = f"sed -n {int(lines[0])}p {shlex.quote(source)}"
        return f"Show the first one with `{command}`."


CONCLUDED = ("encoding", "separator", "header", "time format")
TIME_REASONS = (Reason.UNREADABLE_TIME, Reason.OTHER_TIME_FORMAT, Reason.AMBIGUOUS_TIME)
ANY_ENCODING = "latin-1"
"""Encoding in which all bytes are valid, though some characters may be wrong."""


def check_rejects(
    rejects: RejectLog, limit: Limit, unit: str, provenance: Provenance, times: "TimeReader | None"
) -> None:
    """Raise one error with all problems, if rows are unusable beyond the limit or the text is not clear."""
    if not rejects.rows:
        raise SourceError("the source has no rows: check the file")
    counts, rejected = rejects.counts(), len(rejects)
    too_many = not limit.allows(rejected, rejects.rows) or rejected >= rejects.rows
    if not too_many and not rejects.invalid_text and Reason.AMBIGUOUS_TIME not in counts:
        return
    sentences = [
        f"{source} line {line} is not UTF-8, and the file is not clean text in Windows-1252 either."
        for source, line in rejects.invalid_text
    ]
    if rejected:
        lines = rejects.first_lines(unit)
        listed = (f"{count:,} × {reason.description} ({lines[reason]})" for reason, count in counts.items())
        sentences.append(f"{rejected:,} of {rejects.rows:,} rows are unusable: {'; '.join(listed)}.")
    if times is not None and any(reason in counts for reason in TIME_REASONS):
        formats = times.format_counts()
        if len(formats) > 1:
            least = "" if times.are_formats_counted else " (at least)"
            sentences.append(f"Formats of the times{least}: {list_formats(formats)}.")
            sentences.append("time_format=… chooses one, and rows in another format are then unusable.")
    settings = provenance.settings
    parts = [f"{name} {settings[name]}" for name in CONCLUDED if name in settings and settings[name] != "dates"]
    parts += [f"{'person' if role == 'record' else role} = {column}" for role, column in provenance.columns.items()]
    sentences.append(f"Read as: {', '.join(parts)}." if parts else "")
    sentences.append(rejects.next_step(unit))
    steps = tuple(_next_steps(rejects, counts, limit, times))
    raise (RejectedRows if rejected else SourceError)(" ".join(filter(None, sentences)), steps)


def _next_steps(
    rejects: RejectLog, counts: dict[Reason, int], limit: Limit, times: "TimeReader | None"
) -> Iterator[NextStep]:
    """Yield the parameters that read the source; one step for each meaning of its times."""
    encoding = {"encoding": ANY_ENCODING} if rejects.invalid_text else {}
    is_ambiguous = times is not None and Reason.AMBIGUOUS_TIME in counts
    meanings: list[tuple[str, str, Sequence[Reason]]] = []  # label, format, and the reasons that it solves
    if times is not None and is_ambiguous:
        meanings = [(_order(pattern), pattern, TIME_REASONS) for pattern in times.patterns.rivals]
    else:
        better = times.better_pattern() if times is not None and Reason.UNREADABLE_TIME in counts else None
        meanings = [("", better or "", TIME_REASONS if better else ())]
    for label, time_format, solved in meanings:
        left = sum(count for reason, count in counts.items() if reason not in solved)
        left += times.count_misfits(time_format) if times is not None and is_ambiguous else 0
        step = encoding | ({"time_format": time_format} if time_format else {})
        step |= {} if limit.allows(left, rejects.rows) else {"max_rejects": str(left)}
        if left < rejects.rows and step:
            yield NextStep(label, step)


def _order(pattern: str) -> str:
    """Order of day, month and year in a pattern, in words."""
    day, month = pattern.find("%d"), max(pattern.find("%m"), pattern.find("%b"), pattern.find("%B"))
    year = max(pattern.find("%y"), pattern.find("%Y"))
    return min((day, "day first"), (month, "month first"), (year, "year first"))[1]
