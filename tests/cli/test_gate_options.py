"""Files about a gate: they pass if and only if the command does, and never before it has finished."""

import json
from xml.etree import ElementTree

import pytest

import standout as so

pytestmark = [pytest.mark.large, pytest.mark.usefixtures("no_charts")]

OPTIONS = ("--targets", 20, "--seed", 4, "--quick")


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A CSV file of 60 people whose ids say PERSON, in a folder with an odd name."""
    path = tmp_path_factory.mktemp("data") / "a folder" / "people #1.csv"
    path.parent.mkdir()
    frame = so.synthesize(records=60, items=40, entries=1_500, seed=5).to_frame()
    path.write_text("user,item\n" + "".join(f"PERSON-{r},ITEM-{i}\n" for r, i in frame["record", "item"].rows()))
    return path


@pytest.fixture
def files(tmp_path):
    """Files in the output folder, which does not exist yet."""
    return {form: tmp_path / "out" / f"gate.{form}" for form in ("xml", "sarif", "md")}


@pytest.fixture
def checked(run, people, files, tmp_path, monkeypatch):
    """checked(command, option …) runs a command next to the data: outcome, and whether each file passes."""

    def checked(command, *options, data="a folder/people #1.csv"):
        monkeypatch.chdir(people.parents[1])
        asked = [part for path in files.values() for part in ("--gate", path)]
        outcome = run(command, data, "-o", tmp_path / "out", *options, *asked)
        return outcome, passes(files)

    return checked


def passes(files):
    """Whether each file says that the gate passed."""
    suite = ElementTree.parse(files["xml"]).getroot()[0]
    assert len(suite) == int(suite.get("tests")) > 0
    return {
        "xml": not suite.findall("testcase/failure") + suite.findall("testcase/error"),
        "sarif": not json.loads(files["sarif"].read_text())["runs"][0]["results"],
        "md": "did not pass" not in files["md"].read_text(),
    }


@pytest.mark.parametrize(("limit", "code"), [(1, 0), (0.01, 4)])
def test_the_files_of_an_audit_pass_if_and_only_if_it_does(checked, files, limit, code):
    outcome, passed = checked("audit", *OPTIONS, "--fail-above", limit)
    assert outcome.code == code and set(passed.values()) == {code == 0}
    content = "".join(path.read_text() for path in files.values())
    assert "PERSON" not in content and "ITEM" not in content and "people #1.csv" in content
    results = json.loads(files["sarif"].read_text())["runs"][0]["results"]
    places = {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results}
    assert places <= {"a%20folder/people%20%231.csv"} and bool(places) == bool(code)


def test_the_files_of_a_table_pass_if_and_only_if_the_audit_does(checked, people):
    table = people.parent / "survey.csv"
    table.write_text("age,zip\n" + "".join(f"{20 + n % 9},{n % 7}\n" for n in range(90)))
    for limit, code in ((1, 0), (0, 4)):
        outcome, passed = checked("audit", "--table", *OPTIONS, "--fail-above", limit, data=str(table))
        assert outcome.code == code and set(passed.values()) == {code == 0}


def test_the_files_of_a_search_pass_if_and_only_if_it_does(checked):
    search = ("--targets", 20, "--people", 20, "--try", "drop-entries 0.1", "--fail")
    for limit, code in ((0.999, 0), (0.001, 4)):
        outcome, passed = checked("advise", *search, "--limit", limit)
        assert outcome.code == code and set(passed.values()) == {code == 0}


@pytest.mark.once
def test_after_an_error_no_file_looks_like_a_result(checked, files, people, tmp_path):
    (tmp_path / "out").mkdir()
    for path in files.values():
        path.write_text("an older result")
    outcome, passed = checked("audit", *OPTIONS, "--fail-above", 1, "--record", "nothing")
    assert outcome.code == 1 and set(passed.values()) == {False}
    (people.parents[1] / "taken").write_text("x")
    for path in files.values():
        path.write_text("an older result")
    outcome, passed = checked("audit", "-o", "taken", "--fail-above", 1)
    assert outcome.code == 1 and set(passed.values()) == {False}


@pytest.mark.once
def test_a_ladder_without_an_adversary_that_counts_does_not_pass(checked, tmp_path):
    (tmp_path / "ladder.toml").write_text("[[adversary]]\nname = 'x'\nknows = 3\ngate = false\n")
    outcome, passed = checked("audit", *OPTIONS, "--fail-above", 1, "--ladder", tmp_path / "ladder.toml")
    assert outcome.code == 1 and "--fail-above must have an adversary that counts" in outcome.err
    assert set(passed.values()) == {False}


@pytest.mark.once
def test_impossible_files_are_errors_of_one_line_before_the_work(run, people, tmp_path):
    (tmp_path / "own.md").write_text("")
    for command, options, message in [
        ("audit", ("--gate", tmp_path / "x.xml"), "--gate needs --fail-above SHARE, the limit to check"),
        ("advise", ("--gate", tmp_path / "x.sarif"), "--gate needs --fail"),
        ("audit", ("--fail-above", 1, "--gate", people), "--gate must end in .xml, .sarif, .md"),
        ("audit", ("--fail-above", 1, "--gate", tmp_path / "no" / "x.xml"), "its folder does not exist"),
        ("audit", ("--fail-above", 1, "--gate", tmp_path / "own.md", "--ladder", tmp_path / "own.md"), "is an input"),
    ]:
        outcome = run(command, people, "-o", tmp_path / "out", *options)
        assert outcome.code == 1 and message in outcome.err and outcome.err.count("\n") == 1, options
        assert not (tmp_path / "x").exists() and not (tmp_path / "out" / "report.html").exists()
    assert people.read_text().startswith("user,item\n")
