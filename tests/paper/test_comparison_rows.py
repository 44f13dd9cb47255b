"""When two numbers agree: within sampling error, and within the goal."""

import math

import pytest

from standout.evaluate.estimates import Estimate
from standout.paper.published import ComparisonRow, exact
from standout.paper.reproduce import summary

pytestmark = pytest.mark.once


def sampling_error(paper, measured, n, deviation=None):
    """The rule, written a second time."""
    if deviation is not None:
        return 1.96 * math.sqrt(deviation**2 / 150 + deviation**2 / n)
    pooled = (150 * paper + n * measured) / (150 + n)
    return 1.96 * math.sqrt(pooled * (1 - pooled) / 150 + pooled * (1 - pooled) / n) + 0.003


def test_rates_agree_within_the_sampling_error_of_both():
    for paper in (0.0, 0.017, 0.5, 0.99, 1.0):
        for measured in (0.0, 0.04, 0.45, 0.62, 1.0):
            for n in (1, 100, 1000):
                row = ComparisonRow("", "", "identified", "rate", paper, exact(measured, n), paper_targets=150)
                error = sampling_error(paper, measured, n)
                assert row.sampling_error == pytest.approx(error)
                assert row.within_sampling_error == (abs(measured - paper) <= error)
                assert row.within_goal == (abs(measured - paper) <= 0.1)


def test_bits_agree_within_the_deviation_between_targets():
    for measured, within_goal in ((14.0, True), (15.1, True), (16.0, False)):
        row = ComparisonRow("", "", "bits_gained", "bits", 14.25, exact(measured, 1000), spread=3.0, paper_targets=150)
        assert row.sampling_error == pytest.approx(sampling_error(14.25, measured, 1000, 3.0))
        assert row.within_goal == within_goal


def test_numbers_without_a_sample_have_no_sampling_error():
    row = ComparisonRow("", "", "share", "rate", 0.97, Estimate(0.96, 0.96, 0.96, 500))
    assert (row.sampling_error, row.within_sampling_error, row.within_goal, row.interval) == (None, None, True, "")
    count = ComparisonRow("", "", "people", "number", 1000.0, exact(1037.4))
    assert (count.within_goal, count.difference_text, count.judgement) == (None, "+37", "")


def test_numbers_that_were_not_measured_are_not_judged():
    row = ComparisonRow("", "", "identified", "rate", 0.5, None, paper_targets=150, note="too few")
    assert (row.difference, row.within_sampling_error, row.within_goal) == (None, None, None)
    assert row.judgement == "not measured: too few"


@pytest.mark.parametrize(
    ("measured", "unit", "text"),
    [
        (0.51, "rate", "within sampling error"),
        (0.59, "rate", "within 0.10"),
        (0.9, "rate", "differs by more than 0.10"),
        (3.0, "bits", "differs by more than 1 bit"),
    ],
)
def test_a_judgement_states_the_strongest_agreement(measured, unit, text):
    row = ComparisonRow("", "", "x", unit, 0.5, exact(measured, 1000), spread=1.0, paper_targets=10_000)
    assert row.judgement == text


def test_the_summary_counts_agreement():
    rows = [
        ComparisonRow("", "", "identified", "rate", 0.5, exact(measured, 1000), paper_targets=150)
        for measured in (0.5, 0.59, 0.9)
    ]
    assert summary(rows).startswith("2 of 3 attack results are within 0.10 or 1 bit of the paper's, and 1 ")
    assert summary([]) == "No attack was run."
