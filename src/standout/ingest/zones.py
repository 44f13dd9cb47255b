"""Time zones: the offset of the wall clock from UTC at any second."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError
from standout.core.jit import Array, Int, inline

__all__ = ["Zone", "offset_at"]

LAST_LISTED, PERIOD = 16_725_225_600, 400 * 31_556_952  # 2500-01-01; 400 years of the calendar


@dataclass(frozen=True, slots=True)
class Zone:
    """Offset of a zone from UTC: offset[i] seconds from since[i] on."""

    name: str
    since: NDArray[np.int64]
    offset: NDArray[np.int64]

    @classmethod
    @cache
    def of(cls, name: str) -> "Zone":
        """Find a zone by its name."""
        if name == "UTC":
            return cls(name, np.zeros(1, np.int64), np.zeros(1, np.int64))
        try:
            info = ZoneInfo(name)
        except (ValueError, OSError, LookupError) as error:
            raise ParameterError(f"zone must be a name such as Europe/Berlin, got {name!r}") from error
        return cls(name, *_transitions(info))

    def offsets_at(self, seconds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Offset at each second of UTC."""
        periods = np.maximum((seconds - LAST_LISTED) // PERIOD + 1, 0)
        transition = np.searchsorted(self.since, seconds - periods * PERIOD, side="right") - 1
        offsets: NDArray[np.int64] = self.offset[np.maximum(transition, 0)]
        return offsets


def _transitions(info: ZoneInfo) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the changes of the offset between 1840 and 2500: search by day, then to the second.

    Before 1840 local mean time applies. After 2500 the calendar, and so the rules, repeat every 400 years.
    """

    def offset(second: int) -> int:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
        shift = moment.astimezone(info).utcoffset()
        return 0 if shift is None else round(shift.total_seconds())

    step, first, last = 86_400, -4_102_444_800, LAST_LISTED
    since, offsets = [first], [offset(first)]
    for high in range(first + step, last, step):
        if offset(high) == offsets[-1]:
            continue
        low, right = high - step, high
        while right - low > 1:
            middle = (low + right) // 2
            low, right = (middle, right) if offset(middle) == offsets[-1] else (low, middle)
        since.append(right)
        offsets.append(offset(right))
    return np.array(since), np.array(offsets)


@inline
def offset_at(since: Array, offset: Array, second: Int) -> Int:
    """Offset of the zone at a second of UTC."""
    if second >= LAST_LISTED:
        second -= ((second - LAST_LISTED) // PERIOD + 1) * PERIOD
    low, high = 0, len(since)
    while high - low > 1:
        middle = (low + high) // 2
        if since[middle] <= second:
            low = middle
        else:
            high = middle
    return offset[low]
