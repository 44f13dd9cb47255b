"""Turn latitude and longitude into the id of a place: a square of a grid, or a geohash.

A square is named by its south-west corner, such as `37.75,-122.40`. Numbers are read exactly, as whole multiples of
10⁻¹⁵ degrees, and rounded down: −0.005 is in the square of −0.01. Longitude 180 is the meridian −180, and the poles are
in the last row of squares.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.errors import ColumnError, ParameterError
from standout.core.jit import Array, Int, inline, kernel
from standout.ingest.report import Reason

UNIT = 15
"""Degrees are whole numbers of 10⁻¹⁵."""
SMALLEST, LARGEST, MOST_DIGITS = Decimal("0.0000001"), Decimal(90), 9
MOST_LETTERS = 12
LETTERS = "0123456789bcdefghjkmnpqrstuvwxyz"
ROW = 1 << 33
"""More squares than a row of the finest grid has (3.6e9), and few enough that all 1.8e9 rows fit into 64 bits."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Squares whose sides are multiples of `step` degrees."""

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
        """Number of the square of a coarser grid that each square of this grid lies in."""
        return coarser.numbers(*self.corners(ids).T)

    def corners(self, ids: Iterable[str]) -> NDArray[np.int64]:
        """Latitude and longitude of the south-west corner of each square, in whole units."""
        scale = 10 ** (UNIT - self.digits)
        pairs = [[int(part.replace(".", "")) for part in name.split(",")] for name in ids]
        return np.asarray(np.array(pairs, np.int64).reshape(-1, 2) * scale)

    def centres(self, ids: Iterable[str]) -> NDArray[np.float64]:
        """Latitude and longitude of the centre of each square, in degrees."""
        return np.asarray((self.corners(ids) + self.units / 2) / 10**UNIT)

    def numbers(self, north: Ints, east: Ints) -> Ints:
        """Number of the square of each place; the poles are in the last row of squares."""
        row = np.minimum(north // self.units, -(-LATITUDES // self.units) - 1)
        return np.asarray(row * ROW + east // self.units + ROW // 2)

    def names(self, numbers: Ints) -> Iterator[str]:
        """The id of each numbered square."""
        row, column = np.divmod(numbers, ROW)
        corners = (part * self.units / DEGREE for part in (row, column - ROW // 2))  # exact to many more digits
        for corner in zip(*(part.tolist() for part in corners), strict=True):
            yield ",".join(f"{part:.{self.digits}f}" for part in corner)

    def settings(self) -> dict[str, str]:
        """Return the resolution for the provenance."""
        return {"grid": self.step}

    def __str__(self) -> str:
        return f"{self.step}°"


@dataclass(frozen=True, slots=True)
class Geohash:
    """Geohashes of some number of letters."""

    letters: int

    def __init__(self, letters: Any) -> None:
        text = str(letters).strip()
        if not text.isdecimal() or len(text) > 2 or not 1 <= int(text) <= MOST_LETTERS:
            raise ParameterError(f"geohash must be a number of letters from 1 to {MOST_LETTERS}, got {letters!r:.100}")
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
        codes = np.array([_bits(name) for name in ids], np.int64)
        bits = codes[:, None] >> np.arange(5 * self.letters)[::-1] & 1  # of east and north in turn
        centres = []
        for part, degrees in ((bits[:, 1::2], 180), (bits[:, ::2], 360)):
            width = part.shape[1]
            number = part @ (1 << np.arange(width)[::-1])
            centres.append((number + 0.5) * degrees / 2**width - degrees / 2)
        return np.column_stack(centres)

    def numbers(self, north: Ints, east: Ints) -> Ints:
        """Number of the geohash of each place: bits of east and north in turn."""
        numbers, halves = np.zeros(len(north), np.int64), [LONGITUDES, LATITUDES]
        parts = [east + LONGITUDES, np.minimum(north + LATITUDES, 2 * LATITUDES - 1)]
        for bit in range(5 * self.letters):
            part, half = parts[bit % 2], halves[bit % 2]
            upper = part >= half
            part -= half * upper
            part *= 2
            numbers = 2 * numbers + upper
        return numbers

    def names(self, numbers: Ints) -> Iterator[str]:
        """The id of each numbered geohash."""
        places = 5 * np.arange(self.letters)[::-1]
        return map(bytes.decode, LETTER_BYTES[numbers[:, None] >> places & 31].view(f"S{self.letters}")[:, 0].tolist())

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


DEGREE = 10**UNIT
LATITUDES, LONGITUDES = 90 * DEGREE, 180 * DEGREE
FULL = 9 * 10**16  # one more digit still fits, and then one more power of ten below the limit
MOST_EXPONENT = 9_999
NO_COORDINATE, NOT_A_COORDINATE = Reason.NO_COORDINATE, Reason.NOT_A_COORDINATE
OUT_OF_RANGE = Reason.COORDINATE_OUT_OF_RANGE
ZERO, NINE, DASH, DOT, PLUS, SPACE = 48, 57, 45, 46, 43, 32
UPPER_E, LOWER_E = 69, 101
LETTER_BYTES = np.frombuffer(LETTERS.encode(), np.uint8)


class PlaceReader:
    """Reads the two columns of a source, batch by batch."""

    def __init__(self, cells: PlaceCells) -> None:
        self.cells = cells
        self.checked = False

    def read(
        self, latitude: tuple[Array, Array, Array], longitude: tuple[Array, Array, Array], status: NDArray[np.uint8]
    ) -> NDArray[np.int64]:
        """Return the number of each row's cell; set the status of rows without a place."""
        degrees, bad = np.zeros((2, len(status)), np.int64), np.zeros((2, len(status)), np.uint8)
        for k, (column, limit) in enumerate(((latitude, LATITUDES), (longitude, LONGITUDES))):
            _read_degrees(*column, status, limit, degrees[k], bad[k])
        north, east = degrees
        is_beyond = (bad[0] == OUT_OF_RANGE) & (bad[1] == 0) & (north != 0)
        beyond = int((is_beyond & (np.abs(north) <= LONGITUDES) & (np.abs(east) <= LATITUDES)).sum())
        usable = int(((status == 0) & ~bad.any(axis=0)).sum())
        if not self.checked and usable + beyond:
            self.checked = True
            if beyond > usable:  # most rows of the first batch make sense only with the columns swapped
                raise ColumnError(
                    "latitude and longitude look swapped: most latitudes are beyond ±90; exchange the columns"
                )
        np.copyto(status, np.where(bad[0], bad[0], bad[1]), where=status == 0)
        return self.cells.numbers(north, np.where(east == LONGITUDES, -LONGITUDES, east))


@inline
def _degrees(buffer: Array, start: Int, end: Int, limit: Int) -> tuple[Int, Int]:
    """Whole units of a number such as -1.5 or 1e-5, rounded down, and the reason why it is no coordinate (0: it is)."""
    while start < end and buffer[start] == SPACE:
        start += 1
    while end > start and buffer[end - 1] == SPACE:
        end -= 1
    if start == end:
        return np.int64(0), np.int64(NO_COORDINATE)
    negative = buffer[start] == DASH
    at = start + (negative or buffer[start] == PLUS)
    number, shift, digits = np.int64(0), np.int64(UNIT), 0  # number · 10^shift whole units
    point, rest = False, False
    while at < end and (ZERO <= buffer[at] <= NINE or (buffer[at] == DOT and not point)):
        if buffer[at] == DOT:
            point = True
        else:
            digits += 1
            if number < FULL:
                number = number * 10 + (np.int64(buffer[at]) - ZERO)
                shift -= point
            else:  # more digits than matter
                rest = rest or buffer[at] != ZERO
                shift += not point
        at += 1
    if digits > 0 and at < end and (buffer[at] == UPPER_E or buffer[at] == LOWER_E):
        at += 1
        below = at < end and buffer[at] == DASH
        at += below or (at < end and buffer[at] == PLUS)
        exponent, digits = np.int64(0), 0
        while at < end and ZERO <= buffer[at] <= NINE:
            exponent = min(exponent * 10 + (np.int64(buffer[at]) - ZERO), np.int64(MOST_EXPONENT))
            digits += 1
            at += 1
        shift += -exponent if below else exponent
    if digits == 0 or at < end:
        return np.int64(0), np.int64(NOT_A_COORDINATE)
    while shift > 0 and 0 < number <= limit:
        number *= 10
        shift -= 1
    while shift < 0 and number > 0:
        rest = rest or number % 10 != 0
        number //= 10
        shift += 1
    if number > limit or (number == limit and rest):
        return np.int64(0 if shift > 0 else -number if negative else number), np.int64(OUT_OF_RANGE)
    return (-number - rest if negative else number), np.int64(0)


@kernel
def _read_degrees(
    buffer: Array, starts: Array, ends: Array, status: Array, limit: Int, degrees: Array, bad: Array
) -> None:
    """Read one coordinate of each usable row."""
    for row in range(len(status)):
        if status[row] == 0:
            degrees[row], bad[row] = _degrees(buffer, starts[row], ends[row], limit)
