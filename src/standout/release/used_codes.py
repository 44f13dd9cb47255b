"""Drop levels and times that no entry has, so that the content alone decides the codes."""

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from standout.core.arrays import Ints
from standout.release import build_kernels
from standout.release.clock import Clock
from standout.release.model import Codes, Levels, RecordEntries, code_type
from standout.release.record_groups import ColumnSizes
from standout.release.repeats import column_or_empty

__all__ = ["UsedCodes", "count_codes", "drop_unused_codes"]

NO_COUNTS: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class UsedCodes:
    """How many entries have each level and none (the last count), and the range of their times.

    `of` counts the entries of a release or of a shard, and `merged` adds the counts of shards.
    """

    sizes: ColumnSizes
    entries: int
    values: Ints
    first_time: int
    last_time: int
    without_time: int

    @classmethod
    def of(cls, by_record: RecordEntries, sizes: ColumnSizes) -> "UsedCodes":
        """Count the codes of entries."""
        no_value, no_time = (int(code) for code in sizes.missing)
        values = NO_COUNTS if by_record.value is None else count_codes(by_record.value, no_value + 1)
        time = column_or_empty(by_record.time)
        low, high = (int(end) for end in build_kernels.bounds(time, no_time))
        return cls(sizes, len(by_record.item), values, low, high, int(np.count_nonzero(time == no_time)))

    @staticmethod
    def merged(parts: "list[UsedCodes]") -> "UsedCodes":
        """Counts of several shards together."""
        return reduce(UsedCodes._plus, parts)

    def _plus(self, other: "UsedCodes") -> "UsedCodes":
        timed = [part for part in (self, other) if part.last_time >= 0]
        return UsedCodes(
            self.sizes,
            self.entries + other.entries,
            self.values + other.values,
            min((part.first_time for part in timed), default=0),
            max((part.last_time for part in timed), default=-1),
            self.without_time + other.without_time,
        )

    @property
    def without_value(self) -> int:
        """Number of entries without a value, of a release with values."""
        return int(self.values[-1]) if len(self.values) else 0

    @property
    def has_gaps(self) -> bool:
        """Whether some entries have a time and others have none."""
        return self.last_time >= 0 and self.without_time > 0

    @property
    def used_levels(self) -> Levels | None:
        """Levels that entries have."""
        levels, used = self.sizes.levels, self._level_codes()
        if levels is None or len(used) == len(levels):
            return levels
        return tuple(levels[i] for i in used) if isinstance(levels, tuple) else levels[used]

    @property
    def used_clock(self) -> Clock | None:
        """Clock of the times that entries have."""
        clock = self.sizes.clock
        span = self.last_time - self.first_time + 1
        if clock is None or span == clock.span:
            return clock
        return replace(clock, origin=clock.origin + self.first_time if span else 0, span=span)

    def recode(self, by_record: RecordEntries) -> RecordEntries:
        """Return the entries with codes of the used levels and times."""
        value, time = by_record.value, by_record.time
        if value is not None:
            value = self._recoded_values(value)
        if time is not None:
            time = self._recoded_times(time)
        return RecordEntries(by_record.start, by_record.item, value, time)

    def _level_codes(self) -> Ints:
        return np.flatnonzero(self.values[:-1])

    def _recoded_values(self, value: Codes) -> Codes:
        used, n_levels = self._level_codes(), len(self.values) - 1
        if len(used) == n_levels:
            return value
        code = np.full(n_levels + 1, len(used))
        code[used] = np.arange(len(used))
        return code.astype(code_type(len(used) + 1))[value]

    def _recoded_times(self, time: Codes) -> Codes:
        old, span = int(self.sizes.missing[1]), self.last_time - self.first_time + 1
        if span == old:
            return time
        moved = np.where(time == old, time.dtype.type(span), time - time.dtype.type(self.first_time))
        return moved.astype(code_type(span + 1))


def drop_unused_codes(
    groups: RecordEntries, levels: Levels | None, clock: Clock | None
) -> tuple[RecordEntries, Levels | None, Clock | None]:
    """Drop levels and times that no entry has, so that the content alone decides the codes."""
    has_value, has_time = groups.value is not None, groups.time is not None
    used = UsedCodes.of(groups, ColumnSizes(0, levels if has_value else None, clock if has_time else None))
    return (
        used.recode(groups),
        used.used_levels if has_value else levels,
        used.used_clock if has_time else clock,
    )


def count_codes(codes: Codes, count: int) -> Ints:
    """Count how often each code 0 … count - 1 occurs, without np.bincount's copy as 64-bit integers."""
    counts = np.zeros(count, np.int64)
    build_kernels.tally(codes, counts)
    return counts
