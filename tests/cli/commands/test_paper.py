"""`standout paper`: what it prints, its JSON, its errors, and how it resumes."""

import json

import pytest
from command_line import undocumented

import standout as so
from standout.evaluate.simulate import TargetAttacks
from standout.paper.published import bars

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """A small index, with its fingerprint."""
    release = so.synthesize(records=40, items=30, entries=320, seed=3)
    path = tmp_path_factory.mktemp("paper") / "people.index"
    so.save(release, path)
    return path, release.fingerprint


def test_the_command_prints_figures_and_writes_files(run, tmp_path):
    prize = tmp_path / "prize"
    prize.mkdir()
    (prize / "mv_0000001.txt").write_text("1:\n6,3,2005-09-06\n7,5,2005-05-13\n007,1,2005-05-14\n")
    (prize / "mv_0000002.txt").write_text("2:\n6,4,2005-09-05\n7,2,2004-01-01\n")
    (prize / "qualifying.txt").write_text("1:\n6,2005-12-01\n8,2005-12-02\n2:\n6,2005-12-03\n007,2005-12-04\n")
    outcome = run("paper", "--data", prize, "--only", "7,table", "--targets", 2, "-o", tmp_path / "out")
    assert (outcome.code, outcome.err) == (0, "")
    assert "Figure 7: Test entries per person" in outcome.out and "maximum" in outcome.out
    assert str(tmp_path / "out" / "index.html") in outcome.out and "user's own" in outcome.out
    assert "people,2,1.0" in (tmp_path / "out" / "figures" / "7.csv").read_text()
    assert "counted in the qualifying file" in (tmp_path / "out" / "index.html").read_text()


def test_json_has_the_table_and_a_second_run_gives_the_same(run, index, tmp_path):
    path, fingerprint = index
    command = ("paper", "--data", path, "--only", "1", "--targets", 3, "-o", tmp_path / "out", "--json")
    output = json.loads(run(*command, "--threads", 1).out)
    assert output["complete"] and [row["paper"] for row in output["table"]] == [bar.paper for bar in bars("1")]
    assert output["fingerprint"] == fingerprint and output["targets"] == 3
    assert undocumented("paper", output) == []
    assert all(0 <= row["likelihood"] <= 1 for row in output["table"]) and "of 6 numbers" in output["stronger_attack"]
    text = run(*command[:-1]).out
    assert "likelihood" in text and "no part of the reproduction" in text and output["stronger_attack"] in text
    assert json.loads(run(*command).out) == output


def test_errors_are_one_line(run, put, tmp_path):
    for options, message in (
        (["--only", "13"], "--only must name figures among 1, 2"),
        (["--data", "nowhere.csv"], "nowhere.csv"),
        (["--data", "nowhere.csv", "--records", "1000"], "--records is for the stand-in"),
        (["--seed", "-1"], "seed must be"),
        (["--only", "table", "-o", put("x")], "cannot create the folder"),
    ):
        outcome = run("paper", "-o", tmp_path / "out", *options)
        assert outcome.code == 1 and message in outcome.err and outcome.err.count("\n") == 1
        assert outcome.err.startswith("standout: ")


@pytest.mark.slow
def test_the_stand_in_is_made_once(run, tmp_path, monkeypatch):
    command = ("paper", "--records", 1000, "--only", "7", "-o", tmp_path / "out")
    outcome = run(*command)
    assert (outcome.code, outcome.err) == (0, "") and "stand-in" in outcome.out
    assert len(list((tmp_path / "out").glob("standin-1000-0-*.index"))) == 1
    monkeypatch.setattr("standout.paper.synthesize.synthesize", lambda **sizes: pytest.fail("made again"))
    assert run(*command).out == outcome.out


def test_an_interrupted_command_says_how_to_resume(run, index, tmp_path, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(TargetAttacks, "outcomes", interrupt)
    outcome = run("paper", "--data", index[0], "--only", "1,7", "-o", tmp_path / "out")
    assert outcome.code == 3 and "run the same command again to resume" in outcome.out
