"""The linking report."""

import json

import pytest
from linking_data import FEW, data

import standout as so
from standout.findings.json_types import to_json

pytestmark = pytest.mark.once


def test_the_report_names_nobody_and_needs_no_other_file(tmp_path):
    rows = [(f"id{r:03}secret", f"{i}", float((r * i) % 5 + 1)) for r in range(40) for i in range(r % 7, 14, 2)]
    release, public = data(rows), data([(f"p{record}", item, value) for record, item, value in rows])
    truth = {f"pid{r:03}secret": f"id{r:03}secret" for r in range(40)}
    links = so.link(release, public, truth=truth, **FEW)
    links.to_html(tmp_path / "report.html", "data <b>.csv", "public.csv")
    page = (tmp_path / "report.html").read_text()
    assert "secret" not in page and "secret" not in json.dumps(to_json(links.findings()))
    assert "default-src 'none'" in page and "<script" not in page and "data &lt;b&gt;.csv" in page
    assert f"{links.claims} of 40 public profiles could be linked" in page
    assert "Comparison with the truth" in page
    assert "A record is claimed only if the evidence for it is at least φ" in page
    without_truth = so.link(release, public, phi=2, decoys=0)
    without_truth.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "φ was set to 2." in page and "Comparison with the truth" not in page
