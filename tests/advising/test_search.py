"""The search, with a runner that returns known numbers: only a re-measured candidate is recommended."""

import pytest

from advising.samples import FakeRunner, steps
from standout.advising.search import search_candidates
from standout.core.progress import no_progress

pytestmark = pytest.mark.once
KNOWN = {
    "": (0.9, 1.0),
    "drop-entries 0.5": (0.5, 0.8),
    "drop-entries 0.8": (0.02, 0.4),
    "drop-entries 0.9": (0.01, 0.3),
}
CANDIDATES = [steps(name) for name in KNOWN if name]


def search(runner):
    return search_candidates(runner, 0.05, CANDIDATES, no_progress)


def test_the_highest_utility_below_the_limit_is_recommended_once_it_is_re_measured():
    runner = FakeRunner(KNOWN)
    result = search(runner)
    assert result.complete and result.recommended.name == "drop-entries 0.8"
    assert result.recommended.stage == "fresh" and runner.calls[-1] == ("fresh", "drop-entries 0.8")


@pytest.mark.parametrize("rate", [0.06, 0.045], ids=["above the limit", "only its interval reaches above"])
def test_a_candidate_that_fails_when_re_measured_is_replaced_by_the_next(rate):
    result = search(FakeRunner(KNOWN, {"drop-entries 0.8": (rate, 0.4)}))
    assert result.recommended.name == "drop-entries 0.9"
    assert [failed.name for failed in result.failed] == ["drop-entries 0.8"]
    both = {"drop-entries 0.8": (0.06, 0.4), "drop-entries 0.9": (0.07, 0.4)}
    assert search(FakeRunner(KNOWN, both)).recommended is None


def test_an_interval_that_reaches_above_the_limit_does_not_meet_it():
    runner = FakeRunner(KNOWN | {"drop-entries 0.8": (0.045, 0.4)})
    assert search(runner).recommended.name == "drop-entries 0.9"


def test_a_release_that_meets_the_limit_is_not_changed():
    assert search(FakeRunner(KNOWN | {"": (0.01, 1.0)})).recommended.steps == ()


def test_a_candidate_that_leaves_nothing_is_listed_and_skipped():
    result = search(FakeRunner(KNOWN | {"drop-entries 0.9": None}))
    assert result.impossible == {"drop-entries 0.9": "nothing would be left"} and result.recommended


def test_an_interrupted_search_recommends_nothing():
    for calls in (2, 4, 6, 8):
        result = search(FakeRunner(KNOWN, stop_after=calls))
        assert not result.complete and result.recommended is None and len(result.candidates) >= 2, calls


def test_an_interruption_before_the_first_candidate_ends_the_search():
    with pytest.raises(KeyboardInterrupt):
        search(FakeRunner(KNOWN, stop_after=1))
