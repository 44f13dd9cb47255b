"""Candidates are measured once and stored; the quick stage learns from a part of large data."""

import json

import pytest

import standout as so
from advising.samples import ADVERSARY, steps
from standout.advising.candidates import Candidate
from standout.advising.search import CandidateRunner

pytestmark = pytest.mark.once


def test_a_checkpoint_gives_the_same_candidate(small_release):
    runner = CandidateRunner(small_release, ADVERSARY, targets=40, people=30, seed=1)
    candidate = runner.measure("quick", steps("drop-entries 0.5"))
    text = json.dumps(candidate.to_checkpoint())
    again = Candidate.from_checkpoint(json.loads(text), candidate.steps, runner.among)
    assert json.dumps(again.to_checkpoint()) == text and repr(again.utility) == repr(candidate.utility)
    assert again.risk == candidate.risk and again.utility.steps == candidate.utility.steps


def test_the_quick_stage_learns_from_a_part_of_large_data(small_release, monkeypatch):
    monkeypatch.setattr("standout.advising.search.QUICK_ENTRIES", 1_500)
    runner = CandidateRunner(small_release, ADVERSARY, targets=40, people=60, seed=1)
    quick, full = runner.measure("quick", steps("drop-entries 0.5")), runner.measure("full", steps("drop-entries 0.5"))
    assert runner.benchmark("quick").share == 0.5 and quick.utility.hit_rate != full.utility.hit_rate
    utility = so.utility(small_release, so.steps.DropEntries(0.5), people=60, seed=1)
    assert repr(dict(full.utility.measures())) == repr(dict(utility.measures()))


def test_a_measured_candidate_is_not_measured_again(small_release, tmp_path, monkeypatch):
    settings = {"candidates": ["drop-entries 0.5"], "targets": 40, "people": 30, "seed": 1, "work": tmp_path}
    first = so.advise(small_release, ADVERSARY, 0.01, **settings)

    def fail(*_, **__):
        raise AssertionError("measured again")

    monkeypatch.setattr("standout.advising.search.sanitize", fail)
    assert so.advise(small_release, ADVERSARY, 0.01, **settings).to_dict() == first.to_dict()
    checkpoint = tmp_path / "candidates.checkpoint"
    assert checkpoint.stat().st_mode & 0o077 == 0
    checkpoint.write_text("{half")
    with (
        pytest.warns(RuntimeWarning, match="is not used: it is not a checkpoint"),
        pytest.raises(AssertionError, match="measured again"),
    ):
        so.advise(small_release, ADVERSARY, 0.01, **settings)
