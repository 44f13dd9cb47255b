"""The report of an advice shows its findings, and texts from outside as text."""

import re
from dataclasses import replace

import jsonschema
import pytest

from report.advice_samples import advice_findings, candidate_findings, recommending, unproven_findings
from report.sample_findings import HOSTILE
from standout.core.text import estimate_text
from standout.findings.json_types import schema_of, to_json
from standout.findings.link_and_advise import AdviceFindings
from standout.report.pages import advice_page, advice_section

pytestmark = pytest.mark.once


@pytest.fixture
def no_charts(monkeypatch):
    """Skip the drawing of charts, for tests about something else."""
    empty = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" viewBox="0 0 9 9"><g></g></svg>'
    monkeypatch.setattr("standout.report.charts.draw", lambda *args, **options: empty.encode())


def test_samples_are_valid():
    for advice in (advice_findings(), recommending(), unproven_findings()):
        jsonschema.validate(to_json(advice), schema_of(AdviceFindings, "advice.json"))


def test_the_page_shows_sentences_command_candidates_and_limits():
    advice = recommending()
    page = advice_page(advice)
    texts = [
        *advice.sentences,
        *advice.limits,
        *advice.step_descriptions.values(),
        advice.command,
        advice.composition.explanation,
    ]
    texts += [f"Recommended: {advice.recommended.name}", advice.adversary, "5\xa0% of the people"]
    for text in (*texts, *(candidate.name for candidate in advice.candidates)):
        assert text in page, text
    assert page.count("<svg") == 2 and "<script" not in page


def test_the_frontier_is_numbered_by_decreasing_risk_with_the_recommended_candidate_re_measured(no_charts):
    advice = recommending()
    rows = advice_section(advice).table.rows
    assert [row[0] for row in rows] == ["1. as it is", "2. drop-entries 0.5", "3. drop-entries 0.9"]
    assert rows[2][1][0] == estimate_text(advice.recommended.identified) and rows[2][-1] == "fresh"
    every = advice_section(advice).drawing.figure.table.rows
    assert [row[0] for row in every] == [candidate.name for candidate in advice.candidates]


def test_the_release_as_it_is_comes_first_even_if_it_is_not_on_the_frontier():
    first, *others = recommending().candidates
    better = candidate_findings("round-time year", identified=0.95, kept=1.0)
    candidates = (replace(first, frontier=False), better, *others)
    section = advice_section(replace(recommending(), candidates=candidates))
    names = [row[0] for row in section.table.rows]
    assert names[:3] == ["1. as it is", "2. round-time year", "3. drop-entries 0.5"]
    assert all(f">{number}</text>" in section.drawing.wide for number in range(1, 5))


def test_the_page_shows_what_would_settle_it_if_nothing_is_proven(no_charts):
    advice = unproven_findings()
    page = advice_page(advice)
    answer = "Nothing is proven to meet the limit, although 3 measured rates are below it."
    assert re.search('<p class="answer">(.*?)</p>', page)[1] == answer
    assert advice_section(advice).unproven.rows[0][3:] == ("1,000", "1,825", "5,678")
    for text in ("What would settle it", "9,000 people can be targets", advice.unproven.command, "5,678"):
        assert text in page, text
    assert "What would settle it" not in advice_page(advice_findings())


def test_the_answer_says_what_to_do(no_charts):
    untouched = replace(advice_findings().candidates[0], stage="fresh")
    for advice, answer in [
        (advice_findings(), "No candidate meets the limit."),
        (advice_findings(recommended=untouched), "Nothing has to be changed."),
        (advice_findings(complete=False), "Nothing can be recommended yet."),
    ]:
        shown = re.search('<p class="answer">(.*?)</p>', advice_page(advice))
        assert shown[1] == answer
    assert "interrupted" in advice_page(advice_findings(complete=False))


def test_the_chart_has_the_rate_that_the_limit_applies_to(no_charts):
    description = {
        among: advice_section(advice_findings(among=among)).drawing.figure.description
        for among in ("everybody", "released")
    }
    assert "81\xa0%" in description["everybody"] and "90\xa0%" in description["released"]


def test_missing_utility_is_shown_as_a_dash(no_charts):
    first, *others = advice_findings().candidates
    unknown = replace(first, utility=replace(first.utility, kept=None, rmse=None))
    row = advice_section(advice_findings(candidates=(unknown, *others))).table.rows[0]
    assert row[3] == row[7] == ("–", "")


def test_hostile_texts_are_shown_as_text(no_charts):
    advice, texts = recommending(), tuple(HOSTILE)
    data = replace(advice.data, name=HOSTILE[0])
    page = advice_page(replace(advice, adversary=HOSTILE[0], data=data, sentences=texts, limits=texts))
    assert "<script" not in page and "<img" not in page and len(page) < 300_000
