"""Steps about times: moved a little, rounded down, or none."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.release.clock import SECONDS, Clock
from standout.sanitized import PERIODS, Period
from standout.sanitizing import entry_kernels as kernels
from standout.sanitizing.draft import Draft
from standout.sanitizing.step import Step, StepResult, number, portion, positive
from standout.sanitizing.step_noise import Noise

__all__ = ["PerturbTime", "RoundTime"]

MOST_DAYS = 36_525


@dataclass(frozen=True)
class PerturbTime(Step):
    """With this probability a time moves by whole units of its clock, up to ± days, each as likely, 0 too.

    The clock grows: a time may come to lie before the first or after the last that there was.

    >>> str(PerturbTime(days=14))
    'perturb-time 14 1'
    """

    name = "perturb-time"
    syntax = "DAYS [PROBABILITY]"
    summary = "moved by up to ± DAYS, with PROBABILITY (1)"
    parsers = (number, number)

    days: float = 14
    probability: float = 1.0

    def __post_init__(self) -> None:
        self._set(
            days=positive("days", self.days, MOST_DAYS),
            probability=portion("probability", self.probability, whole=True),
        )

    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        clock, time = draft.clock, draft.side.time
        if clock is None or time is None or clock.span == 0:
            raise ParameterError(f"{self}: the release has no times")
        most = int(self.days * SECONDS["day"] // SECONDS[clock.unit])
        if not most:
            raise ParameterError(f"{self}: times are by {clock.unit}, which is more than {self.days:g} days")
        side, out = draft.side, np.empty(draft.n_entries, np.int64)
        draft.by_pieces(
            lambda low, high: kernels.shift(
                side.start, side.item, noise.records, noise.items, low, high,
                time, clock.span, most, self.probability, out,
            )
        )  # fmt: skip
        known = time != clock.span
        changed = int(np.count_nonzero(known & (out != time.astype(np.int64) + most)))
        counts = {"times changed": changed, "share changed": changed / max(int(known.sum()), 1)}
        wider = replace(clock, origin=clock.origin - most, span=clock.span + 2 * most)
        return StepResult(draft.timed(out, _dated(self, wider)), counts)


@dataclass(frozen=True)
class RoundTime(Step):
    """Times are rounded down to the first day of their week (a Monday), month, quarter or year; or dropped.

    days=30 makes periods of 30 days, counted from 1970-01-01. What is rounded is told by day.

    >>> str(RoundTime("month")), str(RoundTime(days=30)), str(RoundTime("none"))
    ('round-time month', 'round-time 30 days', 'round-time none')
    """

    name = "round-time"
    syntax = "day | week | month | quarter | year | DAYS days | none"
    summary = "rounded down to the first day of its period; or no times"

    to: str | None = None
    days: int | None = None

    def __post_init__(self) -> None:
        if (self.to is None) == (self.days is None):
            raise ParameterError("round-time takes a period or a number of days")
        if self.days is not None:
            self._set(days=whole_number("days", self.days, 1))
            if self.days > MOST_DAYS:
                raise ParameterError(f"days must be at most {MOST_DAYS:,}, got {self.days:,}")
        elif self.to not in (*PERIODS, "none"):
            raise ParameterError(f"to must be one of {', '.join(PERIODS)} or none, got {self.to!r}")

    @property
    def period(self) -> Period | None:
        """What times are rounded down to; None if they are dropped."""
        if self.days is not None:
            return Period("day", self.days)
        return None if self.to == "none" else Period(self.to)  # type: ignore[arg-type]  # checked

    def parameter_words(self) -> tuple[str, ...]:
        return (str(self.to),) if self.days is None else (str(self.days), "days")

    @classmethod
    def from_words(cls, *words: str) -> Self:
        match words:
            case [count, "days" | "day"]:
                return cls(days=number(count))  # type: ignore[arg-type]  # checked there
            case [to]:
                return cls(to)
        raise ParameterError(f"written like this: {cls.name} {cls.syntax}")

    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        clock, time = draft.clock, draft.side.time
        if clock is None or time is None:
            raise ParameterError(f"{self}: the release has no times")
        known = int(np.count_nonzero(time != clock.span))
        if self.period is None:
            return StepResult(draft.timed(None, None), {"times changed": known})
        if clock.span == 0:
            raise ParameterError(f"{self}: the release has no times")
        units = np.arange(clock.span) + clock.origin
        first = self.period.start(units, clock.unit)
        days = first // (SECONDS["day"] // SECONDS[clock.unit])
        origin, span = int(days[0]), int(days[-1] - days[0]) + 1
        changed = int(np.count_nonzero(np.append(first != units, False)[time]))
        counts = {"times changed": changed, "share changed": changed / max(known, 1)}
        recode = np.append(days - origin, span)
        daily = _dated(self, Clock("day", origin, span, clock.zone))
        return StepResult(draft.timed(recode[time], daily, self.period), counts)


def _dated(step: Step, clock: Clock) -> Clock:
    """The clock, if the calendar has all its times."""
    try:
        clock.moment(0), clock.moment(clock.span)
    except OverflowError:
        raise ParameterError(f"{step}: times would leave the calendar, years 1 to 9999") from None
    return clock
