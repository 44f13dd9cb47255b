"""What notebooks show of results: a headline, a table and a chart, without scripts and without ids."""

import base64
import re
import sys
from dataclasses import replace

import advice_samples
import altair as alt
import polars as pl
import pytest
import sample_findings
from page_reader import Page

import standout as so
from standout.core.errors import ParameterError, StandoutError
from standout.report.charts import DrawingError
from standout.report.views import altair_chart, notebook_html, view_of

pytestmark = pytest.mark.once
SECRET = "Jane Doe"


@pytest.fixture(scope="module")
def release():
    """A release in which every id of a person holds the secret."""
    frame = so.synthesize(records=60, items=30, entries=900, seed=7).to_frame()
    return so.read(frame.with_columns(record=f"{SECRET} " + frame["record"]))


def attack(release, attack):
    return attack.attack(release, so.Adversary(knows=3).observe(release, release.records[3]))


RESULTS = {
    "release": lambda r: r,
    "sanitized": lambda r: so.sanitize(r, "drop-entries 0.2", seed=1),
    "verdict": lambda r: attack(r, so.ScoreboardRH()),
    "posterior verdict": lambda r: attack(r, so.Likelihood()),
    "lineup": lambda r: so.lineup(r, so.Adversary(knows=3).observe(r, r.records[3])),
    "simulation": lambda r: so.simulate(r, so.Adversary(knows=4), facts=[2, 4], targets=10),
    "comparison": lambda r: so.compare(
        r, so.Adversary(knows=3), {"a": so.ScoreboardRH(), "b": so.ScoreboardRH(time_scale=None)}, targets=10
    ),
    "sparsity": so.sparsity,
    "unicity": lambda r: so.unicity(r, 2),
    "links": lambda r: so.link(r, r, budget=0.1, decoys=40),
    "table": lambda r: so.read(
        pl.DataFrame({"id": [SECRET, "x", "y"], "age": [3, 4, 4], "city": ["Ulm", "Rom", "Rom"]}), kind="table"
    ),
}


@pytest.fixture(scope="module", params=RESULTS)
def result(request, release):
    return RESULTS[request.param](release)


def check_view(html):
    assert "<script" not in html and "http" not in re.sub(r'src="data:[^"]*"', "", html)
    Page(re.sub(r'src="data:[^"]*"', "", html))  # checks that tags are closed and nothing is loaded
    assert SECRET not in html
    picture = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', html)[1]
    svg = base64.b64decode(picture).decode()
    assert svg.startswith("<svg") and SECRET not in svg


def test_a_result_shows_a_headline_a_table_and_a_chart_and_names_nobody(result):
    html = result._repr_html_()
    check_view(html)
    assert re.search(r"<strong>[^<]+</strong>", html) and "<td>" in html
    chart = result.chart()
    assert isinstance(chart, alt.TopLevelMixin)
    assert SECRET not in chart.to_json()


@pytest.mark.parametrize("findings", [sample_findings.full, sample_findings.minimal, advice_samples.recommending])
def test_findings_show_a_headline_a_table_and_a_chart(findings):
    check_view(notebook_html(findings()))
    assert isinstance(altair_chart(findings()), alt.TopLevelMixin)


def test_hostile_texts_are_escaped_in_a_notebook():
    html = notebook_html(sample_findings.hostile())
    assert "<script" not in html and "<img src=x" not in html


def test_an_audit_that_failed_its_checks_says_so_first():
    view = view_of(sample_findings.untrusted())
    assert view.remarks[0] == "The audit failed its own checks: do not trust its numbers."


def test_a_result_without_a_chart_is_shown_with_a_note(release, monkeypatch):
    def fail(*_, **__):
        raise DrawingError("no picture")

    monkeypatch.setattr("standout.report.charts.draw", fail)
    html = release._repr_html_()
    assert "The chart could not be drawn." in html and "<td>" in html


def test_results_are_frames_for_pandas_arrow_and_polars(result):
    if not hasattr(result, "to_pandas"):
        return
    frame = pl.DataFrame(result)
    assert list(result.to_pandas().columns) == result.to_arrow().column_names == frame.columns
    assert len(result.to_pandas()) == frame.height > 0


def test_a_missing_library_is_named_with_the_command_that_installs_it(release, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setattr("standout.core.errors.find_spec", lambda name: None)
    with pytest.raises(StandoutError, match=r"to_pandas.* needs pandas and pyarrow.*pip install pandas pyarrow"):
        release.to_pandas()
    with pytest.raises(StandoutError, match=r"to_arrow.* needs pyarrow, which is not.*pip install pyarrow$"):
        release.to_arrow()


def test_a_result_of_standout_is_not_read_as_a_release(result):
    if not isinstance(result, so.Release):
        with pytest.raises(ParameterError, match="release must be a Release, a path or a frame"):
            so.sparsity(result)


SHOWN = "Release Sanitized Verdict Simulation Comparison Audit Links Advice Sparsity"


def test_every_main_result_has_a_view_a_chart_and_frames():
    for name in SHOWN.split():
        methods = ("_repr_html_", "chart", "to_pandas", "to_arrow", "__arrow_c_stream__")
        assert all(callable(getattr(getattr(so, name), method)) for method in methods)


def test_an_audit_shows_its_findings_and_exports_its_adversaries(release):
    findings = sample_findings.full()
    audit = so.Audit(release, findings, {}, complete=True)
    assert audit._repr_html_() == notebook_html(findings)
    assert audit.chart().to_dict() == altair_chart(findings).to_dict()
    assert pl.DataFrame(audit).equals(audit.tables["adversaries"])


def test_an_advice_without_a_recommendation_does_not_promise_anything():
    view = view_of(advice_samples.advice_findings(recommended=None))
    assert view.headline.startswith("Nothing is recommended: no candidate is proven to meet the limit")


def test_results_without_content_are_shown_too(release):
    simulation = so.simulate(release, so.Adversary(knows=2), targets=5)
    empty = replace(simulation, cells=(), complete=False)
    check_view(empty._repr_html_())
    assert view_of(empty).remarks[0].startswith("Interrupted")
    nobody = so.Likelihood().attack(release, so.Aux([so.Fact("7")], length=(10**5, 10**5)))
    check_view(nobody._repr_html_())
    unknown = so.ScoreboardRH().attack(release, so.Aux([so.Fact("no such item")]))
    check_view(unknown._repr_html_())
