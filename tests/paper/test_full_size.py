"""A smaller stand-in is compared with our own result at full size, and says so."""

from dataclasses import replace
from math import sqrt

import pytest
from tools import paper_full_size

import standout as so
from standout.data.labels import Provenance
from standout.evaluate.estimates import Estimate
from standout.paper.published import PEOPLE, ComparisonRow, full_size_run

pytestmark = pytest.mark.once
STANDIN = Provenance("synthetic", settings={"like": "netflix", "seed": "1"})


def test_the_recorded_numbers_are_those_of_the_documentation():
    page = paper_full_size.PAGE.read_text(encoding="utf-8")
    table = paper_full_size.PAGE.with_suffix(".csv").read_text(encoding="utf-8")
    for name, content in paper_full_size.contents(page, table).items():
        assert (paper_full_size.DATA / name).read_text(encoding="utf-8") == content
    assert full_size_run()["people"] == PEOPLE and full_size_run()["fingerprint"] in page


def test_a_small_stand_in_is_compared_with_full_size_and_other_data_with_the_paper(release, tmp_path):
    small = replace(release, provenance=STANDIN)
    settings = {"only": "1,12,table", "targets": 3, "seed": 1, "threads": 1}
    ours, theirs = (so.reproduce(each, tmp_path / str(at), **settings) for at, each in enumerate((small, release)))
    assert ours.compared_with_full_size and not theirs.compared_with_full_size
    for (_, row), (_, other) in zip(ours.rows, theirs.rows, strict=True):
        assert (row.measured, row.paper) == (other.measured, other.paper) and other.full_size is None
        if row.measured is not None:
            assert row.difference == pytest.approx(row.measured - row.full_size.value)
            assert other.difference == pytest.approx(other.measured - other.paper)
    assert "of our own at full size" in ours.summary and "of the paper's" in theirs.summary
    pages = [each.page.read_text(encoding="utf-8") for each in (ours, theirs)]
    assert ["standout paper -o paper: 480,189 people" in page for page in pages] == [True, False]
    assert ['<th scope="col">full size</th>' in page for page in pages] == [True, False]
    assert ours.table["full_size"].null_count() == 0


@pytest.mark.parametrize("measured", [0.3, 0.44, 0.52, 0.6])
def test_sampling_error_at_full_size_follows_from_both_intervals(measured):
    ours, full = Estimate(measured, measured - 0.07, measured + 0.06, 200), Estimate(0.5, 0.47, 0.531, 1000)
    row = ComparisonRow("", "", "identified", "rate", 0.9, ours, paper_targets=150)
    row = replace(row, full_size=full)
    below, above = sqrt(0.07**2 + 0.031**2), sqrt(0.06**2 + 0.03**2)
    contains_0 = measured - 0.5 - below <= 0 <= measured - 0.5 + above
    assert row.within_sampling_error == contains_0 and row.difference == pytest.approx(measured - 0.5)
    assert row.within_goal == (abs(measured - 0.5) <= 0.1 + 1e-9)


def test_a_number_without_an_interval_has_no_sampling_error_at_full_size():
    exact = ComparisonRow("", "", "share", "rate", 0.9, Estimate(0.5, 0.5, 0.5, 9))
    assert replace(exact, full_size=Estimate(0.4, 0.4, 0.4, 9)).within_sampling_error is None
