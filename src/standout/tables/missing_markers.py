"""Texts that mean that a cell is empty, such as NA or ?."""

import re
from collections.abc import Iterable

import polars as pl

__all__ = ["ALWAYS", "WITH_NUMBERS", "missing_in", "shown_marker"]

ALWAYS = frozenset(("na", "n/a", "n.a.", "#n/a", "<na>", "?", "null", "nan", "nil", "missing"))
"""Texts in lower case that mean an empty cell in every column."""
WITH_NUMBERS = ALWAYS | {"-", "--", ".", "none", "unknown", "not available", "not known", "k.a.", "unbekannt"}
"""Texts that mean an empty cell where the other cells are numbers, dates or yes and no.

Among categories, "unknown" and "none" are values as others are."""
COUNTRY = re.compile(r"[A-Z]{2}")
COUNTRIES = 10


def missing_in(texts: pl.Series, markers: Iterable[str]) -> pl.Series:
    """Which of some distinct texts mean an empty cell. NA among codes of two letters is Namibia.

    >>> missing_in(pl.Series(["?", "private", "N/A"]), ALWAYS).to_list()
    [True, False, True]
    """
    found = texts.str.to_lowercase().is_in(list(markers))
    if found.any() and len(texts) > COUNTRIES:
        others = texts.filter(~found)
        if len(others) >= COUNTRIES and others.str.contains(f"^{COUNTRY.pattern}$").mean() == 1.0:
            return found & (texts != "NA")
    return found


def shown_marker(text: str) -> str:
    """A marker as a message shows it. Markers are words of a list, never somebody's data."""
    return f"{text!r}"
