"""The sentences of an advice agree with its numbers."""

import shlex

import pytest

import standout as so
from advising.samples import candidate, steps
from standout.advising.advice import Advice, limitations, summary_sentences
from standout.advising.search import SearchResult, unproven_candidates
from standout.evaluate.estimates import rate

pytestmark = pytest.mark.once
UNTOUCHED, WEAK = candidate([], 0.9, 1.0), candidate(["drop-entries 0.5"], 0.5, 0.7)
STRONG = candidate(["drop-entries 0.9"], 0.01, 0.3, stage="fresh")


def result(*candidates, **other):
    return SearchResult({each.steps: each for each in candidates}, **({"complete": True} | other))


def summary(search, limit=0.05, people=1_000_000):
    unproven = unproven_candidates(search, limit, people)
    return " ".join(summary_sentences(search, unproven, "5 items", limit, has_columns=False))


def test_the_recommended_candidate_is_named_with_its_rate_and_utility():
    text = summary(result(UNTOUCHED, STRONG, recommended=STRONG))
    assert "An adversary who knows a few facts (5 items) identifies 90 % (88 % to 91.7 %)" in text
    assert "of the people in the untouched release" in text
    assert "After drop-entries 0.9, the adversary identifies 1 %" in text
    assert "re-measured on fresh targets" in text and "keeps 30 % (25 % to 35 %) of the utility" in text


def test_nothing_has_to_be_changed_if_the_untouched_release_meets_the_limit():
    safe = candidate([], 0.01, 1.0, stage="fresh")
    assert "nothing has to be changed" in summary(result(safe, recommended=safe))


def test_without_a_recommendation_the_closest_candidate_is_named():
    text = summary(result(UNTOUCHED, WEAK, failed=[WEAK]))
    assert "None of the 1 candidates" not in text and "The only candidate does not meet the limit" in text
    assert "The closest is drop-entries 0.5, with 50 %" in text
    assert "1 candidate met the limit at first, but not when re-measured" in text


def test_a_candidate_below_the_limit_that_was_not_remeasured_is_not_called_a_failure():
    text = summary(result(UNTOUCHED, WEAK, STRONG))
    assert "Nothing is proven to meet the limit of 5 %, although one measured rate is below it" in text
    assert "The closest is drop-entries 0.9, with 1 % (" in text
    assert "It was not re-measured on fresh targets. The sanitized release keeps 30 %" in text


def test_a_rate_below_the_limit_that_is_not_proven_comes_with_the_number_of_targets_that_would():
    near, nearer = candidate(["drop-entries 0.7"], 0.0499, 0.6), candidate(["drop-entries 0.8"], 0.04, 0.5)
    text = summary(result(UNTOUCHED, WEAK, near, nearer))
    assert "although 2 measured rates are below it" in text and "The closest is drop-entries 0.8" in text
    assert "at least 1,825 targets are needed, and 5,581 prove it nine times out of ten" in text
    assert "Use a new seed" in text and "None of" not in text and "re-measured on fresh targets." in text
    assert "with slightly less than 5 %" in summary(result(UNTOUCHED, near))


def test_too_few_people_cannot_settle_it():
    nearer = candidate(["drop-entries 0.8"], 0.04, 0.5)
    few, some = (summary(result(UNTOUCHED, nearer), people=people) for people in (1_800, 1_900))
    assert "More targets cannot settle this" in few and "only 1,800 people have enough entries to be targets" in few
    assert "More targets may settle this" in some and "only 1,900 people" in some


def test_the_release_as_it_is_may_be_the_one_that_is_not_proven():
    text = summary(result(candidate([], 0.04, 1.0), candidate(["drop-entries 0.8"], 0.045, 0.5)))
    assert "The closest is the release as it is, with 4 %" in text and "keeps" not in text


def test_an_interrupted_search_says_so():
    assert "interrupted" in summary(result(UNTOUCHED, WEAK, complete=False))


def test_a_limit_that_is_met_by_leaving_people_out_is_a_warning():
    sample = candidate(["sample-records 0.1"], 0.01, 0.5, released=rate(90, 100), among="everybody", stage="fresh")
    search = result(UNTOUCHED, sample, recommended=sample)
    assert "of the people in the original" in summary(search)
    assert "leaving people out" in summary(search) and "No candidate meets the limit for them" in summary(search)
    search.candidates[STRONG.steps] = STRONG
    assert "drop-entries 0.9 seems to meet the limit for them too, and keeps 30 %" in summary(search)


def test_the_command_has_the_steps_and_no_seed():
    release = so.synthesize(records=9, items=5, entries=20, seed=1)

    def command(recommended, *data):
        search = result(UNTOUCHED, recommended=recommended)
        return Advice(release, search, so.Adversary(), 0.05, None, "released", 0).command(data, "safer")

    words = shlex.split(command(STRONG, "films.csv", "--record", "user"))
    given = [words[at + 1] for at, word in enumerate(words) if word == "--step"]
    assert steps(*given) == STRONG.steps
    assert words[:5] == ["standout", "sanitize", "films.csv", "--record", "user"]
    assert "--seed" not in words and "--renumber" in words and words[-2:] == ["-o", "safer"]
    assert command(None, "films.csv") == command(UNTOUCHED, "films.csv") == ""


def test_limitations_mention_times_and_impossible_candidates_only_if_there_are_any():
    timed = so.synthesize(records=9, items=5, entries=20, seed=1)
    both = limitations(result(UNTOUCHED, impossible={"a": "b"}), timed, so.Adversary())
    neither = limitations(result(UNTOUCHED), so.sanitize(timed, "round-time none"), so.Adversary())
    assert set(neither) < set(both) and len(both) == len(neither) + 2
    assert "1 candidate was not tried" in both[-1]
