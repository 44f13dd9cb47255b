"""Numbers and untrusted text for display."""

import math

import pytest

from standout.core.text import LONG, SHORT, count, decimal, estimate_text, interval_text, percent, printable_texts
from standout.evaluate.estimates import Estimate

pytestmark = pytest.mark.once


def test_characters_that_change_the_display_are_replaced():
    assert printable_texts(["a\u202eb", "\ud800", "x\ny", {"k": 1.5}, None]) == ["a�b", "�", "x y", {"k": 1.5}, None]
    assert printable_texts("a" + "\u0301" * 50) == "a" + "\u0301" * 3
    assert len(printable_texts("W" * 10_000)) == LONG and printable_texts("  a \t b ") == "a b"
    assert "שלום\u200f" in printable_texts("שלום\u200f")  # marks that writing needs stay


def test_numbers_as_text():
    assert (percent(None), percent(math.nan), percent(1.0), estimate_text(None)) == ("–", "–", "100\xa0%", "–")
    assert (decimal(-0.04), decimal(12.34), count(None), count(0, "person", "people")) == (
        "0.0",
        "12.3",
        "–",
        "0 people",
    )
    assert (interval_text(None), interval_text(Estimate(0.5, -math.inf, 1.0, 1))) == ("", "")
    assert SHORT < LONG
