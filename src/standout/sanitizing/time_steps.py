"""Steps that change times: add noise, round down, or remove."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from standout.core.arrays import codes_in_use
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.release.clock import SECONDS, Clock
from standout.sanitized import PERIODS, Period, ReleaseNoise, StepReport, TimeSpread
from standout.sanitizing import entry_kernels
from standout.sanitizing.draft import Draft
from standout.sanitizing.entry_kernels import TimeNoise
from standout.sanitizing.step import Step, StepResult, check_positive, check_share, number
from standout.sanitizing.step_noise import StepNoise

__all__ = ["PerturbTime", "RoundTime"]

MOST_DAYS = 36_525


@dataclass(frozen=True)
class PerturbTime(Step):
    """Move each time by a random number of days.

    A time moves with the given probability by a whole number of clock units, uniform over ± `days` including
    0. The clock grows: a time may become earlier than the first or later than the last time of the data.

    Parameters
    ----------
    days
        Largest shift in days, above 0 and at most 36,525.
    probability
        Probability that a time is moved, above 0 and at most 1.

    Raises
    ------
    ParameterError
        If a parameter is out of range. Applied to a release: if it has no times, or if its clock unit is
        longer than `days`.

    Examples
    --------
    >>> import standout as so
    >>> str(so.PerturbTime(days=14))
    'perturb-time 14 1'
    """

    name = "perturb-time"
    syntax = "DAYS [PROBABILITY]"
    summary = "move each time by up to ± DAYS, with PROBABILITY (default: 1)"
    parsers = (number, number)

    days: float = 14
    probability: float = 1.0

    def __post_init__(self) -> None:
        self._set(
            days=check_positive("days", self.days, MOST_DAYS),
            probability=check_share("probability", self.probability, allow_one=True),
        )

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The distribution of shifts."""
        return ReleaseNoise(times=(TimeSpread(self.days, self.probability),))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        """Apply the step to a draft."""
        clock, time = draft.clock, draft.by_record.time
        if clock is None or time is None or clock.span == 0:
            raise ParameterError(f"{self}: the release has no times")
        most = int(self.days * SECONDS["day"] // SECONDS[clock.unit])
        if not most:
            raise ParameterError(
                f"{self}: the release has times by {clock.unit}, so days must be larger than {self.days:g}"
            )
        streams, out = noise.streams, np.empty(draft.n_entries, np.int64)
        time_noise = TimeNoise(clock.span, most, self.probability)
        draft.run_by_records(lambda low, high: entry_kernels.shift(streams, low, high, time, time_noise, out))
        is_known = time != clock.span
        changed = int(np.count_nonzero(is_known & (out != time.astype(np.int64) + most)))
        wider = replace(clock, origin=clock.origin - most, span=clock.span + 2 * most)
        return StepResult(
            draft.with_times(out, _check_calendar(self, wider)),
            {"times changed": changed, "share changed": changed / max(int(is_known.sum()), 1)},
        )


@dataclass(frozen=True)
class RoundTime(Step):
    """Round each time down to the first day of its period, or remove all times.

    Rounded times have the unit day. Known facts are rounded in the same way before an attack.

    Parameters
    ----------
    to
        "day", "week" (from Monday), "month", "quarter" or "year"; "none" removes the times.
    days
        Length of the periods in days instead, counted from 1970-01-01; at most 36,525.

    Raises
    ------
    ParameterError
        If both or none of the parameters are given, or one is out of range. Applied to a release: if it has
        no times.

    Examples
    --------
    >>> import standout as so
    >>> str(so.RoundTime("month")), str(so.RoundTime(days=30)), str(so.RoundTime("none"))
    ('round-time month', 'round-time 30 days', 'round-time none')
    """

    name = "round-time"
    syntax = "day | week | month | quarter | year | DAYS days | none"
    summary = "round each time down to the first day of its period; none: remove all times"

    to: str | None = None
    days: int | None = None

    def __post_init__(self) -> None:
        if (self.to is None) == (self.days is None):
            raise ParameterError("round-time takes either a period or a number of days")
        if self.days is not None:
            self._set(days=whole_number("days", self.days, 1))
            if self.days > MOST_DAYS:
                raise ParameterError(f"days must be at most {MOST_DAYS:,}, got {self.days:,}")
        elif self.to not in (*PERIODS, "none"):
            raise ParameterError(f"to must be one of {', '.join(PERIODS)} or none, got {self.to!r}")

    @property
    def period(self) -> Period | None:
        """Period that times are rounded down to; None if they are removed."""
        if self.days is not None:
            return Period("day", self.days)
        return None if self.to == "none" else Period(self.to)  # type: ignore[arg-type]  # checked

    def parameter_words(self) -> tuple[str, ...]:
        """Parameters as words."""
        return (str(self.to),) if self.days is None else (str(self.days), "days")

    @classmethod
    def from_words(cls, *words: str) -> Self:
        """Make the step with these parameters."""
        match words:
            case [count, "days" | "day"]:
                return cls(days=number(count))  # type: ignore[arg-type]  # checked there
            case [to]:
                return cls(to)
        raise cls._syntax_error()

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The period."""
        return ReleaseNoise() if self.period is None else ReleaseNoise(times=(self.period,))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        """Apply the step to a draft."""
        clock, time = draft.clock, draft.by_record.time
        if clock is None or time is None:
            raise ParameterError(f"{self}: the release has no times")
        known = int(np.count_nonzero(time != clock.span))
        if self.period is None:
            return StepResult(draft.with_times(None, None), {"times changed": known})
        self._require(clock.span > 0, "times")
        codes, place = codes_in_use(time, clock.span + 1)
        codes = codes[codes < clock.span]
        units = np.concatenate([codes, [0, clock.span - 1]]) + clock.origin
        first = self.period.start(units, clock.unit)
        days = first // (SECONDS["day"] // SECONDS[clock.unit])
        origin, span = int(days[-2]), int(days[-1] - days[-2]) + 1
        changed = int(np.count_nonzero(np.append((first != units)[:-2], False)[place]))
        new_code = np.append(days[:-2] - origin, span)
        daily = _check_calendar(self, Clock("day", origin, span, clock.zone))
        return StepResult(
            draft.with_times(new_code[place], daily, self.period),
            {"times changed": changed, "share changed": changed / max(known, 1)},
        )


def _check_calendar(step: Step, clock: Clock) -> Clock:
    """Check that the calendar has all times of the clock."""
    try:
        clock.moment(0), clock.moment(clock.span)
    except OverflowError:
        raise ParameterError(f"{step}: times would leave the calendar (years 1 to 9999)") from None
    return clock
