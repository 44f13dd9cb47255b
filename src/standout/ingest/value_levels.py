"""Turn values from text into levels: numbers in ascending order, or categories in alphabetical order."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError, SourceError
from standout.data.release import Levels
from standout.ingest.rejects import Reason

ValueType = Literal["auto", "number", "text"]
MOST_LEVELS = 65_536
MOST_TEXTS = 16 * MOST_LEVELS
MOST_EXACT = 2.0**53
LARGEST = 1e100
"""Largest number of a value column: the squares of differences of larger ones may exceed a 64-bit number."""
WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
COMMA = re.compile(r"[+-]?\d*,\d+", re.ASCII)
"""A number with a decimal comma, or one such as 1,234."""
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LevelMap:
    """The levels, the level of each text, and why a text has none (0: it has one)."""

    levels: Levels
    level: NDArray[np.uint32]
    status: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class ValueReader:
    """Decides whether a value column has numbers or categories, and finds its levels.

    >>> ValueReader().levels(["4", "0.5", "4.0"]).level.tolist()
    [1, 0, 1]
    >>> ValueReader(bin_width=10).levels(["37", "-3"]).levels.tolist()
    [-10.0, 30.0]
    """

    kind: ValueType = "auto"
    bin_width: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(ValueType):
            raise ParameterError(f"value_type must be auto, number or text, got {self.kind!r}")
        width = self.bin_width
        if width is not None and not (width > 0 and math.isfinite(width)):
            raise ParameterError(f"value_bin must be a number above 0, got {width!r}")
        if width is not None and self.kind == "text":
            raise ParameterError("value_bin must not be set if value_type is text: only numbers can be binned")

    def check(self, distinct: int) -> None:
        """Stop early if a column has far too many distinct values."""
        if distinct > MOST_TEXTS and self.bin_width is None:
            raise _too_many(distinct)

    def levels(self, texts: Iterable[str]) -> LevelMap:
        """Find the levels of a column from its distinct texts.

        In a column of numbers, a blank text means no value, and spaces around a number are ignored. Decimal
        commas are read as such if no number has a point and at least one is not like 1,234.
        """
        cells = list(texts)
        points = _with_points(cells) if self.kind != "text" else cells
        numbers = np.array([_number(cell.strip()) for cell in points], np.float64)
        filled = np.array([bool(cell.strip()) for cell in cells], bool)
        no_numbers = filled.any() and np.isnan(numbers[filled]).all()
        if self.kind == "text" or (self.kind == "auto" and self.bin_width is None and no_numbers):
            return _categories(cells)
        return self._numbers(cells, numbers, filled)

    def _numbers(self, cells: list[str], numbers: NDArray[np.float64], filled: NDArray[np.bool_]) -> LevelMap:
        status = np.zeros(len(numbers), np.uint8)
        status[filled & np.isnan(numbers)] = Reason.NOT_A_NUMBER
        status[np.isinf(numbers)] = Reason.NOT_FINITE
        for i in np.flatnonzero(np.isfinite(numbers) & (np.abs(numbers) >= MOST_EXACT)):
            if WHOLE.fullmatch(cells[i].strip()) and int(cells[i]) != int(numbers[i]):
                status[i] = Reason.TOO_MANY_DIGITS
        good = filled & (status == 0)
        if self.bin_width is not None:
            numbers[good] = [_round_down(number, self.bin_width) for number in numbers[good].tolist()]
            status[good & np.isinf(numbers)] = Reason.NOT_FINITE
            good &= status == 0
        status[good & (np.abs(numbers) > LARGEST)] = Reason.TOO_LARGE
        good &= status == 0
        levels, codes = np.unique(numbers[good] + 0.0, return_inverse=True)  # + 0.0: no negative zero
        if len(levels) > MOST_LEVELS:
            raise _too_many(len(levels), self.bin_width)
        level = np.full(len(numbers), len(levels), np.uint32)
        level[good] = codes
        return LevelMap(levels, level, status)


def _with_points(cells: list[str]) -> list[str]:
    """The cells with decimal points, if they have decimal commas."""
    stripped = [cell.strip() for cell in cells]
    commas = [COMMA.fullmatch(cell) is not None for cell in stripped]
    clear = any(comma and not THOUSANDS.fullmatch(cell) for cell, comma in zip(stripped, commas, strict=True))
    if not clear or any("." in cell and NUMBER.fullmatch(cell) for cell in stripped):
        return cells
    return [cell.replace(",", ".") if comma else cell for cell, comma in zip(cells, commas, strict=True)]


def _number(cell: str) -> float:
    """Number in a cell; infinity if it is not finite, NaN if it is not a number."""
    return float(cell) if NUMBER.fullmatch(cell) else math.inf if NOT_FINITE.fullmatch(cell) else math.nan


def _round_down(number: float, width: float) -> float:
    """Round down to a multiple of the width, in decimal arithmetic: 0.3 is three times 0.1."""
    step = Fraction(repr(width))
    try:
        return float(Fraction(repr(number)) // step * step)
    except OverflowError:
        return math.inf


def _categories(cells: list[str]) -> LevelMap:
    levels = sorted(set(cells) - {""})
    if len(levels) > MOST_LEVELS:
        raise _too_many(len(levels))
    codes = {cell: i for i, cell in enumerate(levels)}
    level = np.array([codes.get(cell, len(levels)) for cell in cells], np.uint32)
    return LevelMap(tuple(levels), level, np.zeros(len(cells), np.uint8))


def _too_many(distinct: int, bin_width: float | None = None) -> SourceError:
    bins = "bin numbers with value_bin=…" if bin_width is None else f"use wider bins than {bin_width:g}"
    return SourceError(
        f"the value column has {distinct:,} distinct values; the maximum is {MOST_LEVELS:,}: "
        f"{bins}, or ignore the column with value=False"
    )
