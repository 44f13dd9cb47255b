"""Reference implementation of places: squares and geohashes of exact fractions, bins, unique traces."""

import math
from datetime import date, datetime, timedelta
from fractions import Fraction

__all__ = [
    "decay_of_place",
    "decimal",
    "geohash",
    "great_circle",
    "has_unique_points",
    "place_scores",
    "square",
    "time_bin",
]

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


def great_circle(place, other):
    """Metres between two places in degrees, by the angle between their vectors."""
    vectors = []
    for degrees in (place, other):
        north, east = map(math.radians, degrees)
        vectors.append((math.cos(north) * math.cos(east), math.cos(north) * math.sin(east), math.sin(north)))
    (a, b, c), (x, y, z) = vectors
    cross = math.hypot(b * z - c * y, c * x - a * z, a * y - b * x)
    return 6_371_008.8 * math.atan2(cross, a * x + b * y + c * z)


def decay_of_place(metres, scale):
    """e^(−distance/scale), 0 beyond seven scales."""
    return math.exp(-metres / scale) if metres <= 7 * scale else 0.0


def place_scores(entries, facts, step, days, place_similarity):
    """Algorithm 1B with places nearby; entries = (record, square, date), facts = (square, date)."""
    scores = dict.fromkeys((entry[0] for entry in entries), 0.0)
    for square_known, date_known in facts:
        best = {}
        for record, name, when in entries:
            metres = great_circle(
                *([float(part) + step / 2 for part in text.split(",")] for text in (square_known, name))
            )
            metres = round(metres, 3)
            closeness = place_similarity(metres)
            if closeness == 0:
                continue
            fits = date_known is None or (
                when is not None and abs((date.fromisoformat(when) - date.fromisoformat(date_known)).days) <= days
            )
            best[record] = max(best.get(record, 0.0), closeness * fits)
        for record, similarity in best.items():
            scores[record] += similarity / math.log(max(len(best), 2))
    return scores
