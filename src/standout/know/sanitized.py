"""A sanitized release: its original, which record represents which person, and how known facts translate.

The adversary knows facts about the ORIGINAL. To attack a sanitized release, the adversary first translates
them: a known day becomes its month where the release has months, and a known 4 becomes "liked" where values
are liked or not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from standout.core.arrays import Bools, Ints
from standout.core.errors import ParameterError
from standout.data.labels import SECONDS, Bins, StepReport, TimeUnit
from standout.data.release import Release
from standout.know.facts import ANY_TIME, Aux, KnownFacts, encode_auxes, level_values, repeat_bounds

PERIODS = ("day", "week", "month", "quarter", "year")
MONTHS = {"month": 1, "quarter": 3, "year": 12}
MONDAY = 3
"""Days from a Monday to 1970-01-01, which was a Thursday."""


@dataclass(frozen=True, slots=True)
class Period:
    """Calendar period that times are rounded down to: a number of days, weeks, months, quarters or years.

    >>> import numpy as np
    >>> Period("month").start(np.array([12_000]), "day")  # 2002-11-09 → 2002-11-01
    array([11992])
    """

    name: Literal["day", "week", "month", "quarter", "year"]
    count: int = 1

    def __post_init__(self) -> None:
        if self.name not in PERIODS:
            raise ParameterError(f"a period must be one of {', '.join(PERIODS)}, got {self.name!r}")
        if isinstance(self.count, bool) or not isinstance(self.count, int) or self.count < 1:
            raise ParameterError(f"the number of {self.name}s must be a whole number ≥ 1, got {self.count!r}")

    def __str__(self) -> str:
        return self.name if self.count == 1 else f"{self.count} {self.name}s"

    def start(self, units: Ints, unit: TimeUnit) -> Ints:
        """First unit of the period that contains each time; units count from 1970-01-01 00:00."""
        units_per_day = SECONDS["day"] // SECONDS[unit]
        days = np.asarray(units, np.int64) // units_per_day
        if self.name in MONTHS:
            size = MONTHS[self.name] * self.count
            months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) // size * size
            first_day = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        else:
            shift, size = (MONDAY, 7 * self.count) if self.name == "week" else (0, self.count)
            first_day = (days + shift) // size * size - shift
        return np.asarray(first_day * units_per_day)


@dataclass(frozen=True, eq=False, slots=True)
class OriginalMapping:
    """How records, items, values and times of the original appear in the sanitized release; -1 or None: removed.

    `representatives` has the record that represents each record of the original.
    """

    representatives: Ints
    item_codes: Ints
    released_values: tuple[float | str | None, ...]
    rounding_periods: tuple[Period, ...] = ()


@dataclass(frozen=True, eq=False)
class Channel:
    """What sanitizing did to one column: how a cell of the original becomes one of the released column.

    A cell with level x becomes released[x], a code of the released column (its `missing` code if the value is
    suppressed). Before that, it is emptied with probability `suppressed`, and replaced by a value that is
    drawn from all cells of the column with probability `replaced`.
    """

    released: Ints
    replaced: float = 0.0
    suppressed: float = 0.0


@dataclass(frozen=True, slots=True)
class ValueSpread:
    """Values that change with a probability to another level within `error` (None: any), equally likely."""

    error: float | None
    probability: float


@dataclass(frozen=True, slots=True)
class TimeSpread:
    """Times that move with a probability by up to ± `days`, all shifts equally likely."""

    days: float
    probability: float


@dataclass(frozen=True, slots=True)
class ReleaseNoise:
    """What steps did to the entries of a person, as far as everybody who knows the steps can say.

    kept     chance that an entry is in the record that represents the person, unless its item was removed
    present  chance that any record represents the person
    own      chance that an entry which is in that record is there because of the person, not of another one
    """

    kept: float = 1.0
    present: float = 1.0
    own: float = 1.0
    values: tuple[ValueSpread | Bins, ...] = ()
    times: tuple[TimeSpread | Period, ...] = ()

    def __post_init__(self) -> None:
        changes = [step.probability for step in (*self.values, *self.times) if not isinstance(step, (Bins, Period))]
        shares = all(0 < share <= 1 for share in (self.kept, self.present, self.own))
        if not (shares and all(0 <= probability <= 1 for probability in changes)):
            raise ParameterError("shares of noise must be above 0 and at most 1, probabilities from 0 to 1")

    def then(self, later: "ReleaseNoise") -> "ReleaseNoise":
        """The noise of these steps and of later ones.

        >>> ReleaseNoise(kept=0.5).then(ReleaseNoise(kept=0.5, times=(Period("month"),))).kept
        0.25
        """
        return ReleaseNoise(
            kept=self.kept * later.kept,
            present=self.present * later.present,
            own=self.own * later.own,
            values=self.values + later.values,
            times=self.times + later.times,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Sanitized(Release):
    """A sanitized release together with its original; `standout.sanitize` makes it.

    It is a `Release` like any other. The additional attributes let audits and simulations draw facts from the
    original and check guesses against it.

    Parameters
    ----------
    original
        Release that it was made from.
    mapping
        Record, item code, value and period of the release for each of the original.
    step_reports
        Steps in their order: ``step`` (text), ``counts`` (what changed) and ``bins`` (or None).
    noise
        What the steps did to entries, for attacks that know the steps.
    renumbered
        Whether the records have new ids.
    channels
        By column name, what was done to a column. A column without a channel is unchanged, and one that the
        release lacks was dropped.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> safer = so.sanitize(release, "round-time month", seed=7)
    >>> safer.original is release, safer.renumbered
    (True, False)
    >>> [report.step for report in safer.step_reports]
    ['round-time month']
    """

    original: Release = field(kw_only=True)
    mapping: OriginalMapping = field(kw_only=True)
    step_reports: tuple[StepReport, ...] = field(kw_only=True, default=())
    noise: ReleaseNoise = field(kw_only=True, default=ReleaseNoise())
    renumbered: bool = field(kw_only=True, default=False)
    channels: Mapping[str, Channel] = field(kw_only=True, default_factory=dict)

    @cached_property
    def original_row(self) -> Ints:
        """For each row of a sanitized table, the row of the original that it comes from."""
        people = np.flatnonzero(self.mapping.representatives >= 0)
        rows = np.empty(self.n_records, np.int64)
        rows[self.mapping.representatives[people]] = people
        return rows

    @property
    def may_repeat(self) -> bool:
        """Whether people can have an item several times, even if the release has only one entry of each."""
        return super().may_repeat or self.original.may_repeat

    def check(self) -> "Sanitized":
        """Check the release and its original, as `Release.check` does."""
        self.original.check()
        super().check()
        return self

    def translate_facts(self, known: KnownFacts, people: Ints) -> KnownFacts:
        """Translate facts about the original into codes of this release.

        Rounding by the publisher is repeated. Bounds of length and first date are widened so that the person's
        representative stays a candidate: an adversary allows for what the publisher changed.
        """
        item = np.where(known.item >= 0, self.mapping.item_codes[np.maximum(known.item, 0)], -1)
        value, values = self._known_values(known)
        timed = known.timed if self.span else np.zeros_like(known.timed)
        time = np.where(timed, self._translate_times(known.time), 0) if self.span else np.zeros_like(known.time)
        draws = len(known) // max(len(people), 1)
        length, joined = self._bounds(known, np.repeat(people, draws))
        return replace(
            known,
            item=item,
            value=value,
            values=values,
            original_values=known.values if len(values) == len(known.values) else None,
            time=time,
            timed=timed,
            length=length,
            joined=joined,
        )

    def translate_aux(self, aux: Aux) -> KnownFacts:
        """Translate facts about somebody of the original into codes of this release.

        A known length and first date are left out: the steps may have changed them, and nothing says how
        much for an unknown person.
        """
        known = encode_auxes(self.original, [Aux(aux.facts)])
        translated = self.translate_facts(known, np.zeros(0, np.int64))
        removed = np.flatnonzero(translated.item < 0).tolist()
        return replace(translated, names={i: aux.facts[i].item for i in removed})

    def _known_values(self, known: KnownFacts) -> tuple[Ints, tuple[float | str, ...]]:
        """What became of the known values; a value that the original lacks stays as it is."""
        levels: dict[Any, float | str | None] = {}
        if self.n_levels:
            levels = dict(zip(level_values(self.original), self.mapping.released_values, strict=False))
        released = [levels.get(value, value) for value in known.values] if self.n_levels else []
        present = [code for code, value in enumerate(released) if value is not None]
        new_code = np.full(len(known.values) + 1, -1, np.int64)  # the last one is for unknown values: -1
        new_code[present] = np.arange(len(present))
        return new_code[known.value], tuple(value for value in released if value is not None)

    def _translate_times(self, time: Ints) -> Ints:
        """Time codes of the original as codes of this release."""
        old, new = self.original.clock, self.clock
        assert old is not None and new is not None
        units = time + old.origin
        for period in self.mapping.rounding_periods:
            units = period.start(units, old.unit)
        return np.asarray(units * SECONDS[old.unit] // SECONDS[new.unit] - new.origin)

    def _bounds(self, known: KnownFacts, people: Ints) -> tuple[Ints, Ints]:
        """Bounds of lengths and first dates, widened to include those of the representatives."""
        length, joined = known.length.copy(), known.joined.copy()
        if not known.filtered:
            return length, joined
        is_present = self.mapping.representatives[people] >= 0
        records = self.mapping.representatives[people][is_present]
        _widen(length, is_present, self.lengths[records])
        if self.span == 0 or self.by_record.time is None:
            return length, repeat_bounds(len(joined), ANY_TIME)
        limited = np.abs(joined) < 2**61
        joined = np.where(limited, self._translate_times(np.where(limited, joined, 0)), joined)
        first = np.minimum.reduceat(self.by_record.time, self.by_record.start[:-1]).astype(np.int64)[records]
        _widen(joined, is_present, np.where(first < self.span, first, joined[is_present, 0]))
        return length, joined


def sidecar_path(output: Path) -> Path:
    """Path of the sidecar of an output of `standout sanitize`, which lists its steps."""
    named = output if output.name else output.absolute()  # the folder "." has a name
    return named.parent / f"{named.name}.sanitized.json"


def original_of(release: Release) -> Release:
    """The release that adversaries know facts about."""
    return release.original if isinstance(release, Sanitized) else release


def representatives_of(release: Release) -> Ints:
    """For each record of the original, the released one that represents it; -1 if none does."""
    return release.mapping.representatives if isinstance(release, Sanitized) else np.arange(release.n_records)


def _widen(bounds: Ints, rows: Bools, included: Ints) -> None:
    """Widen (lowest, highest) of these rows so that they include a number each."""
    bounds[rows, 0] = np.minimum(bounds[rows, 0], included)
    bounds[rows, 1] = np.maximum(bounds[rows, 1], included)
