"""Public values on the scale of the release."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from linking_data import data

import naive
import standout as so
from standout.linking.align import align
from standout.linking.decoys import Profiles

pytestmark = pytest.mark.once


def of_levels(levels, item="i"):
    return data([(f"r{at}", item, level) for at, level in enumerate(levels)])


def test_values_move_to_the_scale_of_the_release():
    for ours, theirs, values, expected in (
        ([1, 2, 3, 4, 5], [1, 4, 10], "auto", [1, 1 + 4 / 3, 5]),
        ([0.5, 3, 5], [1, 10], "auto", [0.5, 5]),
        ([0.5, 1, 5], [1, 2, 5], "auto", [1, 2, 5]),
        ([1, 2, 5], [0.5, 1, 5], "auto", [1, 1, 5]),
        ([1, 5], [2], "auto", [2]),
        ([1, 5], [7], "auto", [None]),
        ([3], [1, 5], "auto", [None, None]),
        ([1, 5], [0, 100], "auto", [1, 5]),
        ([-10, 10], [1, 5], "auto", [-10, 10]),
        ([1, 5], [1, 10], "same", [1, 5]),
        ([1, 5], [1, 10], (0.5, 0), [1, 5]),
        ([1, 5], [1, 2, 6], (0.5, 1), [1.5, 2, 4]),
        ([1, 5], [1, 5], (-1, 6), [5, 1]),
        ([1, 5], [1, 5], "none", [None, None]),
    ):
        value = align(of_levels(map(float, ours)), of_levels(map(float, theirs)), values=values).value
        assert [None if math.isnan(level) else level for level in value] == pytest.approx(expected)


def test_values_outside_the_range_are_counted():
    alignment = align(of_levels([1.0, 5.0]), of_levels([1.0, 8.0, 10.0]), values="same")
    assert "2 of 3 public values lie outside the release's range" in alignment.explanation
    shifted = align(of_levels([1.0, 5.0]), of_levels([1.0, 2.0, 8.0]), values=(1, -1)).explanation
    assert "Values become 1 · value − 1: as specified. 2 of 3 public values lie outside" in shifted
    same = align(of_levels([1.0, 5.0]), of_levels([1.0, 5.0]), values=(1, 0)).explanation
    assert same.endswith("Values are used unchanged: as specified.")
    guessed = align(of_levels([1.0, 5.0]), of_levels([1.0, 10.0]))
    assert "guessed from the lowest and highest values in use" in guessed.explanation


STARS = st.lists(st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0]), min_size=1, max_size=12)
TENS = st.lists(st.sampled_from([float(n) for n in range(1, 11)]), min_size=1, max_size=12)


@given(STARS, TENS)
def test_quantiles_equal_the_slow_ones(ours, theirs):
    value = align(of_levels(ours), of_levels(theirs), values="quantiles").value
    assert value.tolist() == pytest.approx(naive.matched_quantiles(ours, theirs))


@given(STARS)
def test_quantiles_of_the_same_values_change_nothing(stars):
    side = of_levels(stars)
    assert align(side, side, values="quantiles").value.tolist() == pytest.approx(side.levels.tolist())


def test_quantiles_are_taken_over_the_shared_items_only():
    release = data([("a", "i", 1.0), ("b", "i", 2.0), *((f"r{n}", "j", 5.0) for n in range(9))])
    public = data([("x", "i", 10.0), ("y", "i", 20.0), *((f"p{n}", "k", 20.0) for n in range(9))])
    assert align(release, public, values="quantiles").value.tolist() == [1.0, 2.0]
    empty = data([("x", "i", None), ("x", "k", 20.0)])
    with pytest.raises(so.ParameterError, match="one data set has no values for the shared items"):
        align(release, empty, values="quantiles")


def test_categories_are_compared_by_their_texts():
    ours, theirs = of_levels(["bad", "good"]), of_levels(["fair", "good"])
    alignment = align(ours, theirs)
    assert np.isnan(alignment.value[0]) and alignment.value[1] == 1
    known = Profiles(ours, theirs, alignment).known(np.arange(2))
    assert known.value.tolist() == [-1, 1] and known.values == ("bad", "good")
    assert "The release has 1 of the 2 public categories" in alignment.explanation
    assert np.isnan(align(ours, of_levels([1.0, 2.0])).value).all()
    for values in ("same", "quantiles", (1, 0)):
        with pytest.raises(so.ParameterError, match="categories"):
            align(ours, of_levels([1.0, 2.0]), values=values)


def test_values_that_are_not_allowed_are_errors():
    for values in ("other", (1,), (0, 1), (1, math.inf), (True, 1), ("1", 2), None, 3):
        with pytest.raises(so.ParameterError, match="values must be auto, same, quantiles, none or"):
            align(of_levels([1.0]), of_levels([1.0]), values=values)


def test_a_scale_that_puts_every_value_outside_is_an_error():
    with pytest.raises(so.ParameterError, match="every public value outside the release's range, 1 to 5"):
        align(of_levels([1.0, 5.0]), of_levels([1.0, 10.0]), values=(2, 40))


def test_profiles_without_values_say_which_items_they_have():
    release, public = data([("a", "i", 1.0), ("a", "j", 3.0)]), data([("x", "i"), ("x", "k")])
    alignment = align(release, public)
    known = Profiles(release, public, alignment).known(np.arange(1))
    assert (known.item.tolist(), known.value.tolist(), known.timed.tolist()) == ([0], [-1], [False])
    assert "Values are not compared: the public data has none" in alignment.explanation
    value = align(data([("a", "i")]), data([("x", "i", 1.0)])).value
    assert value.tolist() == pytest.approx([math.nan], nan_ok=True)
    with pytest.raises(so.ParameterError, match="the public data has no values"):
        align(release, public, values=(1, 0))
