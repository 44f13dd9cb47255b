"""One error for everything that is wrong with a source: the problems, what was concluded, the next step.

A source is read to its end before anything is reported, so that the next try can be the last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from standout.core.errors import RejectedRows, SourceError
from standout.core.next_steps import NextStep
from standout.ingest.rejects import Limit, Reason, RejectLog
from standout.ingest.time_formats import list_formats
from standout.release.provenance import Provenance

if TYPE_CHECKING:
    from standout.ingest.timestamps import TimeReader

__all__ = ["check_rejects"]

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
    diagnosis = _Diagnosis(rejects, unit, provenance, times)
    too_many = not limit.allows(len(rejects), rejects.rows) or len(rejects) >= rejects.rows
    if too_many or diagnosis.is_blocked:
        raise diagnosis.error(limit)


@dataclass(frozen=True, slots=True)
class _Diagnosis:
    """The problems of a source that was read to its end."""

    rejects: RejectLog
    unit: str
    provenance: Provenance
    times: "TimeReader | None"
    counts: dict[Reason, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", self.rejects.counts())

    @property
    def is_blocked(self) -> bool:
        """Whether there is a problem that no number of allowed rejects solves."""
        return bool(self.rejects.invalid_text) or Reason.AMBIGUOUS_TIME in self.counts

    def error(self, limit: Limit) -> SourceError:
        """Return the error with its next steps."""
        steps = tuple(self._steps(limit))
        kind = RejectedRows if len(self.rejects) else SourceError
        sentences = [*self._problems(), self._conclusion(), self.rejects.next_step(self.unit)]
        return kind(" ".join(filter(None, sentences)), steps)

    def _problems(self) -> Iterator[str]:
        for source, line in self.rejects.invalid_text:
            yield f"{source} line {line} is not UTF-8, and the file is not clean text in Windows-1252 either."
        if len(self.rejects):
            yield f"{len(self.rejects):,} of {self.rejects.rows:,} rows are unusable:"
            yield self.rejects.summary(self.unit) + "."
        if self.times is not None and any(reason in self.counts for reason in TIME_REASONS):
            formats = self.times.format_counts()
            if len(formats) > 1:
                least = "" if self.times.are_formats_counted else " (at least)"
                yield f"Formats of the times{least}: {list_formats(formats)}."
                yield "time_format=… chooses one, and rows in another format are then unusable."

    def _conclusion(self) -> str:
        """What was concluded about the source, without what the user said."""
        settings, columns = self.provenance.settings, self.provenance.columns
        parts = [f"{name} {settings[name]}" for name in CONCLUDED if name in settings]
        parts = [part for part in parts if part != "time format dates"]
        roles = [f"{'person' if role == 'record' else role} = {column}" for role, column in columns.items()]
        return f"Read as: {', '.join([*parts, *roles])}." if parts or roles else ""

    def _steps(self, limit: Limit) -> Iterator[NextStep]:
        """Yield the parameters that read the source; one step for each meaning of its times."""
        encoding = {"encoding": ANY_ENCODING} if self.rejects.invalid_text else {}
        for label, time_format, solved in self._time_steps():
            left = sum(count for reason, count in self.counts.items() if reason not in solved)
            left += self._misfits(time_format) if Reason.AMBIGUOUS_TIME in self.counts else 0
            needed = not limit.allows(left, self.rejects.rows)
            if left >= self.rejects.rows:
                continue
            step = encoding | ({"time_format": time_format} if time_format else {})
            step |= {"max_rejects": str(left)} if needed else {}
            if step:
                yield NextStep(label, step)

    def _time_steps(self) -> Iterator[tuple[str, str, Sequence[Reason]]]:
        """Yield label, format and the reasons that this format solves."""
        if self.times is not None and Reason.AMBIGUOUS_TIME in self.counts:
            for pattern in self.times.patterns.rivals:
                yield _order(pattern), pattern, TIME_REASONS
            return
        better = None
        if self.times is not None and Reason.UNREADABLE_TIME in self.counts:
            better = self.times.better_pattern()
        yield "", better or "", TIME_REASONS if better else ()

    def _misfits(self, pattern: str) -> int:
        """Number of rows whose time does not fit a pattern."""
        return 0 if self.times is None else self.times.count_misfits(pattern)


def _order(pattern: str) -> str:
    """Order of day, month and year in a pattern, in words."""
    day, month = pattern.find("%d"), max(pattern.find("%m"), pattern.find("%b"), pattern.find("%B"))
    year = max(pattern.find("%y"), pattern.find("%Y"))
    return min((day, "day first"), (month, "month first"), (year, "year first"))[1]
