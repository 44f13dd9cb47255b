"""Candidates for the strongest attack, and its choice on other targets than those reported."""

import numpy as np

import standout as so
from standout.evaluate.compare import candidate_attacks, choose_strongest, cross_fit


class Blind(so.Attack):
    """Knows nothing: all records are alike."""

    def scores(self, release, known):
        return np.zeros((len(known), release.n_records))


def test_cross_fitting_reports_each_half_with_the_attack_that_the_other_half_prefers():
    rng = np.random.default_rng(3)
    successes = {name: rng.random(101) for name in ("paper", "likelihood", "own")}
    even = max(successes, key=lambda name: successes[name][0::2].sum())
    odd = max(successes, key=lambda name: successes[name][1::2].sum())
    name, success = cross_fit(successes)
    assert odd != even and name == f"{odd} or {even}"
    assert np.array_equal(success[0::2], successes[odd][0::2])
    assert np.array_equal(success[1::2], successes[even][1::2])


def test_equally_strong_attacks_make_the_bayesian_one_the_strongest():
    same = np.ones(7)
    assert cross_fit({"paper": same, "likelihood": same, "own": same})[0] == "likelihood"


def test_the_best_of_attacks_that_guess_is_no_better_than_a_guess():
    rng = np.random.default_rng(5)
    rates = []
    for _ in range(200):
        guesses = {str(number): (rng.random(50) < 0.3) * 1.0 for number in range(10)}
        rates.append(cross_fit(guesses)[1].mean())
    assert abs(np.mean(rates) - 0.3) < 0.02


def test_the_strongest_attack_is_chosen_on_other_people():
    small_release = so.synthesize(records=120, items=60, entries=1_500, seed=7)
    adversary = so.Adversary(knows=3, time_error=14)
    attacks = candidate_attacks(small_release, adversary) | {"blind": Blind()}
    reported = np.arange(0, small_release.n_records, 2)
    assert choose_strongest(small_release, adversary, attacks, reported, seed=1) in ("paper", "likelihood")
    everybody = np.arange(small_release.n_records)
    assert choose_strongest(small_release, adversary, attacks, everybody, seed=1) in ("paper", "likelihood")


class Among(so.Attack):
    """Identifies only people among these records: who has most of the items, the shortest record first."""

    def __init__(self, records):
        self.records = records

    def scores(self, release, known):
        scores = np.full((len(known), release.n_records), -np.inf)
        scores[:, self.records] = -release.lengths[self.records] / release.n_items
        for fact in so.fact_entries(release, known):
            scores[fact.target, fact.record] += 1.0
        return scores


def test_an_attack_that_succeeds_on_reported_targets_only_is_not_chosen():
    release = so.synthesize(records=300, items=100, entries=5_000, seed=3)
    reported, others = np.arange(200), np.arange(200, 300)
    attacks = {"reported": Among(reported), "others": Among(others)}
    chosen = choose_strongest(release, so.Adversary(knows=6), attacks, reported, seed=1, threads=1)
    assert chosen == "others"
