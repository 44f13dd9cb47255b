"""Sentences about a linking."""

import pytest

import standout as so
from standout.findings.link_and_advise import AlignmentCounts
from standout.linking.align import explain_alignment
from standout.linking.links import report_text

pytestmark = pytest.mark.once


def explanation(**counts):
    sizes = {"items": 10, "aligned": 4, "by_id": 4, "doubtful": 0, "unknown": 6, "entries": 50, "aligned_entries": 20}
    return explain_alignment(AlignmentCounts(**sizes | counts), "Values are not compared.")


def test_the_alignment_is_explained_in_sentences_that_apply():
    text = "The release has 4 of 10 public items (4 by id). They cover 40.0 % of the public entries."
    assert explanation() == f"{text} Values are not compared."
    assert "There were no titles to check" in explanation(ids_unchecked=True)


def test_verbs_agree_with_counts():
    assert "1 row of the map names an item" in explanation(map_unknown_public=1)
    assert "2 rows of the map name an item" in explanation(map_unknown_public=2)
    assert "1 decision of the review names an unknown item" in explanation(review_unknown=1)
    assert "1 aligned item has a different title" in explanation(titles_differ=1)


def test_the_rule_for_claims_mentions_decoys_only_if_there_are_some(pair):
    for decoys in (0, 24):
        findings = so.link(*pair, phi=2, decoys=decoys).findings()
        rule = report_text(findings)["claim_rule"]
        assert "φ was set to 2." in rule and "judging by the decoys" not in rule
        assert ("The same attack was run on decoys" in rule) == bool(decoys)
