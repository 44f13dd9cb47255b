"""Sim on attributes: the similarity of a known fact and an entry  [the paper's Sim, section 3].

A similarity is a small frozen object. It says how similar two values are, how similar two dates are, and how
both are combined. Before an attack it is tabulated over the release's value levels and time distances
(`lookup_tables`), so that neither it nor a user's own function is called while records are scored.

A value or date that the fact does not give is not compared; with neither, having the item counts 1. A value
or date that the fact gives but the entry lacks counts 0.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError, StandoutError
from standout.data.labels import SECONDS
from standout.data.release import Levels, Release

__all__ = [
    "ROUNDING",
    "Custom",
    "Decay",
    "Equal",
    "FunctionValues",
    "Present",
    "Similarity",
    "Value",
    "Within",
    "call_user_code",
    "check_numbers",
    "check_similarity",
    "days_per_unit",
    "time_reach",
]

# What a user's function of (known value, value, days) returns, with as few calls as possible.
#
# A simulation tabulates the function for every batch of targets, and the batches ask for nearly the same
# numbers. So results are kept, in blocks of distances. A block is filled by one call with an array where the
# function takes one: its results are compared with a few calls with single numbers, and a function that
# fails or disagrees is called with single numbers only.


Function = Callable[[Any, Any, Any], Any]
SOURCE = "the similarity's function"
BLOCK = 256
"""Number of distances in a block. Blocks begin at its multiples, so that no result depends on the batch."""
FEW = 64
"""Up to this many distances or levels, the function is called for each."""
MOST = 1 << 23
"""Largest number of results that are kept: 64 MB."""
PROBES = 8
"""Number of results of a call with an array that are compared with calls with single numbers."""
SAME = 1e-9


class FunctionValues:
    """The results of one function, kept for as long as the similarity that it belongs to."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.takes_arrays = True
        self._kept: dict[tuple[object, ...], Floats] = {}
        self._count = 0

    def over_levels(self, known: Any, levels: list[Any]) -> Floats:
        """function(known, level, None) for each level, None among them."""
        key = (known, tuple(levels))
        numbers = [level for level in levels if isinstance(level, float)]

        def call(level: Any) -> Any:
            return self.function(known, level, None)

        if key not in self._kept:
            row = np.full(len(levels), np.nan)
            if len(numbers) > FEW:
                row[: len(numbers)] = self._array(call, np.array(numbers), np.arange(len(numbers)))
            self._keep(key, self._fill(call, row, levels, np.arange(len(levels))))
        return self._kept[key]

    def over_times(self, known: Any, level: Any, steps: Ints, day: float, many: bool) -> Floats:
        """function(known, level, step · day) for consecutive steps.

        `many` says whether the table is long enough for calls with arrays. It must not depend on the batch:
        a result of NumPy's functions may differ in the last digit between an array and a single number.
        """
        blocks = []
        for block in range(int(steps[0]) // BLOCK, int(steps[-1]) // BLOCK + 1):
            wanted = steps[(steps >= block * BLOCK) & (steps < (block + 1) * BLOCK)] - block * BLOCK
            blocks.append(self._block((known, level, day, block), wanted, many)[wanted])
        return np.concatenate(blocks)

    def _block(self, key: tuple[Any, Any, float, int], wanted: Ints, many: bool) -> Floats:
        """One block of distances, filled in where wanted and NaN where the function was not called."""
        known, level, day, block = key
        days: Floats = (block * BLOCK + np.arange(BLOCK)) * np.float64(day)

        def call(distance: Any) -> Any:
            return self.function(known, level, distance)

        row = self._kept.get(key)
        if row is None:
            row = self._array(call, days, wanted) if many else np.full(BLOCK, np.nan)
        missing = wanted[np.isnan(row[wanted])]
        row = self._fill(call, row, days.tolist(), missing) if len(missing) else row
        self._keep(key, row)
        return row

    def _keep(self, key: tuple[object, ...], row: Floats) -> None:
        if self._count + len(row) > MOST:
            self._kept.clear()
            self._count = 0
        self._count += 0 if key in self._kept else len(row)
        self._kept[key] = row

    def _array(self, call: Callable[[Any], Any], given: Floats, wanted: Ints) -> Floats:
        """The results of one call with an array; NaN where it gives none that can be trusted."""
        nothing = np.full(len(given), np.nan)
        if not self.takes_arrays:
            return nothing
        try:
            with np.errstate(all="ignore"):
                numbers = np.asarray(call(given.copy()))
            if numbers.shape != given.shape or numbers.dtype.kind not in "biuf":
                return nothing  # such as one number for all: perhaps for these arguments only
            probes = wanted[np.linspace(0, len(wanted) - 1, PROBES).astype(np.int64)]
            alone = np.array([float(call(float(given[at]))) for at in probes])
        except Exception:  # made for single numbers: they show whether the function is at fault
            self.takes_arrays = False
            return nothing
        numbers = numbers.astype(np.float64)
        self.takes_arrays = bool(np.allclose(numbers[probes], alone, rtol=SAME, atol=0.0))
        return np.where(np.isfinite(numbers) & (numbers >= 0), numbers, np.nan) if self.takes_arrays else nothing

    def _fill(self, call: Callable[[Any], Any], row: Floats, given: list[Any], wanted: Ints) -> Floats:
        """The row with the results of calls with single numbers where it has none."""
        wanted = wanted[np.isnan(row[wanted])]
        results = call_user_code(lambda: [call(given[at]) for at in wanted], SOURCE)
        filled = row.copy()
        filled[wanted] = _numbers(results)
        return filled


def _numbers(results: list[Any]) -> Floats:
    """Results of single calls as numbers, checked together: a check of each takes longer than its call."""
    if all(type(result) in (float, int, bool) for result in results):
        numbers = np.array(results, np.float64)
        if (np.isfinite(numbers) & (numbers >= 0)).all():
            return numbers
    return np.array([check_numbers([result], 1, SOURCE)[0] for result in results])


def call_user_code(call: Callable[[], Any], source: str) -> Any:
    """Call a user's code; an error says which code failed."""
    try:
        return call()
    except StandoutError:
        raise
    except Exception as error:
        raise ParameterError(f"{source} failed: {type(error).__name__}: {error}") from error


def check_numbers(given: Any, count: int, source: str) -> Floats:
    """Return the result of a user's code as `count` numbers; an error says which code is at fault."""
    try:
        array = np.asarray(given)
    except ValueError:  # lists of different lengths
        array = np.asarray(None)
    numbers = array.astype(np.float64) if array.dtype.kind in "biuf" else None
    if numbers is None or numbers.shape != (count,) or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ParameterError(f"{source} must return {count:,} finite number{'s' * (count != 1)} ≥ 0")
    return numbers


Value = float | str
ROUNDING = 1e-9
"""Tolerance of distances: levels 0.3 and 0.4 are 0.1 apart, in spite of binary fractions."""
ENDED_SCALES = 70
"""Number of scales after which a decay is below 1e-30, which counts as 0."""


class Similarity:
    """Base class of similarities: Sim = value part × time part, or their sum if `adds` is set.

    Subclass it and override `values`, `times` or both for a similarity of your own.

    Attributes
    ----------
    adds : bool
        Whether the parts are added; default: they are multiplied.

    Examples
    --------
    >>> from dataclasses import dataclass, field
    >>> @dataclass(frozen=True)
    ... class SameWeekday(Similarity):
    ...     def times(self, days):
    ...         return (days % 7 == 0).astype(float)
    >>> SameWeekday().times(np.array([-7.0, 0.0, 3.0]))
    array([1., 1., 0.])
    """

    adds: ClassVar[bool] = False

    def values(self, known: Value, levels: Levels) -> Floats | None:
        """Similarity of a known value and each level, from 0 to 1.

        Parameters
        ----------
        known : float or str
            The value of the fact.
        levels : array of float, or tuple of str
            The distinct values of the release, ascending.

        Returns
        -------
        array of float, or None
            One number for each level; None if values are not compared.
        """
        return None

    def times(self, days: Floats) -> Floats | None:
        """Similarity of dates by their distance, from 0 to 1.

        Parameters
        ----------
        days : array of float
            Date of the entry minus date of the fact, in days.

        Returns
        -------
        array of float, or None
            One number for each distance; None if dates are not compared.
        """
        return None


@dataclass(frozen=True, slots=True)
class Within(Similarity):
    """1 if value and date are both within a threshold of the known ones, else 0  [section 5].

    Parameters
    ----------
    value : float, optional
        Largest distance of values; None: not compared.
    time : float, optional
        Largest distance of dates in days; None: not compared.

    Raises
    ------
    ParameterError
        If a threshold is not a finite number ≥ 0.

    Examples
    --------
    >>> Within(value=1, time=14).values(4, np.array([1.0, 3.0, 5.0]))
    array([0., 1., 1.])
    """

    value: float | None = 1
    time: float | None = 14

    def __post_init__(self) -> None:
        _check_scale("value", self.value, zero=True)
        _check_scale("time", self.time, zero=True)

    def values(self, known: Value, levels: Levels) -> Floats | None:
        """1 if a level is within the threshold of the known value, else 0."""
        return None if self.value is None else _at_most(_distances(known, levels), self.value)

    def times(self, days: Floats) -> Floats | None:
        """1 if a distance is within the threshold, else 0."""
        return None if self.time is None else _at_most(np.abs(days), self.time)


@dataclass(frozen=True, slots=True)
class Decay(Similarity):
    """e^(−|Δvalue| / value_scale) + e^(−|Δdays| / time_scale)  [section 5, ρ0 = 1.5 and d0 = 30].

    Each term is at most 1, so Sim is at most 2 if value and date are known. Where Sim must lie between 0
    and 1 (Algorithm 1A, record similarity) it is the mean of the terms.

    Parameters
    ----------
    value_scale : float, optional
        ρ0; None: values are not compared.
    time_scale : float, optional
        d0, in days; None: dates are not compared.

    Raises
    ------
    ParameterError
        If a scale is not a finite number > 0.

    Examples
    --------
    >>> Decay().values(4, np.array([4.0, 5.5])).round(3)
    array([1.   , 0.368])
    """

    value_scale: float | None = 1.5
    time_scale: float | None = 30
    adds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_scale("value_scale", self.value_scale)
        _check_scale("time_scale", self.time_scale)

    def values(self, known: Value, levels: Levels) -> Floats | None:
        """e^(−|Δvalue| / value_scale) for each level."""
        scale = self.value_scale
        return None if scale is None else _decayed(_distances(known, levels), scale)

    def times(self, days: Floats) -> Floats | None:
        """e^(−|Δdays| / time_scale) for each distance."""
        return None if self.time_scale is None else _decayed(np.abs(days), self.time_scale)


@dataclass(frozen=True, slots=True)
class Present(Similarity):
    """1 if the record has the item, with any value and date  [section 3].

    Examples
    --------
    >>> Present().values(4, np.array([4.0])) is None
    True
    """


@dataclass(frozen=True, slots=True)
class Equal(Similarity):
    """1 if the values are equal, else 0: for categories, or for exact numbers  [section 3].

    Examples
    --------
    >>> Equal().values("rented", ("bought", "rented"))
    array([0., 1.])
    """

    def values(self, known: Value, levels: Levels) -> Floats | None:
        """1 for the level that equals the known value, 0 for others."""
        return np.asarray(_distances(known, levels) == 0, np.float64)


@dataclass(frozen=True, slots=True)
class Custom(Similarity):
    """Your own function: Sim = function(known value, entry's value, days from the fact to the entry).

    An argument is None if it is not known or not in the release. The function is called for the known values,
    levels and distances before the attack begins, and its results are kept, so it must always return the
    same for the same arguments. If it works element by element on an array of days, or of values, it is
    called with arrays, which is faster. If value and date can be judged separately, a subclass of
    `Similarity` is tabulated faster still and has no limit of size.

    Parameters
    ----------
    function : callable
        Takes (known value, value, days) and returns a finite number ≥ 0.

    Examples
    --------
    >>> late = Custom(lambda known, value, days: float(known == value and 0 <= (days or 0) <= 30))
    >>> late.function(4, 4, 12)
    1.0
    """

    function: Callable[[Any, Any, Any], Any]
    results: FunctionValues = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        is_plain = type(self).__call__ is Custom.__call__  # otherwise a subclass has another function
        object.__setattr__(self, "results", FunctionValues(self.function if is_plain else self.__call__))

    def __call__(self, known: Value | None, value: Value | None, days: float | None) -> float:
        """Return the result of the function after a check."""
        source = "the similarity's function"
        number = call_user_code(lambda: self.function(known, value, days), source)
        return float(check_numbers([number], 1, source)[0])


def check_similarity(similarity: Any) -> Similarity:
    """Return `similarity` if it is one."""
    if not isinstance(similarity, Similarity):
        raise ParameterError(f"similarity must be a Similarity, got {type(similarity).__name__}")
    return similarity


def days_per_unit(release: Release) -> float:
    """Length of a unit of the release's clock, in days."""
    return 1.0 if release.clock is None else SECONDS[release.clock.unit] / SECONDS["day"]


def time_reach(similarity: Similarity) -> float | None:
    """Number of days beyond which Sim of times is 0, or in a decay below 1e-30; None if that is not known.

    >>> time_reach(Within(time=14)), time_reach(Decay(time_scale=30)), time_reach(Similarity()) is None
    (14, 2100, True)
    """
    if type(similarity) is Within:
        return similarity.time or 0
    if type(similarity) is Decay:
        return ENDED_SCALES * (similarity.time_scale or 0)
    return 0 if type(similarity) in (Present, Equal) else None


def _decayed(distances: Floats, scale: float) -> Floats:
    """e^(−distance / scale); 0 where the quotient exceeds all numbers."""
    with np.errstate(over="ignore"):
        return elementary.exp(-distances / scale)


def _at_most(distances: Floats, threshold: float) -> Floats:
    return np.asarray(distances <= threshold + ROUNDING, np.float64)


def _distances(known: Value, levels: Levels) -> Floats:
    """Distance of a value from each level. Two categories are equal (0) or infinitely far apart."""
    if isinstance(levels, tuple):
        return np.array([0.0 if level == known else math.inf for level in levels])
    if isinstance(known, str):
        raise ParameterError("the value of a fact must be a number, because the release's values are numbers")
    return np.abs(levels - float(known))


def _check_scale(name: str, scale: float | None, zero: bool = False) -> None:
    if scale is None:
        return
    fits = isinstance(scale, Real) and not isinstance(scale, bool) and math.isfinite(scale)
    if not fits or scale < 0 or (scale == 0 and not zero):
        raise ParameterError(f"{name} must be a finite number {'≥' if zero else '>'} 0, or None, got {scale!r}")
