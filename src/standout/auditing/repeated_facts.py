"""Facts about an item that a person has several times, compared with all entries of the item.

Which entry a fact was drawn from is not known. The comparison assigns as many facts as possible to different
entries that they fit, and calls the others wrong. A wrong fact may fit another entry of the item by chance.
Then fewer facts than stated seem wrong. The comparison says how likely that is.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from standout.adversary import Adversary
from standout.core.arrays import Bools, Ints
from standout.facts import KnownFacts
from standout.release.clock import SECONDS
from standout.release.model import Release

__all__ = ["RepeatedFacts", "compare_repeated"]

ROUNDING = 1e-9


class _Part(NamedTuple):
    """The values, or the dates, of some facts (rows) and of all entries of their item (columns).

    fits            whether a fact is within the stated error of an entry, or neither has the part
    exact           for each fact: whether an entry has exactly this value or date
    could_be_wrong  whether every entry leaves room for a wrong one
    exact_chance    highest probability that a right fact is exact for some entry; NaN if it is not known
    lucky_chance    highest probability that a wrong fact is right about another entry
    """

    fits: Bools
    exact: Bools
    could_be_wrong: bool = False
    exact_chance: float = math.nan
    lucky_chance: float = 1.0


class RepeatedFacts(NamedTuple):
    """What facts about one item look like beside the entries of the item; arrays are by fact.

    outside         whether no entry is left that the fact fits
    could_be_wrong  whether facts about the item can be wrong
    exact           for value and date: whether an entry has exactly this one
    chance          for value and date: highest probability of that if the fact seems right; NaN: not known
    lucky_chance    the highest probability that a wrong fact seems right
    """

    outside: Bools
    could_be_wrong: bool
    exact: tuple[Bools, Bools]
    chance: tuple[float, float]
    lucky_chance: float


def compare_repeated(
    original: Release, adversary: Adversary, known: KnownFacts, facts: Ints, entries: Ints
) -> RepeatedFacts:
    """Compare the facts about one item with the person's entries of it.

    Parameters
    ----------
    original
        The data set that the facts are about.
    adversary
        Who knows the facts.
    known, facts
        All facts, and the numbers of those about the item.
    entries
        Positions of the person's entries of the item in `original.by_record`.
    """
    value = _values(original, adversary, known, facts, entries)
    time = _times(original, adversary, known, facts, entries)
    match = maximum_bipartite_matching(csr_array(value.fits & time.fits), perm_type="column")
    lucky = min(value.lucky_chance, time.lucky_chance) if len(entries) > 1 else 0.0
    wrong = adversary.wrong / adversary.knows if adversary.wrong_facts == "values" else 0.0
    by_luck = wrong * lucky / (1.0 - wrong) if wrong < 1 else 1.0
    chance = [min(1.0, part.exact_chance + by_luck) if part.exact_chance <= 1 else math.nan
              for part in (value, time)]  # fmt: skip
    return RepeatedFacts(
        outside=match < 0,
        could_be_wrong=value.could_be_wrong or time.could_be_wrong,
        exact=(value.exact, time.exact),
        chance=(chance[0], chance[1]),
        lucky_chance=lucky,
    )


def _values(original: Release, adversary: Adversary, known: KnownFacts, facts: Ints, entries: Ints) -> _Part:
    code, error, levels = original.by_record.value, adversary.value_error, original.levels
    if code is None or levels is None or error is None:
        return _unknown(known.value[facts] >= 0, np.zeros(len(entries), np.bool_))
    own = code[entries].astype(np.int64)
    has, is_told = own < original.n_levels, known.value[facts] >= 0
    if isinstance(levels, tuple):
        names = np.array([*levels, None], object)
        told_names = np.array([*known.values, None], object)[known.value[facts]]
        near = told_names[:, None] == names[own]
        low, high = np.unique(own[has]), np.unique(own[has]) + 1
    else:
        numbers = np.append(levels, np.nan)
        told = np.append(np.array(known.values, np.float64), np.nan)[known.value[facts]]
        near = np.abs(told[:, None] - numbers[own]) <= error + ROUNDING
        held = levels[np.unique(own[has])]
        low = np.searchsorted(levels, held - error - ROUNDING)
        high = np.searchsorted(levels, held + error + ROUNDING, "right")
        told_names, names = told, numbers
    exact = (told_names[:, None] == names[own]).any(axis=1)
    return _part(near, exact, is_told, has, _Windows(np.unique(own[has]), low, high, original.n_levels))


def _times(original: Release, adversary: Adversary, known: KnownFacts, facts: Ints, entries: Ints) -> _Part:
    code, error, clock = original.by_record.time, adversary.time_error, original.clock
    if code is None or clock is None or error is None:
        return _unknown(known.timed[facts], np.zeros(len(entries), np.bool_))
    own, told, is_told = code[entries].astype(np.int64), known.time[facts], known.timed[facts]
    has = own < original.span
    reach = math.floor(error * (SECONDS["day"] // SECONDS[clock.unit]) + ROUNDING)
    near = np.abs(told[:, None] - own) <= reach
    exact = ((told[:, None] == own) & has).any(axis=1)
    held = np.unique(own[has])
    windows = _Windows(held, held - reach, held + reach + 1, original.span)
    return _part(near, exact, is_told, has, windows)


class _Windows(NamedTuple):
    """Codes within the error of each held code, from low up to high; valid codes are from 0 up to n_codes."""

    held: Ints
    low: Ints
    high: Ints
    n_codes: int

    def chances(self) -> tuple[bool, float, float]:
        """(whether all leave room for a wrong code, chance of an exact code, chance of a lucky wrong one)."""
        if not len(self.held):
            return False, math.nan, 1.0
        low, high = np.maximum(self.low, 0), np.minimum(self.high, self.n_codes)
        size = high - low
        n_held = np.searchsorted(self.held, self.high) - np.searchsorted(self.held, self.low)
        could_be_wrong = bool((size < self.n_codes).all())
        possible = self.high - self.low if could_be_wrong else np.minimum(self.high - self.low, self.n_codes)
        past = np.maximum.accumulate(high)
        covered = int(size[0] + np.maximum(high[1:] - np.maximum(low[1:], past[:-1]), 0).sum())
        smallest = int(size.min())
        lucky = (covered - smallest) / (self.n_codes - smallest) if could_be_wrong else 1.0
        return could_be_wrong, float((n_held / possible).max()), lucky


def _part(near: Bools, exact: Bools, is_told: Bools, has: Bools, windows: _Windows) -> _Part:
    could_be_wrong, exact_chance, lucky_chance = windows.chances()
    fits = _same(is_told, has) & (near | ~has)
    if not is_told.any():
        exact_chance = math.nan
    return _Part(fits, exact & is_told, could_be_wrong, exact_chance, lucky_chance)


def _unknown(is_told: Bools, has: Bools) -> _Part:
    """Values or dates that the adversary does not know."""
    return _Part(_same(is_told, has), np.zeros(len(is_told), np.bool_))


def _same(is_told: Bools, has: Bools) -> NDArray[np.bool_]:
    return np.asarray(is_told[:, None] == has)
