"""How a known fact may differ from the entry that it is about: the adversary's errors as probabilities.

    P(v, t | x, y) = (1 − w) · right(v | x) · H(t − y) + w · wrong(v | x) · G(t | y)

x and y are the entry's value and time, v and t the known ones. A share w of the facts is wrong. Where dates
are off by at most a number of units, H is 1/(2 · reach + 1) within reach and 0 beyond; a wrong date lies
beyond. Otherwise H is any distribution, and value and date count as independent.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from standout.attack.release_counts import ReleaseCounts
from standout.core import elementary
from standout.core.arrays import Floats
from standout.observation import Choice
from standout.release.clock import SECONDS
from standout.release.model import Release
from standout.similarity.attributes import ROUNDING

__all__ = ["COVERAGE", "ErrorModel", "HasErrors", "TimeErrors", "error_model"]

COVERAGE = 0.98
"""Highest coverage c: even an adversary who knows only items of the record allows for a surprise."""
GUESSED_WRONG = 0.1
"""Share of wrong facts where the adversary's errors are not known."""
GUESSED_VALUE_SCALE, GUESSED_DAYS = 0.5, 30.0
"""There, errors decay as in the paper: with half of the spread of values (1.5 stars), and with 30 days."""
TAIL = 10.0
"""Number of scales after which a decay counts as 0."""


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

    @classmethod
    def flat(cls, reach: int, span: int) -> "TimeErrors":
        """Times off by up to `reach` units either way, all equally likely."""
        width = 2 * reach + 1
        return cls(np.full(width, 1.0 / width), 1.0 / (span - width if span > width else span), True)

    @classmethod
    def decaying(cls, scale: float, span: int) -> "TimeErrors":
        """Times off by d units with a probability that decays as e^(−|d|/scale)."""
        reach = min(math.ceil(TAIL * scale), span)
        shares = elementary.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
        return cls(shares / shares.sum(), 1.0 / max(span, 1), False)


@dataclass(frozen=True, eq=False)
class ErrorModel:
    """The errors of known facts about one release.

    `wrong` is the share of wrong facts, `coverage` the chance that the target's own record has a known item.
    `value_error` is the largest error of values, None if they are guessed to decay with `value_scale`.
    """

    release: Release
    wrong: float
    coverage: float
    value_error: float | None
    value_scale: float
    times: TimeErrors | None

    def right_values(self, known: float | str) -> Floats:
        """right(v | x) of a known value v, for each level x."""
        near = self._distances(known) <= (self.value_error or 0.0) + ROUNDING
        if self.value_error is None:
            return self._decay(known)
        return near / np.maximum(self._n_near, 1)

    def wrong_values(self, known: float | str) -> Floats:
        """wrong(v | x) of a known value v, for each level x: any level but those within the error."""
        n = self.release.n_levels
        if self.value_error is None:
            return np.full(n, 1.0 / n)
        near = self._distances(known) <= self.value_error + ROUNDING
        rest = n - self._n_near
        return np.where(rest > 0, ~near / np.maximum(rest, 1), 1.0 / n)

    def _distances(self, known: float | str) -> Floats:
        levels = self.release.levels
        if isinstance(levels, np.ndarray):
            with np.errstate(over="ignore"):
                return np.asarray(np.abs(levels - float(known)))
        return np.array([0.0 if level == known else np.inf for level in levels or ()])

    @property
    def _n_near(self) -> Floats:
        """Number of levels within the error of each level, itself included."""
        levels, n = self.release.levels, self.release.n_levels
        if not isinstance(levels, np.ndarray):
            return np.ones(n)
        error = (self.value_error or 0.0) + ROUNDING
        low, high = np.searchsorted(levels, levels - error), np.searchsorted(levels, levels + error, "right")
        return (high - low).astype(np.float64)

    def _decay(self, known: float | str) -> Floats:
        levels = self.release.levels
        if not isinstance(levels, np.ndarray):
            return np.asarray(self._distances(known) == 0, np.float64)
        total = np.zeros(len(levels))
        for level in levels:
            total += elementary.exp(-self._distances(float(level)) / self.value_scale)
        return elementary.exp(-self._distances(known) / self.value_scale) / total


def error_model(release: Release, adversary: HasErrors | None, coverage: float | None) -> ErrorModel:
    """The error model of an adversary's facts about a release; None: a guess, for facts typed by hand."""
    if adversary is None:
        return _guessed_model(release, coverage)
    wrong, by_items = adversary.wrong / adversary.knows, adversary.wrong_facts != "values"
    return ErrorModel(
        release=release,
        wrong=0.0 if by_items else wrong,
        coverage=(min(COVERAGE, 1.0 - wrong) if by_items else COVERAGE) if coverage is None else coverage,
        value_error=0.0 if adversary.value_error is None else adversary.value_error,
        value_scale=1.0,
        times=_times_within(release, adversary.time_error),
    )


def _guessed_model(release: Release, coverage: float | None) -> ErrorModel:
    times = None
    if release.clock is not None and release.span:
        times = TimeErrors.decaying(GUESSED_DAYS * _units_per_day(release), release.span)
    return ErrorModel(
        release=release,
        wrong=GUESSED_WRONG,
        coverage=COVERAGE if coverage is None else coverage,
        value_error=None,
        value_scale=GUESSED_VALUE_SCALE * ReleaseCounts.of(release).value_spread(),
        times=times,
    )


def _times_within(release: Release, days: float | None) -> TimeErrors | None:
    if days is None or release.span == 0:
        return None
    return TimeErrors.flat(math.floor(days * _units_per_day(release) + ROUNDING), release.span)


def _units_per_day(release: Release) -> int:
    assert release.clock is not None
    return SECONDS["day"] // SECONDS[release.clock.unit]
