"""How a known fact may differ from the entry that it is about: the adversary's errors as probabilities.

    P(v, t | x, y) = (1 − w) · right(v | x) · H(t − y) + w · wrong(v | x) · G(t | y)

x and y are the entry's value and time, v and t the known ones. A share w of the facts is wrong. Where dates
are off by at most a number of units, H is 1/(2 · reach + 1) within reach and 0 beyond; a wrong date lies
beyond. Otherwise H is any distribution, and value and date count as independent. In a sanitized release, x
and y are the released value and time, and the noise of the steps is part of all four probabilities.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from standout.attack.release_counts import ReleaseCounts
from standout.attack.time_noise import add_shifts, round_errors, whole_days
from standout.attack.value_errors import ValueChannel, ValueErrors
from standout.core import elementary
from standout.core.arrays import Floats
from standout.fact import AS_ASSUMED, FactErrors
from standout.observation import Choice
from standout.release.clock import SECONDS, Clock
from standout.release.model import Release
from standout.sanitized import ReleaseNoise, Sanitized, TimeSpread
from standout.similarity.attributes import ROUNDING

__all__ = ["COVERAGE", "ErrorModel", "HasErrors", "TimeErrors", "error_model"]

COVERAGE = 0.98
"""Highest coverage c: even an adversary who knows only items of the record allows for a surprise."""
GUESSED_WRONG = 0.1
"""Share of wrong facts where the adversary's errors are not known."""
GUESSED_VALUE_SCALE, GUESSED_DAYS = 0.5, 30.0
"""There, errors decay as in the paper: with half of the spread of values (1.5 stars), and with 30 days."""
MOST_MODELS = 64
SETTINGS = ("knows", "wrong", "wrong_facts", "value_error", "time_error")
TAIL = 10.0
"""Number of scales after which a decay counts as 0."""
MOST_REACH = 1 << 40
"""Units of time, longer than the calendar: larger errors make no difference."""


class HasErrors(Protocol):
    """The settings of an adversary that the error model depends on."""

    @property
    def knows(self) -> int:
        """Number of known facts."""

    @property
    def wrong(self) -> int:
        """Number of wrong facts among them."""

    @property
    def wrong_facts(self) -> str:
        """What is wrong about them."""

    @property
    def value_error(self) -> float | None:
        """Largest error of values."""

    @property
    def time_error(self) -> float | None:
        """Largest error of dates in days."""

    @property
    def items(self) -> Choice | str:
        """Which items are known."""


@dataclass(frozen=True, slots=True)
class TimeErrors:
    """The distribution of t − y in units of the release's clock.

    shares[reach + d] is H(d) for d from −reach to reach. `elsewhere` is G, the probability of a wrong time.
    `is_flat` says that H is the same everywhere within reach.
    """

    shares: Floats
    elsewhere: float
    is_flat: bool

    @property
    def reach(self) -> int:
        """Largest distance that a right date can have."""
        return len(self.shares) // 2

    @property
    def highest(self) -> float:
        """The highest H."""
        return float(self.shares[0] if self.is_flat else self.shares.max())

    @classmethod
    def flat(cls, reach: int, span: int) -> "TimeErrors":
        """Times off by up to `reach` units either way, all equally likely."""
        width = 2 * min(reach, MOST_REACH) + 1
        shares = np.broadcast_to(np.float64(1.0 / width), width)  # one number in memory, for any width
        return cls(shares, 1.0 / (span - width if span > width else span), True)

    @classmethod
    def decaying(cls, scale: float, span: int) -> "TimeErrors":
        """Times off by d units with a probability that decays as e^(−|d|/scale)."""
        reach = min(math.ceil(TAIL * scale), span)
        shares = elementary.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
        return cls(shares / shares.sum(), 1.0 / max(span, 1), False)


@dataclass(frozen=True, eq=False)
class ErrorModel:
    """The errors of known facts about one release.

    `wrong` is the share of facts whose value and date are not those of the entry, `coverage` the chance that
    the record which represents the target has a known item, `present` that there is such a record. `channel`
    is what the publisher did to values. A share `stray` of the facts is about another person's entry of the
    same item, because a record represents several people. `kept` is for tables by known value.
    """

    values: ValueErrors
    times: TimeErrors | None
    wrong: float
    coverage: float
    present: float = 1.0
    stray: float = 0.0
    channel: ValueChannel | None = None
    shares: Floats | None = None
    kept: dict[float | str | None, object] = field(default_factory=dict)

    @property
    def has_noise(self) -> bool:
        """Whether more than the adversary's own errors is in values and times."""
        flat = self.times is None or self.times.is_flat
        return self.channel is not None or self.stray > 0 or not flat

    def right_values(self, known: float | str) -> Floats:
        """right(v | x) of a known value v, for each level x of the release."""
        return self._in_release(self.values.right(known))

    def wrong_values(self, known: float | str) -> Floats:
        """wrong(v | x) of a known value v, for each level x of the release."""
        wrong = self._in_release(self.values.wrong(known))
        if not self.stray or self.shares is None:
            return wrong
        own = 1.0 - (1.0 - self.wrong) / (1.0 - self.stray)  # the adversary's share of wrong facts
        anybody = float(self.shares @ ((1.0 - own) * self.right_values(known) + own * wrong))
        return ((1.0 - self.stray) * own * wrong + self.stray * anybody) / self.wrong

    def _in_release(self, numbers: Floats) -> Floats:
        return numbers if self.channel is None else self.channel.average(numbers)


