"""Before and after: paired rates, and a change is named only if its interval excludes 0."""

import numpy as np
import pytest

from naive.paired import bonett_price
from standout.findings.sections import before_after, compare_before_after

pytestmark = pytest.mark.once
EVERYBODY = np.ones(100, np.bool_)
NO_DIFFERENCE = "This shows no difference beyond sampling error: the interval of the change is "


def compared(before, after, is_present=EVERYBODY, name="friend"):
    """An adversary who identifies the first so many of 100 targets before and after."""
    first, second = (
        (attack, (np.arange(100) < number).astype(float), 0.01) for attack, number in (("a", before), ("b", after))
    )
    return compare_before_after(name, first, second, is_present)


def test_the_difference_has_the_interval_of_paired_trials():
    each = compared(60, 20)
    assert (each.attack_before, each.attack_after) == ("a", "b")
    assert (each.before.value, each.after.value, each.difference.value) == pytest.approx((0.6, 0.2, -0.4))
    assert (each.difference.low, each.difference.high) == pytest.approx(bonett_price(0, 40, 100))
    assert each.explanation == "The adversary identifies fewer: by 40 percentage points (29 to 49)."


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (60, 62, NO_DIFFERENCE),
        (60, 60, NO_DIFFERENCE),
        (62, 60, NO_DIFFERENCE),
        (20, 60, "The adversary identifies more: by 40 percentage points"),
    ],
)
def test_a_change_is_named_only_if_its_interval_excludes_0(before, after, words):
    each = compared(before, after)
    low, high = bonett_price(max(after - before, 0), max(before - after, 0), 100)
    assert (low <= 0 <= high) == (words == NO_DIFFERENCE)
    assert each.explanation.startswith(words)


def test_people_who_are_missing_are_counted_and_left_out():
    each = compared(80, 50, np.arange(100) < 50)
    assert each.after.value == 0.5 and each.after_in_release.value == each.before_in_release.value == 1.0
    both = before_after([each], "friend")
    assert "identifies 80 % (71 % to 87 %) of the targets; after sanitizing, 50 %" in both.summary
    assert "Among those who are still in it, 100 % (92.9 % to 100 %) are identified before" in both.summary
    assert "identifies fewer" in both.summary and NO_DIFFERENCE in both.summary and both.some_missing


def test_the_summary_is_about_the_headline_adversary_and_mentions_missing_people_only_if_there_are_any():
    both = before_after([compared(80, 50), compared(10, 5, name="boss")], "boss")
    assert "“boss” identifies 10 %" in both.summary and "missing" not in both.summary
    assert not both.some_missing and before_after([], "boss") is None
