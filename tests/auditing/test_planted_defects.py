"""Defects planted where they would live: each must fail a check, and the audit is then not trusted."""

from dataclasses import replace

import numpy as np
import pytest

import standout as so
import standout.attack.own_attack as attack_base
import standout.attack.scoreboard as scoreboard
import standout.evaluate.outcomes as outcomes
import standout.evaluate.simulation as cell
import standout.know.adversary as adversary_module
from auditing.audit_samples import ACQUAINTANCE, people
from standout.attack.verdict import VerdictColumns, Verdicts
from standout.auditing import assemble_findings
from standout.auditing import runs as adversary_runs
from standout.evaluate import estimates
from standout.evaluate import simulate as target_attacks
from standout.evaluate.simulate import TargetAttacks
from standout.evaluate.targets import Population
from standout.know.observation import Observer

pytestmark = pytest.mark.once

STEPS = ["cluster-records 3", "perturb-value 1", "perturb-time 30", "round-time month", "drop-rare-items 8"]


def failed(release, **options):
    """Names of the checks that an audit fails."""
    options = {"targets": 30, "facts": [4], "ladder": {"acquaintance": ACQUAINTANCE}} | options
    result = so.audit(release, **options)
    names = {check.name for check in result.findings.trust.checks if not check.passed}
    assert result.trusted == (not names)
    assert result.findings.verdict.summary.startswith("Do not trust") == bool(names)
    return names


@pytest.fixture(scope="module")
def release():
    return people(n=60, items=40, length=lambda r: 10 + r % 5)


def test_the_undamaged_audit_fails_no_check(release):
    assert failed(release, ladder=None, facts=[2, 4]) == set()


@pytest.mark.parametrize(
    "step", ["cluster-records 3", "perturb-value 1", "perturb-time 30", "round-time month", "drop-rare-items 8"]
)
def test_sanitized_releases_fail_no_check(release, step):
    assert failed(so.sanitize(release, step, seed=1)) == set()


def test_halved_eccentricities_are_noticed(release, monkeypatch):
    eccentricity = VerdictColumns.eccentricity.fget
    monkeypatch.setattr(VerdictColumns, "eccentricity", property(lambda self: eccentricity(self) / 2))
    assert {"outcomes", "absence"} <= failed(release)


def test_halved_strengths_of_claims_are_noticed(release, monkeypatch):
    strengths = Verdicts.claim_strengths

    def halved(self):
        strength = strengths(self)
        return np.where(strength > 0, strength / 2, strength)

    monkeypatch.setattr(Verdicts, "claim_strengths", halved)
    assert {"outcomes", "absence"} <= failed(release)


def test_two_more_bits_are_noticed(release, monkeypatch):
    bits = outcomes._bits_left
    monkeypatch.setattr(outcomes, "_bits_left", lambda *args: bits(*args) + 2)
    assert "outcomes" in failed(release)


def test_two_more_bits_in_the_summary_are_noticed(release, monkeypatch):
    measurements = cell.SimulationCell.measurements

    def two_more(self, *args):
        for measurement in measurements(self, *args):
            estimate, more = measurement.estimate, 2 * measurement.measure.startswith("bits")
            moved = replace(estimate, value=estimate.value + more, low=estimate.low + more, high=estimate.high + more)
            yield measurement._replace(estimate=moved)

    monkeypatch.setattr(cell.SimulationCell, "measurements", two_more)
    assert "rates" in failed(release)


def test_facts_with_four_times_the_stated_error_are_noticed(release, monkeypatch):
    values, times = Observer._values, Observer._times

    def widened(method, name):
        def of(self, uniform, code, wrong):
            wide = Observer.__new__(Observer)
            error = (getattr(self.adversary, name) or 0) * 4
            wide.__dict__ = self.__dict__ | {"adversary": replace(self.adversary, **{name: error})}
            return method(wide, uniform, code, wrong)

        return of

    for name, method, error in (("_values", values, "value_error"), ("_times", times, "time_error")):
        with monkeypatch.context() as patch:
            patch.setattr(Observer, name, widened(method, error))
            assert "facts" in failed(release)


def test_facts_drawn_for_another_adversary_in_the_simulation_are_noticed(release, monkeypatch):
    known_facts, outcomes = Population.known_facts, TargetAttacks.outcomes

    def other(self, adversary, people, seed, draws=1):
        return known_facts(self, replace(adversary, wrong=min(adversary.wrong + 2, 8)), people, seed, draws)

    def with_others(self, *args):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Population, "known_facts", other)
            return outcomes(self, *args)

    monkeypatch.setattr(TargetAttacks, "outcomes", with_others)
    assert "outcomes" in failed(release)


