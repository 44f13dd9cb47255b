"""The one place that makes foreign text safe to display: names of files, columns and items, ids, labels.

Such text can hold characters that change a terminal or a page: escapes, other control characters (C0 and C1),
overrides of the writing direction, lone surrogates. Everything that people read passes through here: the
screen (`standout.cli.console`), the messages of errors and warnings, reports and charts. JSON and CSV files
keep the exact text; `escaped_json` writes such characters as JSON's own escapes.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Protocol

SHORT, LONG, LONGEST_LINE = 80, 700, 2000
"""Maximum length of a name, of a sentence, and of a line."""
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff]"
)
"""Control characters, line separators, overrides of the writing direction, surrogates and noncharacters."""
BREAKS = re.compile("\r\n|[\t-\r\x1c-\x1e\x85\u2028\u2029]")
"""Tabs and everything that begins a line."""
STACKED_MARKS = re.compile(
    "([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{3})[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+"
)
"""More than three combining marks in a row, which would reach into other lines."""

LONG_PARTS = re.compile(r"(?<!\w)'[^']{301,}'(?!\w)|(?<!\w)\"[^\"]{301,}\"(?!\w)|\S{301,}")
"""Quoted parts and words that are longer than the name of a file can be."""


def printable(text: str) -> str:
    r"""Return a text that fits on one line: line ends become blanks, unprintable characters become �.

    >>> printable("Brazil\x1b[2J\nstandout: all is well")
    'Brazil�[2J standout: all is well'
    """
    if text.isascii() and text.isprintable():
        return text
    return STACKED_MARKS.sub(r"\1", UNPRINTABLE.sub("\ufffd", BREAKS.sub(" ", text)))


def printable_lines(text: str) -> str:
    """Return a text of several lines, such as a page, without unprintable characters."""
    return STACKED_MARKS.sub(r"\1", UNPRINTABLE.sub("\ufffd", text))


def printable_texts(content: Any) -> Any:
    r"""Make every text in a nested structure safe to display, and shorten it.

    >>> printable_texts({"name": ["a\u202eb", 3, None]})
    {'name': ['a�b', 3, None]}
    """
    return map_texts(content, lambda text: shorten(" ".join(printable(text[: 4 * LONG]).split()), LONG))


def map_texts(content: Any, change: Callable[[str], str]) -> Any:
    """Change every text in a nested structure of dataclasses, mappings, lists and tuples."""
    if isinstance(content, str):
        return change(content)
    if is_dataclass(content) and not isinstance(content, type):
        texts = {field.name: map_texts(getattr(content, field.name), change) for field in fields(content)}
        return replace(content, **texts)
    if isinstance(content, Mapping):
        return {name: map_texts(value, change) for name, value in content.items()}
    if isinstance(content, list | tuple):
        parts = [map_texts(part, change) for part in content]
        return parts if isinstance(content, list) else tuple(parts)
    return content


def shorten(text: str, limit: int = SHORT) -> str:
    """Cut a long text and add an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def cut_middle(text: str, limit: int = LONGEST_LINE) -> str:
    """Cut a long message in the middle, because its end says what to do.

    >>> cut_middle("file aaaaaaaaaaaaaaaa: choose another", 24)
    'file aaaaaa…oose another'
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[: limit - half - 1]}…{text[len(text) - half :]}"


def cut_arguments(text: str) -> str:
    """Cut very long words and quoted parts of a message, which repeat what the user typed.

    >>> cut_arguments("--knows: '" + 9_999 * "ab " + "' is no number")[:9], len(cut_arguments("x" * 5_000))
    ('--knows: ', 160)
    """
    return LONG_PARTS.sub(lambda match: cut_middle(match[0], 2 * SHORT), text)


def escaped_json(content: object, **settings: Any) -> str:
    r"""JSON of the exact content; characters that could change a terminal are written as escapes.

    >>> print(escaped_json(["é", "a\x9b\u202e"]))
    ["é", "a\u009b\u202e"]
    """
    text = json.dumps(content, ensure_ascii=False, **settings)
    return UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


# Numbers for display: percentages, intervals, counts.


NO_NUMBER, SMALLEST_SHARE = "–", 0.0005


class HasInterval(Protocol):
    """A number with its interval, such as `standout.evaluate.estimates.Estimate`."""

    @property
    def value(self) -> float:
        """The number."""

    @property
    def low(self) -> float:
        """The lower end of the interval."""

    @property
    def high(self) -> float:
        """The upper end of the interval."""


def percent(value: float | None, fine: bool | None = None) -> str:
    r"""Format a share as a percentage, with one decimal near 0 and 1, and never rounded to 0 or 100 %.

    >>> percent(0.8374), percent(0.0042), percent(0.9996), percent(0.0), percent(None)
    ('84\xa0%', '0.4\xa0%', '>\xa099.9\xa0%', '0\xa0%', '–')
    """
    if value is None or not math.isfinite(value):
        return NO_NUMBER
    if 0 < value < SMALLEST_SHARE or 1 - SMALLEST_SHARE < value < 1:
        return "<\xa00.1\xa0%" if value < SMALLEST_SHARE else ">\xa099.9\xa0%"
    fine = is_near_limit(value) if fine is None else fine
    return f"{100 * value:.{int(fine)}f}".removesuffix(".0") + "\xa0%"


def is_near_limit(value: float) -> bool:
    """Whether a share is so close to 0 or 1 that it needs one more digit."""
    return 0 < min(value, 1 - value) < 0.0995


def interval_text(estimate: HasInterval | None, unit: str = "share") -> str:
    r"""Format the bounds of an interval; empty if there is none.

    >>> from standout.evaluate.estimates import Estimate
    >>> interval_text(Estimate(0.84, 0.81, 0.868, n=9)), interval_text(Estimate(0.5, 0.004, 0.868, n=9))
    ('81\xa0to\xa087\xa0%', '0.4\xa0to\xa086.8\xa0%')
    >>> interval_text(Estimate(7.5, 7.26, 7.649, n=9), "bits")
    '7.3\xa0to\xa07.6'
    """
    if estimate is None or not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return ""
    low, high = estimate.low, estimate.high
    if unit != "share":
        return f"{decimal(low)}\xa0to\xa0{decimal(high)}"
    fine = is_near_limit(low) or is_near_limit(high)
    first = percent(low, fine).removesuffix("\xa0%")
    return f"{first}\xa0to\xa0{percent(high, fine)}"


def estimate_text(estimate: HasInterval | None, unit: str = "share") -> str:
    """Format the value of an estimate; – if there is none."""
    value = None if estimate is None else estimate.value
    return percent(value) if unit == "share" else decimal(value)


def estimate_line(estimate: HasInterval, unit: str = "share") -> str:
    """Format an estimate with its interval, in plain characters.

    >>> from standout.evaluate.estimates import Estimate
    >>> estimate_line(Estimate(0.84, 0.81, 0.868, n=9))
    '84 % (81 to 87 %)'
    """
    interval = interval_text(estimate, unit)
    text = estimate_text(estimate, unit) + (f" ({interval})" if interval else "")
    return text.replace("\xa0", " ")


def decimal(value: float | None) -> str:
    """Format a number with one decimal, or as a whole number from 100 on.

    >>> decimal(8.97), decimal(-0.62), decimal(1234.4), decimal(None)
    ('9.0', '−0.6', '1,234', '–')
    """
    if value is None or not math.isfinite(value):
        return NO_NUMBER
    text = f"{abs(value):,.1f}" if abs(value) < 99.95 else f"{abs(value):,.0f}"
    return f"−{text}" if value < 0 and text.strip("0.") else text


def count(value: float | None, singular: str = "", plural: str = "") -> str:
    """Format a whole number with its noun.

    >>> count(1, "person", "people"), count(12_345, "person", "people")
    ('1 person', '12,345 people')
    """
    if value is None:
        return NO_NUMBER
    return f"{value:,} {singular if value == 1 else plural or singular}".strip()
