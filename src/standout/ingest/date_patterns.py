"""Which formats dates have: ISO 8601, numbers, or a pattern such as 31/12/2010 or 1 Dec 2010.

A pattern is only concluded if the texts prove it. 3/4/2005 fits both orders of day and month; 31/12/2010 fits
one. If no text decides, the dates are ambiguous, and the user must say which pattern is meant. A format is what
`time_format` takes: "iso", "s", "ms", or a pattern of strptime.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import NamedTuple

from standout.core.errors import ParameterError

SAMPLE, MOST = 500, 8
"""Number of texts from which patterns are proposed, and of patterns that are tried on all texts."""
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
NUMBERS = re.compile(r"(\d{1,4})([-/. ])(\d{1,2})\2(\d{1,4})")
DAY_NAME_YEAR = re.compile(r"\d{1,2}([-/. ])([A-Za-z]{3,9})\1(\d{4}|\d\d)")
YEAR_NAME_DAY = re.compile(r"\d{4}([-/. ])([A-Za-z]{3,9})\1\d{1,2}")
NAME_DAY_YEAR = re.compile(r"([A-Za-z]{3,9}) \d{1,2}(,? )\d{4}")
CLOCK = re.compile(r"(\d{1,2}):\d\d(:\d\d(\.\d{1,6})?)?( ?[AaPp][Mm])?( ?)(Z|[+-]\d\d:?\d\d)?")
CTIME = re.compile(r"[A-Za-z]{3} [A-Za-z]{3} +\d{1,2} \d\d:\d\d:\d\d( [+-]\d{4})? \d{4}")
WEEKDAY = re.compile(r"([A-Za-z]{3,9})(,? )(?=\d|[A-Za-z]{3,9} \d)")
TIME_OF_DAY = re.compile(r"(T|, | |:)(?=\d{1,2}:\d\d)")
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")
ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
COMPACT = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(([01]\d|2[0-3])[0-5]\d([0-5]\d)?)?")
COMPACT_PATTERNS = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
MOST_DIGITS, LONGEST = 30, 100
"""More digits and characters than any time has; Python refuses to convert thousands of digits."""
LARGEST = 100_000_000_000  # 10¹¹ seconds are in the year 5138, 10¹¹ milliseconds in 1973
SHOWN = 4
"""Number of formats that a message lists."""


class DatePatterns(NamedTuple):
    """Patterns that fit the texts of a column.

    `pattern` is the one that the texts prove, or None. `rivals` are patterns between which they do not
    decide: several fit equally well, or (`mixed`) some texts fit only the first and others only another.
    """

    pattern: str | None = None
    rivals: tuple[str, ...] = ()
    mixed: bool = False


def check_pattern(name: str, pattern: str) -> None:
    """Check a pattern once, because strptime raises one error for a bad pattern and a bad text."""
    try:
        datetime.strptime("", pattern)
    except (ValueError, IndexError, re.error) as error:
        if "does not match" not in str(error) and "unconverted" not in str(error):
            raise ParameterError(f"{name} must be a valid pattern of strptime, got {pattern!r:.100}") from error


def recognise_pattern(texts: Sequence[str]) -> DatePatterns:
    """Find the pattern of strptime that the texts have in common.

    >>> recognise_pattern(["3/4/2005", "3/31/2005 "])
    DatePatterns(pattern='%m/%d/%Y', rivals=(), mixed=False)
    >>> recognise_pattern(["3/4/2005", "4/3/2005"])
    DatePatterns(pattern=None, rivals=('%d/%m/%Y', '%m/%d/%Y'), mixed=False)
    >>> recognise_pattern(["1 Dec 2010 8:26 PM"]).pattern
    '%d %b %Y %I:%M %p'
    """
    distinct = list(dict.fromkeys(text.strip() for text in texts))
    forms = Counter(pattern for text in distinct[:SAMPLE] for pattern in dict.fromkeys(_patterns(text)))
    candidates = [pattern for pattern, _ in forms.most_common(MOST)]
    moments_of = {pattern: [moment_of(text, pattern) for text in distinct] for pattern in candidates}
    counts = {pattern: len(distinct) - moments.count(None) for pattern, moments in moments_of.items()}
    most = max(counts.values(), default=0)
    if 2 * most < len(distinct) or not most:
        return DatePatterns()
    winners = [pattern for pattern, count in counts.items() if count == most]
    first = moments_of[winners[0]]
    if any(moments_of[pattern] != first for pattern in winners[1:]):
        return DatePatterns(None, tuple(sorted(winners)))
    others = [
        pattern
        for pattern in candidates
        if any(moment and not ours for moment, ours in zip(moments_of[pattern], first, strict=True))
    ]
    return DatePatterns(None, (winners[0], *sorted(others)), mixed=True) if others else DatePatterns(winners[0])


def moment_of(text: str, pattern: str) -> datetime | None:
    """The moment of a text in a pattern, or None if it does not fit."""
    try:
        return datetime.strptime(text, pattern)
    except (ValueError, OverflowError, IndexError, re.error):
        return None


def _patterns(text: str) -> Iterator[str]:
    """Yield the patterns whose form a text has."""
    if match := CTIME.fullmatch(text):
        yield "%a %b %d %H:%M:%S %z %Y" if match[1] else "%a %b %d %H:%M:%S %Y"
        return
    start = ""
    if (match := WEEKDAY.match(text)) and match[1][:3].lower() not in MONTHS:
        start, text = ("%a" if len(match[1]) == 3 else "%A") + match[2], text[match.end() :]
    day, *clock = TIME_OF_DAY.split(text, maxsplit=1)
    end = ""
    if clock:
        if not (match := CLOCK.fullmatch(clock[1])):
            return
        seconds = "" if match[2] is None else ":%S" if match[3] is None else ":%S.%f"
        hours = f"%H:%M{seconds}" if match[4] is None else f"%I:%M{seconds}{match[4][:-2]}%p"
        end = clock[0] + hours + ("" if match[6] is None else f"{match[5]}%z")
    yield from (start + pattern + end for pattern in _day_patterns(day))


def _day_patterns(text: str) -> Iterator[str]:
    if match := NUMBERS.fullmatch(text):
        first, mark, last = len(match[1]), match[2], len(match[4])
        if first == 4 and last <= 2:
            yield mark.join(("%Y", "%m", "%d"))
        elif first <= 2 and last in (2, 4):
            year = "%Y" if last == 4 else "%y"
            yield mark.join(("%d", "%m", year))
            yield mark.join(("%m", "%d", year))
        if first == 2 and last <= 2:
            yield mark.join(("%y", "%m", "%d"))
    elif match := DAY_NAME_YEAR.fullmatch(text):
        year = "%Y" if len(match[3]) == 4 else "%y"
        yield from (f"%d{match[1]}{name}{match[1]}{year}" for name in _month_patterns(match[2]))
    elif match := YEAR_NAME_DAY.fullmatch(text):
        yield from (f"%Y{match[1]}{name}{match[1]}%d" for name in _month_patterns(match[2]))
    elif match := NAME_DAY_YEAR.fullmatch(text):
        yield from (f"{name} %d{match[2]}%Y" for name in _month_patterns(match[1]))


def _month_patterns(name: str) -> list[str]:
    return ["%b"] * (len(name) == 3) + ["%B"] * (len(name) > 3 or name.lower() == "may")


def recognise_format(texts: Iterable[str]) -> str | None:
    """Recognise the format of a column from its first texts: "s", "ms", "iso", "%Y%m%d…" or None."""
    numbers: list[str] = []
    for text in texts:
        if ISO.fullmatch(text):
            return "iso"
        if NUMBER.fullmatch(text):
            numbers.append(text)
    if not numbers:
        return None
    if all(COMPACT.fullmatch(text) for text in numbers) and len({len(text) for text in numbers}) == 1:
        return COMPACT_PATTERNS[len(numbers[0])]
    whole = numbers[0].split(".")[0].lstrip("+-0")[:MOST_DIGITS]
    return "ms" if int(whole or "0") >= LARGEST else "s"


@lru_cache(maxsize=10_000)
def fitting_formats(text: str) -> tuple[str, ...]:
    """All formats in which a text is a time.

    >>> fitting_formats("03/04/2005"), fitting_formats("2005-04-03"), fitting_formats("soon")
    (('%d/%m/%Y', '%m/%d/%Y'), ('iso',), ())
    """
    text = text.strip()
    name = recognise_format([text]) if len(text) <= LONGEST else ""
    if name == "iso":
        try:
            date.fromisoformat(text[:10])
        except ValueError:
            return ()
    if name is None:
        return tuple(pattern for pattern in dict.fromkeys(_patterns(text)) if moment_of(text, pattern))
    return (name,) if name else ()


def count_formats(rows_of: Iterable[tuple[str, int]]) -> Counter[str]:
    """Number of rows that each format fits, given texts and how many rows have each.

    >>> count_formats([("03/04/2005", 2), ("25/12/2004", 1)])
    Counter({'%d/%m/%Y': 3, '%m/%d/%Y': 2})
    """
    counts: Counter[str] = Counter()
    for text, rows in rows_of:
        for name in fitting_formats(text):
            counts[name] += int(rows)
    return counts


def list_formats(counts: Counter[str], unit: str = "row") -> str:
    """The formats in words, the most frequent first.

    >>> list_formats(Counter({"iso": 1, "%d/%m/%Y": 2}))
    '%d/%m/%Y fits 2 rows, iso fits 1 row'
    """
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    parts = [f"{name} fits {rows:,} {unit}{'s' * (rows != 1)}" for name, rows in ordered[:SHOWN]]
    more = len(ordered) - SHOWN
    return ", ".join(parts) + (f", and {more} more" if more > 0 else "")
