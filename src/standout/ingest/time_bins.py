"""Bins of time: minutes, hours, days, weeks and months, to which times are rounded down."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError
from standout.ingest.time_kernels import FIRST_OF_MONTH
from standout.release.build_kernels import TIME_BIAS
from standout.release.clock import SECONDS, TimeUnit

__all__ = ["TimeBin"]

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
LONGEST = 36_525 * 86_400


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
        if not 0 < seconds <= LONGEST:
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