def error_model(
    release: Release,
    adversary: HasErrors | None,
    coverage: float | None,
    errors: FactErrors = AS_ASSUMED,
) -> ErrorModel:
    """The error model of an adversary's facts about a release; None: a guess, for facts typed by hand.

    For a sanitized release, facts are about the original, and the noise of its steps is added. `errors` are
    those of some facts, where they are known. The latest models are kept with the release.
    """
    kept: dict[object, ErrorModel] = vars(release).setdefault("_error_models", {})
    settings = () if adversary is None else tuple(getattr(adversary, name) for name in SETTINGS)
    key = settings, coverage, errors
    model = kept.get(key)
    if model is None:
        for oldest in list(kept)[: max(len(kept) + 1 - MOST_MODELS, 0)]:
            kept.pop(oldest, None)
        model = kept[key] = (
            _error_model(release, adversary, coverage)
            if errors == AS_ASSUMED
            else _with_errors(release, error_model(release, adversary, coverage), errors)
        )
    return model


def _error_model(release: Release, adversary: HasErrors | None, coverage: float | None) -> ErrorModel:
    noise = _noise(release)
    wrong, covered = GUESSED_WRONG, COVERAGE
    if adversary is not None:
        wrong, by_items = adversary.wrong / adversary.knows, adversary.wrong_facts != "values"
        wrong, covered = (0.0, min(COVERAGE, 1.0 - wrong)) if by_items else (wrong, COVERAGE)
    days = None if adversary is None else adversary.time_error
    return ErrorModel(
        values=_value_errors(release, adversary),
        times=None if adversary is not None and days is None else _time_errors(release, days),
        wrong=1.0 - (1.0 - wrong) * noise.own,
        coverage=covered * noise.kept if coverage is None else coverage,
        present=noise.present,
        stray=1.0 - noise.own,
        channel=_value_channel(release, noise),
        shares=_level_shares(release) if noise.own < 1.0 else None,
    )


def _with_errors(release: Release, model: ErrorModel, errors: FactErrors) -> ErrorModel:
    """The model of facts with errors of their own."""
    values, times, wrong = model.values, model.times, model.wrong
    if errors.value_error is not None and isinstance(values.levels, np.ndarray):
        values = ValueErrors(values.levels, float(errors.value_error))
    if errors.time_error is not None:
        times = _time_errors(release, float(errors.time_error))
    if errors.doubt is not None:
        wrong = 1.0 - (1.0 - errors.doubt) * _noise(release).own
    return replace(model, values=values, times=times, wrong=wrong, kept={})


def _noise(release: Release) -> ReleaseNoise:
    return release.noise if isinstance(release, Sanitized) else ReleaseNoise()


def _value_errors(release: Release, adversary: HasErrors | None) -> ValueErrors:
    levels = release.levels
    if isinstance(release, Sanitized) and release.noise.values:
        levels = release.original.levels
    if adversary is None:
        return ValueErrors(levels, None, GUESSED_VALUE_SCALE * ReleaseCounts.of(release).value_spread())
    return ValueErrors(levels, 0.0 if adversary.value_error is None else adversary.value_error)


def _value_channel(release: Release, noise: ReleaseNoise) -> ValueChannel | None:
    """What the steps did to values; kept with the release."""
    if not (isinstance(release, Sanitized) and noise.values and release.n_levels):
        return None
    kept = vars(release).get("_channel")
    if kept is None:
        original, released = release.original.levels, release.levels
        assert original is not None and released is not None
        counts = ReleaseCounts.of(release).level_shares(np.array([-1]))[0]
        kept = vars(release)["_channel"] = ValueChannel.of(noise.values, original, released, counts)
    assert isinstance(kept, ValueChannel)
    return kept


def _level_shares(release: Release) -> Floats | None:
    return ReleaseCounts.of(release).level_shares(np.array([-1]))[0] if release.n_levels else None


def _time_errors(release: Release, days: float | None) -> TimeErrors | None:
    """The errors of dates that are off by at most `days`, or of a guess; None if there are no dates.

    They are kept with a sanitized release whose dates are noisy.
    """
    if release.clock is None or not release.span:
        return None
    if not (isinstance(release, Sanitized) and release.noise.times):
        return _own_time_errors(days, release.clock, release.span)
    kept: dict[float | None, TimeErrors] = vars(release).setdefault("_time_errors", {})
    if days not in kept:
        if len(kept) >= MOST_MODELS:
            kept.clear()
        kept[days] = _noisy_time_errors(release, days)
    return kept[days]


def _own_time_errors(days: float | None, clock: Clock, span: int) -> TimeErrors:
    """The adversary's own errors; None: a guess."""
    per_day = _units_per_day(clock)
    if days is None:
        return TimeErrors.decaying(GUESSED_DAYS * per_day, span)
    return TimeErrors.flat(math.floor(days * per_day + ROUNDING), span)


def _noisy_time_errors(release: Sanitized, days: float | None) -> TimeErrors:
    steps, clock = release.noise.times, release.original.clock
    assert clock is not None
    shifts = [step for step in steps if isinstance(step, TimeSpread)]
    if len(shifts) == len(steps):
        own = _own_time_errors(days, clock, release.span)
        return TimeErrors(add_shifts(own.shares, shifts, _units_per_day(clock)), own.elsewhere, False)
    if days is None:
        shares = TimeErrors.decaying(GUESSED_DAYS, release.span).shares
    else:
        per_day = _units_per_day(clock)
        shares = whole_days(math.floor(days * per_day + ROUNDING), per_day)
    return TimeErrors(*round_errors(shares, steps, clock), False)


def _units_per_day(clock: Clock) -> int:
    return SECONDS["day"] // SECONDS[clock.unit]
