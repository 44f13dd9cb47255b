"""`standout advise`, and `standout audit --advise`: what they write, print and return."""

import json
import shlex
from pathlib import Path

import jsonschema
import pytest

import standout as so
from standout.advising import search

pytestmark = pytest.mark.once
SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "findings.schema.json").read_text())
SMALL = ("--targets", 40, "--people", 30)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "films.csv"
    so.synthesize(records=80, items=50, entries=1_600, seed=7).to_frame().write_csv(path)
    return path


def test_an_interrupted_search_resumes_and_its_command_makes_the_recommended_release(data, run, tmp_path, monkeypatch):
    folder = tmp_path / "advice"
    candidates = ("--try", "drop-entries 0.3", "--try", "round-time none + drop-entries 0.9")
    command = ("advise", data, "-o", folder, "--limit", 0.6, *candidates, *SMALL, "--record", "record")

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "select_for_full_stage", interrupt)
        interrupted = run(*command)
    assert interrupted.code == 3 and "Interrupted" in interrupted.out and (folder / "checkpoints").is_dir()
    outcome = run(*command)
    assert outcome.code == 0, outcome.err
    assert {path.name for path in folder.iterdir()} == {"report.html", "advice.json", "frontier.csv"}
    lines = map(str.strip, outcome.out.splitlines())
    printed = shlex.split(next(line for line in lines if line.startswith("standout sanitize")))
    assert printed[3:5] == ["--record", "record"]
    monkeypatch.chdir(tmp_path)
    made = run(*printed[1:])
    assert made.code == 0, made.err
    assert so.open(tmp_path / "films-safer").n_entries < 1_600
    written = (folder / "advice.json").read_text() + (folder / "report.html").read_text()
    assert str(data.parent) not in written


def test_an_unreachable_limit_is_a_result_and_an_error_only_with_fail(data, run, tmp_path):
    command = ("advise", data, "-o", tmp_path, "--limit", 0.01, "--try", "drop-entries 0.3", *SMALL, "--json")
    outcome = run(*command)
    content = json.loads(outcome.out)
    jsonschema.validate(content, SCHEMA["properties"]["advice"] | {"$defs": SCHEMA["$defs"]})
    assert outcome.code == 0 and content["recommended"] is None and content["command"] == ""
    assert run(*command, "--fail").code == 4


def test_a_rate_below_the_limit_that_is_not_proven_comes_with_a_command_that_settles_it(
    no_charts, run, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    so.synthesize(records=400, items=60, entries=6_000, seed=7).to_frame().write_csv("films.csv")
    command = ("advise", "films.csv", "--record", "record", "--people", 30, "--targets", 20)
    command += ("--try", "round-time none + drop-entries 0.9")
    measured = json.loads(run(*command, "--limit", 0.001, "--json").out)["candidates"][1]
    limit = measured["identified_in_release"]["value"] + 0.12
    outcome = run(*command, "--limit", limit)
    content = json.loads(Path("films-advice/advice.json").read_text())
    jsonschema.validate(content, SCHEMA["properties"]["advice"] | {"$defs": SCHEMA["$defs"]})
    (below,) = content["unproven"]["candidates"]
    assert "Nothing is proven to meet the limit" in outcome.out and below["targets"] == 20
    lines = map(str.strip, outcome.out.splitlines())
    printed = shlex.split(next(line for line in lines if line.startswith("standout advise")))
    assert printed == shlex.split(content["unproven"]["command"])
    settled = run(*printed[1:], "--people", 30, "--seed", 9, "--json")
    full = json.loads(settled.out)["candidates"][1]
    assert settled.code == 0 and full["name"] == below["name"]
    assert full["identified"]["n"] == content["unproven"]["targets"] > 20


def test_impossible_options_are_errors_without_a_traceback(data, run, tmp_path):
    for option in (("--limit", 0), ("--limit", 1.5), ("--try", "no-such-step 3"), ("--among", "all")):
        outcome = run("advise", data, "-o", tmp_path, *option)
        assert outcome.code != 0 and "Traceback" not in outcome.err, option


def test_an_audit_can_include_advice(no_charts, data, run, tmp_path, monkeypatch):
    built_in = [so.step("drop-entries 0.9"), so.step("round-time none")]
    monkeypatch.setattr(search, "built_in_steps", lambda *_: built_in)
    monkeypatch.setattr(search, "ROUNDS", (1, 0))
    outcome = run("audit", data, "-o", tmp_path, "--quick", "--targets", 30, "--advise", "--fail-above", 0.7)
    findings = json.loads((tmp_path / "findings.json").read_text())
    jsonschema.validate(findings, SCHEMA)
    assert findings["advice"]["limit"] == 0.7 and findings["advice"]["summary"] in outcome.out
    page = (tmp_path / "report.html").read_text()
    assert "and the frontier" in page and "Limits of this advice" in page
    assert not (tmp_path / "checkpoints").exists()
