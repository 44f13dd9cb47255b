"""The risk is that of the strongest attack, chosen on other targets than those reported."""

import numpy as np
import pytest

import standout as so
from advising.samples import ADVERSARY
from standout.advising.search import identification_risk

pytestmark = pytest.mark.once


def simulated(safer, attack):
    simulation = so.simulate(safer, ADVERSARY, attack=attack, targets=40, seed=5, absent=False)
    return simulation.cells[0].targets, simulation.cells[0].outcomes.identified.ravel()


@pytest.mark.parametrize("text", ["drop-entries 0.5", "sample-records 0.4", "perturb-time 365"])
def test_each_half_has_the_rate_of_the_attack_that_is_stronger_on_the_other_half(small_release, text):
    safer = so.sanitize(small_release, text, seed=3)
    risk = identification_risk(safer, ADVERSARY, 40, 5)
    targets, paper = simulated(safer, so.ScoreboardRH())
    _, likelihood = simulated(safer, so.Likelihood())
    halves = slice(0, None, 2), slice(1, None, 2)
    success = np.empty(len(targets))
    for half, other in (halves, halves[::-1]):
        better = paper if paper[other].sum() > likelihood[other].sum() else likelihood
        success[half] = better[half]
    is_present = safer.mapping.representatives[targets] >= 0
    assert risk.everybody.value == pytest.approx(success.mean())
    assert risk.released.value == pytest.approx(success[is_present].mean())
    assert risk.released.n == is_present.sum()
    assert {*risk.attack.split(" or ")} <= {"paper", "likelihood"}


def test_an_attack_of_ones_own_that_is_stronger_counts(small_release):
    safer = so.sanitize(small_release, "drop-entries 0.5", seed=3)
    sure = so.Likelihood(coverage=0.5)
    own = identification_risk(safer, ADVERSARY, 40, 5, own_attacks={"own": sure})
    assert own.everybody.value >= identification_risk(safer, ADVERSARY, 40, 5).everybody.value - 0.1


@pytest.mark.realdata
@pytest.mark.slow
def test_on_movielens_noise_protects_less_than_the_papers_attack_says(realdata):
    release = so.read(realdata / "movielens-latest-small")
    adversary = so.Adversary(knows=8, wrong=2, value_error=1, time_error=14)
    texts = ["round-time none", "randomized-response 1"]
    safer = so.sanitize(release, *texts, seed=1)
    papers = so.simulate(safer, adversary, targets=300, seed=1, absent=False).estimate("identified")
    assert identification_risk(safer, adversary, 300, 1).everybody.low > papers.high
