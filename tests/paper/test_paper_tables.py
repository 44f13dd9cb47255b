"""tools/paper_tables.py writes docs/lab/paper.csv and the tables of docs/lab/paper.md from a folder of results."""

import csv

import pytest
from tools import paper_tables

import standout as so

pytestmark = pytest.mark.once

SMALL = {"targets": 3, "seed": 1, "threads": 1}


def test_tables_are_written_between_the_markers_of_the_page(release, tmp_path):
    reproduction = so.reproduce(release, tmp_path / "out", only="1,12,table", **SMALL)
    text = paper_tables.PAGE.read_text(encoding="utf-8")
    copy = tmp_path / "paper.md"
    copy.write_text(text, encoding="utf-8")
    for _ in range(2):  # the second run changes nothing
        paper_tables.main(tmp_path / "out", copy)
        page = copy.read_text(encoding="utf-8")
    assert reproduction.summary in page and release.fingerprint in page
    row = reproduction.results["1"].rows[0]
    cells = [row.interval, row.difference_text, row.judgement, row.likelihood_text]
    assert reproduction.stronger_attack in page
    table = list(csv.reader(copy.with_suffix(".csv").read_text(encoding="utf-8").splitlines()))
    assert ["1 (4)", f"{row.panel}, {row.label}", "0.436", f"{row.measured:.3f}", *cells] in table
    assert sum(line[0] == "table" for line in table) == 9
    rows = [row for figure, row in reproduction.rows if figure.key == "1"]
    agree = (
        sum(row.judgement == "within sampling error" for row in rows),
        sum(row.judgement.startswith("within") for row in rows),
    )
    assert f"| 1 (4) | 6 | {agree[0]} | {agree[1]} | " in page
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert [line for line in page.splitlines() if line.startswith("## ")] == headings


def test_a_page_without_markers_is_rejected(release, tmp_path):
    so.reproduce(release, tmp_path / "out", only="table", **SMALL)
    (tmp_path / "other.md").write_text("nothing")
    with pytest.raises(SystemExit, match=r"other\.md lacks the markers <!-- run -->"):
        paper_tables.main(tmp_path / "out", tmp_path / "other.md")