def test_facts_that_are_all_wrong_are_noticed(release, monkeypatch):
    monkeypatch.setattr(Observer, "_wrong", lambda self, uniform, known, count: np.ones(uniform.shape, np.bool_))
    assert "facts" in failed(release)


def test_facts_that_are_all_right_are_noticed(release, monkeypatch):
    monkeypatch.setattr(Observer, "_wrong", lambda self, uniform, known, count: np.zeros(uniform.shape, np.bool_))
    assert "facts" in failed(release)


def test_facts_that_are_all_exact_are_noticed(release, monkeypatch):
    monkeypatch.setattr(Observer, "_values", lambda self, uniform, code, wrong: code)
    assert "facts" in failed(release)


def test_other_items_than_stated_are_noticed(release, monkeypatch):
    chosen = Observer._chosen

    def rarest(self, uniform, entries):
        other = Observer.__new__(Observer)
        other.__dict__ = self.__dict__ | {"choice": adversary_module.Choice("rarest")}
        return chosen(other, uniform, entries)

    monkeypatch.setattr(Observer, "_chosen", rarest)
    assert "facts" in failed(release, targets=60)


def test_an_ignored_exclusion_is_noticed(release, monkeypatch):
    monkeypatch.setattr(
        attack_base, "excluded_records", lambda release, exclude, queries: np.full(queries, -1, np.int64)
    )
    assert "absence" in failed(release)


def test_weights_with_the_excluded_record_are_noticed(release, monkeypatch):
    prepare = scoreboard.prepare_queries

    def with_its_weights(release, known, similarity, weights, exclude, *mode):
        queries = prepare(release, known, similarity, weights, np.full_like(exclude, -1), *mode)
        return replace(queries, exclude=exclude)

    monkeypatch.setattr(scoreboard, "prepare_queries", with_its_weights)
    assert failed(release) == {"absence"}


def test_collapsed_intervals_are_noticed(release, monkeypatch):
    rate = estimates.rate

    def collapsed(*args, **options):
        estimate = rate(*args, **options)
        return replace(estimate, low=estimate.value, high=estimate.value)

    for module in (estimates, cell, assemble_findings):
        monkeypatch.setattr(module, "rate", collapsed)
    assert failed(release) == {"intervals"}


def test_intervals_of_means_that_are_half_as_wide_are_noticed(release, monkeypatch):
    def halved(*args, **options):
        estimate = estimates.mean(*args, **options)
        reach = estimate.width / 2
        return replace(estimate, low=estimate.value - reach, high=estimate.value + reach)

    monkeypatch.setattr(cell, "mean", halved)
    assert failed(release) == {"intervals"}


def test_success_halved_in_the_outcomes_is_noticed(release, monkeypatch):
    attack_outcomes = target_attacks.attack_outcomes

    def halved(*args, **options):
        result = attack_outcomes(*args, **options)
        return replace(result, identified=result.identified / 2)

    monkeypatch.setattr(target_attacks, "attack_outcomes", halved)
    assert "outcomes" in failed(release)


def test_success_halved_in_the_findings_is_noticed(release, monkeypatch):
    measures = assemble_findings._estimates

    def halved(*args):
        result = measures(*args)
        return result | {"identified": estimates.rate(result["identified"].value * 15, 30)}

    monkeypatch.setattr(assemble_findings, "_estimates", halved)
    assert failed(release) == {"rates"}


def test_success_halved_in_the_answer_is_noticed(release, monkeypatch):
    answer = assemble_findings.sentences.answer

    def halved(*args):
        result = answer(*args)
        return replace(result, rate=estimates.rate(result.rate.value * 15, 30))

    monkeypatch.setattr(assemble_findings.sentences, "answer", halved)
    assert failed(release) == {"rates"}


@pytest.mark.parametrize("name", ["paper", "likelihood"])
def test_another_attack_in_place_is_noticed(release, monkeypatch, name):
    others = {"paper": so.ScoreboardRH(value_scale=None), "likelihood": so.Likelihood(so.Adversary(knows=8))}

    simulate = adversary_runs.simulate

    def with_other(*args, attack, **options):
        other = others[name] if isinstance(attack, type(others[name])) else attack
        return simulate(*args, attack=other, **options)

    monkeypatch.setattr(adversary_runs, "simulate", with_other)
    assert "outcomes" in failed(release)
