"""The first page: dots as measured, an example without any data, three cards, and what to do next."""

import re
from dataclasses import replace

import pytest

from report import sample_findings
from report.page_reader import Page
from report.sample_pages import page_for
from standout.evaluate.estimates import Estimate
from standout.findings.audit import Threshold
from standout.report.audit_page import MOST_DOTS, audit_page, first_page, people_dots, worked_example

pytestmark = pytest.mark.once


def dots_of(text):
    """Number of coloured and of other dots in each picture of people on a page."""
    pictures = re.findall(r'<svg class="people".*?</svg>', text, flags=re.DOTALL)
    return [
        tuple(
            sum(path.count("M") for path in re.findall(rf'<path class="{kind}" d="([^"]*)"', picture))
            for kind in ("found", "other")
        )
        for picture in pictures
    ]


def with_rate(value, targets):
    findings = sample_findings.minimal()
    return replace(findings, answer=replace(findings.answer, rate=Estimate(value, 0.0, 1.0, targets)))


@pytest.mark.parametrize(
    ("value", "targets", "found", "other"),
    [
        (595 / 610, 610, 595, 15),
        (0.0, 610, 0, 610),
        (1.0, 20, 20, 0),
        (0.84, 1000, 840, 160),
        (0.5, 4_000, 400, 400),
        (0.0001, 100_000, 1, 999),
    ],
)
def test_there_are_as_many_dots_as_targets_and_as_many_coloured_as_identified(value, targets, found, other):
    text = audit_page(with_rate(value, targets))
    assert dots_of(text) == [(found, other)] * 2
    scale = targets // (found + other)
    words = Page(text).text
    assert ("Each dot is one person" if scale == 1 else f"Each dot represents {scale} people") in words
    assert "Numbers are rounded." in words and f"{found + other:,} dots are coloured" in words


def test_dots_are_few_and_show_anybody_who_is_identified():
    for targets in (1, 2, 999, 1_000, 1_001, 2_500, 7_777, 480_189, 10**9):
        for value in (0.0, 1e-9, 0.3, 1 - 1e-9, 1.0):
            dots = people_dots(Estimate(value, 0.0, 1.0, targets), targets)
            assert 1 <= dots.dots <= MOST_DOTS and 0 <= dots.coloured <= dots.dots
            assert (dots.coloured == 0) == (value == 0)
            assert abs(dots.coloured - value * dots.dots) <= 1
            assert abs(dots.dots * dots.people_per_dot - targets) <= dots.people_per_dot / 2


def test_an_unknown_rate_has_no_picture():
    assert people_dots(Estimate(float("nan"), 0.0, 1.0, 0), 0) is None
    assert not dots_of(audit_page(with_rate(float("nan"), 0)))


def example_of(text):
    """The words of the example on a page."""
    return Page(re.search(r'<section class="example".*?</section>', text, flags=re.DOTALL)[0]).text


def test_the_example_contains_nothing_of_the_data():
    assert example_of(page_for("full")) == example_of(page_for("hostile"))
    assert "Kim does not exist. All facts are invented" in example_of(page_for("full"))


@pytest.mark.parametrize("wrong_by", [(8, 2), (8, 0), (1, 0), (3, 1), (20, 5), (64, 0)])
@pytest.mark.parametrize("errors", [(None, None), (0, None), (1, 0), (None, 14), (0.5, 2.5)])
def test_the_example_has_the_facts_and_the_errors_of_the_adversary(wrong_by, errors):
    (knows, wrong), (value_error, time_error) = wrong_by, errors
    findings = sample_findings.full()
    adversary = replace(findings.headline, knows=knows, wrong=wrong, value_error=value_error, time_error=time_error)
    example = worked_example(adversary, findings.data)
    shown_wrong = sum(fact.is_wrong for fact in example.facts)
    assert len(example.facts) == min(knows, 8) and shown_wrong <= wrong
    if knows > 8:
        assert f"and {knows - 8} more" in example.further
    else:
        assert shown_wrong == wrong and not example.further
    assert all(("star" in fact.text) == (value_error is not None) for fact in example.facts)
    assert all(
        ("March" in fact.text or "April" in fact.text or "May" in fact.text) == (time_error is not None)
        for fact in example.facts
    )
    assert ("roughly" in example.knowledge) == bool(value_error)
    assert ("to within" in example.knowledge) == bool(time_error)
    fitting = [fitting for _, fitting in example.lineup]
    assert len(fitting) == 3 and fitting[0] == knows - wrong == max(fitting)
    assert ("is identified" in example.result) == (fitting[0] > fitting[1])


def test_an_example_for_data_without_values_and_dates_has_none():
    findings = sample_findings.minimal()
    example = worked_example(findings.headline, findings.data)
    assert not re.search("star|March|April|May", " ".join(fact.text for fact in example.facts))


def test_an_adversary_whose_facts_are_all_wrong_has_no_example():
    findings = sample_findings.full()
    assert worked_example(replace(findings.headline, knows=2, wrong=2), findings.data) is None


@pytest.mark.parametrize("kind", ["full", "minimal", "untrusted"])
def test_each_of_the_three_questions_has_a_card_with_the_answer_of_the_findings(kind):
    findings = getattr(sample_findings, kind)()
    text = page_for(kind)
    cards = re.findall(r'<div class="card(?: yes)?">.*?</div>', text, flags=re.DOTALL)
    parts = findings.verdict.singling_out, findings.verdict.linkability, findings.verdict.inference
    assert len(cards) == 3
    for card, part in zip(cards, parts, strict=True):
        assert part.title in card and part.answer.capitalize() in card
        assert ('class="card yes"' in card) == (part.answer == "yes")


def test_recommendations_follow_from_the_findings():
    full, untrusted = sample_findings.full(), sample_findings.untrusted()
    assert any("personal data" in step for step in first_page(full).next_steps)
    assert any("did not measure" in step for step in first_page(full).next_steps)
    assert len(first_page(untrusted).next_steps) == 1
    assert "Do not use these numbers" in first_page(untrusted).next_steps[0]
    steps = first_page(sample_findings.minimal()).next_steps
    assert "do not exist" in steps[0] and "--quick" in steps[-1]  # synthetic data


def test_without_a_yes_the_board_is_not_told_that_all_is_well():
    findings = sample_findings.minimal()
    findings = replace(findings, data=replace(findings.data, synthetic=False))
    no = {
        key: replace(getattr(findings.verdict, key), answer="not by these adversaries")
        for key in ("singling_out", "linkability", "inference")
    }
    steps = first_page(replace(findings, verdict=replace(findings.verdict, **no))).next_steps
    assert "could know more" in steps[0]
    exceeded = Threshold(fail_above=0.05, measured=None, adversary=None, exceeded=True, explanation="")
    findings = replace(findings, verdict=replace(findings.verdict, **no), threshold=exceeded)
    assert "Do not publish" in first_page(findings).next_steps[0]


def test_few_claims_beside_many_right_guesses_are_explained():
    findings, words = sample_findings.minimal(), "right guesses are many and claims are few"
    (only,) = findings.adversaries
    many, none = sample_findings.est(0.99), sample_findings.est(0.0)
    measures = replace(only.as_named, identified=many, correct_claims_at_budget=none)
    rarely = replace(findings, adversaries=(replace(only, as_named=measures),))
    assert words not in page_for("minimal") and audit_page(rarely).count(words) == 1


def test_there_is_a_line_for_name_date_and_signature():
    words = re.findall(r"<dt>(Name|Date|Signature)</dt>", page_for("minimal"))
    assert words == ["Name", "Date", "Signature"]
