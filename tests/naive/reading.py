"""Reference implementation of reading files: delimited text, the Netflix Prize format, times."""

import csv
import io
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

__all__ = ["EPOCH", "cells", "day", "iso_time", "netflix", "number", "pattern_time", "units", "unix_time"]

EPOCH = datetime(1970, 1, 1)


def cells(text, separator=",", quote='"'):
    """The rows of a delimited text as lists of cells; empty lines are passed over.

    Only separators of one character go with quotes.
    """
    if quote and len(separator) == 1:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quotechar=quote, strict=True)
        return [row for row in rows if row]
    lines = text.split("\n")
    return [line.removesuffix("\r").split(separator) for line in lines if line.removesuffix("\r")]


def number(text):
    """The number that a cell spells, None for a blank one."""
    return float(text) if text.strip() else None


def units(wall, unit="day"):
    """Whole days, hours or minutes from 1970 to a datetime without a zone, rounded down."""
    return (wall - EPOCH) // timedelta(**{f"{unit}s": 1})


def day(text):
    """The day of YYYY-MM-DD, in days since 1970."""
    return units(datetime.fromisoformat(text))


def unix_time(text, per_second=1, unit="day", zone="UTC"):
    """The units of a Unix time: its second, rounded down, on the wall clock of the zone."""
    second = int((Decimal(text) / per_second).to_integral_value("ROUND_FLOOR"))
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    return units(_wall(moment, zone), unit)


def iso_time(text, unit="day", zone="UTC"):
    """The units of an ISO date or datetime: moved to the zone if it has one of its own, else as written."""
    return units(_wall(datetime.fromisoformat(text.strip()), zone), unit)


def pattern_time(text, pattern, unit="day", zone="UTC"):
    """The same, for text written after a pattern of strptime."""
    return units(_wall(datetime.strptime(text.strip(), pattern), zone), unit)


def _wall(moment, zone):
    return (moment.astimezone(ZoneInfo(zone)) if moment.tzinfo else moment).replace(tzinfo=None)


def netflix(text):
    """The rows of a Netflix Prize text, and {line: complaint} for its bad lines.

    A complaint is "film" for a rating of no known film, "form" for anything else. A bad line without a comma
    may have been a film's: what follows it belongs to no known film.
    """
    rows, bad, film = [], {}, None
    for line, content in enumerate(text.split("\n"), 1):
        content = content.removesuffix("\r")
        rating = re.fullmatch(r"([0-9]{1,18}),([1-5]),([0-9]{4}-[0-9]{2}-[0-9]{2})", content)
        if re.fullmatch(r"[0-9]{1,18}:", content):
            film = content[:-1]
        elif rating and _is_date(rating[3]):
            if film is None:
                bad[line] = "film"
            else:
                rows.append((rating[1], film, float(rating[2]), day(rating[3])))
        elif content:
            bad[line] = "form"
            film = film if "," in content else None
    return rows, bad


def _is_date(text):
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
