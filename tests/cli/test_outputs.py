"""Outputs that cannot be written: one line and exit code 1, before the data is read where possible."""

import json
import os
import resource
import shlex
import subprocess
import sys

import polars as pl
import pytest
from command_line import TIMEOUT, check_error, run_process

import standout as so

pytestmark = pytest.mark.once

FILES = [  # a command, and the option that names a file; {} is the file without its suffix
    "simulate DATA -o {}.csv",
    "simulate DATA -o {}.parquet",
    "simulate DATA --save {}",
    "sparsity DATA -o {}.json",
    "bounds DATA -o {}.csv",
    "unicity DATA --grid 0.1 --chart {}.svg",
    "audit DATA --risk-table {}.csv",
    "audit DATA --fail-above 1 --gate {}.xml",
    "audit DATA --fail-above 1 --gate {}.sarif",
    "advise DATA --fail --gate {}.md",
    "audit DATA --read rejects={}.csv",
    "describe DATA --read rejects={}.csv",
    "link DATA DATA -o {}.html",
    "sanitize DATA --renumber -o {}.csv",
    "sanitize DATA --renumber -o {}",
    "sanitize DATA --renumber -o out.csv --key {}.csv",
    "sanitize DATA --step 'round a 5' -o {}.parquet",
    "schema DATA -o {}.toml",
    "synthesize --records 1000000000 -o {}.csv",
    "synthesize --records 1000000000 -o {}",
    "index DATA -o {}",
]
FOLDERS = ["audit DATA -o {}", "advise DATA -o {}", "link DATA DATA -o {}", "demo -o {}", "paper -o {}"]
PLACES = ["missing/out", "file/out", "loop/out", "x" * 300]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty working folder with a file and a loop of links. DATA does not exist in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


@pytest.mark.parametrize("command", FILES)
def test_a_file_that_cannot_be_written_is_refused_before_the_data_is_read(run, place, command):
    for output in PLACES:
        outcome = run(*shlex.split(command.format(output)))
        check_error(outcome)
        assert "DATA" not in outcome.err, outcome.err
        assert "out" in outcome.err or "xxx" in outcome.err
    assert {path.name for path in place.iterdir()} <= {"file", "loop", "DATA-audit"}
    assert (place / "file").read_text() == "mine"


@pytest.mark.parametrize("command", FOLDERS)
def test_a_folder_that_cannot_be_written_is_refused_before_the_data_is_read(run, place, command):
    (place / "taken").mkdir()
    for name in ("report.html", "index.html"):
        (place / "taken" / name).mkdir(parents=True)
    for output in [*PLACES[1:], "file", "loop", "taken"]:
        outcome = run(*shlex.split(command.format(output)))
        check_error(outcome)
        assert "DATA" not in outcome.err, outcome.err
    assert {path.name for path in place.iterdir()} == {"file", "loop", "taken"}
    assert (place / "file").read_text() == "mine"


@pytest.mark.parametrize(
    "command",
    [
        "simulate {0} -o {0}",
        "audit {0} --risk-table {0}",
        "audit {0} --fail-above 1 --risk-table {0}",
        "describe {0} --read rejects={0}",
        "schema {0} -o {0}",
    ],
)
def test_an_output_never_overwrites_the_data(run, place, command):
    (place / "data.csv").write_text("user,item\na,b\n")
    outcome = run(*shlex.split(command.format("data.csv")), *["--overwrite"] * command.startswith("schema"))
    check_error(outcome)
    assert "is an input" in outcome.err
    assert (place / "data.csv").read_text() == "user,item\na,b\n"


@pytest.mark.parametrize("command", ["describe DATA --read rejects={}", "sanitize DATA --renumber -o out.csv --key {}"])
def test_a_file_that_is_written_as_csv_has_no_name_of_another_format(run, place, command):
    for name in ("a.parquet", "a.PARQUET", "a.json"):
        outcome = run(*shlex.split(command.format(name)))
        check_error(outcome)
        assert "is written as CSV: choose a name that ends in .csv" in outcome.err
        assert "--" in outcome.err


