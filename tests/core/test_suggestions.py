"""Suggestions for mistyped names."""

import pytest

from standout.core.errors import did_you_mean, not_one_of


@pytest.mark.parametrize("given", ["found", "fond", "FOUND", "fuond", "founds"])
def test_the_closest_name_is_suggested(given):
    assert did_you_mean(given, ["found", "claimed", "in_top"]) == "; did you mean 'found'?"


@pytest.mark.parametrize("given", ["", "zzz", None, 3, "f" * 1_000_000])
def test_what_resembles_no_name_gets_no_suggestion(given):
    assert did_you_mean(given, ["found", "claimed"]) == ""


def test_a_long_text_is_cut_in_the_message():
    assert len(not_one_of("headline", "x" * 5_000, ["a", "b"])) < 150
