"""The report of an audit: one self-contained file with all findings, and foreign texts shown as text."""

import base64
import hashlib
import math
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import pytest

import standout as so
from report import sample_findings
from standout.core.formatting import (
    LONG,
    SHORT,
    count,
    decimal,
    estimate_text,
    interval_text,
    percent,
    printable_texts,
)
from standout.evaluate.estimates import Estimate
from standout.findings.audit import Threshold
from standout.findings.measure_titles import measure_titles
from standout.report.audit_charts import audit_figures
from standout.report.audit_page import audit_charts, audit_page, write_report
from standout.report.charts import Axis, Point
from standout.report.html_page import render_page
from standout.report.interval_charts import NARROW, WIDE, ShareBar, share_bars, share_curves

pytestmark = pytest.mark.once

KINDS = ("full", "minimal", "hostile", "untrusted")
VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}
AXIS = Axis("facts")
DRAWING = re.compile(r"<svg.*?</svg>", re.DOTALL)
HEADINGS = ("h1", "h2", "h3", "h4")


class Page(HTMLParser):
    """The parts of a page; fails if tags are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.policy, self.style = (
            [],
            Counter(),
            Counter(),
            [],
            "",
            "",
        )
        self.headings, self.between, self.drawings, self.words = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        attributes_by_name = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        self.tags[tag] += 1
        self.ids.update([attributes_by_name["id"]] if "id" in attributes_by_name else [])
        assert not any(name.startswith("on") or name == "style" for name in attributes_by_name)
        assert not attributes_by_name.keys() & {
            "src",
            "srcset",
            "data",
            "poster",
            "action",
            "background",
            "xlink:href",
        }
        for name, value in attributes_by_name.items():
            assert "://" not in (value or "") or name.startswith("xmlns")
        if "href" in attributes_by_name:
            self.links.append(attributes_by_name["href"])
        if attributes_by_name.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes_by_name["content"]
        if tag in HEADINGS:
            self.headings.append((int(tag[1]), ""))
            self.between.append("")
        if tag == "svg":
            assert attributes_by_name["role"] == "img"
            self.drawings.append({})

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data):
        if "style" in self.open:
            self.style += data
            return
        self.words.append(data)
        if "svg" in self.open:
            self.drawings[-1][self.open[-1]] = self.drawings[-1].get(self.open[-1], "") + data
        elif self.headings and self.open and set(self.open) & set(HEADINGS):
            level, words = self.headings[-1]
            self.headings[-1] = level, words + data
        elif self.between:
            self.between[-1] += data

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@cache
def page_for(kind):
    """The page of an example, made once."""
    return audit_page(getattr(sample_findings, kind)())


@pytest.fixture(params=KINDS)
def text(request):
    """The page of each example in turn."""
    return page_for(request.param)


# What every page is


def test_tags_are_closed_and_ids_are_unique_and_contents_lead_somewhere(text):
    page = Page(text)
    assert max(page.ids.values()) == 1 and len(page.links) >= 6
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert set(page.links) >= {f"#{name}" for name in page.ids if not name.startswith("title-")}


def test_a_page_asks_for_nothing_and_runs_nothing(text):
    page = Page(text)
    assert not page.tags.keys() & {"script", "iframe", "object", "embed", "img", "link", "base", "form"}
    assert page.tags["style"] == 1 and "@import" not in page.style and "url(" not in page.style


def test_the_policy_lets_in_the_one_style_by_its_hash(text):
    page = Page(text)
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["style-src"] == f"'sha256-{digest}'"
    assert "unsafe" not in page.policy and text.index(page.policy) < text.index("<style>")


def test_headings_stand_in_order_and_none_is_empty(text):
    page = Page(text)
    levels = [level for level, _ in page.headings]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for index, ((level, words), below) in enumerate(zip(page.headings, page.between, strict=True)):
        deeper = levels[index + 1 : index + 2] > [level]
        assert words.strip() and (below.strip() or deeper), words


def test_every_drawing_is_described_and_has_its_table(text):
    page = Page(text)
    assert all(drawing["title"].strip() and drawing["desc"].strip() for drawing in page.drawings)
    assert page.tags["details"] >= len(page.drawings) / 2 and len(page.drawings) % 2 == 0


def test_nothing_is_called_safe_or_anonymous_by_the_page(text):
    assert not re.search(r"\bsafe", text, re.IGNORECASE)


def test_the_same_findings_give_the_same_bytes():
    assert audit_page(sample_findings.full()) == page_for("full")


# What it says


def test_it_opens_with_the_answer_and_a_chart():
    findings, text = sample_findings.full(), page_for("full").replace("\xa0", " ")
    sections = [
        "adversaries",
        "exposed",
        "learned",
        "questions",
        "help",
        "method",
        "theory",
        "limits",
        "check",
    ]
    order = [
        "<h1",
        findings.answer.sentence,
        "Above the threshold of",
        "<svg",
        "<nav",
        *(f'id="{section}"' for section in [*sections, "glossary", "settings"]),
        findings.data.fingerprint,
    ]
    positions = [text.index(part) for part in order]
    assert positions == sorted(positions)


def test_everything_in_the_findings_is_on_the_page():
    findings, text = sample_findings.full(), Page(page_for("full")).text
    for adversary in findings.adversaries:
        assert adversary.title in text and adversary.description in text
        assert percent(adversary.as_named.identified.value) in page_for("full")
    exposure, verdict = findings.exposure, findings.verdict
    for groups in (exposure.by_length, exposure.by_popularity, exposure.by_first_date):
        assert all(group.label in text for group in groups)
    for row in exposure.sensitive.rows:
        assert row.category in text and f"{row.people_revealed:,}" in text
    for part in (verdict.singling_out, verdict.linkability, verdict.inference):
        assert part.title in text and part.explanation in text
    for sentence in (verdict.summary, *findings.limits, "512 of 610 people", "Guessing would identify"):
        assert sentence in text
    for check in findings.trust.checks:
        assert check.title in text and check.explanation in text
    for bound in findings.theory.bounds:
        assert bound.statement in text and bound.measured in text
    assert all(f"{name} {version}" in text for name, version in findings.versions.items())
    assert "At φ = 2.31 it is at most 1 %" in text and "This value does not suit all data" in text
    assert "standout advise" in text and "2026-11-16T08:00:00+00:00" in text


TERMS = [
    "Target",
    "Best guess, identified",
    "Claim",
    "Correct claim",
    "False claim",
    "Release",
    "Adversary",
    "Known facts",
    "Eccentricity, φ",
    "Interval",
    "Baseline",
    "Absent people (control)",
    "Original",
]


def test_the_glossary_defines_every_term():
    glossary = page_for("minimal").split('id="glossary"')[1].split("</section>")[0]
    for term in TERMS:
        assert f"<dt>{term}</dt><dd>" in glossary, term


def test_measures_have_the_titles_of_the_console():
    titles, text = measure_titles(phi=1.5, budget=0.01), page_for("full")
    for title in set(titles.values()) - {titles["identified_in_release"]}:
        assert title in text, title


def test_missing_parts_leave_no_trace():
    page = Page(page_for("minimal"))
    assert not page.drawings and not page.ids.keys() & {"exposed", "theory"}
    for words in (
        "threshold of",
        "Sensitive",
        "of the probability falls",
        "Grey:",
        "Audited on",
    ):
        assert words not in page.text
    assert not re.search(r"\b(?:nan|inf|None)\b", page.text)
    for words in ("these people do not exist", "quick audit", "has no dates", "may be identified by others"):
        assert words in page.text


def test_a_report_that_cannot_be_trusted_says_so_first():
    text = page_for("untrusted")
    assert text.index("Do not trust this report") < text.index("<h1")
    banner = text[text.index('class="warning"') : text.index("<h1")]
    assert "Planted records are identified" in banner and "3 of 20" in banner
    assert "Facts about somebody else" not in banner
    assert "Do not trust" not in page_for("full") and "All checks passed." in page_for("full")


@pytest.mark.parametrize(
    ("exceeded", "low", "words"),
    [
        (True, 0.06, "Above the"),
        (True, 0.03, "May be above the"),
        (False, 0.01, "Not above the"),
        (None, 0.0, "Not compared with"),
    ],
)
def test_the_threshold_is_judged_near_the_top(exceeded, low, words):
    measured = None if exceeded is None else Estimate(0.1, low, 0.2, 9)
    threshold = Threshold(
        fail_above=0.05, measured=measured, adversary="a", exceeded=exceeded, explanation="So."
    )
    text = audit_page(replace(sample_findings.minimal(), threshold=threshold))
    assert text.index(words) < text.index("<nav") and ("verdict over" in text) == bool(exceeded)


def test_an_interrupted_audit_says_so():
    assert "was interrupted" in audit_page(replace(sample_findings.minimal(), complete=False))


def test_groups_that_do_not_differ_are_described_and_not_drawn():
    groups = {
        part: tuple(replace(group, identified=sample_findings.est(0.8, 50)) for group in getattr(whole, part))
        for whole in [sample_findings.full().exposure]
        for part in ("by_length", "by_popularity", "by_first_date")
    }
    findings = sample_findings.minimal()
    findings = replace(findings, exposure=replace(findings.exposure, **groups))
    text = audit_page(findings)
    assert "groups" not in audit_charts(findings) and text.count("no difference beyond sampling error") == 3
    assert "21–50 entries" in text


def test_unknown_numbers_are_a_dash():
    findings = sample_findings.minimal()
    unknown = Estimate(math.nan, -math.inf, math.inf, 0)
    measures = replace(
        findings.adversaries[0].as_named,
        bits_left=unknown,
        bits_gained=Estimate(math.inf, -math.inf, math.nan, 3),
        correct_claims_at_budget=unknown,
    )
    text = audit_page(replace(findings, adversaries=(replace(findings.adversaries[0], as_named=measures),)))
    assert "–" in text and not re.search(r"\b(?:nan|inf|None)\b", Page(text).text)


# Foreign texts


def test_hostile_texts_are_shown_as_texts():
    text = Page(page_for("hostile")).text
    for words in (
        "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
        '=HYPERLINK("https://example.org/?"&A1;"look")',
        "�evil�\u200fשלום\u200e right to left",
        '"\' style="x" & {{ 7*7 }} ${a} </style><style>*{display:none}',
    ):
        assert words in text
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\ud800-\udfff]", page_for("hostile"))


def test_long_texts_are_cut_and_isolated():
    runs = re.findall("W{20,}", page_for("hostile"))
    assert max(map(len, runs)) < LONG and len(page_for("hostile")) < 3 * len(page_for("full"))
    text = page_for("hostile").split("</head>")[1]
    outside = re.sub(
        r"<svg.*?</svg>|<[^<>]*aria-label[^<>]*>|<figcaption>.*?</figcaption>", "", text, flags=re.DOTALL
    )
    assert not re.search("W{20,}", re.sub(r"<bdi>[^<]*</bdi>", "", outside))


def test_what_would_act_becomes_a_sign():
    assert printable_texts(["a\u202eb", "\ud800", "x\ny", {"k": 1.5}, None]) == [
        "a�b",
        "�",
        "x y",
        {"k": 1.5},
        None,
    ]
    assert printable_texts("a" + "\u0301" * 50) == "a" + "\u0301" * 3
    assert len(printable_texts("W" * 10_000)) == LONG and printable_texts("  a \t b ") == "a b"
    assert "שלום\u200f" in printable_texts("שלום\u200f")  # marks that writing needs stay


def test_a_chart_keeps_hostile_names_as_texts():
    drawn = [ElementTree.fromstring(svg) for svg in DRAWING.findall(page_for("hostile"))]
    assert len(drawn) == 10
    for tree in drawn:
        assert not {one.tag.split("}")[1] for one in tree.iter()} & {
            "script",
            "style",
            "image",
            "a",
            "foreignObject",
        }
    said = "".join("".join(tree.itertext()) for tree in drawn)
    assert "</script><script>" in said and "=HYPERLINK(" in said


def test_attributes_are_stripped_from_tags_and_not_from_texts():
    chart = share_bars([ShareBar("", 'label style="x" class="y"', 0.5)])
    assert 'label style="x" class="y"' in "".join(ElementTree.fromstring(chart.svg()).itertext())


def test_names_that_begin_alike_are_told_apart():
    findings = sample_findings.full()
    adversaries = tuple(
        replace(adversary, name=f"somebody with a very long name {number}")
        for number, adversary in enumerate(findings.adversaries)
    )
    answer = replace(findings.answer, adversary=adversaries[1].name)
    renamed = replace(findings, adversaries=adversaries, answer=answer)
    drawn = audit_figures(renamed)["success"].draw(NARROW).svg()
    said = [one.text for one in ElementTree.fromstring(drawn).iter() if one.text]
    assert len({words for words in said if "somebody" in words}) == 5


# Charts and files


def test_charts_keep_to_their_width():
    heads = re.findall(r'<svg[^>]* width="([\d.]+)"', page_for("full"))
    for wide, narrow in zip(heads[::2], heads[1::2], strict=True):
        assert 0.85 * WIDE < float(wide) <= 1.03 * WIDE and 0.85 * NARROW < float(narrow) <= 1.03 * NARROW


def test_the_charts_are_few_and_named():
    assert list(audit_figures(sample_findings.full())) == [
        "success",
        "adversaries",
        "facts-needed",
        "groups",
        "sparsity",
    ]
    assert not audit_charts(sample_findings.minimal())


def test_charts_that_are_not_drawn_any_more_are_removed(tmp_path):
    beside = tmp_path / "charts"
    beside.mkdir()
    for name in ("groups.svg", "success.png", "mine.svg"):
        (beside / name).write_text("old")
    write_report(sample_findings.minimal(), tmp_path)
    assert [path.name for path in beside.iterdir()] == ["mine.svg"]


@pytest.mark.parametrize(
    ("most", "top"), [(0.02, "10"), (0.2, "25"), (0.3, "50"), (0.6, "100"), (None, "10")]
)
def test_small_shares_have_a_closer_axis_from_nothing(most, top):
    said = {one.text for one in ElementTree.fromstring(share_bars([ShareBar("", "a", most)]).svg()).iter()}
    assert {"0\xa0%", f"{top}\xa0%"} <= said and ("not measured" in said) == (most is None)


def test_without_adversaries_there_is_still_a_page():
    page = Page(audit_page(replace(sample_findings.minimal(), adversaries=())))
    assert not page.tags["article"] and "Limits" in page.text


def test_curves_of_one_point_and_of_none_can_be_drawn():
    one = [Point("a", 2, 0.5, 0.4, 0.6)]
    for series in (
        {"a": one},
        {"a": one, "b": [Point("b", 1, 0.1), Point("b", 2, 0.2)]},
        {"a": one, "b": []},
    ):
        assert "title" in share_curves(series, "a", "title", AXIS).svg()


def test_names_of_curves_keep_apart_and_within_the_chart():
    series = {f"name {k}": [Point("", 1, 0.999), Point("", 2, 1.0)] for k in range(6)}
    tree = ElementTree.fromstring(share_curves(series, "name 0", "t", AXIS).svg())
    told = [one for one in tree.iter() if (one.text or "").startswith("name ")]
    heights = sorted(
        {float(re.search(r"translate\([^,]*,([-\d.]+)\)", one.get("transform"))[1]) for one in told}
    )
    assert len(heights) == 6 and min(b - a for a, b in pairwise(heights)) >= 15


def test_report_and_charts_are_written(tmp_path):
    found = sample_findings.full()
    assert write_report(found, tmp_path / "new" / "out") == tmp_path / "new" / "out" / "report.html"
    assert (tmp_path / "new" / "out" / "report.html").read_bytes() == page_for("full").encode()
    beside = sorted(path.name for path in (tmp_path / "new" / "out" / "charts").iterdir())
    assert beside == sorted(f"{name}.{ending}" for name in audit_figures(found) for ending in ("png", "svg"))
    for path in (tmp_path / "new" / "out" / "charts").glob("*.svg"):
        assert ElementTree.fromstring(path.read_text())[0].text
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (tmp_path / "new").rglob("*.png"))


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(so.StandoutError, match="file"):
        write_report(sample_findings.minimal(), tmp_path / "file")


def test_numbers_in_words():
    assert (percent(None), percent(math.nan), percent(1.0), estimate_text(None)) == (
        "–",
        "–",
        "100\xa0%",
        "–",
    )
    assert (decimal(-0.04), decimal(12.34), count(None), count(0, "person", "people")) == (
        "0.0",
        "12.3",
        "–",
        "0 people",
    )
    assert (interval_text(None), interval_text(Estimate(0.5, -math.inf, 1.0, 1))) == ("", "")
    assert SHORT < LONG


def test_what_is_not_given_to_a_page_is_an_error():
    with pytest.raises(Exception, match="missing"):
        render_page("{% extends 'base.html' %}{% block body %}{{ missing }}{% endblock %}")


@pytest.mark.large
def test_what_an_audit_finds_can_be_shown():
    release = so.synthesize(records=120, items=60, entries=2_400, seed=3)
    findings = so.audit(release, targets=20, fail_above=0.05, name="some.csv", seed=1).findings
    page = Page(audit_page(findings))
    assert findings.answer.sentence in page.text and "some.csv" in page.text
