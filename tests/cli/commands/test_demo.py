"""`standout demo` is an audit of a stand-in."""

import json

import pytest

pytestmark = pytest.mark.large  # a whole run; its parts have tests of their own


def test_the_demo_is_an_audit_of_a_stand_in(no_charts, run, tmp_path):
    outcome = run("demo", "-o", tmp_path / "demo", "--records", 100, "--quick")
    assert outcome.code == 0
    assert outcome.out.splitlines()[-1] == f"Report: {tmp_path / 'demo' / 'report.html'}"
    findings = json.loads((tmp_path / "demo" / "findings.json").read_text())
    assert findings["data"]["records"] == 100 and findings["data"]["synthetic"]
    assert findings["trust"]["trusted"]
