"""The risk is that of the strongest attack among those that allow for noise."""

import pytest

import standout as so
from advising.samples import ADVERSARY, steps
from standout.advising.strongest_attack import identification_risk

pytestmark = pytest.mark.once


def test_without_noise_the_risk_is_the_rate_of_a_simulation(small_release):
    for texts in ([], ["drop-entries 0.5"], ["sample-records 0.4"], ["round-time month"]):
        safer = so.sanitize(small_release, *texts, seed=3)
        risk = identification_risk(safer, steps(*texts), ADVERSARY, 40, 5)
        simulation = so.simulate(safer, ADVERSARY, targets=40, seed=5, absent=False)
        assert risk.everybody == simulation.estimate("identified") and risk.attack == "", texts
        cell = simulation.cells[0]
        success = cell.outcomes.identified.ravel()
        is_present = safer.mapping.representatives[cell.targets] >= 0
        assert risk.released.value == pytest.approx(success[is_present].mean()), texts
        assert risk.released.n == is_present.sum(), texts


def test_with_noise_the_risk_is_that_of_the_strongest_attack(small_release):
    texts = ["perturb-time 365", "randomized-response 0.5"]
    safer = so.sanitize(small_release, *texts, seed=3)
    risk = identification_risk(safer, steps(*texts), ADVERSARY, 50, 5)
    attacks = [so.ScoreboardRH(so.Within(value=None, time=365 + 14))]
    attacks += [so.ScoreboardRH(time_scale=d, value_scale=v) for d in (30, 730, None) for v in (1.5, None)]
    rates = [
        so.simulate(safer, ADVERSARY, attack=attack, targets=50, seed=5, absent=False)
        .estimate("identified")
        .value
        for attack in attacks
    ]
    assert risk.everybody.value == pytest.approx(max(rates)) and risk.attack


@pytest.mark.realdata
@pytest.mark.slow
def test_on_movielens_noise_protects_less_than_the_papers_attack_says(realdata):
    release = so.read(realdata / "movielens-latest-small")
    adversary = so.Adversary(knows=8, wrong=2, value_error=1, time_error=14)
    texts = ["round-time none", "randomized-response 1"]
    safer = so.sanitize(release, *texts, seed=1)
    papers = so.simulate(safer, adversary, targets=300, seed=1, absent=False).estimate("identified")
    assert identification_risk(safer, steps(*texts), adversary, 300, 1).everybody.low > papers.high
