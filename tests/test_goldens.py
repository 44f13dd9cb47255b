"""The numbers of small releases of every kind are those that were frozen."""

import pytest
from tools.goldens import FOLDER, GOLDENS, compare, differs, numbers_of

pytestmark = pytest.mark.large


@pytest.mark.slow  # `make test` runs it before pytest
@pytest.mark.parametrize("name", GOLDENS)
def test_no_frozen_number_changed(name):
    assert not compare(name, numbers_of(name))


def test_each_golden_is_frozen():
    assert {path.stem for path in FOLDER.glob("*.json")} == {*GOLDENS}


@pytest.mark.parametrize(
    ("key", "frozen", "now", "expected"),
    [
        ("a/identified", [0.5, 0.4, 0.6, 10], [0.5, 0.40000001, 0.6, 10], False),
        ("a/identified", [0.5, 0.4, 0.6, 10], [0.50000001, 0.4, 0.6, 10], True),
        ("a/identified", 0.5, 0.50000001, True),
        ("a/bits", 0.5, 0.50000001, False),
        ("a/bits", 0.5, 0.50001, True),
        ("a/bits", 2e-7, 1e-8, False),
        ("a/bits", [2e-7, 0.1, 0.0, 0.0, 1e-6, 10], [8e-6, 0.1, 0.0, 0.0, 1e-6, 10], False),
        ("a/bits", [2e-7, 0.1, 0.0, 0.0, 1e-6, 10], [2e-5, 0.1, 0.0, 0.0, 1e-6, 10], True),
        ("a/posterior", 2e-7, 1e-8, True),
        ("a/ties", [1, 2], [1, 3], True),
        ("a/ties", [1, 2], [1, 2, 3], True),
        ("a/ties", [], [], False),
        ("a/k", 3, 4, True),
        ("a/best guesses", "ab", "ac", True),
    ],
)
def test_counts_and_identified_rates_are_compared_exactly(key, frozen, now, expected):
    assert differs(key, frozen, now) == expected
