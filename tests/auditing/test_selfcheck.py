"""The self-check: it passes on a correct attack and fails on every broken one."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

import naive
import standout as so
import standout.attack.own_attack as attack_base
from auditing.audit_samples import CASES, people, valid
from conftest import content
from standout.attack.reference import scores_1b
from standout.attack.reference_arrays import known_items_of_query
from standout.attack.verdict import Verdicts
from standout.auditing import selfcheck
from standout.auditing.ladder import LADDER, fit_rung
from standout.auditing.runs import AuditPlan
from standout.auditing.selfcheck import check_attack, planted_release
from standout.findings.audit import Settings

pytestmark = pytest.mark.once


def checks(release):
    settings = Settings(targets=10, facts=(2,), phi=1.5, posterior=0.95, budget=0.01, top=10)
    plan = AuditPlan(release=release, settings=settings, seed=0, threads=None, work=None)
    return {check.name: check for check in check_attack(plan, LADDER[1])}


def test_the_checks_pass_on_a_correct_attack(release):
    results = checks(release)
    assert list(results) == ["planted", "guessing"]
    assert all(check.passed for check in results.values())
    assert (results["planted"].expected, results["planted"].observed) == ("40 of 40", "40 of 40")


def break_attack(monkeypatch, change):
    """Change the verdicts of every attack."""
    score = attack_base.score

    def broken(*args, **options):
        queries, columns = score(*args, **options)
        return queries, change(columns)

    monkeypatch.setattr(attack_base, "score", broken)


def test_an_attack_that_misses_the_best_score_is_not_trusted(release, monkeypatch):
    break_attack(monkeypatch, lambda columns: replace(columns, highest=columns.highest * 1.5))
    results = checks(release)
    assert not results["planted"].passed
    result = so.audit(release, targets=5, facts=[2])
    assert not result.trusted and not valid(result)["trust"]["trusted"]
    assert result.findings.verdict.summary.startswith("Do not trust this result: the audit failed its self-check.")


def test_an_attack_that_peeks_at_the_answer_fails(release, monkeypatch):
    monkeypatch.setattr(selfcheck, "success_rates", lambda release, known, targets, *more: np.ones((len(targets), 1)))
    assert not checks(release)["guessing"].passed


def test_claims_about_all_absent_people_fail(release, monkeypatch):
    strengths = Verdicts.claim_strengths
    monkeypatch.setattr(
        Verdicts, "claim_strengths", lambda self: np.where(self.queries.exclude >= 0, 1e9, strengths(self))
    )
    failed = [
        check.name for check in so.audit(release, targets=20, facts=[2]).findings.trust.checks if not check.passed
    ]
    assert "absence" in failed


@pytest.mark.parametrize("levels", [(5e-324, 1e-300), (5e-324, 1e-300, 1.0), (1e-12, 2e-12, 3e-12)])
def test_values_that_differ_by_rounding_errors_fail_no_check(levels):
    release = people(n=60, items=40, value=lambda draw: levels[int(draw.integers(len(levels)))])
    result = so.audit(release, targets=10, facts=[2])
    assert [check.name for check in result.findings.trust.checks if not check.passed] == []


def test_planted_records_replace_their_rows_and_nothing_else(release):
    planted, rows, _ = planted_release(release, 5)
    old, new = content(release), content(planted)
    replaced = {release.records[row] for row in rows.tolist()}
    assert {pair: cell for pair, cell in new.items() if pair[0] not in replaced} == {
        pair: cell for pair, cell in old.items() if pair[0] not in replaced
    }
    assert list(planted.records) == list(release.records)
    assert [int(planted.lengths[row]) for row in rows] == [16] * 20
    assert all(None not in cell for pair, cell in new.items() if pair[0] in replaced)


@pytest.mark.parametrize("case", ["gaps", "categories", "hourly", "neither", "no times"])
def test_the_reference_scores_of_the_check_are_the_papers(case):
    release = CASES[case]()
    rung = fit_rung(LADDER[1], release)
    known = rung.adversary.observe_all(release, [4], 1)
    unit = 24 if release.clock and release.clock.unit == "hour" else 1
    facts = {}
    for fact in known.aux(release, 0):
        time = None
        if fact.time is not None:
            moment = fact.time if isinstance(fact.time, datetime) else datetime(*fact.time.timetuple()[:3])
            time = naive.units(moment, release.clock.unit) / unit
        facts[fact.item] = (fact.value, time)
    cells = {pair: (value, None if time is None else time / unit) for pair, (value, time) in content(release).items()}
    slow = naive.sums(cells, facts)
    scores = scores_1b(known_items_of_query(release, known, 0), release.n_records)
    assert scores.tolist() == pytest.approx([slow[name] for name in release.records])


def test_a_large_release_is_checked_on_a_sample_of_its_records(release, monkeypatch):
    monkeypatch.setattr(selfcheck, "SAMPLE", 25)
    results = checks(release)
    assert all(check.passed for check in results.values())
    assert "among 13 records" in results["planted"].explanation
