"""`standout advise --table`: what it writes, and that its command makes the recommended table."""

import json
import shlex
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from advising.tables_to_advise import MENU, people_table

pytestmark = pytest.mark.once
SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "advice.schema.json").read_text())
TRIED = [word for text in MENU for word in ("--try", text)]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "survey.csv"
    frame = people_table().to_frame()
    frame.with_columns(weight=pl.int_range(pl.len()) * 1.5).write_csv(path)
    return path


def test_the_printed_command_makes_the_recommended_table(data, run, tmp_path, monkeypatch):
    options = ("--table", "--record", "none", "--read", "ignore=weight")
    folder = tmp_path / "advice"
    outcome = run("advise", data, *options, "-o", folder, "--limit", 0.1, "--targets", 200, *TRIED)
    assert outcome.code == 0, outcome.err
    assert {path.name for path in folder.iterdir()} == {"report.html", "advice.json", "frontier.csv"}
    content = json.loads((folder / "advice.json").read_text())
    jsonschema.validate(content, SCHEMA)
    lines = map(str.strip, outcome.out.splitlines())
    printed = shlex.split(next(line for line in lines if line.startswith("standout sanitize")))
    assert {*options} <= {*printed} and content["recommended"]["steps"] == [
        printed[at + 1] for at, word in enumerate(printed) if word == "--step"
    ]
    monkeypatch.chdir(tmp_path)
    made = run(*printed[1:])
    assert made.code == 0, made.err
    assert "weight" not in pl.read_csv(tmp_path / "survey-safer.csv").columns
    written = (folder / "advice.json").read_text() + (folder / "report.html").read_text()
    assert str(data.parent) not in written and content["summary"] in " ".join(outcome.out.split())


def test_an_unreachable_limit_is_an_error_only_with_fail(data, run, tmp_path):
    command = ("advise", data, "--table", "--record", "none", "--read", "ignore=weight", "-o", tmp_path, "--json")
    command = (*command, "--limit", 0.001, "--targets", 50, "--try", "round age 10")
    outcome = run(*command)
    content = json.loads(outcome.out)
    jsonschema.validate(content, SCHEMA)
    assert outcome.code == 0 and content["recommended"] is None and content["command"] == ""
    assert run(*command, "--fail").code == 4
