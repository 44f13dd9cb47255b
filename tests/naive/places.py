"""Reference implementation of places: squares and geohashes of exact fractions, bins, unique traces."""

import math
from datetime import datetime, timedelta
from fractions import Fraction

__all__ = ["decimal", "geohash", "has_unique_points", "square", "time_bin"]

LETTERS = "0123456789bcdefghjkmnpqrstuvwxyz"


def square(latitude, longitude, step):
    """South-west corner of the square of two texts, None if they are no coordinates; the step is a text."""
    try:
        north, east, size = Fraction(latitude.strip()), Fraction(longitude.strip()), Fraction(step)
    except ValueError:
        return None
    if abs(north) > 90 or abs(east) > 180:
        return None
    east = -east if east == 180 else east
    row = min(math.floor(north / size), math.ceil(90 / size) - 1)
    digits = len(step.rstrip("0").partition(".")[2])
    corner = [row * size, math.floor(east / size) * size]
    return ",".join(decimal(degrees, digits) for degrees in corner)


def decimal(number, digits):
    """A fraction as text with this many decimal places, which are enough to be exact."""
    shifted = abs(number) * 10**digits
    assert shifted.denominator == 1
    text = str(shifted.numerator).rjust(digits + 1, "0")
    text = f"{text[:-digits]}.{text[-digits:]}" if digits else text
    return f"-{text}" if number < 0 else text


def geohash(latitude, longitude, letters):
    """Geohash by bisection of the two intervals  [Niemeyer 2008]."""
    north, east = Fraction(latitude), Fraction(longitude)
    east = -east if east == 180 else east
    south, top, west, right = Fraction(-90), Fraction(90), Fraction(-180), Fraction(180)
    bits = ""
    while len(bits) < 5 * letters:
        if len(bits) % 2 == 0:
            middle = (west + right) / 2
            bits += "1" if east >= middle else "0"
            west, right = (middle, right) if east >= middle else (west, middle)
        else:
            middle = (south + top) / 2
            bits += "1" if north >= middle else "0"
            south, top = (middle, top) if north >= middle else (south, middle)
    return "".join(LETTERS[int(bits[i : i + 5], 2)] for i in range(0, len(bits), 5))


def time_bin(moment, count, kind):
    """Beginning of the bin of `count` minutes, hours, days, weeks or months that a datetime is in."""
    if kind == "month":
        return datetime(moment.year, moment.month, 1)
    begin = datetime(1969, 12, 29) if kind == "week" else datetime(1970, 1, 1)
    width = count * timedelta(**{f"{kind}s": 1})
    return begin + (moment - begin) // width * width


def has_unique_points(traces, person, points):
    """Whether no other person's trace has all these points; traces = {person: set of points}."""
    return not any(other != person and set(points) <= trace for other, trace in traces.items())
