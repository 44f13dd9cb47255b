"""Theorems 1 to 4 with the facts of an adversary: what is measured is what the slow twin sees."""

from datetime import datetime
from functools import partial

import numba
import numpy as np
import pytest

import naive
import standout as so
from conftest import content
from random_releases import random_rows, read_rows
from standout.measure import bounds
from standout.measure.bounds import FACTS_PREMISE, NOT_RANDOM, TWICE, WRONG, matching_sets, measured_by, twice_as_wide

COMPILED = not numba.config.DISABLE_JIT
SEED = 2008
OPTIONS = {"epsilon": 0.1, "delta": 0.8, "targets": 40 if COMPILED else 6, "samples": 1, "seed": SEED}
ADVERSARIES = [
    so.Adversary(value_error=1, time_error=3),
    so.Adversary(value_error=2, time_error=6),
    so.Adversary(value_error=0, time_error=None),
    so.Adversary(value_error=None, time_error=2),
    so.Adversary(wrong=1, value_error=1, time_error=3),
    so.Adversary(wrong=2, wrong_facts="items", value_error=0, time_error=0),
    so.Adversary(value_error=1, time_error=3, items="rarest", length_error=0.5),
]


@pytest.fixture(scope="module")
def release():
    return read_rows(random_rows(120 if COMPILED else 25, 30, SEED, length=12, missing=0.05))


def rows_of(release, adversary, similarity=None, **options):
    checks = bounds.check(release, adversary=adversary, similarity=similarity, **OPTIONS | options)
    return {(row.theorem, row.statement, row.settings.over): row for row in checks}


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=str)
def test_matches_of_imprecise_facts_equal_the_slow_twin(release, adversary):
    similarity, twin, alpha, m = so.Within(1, 3), partial(naive.within, value=1, time=3), 0.9, 4
    found = matching_sets(release, similarity, alpha, m, targets=20, seed=SEED, adversary=adversary)
    wide = twice_as_wide(similarity, adversary)
    wide_twin = partial(naive.within, value=wide.value, time=wide.time)
    wider, entries = measured_by(wide, release, found), content(release)
    knows_m = so.Adversary(**{**_parameters(adversary), "knows": m})
    n_eligible = np.count_nonzero(knows_m.eligible(release, np.arange(release.n_records)))
    assert len(found.sets) == min(20, n_eligible)
    assert found.too_few_items == release.n_records - n_eligible
    for matching, again, is_precise in zip(found.sets, wider.sets, found.precise, strict=True):
        target = release.records[matching.target]
        aux = knows_m.observe(release, target, seed=SEED)
        facts = {fact.item: (fact.value, _days(release, fact.time)) for fact in aux}
        own = [twin(known, entries[target, i]) if (target, i) in entries else 0 for i, known in facts.items()]
        assert is_precise == all(sim >= alpha for sim in own)
        scores = naive.minima(entries, facts, twin)
        candidates = naive.candidates(entries, aux.length)
        records = [release.records[record] for record in matching.record]
        assert records == naive.shortlex(r for r in candidates if scores[r] >= alpha)
        assert again.record.tolist() == matching.record.tolist()
        slow = [naive.record_similarity(entries, target, other, wide_twin, "first") for other in records]
        assert again.similarity["first"].tolist() == pytest.approx(slow)
        if is_precise:  # the triangle inequality, on which the check relies
            known = [item for item in facts if (target, item) in entries]
            for other in records:
                assert all(wide_twin(entries[target, item], entries[other, item]) for item in known)


def _parameters(adversary):
    return {name: getattr(adversary, name) for name in adversary.__dataclass_fields__}


def _days(release, time):
    return None if time is None else naive.units(_midnight(time), "day")


def _midnight(time):
    return datetime(time.year, time.month, time.day)


@pytest.mark.parametrize("adversary", ADVERSARIES[:4], ids=str)
def test_what_follows_holds_for_imprecise_facts_whose_premise_is_met(release, adversary):
    similarity = so.Within(2, 6)
    rows = rows_of(release, adversary, similarity)
    assert rows[1, FACTS_PREMISE, None].measured.value == 1 and rows[1, FACTS_PREMISE, None].holds
    assert rows[1, TWICE, "first"].holds
    exact = rows_of(release, None, similarity)
    assert {*rows} - {*exact} == {(1, FACTS_PREMISE, None), (1, TWICE, "first")}
    for key in [key for key in exact if key[0] == 5 or "premise" in key[1]]:
        assert rows[key] == exact[key]  # they are about the release


def test_dates_that_are_not_known_refute_the_statement_about_dates():
    """All have the same items and values, each on days of their own: without dates everybody matches."""
    rows = [(str(p), str(i), 1.0, 100 * p) for p in range(12) for i in range(8)]
    found = rows_of(read_rows(rows), so.Adversary(time_error=None))
    assert found[1, "a random match is similar", "first"].holds is False
    assert found[1, "a random match is similar", "first"].measured.value == pytest.approx(1 / 12)
    assert found[1, TWICE, "first"].measured.value == 1


@pytest.mark.parametrize(
    ("adversary", "note"), [(ADVERSARIES[4], WRONG), (ADVERSARIES[5], WRONG), (ADVERSARIES[6], NOT_RANDOM)]
)
def test_without_its_premise_a_theorem_is_not_refuted(release, adversary, note):
    rows = rows_of(release, adversary, so.Within(1, 3))
    about_facts = [row for row in rows.values() if row.settings.m and row.statement != FACTS_PREMISE]
    assert all(row.holds is not False and row.note.startswith(note) for row in about_facts)
    assert (rows[1, FACTS_PREMISE, None].holds is False) == (adversary.wrong > 0)


def test_exact_facts_of_an_adversary_need_no_note(release):
    rows = rows_of(release, so.Adversary(value_error=0, time_error=0))
    assert rows[1, "a random match is similar", "first"].note == ""
    assert rows[1, FACTS_PREMISE, None].measured.value == 1


def test_only_an_adversary_is_an_adversary(release):
    with pytest.raises(so.ParameterError, match="adversary must be an Adversary, or None, got int"):
        bounds.check(release, adversary=8)


def test_what_two_entries_have_in_common_leaves_out_what_is_not_known():
    knows_all = so.Adversary()
    no_dates, no_values = so.Adversary(time_error=None), so.Adversary(value_error=None)
    assert twice_as_wide(so.Within(1, 14), knows_all) == so.Within(2, 28)
    assert twice_as_wide(so.Within(1, 14), no_dates) == so.Within(2, None)
    assert twice_as_wide(so.Within(None, 14), no_values) == so.Within(None, 28)
    assert twice_as_wide(so.Equal(), no_values) == so.Present()
    assert twice_as_wide(so.Equal(), knows_all) == so.Equal()
    assert np.isfinite(twice_as_wide(so.Within(0, 0), knows_all).value)
