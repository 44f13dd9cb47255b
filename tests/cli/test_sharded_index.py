"""Every command prints and writes the same, byte for byte, whether an index has shards or not."""

import json

import polars as pl
import pytest
from explorer_client import explorer
from index_checks import tree

import standout as so

pytestmark = pytest.mark.large
FACTS = ["--knows", "3=4", "--knows", "17", "--knows", "40=2@2004-05-06"]
COMMANDS = {
    "describe": ["describe", "data.index", "--json"],
    "lineup": ["lineup", "data.index", *FACTS, "--json"],
    "lineup of the paper": ["lineup", "data.index", *FACTS, "--attack", "paper", "--json"],
    "simulate": ["simulate", "data.index", "--targets", "12", "--json"],
    "sparsity": ["sparsity", "data.index", "--sample", "60", "--json"],
    "unicity": ["unicity", "data.index", "--targets", "300", "--json"],
    "sanitize": ["sanitize", "data.index", "--step", "round-time month", "-o", "safer.csv"],
    "index": ["index", "data.index", "-o", "copy.index"],
}
LONGER = {
    "paper": ["paper", "--data", "data.index", "--only", "1", "--targets", "3", "-o", "paper"],
    "advise": [
        *["advise", "data.index", "--limit", "0.9", "--try", "round-time month"],
        *["--targets", "20", "--people", "20", "-o", "advice"],
    ],
}


def with_repeats(release):
    """More entries of the same items, and some without a value or a time."""
    frame, number = release.to_frame(), pl.int_range(pl.len())
    again = frame[::4].with_columns(pl.col("time") + pl.duration(days=2)).select(frame.columns)
    return so.read(
        pl.concat([frame, again]).with_columns(
            pl.when(number % 11 != 0).then(pl.col("value")).alias("value"),
            pl.when(number % 13 != 0).then(pl.col("time")).alias("time"),
        ),
        repeats="keep",
    )


@pytest.fixture(scope="module", params=["plain", "repeats"])
def folders(request, tmp_path_factory):
    """Two folders with the same index: in one piece, and in 3 shards."""
    release = so.synthesize(records=20_000, items=60, entries=60_000, seed=5)
    release = release if request.param == "plain" else with_repeats(release)
    other = so.synthesize(records=60, items=60, entries=400, seed=9)
    folders = []
    for shards in (None, 3):
        folders.append(tmp_path_factory.mktemp("folder"))
        so.save(other, folders[-1] / "other.index")
        so.save(release, folders[-1] / "data.index", shards=shards)
    return folders


def outcome_and_files(run, monkeypatch, folder, arguments):
    """What a command printed, and the files that it wrote."""
    monkeypatch.chdir(folder)
    outcome = run(*arguments)
    assert outcome.code == 0, outcome.err
    files = {path.name: tree(path) for path in folder.iterdir() if not path.name.endswith("r.index")}
    return outcome, {name: content for name, content in files.items() if name != "data.index"}


@pytest.mark.parametrize("command", COMMANDS)
def test_results_do_not_depend_on_shards(run, monkeypatch, folders, command):
    plain, sharded = (outcome_and_files(run, monkeypatch, folder, COMMANDS[command]) for folder in folders)
    assert plain == sharded


@pytest.mark.parametrize("folders", ["plain"], indirect=True)
@pytest.mark.parametrize("command", LONGER)
def test_figures_and_advice_do_not_depend_on_shards(run, monkeypatch, folders, command):
    plain, sharded = (outcome_and_files(run, monkeypatch, folder, LONGER[command]) for folder in folders)
    assert plain == sharded and {"paper": "paper", "advise": "advice"}[command] in plain[1]


def test_the_check_of_an_index_finds_all_files_of_all_shards_intact(run, folders):
    for folder in folders:
        checked = json.loads(run("verify", folder / "data.index", "--json").out)
        assert checked["damaged"] == [] and checked["files"] == len(list(folder.rglob("data.index/**/*.*")))


def test_the_explorer_shows_the_same_with_shards(folders):
    facts = [{"item": "3", "value": 4}, {"item": "17"}]
    answers = []
    for folder in folders:
        with explorer(so.open(folder / "data.index")) as page:
            answers.append([page.lineup(facts), page.post("/api/play", {"seed": 3}).json()])
    assert answers[0] == answers[1]


@pytest.mark.slow
def test_links_do_not_depend_on_shards(run, monkeypatch, folders):
    command = ["link", "other.index", "data.index", "-o", "links.csv"]
    plain, sharded = (outcome_and_files(run, monkeypatch, folder, command) for folder in folders)
    assert plain == sharded


@pytest.mark.slow
def test_findings_of_an_audit_do_not_depend_on_shards(run, monkeypatch, folders):
    findings = []
    for folder in folders:
        monkeypatch.chdir(folder)
        assert run("audit", "data.index", "--quick", "-o", "audit").code == 0
        findings.append(json.loads((folder / "audit" / "findings.json").read_text()))
        del findings[-1]["run"]["finished_at"]
    assert findings[0] == findings[1]