def limit_files(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize(
    "command",
    [
        "simulate {} --targets 5 -o out.csv",
        "sanitize {} --renumber -o out.csv --key out.key --force",
        "sanitize {} --renumber -o out.parquet --force",
    ],
)
def test_a_file_that_becomes_too_large_leaves_the_old_one(place, people_index, command):
    """The limit is that of the process, as `ulimit -f` sets it; a full disk takes the same way."""
    names = ["out.csv", "out.parquet", "out.key"]
    for name in names:
        (place / name).write_text("old")
    outcome = run_process(*shlex.split(command.format(people_index)), preexec_fn=limit_files(300))
    check_error(outcome)
    assert "out." in outcome.err
    assert "File too large" in outcome.err
    assert ".standout-" not in outcome.err
    assert all((place / name).read_text() == "old" for name in names)
    assert {path.name for path in place.iterdir()} == {*names, "file", "loop"}


def run_into(stdout, *args, **environment):
    """Run a command whose standard output is this file; returns its exit code and stderr."""
    command = [sys.executable, "-m", "standout", *map(str, args)]
    settings = {"stderr": subprocess.PIPE, "timeout": TIMEOUT, "check": False}
    process = subprocess.run(command, stdout=stdout, env={**os.environ, **environment}, **settings)
    return process.returncode, process.stderr.decode()


@pytest.mark.parametrize("words", [["--help"], ["describe", "DATA", "--json"], ["describe", "DATA"]])
def test_a_full_device_as_standard_output_is_one_line(people_index, words):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        code, err = run_into(full, *[people_index if word == "DATA" else word for word in words])
    assert code == 1
    assert err.splitlines()[-1] == "standout: standard output cannot be written: No space left on device"
    assert "Traceback" not in err
    assert "Exception ignored" not in err


def test_a_closed_pipe_says_nothing(people_index):
    reading, writing = os.pipe()
    os.close(reading)
    code, err = run_into(writing, "describe", people_index)
    os.close(writing)
    assert code == 1
    assert "standout:" not in err
    assert "Exception" not in err


def test_a_closed_standard_output_is_one_line(people_index):
    command = f'exec "{sys.executable}" -m standout describe "{people_index}" >&-'
    process = subprocess.run(["sh", "-c", command], capture_output=True, timeout=TIMEOUT, check=False)
    assert process.returncode == 1
    assert process.stderr.startswith(b"standout: standard output is closed")


def test_a_closed_standard_error_does_not_stop_a_command(people_index):
    command = f'exec "{sys.executable}" -m standout describe "{people_index}" 2>&-'
    process = subprocess.run(["sh", "-c", command], capture_output=True, timeout=TIMEOUT, check=False)
    assert process.returncode == 0
    assert process.stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_every_encoding_of_the_terminal_shows_every_text(tmp_path, encoding):
    entries = pl.DataFrame({"user": [f"Zoë 🙂{n}" for n in range(20)], "item": ["Ünï"] * 20})
    so.save(so.read(entries), tmp_path / "people.index")
    settings = {"env": {**os.environ, "PYTHONIOENCODING": encoding}, "capture_output": True, "check": False}
    command = [sys.executable, "-m", "standout", "lineup", tmp_path / "people.index", "--knows", "Ünï"]
    text, machine = (subprocess.run([*command, *options], timeout=TIMEOUT, **settings) for options in ([], ["--json"]))
    assert (text.returncode, machine.returncode) == (0, 0)
    assert "Zo" in text.stdout.decode(encoding)
    assert "\\U0001f642" in text.stdout.decode(encoding)
    assert "Zoë 🙂" in json.dumps(json.loads(machine.stdout.decode(encoding)), ensure_ascii=False)
