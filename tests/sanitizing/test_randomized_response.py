"""Randomised response: probabilities are those of its ε, and counts reveal nothing."""

import math
from collections import Counter

import pytest
from sanitizing_data import START, table

import standout as so
from conftest import content


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_values_are_kept_and_exchanged_as_often_as_epsilon_says(large_release, epsilon):
    safer = so.sanitize(large_release, so.steps.RandomizedResponse(epsilon), seed=8)
    old, new = content(large_release), content(safer)
    changes = Counter((old[cell][0], new[cell][0]) for cell in old)
    totals = Counter(value for value, _ in old.values())
    for value, n in totals.items():
        for other in totals:
            share = (math.exp(epsilon) if other == value else 1) / (math.exp(epsilon) + len(totals) - 1)
            assert abs(changes[value, other] - n * share) < 5 * math.sqrt(n * share * (1 - share))
    assert safer.step_reports[0].counts["epsilon of a value"] == epsilon


def test_counts_do_not_depend_on_the_draws():
    """Counts are published: the number of changed values would reveal one value to whoever knows the rest."""
    reports = set()
    for value in (1.0, 2.0):
        release = table([("a", "1", value, START), ("b", "1", 1.0, START), ("c", "1", 2.0, START)])
        for seed in range(20):
            reports.add(str(so.sanitize(release, "randomized-response 1", seed=seed).step_reports))
    assert len(reports) == 1


def test_every_cell_flips_with_the_same_probability():
    rows = [(f"r{r}", str(i), 1.0, START) for r in range(120) for i in range(50) if (r * i) % 7 < 2]
    release = table(rows)
    safer = so.sanitize(release, so.steps.RandomizedResponse(1.5, items=True), seed=3)
    assert safer.levels is None
    assert safer.clock is None
    old, new = set(content(release)), set(content(safer))
    cells, probability = release.n_records * release.n_items, 1 / (1 + math.exp(1.5))
    for n, flipped in ((len(old), len(old - new)), (cells - len(old), len(new - old))):
        assert abs(flipped - n * probability) < 5 * math.sqrt(n * probability * (1 - probability))
    assert safer.step_reports[0].counts["false entries"] == len(new - old)
    assert safer.mapping.released_values == (None,)


def test_too_many_cells_are_refused(monkeypatch, small_release):
    monkeypatch.setattr("standout.sanitizing.value_steps.MOST_ENTRIES", 50)
    with pytest.raises(so.ParameterError, match="entries would be released"):
        so.sanitize(small_release, "randomized-response 0.1 items")
