"""`standout describe`: the tables for people, the JSON for machines."""

import json
import os
import shutil

from command_line import check_error, file_names, run_process

import standout as so

RATINGS = "user,item,rating,date\np,x,4,2005-03-01\np,y,3.5,2005-03-02\nq,x,5,2005-03-09\n"


def test_describe_prints_all_tables(run, people_index):
    outcome = run("describe", people_index)
    assert (outcome.code, outcome.err) == (0, "")
    for part in (
        "6,000",
        "≥ 10 items",
        "outside the 100 most popular",
        "items per record",
        "records per item",
        "share of entries",
    ):
        assert part in outcome.out


def test_a_source_and_its_index_have_the_same_description(run, tmp_path):
    (tmp_path / "ratings.csv").write_text(RATINGS)
    release = so.read(tmp_path / "ratings.csv")
    so.save(release, tmp_path / "index")
    for data in ("index", "ratings.csv"):
        content = json.loads(run("describe", tmp_path / data, "--json").out)
        assert content["fingerprint"] == release.fingerprint
        assert content["time_range"] == ["2005-03-01", "2005-03-09"]


def test_categories_are_printed_as_they_are(run, tmp_path):
    texts = ["[/]", "[red]", "[bold", ":smile:", "[link=x]y[/link]"]
    path = tmp_path / "a.csv"
    path.write_text("user,item,value\n" + "".join(f"p{i},x,{texts[i % 5]}\n" for i in range(50)))
    outcome = run("describe", path)
    assert outcome.code == 0 and all(text in outcome.out for text in texts)


def test_a_damaged_index_is_an_error_of_one_line(run, tmp_path):
    (tmp_path / "ratings.csv").write_text(RATINGS)
    so.save(so.read(tmp_path / "ratings.csv"), tmp_path / "index")
    file = tmp_path / "index" / "by-record-item.bin"
    file.write_bytes(b"\xff" * file.stat().st_size)
    check_error(run("describe", tmp_path / "index"))
    file.unlink()
    check_error(run("describe", tmp_path / "index"))


def test_reading_a_source_leaves_no_file_behind(tmp_path):
    """No file in the home folder, the folder of temporary files or the current folder."""
    folders = [tmp_path / name for name in ("home", "temporary", "current")]
    for folder in folders:
        folder.mkdir()
    (tmp_path / "ratings.csv").write_text(RATINGS)
    shutil.copy(tmp_path / "ratings.csv", folders[2])
    home, temporary = map(str, folders[:2])
    environment = {**os.environ, "HOME": home, "XDG_CACHE_HOME": home, "TMPDIR": temporary}
    outcome = run_process("describe", "ratings.csv", "--json", env=environment, cwd=folders[2])
    assert outcome.code == 0 and json.loads(outcome.out)["entries"] == 3
    assert [file_names(folder) for folder in folders] == [[], [], ["ratings.csv"]]
