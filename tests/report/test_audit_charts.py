"""The charts of an audit report: their names, their width, their files, and hostile names as text."""

import re
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import pytest

from report import sample_findings
from standout.core.text import estimate_text
from standout.report.audit_charts import audit_figures
from standout.report.audit_page import audit_page, write_report
from standout.report.charts import NARROW, WIDE
from standout.report.share_charts import PALE

pytestmark = pytest.mark.once

DRAWING = re.compile(r'<svg (?!class="people").*?</svg>', re.DOTALL)


@cache
def page_for(kind):
    """The page of an example, made once."""
    return audit_page(getattr(sample_findings, kind)())


def test_a_chart_shows_hostile_names_as_text():
    drawn = [ElementTree.fromstring(svg) for svg in DRAWING.findall(page_for("hostile"))]
    assert len(drawn) == 16
    for tree in drawn:
        assert not {element.tag.split("}")[1] for element in tree.iter()} & {
            "script",
            "style",
            "image",
            "a",
            "foreignObject",
        }
    text = "".join("".join(tree.itertext()) for tree in drawn)
    assert "</script><script>" in text and "=HYPERLINK(" in text


def test_long_names_with_the_same_beginning_stay_distinct():
    findings = sample_findings.full()
    adversaries = tuple(
        replace(adversary, name=f"somebody with a very long name {number}")
        for number, adversary in enumerate(findings.adversaries)
    )
    answer = replace(findings.answer, adversary=adversaries[1].name)
    renamed = replace(findings, adversaries=adversaries, answer=answer)
    drawn = audit_figures(renamed)["success"].draw(NARROW).svg()
    texts = [element.text for element in ElementTree.fromstring(drawn).iter() if element.text]
    assert len({words for words in texts if "somebody" in words}) == 5


def test_charts_keep_to_their_width():
    heads = re.findall(r'<svg (?!class="people")[^>]* width="([\d.]+)"', page_for("full"))
    for wide, narrow in zip(heads[::2], heads[1::2], strict=True):
        assert 0.85 * WIDE < float(wide) <= 1.03 * WIDE and 0.85 * NARROW < float(narrow) <= 1.03 * NARROW


def test_each_chart_has_its_name():
    assert list(audit_figures(sample_findings.full())) == [
        "success",
        "adversaries",
        "control",
        "date-error",
        "value-error",
        "facts-needed",
        "groups",
        "sparsity",
    ]
    assert list(audit_figures(sample_findings.minimal())) == ["control"]


def test_charts_that_are_no_longer_drawn_are_removed(tmp_path):
    charts = tmp_path / "charts"
    charts.mkdir()
    for name in ("groups.svg", "success.png", "mine.svg"):
        (charts / name).write_text("old")
    write_report(sample_findings.minimal(), tmp_path)
    assert sorted(path.name for path in charts.iterdir()) == ["control.png", "control.svg", "mine.svg"]


def test_report_and_charts_are_written(tmp_path):
    findings = sample_findings.full()
    assert write_report(findings, tmp_path / "new" / "out") == tmp_path / "new" / "out" / "report.html"
    assert (tmp_path / "new" / "out" / "report.html").read_bytes() == page_for("full").encode()
    charts = sorted(path.name for path in (tmp_path / "new" / "out" / "charts").iterdir())
    assert charts == sorted(f"{name}.{ending}" for name in audit_figures(findings) for ending in ("png", "svg"))
    for path in (tmp_path / "new" / "out" / "charts").glob("*.svg"):
        assert ElementTree.fromstring(path.read_text())[0].text
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (tmp_path / "new").rglob("*.png"))


def test_the_curves_show_the_strongest_adversary_at_each_number_of_facts():
    findings = sample_findings.full()
    figure = audit_figures(findings)["success"]
    assert f'stroke="{PALE}"' in figure.draw(WIDE).svg()
    assert figure.table.heads[-1] == "strongest of these"
    shown = [row[-1][0] for row in figure.table.rows]
    assert shown == [estimate_text(point.identified) for point in findings.envelope]
    single = replace(findings, adversaries=findings.adversaries[1:2])
    assert f'stroke="{PALE}"' not in audit_figures(single)["success"].draw(WIDE).svg()
