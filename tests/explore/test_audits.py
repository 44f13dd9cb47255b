"""The page of the audit: from a folder, or from a quick audit of its own."""

import json
import re
from html.parser import HTMLParser

import pytest
from explorer_client import explorer

import standout as so
from standout.explore.app import AuditRunner, read_audit, view_of
from standout.explore.exploration import Exploration
from standout.report.audit_page import write_report

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def release():
    return so.synthesize(records=80, items=40, entries=1_200, seed=7)


@pytest.fixture(scope="module")
def audit(release):
    return so.audit(release, quick=True, targets=20, facts=[2, 4], name="ratings", seed=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, audit):
    path = tmp_path_factory.mktemp("audit")
    audit.to_json(path / "findings.json")
    write_report(audit.findings, path)
    return path


def test_the_page_shows_the_rates_and_links_to_plays(folder, release, audit):
    with explorer(release, audit=read_audit(folder, release), has_audit=True) as page:
        text = page.get("/audit").text
        assert page.get("/api/audit").json() == {"state": "finished", "share": 1.0}
        assert page.post("/api/audit", {}).json()["state"] == "finished"
        charts = re.findall(r'src="(/audit/charts/[^"]*)"', text)
        assert charts
        for chart in charts:
            response = page.get(chart)
            assert response.status_code == 200 and response.headers["content-type"] == "image/svg+xml"
            assert 'viewBox="-24 0 ' in response.text  # room for labels: a picture is cut at its edge
        assert page.get("/static/audit.css").headers["content-type"].startswith("text/css")
        playable = [rung["name"] for rung in page.get("/api/release").json()["adversaries"]]
    for adversary in audit.findings.adversaries:
        assert f"/#play={adversary.name}&amp;seed=" in text and adversary.name in playable
    assert audit.findings.answer.sentence.split("(")[0][:40] in text
    for tag in ("style=", "onclick", "<style", "javascript:"):
        assert tag not in text


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)


def test_hostile_texts_of_an_audit_are_text(audit, release):
    findings = audit.to_dict()
    plain = view_of(findings, {})
    hostile = "<script>alert(1)</script>{{ 7 * 7 }}\u202e"
    findings["answer"]["sentence"] = findings["adversaries"][0]["name"] = hostile
    tags = []
    for view in (plain, view_of(findings, {})):
        with explorer(release, audit=view) as page:
            text = page.get("/audit").text
        reader = Tags()
        reader.feed(text)
        tags.append(reader.seen.count("script"))
        assert "49" not in text or view is plain
    assert tags == [1, 1] and "\u202e" not in text and "&lt;script&gt;" in text


def test_an_audit_of_other_data_is_refused(folder):
    other = so.synthesize(records=50, items=20, entries=200, seed=8)
    with pytest.raises(so.ParameterError, match="other data"):
        read_audit(folder, other)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"data": 1}', "null", "[" * 100_000])
def test_a_damaged_audit_is_one_error(tmp_path, release, content):
    (tmp_path / "findings.json").write_text(content)
    with pytest.raises(so.SourceError, match="is not a file of an audit"):
        read_audit(tmp_path, release)


@pytest.mark.parametrize("member", ["answer", "adversaries", "trust", "settings"])
def test_missing_members_are_one_error(tmp_path, release, audit, member):
    findings = audit.to_dict()
    findings[member] = None
    (tmp_path / "findings.json").write_text(json.dumps(findings))
    with pytest.raises(so.SourceError, match="is not a file of an audit"):
        read_audit(tmp_path, release)


def test_a_missing_folder_is_one_error(tmp_path, release):
    with pytest.raises(so.SourceError, match="is not a folder that standout audit wrote: give"):
        read_audit(tmp_path / "nothing", release)


def test_a_quick_audit_runs_once_and_is_shown(release):
    runner = AuditRunner(Exploration(release, "ratings.csv"), None)
    assert runner.state["state"] == "none"
    assert runner.start()["state"] == "running"
    thread = runner._thread
    assert runner.start()["state"] in ("running", "finished") and runner._thread is thread
    thread.join()
    assert runner.state["state"] == "finished" and runner.view.quick and runner.view.rows and runner.view.charts


def test_a_closed_server_stops_its_audit(release):
    runner = AuditRunner(Exploration(release, "ratings.csv"), None)
    runner.stopping.set()
    runner.start()
    runner._thread.join()
    assert runner.view is None and runner.state["state"] == "none"


def test_a_failed_audit_is_stated(release, monkeypatch):
    monkeypatch.setattr(so, "audit", None, raising=False)
    runner = AuditRunner(Exploration(release, "ratings.csv"), None)
    runner.start()
    runner._thread.join()
    assert runner.state["state"] == "failed"
