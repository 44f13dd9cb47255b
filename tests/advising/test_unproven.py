"""What is below the limit but not proven, and how many targets would prove it."""

import pytest

import naive
from advising.samples import candidate
from standout.advising.search import CHANCE, SearchResult, unproven_candidates
from standout.evaluate.estimates import rate

pytestmark = pytest.mark.once
LIMIT, PEOPLE = 0.2, 100_000
UNTOUCHED = candidate([], 0.9, 1.0)
A = candidate(["drop-entries 0.7"], 0.18, 0.6, n=500)
B = candidate(["drop-entries 0.8"], 0.15, 0.5, n=200)
WORSE = candidate(["drop-entries 0.9"], 0.16, 0.4)
ABOVE = candidate(["drop-entries 0.6"], 0.21, 0.7)


def unproven(*candidates, people=PEOPLE, **other):
    every = {each.steps: each for each in (UNTOUCHED, *candidates)}
    return unproven_candidates(SearchResult(every, **({"complete": True} | other)), LIMIT, people)


def test_only_undominated_candidates_below_the_limit_are_listed_the_fewest_targets_first():
    result = unproven(A, B, WORSE, ABOVE)
    assert result.number == 3 and [each.name for each in result.candidates] == [B.name, A.name]
    assert [each.targets_needed for each in result.candidates] == [
        naive.naive_trials_to_prove(each.rate.value, LIMIT) for each in (B, A)
    ]


def test_the_advised_number_of_targets_proves_it_in_both_stages_nine_times_out_of_ten():
    (each,) = unproven(B).candidates
    chance = naive.chance_to_prove(B.rate.value, LIMIT, each.targets_advised)
    assert chance**2 == pytest.approx(CHANCE, abs=0.03)
    assert unproven(B).targets == each.targets_advised > each.targets_needed


def test_never_fewer_targets_are_advised_than_were_measured():
    safe = candidate(["drop-entries 0.9"], 0.01, 0.4, n=1000)
    assert unproven(safe).candidates[0].targets_advised == 1000 > unproven(safe).candidates[0].targets_needed


def test_targets_missing_from_the_release_are_needed_too():
    half = candidate(["sample-records 0.5"], 0.075, 0.5, n=400, released=rate(30, 200))
    needed = unproven(half).candidates[0].targets_needed
    assert needed == 2 * naive.naive_trials_to_prove(0.15, LIMIT)


def test_a_candidate_that_failed_counts_as_it_was_re_measured():
    again = candidate(["drop-entries 0.8"], 0.19, 0.5, stage="fresh")
    closest = unproven(B, failed=[again]).candidates[0]
    assert closest.stage == "fresh" and closest.rate == again.rate
    above = candidate(["drop-entries 0.8"], 0.22, 0.5, stage="fresh")
    assert unproven(B, failed=[above]) is None


def test_too_few_people_settle_nothing():
    needed, advised = (getattr(unproven(B).candidates[0], f"targets_{name}") for name in ("needed", "advised"))
    assert unproven(B, people=needed - 1).targets is None
    assert unproven(B, people=needed).targets == needed
    assert unproven(B, people=advised + 1).targets == advised


def test_nothing_is_unproven_after_a_recommendation_an_interruption_or_without_targets():
    nobody = candidate(["sample-records 0.5"], 0.0, 0.5, released=rate(0, 0))
    for result in (unproven(B, recommended=B), unproven(B, complete=False), unproven(nobody), unproven()):
        assert result is None
