"""The sentences of an audit: they follow from the numbers, and never say more."""

from dataclasses import replace

import pytest

from report.sample_findings import full
from standout.auditing import sentences
from standout.evaluate.estimates import Estimate, rate

pytestmark = pytest.mark.once

FINDINGS = full()


def adversary(name="nosy", gate=True, **measures):
    """An adversary of the sample with other measures."""
    sample = FINDINGS.adversaries[1]
    return replace(sample, name=name, knows=2, wrong=0, gate=gate, as_named=replace(sample.as_named, **measures))


def identifying(hits, n=100, name="nosy", gate=True, hits_in_release=None):
    in_release = hits if hits_in_release is None else hits_in_release
    return adversary(name, gate, identified=rate(hits, n), identified_in_release=rate(in_release, n))


def verdict(hits, n=100, records=1000, share=0.0, claims=0):
    nosy = adversary(
        identified=rate(hits, n, 1 / records),
        correct_claims_at_budget=rate(claims, n, 1 / records),
        correct_claims=rate(claims, n, 1 / records),
        absent_claims=rate(0, n, 1.0),
        revealed_correct_share=rate(share * n, n, 0.02),
        revealed_correct=rate(share * n, n),
    )
    return sentences.verdict(replace(FINDINGS, adversaries=(nosy,), disclosure=()), True)


def test_too_few_targets_to_be_sure_of_phi_are_no_protection():
    unsure = Estimate(0.5, 0.0, 0.8, 100, 0.001)
    nosy = adversary(correct_claims_at_budget=unsure)
    assert sentences.verdict(replace(FINDINGS, adversaries=(nosy,), disclosure=()), True).linkability.answer == "yes"


def test_the_verdict_says_yes_partly_or_not_by_these_adversaries():
    answers = []
    for arguments in ((90, 100, 1000, 0.9, 50), (4, 100, 1000, 0.1, 1), (0, 100, 1000, 0.02, 0)):
        judged = verdict(*arguments)
        answers.append([part.answer for part in (judged.singling_out, judged.linkability, judged.inference)])
    assert answers == [["yes"] * 3, ["partly"] * 3, ["not by these adversaries"] * 3]
    assert verdict(0).summary == ("People in this data were not identified by these adversaries. Others may succeed.")
    assert verdict(90, share=0.1).summary == (
        "These adversaries succeed at singling out, and in some cases at inference. "
        "On this evidence, the data cannot be considered anonymous."
    )
    assert verdict(1, 1, 1).singling_out.answer == "yes"  # in a single record guessing is right as well


def test_limits_depend_on_the_audit():
    nosy = replace(identifying(5), too_few_items=12)
    data, settings = replace(FINDINGS.data, records=1200, columns=0), replace(FINDINGS.settings, quick=False)
    whole = replace(FINDINGS, adversaries=(nosy,), data=data, settings=settings, original=None, complete=True)
    said = sentences.limits(whole, ())
    assert "12 of 1,200 people have too few entries to be targets of “nosy”." in " ".join(said)
    assert "1,000 targets, drawn at random, represent all people with enough entries." in said
    quick = replace(settings, quick=True)
    more = sentences.limits(replace(whole, complete=False, settings=quick, original=data), ["More."])
    assert len(more) == len(said) + 4 and more[-1] == "More."
