"""Steps that change values: bins have the mean of their entries, noise is uniform among near levels."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sanitizing_data import START, releases, table

import naive
import standout as so
from conftest import content
from standout.data.labels import Bins


@given(releases(), st.sampled_from([("bins", (n,)) for n in (1, 2, 3, 9)] + [("edges", (2, 4))]))
def test_a_value_becomes_the_mean_of_its_bin(release, parameters):
    values = [value for value, _ in content(release).values() if value is not None]
    if not values:
        return
    safer = so.sanitize(release, so.steps.RoundValue(*parameters))
    edges = parameters[1] if parameters[0] == "edges" else naive.equal_edges(values, *parameters[1])
    means, released = naive.bin_means(values, edges), content(safer)
    for cell, (value, time) in content(release).items():
        assert released[cell][1] == time
        assert released[cell][0] == (None if value is None else pytest.approx(means[value], abs=1e-12))
    total = math.fsum(value for value, _ in released.values() if value is not None)
    assert math.fsum(values) == pytest.approx(total)


def test_liked_is_one_and_disliked_zero(small_release):
    safer = so.sanitize(small_release, so.steps.RoundValue("liked", 4))
    old, new = content(small_release), content(safer)
    assert all(new[cell][0] == (None if old[cell][0] is None else float(old[cell][0] >= 4)) for cell in old)


def test_categories_can_be_removed_or_exchanged_but_not_binned():
    rows = [(f"r{i}", str(i % 3), "xyz"[i % 3], START) for i in range(60)]
    release = table(rows, "text")
    for words in ("round-value bins 2", "round-value liked 3", "round-value edges 1", "perturb-value 1"):
        with pytest.raises(so.ParameterError, match="categories"):
            so.sanitize(release, words)
    assert so.sanitize(release, "round-value none").levels is None
    safer = so.sanitize(release, "perturb-value none", seed=1)
    assert all(content(safer)[cell][0] != entry[0] for cell, entry in content(release).items())
    assert safer.mapping.released_values == ("x", "y", "z")


@pytest.mark.parametrize("probability", [1.0, 0.3])
def test_all_other_near_levels_are_equally_likely(large_release, probability):
    safer = so.sanitize(large_release, so.steps.PerturbValue(1, probability), seed=2)
    old, new = content(large_release), content(safer)
    changes = Counter((old[cell][0], new[cell][0]) for cell in old)
    totals = Counter(value for value, _ in old.values())
    assert all(old[cell][1] == new[cell][1] for cell in old)
    for value, n in totals.items():
        near = [other for other in totals if other != value and abs(other - value) <= 1]
        for other in totals:
            share = 1 - probability if other == value else probability / len(near) if other in near else 0
            assert abs(changes[value, other] - n * share) <= 5 * math.sqrt(n * share * (1 - share))


def test_a_value_without_another_near_level_stays():
    values = {"a": 0.3, "b": 0.4, "c": 5.0, "d": None}
    release = table([(record, "1", value, START) for record, value in values.items()])
    safer = so.sanitize(release, so.steps.PerturbValue(0.1), seed=1)
    released = {record: value for (record, _), (value, _) in content(safer).items()}
    assert released == {"a": 0.4, "b": 0.3, "c": 5.0, "d": None}


def test_an_empty_bin_is_merged_into_the_one_below():
    release = table([("a", "1", 1.0, START), ("b", "1", 4.5, START)])
    safer = so.sanitize(release, so.steps.RoundValue("edges", (2, 3, 4)))
    assert safer.step_reports[0].bins == Bins((4,), (1, 4.5))
    assert safer.step_reports[0].bins.bin_values([3.9, 4.0]) == (1, 4.5)
