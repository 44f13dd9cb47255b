"""Laws of a user's own function: how often it is called, and that its results are kept."""

import numpy as np

import standout as so

RELEASE = so.synthesize(records=200, items=80, entries=4_000, seed=3)
ADVERSARY = so.Adversary(knows=3, value_error=1, time_error=14)


def near(known, value, days):
    return (value == known) * 0.5 + (0.0 if days is None else 1 / (1 + abs(days)))


def counted(function):
    calls = []

    def calling(*given):
        calls.append(given)
        return function(*given)

    return calling, calls


def test_results_are_kept_for_the_next_batch():
    calling, calls = counted(near)
    attack, records = so.ScoreboardRH(so.Custom(calling)), np.arange(RELEASE.n_records)
    eligible = records[ADVERSARY.eligible(RELEASE, records)]
    first, later = (ADVERSARY.observe_all(RELEASE, eligible[part], seed=1) for part in (slice(40), slice(40, 80)))
    attack.attacks(RELEASE, first)
    asked = len(calls)
    assert asked == len(set(calls))
    attack.attacks(RELEASE, first)
    assert len(calls) == asked
    attack.attacks(RELEASE, later)
    assert len(calls) < 1.3 * asked


def test_no_more_results_are_kept_than_fit(monkeypatch):
    monkeypatch.setattr("standout.know.similarity.MOST_KEPT", 1_000)
    similarity = so.Custom(lambda known, value, days: 1 / (1 + abs(days)))
    for known in range(20):
        row = similarity.results([(float(known), 3.0, float(day)) for day in range(512)])
        assert row == [1 / (1 + day) for day in range(512)]
        assert len(similarity.kept) <= 1_000 + 512
