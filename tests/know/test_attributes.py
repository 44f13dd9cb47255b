"""Sim on attributes: the laws of each similarity."""

import math
from dataclasses import FrozenInstanceError
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from similarity_cases import FIRST, Near, released

import standout as so
from standout.know.similarity import ROUNDING

NUMBERS = st.floats(-1e6, 1e6) | st.sampled_from([0.0, 0.5, 1.0, 3.0, -2.0])


SCALES = st.floats(1e-3, 1e6)


# Attributes.


@given(NUMBERS, NUMBERS, st.floats(0, 1e6))
def test_within_is_1_up_to_the_threshold_and_0_beyond(known, value, threshold):
    similarity, reach = so.Within(value=threshold, time=threshold), threshold + ROUNDING
    assert similarity.values(known, np.array([value])).tolist() == [abs(value - known) <= reach]
    assert similarity.times(np.array([value, -value])).tolist() == [abs(value) <= reach] * 2


def test_what_differs_by_the_threshold_is_within_it_whatever_the_rounding():
    levels = np.array([i / 10 for i in range(11)])
    for known in range(11):
        for reach in range(1, 10):
            wanted = [abs(level - known) <= reach for level in range(11)]
            assert so.Within(value=reach / 10).values(known / 10, levels).tolist() == wanted
            assert so.Within(time=reach / 10).times(levels - known / 10).tolist() == wanted


@given(NUMBERS, NUMBERS, SCALES)
def test_decay_falls_from_1_with_the_distance_over_the_scale(known, value, scale):
    similarity = so.Decay(value_scale=scale, time_scale=scale)
    expected = math.exp(-abs(value - known) / scale)
    assert similarity.values(known, np.array([value])) == pytest.approx([expected], rel=1e-12, abs=1e-300)
    expected = math.exp(-abs(value) / scale)
    assert similarity.times(np.array([value])) == pytest.approx([expected], rel=1e-12, abs=1e-300)


NUMERIC = st.one_of(
    st.builds(so.Within, st.floats(0, 1e6), st.floats(0, 1e6)), st.builds(so.Decay, SCALES, SCALES), st.just(Near())
)


SYMMETRIC = st.one_of(st.builds(so.Within, st.floats(0, 9), st.floats(0, 9)), st.builds(so.Decay, SCALES, SCALES))


@given(NUMERIC, NUMBERS, st.lists(NUMBERS, min_size=1))
def test_the_parts_of_sim_lie_between_0_and_1_and_are_1_for_the_same(similarity, known, others):
    for part in (similarity.values(known, np.array(others)), similarity.times(np.array(others))):
        assert part.shape == (len(others),) and (part >= 0).all() and (part <= 1).all()
    assert similarity.values(known, np.array([known])).tolist() == [1.0]
    assert similarity.times(np.array([0.0])).tolist() == [1.0]


@given(SYMMETRIC, NUMBERS, NUMBERS)
def test_sim_of_attributes_is_symmetric(similarity, one, other):
    there, back = similarity.values(one, np.array([other])), similarity.values(other, np.array([one]))
    assert there.tolist() == back.tolist()
    assert similarity.times(np.array([one])).tolist() == similarity.times(np.array([-one])).tolist()


@given(SYMMETRIC, st.floats(-100, 100), st.lists(st.floats(0, 1e4), min_size=2))
def test_sim_of_attributes_never_rises_with_the_distance(similarity, known, distances):
    apart = np.sort(np.array(distances))
    for part in (
        similarity.values(known, known + apart), similarity.values(known, known - apart),
        similarity.times(apart), similarity.times(-apart),
    ):  # fmt: skip
        assert (np.diff(part) <= 0).all()


@given(st.lists(st.text(min_size=1), min_size=1, unique=True), st.data())
def test_equal_is_1_for_the_same_category_alone(levels, data):
    known = data.draw(st.sampled_from(levels))
    assert so.Equal().values(known, tuple(levels)).tolist() == [level == known for level in levels]
    assert so.Equal().values("no such level" * 9, tuple(levels)).tolist() == [0.0] * len(levels)


def test_equal_is_1_for_the_same_number_alone():
    assert so.Equal().values(2, np.array([1.0, 2.0, 2.0000001])).tolist() == [0.0, 1.0, 0.0]


def test_what_is_not_compared_is_none():
    levels, days = np.array([1.0]), np.array([0.0])
    for blind in (so.Within(None, None), so.Decay(None, None), so.Present(), so.Similarity()):
        assert blind.values(1, levels) is None and blind.times(days) is None
    assert so.Within(None, 3).values(1, levels) is None and so.Within(None, 3).times(days) is not None
    assert so.Decay(1, None).times(days) is None and so.Decay(1, None).values(1, levels) is not None
    assert so.Equal().times(days) is None


@pytest.mark.parametrize("similarity", [so.Within(), so.Within(0, 0), so.Decay(), so.Equal()], ids=str)
def test_categories_are_the_same_or_have_nothing_in_common(similarity):
    assert similarity.values("dvd", ("dvd", "tape", "DVD")).tolist() == [1.0, 0.0, 0.0]
    assert similarity.values("disc", ("dvd", "tape")).tolist() == [0.0, 0.0]
    release = released([("p", "x", "dvd", FIRST.date()), ("q", "x", "tape", FIRST.date())], kind="text")
    verdict = so.ScoreboardRH(similarity).attack(release, so.Aux([so.Fact("x", value="tape")]))
    assert verdict.best == "q" and verdict.score("p") == 0.0
    assert so.record_similarity(release, "p", "q", similarity) == (0.5 if similarity.adds else 0.0)


@pytest.mark.parametrize("similarity", [so.Within(), so.Decay(), so.Equal()], ids=str)
def test_a_text_has_no_distance_from_numbers(similarity):
    with pytest.raises(so.ParameterError, match="the release's values are numbers"):
        similarity.values("dvd", np.array([4.0]))


def test_scales_and_thresholds_are_finite_numbers_or_none():
    for (make, name), bad in product(
        [
            (so.Within, "value"),
            (so.Within, "time"),
            (so.Decay, "value_scale"),
            (so.Decay, "time_scale"),
            (so.ScoreboardRH, "value_scale"),
            (so.ScoreboardRH, "time_scale"),
        ],
        [-1, -1e-9, float("nan"), float("inf"), -float("inf"), "1", True, [1.5], 1j],
    ):
        with pytest.raises(so.ParameterError, match=f"^{name} must be a finite number [≥>] 0, or None, got ") as caught:
            make(**{name: bad})
        assert "\n" not in str(caught.value)


def test_a_threshold_may_be_0_and_a_scale_may_not():
    assert so.Within(value=0, time=0).times(np.array([0.0, 1.0])).tolist() == [1.0, 0.0]
    for name in ("value_scale", "time_scale"):
        with pytest.raises(so.ParameterError, match=f"{name} must be a finite number > 0, or None, got 0"):
            so.Decay(**{name: 0})


def test_similarities_are_frozen_and_equal_by_what_they_say():
    assert so.Within(1, 14) == so.Within() != so.Within(1, 15)
    assert len({so.Decay(), so.Decay(1.5, 30), so.Decay(2, 30), so.Present(), so.Equal(), so.Present()}) == 4
    with pytest.raises(FrozenInstanceError):
        so.Within().value = 3
