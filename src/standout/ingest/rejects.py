"""Unusable rows: counted by reason, with their line numbers and never with their content."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError

SHOWN = 5
"""Number of rows that a message lists."""


class Reason(IntEnum):
    """Why a row is unusable; 0 means that it is usable."""

    NO_RECORD = 1
    NO_ITEM = 2
    TOO_FEW_FIELDS = 3
    TOO_MANY_FIELDS = 4
    STRAY_QUOTE = 5
    NOT_A_NUMBER = 6
    NOT_FINITE = 7
    UNREADABLE_TIME = 8
    OTHER_TIME_FORMAT = 9
    TIME_OUT_OF_RANGE = 10
    NOT_A_RATING_LINE = 11
    NO_FILM_YET = 12
    TOO_MANY_DIGITS = 13
    TOO_LARGE = 14
    NO_COORDINATE = 15
    NOT_A_COORDINATE = 16
    COORDINATE_OUT_OF_RANGE = 17
    AMBIGUOUS_TIME = 18

    @property
    def description(self) -> str:
        """Text for people."""
        return DESCRIPTIONS[self]


DESCRIPTIONS = {
    Reason.NO_RECORD: "no record id",
    Reason.NO_ITEM: "no item id",
    Reason.TOO_FEW_FIELDS: "too few fields",
    Reason.TOO_MANY_FIELDS: "too many fields",
    Reason.STRAY_QUOTE: "text after a closing quote",
    Reason.NOT_A_NUMBER: "value is not a number, but others are (for categories: value_type='text')",
    Reason.TOO_MANY_DIGITS: "value has more digits than a number holds (for categories: value_type='text')",
    Reason.NOT_FINITE: "value is NaN or infinite",
    Reason.TOO_LARGE: "value is below -1e100 or above 1e100 (for categories: value_type='text')",
    Reason.UNREADABLE_TIME: "time is not recognised (set time_format=…)",
    Reason.AMBIGUOUS_TIME: "time fits several patterns (set time_format=…)",
    Reason.OTHER_TIME_FORMAT: "time in another format than the first row",
    Reason.TIME_OUT_OF_RANGE: "time out of range (for microseconds: time_format='us', nanoseconds: 'ns')",
    Reason.NOT_A_RATING_LINE: "not of the form customer,rating,YYYY-MM-DD",
    Reason.NO_FILM_YET: "rating without a film: the line of the film is missing or damaged",
    Reason.NO_COORDINATE: "no latitude or no longitude",
    Reason.NOT_A_COORDINATE: "latitude or longitude is not a number in decimal degrees",
    Reason.COORDINATE_OUT_OF_RANGE: "latitude beyond ±90 degrees or longitude beyond ±180",
}


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

    def summary(self, unit: str) -> str:
        """Return the number of rows of each reason, with a few lines."""
        return "; ".join(self._summary(reason, count, unit) for reason, count in self.counts().items())

    def first_lines(self, unit: str) -> dict[str, str]:
        """Return the lines of the first rows of each reason, as text."""
        counts = self.counts().items()
        return {reason.description: self._lines(reason, count, unit) for reason, count in counts}

    def _summary(self, reason: Reason, count: int, unit: str) -> str:
        return f"{count:,} × {reason.description} ({self._lines(reason, count, unit)})"

    def _lines(self, reason: Reason, count: int, unit: str) -> str:
        several = len({source for source, _, _ in self.batches}) > 1
        rows = [f"{source} {line}" if several else f"{line}" for source, line in self._first_rows(reason)]
        return f"{unit} {', '.join(rows)}" + (", …" if count > len(rows) else "")

    def _first_rows(self, reason: Reason) -> list[tuple[str, int]]:
        """Source and line of the first few rows with this reason."""
        rows: list[tuple[str, int]] = []
        for source, lines, status in self.batches:
            rows += [(source, int(line)) for line in lines[status == reason][: SHOWN - len(rows)]]
            if len(rows) == SHOWN:
                break
        return rows

    def provenance(self, unit: str) -> "RejectedRowsFields":
        """Fields of the provenance about the rows."""
        rejected = {reason.description: count for reason, count in self.counts().items()}
        return {"rows": self.rows, "rejected": rejected, "rejected_lines": self.first_lines(unit)}

    def next_step(self, unit: str) -> str:
        """Return how to see the unusable rows."""
        if not self.batches:
            return ""
        source, lines, _ = self.batches[0]
        if unit != "line" or source.endswith((".gz", ".zst", ".zip", ".tar")) or not Path(source).is_file():
            return ""
        command = f"sed -n {int(lines[0])}p {shlex.quote(source)}"
        return f"Show the first one with `{command}`."
