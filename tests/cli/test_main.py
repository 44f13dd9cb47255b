"""The command line: what it prints, what it returns, and that an error is one line without anybody's data."""

import csv
import gzip
import json
import os
import shutil

import polars as pl
import pytest
from click.testing import CliRunner
from command_line import SECRET, check_error, started

import standout as so
from standout.cli.main import cli

TIMEOUT = 120
RATINGS = "user,item,rating,date\np,x,4,2005-03-01\np,y,3.5,2005-03-02\nq,x,,2005-03-09\nq,x,5,2005-03-08\n"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(RATINGS)
    return path


@pytest.fixture
def index(run, source, tmp_path):
    assert run("index", source, "-o", tmp_path / "index").code == 0
    return tmp_path / "index"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_index_tells_what_it_understood_and_what_it_dropped(run, source, tmp_path):
    told = run("index", source, "-o", tmp_path / "index")
    assert (told.code, told.err) == (0, "")
    for part in (
        "ratings.csv", "user", "rating", "date", "UTC", "3 entries", "2 records", "2 items",
        "1 rows, last kept", "2005-03-01 to 2005-03-09", "without a value: 1",
        so.open(tmp_path / "index").fingerprint,
    ):  # fmt: skip
        assert part in told.out
    assert names(tmp_path) == ["index", "ratings.csv"]


def test_every_command_prints_json_for_machines(run, source, tmp_path):
    path = tmp_path / "index"
    made = json.loads(run("index", source, "-o", path, "--json").out)
    release = so.open(path)
    assert (made["records"], made["items"], made["entries"]) == (2, 2, 3)
    assert made["fingerprint"] == release.fingerprint
    assert made["bytes"] == sum(file.stat().st_size for file in path.iterdir())
    assert made["read"]["repeats"] == 1 and made["read"]["without_value"] == 1
    for data in (path, source):
        told = json.loads(run("describe", data, "--json").out)
        assert told["fingerprint"] == release.fingerprint
        assert told["time_range"] == ["2005-03-01", "2005-03-09"]
    checked = json.loads(run("verify", path, "--json").out)
    assert checked["damaged"] == [] and checked["files"] == len(names(path))


def test_describe_shows_the_tables_to_people(run, tmp_path):
    so.save(so.synthesize(records=300, items=200, entries=4_000, seed=1), tmp_path / "index")
    told = run("describe", tmp_path / "index")
    assert (told.code, told.err) == (0, "")
    for part in (
        "4,000",
        "≥ 10 items",
        "outside the 100 most popular",
        "items of a record",
        "share of entries",
    ):
        assert part in told.out


