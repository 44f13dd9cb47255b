"""Rows that cannot be used: counted by reason, with the numbers of their lines, never with their content."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError, RejectedRows, SourceError

__all__ = ["SHOWN", "Limit", "Reason", "RejectLog"]

SHOWN = 5
"""How many places a message names."""


class Reason(IntEnum):
    """Why a row cannot be used; 0 is kept for rows that can."""

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

    @property
    def description(self) -> str:
        return DESCRIPTIONS[self]


DESCRIPTIONS = {
    Reason.NO_RECORD: "no record id",
    Reason.NO_ITEM: "no item id",
    Reason.TOO_FEW_FIELDS: "too few fields",
    Reason.TOO_MANY_FIELDS: "too many fields",
    Reason.STRAY_QUOTE: "text after a closing quote",
    Reason.NOT_A_NUMBER: "value is not a number while others are (if they are categories: --value-type text)",
    Reason.TOO_MANY_DIGITS: "value has more digits than a number keeps (as categories: --value-type text)",
    Reason.NOT_FINITE: "value is NaN or infinite",
    Reason.UNREADABLE_TIME: "time cannot be read (declare it with --time-format)",
    Reason.OTHER_TIME_FORMAT: "time in another format than the first one",
    Reason.TIME_OUT_OF_RANGE: "time out of range (micro- or nanoseconds: --time-format us or ns)",
    Reason.NOT_A_RATING_LINE: "not of the form customer,rating,YYYY-MM-DD",
    Reason.NO_FILM_YET: "a rating of no film: the film's line is missing or damaged",
}


@dataclass(frozen=True, slots=True)
class Limit:
    """How many rows may be rejected: a number, or a share of all rows.

    >>> Limit.of("5%").allows(6, rows=100), Limit.of(6).allows(6, rows=100)
    (False, True)
    """

    count: int = 0
    share: float = 0.0

    @classmethod
    def of(cls, given: int | str) -> "Limit":
        text = str(given).strip()
        try:
            limit = cls(share=float(text[:-1]) / 100) if text.endswith("%") else cls(count=int(text))
        except ValueError:
            limit = cls(count=-1)
        if limit.count < 0 or not 0 <= limit.share <= 1:
            raise ParameterError(f"max_rejects must be a number of rows or a share like 5%, got {given!r}")
        return limit

    def allows(self, rejected: int, rows: int) -> bool:
        return rejected <= max(self.count, self.share * rows)


@dataclass(slots=True)
class RejectLog:
    """Where the rejected rows of all sources are."""

    rows: int = 0
    places: list[tuple[str, NDArray[np.int64], NDArray[np.uint8]]] = field(default_factory=list)

    def add(self, source: str, lines: NDArray[np.int64], status: NDArray[np.uint8]) -> None:
        """Notes the rows whose status is not 0."""
        bad = status != 0
        if bad.any():
            self.places.append((source, lines[bad], status[bad]))

    def counts(self) -> dict[Reason, int]:
        total = np.zeros(max(Reason) + 1, np.int64)
        for _, _, status in self.places:
            total += np.bincount(status, minlength=len(total))
        return {reason: int(total[reason]) for reason in Reason if total[reason]}

    def __len__(self) -> int:
        return sum(len(lines) for _, lines, _ in self.places)

    def __iter__(self) -> Iterator[tuple[str, int, Reason]]:
        """(source, line, reason) of each rejected row."""
        for source, lines, status in self.places:
            yield from ((source, int(line), Reason(code)) for line, code in zip(lines, status, strict=True))

    def check(self, limit: Limit, unit: str) -> None:
        """Raises `RejectedRows` if there are more than the limit allows, or if no row is left."""
        if limit.allows(len(self), self.rows) and len(self) < self.rows:
            return
        if not self.rows:
            raise SourceError("there are no rows")
        told = "; ".join(self._told(reason, count, unit) for reason, count in self.counts().items())
        allow = f", or allow them with --max-rejects {len(self)}" if len(self) < self.rows else ""
        raise RejectedRows(
            f"{len(self):,} of {self.rows:,} rows cannot be used: {told}. {self._how_to_look(unit)}{allow}"
        )

    def _told(self, reason: Reason, count: int, unit: str) -> str:
        several = len({source for source, _, _ in self.places}) > 1
        found = [f"{source} {line}" if several else f"{line}" for source, line in self._firsts(reason)]
        more = ", …" if count > len(found) else ""
        return f"{count:,} × {reason.description} ({unit} {', '.join(found)}{more})"

    def _firsts(self, reason: Reason) -> list[tuple[str, int]]:
        """The first few places of a reason."""
        found: list[tuple[str, int]] = []
        for source, lines, status in self.places:
            found += [(source, int(line)) for line in lines[status == reason][: SHOWN - len(found)]]
            if len(found) == SHOWN:
                break
        return found

    def _how_to_look(self, unit: str) -> str:
        source, lines, _ = self.places[0]
        if unit != "line" or source.endswith((".gz", ".zst", ".zip", ".tar")) or not Path(source).is_file():
            return "List them all with --rejects FILE"
        command = f"sed -n {int(lines[0])}p {shlex.quote(source)}"
        return f"Look at one with `{command}`, list them all with --rejects FILE"
