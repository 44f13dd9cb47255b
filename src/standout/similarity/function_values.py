"""What a user's function of (known value, value, days) returns, with as few calls as possible.

A simulation tabulates the function for every batch of targets, and the batches ask for nearly the same
numbers. So results are kept, in blocks of distances. A block is filled by one call with an array where the
function takes one: its results are compared with a few calls with single numbers, and a function that
fails or disagrees is called with single numbers only.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError, StandoutError

__all__ = ["FunctionValues", "call_user_code", "check_numbers"]

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
        return (
            np.where(np.isfinite(numbers) & (numbers >= 0), numbers, np.nan) if self.takes_arrays else nothing
        )

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
