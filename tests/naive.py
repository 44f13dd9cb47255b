"""Slow twins: loops and dicts to hold against the specification. Nothing of Standout is imported here.

A row is (record, item, value, time), a value a number, a text or None, a time whole units on the wall
clock (see `units`), or anything that can be compared, or None.
"""

import csv
import io
import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1)


def entries(rows, repeats="last"):
    """{(record, item): (value, time)}: one entry for each pair, chosen among its rows.

    last   the latest time; no time is before all times; of equals the later row
    first  the earliest time; no time is after all times; of equals the earlier row
    max    the largest value, no value is below all values; of equals the last
    """
    kept = {}
    for record, item, value, time in rows:
        old = kept.get((record, item))
        if old is None or _replaces((value, time), old, repeats):
            kept[record, item] = (value, time)
    return kept


def _replaces(new, old, repeats):
    (new_value, new_time), (old_value, old_time) = new, old
    if repeats == "first":
        return new_time is not None and (old_time is None or new_time < old_time)
    if repeats == "max" and new_value != old_value:
        return new_value is not None and (old_value is None or new_value > old_value)
    return old_time is None or (new_time is not None and new_time >= old_time)


def shortlex(texts):
    """Shorter ones first, then by their bytes: 9 before 10."""
    return sorted(texts, key=lambda text: (len(text.encode()), text.encode()))


def support(entries):
    """{item: how many records have it}."""
    return Counter(item for _, item in entries)


def lengths(entries):
    """{record: how many items it has}."""
    return Counter(record for record, _ in entries)


def ranks(entries):
    """{item: its place among the most popular, 1 is the first}; equals go by their ids in shortlex order."""
    counts = support(entries)
    popular = sorted(shortlex(counts), key=lambda item: -counts[item])
    return {item: place for place, item in enumerate(popular, 1)}


def outside_top(entries, tops=(100, 500, 1000), leasts=(1, 5, 10)):
    """{top: {least: share of the records with at least so many items that are not in the top}}.

    A top that holds all items is left out.
    """
    rank, people = ranks(entries), list(lengths(entries))
    table = {}
    for top in tops:
        if top < len(rank):
            outside = Counter(record for record, item in entries if rank[item] > top)
            table[top] = {
                least: sum(outside[one] >= least for one in people) / len(people) for least in leasts
            }
    return table


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
