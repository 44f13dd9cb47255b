"""Resolutions of places: squares of a grid in degrees, or geohashes of some length.

A place is an item. A square of a grid is named by its south-west corner, such as `37.75,-122.40`. Degrees are
whole numbers of 10⁻¹⁵ inside Standout, so that no rounding moves a point into another square.
"""

from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from standout.core.errors import ParameterError

__all__ = ["MOST_LETTERS", "UNIT", "Geohash", "Grid", "PlaceCells"]

UNIT = 15
"""Degrees are whole numbers of 10⁻¹⁵."""
SMALLEST, LARGEST, MOST_DIGITS = Decimal("0.0000001"), Decimal(90), 9
MOST_LETTERS = 12


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
        if not text.isdecimal() or not 1 <= int(text) <= MOST_LETTERS:
            raise ParameterError(
                f"geohash must be a number of letters from 1 to {MOST_LETTERS}, got {letters!r}"
            )
        object.__setattr__(self, "letters", int(text))

    def nests_in(self, coarser: "PlaceCells") -> bool:
        """Whether each cell lies within one cell of the other."""
        return isinstance(coarser, Geohash) and coarser.letters <= self.letters

    def settings(self) -> dict[str, str]:
        """Return the resolution for the provenance."""
        return {"geohash": str(self.letters)}

    def __str__(self) -> str:
        return f"geohash {self.letters}"


PlaceCells = Grid | Geohash
