"""Values of one data set on the scale of another."""

import math
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.release.model import Release

__all__ = ["Values", "aligned_values", "checked_values"]

Values = Literal["auto", "same", "quantiles", "none"] | tuple[float, float]
WAYS = ("auto", "same", "quantiles", "none")
CHUNK = 1 << 24


def checked_values(values: Any) -> Values:
    """How values are aligned, or an error."""
    if isinstance(values, str) and values in WAYS:
        return values  # type: ignore[return-value]
    pair = isinstance(values, (tuple, list)) and len(values) == 2
    if pair and all(isinstance(one, Real) and not isinstance(one, bool) for one in values):
        scale, shift = float(values[0]), float(values[1])
        if math.isfinite(scale) and math.isfinite(shift) and scale:
            return scale, shift
    raise ParameterError(f"values must be {', '.join(WAYS)} or (scale, shift), scale not 0, got {values!r}")


def aligned_values(release: Release, public: Release, item: Ints, values: Values) -> tuple[Floats, str]:
    """Each public level on the release's scale, NaN where it cannot be compared, and how in words.

    Between numbers it is a number within the release's range, which need not be one of its levels. Where both
    are categories it is the code of the same text.
    """
    nothing = np.full(public.n_levels, np.nan)
    if values == "none":
        return nothing, "Values are not compared."
    if not release.n_levels or not public.n_levels:
        side = "release" if not release.n_levels else "public data"
        if values in ("auto", "same"):
            return nothing, f"The {side} has no values: none are compared."
        raise ParameterError(f"values={values!r} cannot be: the {side} has no values")
    ours, theirs = release.levels, public.levels
    if isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        return _numbers(release, public, item, values, ours, theirs)
    if values not in ("auto", "same"):
        raise ParameterError(f"values={values!r} needs numbers on both sides: there are categories")
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        code = {text: float(at) for at, text in enumerate(ours)}
        found = np.array([code.get(text, np.nan) for text in theirs])
        known = np.count_nonzero(~np.isnan(found))
        return found, f"Values are categories: {known:,} of {len(theirs):,} are the release's, too."
    if values == "same":
        raise ParameterError("values='same' cannot be: numbers on one side, categories on the other")
    return nothing, "Values are numbers on one side, categories on the other: none are compared."


def _numbers(
    release: Release, public: Release, item: Ints, values: Values, ours: Floats, theirs: Floats
) -> tuple[Floats, str]:
    if values == "quantiles":
        return _matched(release, public, item), "Values are matched by their quantiles over the shared items."
    if isinstance(values, tuple):
        return _affine(ours, theirs, *values, "as declared")
    if values == "same" or _agree(ours, theirs):
        return _affine(ours, theirs, 1.0, 0.0, "they are on one scale")
    if len(ours) == 1 or len(theirs) == 1:
        return np.full(len(theirs), np.nan), "Values of one level say nothing: none are compared."
    scale = float((ours[-1] - ours[0]) / (theirs[-1] - theirs[0]))
    return _affine(ours, theirs, scale, float(ours[0] - scale * theirs[0]), "guessed from the ends in use")


def _agree(ours: Floats, theirs: Floats) -> bool:
    """Whether two scales are one: they end alike, and begin within a step of each other, as 0.5–5 and 1–5."""
    if len(theirs) == 1:
        return bool(ours[0] <= theirs[0] <= ours[-1])
    step = max(float(np.diff(levels).max(initial=0.0)) for levels in (ours, theirs))
    quarter = min(float(levels[-1] - levels[0]) for levels in (ours, theirs)) / 4.0
    return bool(ours[-1] == theirs[-1] and abs(ours[0] - theirs[0]) <= min(step, quarter))


def _affine(ours: Floats, theirs: Floats, scale: float, shift: float, why: str) -> tuple[Floats, str]:
    found = scale * theirs + shift
    value = np.clip(found, ours[0], ours[-1])
    off = np.count_nonzero(~np.isclose(found, value, rtol=0.0, atol=1e-9))
    if off == len(theirs):
        ends = f"{ours[0]:g} to {ours[-1]:g}"
        raise ParameterError(
            f"value · {scale:g} + {shift:g} puts every public value outside the release's {ends}"
        )
    how = f"Values become {scale:g} · value {'−' if shift < 0 else '+'} {abs(shift):g}"
    how = "Values are taken as they are" if (scale, shift) == (1.0, 0.0) else how
    outside = f"; {off:,} of {len(theirs):,} levels lie outside the release's and count as its ends"
    return value, f"{how}: {why}{outside if off else ''}."


def _matched(release: Release, public: Release, item: Ints) -> Floats:
    """The level of the release with as large a share of values below it, over the items that both have.

    Of a level's own share one half counts as below. Between levels it is interpolated.
    """
    shared = np.zeros(release.n_items, np.bool_)
    shared[item[item >= 0]] = True
    ours, theirs = _counts(release, shared), _counts(public, item >= 0)
    if not ours.sum() or not theirs.sum():
        raise ParameterError("values='quantiles' cannot be: one side has no values of the shared items")
    levels = release.levels
    assert isinstance(levels, np.ndarray)
    used = ours > 0
    return np.asarray(np.interp(_below(theirs), _below(ours)[used], levels[used]))


def _counts(release: Release, keep: NDArray[np.bool_]) -> Ints:
    """How many entries of these items have each level."""
    side, found = release.check().by_record, np.zeros(release.n_levels + 1, np.int64)
    if side.value is not None:
        for low in range(0, len(side.item), CHUNK):
            here = slice(low, low + CHUNK)
            found += np.bincount(side.value[here][keep[side.item[here]]], minlength=len(found))
    return found[:-1]


def _below(counts: Ints) -> Floats:
    return np.asarray((np.cumsum(counts) - counts / 2.0) / counts.sum())
