"""Recognise the pattern of dates that are neither ISO 8601 nor numbers, such as 31/12/2010 or 1 Dec 2010.

A pattern is only concluded if the texts prove it. 3/4/2005 fits both orders of day and month; 31/12/2010 fits
one. If no text decides, the dates are ambiguous, and the user must say which pattern is meant.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from standout.core.errors import ParameterError

__all__ = ["DatePatterns", "check_pattern", "fits", "fitting_patterns", "recognise_pattern"]

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


@dataclass(frozen=True, slots=True)
class DatePatterns:
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
            raise ParameterError(
                f"{name} must be a valid pattern of strptime, got {pattern!r:.100}"
            ) from error


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
    candidates = _candidates(distinct[:SAMPLE])
    moments_of = {pattern: [_moment(text, pattern) for text in distinct] for pattern in candidates}
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
    return (
        DatePatterns(None, (winners[0], *sorted(others)), mixed=True) if others else DatePatterns(winners[0])
    )


def _candidates(texts: Sequence[str]) -> list[str]:
    """Patterns with the form of some of the texts, the most frequent first."""
    forms = Counter(pattern for text in texts for pattern in dict.fromkeys(_patterns(text)))
    return [pattern for pattern, _ in forms.most_common(MOST)]


def fits(text: str, pattern: str) -> bool:
    """Whether a text is a date in a pattern."""
    return _moment(text, pattern) is not None


def fitting_patterns(text: str) -> tuple[str, ...]:
    """All patterns in which a text is a date.

    >>> fitting_patterns("25/12/2004")
    ('%d/%m/%Y',)
    """
    return tuple(dict.fromkeys(pattern for pattern in _patterns(text) if fits(text, pattern)))


def _moment(text: str, pattern: str) -> datetime | None:
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
    end = "" if not clock else _clock_pattern(clock[1])
    if end is not None:
        yield from (start + pattern + "".join(clock[:1]) + end for pattern in _day_patterns(day))


def _clock_pattern(text: str) -> str | None:
    match = CLOCK.fullmatch(text)
    if match is None:
        return None
    seconds = "" if match[2] is None else ":%S" if match[3] is None else ":%S.%f"
    half = match[4]
    pattern = ("%H:%M" if half is None else "%I:%M") + seconds
    pattern += "" if half is None else f"{half[:-2]}%p"
    return pattern + ("" if match[6] is None else f"{match[5]}%z")


def _day_patterns(text: str) -> Iterator[str]:
    if match := NUMBERS.fullmatch(text):
        yield from _number_patterns(match[1], match[2], match[4])
    elif match := DAY_NAME_YEAR.fullmatch(text):
        year = "%Y" if len(match[3]) == 4 else "%y"
        yield from (f"%d{match[1]}{name}{match[1]}{year}" for name in _month_patterns(match[2]))
    elif match := YEAR_NAME_DAY.fullmatch(text):
        yield from (f"%Y{match[1]}{name}{match[1]}%d" for name in _month_patterns(match[2]))
    elif match := NAME_DAY_YEAR.fullmatch(text):
        yield from (f"{name} %d{match[2]}%Y" for name in _month_patterns(match[1]))


def _number_patterns(first: str, mark: str, last: str) -> Iterator[str]:
    if len(first) == 4 and len(last) <= 2:
        yield mark.join(("%Y", "%m", "%d"))
    elif len(first) <= 2 and len(last) in (2, 4):
        year = "%Y" if len(last) == 4 else "%y"
        yield mark.join(("%d", "%m", year))
        yield mark.join(("%m", "%d", year))
    if len(first) == 2 and len(last) <= 2:
        yield mark.join(("%y", "%m", "%d"))


def _month_patterns(name: str) -> Iterator[str]:
    if len(name) == 3:
        yield "%b"
    if len(name) > 3 or name.lower() == "may":
        yield "%B"
