"""Time in a release: whole days, hours or minutes on the wall clock of one zone."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from standout.core.errors import ParameterError

__all__ = ["SECONDS", "Clock", "TimeUnit"]

TimeUnit = Literal["day", "hour", "minute"]
SECONDS: dict[TimeUnit, int] = {"day": 86_400, "hour": 3_600, "minute": 60}
EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Clock:
    """Meaning of the time codes of a release.

    Code c means `origin + c` units since 1970-01-01 00:00 on the wall clock of `zone`. Codes run
    from 0 to span - 1; the code `span` means that the entry has no time.

    >>> Clock("day", origin=12_000, span=10).decode(3)
    datetime.date(2002, 11, 12)
    """

    unit: TimeUnit
    origin: int
    span: int
    zone: str = "UTC"

    def __post_init__(self) -> None:
        if self.unit not in SECONDS:
            raise ParameterError(f"time_unit must be day, hour or minute, got {self.unit!r}")

    def encode(self, moment: date) -> int:
        """Code of a date or datetime on the wall clock; below 0 or at least `span` if it is out of range.

        >>> Clock("hour", origin=0, span=10).encode(datetime(1970, 1, 2, 3, 45))
        27
        """
        wall = moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day)
        return int((wall - EPOCH) // timedelta(seconds=SECONDS[self.unit])) - self.origin

    def decode(self, code: int) -> date | None:
        """Date of a code (datetime if the unit is hour or minute), or None if the time is missing."""
        return None if code >= self.span else self.moment(code)

    def moment(self, code: int) -> date:
        """Date or datetime of any code, also outside the range of the release."""
        moment = EPOCH + timedelta(seconds=(self.origin + int(code)) * SECONDS[self.unit])
        return moment.date() if self.unit == "day" else moment
