"""`standout advise`, and `standout audit --advise`: what they write, print and return."""

import json
import shlex
from pathlib import Path

import jsonschema
import pytest

import standout as so
from standout.advising import search
from standout.cli.source_options import SourceOptions

pytestmark = pytest.mark.once
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "findings.schema.json").read_text())
FEW = ("--targets", 60, "--people", 40)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "films.csv"
    so.synthesize(records=100, items=60, entries=2_000, seed=7).to_frame().write_csv(path)
    return path


def test_what_is_recommended_can_be_made_by_the_command_that_is_printed(data, run, tmp_path, monkeypatch):
    folder = tmp_path / "advice"
    ways = ("--try", "drop-entries 0.3", "--try", "round-time none + drop-entries 0.9")
    done = run("advise", data, "-o", folder, "--limit", 0.6, *ways, *FEW, "--record", "record")
    assert done.code == 0, done.err
    assert {path.name for path in folder.iterdir()} == {"report.html", "advice.json", "frontier.csv"}
    line = next(
        line.strip() for line in done.out.splitlines() if line.strip().startswith("standout sanitize")
    )
    monkeypatch.chdir(tmp_path)
    made = run(*shlex.split(line)[1:])
    assert made.code == 0, made.err
    told = json.loads((folder / "advice.json").read_text())
    assert str(data.parent) not in json.dumps(told) + (folder / "report.html").read_text()
    safer = so.open(tmp_path / "films-safer")
    assert safer.n_entries < 2_000 and shlex.split(line)[3:5] == ["--record", "record"]


def test_what_is_told_to_machines_is_what_the_schema_says(data, run, tmp_path):
    done = run("advise", data, "-o", tmp_path, "--limit", 0.01, "--try", "drop-entries 0.3", *FEW, "--json")
    told = json.loads(done.out)
    jsonschema.validate(told, SCHEMA["properties"]["advice"] | {"$defs": SCHEMA["$defs"]})
    assert told["recommended"] is None and told["command"] == "" and "None of the 1 ways" in told["summary"]


def test_that_nothing_reaches_the_limit_is_a_finding_and_an_error_only_if_asked(data, run, tmp_path):
    asked = ("advise", data, "-o", tmp_path, "--limit", 0.01, "--try", "drop-entries 0.3", *FEW)
    assert run(*asked).code == 0
    assert run(*asked, "--fail").code == 4


def test_cut_short_it_says_so_and_keeps_what_it_has(data, run, tmp_path, monkeypatch):
    full = search._fully

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "_fully", stop)
    asked = ("advise", data, "-o", tmp_path, "--limit", 0.6, "--try", "drop-entries 0.9", *FEW)
    done = run(*asked)
    assert done.code == 3 and "goes on from there" in done.out and (tmp_path / "work").is_dir()
    monkeypatch.setattr(search, "_fully", full)
    assert run(*asked).code == 0 and not (tmp_path / "work").exists()


WRONG = [
    ("--limit", 0),
    ("--limit", 1.5),
    ("--try", "no-such-step 3"),
    ("--headline", "nobody"),
    ("--among", "all"),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_asked_is_an_error_in_one_line(data, run, tmp_path, wrong):
    done = run("advise", data, "-o", tmp_path, *wrong)
    assert done.code != 0 and "Traceback" not in done.err


def test_an_audit_can_say_what_would_help(data, run, tmp_path, monkeypatch):
    monkeypatch.setattr(search, "menu", lambda *_: [so.step("drop-entries 0.9"), so.step("round-time none")])
    monkeypatch.setattr(search, "COMBINED", 1)
    done = run("audit", data, "-o", tmp_path, "--quick", "--targets", 40, "--advise", "--fail-above", 0.7)
    told = json.loads((tmp_path / "findings.json").read_text())
    jsonschema.validate(told, SCHEMA)
    assert told["advice"]["limit"] == 0.7 and told["advice"]["summary"] in done.out
    page = (tmp_path / "report.html").read_text()
    assert "The frontier" in page and "What this does not say" in page
    assert not (tmp_path / "work").exists()


def test_without_being_asked_an_audit_points_to_the_advice(data, run, tmp_path):
    run("audit", data, "-o", tmp_path, "--quick", "--targets", 20)
    assert "advice" not in json.loads((tmp_path / "findings.json").read_text())
    assert "standout advise" in (tmp_path / "report.html").read_text()


def test_options_for_reading_are_told_as_they_are_typed():
    source = SourceOptions(
        record="user", item=("a", "b"), no_value=True, separator="\t", header=True, titles="titles.csv"
    )
    assert source.arguments() == [
        "--record", "user", "--item", "a", "--item", "b", "--no-value", "--separator", "\\t", "--header",
        "--titles", "titles.csv",
    ]  # fmt: skip
