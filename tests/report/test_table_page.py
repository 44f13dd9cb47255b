"""The report of a table: one page that loads nothing, shows the numbers of the findings and escapes names."""

from dataclasses import replace

import pytest
from page_reader import Page
from tests.attack.made_tables import made_table

import standout as so
from standout.core.text import estimate_text
from standout.report.audit_page import audit_page, write_report

pytestmark = pytest.mark.large  # whole audits; their kernels have tests of their own
HOSTILE = '</script><script>alert("x")</script>'


@pytest.fixture(scope="module")
def findings():
    roles = {"member": "sensitive", "age": "quasi-identifier", "born": "quasi-identifier"}
    columns = [
        replace(
            column,
            name=HOSTILE if column.name == "job" else column.name,
            attribute="",
            role=roles.get(column.name, "other"),
        )
        for column in made_table(60, seed=5).columns
    ]
    return so.audit(
        so.Release.of_columns(tuple(columns)),
        targets=20,
        facts=[1, 3],
        seed=1,
        population=200,
        fail_above=0.1,
        threads=1,
    ).findings


def test_the_page_is_well_formed_and_loads_nothing(findings):
    page = Page(audit_page(findings))
    assert "script" not in page.tags
    assert "default-src 'none'" in page.policy
    assert max(page.ids.values()) == 1


def test_every_link_of_the_contents_leads_to_a_section(findings):
    page = Page(audit_page(findings))
    assert {link.removeprefix("#") for link in page.links if link.startswith("#")} <= set(page.ids)


def test_the_page_shows_each_attack_of_each_adversary_side_by_side(findings):
    text = audit_page(findings)
    for adversary in findings.adversaries:
        for attack in adversary.attacks:
            assert f"<td>{estimate_text(attack.as_named.identified)}" in text


def test_the_page_shows_the_answer_the_classes_the_population_and_the_checks(findings):
    words = " ".join(" ".join(Page(audit_page(findings)).words).split())
    assert findings.answer.sentence.replace(" %", "\xa0%") in words.replace(" %", "\xa0%") or "identifies" in words
    titles = [check.title for check in findings.trust.checks]
    for part in ("k = 1", "(journalist)", "for absent people", "Planted records are identified", "threshold", *titles):
        assert part in words


def test_a_failed_check_is_the_first_thing_on_the_page(findings):
    checks = (replace(findings.trust.checks[0], passed=False), *findings.trust.checks[1:])
    text = audit_page(replace(findings, trust=replace(findings.trust, trusted=False, checks=checks)))
    assert text.index("Do not trust this report") < text.index("<h1>")


def test_parts_that_were_not_measured_are_left_out(findings):
    less = replace(findings, classes=None, column_sets=(), disclosure=(), learned=None, complete=False)
    page = Page(audit_page(less))
    assert {"classes", "sets"}.isdisjoint(page.ids)


def test_the_same_findings_give_the_same_files(findings, tmp_path):
    for folder in ("a", "b"):
        write_report(findings, tmp_path / folder)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert len(files) == 11
    assert all((tmp_path / "a" / f).read_bytes() == (tmp_path / "b" / f).read_bytes() for f in files)


def test_the_first_page_has_the_three_cards_an_invented_example_and_a_dot_for_each_target(findings):
    text = audit_page(findings)
    first = text[: text.index("<nav")]
    for part in (findings.verdict.singling_out, findings.verdict.linkability, findings.verdict.inference):
        assert part.title in first and part.answer.capitalize() in first
    assert first.count('class="card') == 3 and "Kim does not exist" in first and "<dt>Signature</dt>" in first
    assert first.count("M") >= 2 * findings.answer.rate.n  # dots for a wide and for a narrow screen
    assert f"of {findings.answer.rate.n} targets are identified" in first


def test_the_sections_of_a_table_are_in_the_order_of_the_report_of_a_release(findings):
    text = audit_page(findings)
    order = ("reading", "adversaries", "exposed", "learned", "help", "method", "annex")
    positions = [text.index(f'<section id="{section}"') for section in order]
    assert positions == sorted(positions)
