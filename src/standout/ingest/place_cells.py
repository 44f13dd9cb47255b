"""Resolutions of places: squares of a grid in degrees, or geohashes of some length.

A place is an item. A square of a grid is named by its south-west corner, such as `37.75,-122.40`. Degrees are
whole numbers of 10⁻¹⁵ inside Standout, so that no rounding moves a point into another square.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError

__all__ = ["LETTERS", "MOST_LETTERS", "UNIT", "Geohash", "Grid", "PlaceCells", "places_of"]

UNIT = 15
"""Degrees are whole numbers of 10⁻¹⁵."""
SMALLEST, LARGEST, MOST_DIGITS = Decimal("0.0000001"), Decimal(90), 9
MOST_LETTERS = 12
LETTERS = "0123456789bcdefghjkmnpqrstuvwxyz"
ROW = 1 << 40
"""More squares than a row of a grid has."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Squares whose sides are multiples of `step` degrees.

    >>> Grid("0.010"), Grid(0.25).digits
    (Grid(step='0.01'), 2)
    >>> Grid(0.01).nests_in(Grid(0.1)), Grid(0.02).nests_in(Grid(0.05))
    (True, False)
    """

    step: str
    digits: int = field(init=False, repr=False)
    units: int = field(init=False, repr=False)

    def __init__(self, step: Any) -> None:
        try:
            number = Decimal("nan") if isinstance(step, bool) else Decimal(str(step).strip())
        except InvalidOperation:
            number = Decimal("nan")
        if not number.is_finite() or not SMALLEST <= number <= LARGEST:
            raise ParameterError(f"grid must be from {SMALLEST:f} to {LARGEST} degrees, got {step!r}")
        text = f"{number:f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        digits = len(text.partition(".")[2])
        if digits > MOST_DIGITS:
            raise ParameterError(f"grid must have at most {MOST_DIGITS} decimal places, got {step!r}")
        object.__setattr__(self, "step", text)
        object.__setattr__(self, "digits", digits)
        object.__setattr__(self, "units", int(number.scaleb(UNIT)))

    def nests_in(self, coarser: "PlaceCells") -> bool:
        """Whether each square lies within one square of the other grid."""
        return isinstance(coarser, Grid) and coarser.units % self.units == 0

    def cell_numbers(self, ids: Iterable[str], coarser: "PlaceCells") -> NDArray[np.int64]:
        """Number of the square of a coarser grid that each square of this grid lies in.

        Numbers ascend with latitude, then longitude. See `nests_in`.
        """
        corners = self.corners(ids)
        assert isinstance(coarser, Grid)
        return np.asarray(corners[:, 0] // coarser.units * ROW + corners[:, 1] // coarser.units)

    def corners(self, ids: Iterable[str]) -> NDArray[np.int64]:
        """Latitude and longitude of the south-west corner of each square, in whole units."""
        scale = 10 ** (UNIT - self.digits)
        pairs = [[int(part.replace(".", "")) for part in name.split(",")] for name in ids]
        return np.asarray(np.array(pairs, np.int64).reshape(-1, 2) * scale)

    def centres(self, ids: Iterable[str]) -> NDArray[np.float64]:
        """Latitude and longitude of the centre of each square, in degrees."""
        return np.asarray((self.corners(ids) + self.units / 2) / 10**UNIT)

    def settings(self) -> dict[str, str]:
        """Return the resolution for the provenance."""
        return {"grid": self.step}

    def __str__(self) -> str:
        return f"{self.step}°"


@dataclass(frozen=True, slots=True)
class Geohash:
    """Geohashes of some number of letters.

    >>> Geohash(6).nests_in(Geohash(5)), str(Geohash(6))
    (True, 'geohash 6')
    """

    letters: int

    def __init__(self, letters: Any) -> None:
        text = str(letters).strip()
        if not text.isdecimal() or len(text) > 2 or not 1 <= int(text) <= MOST_LETTERS:
            raise ParameterError(
                f"geohash must be a number of letters from 1 to {MOST_LETTERS}, got {letters!r:.100}"
            )
        object.__setattr__(self, "letters", int(text))

    def nests_in(self, coarser: "PlaceCells") -> bool:
        """Whether each cell lies within one cell of the other."""
        return isinstance(coarser, Geohash) and coarser.letters <= self.letters

    def cell_numbers(self, ids: Iterable[str], coarser: "PlaceCells") -> NDArray[np.int64]:
        """Number of the coarser geohash that each geohash lies in; numbers ascend with the text."""
        assert isinstance(coarser, Geohash)
        return np.array([_bits(name[: coarser.letters]) for name in ids], np.int64)

    def centres(self, ids: Iterable[str]) -> NDArray[np.float64]:
        """Latitude and longitude of the centre of each cell, in degrees."""
        bits = 5 * self.letters
        wide, high = (bits + 1) // 2, bits // 2
        codes = [_bits(name) for name in ids]
        out = np.empty((len(codes), 2))
        for row, code in enumerate(codes):
            text = f"{code:0{bits}b}"
            north, east = int(text[1::2] or "0", 2), int(text[::2], 2)
            out[row] = (north + 0.5) * 180 / 2**high - 90, (east + 0.5) * 360 / 2**wide - 180
        return out

    def settings(self) -> dict[str, str]:
        """Return the resolution for the provenance."""
        return {"geohash": str(self.letters)}

    def __str__(self) -> str:
        return f"geohash {self.letters}"


PlaceCells = Grid | Geohash


def places_of(settings: Mapping[str, str]) -> PlaceCells | None:
    """Resolution of the places of a release, from the settings of its provenance; None without places."""
    if "grid" in settings:
        return Grid(settings["grid"])
    return Geohash(settings["geohash"]) if "geohash" in settings else None


def _bits(name: str) -> int:
    code = 0
    for letter in name:
        code = code * 32 + LETTERS.index(letter)
    return code