@pytest.mark.parametrize("text", ["[/]", "[red]", "[bold", ":smile:", "[link=x]y[/link]"])
def test_a_category_is_shown_as_it_is(run, tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text("user,item,value\nq,x,good\n" + "".join(f"p{i},x,{text}\n" for i in range(10)))
    told = run("describe", path)
    assert told.code == 0 and text in told.out


def test_verify_finds_damage_names_the_file_and_returns_1(run, index):
    assert run("verify", index).code == 0
    file = index / "by-record-value.bin"
    file.write_bytes(file.read_bytes()[:-1] + b"\x01")
    told = run("verify", index)
    assert told.code == 1 and "by-record-value.bin" in told.out
    told = run("verify", index, "--json")
    assert told.code == 1 and "by-record-value.bin" in json.loads(told.out)["damaged"]


@pytest.mark.parametrize("name", ["made.csv", "made.parquet", "made"])
def test_synthesize_writes_what_can_be_read(run, tmp_path, name):
    path = tmp_path / name
    command = ("synthesize", "--records", 30, "--items", 20, "--entries", 200, "--seed", 5, "-o", path)
    told = run(*command)
    assert (told.code, told.err) == (0, "") and "200 entries of 30 records" in told.out
    told = run(*command)  # an index replaces the one before; a file, which may be anything, is left alone
    assert told.code == (0 if name == "made" else 1) and (name == "made" or "exists" in told.err)
    assert so.read(path).fingerprint == so.synthesize(records=30, items=20, entries=200, seed=5).fingerprint
    assert names(tmp_path) == [name]
    assert path.stat().st_mode & 0o077 == 0


def test_several_sources_a_glob_and_an_index_can_be_indexed(run, tmp_path):
    (tmp_path / "a.csv").write_text("user,item\np,x\n")
    (tmp_path / "b.csv").write_text("user,item\nq,y\n")
    assert run("index", tmp_path / "a.csv", tmp_path / "b.csv", "-o", tmp_path / "two").code == 0
    assert run("index", tmp_path / "?.csv", "-o", tmp_path / "glob").code == 0
    assert run("index", tmp_path / "two", "-o", tmp_path / "copy").code == 0
    assert len({so.open(tmp_path / name).fingerprint for name in ("two", "glob", "copy")}) == 1
    assert so.open(tmp_path / "two").n_records == 2


OPTIONS = [
    "--record",
    1,
    "--item",
    2,
    "--item",
    4,
    "--no-value",
    "--no-time",
    "--separator",
    "\\t",
    "--no-header",
]


def test_options_reach_the_reader(run, tmp_path):
    (tmp_path / "a.txt").write_text("p\tx\t4\tmorning\np\tx\t3\tevening\n")
    assert run("index", tmp_path / "a.txt", "-o", tmp_path / "index", *OPTIONS).code == 0
    release = so.open(tmp_path / "index")
    assert release.record("p").support == ("x|evening", "x|morning")
    assert release.levels is None and release.clock is None


# Errors. Every cell below that is not a number or a date holds the secret.

LINES = {
    "ragged": f"user,item,rating\n{SECRET} 1,{SECRET} 2,4\n{SECRET} 3,{SECRET}\n",
    "too many": f"user,item,rating\n{SECRET},x,4\np,x,4,{SECRET}\n",
    "no record": f"user,item\n,{SECRET}\n",
    "no item": f"user,item\n{SECRET},\n",
    "nan": f"user,item,rating\n{SECRET},x,4\n{SECRET} 2,y,nan\n",
    "infinite": f"user,item,rating\n{SECRET},x,4\n{SECRET} 2,y,-inf\n",
    "no number": f"user,item,rating\np,x,4\nq,x,{SECRET}\n",
    "mixed dates": "user,item,time\np,x,2005-03-01\nq,x,01.03.2005\n",
    "mixed times": "user,item,time\np,x,1110000000\nq,x,1110000000000\n",
    "no time": f"user,item,time\np,x,{SECRET}\n",
    "no day": "user,item,time\np,x,2005-02-30\n",
    "stray quote": f'user,item\np,"{SECRET}" {SECRET}\n',
    "open quote": f'user,item\np,"{SECRET}\n',
    "one column": f"{SECRET}\n{SECRET}\n",
    "six columns": ",".join([SECRET] * 6) + "\n" + ",".join(["7"] * 6) + "\n",
    "well-known word": f"{SECRET},page,good\n{SECRET} 2,page,3\n",
    "two well-known words": f"{SECRET},page,day\n{SECRET} 2,page,3\n",
    "unknown names": f"{SECRET} a,{SECRET} b\n1,2\n",
    "empty": "",
    "blank": "\n \n\n",
    "header only": "user,item,rating\n",
    "nul": f"user,item\n{SECRET}\0,x\n",
    "film": f"1:\n1488844,3,2005-09-06\n{SECRET},4,2005-09-06\n",
}  # fmt: skip


@pytest.fixture
def bad(tmp_path):
    """A folder of files that cannot be read."""
    folder = tmp_path / "bad"
    folder.mkdir()
    for name, text in LINES.items():
        (folder / name).write_text(text)
    (folder / "latin").write_bytes(f"user,item\n{SECRET} \xe9,x\n".encode("latin-1"))
    (folder / "utf-16").write_bytes(f"user,item\n{SECRET},x\n".encode("utf-16"))
    packed = gzip.compress(f"user,item\n{SECRET},x\n".encode() * 99)
    (folder / "truncated").write_bytes(packed[:-20])
    (folder / "damaged").write_bytes(packed[:20] + b"xxxx" + packed[24:])
    (folder / "zip").write_bytes(b"PK\x03\x04" + SECRET.encode())
    frame = pl.DataFrame({"user": [SECRET], "item": ["x"], "rating": [[SECRET]], "time": [SECRET]})
    frame.write_parquet(folder / "nested")
    frame.with_columns(user=pl.Series([0.5])).drop("rating", "time").write_parquet(folder / "fractions")
    (folder / "parquet").write_bytes((folder / "nested").read_bytes()[:-9])
    (folder / "titles").write_text(f'id,title\nx,"{"y" * 200_000}"\n')
    (folder / "good").write_text(f"user,item,rating\n{SECRET},x,4\n{SECRET},x,3\n")
    (folder / "folder").mkdir()
    return folder


UNREADABLE = [
    *([name] for name in LINES), ["latin"], ["utf-16"], ["truncated"], ["damaged"], ["zip"], ["nested"],
    ["fractions"], ["parquet"], ["folder"], ["missing"], ["*.nothing"],
    ["no number", "--value-type", "number"],
    *(["good", *more] for more in [
        ["--record", "person"], ["--record", "9"], ["--record", "user", "--item", "user"],
        ["--repeats", "error"],
        ["--titles", "missing"], ["--titles", "titles"], ["--value-bin", "0"], ["--value-bin", "nan"],
        ["--zone", "Nowhere/Land"], ["--encoding", "nonsense"], ["--encoding", "utf-16"], ["--separator", ""],
        ["--separator", "ab"], ["--quote", "xy"], ["--max-rejects", "some"], ["--max-rejects", "-1"],
        ["--member", "x"], ["--time", "user"], ["--time", "item", "--time-format", "%Y"],
        ["--time-format", "when"], ["--rejects", "missing/rejects.csv"], ["--rejects", "folder"],
    ]),
]  # fmt: skip


@pytest.mark.parametrize("args", UNREADABLE, ids=" ".join)
def test_an_error_is_one_line_without_content_and_leaves_nothing(run, bad, monkeypatch, args):
    monkeypatch.chdir(bad)
    before = names(bad)
    check_error(run("index", *args, "-o", "index"))
    assert names(bad) == before
    check_error(run("describe", *args))
    assert names(bad) == before


@pytest.mark.parametrize(
    "args",
    [
        ["verify", "missing"], ["verify", "good"], ["verify", "folder"], ["describe", "folder"],
        ["index", "good", "-o", "folder/missing/index"], ["index", "good", "-o", "good"],
        ["index", "good", "-o", "."],
        ["synthesize", "--records", "0", "-o", "made"], ["synthesize", "--entries", "3", "-o", "made"],
        ["synthesize", "--seed", "-1", "-o", "made"],
        ["synthesize", "--records", "9", "--items", "9", "-o", "missing/made.csv"],
        ["synthesize", "--records", "9", "--items", "9", "-o", "missing/made"],
        ["synthesize", "--records", "9", "--items", "9", "-o", "good"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_one_line(run, bad, monkeypatch, args):
    monkeypatch.chdir(bad)
    before = names(bad)
    check_error(run(*args))
    assert names(bad) == before


@pytest.mark.parametrize("args", [["index", "ragged", "-o", "x"], ["verify", "missing"], ["describe", "nul"]])
def test_the_process_itself_ends_with_one_line_and_exit_code_1(bad, args):
    check_error(started(*args, cwd=bad))


def test_wrong_usage_is_explained():
    for args in ([], ["index"], ["index", "x"], ["describe", "x", "--time-unit", "week"], ["nonsense"]):
        told = CliRunner().invoke(cli, args)
        assert told.exit_code == 2 and "Usage: " in told.output


def test_a_damaged_index_is_an_error_of_one_line(run, index):
    file = index / "by-record-item.bin"
    file.write_bytes(b"\xff" * file.stat().st_size)
    check_error(run("describe", index))
    file.unlink()
    check_error(run("describe", index))


ROWS = "user,item,rating\np,x,4\n,y,3\nq,z\nr,x,2\n"


def test_rejected_rows_are_listed_by_line_and_reason_for_their_owner_only(run, tmp_path):
    path, rejects = tmp_path / 'a "b".csv', tmp_path / "rejects.csv"
    path.write_text(ROWS)
    told = run("index", path, "-o", tmp_path / "index", "--rejects", rejects)
    assert told.code == 1 and "2 of 4 rows cannot be used" in told.err and "--max-rejects 2" in told.err
    with rejects.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["source"], row["line"]) for row in rows] == [(str(path), "3"), (str(path), "4")]
    assert [row["reason"] for row in rows] == ["no record id", "too few fields"]
    assert rejects.stat().st_mode & 0o777 == 0o600
    assert names(tmp_path) == ['a "b".csv', "rejects.csv"]


@pytest.mark.parametrize(
    ("limit", "code"), [("2", 0), ("50%", 0), ("1", 1), ("49%", 1), ("0", 1), ("100%", 0)]
)
def test_as_many_rows_may_be_unusable_as_the_user_allows(run, tmp_path, limit, code):
    (tmp_path / "a.csv").write_text(ROWS)
    told = run("index", tmp_path / "a.csv", "-o", tmp_path / "index", "--max-rejects", limit)
    assert told.code == code
    assert (tmp_path / "index").exists() == (code == 0)
    if code == 0:
        assert "left out: 2 of 4 rows" in told.out and "1 × no record id" in told.out
        assert so.open(tmp_path / "index").n_entries == 2


def test_commands_are_quiet_when_nobody_watches(source, tmp_path):
    commands = [
        ["index", source, "-o", tmp_path / "index"],
        ["describe", source],
        ["verify", tmp_path / "index"],
    ]
    for args in commands:
        told = started(*args)
        assert (told.code, told.err) == (0, "")
        assert "\r" not in told.out and "\x1b" not in told.out


def test_a_raw_file_is_read_and_forgotten(source, tmp_path):
    """Nothing is left at home, in the working folder, or where temporary files go."""
    places = [tmp_path / name for name in ("home", "temporary", "here")]
    for place in places:
        place.mkdir()
    shutil.copy(source, places[2] / "ratings.csv")
    environment = {
        **os.environ,
        "HOME": str(places[0]),
        "XDG_CACHE_HOME": str(places[0]),
        "TMPDIR": str(places[1]),
    }
    told = started("describe", "ratings.csv", "--json", env=environment, cwd=places[2])
    assert told.code == 0 and json.loads(told.out)["entries"] == 3
    assert [names(place) for place in places] == [[], [], ["ratings.csv"]]


def test_the_list_of_unusable_rows_never_takes_the_place_of_the_source(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(ROWS)
    told = run("describe", path, "--rejects", path)
    assert told.code == 1 and "is the source" in told.err
    assert path.read_text() == ROWS and names(tmp_path) == ["a.csv"]


@pytest.mark.parametrize(
    "said", [("--record", "x"), ("--value-bin", "3"), ("--no-time",), ("--titles", "t.csv")]
)
def test_what_is_said_about_a_source_is_refused_for_an_index(run, index, said):
    told = run("describe", index, *said)
    assert told.code == 1 and f"{said[0]} is for reading a source" in told.err
