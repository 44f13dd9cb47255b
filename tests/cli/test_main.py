"""The command line as a whole: usage, and errors of one line without anybody's data."""

import gzip

import polars as pl
import pytest
from click.testing import CliRunner
from command_line import SECRET, check_error, file_names, run_process

from standout.cli.command_group import cli
from standout.cli.main import main


def test_wrong_usage_is_explained():
    for args in ([], ["index"], ["index", "x"], ["nonsense"]):
        result = CliRunner().invoke(cli, args)
        assert result.exit_code == 2 and "Usage: " in result.output


def test_a_system_without_the_needed_signals_is_refused_in_one_line(monkeypatch):
    monkeypatch.delattr("signal.SIGALRM")
    with pytest.raises(SystemExit, match="Windows is not supported: run Standout in WSL 2"):
        main()


# Errors. Every cell below that is neither a number nor a date holds the secret.

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
    (folder / "mixed").write_bytes(f"user,item\n{SECRET} é,x\nb,".encode() + b"\xff\n")
    (folder / "utf-16").write_bytes(f"user,item\n{SECRET},x\n".encode("utf-16-le"))
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
    *([name] for name in LINES), ["mixed"], ["utf-16"], ["truncated"], ["damaged"], ["zip"], ["nested"],
    ["fractions"], ["parquet"], ["folder"], ["missing"], ["*.nothing"],
    ["no number", "--read", "value-type=number"],
    *(["good", *more] for more in [
        ["--record", "person"], ["--record", "9"], ["--record", "user", "--item", "user"],
        ["--read", "repeats=error"],
        ["--read", "titles=missing"], ["--read", "titles=titles"], ["--read", "value_bin=0"],
        ["--read", "value_bin=nan"],
        ["--read", "zone=Nowhere/Land"], ["--read", "encoding=nonsense"], ["--read", "encoding=utf-16"],
        ["--read", "separator="],
        ["--read", "separator=ab"], ["--read", "quote=xy"], ["--read", "max_rejects=some"],
        ["--read", "max_rejects=-1"],
        ["--read", "member=x"], ["--time", "user"], ["--time", "item", "--read", "time_format=%Y"],
        ["--read", "time_format=when"], ["--read", "rejects=missing/rejects.csv"], ["--read", "rejects=folder"],
    ]),
]  # fmt: skip


def test_an_error_is_one_line_without_content_and_leaves_nothing(run, bad, monkeypatch):
    monkeypatch.chdir(bad)
    before = file_names(bad)
    for args in UNREADABLE:
        check_error(run("index", *args, "-o", "index"))
        assert file_names(bad) == before, args
        if args != ["nested"]:  # describe shows it as a table of one person
            check_error(run("describe", *args))
        assert file_names(bad) == before, args


IMPOSSIBLE = [
    "verify missing",
    "verify good",
    "verify folder",
    "describe folder",
    "index good -o folder/missing/index",
    "index good -o good",
    "index good -o .",
    "synthesize --records 0 -o made",
    "synthesize --entries 3 -o made",
    "synthesize --seed -1 -o made",
    "synthesize --records 9 --items 9 -o missing/made.csv",
    "synthesize --records 9 --items 9 -o missing/made",
    "synthesize --records 9 --items 9 -o good",
]


def test_an_impossible_request_is_an_error_of_one_line(run, bad, monkeypatch):
    monkeypatch.chdir(bad)
    before = file_names(bad)
    for command in IMPOSSIBLE:
        check_error(run(*command.split()))
        assert file_names(bad) == before, command


def test_the_process_ends_with_one_line_and_exit_code_1(bad):
    check_error(run_process("index", "ragged", "-o", "x", cwd=bad))


def test_output_to_a_pipe_is_plain_and_quiet(tmp_path):
    (tmp_path / "ratings.csv").write_text("user,item\np,x\nq,y\n")
    outcome = run_process("index", tmp_path / "ratings.csv", "-o", tmp_path / "index")
    assert (outcome.code, outcome.err) == (0, "")
    assert "\r" not in outcome.out and "\x1b" not in outcome.out


# Options that the library refuses are named as they are typed.

REFUSED = [
    ("simulate --value-error much", "--value-error must be a number or none, got 'much'"),
    ("simulate --facts a", "--facts must be like 4, 2,4,8 or 2-10, got 'a'"),
    ("simulate --knows 3 --facts 4", "--facts must be from 1 to 3"),
    ("simulate --items best", "--items must be any, rarest"),
    ("simulate --wrong 9", "--wrong must be at most"),
    ("simulate --targets few", "--targets must be a whole number of at most 18 digits or all, got 'few'"),
    ("simulate --targets ²", "--targets must be a whole number of at most 18 digits or all, got '²'"),
    ("simulate -o table.xlsx", "--output must end in .csv, .parquet, .json, got 'table.xlsx'"),
    ("simulate -o nowhere/table.csv", "its folder does not exist"),
    ("simulate --phi -1", "--phi must be"),
    ("simulate --posterior 2", "--posterior must be"),
    ("simulate --coverage 1", "--coverage must be a number above 0 and below 1"),
    ("simulate --present 0", "--present must be a number above 0 and at most 1"),
    ("simulate --value-scale wide", "--value-scale must be a number or none, got 'wide'"),
    ("simulate --attack paper --posterior 0.9", "--posterior is an option of --attack likelihood, not of paper"),
    ("simulate --attack likelihood --phi 2", "--phi is an option of --attack paper and algorithm-1a, not of"),
    ("simulate --attack algorithm-1a --weights one", "--weights is an option of --attack paper, not of"),
    ("simulate --seed -1", "--seed must be"),
    ("unicity -k 0", "-k must be"),
    ("unicity --bin-days -1", "--bin-days is in days"),
    ("sparsity --within-days -3", "--within-days must be a finite number ≥ 0"),
    ("bounds --epsilon 2", "epsilon"),
]


def test_a_refused_option_is_one_line_that_names_the_option(run, people_index):
    for command, message in REFUSED:
        name, *options = command.split()
        outcome = run(name, people_index, *options)
        assert outcome.code == 1 and outcome.out == "", command
        assert message in outcome.err and outcome.err.count("\n") == 1, (command, outcome.err)
