"""A gate passes only if every adversary that counts stays below the limit, and the run itself is sound."""

from dataclasses import replace
from itertools import product

import pytest

from report.advice_samples import advice_findings, recommending
from report.sample_findings import full, untrusted
from standout.evaluate.estimates import rate
from standout.findings.audit import advice_gate, audit_gate, checked_threshold, undecided_gate

pytestmark = pytest.mark.once

FINDINGS = full()


def identifying(hits, n=100, name="nosy", gate=True, hits_in_release=None):
    """An adversary of the sample who identifies some targets."""
    sample, in_release = FINDINGS.adversaries[1], hits if hits_in_release is None else hits_in_release
    measures = replace(sample.as_named, identified=rate(hits, n), identified_in_release=rate(in_release, n))
    return replace(sample, name=name, gate=gate, as_named=measures)


def findings(limit, *adversaries, **others):
    """Findings with these adversaries and this limit."""
    threshold = checked_threshold(limit, adversaries)
    return replace(FINDINGS, adversaries=adversaries, threshold=threshold, **others)


@pytest.mark.parametrize(
    ("hits", "limit", "exceeded", "comparison"),
    [
        (0, 0.5, False, "This is within the threshold of 50 %."),
        (2, 0.05, True, "This may be above the threshold of 5 %: the interval contains the threshold."),
        (0, 0.03, True, "This may be above the threshold of 3 %: the interval contains the threshold."),
        (80, 0.05, True, "This is above the threshold of 5 %."),
    ],
)
def test_the_threshold_is_compared_with_the_upper_end_of_the_interval(hits, limit, exceeded, comparison):
    nosy, worst = identifying(hits), identifying(100, name="worst", gate=False)
    threshold = checked_threshold(limit, [nosy, worst])
    assert (threshold.exceeded, threshold.adversary) == (exceeded, "nosy")
    assert comparison in threshold.explanation
    assert checked_threshold(limit, [worst]).exceeded is None
    assert checked_threshold(None, [nosy]).explanation == "No threshold was set."


def test_the_threshold_is_about_people_in_the_release():
    nosy = identifying(50, hits_in_release=5)
    friend = identifying(10, name="friend", hits_in_release=90)
    threshold = checked_threshold(0.3, [nosy, friend])
    assert threshold.exceeded and threshold.adversary == "friend"


def test_each_adversary_that_counts_is_a_condition():
    gate = audit_gate(findings(0.2, identifying(5), identifying(80, name="friend"), identifying(99, gate=False)))
    about = {condition.about: condition.passed for condition in gate.conditions}
    assert about == {"nosy": True, "friend": False, "self-check": True, "completeness": True}
    message = gate.failed[0].message
    assert not gate.passed and "80 % (71 % to 87 %)" in message and "threshold of 20 %" in message


def test_the_gate_passes_if_and_only_if_the_threshold_is_not_exceeded():
    for hits, limit in product([0, 5, 20, 100], [0.0, 0.1, 0.5, 1.0]):
        found = findings(limit, identifying(3), identifying(hits, name="friend"))
        assert audit_gate(found).passed == (not found.threshold.exceeded)


def test_a_failed_self_check_and_an_interruption_do_not_pass():
    fine = findings(1.0, identifying(3))
    assert audit_gate(fine).passed
    assert [each.rule for each in audit_gate(replace(fine, complete=False)).failed] == ["not-decided"]
    failed = audit_gate(replace(fine, trust=untrusted().trust)).failed
    assert [each.rule for each in failed] == ["self-check-failed"] and "Do not trust" in failed[0].message


def test_a_limit_that_no_adversary_was_compared_with_does_not_pass():
    assert [each.rule for each in audit_gate(findings(0.5)).failed] == ["not-decided"]
    assert not audit_gate(findings(0.5, identifying(0, gate=False))).passed


def test_a_search_passes_if_a_candidate_meets_the_limit_and_all_were_tried():
    assert advice_gate(recommending()).passed
    assert [each.rule for each in advice_gate(advice_findings()).failed] == ["no-sufficient-change"]
    assert [each.rule for each in advice_gate(replace(recommending(), complete=False)).failed] == ["not-decided"]


def test_a_command_that_has_not_finished_does_not_pass():
    gate = undecided_gate("standout audit", 0.05)
    assert not gate.passed and gate.failed[0].title == "The audit is complete"
