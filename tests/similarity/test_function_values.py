"""Laws of a user's own function: how it is called changes nothing but the time."""

import math

import numpy as np
import pytest

import standout as so
from standout.know.similarity import FunctionValues

RELEASE = so.synthesize(records=200, items=80, entries=4_000, seed=3)
ADVERSARY = so.Adversary(knows=3, value_error=1, time_error=14)


def near(known, value, days):
    return (value == known) * 0.5 + (0.0 if days is None else 1 / (1 + abs(days)))


def near_one(known, value, days):
    return float(near(known, value, None if days is None else float(days)))


def known_facts(part):
    records = np.arange(RELEASE.n_records)
    return ADVERSARY.observe_all(RELEASE, records[ADVERSARY.eligible(RELEASE, records)][part], seed=1)


def highest(function):
    return so.ScoreboardRH(so.Custom(function)).attacks(RELEASE, known_facts(slice(40))).columns.highest


def counted(function):
    calls = []

    def calling(*given):
        calls.append(given)
        return function(*given)

    return calling, calls


def test_calls_with_arrays_and_with_single_numbers_give_the_same_scores():
    assert highest(near) == pytest.approx(highest(near_one), rel=1e-9)


def test_a_function_of_arrays_is_called_for_few_of_the_distances():
    calling, calls = counted(near)
    highest(calling)
    alone, single = counted(near_one)
    highest(alone)
    assert len(calls) < len(single) / 10


@pytest.mark.parametrize("function", [near, near_one])
def test_results_are_kept_for_the_next_batch(function):
    calling, calls = counted(function)
    attack = so.ScoreboardRH(so.Custom(calling))
    attack.attacks(RELEASE, known_facts(slice(40)))
    first = len(calls)
    attack.attacks(RELEASE, known_facts(slice(40)))
    assert len(calls) == first
    attack.attacks(RELEASE, known_facts(slice(40, 80)))
    assert len(calls) < 1.3 * first


def test_a_subclass_that_overrides_the_call_takes_effect():
    class Halved(so.Custom):
        def __call__(self, known, value, days):
            return super().__call__(known, value, days) / 2

    whole, half = (kind(near_one) for kind in (so.Custom, Halved))
    scores = [so.ScoreboardRH(each).attacks(RELEASE, known_facts(slice(5))).columns.highest for each in (whole, half)]
    assert scores[1] == pytest.approx(scores[0] / 2)


WRONG_ON_ARRAYS = {
    "an order": lambda days: 1 / (1 + abs(np.sort(-np.atleast_1d(days))[0 if np.ndim(days) == 0 else ...])),
    "a mean": lambda days: 1 / (1 + abs(np.mean(days))),
    "one for all": lambda days: float(np.all(np.abs(days) < 1000)),
    "an error": lambda days: math.exp(-abs(days) / 30),
    "not finite": lambda days: np.full(np.shape(days), np.nan) if np.ndim(days) else 1.0,
    "changed in place": lambda days: np.abs(days, out=days) if np.ndim(days) else abs(days),
}


@pytest.mark.parametrize("name", WRONG_ON_ARRAYS)
def test_what_a_function_makes_of_an_array_counts_only_if_single_numbers_agree(name):
    of_days, steps = WRONG_ON_ARRAYS[name], np.arange(-700, 800)
    values = FunctionValues(lambda known, value, days: of_days(days))
    expected = [float(of_days(float(step))) for step in steps]
    assert values.over_times(4.0, 3.0, steps, 1.0, many=True).tolist() == pytest.approx(expected, rel=1e-12)


def test_no_result_depends_on_what_was_asked_before():
    once, later = (FunctionValues(lambda known, value, days: np.exp(-np.abs(days) / 30)) for _ in range(2))
    later.over_times(4.0, 3.0, np.arange(-5, 90), 1.0, many=True)
    later.over_times(4.0, 3.0, np.arange(1_000, 1_003), 1.0, many=True)
    steps = np.arange(-300, 1_100)
    assert np.array_equal(*(values.over_times(4.0, 3.0, steps, 1.0, many=True) for values in (once, later)))


def test_a_function_need_not_answer_for_distances_that_cannot_come_up():
    table = np.linspace(1, 0, 300)
    values = FunctionValues(lambda known, value, days: table[np.abs(days).astype(int)])
    assert values.over_times(4.0, 3.0, np.arange(300), 1.0, many=True).tolist() == table.tolist()


def test_no_more_results_are_kept_than_fit(monkeypatch):
    monkeypatch.setattr("standout.know.similarity.MOST", 1_000)
    values = FunctionValues(lambda known, value, days: 1 / (1 + np.abs(days)))
    for known in range(20):
        row = values.over_times(float(known), 3.0, np.arange(512), 1.0, many=True)
        assert row == pytest.approx(1 / (1 + np.arange(512)))
        assert sum(map(len, values._kept.values())) <= 1_000


def test_levels_are_given_as_an_array_where_there_are_many():
    calling, calls = counted(lambda known, value, days: 0.0 if value is None else 1 / (1 + abs(value - known)))
    levels = [*np.arange(500.0).tolist(), None]
    row = FunctionValues(calling).over_levels(7.0, levels)
    assert row.tolist() == [*(1 / (1 + abs(np.arange(500.0) - 7.0))), 0.0]
    assert len(calls) < 20
