"""Options for reading a source: they reach the reader, and rejected rows are listed."""

import csv

from command_line import file_names

import standout as so
from standout.cli.reading import Source

ROWS = "user,item,rating\np,x,4\n,y,3\nq,z\nr,x,2\n"


def test_options_reach_the_reader(run, tmp_path):
    (tmp_path / "a.txt").write_text("p\tx\t4\tmorning\np\tx\t3\tevening\n")
    columns = ("--record", 1, "--item", 2, "--item", 4, "--value", "none", "--time", "none")
    options = (*columns, "--read", "separator=\\t", "--read", "header=no")
    assert run("index", tmp_path / "a.txt", "-o", tmp_path / "index", *options).code == 0
    release = so.open(tmp_path / "index")
    assert release.record("p").support == ("x|evening", "x|morning")
    assert release.levels is None and release.clock is None


def test_options_can_be_printed_as_they_are_typed():
    settings = {"record": "user", "item": ("a", "b"), "value": False, "separator": "\t", "header": True}
    source = Source(settings | {"titles": "titles.csv"})
    typed = (
        "--record user --item a --item b --value none --read separator=\\t --read header=yes --read titles=titles.csv"
    )
    assert source.arguments() == typed.split()


def test_rejected_rows_are_listed_by_line_and_reason_for_their_owner_only(run, tmp_path):
    path, rejects = tmp_path / 'a "b".csv', tmp_path / "rejects.csv"
    path.write_text(ROWS)
    outcome = run("index", path, "-o", tmp_path / "index", "--read", f"rejects={rejects}")
    assert outcome.code == 1
    assert "2 of 4 rows are unusable" in outcome.err and "--read max_rejects=2" in outcome.err
    with rejects.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["source"], row["line"]) for row in rows] == [(str(path), "3"), (str(path), "4")]
    assert [row["reason"] for row in rows] == ["no record id", "too few fields"]
    assert rejects.stat().st_mode & 0o777 == 0o600
    assert file_names(tmp_path) == ['a "b".csv', "rejects.csv"]


def test_max_rejects_is_the_largest_accepted_number_or_share_of_rejected_rows(run, tmp_path):
    (tmp_path / "a.csv").write_text(ROWS)
    for limit, code in [("2", 0), ("50%", 0), ("100%", 0), ("1", 1), ("49%", 1), ("0", 1)]:
        index = tmp_path / f"index-{limit}"
        outcome = run("index", tmp_path / "a.csv", "-o", index, "--read", f"max_rejects={limit}")
        assert outcome.code == code and index.exists() == (code == 0), limit
        if code == 0:
            assert "4 rows, 2 rejected" in outcome.read
            assert so.open(index).n_entries == 2


def test_the_list_of_rejected_rows_never_overwrites_the_source(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(ROWS)
    outcome = run("describe", path, "--read", f"rejects={path}")
    assert outcome.code == 1 and "is an input" in outcome.err
    assert path.read_text() == ROWS and file_names(tmp_path) == ["a.csv"]


def test_options_for_a_source_are_refused_for_an_index(run, people_index):
    for option in (["--record", "x"], ["--read", "value_bin=3"], ["--time", "none"], ["--read", "rejects=r.csv"]):
        outcome = run("describe", people_index, *option)
        assert outcome.code == 1 and "is for reading a source" in outcome.err
