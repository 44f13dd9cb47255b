"""Ctrl-C and SIGTERM before the first result: code 3, one sentence, and nothing left behind."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from command_line import TIMEOUT, file_names

import standout
from standout.cli.command_group import cli
from standout.cli.main import NO_RESULT

pytestmark = pytest.mark.once

SOURCE = "user,item,rating\n" + "".join(
    f"p{person},i{person * place % 61},{1 + place % 5}\n" for person in range(1, 41) for place in range(1, 21)
)
ARGUMENTS = {
    "advise": ["r.csv", "-o", "out"],
    "audit": ["r.csv", "-o", "out"],
    "bounds": ["r.csv"],
    "demo": ["-o", "out"],
    "describe": ["r.csv"],
    "explore": ["r.csv", "--no-browser"],
    "index": ["r.csv", "-o", "out.index"],
    "lineup": ["r.csv", "--knows", "i1"],
    "link": ["r.csv", "r.csv", "-o", "out"],
    "paper": ["-o", "out", "--records", "100"],
    "sanitize": ["r.csv", "--step", "drop-entries 0.5", "-o", "safe.csv", "--key", "key.csv"],
    "schema": ["r.csv", "-o", "schema.toml"],
    "simulate": ["r.csv", "--save", "run"],
    "sparsity": ["r.csv"],
    "synthesize": ["-o", "out.csv", "--records", "100"],
    "unicity": ["r.csv"],
    "verify": ["r.csv"],
}
PACKAGE = f"{Path(standout.__file__).parent}/"
CHECKPOINTS = {"out", "checkpoints", "candidates.checkpoint"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "r.csv").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def all_names(folder):
    return {path.name for path in folder.rglob("*")} - {"r.csv"}


@contextmanager
def signal_at_call(number, at):
    """Send a signal to this process when a function of Standout is called for the n-th time."""
    calls = count()

    def profile(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE) and next(calls) == at:
            sys.setprofile(None)
            signal.raise_signal(number)

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


def test_there_are_arguments_for_every_command():
    assert [*ARGUMENTS] == sorted(cli.commands)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_command_ends_with_code_3_and_one_sentence(name, number, run, folder, monkeypatch):
    def progress():
        signal.raise_signal(number)

    monkeypatch.setattr(f"{cli.commands[name].callback.__module__}.progress", progress)
    outcome = run(name, *ARGUMENTS[name])
    assert (outcome.code, outcome.out, outcome.err) == (3, "", NO_RESULT)
    assert file_names(folder) == ["r.csv"]


@pytest.mark.parametrize("name", ["advise", "audit", "index", "link", "sanitize", "simulate", "synthesize"])
def test_nothing_is_left_behind_wherever_a_signal_comes(name, run, folder, no_charts):
    codes = set()
    for at in (20, 300, 1200, 5000, 20_000):
        with signal_at_call(signal.SIGINT, at):
            outcome = run(name, *ARGUMENTS[name])
        codes.add(outcome.code)
        assert "Traceback" not in outcome.err
        if outcome.code == 3 and not outcome.out:
            if outcome.err == NO_RESULT:
                assert all_names(folder) <= CHECKPOINTS
            else:
                output = Path(ARGUMENTS[name][ARGUMENTS[name].index("-o") + 1])
                assert outcome.err == f"standout: interrupted, but {output} is complete\n"
                assert run("verify" if output.is_dir() else "describe", output).code == 0
        for path in folder.iterdir():
            if path.name != "r.csv":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert 3 in codes <= {0, 3}


def test_a_signal_within_an_import_is_not_lost(tmp_path):
    careless = "try:\n    signal.raise_signal(signal.SIGTERM)\nexcept BaseException:\n    pass\n"
    (tmp_path / "careless.py").write_text(f"import signal\n{careless}")
    code = """
import signal
from standout.cli import command_group, main

def run():
    import careless
    raise AssertionError("the next line")

command_group.run = run
main()
"""
    settings = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": TIMEOUT, "check": False}
    process = subprocess.run([sys.executable, "-c", code], **settings)
    assert (process.returncode, process.stderr) == (3, NO_RESULT)


COMPILING = """
import os, signal, sys
from numba.core import event
from standout.cli import main

class Interrupt(event.Listener):
    def on_start(self, event):
        os.kill(os.getpid(), signal.SIGINT)

    def on_end(self, event):
        pass

event.register("numba:compile", Interrupt())
sys.argv[0] = "standout"
main()
"""


def test_a_signal_while_a_kernel_is_compiled_leaves_nothing_in_the_cache(folder):
    (folder / "cache").mkdir(mode=0o700)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", COMPILING, "lineup", "r.csv", "--knows", "i1"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False, env=environment)
    assert (process.returncode, process.stdout) == (3, "")
    assert process.stderr.endswith(NO_RESULT) and "Traceback" not in process.stderr
    assert not [path for path in (folder / "cache").rglob("*") if path.is_file()]
