"""Public values on the scale of the release."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError
from standout.linking import sentences
from standout.release.model import Release

__all__ = ["AlignedValues", "Values", "align_values", "check_values"]

Method = Literal["auto", "same", "quantiles", "none"]
Values = Method | tuple[float, float]
METHODS = ("auto", "same", "quantiles", "none")
CHUNK = 1 << 24


@dataclass(frozen=True, eq=False)
class AlignedValues:
    """Each public level on the release's scale, NaN where it cannot be compared, and a sentence about it."""

    value: Floats
    explanation: str


def check_values(values: Any) -> Values:
    """Return how values are aligned, or raise a ParameterError."""
    if isinstance(values, str) and values in METHODS:
        return values  # type: ignore[return-value]
    is_pair = isinstance(values, (tuple, list)) and len(values) == 2
    if is_pair and all(isinstance(number, Real) and not isinstance(number, bool) for number in values):
        scale, shift = float(values[0]), float(values[1])
        if math.isfinite(scale) and math.isfinite(shift) and scale:
            return scale, shift
    raise ParameterError(
        f"values must be {', '.join(METHODS)} or (scale, shift) with a scale other than 0, got {values!r}"
    )


def align_values(release: Release, public: Release, item: Ints, values: Values) -> AlignedValues:
    """Return each public level on the release's scale.

    Numbers become numbers within the release's range, which need not be one of its levels. Categories become
    the code of the same text.
    """
    not_compared = np.full(public.n_levels, np.nan)
    if values == "none":
        return AlignedValues(not_compared, sentences.VALUES_NOT_COMPARED)
    if not release.n_levels or not public.n_levels:
        side = "release" if not release.n_levels else "public data"
        if values in ("auto", "same"):
            return AlignedValues(not_compared, sentences.side_without_values(side))
        raise ParameterError(f"values={values!r} is not possible: the {side} has no values")
    ours, theirs = release.levels, public.levels
    if isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        return _align_numbers(release, public, item, values)
    if values not in ("auto", "same"):
        raise ParameterError(f"values={values!r} needs numbers in both data sets, but one has categories")
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        code = {text: float(index) for index, text in enumerate(ours)}
        codes = np.array([code.get(text, np.nan) for text in theirs])
        known = int(np.count_nonzero(~np.isnan(codes)))
        return AlignedValues(codes, sentences.shared_categories(known, len(theirs)))
    if values == "same":
        raise ParameterError("values='same' is not possible: one data set has numbers, the other categories")
    return AlignedValues(not_compared, sentences.NUMBERS_AND_CATEGORIES)


def _align_numbers(release: Release, public: Release, item: Ints, values: Values) -> AlignedValues:
    ours, theirs = np.asarray(release.levels), np.asarray(public.levels)
    if values == "quantiles":
        return AlignedValues(_match_quantiles(release, public, item), sentences.VALUES_BY_QUANTILES)
    if isinstance(values, tuple):
        return _rescale(ours, theirs, *values, "as specified")
    if values == "same" or _same_scale(ours, theirs):
        return _rescale(ours, theirs, 1.0, 0.0, "both data sets use one scale")
    if len(ours) == 1 or len(theirs) == 1:
        return AlignedValues(np.full(len(theirs), np.nan), sentences.SINGLE_LEVEL)
    scale = float((ours[-1] - ours[0]) / (theirs[-1] - theirs[0]))
    shift = float(ours[0] - scale * theirs[0])
    return _rescale(ours, theirs, scale, shift, "guessed from the lowest and highest values in use")


def _same_scale(ours: Floats, theirs: Floats) -> bool:
    """Whether two scales are the same: equal highest levels, and lowest levels within a step (0.5–5, 1–5)."""
    if len(theirs) == 1:
        return bool(ours[0] <= theirs[0] <= ours[-1])
    step = max(float(np.diff(levels).max(initial=0.0)) for levels in (ours, theirs))
    quarter = min(float(levels[-1] - levels[0]) for levels in (ours, theirs)) / 4.0
    return bool(ours[-1] == theirs[-1] and abs(ours[0] - theirs[0]) <= min(step, quarter))


def _rescale(ours: Floats, theirs: Floats, scale: float, shift: float, reason: str) -> AlignedValues:
    """Each value as scale · value + shift, clipped to the release's range."""
    rescaled = scale * theirs + shift
    value = np.clip(rescaled, ours[0], ours[-1])
    outside = int(np.count_nonzero(~np.isclose(rescaled, value, rtol=0.0, atol=1e-9)))
    if outside == len(theirs):
        raise ParameterError(
            f"values=({scale:g}, {shift:g}) puts every public value outside the release's range, "
            f"{ours[0]:g} to {ours[-1]:g}: choose another scale and shift"
        )
    return AlignedValues(value, sentences.rescaled_values(scale, shift, reason, outside, len(theirs)))


def _match_quantiles(release: Release, public: Release, item: Ints) -> Floats:
    """The level of the release with the same share of values below it, over the shared items.

    Half of a level's own share counts as below. Between levels the result is interpolated.
    """
    shared = np.zeros(release.n_items, np.bool_)
    shared[item[item >= 0]] = True
    ours, theirs = _level_counts(release, shared), _level_counts(public, item >= 0)
    if not ours.sum() or not theirs.sum():
        raise ParameterError(
            "values='quantiles' is not possible: one data set has no values for the shared items"
        )
    used = ours > 0
    return np.asarray(
        np.interp(_share_below(theirs), _share_below(ours)[used], np.asarray(release.levels)[used])
    )


def _level_counts(release: Release, items: Bools) -> Ints:
    """How many entries of these items have each level."""
    side, counts = release.check().by_record, np.zeros(release.n_levels + 1, np.int64)
    if side.value is not None:
        for low in range(0, len(side.item), CHUNK):
            chunk = slice(low, low + CHUNK)
            counts += np.bincount(side.value[chunk][items[side.item[chunk]]], minlength=len(counts))
    return counts[:-1]


def _share_below(counts: Ints) -> Floats:
    return np.asarray((np.cumsum(counts) - counts / 2.0) / counts.sum())
