"""The report of an audit: one self-contained file with all findings, and foreign texts shown as text."""

import base64
import hashlib
import math
import re
from dataclasses import replace
from itertools import pairwise

import pytest

import standout as so
from report import sample_findings
from report.page_reader import Page
from report.sample_pages import page_for
from standout.core.text import LONG, percent
from standout.evaluate.claims import ClaimThreshold
from standout.evaluate.estimates import Estimate
from standout.findings.audit import Threshold, measure_titles
from standout.report.audit_charts import audit_figures
from standout.report.audit_page import audit_page, write_report

pytestmark = pytest.mark.once

KINDS = ("full", "minimal", "hostile", "untrusted")


@pytest.fixture(params=KINDS)
def text(request):
    """The page of each example in turn."""
    return page_for(request.param)


# What every page is


def test_tags_are_closed_ids_are_unique_and_links_have_a_target(text):
    page = Page(text)
    assert max(page.ids.values()) == 1 and len(page.links) >= 6
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert set(page.links) >= {f"#{name}" for name in page.ids if not name.startswith("title-")}


def test_a_page_loads_nothing_and_runs_nothing(text):
    page = Page(text)
    assert not page.tags.keys() & {"script", "iframe", "object", "embed", "img", "link", "base", "form"}
    assert page.tags["style"] == 1 and "@import" not in page.style and "url(" not in page.style


def test_the_policy_admits_the_only_style_sheet_by_its_hash(text):
    page = Page(text)
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["style-src"] == f"'sha256-{digest}'"
    assert "unsafe" not in page.policy and text.index(page.policy) < text.index("<style>")


def test_headings_are_in_order_and_none_is_empty(text):
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
    people = 2  # the picture of people says its numbers itself
    assert page.tags["details"] >= (len(page.drawings) - people) / 2 and len(page.drawings) % 2 == 0


def test_the_page_calls_nothing_safe(text):
    assert not re.search(r"\bsafe", text, re.IGNORECASE)


def test_the_same_findings_give_the_same_bytes():
    assert audit_page(sample_findings.full()) == page_for("full")


# What it says


SECTIONS = ["reading", "adversaries", "exposed", "learned", "help", "method", "annex"]
PARTS = ["questions", "limits", "check", "theory", "claims", "calibration", "measures", "glossary", "settings"]


def test_the_page_for_a_board_comes_first_and_the_sections_follow_in_order():
    findings, text = sample_findings.full(), page_for("full").replace("\xa0", " ")
    order = [
        "<h1",
        "Can somebody who knows a few facts",
        findings.answer.sentence,
        "95 % interval:",
        "Above the threshold of",
        "<svg",
        "an invented example",
        "Three questions of data-protection law",
        "What we recommend next",
        "How sure we are",
        "<dt>Signature</dt>",
        "<nav",
        *(f'<section id="{section}"' for section in [*SECTIONS[:-1], *PARTS[:3], "annex", *PARTS[3:]]),
        findings.data.fingerprint,
    ]
    positions = [text.index(part) for part in order]
    assert positions == sorted(positions)


def test_sections_have_the_headings_of_the_contents_in_the_same_order():
    page = Page(page_for("full"))
    sections = [words for level, words in page.headings if level == 2]
    assert sections[sections.index("Contents") + 1 :] == [
        "How your file was read",
        "What each adversary achieves",
        "Who is exposed",
        "What an adversary learns",
        "What would help",
        "Method",
        "Annex",
    ]


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
    people = "512 of the 598 people who can be targets. 12 others have too few entries"
    for sentence in (verdict.summary, *findings.limits, people, "Guessing would identify"):
        assert sentence in text
    for check in findings.trust.checks:
        assert check.title in text and check.explanation in text
    for bound in findings.theory.bounds:
        assert bound.statement in text and bound.measured in text
    assert all(f"{name} {version}" in text for name, version in findings.versions.items())
    assert "With a posterior of 0.996 it is at most 1 %" in text and "φ = 1.5" in text
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
    "Attack",
    "Likelihood",
    "Posterior",
    "Interval",
    "Baseline",
    "Absent people (control)",
    "Original",
]


def test_the_report_compares_the_attacks_or_says_that_there_was_only_one():
    findings = sample_findings.full()
    several = Page(audit_page(findings)).text
    assert "Each adversary uses several attacks" in several and "one attack only" not in several
    for adversary in findings.adversaries:
        for attack in adversary.attacks:
            assert percent(attack.as_named.stated_probability).replace("\xa0", " ") in several
    only = [replace(adversary, attacks=adversary.attacks[:1]) for adversary in findings.adversaries]
    single = Page(audit_page(replace(findings, adversaries=tuple(only)))).text
    assert "one attack only" in single and "several attacks," not in single


def test_the_glossary_defines_every_term():
    glossary = page_for("minimal").split('id="glossary"')[1].split("</section>")[0]
    for term in TERMS:
        assert f"<dt>{term}</dt><dd>" in glossary, term


def test_measures_have_the_titles_of_the_console():
    titles, text = measure_titles(ClaimThreshold("posterior", 0.95), budget=0.01), page_for("full")
    for title in set(titles.values()) - {titles["identified_in_release"]}:
        assert title in text, title


def test_missing_parts_leave_no_trace():
    page = Page(page_for("minimal"))
    assert len(page.drawings) == 4 and not page.ids.keys() & {"exposed", "theory"}
    for words in ("threshold of", "Sensitive", "of the probability falls", "Grey: the other", "Audited on"):
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
    threshold = Threshold(fail_above=0.05, measured=measured, adversary="a", exceeded=exceeded, explanation="So.")
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
    assert "groups" not in audit_figures(findings) and text.count("no difference beyond sampling error") == 3
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


def test_findings_without_adversaries_have_a_page():
    page = Page(audit_page(replace(sample_findings.minimal(), adversaries=())))
    assert not page.tags["article"] and "Limits" in page.text


# Foreign texts


def test_hostile_texts_are_shown_as_text():
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
    outside = re.sub(r"<svg.*?</svg>|<[^<>]*aria-label[^<>]*>|<figcaption>.*?</figcaption>", "", text, flags=re.DOTALL)
    assert not re.search("W{20,}", re.sub(r"<bdi>[^<]*</bdi>", "", outside))


def test_an_error_names_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(so.StandoutError, match="file"):
        write_report(sample_findings.minimal(), tmp_path / "file")


@pytest.mark.large
def test_the_findings_of_an_audit_have_a_page():
    release = so.synthesize(records=120, items=60, entries=2_400, seed=3)
    ladder = {name: so.Adversary(knows=knows, value_error=1, time_error=14) for name, knows in (("a", 2), ("b", 4))}
    settings = {"targets": 12, "facts": [1, 3], "fail_above": 0.05, "ladder": ladder, "seed": 1}
    findings = so.audit(release, name="some.csv", **settings).findings
    page = Page(audit_page(findings))
    assert findings.answer.sentence in page.text and "some.csv" in page.text


def test_the_page_says_how_the_file_was_read():
    words = " ".join(Page(page_for("full")).words)
    for part in ("userId", "Unix seconds", "3 × no record id (line 17, 18, 99)", "postcode (quasi-identifier)"):
        assert part in words
    assert "not measured by this audit: postcode" in words and "3 were dropped" in words


def test_a_page_about_a_sanitized_release_shows_both_files():
    findings = sample_findings.full()
    both = (findings.reading[0], replace(findings.reading[0], of="original"))
    headings = Page(audit_page(replace(findings, reading=both))).headings
    assert {"The release", "The original"} <= {text for _, text in headings}
