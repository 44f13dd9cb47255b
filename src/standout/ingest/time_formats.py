"""Which formats a time has, and how many rows of a column each format fits.

A format is what `time_format` takes: "iso", "s", "ms", or a pattern of strptime.
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date
from functools import lru_cache

from standout.ingest.date_patterns import fitting_patterns
from standout.ingest.time_kernels import LARGEST

__all__ = ["count_formats", "fitting_formats", "list_formats", "recognise_format"]

NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")
ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
COMPACT = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(([01]\d|2[0-3])[0-5]\d([0-5]\d)?)?")
COMPACT_PATTERNS = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
MOST_DIGITS = 30
"""More digits than any time has; Python refuses to convert thousands of them."""
LONGEST = 100
"""More characters than any time has."""
SHOWN = 4
"""Number of formats that a message lists."""


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
    if len(text) > LONGEST:
        return ()
    name = recognise_format([text])
    if name == "iso":
        return ("iso",) if _is_day(text[:10]) else ()
    return fitting_patterns(text) if name is None else (name,)


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


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
