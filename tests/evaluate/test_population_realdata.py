"""Real people of an original, looked for in what was made from it: all at once, and one by one in words."""

from dataclasses import fields, replace

import numpy as np
import pytest

import standout as so
from standout.attack.verdict import NO_CLAIM
from standout.data.release import Release
from standout.evaluate.outcomes import Outcomes
from standout.know.facts import level_values
from standout.know.sanitized import OriginalMapping, Sanitized
from standout.sanitizing.files import write_sanitized

pytestmark = [pytest.mark.realdata, pytest.mark.large]

ADVERSARY = so.Adversary(knows=8, wrong=2, value_error=1, time_error=14)
STEPS = ("round-time month", "perturb-value 1 0.5", "drop-rare-items 5", "drop-entries 0.2", "sample-records 0.7")


@pytest.fixture(scope="module")
def movielens(realdata):
    return so.read(realdata / "movielens-latest-small")


@pytest.fixture(scope="module")
def safer(movielens):
    return so.sanitize(movielens, *STEPS, seed=11, renumber=True)


@pytest.mark.slow
def test_an_unchanged_release_gives_the_same_numbers(movielens):
    columns = {field.name: getattr(movielens, field.name) for field in fields(Release)}
    terms = OriginalMapping(np.arange(movielens.n_records), np.arange(movielens.n_items), level_values(movielens))
    by_hand = Sanitized(**columns, original=movielens, mapping=terms)
    adversaries = {"usual": ADVERSARY, "filtered": replace(ADVERSARY, length_error=0.5, joined_error=30)}
    plain, *others = (
        so.simulate(data, adversaries, facts=[2, 8], targets=100, draws=2, seed=2)
        for data in (movielens, by_hand, so.sanitize(movielens))
    )
    for other in others:
        assert plain.table.equals(other.table)
        for cell, same in zip(plain.cells, other.cells, strict=True):
            for field in fields(Outcomes):
                a, b = (getattr(measured.outcomes, field.name) for measured in (cell, same))
                assert np.array_equal(a, b, equal_nan=True)


def aux_in_months(aux, release):
    """What is known as months, without items that the release does not have."""
    return so.Aux([
        replace(fact, time=None if fact.time is None else fact.time.replace(day=1))
        for fact in aux
        if release.items.find(fact.item) is not None
    ])  # fmt: skip


def test_outcomes_equal_those_of_single_attacks(movielens, safer):
    cell = so.simulate(safer, ADVERSARY, targets=60, seed=5).cell()
    outcomes, n_present = cell.outcomes, 0
    for t, person in enumerate(cell.targets.tolist()):
        who = movielens.records[person]
        aux = aux_in_months(ADVERSARY.observe(movielens, who, seed=5), safer)
        representative = int(safer.mapping.representatives[person])
        name = None if representative < 0 else safer.records[representative]
        verdict = so.ScoreboardRH().attack(safer, aux)
        without_target = so.ScoreboardRH().attack(safer, aux, exclude=name)
        matched = verdict.match(0), without_target.match(0)
        claim, absent = (
            result.eccentricity if match else NO_CLAIM
            for result, match in zip((verdict, without_target), matched, strict=True)
        )
        assert outcomes.claim_strength[t, 0] == pytest.approx(claim, rel=2e-6)
        assert outcomes.absent_claim_strength[t, 0] == pytest.approx(absent, rel=2e-6)
        if name is None:
            assert (outcomes.identified[t, 0], outcomes.in_top[t, 0]) == (0, 0)
            assert outcomes.bits_left[t, 0] == pytest.approx(np.log2(safer.n_records), rel=1e-12)
        else:
            n_present += 1
            assert outcomes.identified[t, 0] == (name in verdict.tied) / verdict.ties
            assert outcomes.bits_left[t, 0] == pytest.approx(verdict.entropy(name), abs=2e-6)
    assert cell.present == n_present / 60 < 1


def test_revealed_items_are_compared_with_the_original(movielens, safer):
    """By the entries in words: months of the truth, values within 1 of what was perturbed."""
    cell = so.simulate(safer, ADVERSARY, targets=60, seed=5).cell()
    for t, person in enumerate(cell.targets.tolist()):
        who = movielens.records[person]
        known = ADVERSARY.observe(movielens, who, seed=5)
        verdict = so.ScoreboardRH().attack(safer, aux_in_months(known, safer))
        if verdict.ties != 1:
            continue
        guess = safer.record(verdict.best)
        truth = {entry.item: entry for entry in movielens.record(who).entries}
        new = [entry for entry in guess.entries if entry.item not in {fact.item for fact in known}]
        right = sum(
            entry.item in truth
            and abs(truth[entry.item].value - entry.value) <= 1
            and abs((truth[entry.item].time.replace(day=1) - entry.time).days) <= 14
            for entry in new
        )
        assert cell.outcomes.revealed[t, 0] == len(new) and cell.outcomes.revealed_correct[t, 0] == right
        shared = {*truth} & {entry.item for entry in guess.entries}
        alike = [entry for entry in guess.entries if entry.item in shared]
        total = sum(
            abs(truth[entry.item].value - entry.value) <= 1
            and abs((truth[entry.item].time.replace(day=1) - entry.time).days) <= 14
            for entry in alike
        )
        similarity = total / (len(truth) + len(guess.entries) - len(shared))
        assert cell.outcomes.similar[t, 0] == (similarity >= 0.5)


@pytest.mark.slow
def test_facts_of_the_release_itself_identify_more(movielens, safer, tmp_path):
    write_sanitized(safer, tmp_path / "safer.csv", key=tmp_path / "key.csv")
    alone = so.read(tmp_path / "safer.csv")
    as_truth, as_known = (so.simulate(data, ADVERSARY, targets=200, seed=1) for data in (alone, safer))
    assert as_truth.original is None and as_known.original == movielens.fingerprint
    assert as_truth.estimate("identified").low > as_known.estimate("identified").high
    again = so.open_sanitized(tmp_path / "safer.csv", movielens, tmp_path / "key.csv")
    assert so.simulate(again, ADVERSARY, targets=200, seed=1).table.equals(as_known.table)


@pytest.mark.slow
def test_an_audit_uses_the_original(safer):
    audit = so.audit(safer, quick=True, seed=1)
    assert audit.complete and audit.trusted, audit.findings.trust
    assert audit.findings.answer.people_total == 610
    assert audit.findings.original.not_in_release == int((safer.mapping.representatives < 0).sum()) > 0
