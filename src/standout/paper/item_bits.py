"""Bits that one known item gives away about a person  [Figure 10]."""

from typing import NamedTuple

import numpy as np

from standout.core import elementary
from standout.core.arrays import Bools, Floats
from standout.release.model import Levels, Release
from standout.similarity.attributes import ROUNDING, days_per_unit
from standout.synthetic.marginals import date_bits, item_levels, near_bits

__all__ = ["ItemBits", "bits_by_rank"]


class ItemBits(NamedTuple):
    """Bits that one item gives away about a person who has it, by popularity rank, most popular first."""

    alone: Floats
    with_value: Floats
    with_time: Floats


def bits_by_rank(release: Release, value: float = 1, time: float = 14) -> ItemBits:
    """Bits of each item: −log2 of the share of people who have it  [Figure 10].

    `with_value` adds −log2 of the share of the item's other entries whose values are within `value`,
    `with_time` that of the entries whose times are within `time` days. Both are means over the people who
    have the item.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=50, entries=9_000, seed=7)
    >>> bits = bits_by_rank(release)
    >>> [round(float(column[0]), 2) for column in bits]
    [0.09, 0.64, 5.29]
    """
    order = np.argsort(release.check().rank, kind="stable")
    alone = elementary.log2(release.n_records / release.support[order])
    with_value, with_time = alone, alone
    if release.levels is not None:
        with_value = alone + near_bits(item_levels(release)[order], _near_levels(release.levels, value))
    if release.span:
        reach = int(min(time / days_per_unit(release) + ROUNDING, release.span))
        with_time = alone + date_bits(release, order, reach)
    return ItemBits(alone, with_value, with_time)


def _near_levels(levels: Levels, value: float) -> Bools:
    """Which pairs of levels are within `value` of each other; categories only if they are equal."""
    if not isinstance(levels, np.ndarray):
        return np.eye(len(levels), dtype=np.bool_)
    return np.asarray(np.abs(levels[:, None] - levels) <= value + ROUNDING)
