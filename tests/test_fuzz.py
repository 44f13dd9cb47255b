"""Some rounds of the fuzzer, in other processes, so that a crash or a hang fails, too; and its corpus."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzzing.case import load_case
from tests.fuzzing.outcomes import READ
from tests.fuzzing.targets import SLOW, TARGETS
from tests.fuzzing.worker import safely_checked

ROOT = Path(__file__).parents[1]
CORPUS = sorted((ROOT / "tests" / "corpus").glob("*.json"))
SEED = 2008
TIMEOUT = 600
COSTLY = {"state", *(name.replace(" ", "-") for name in SLOW)}
QUICK = [name for name, entry in TARGETS.items() if not entry.environment and not name.startswith((*COSTLY,))]


def fuzz(rounds, names, record):
    """Run a campaign in other processes; return its counts by target."""
    command = [sys.executable, "-m", "tests.fuzz", "--rounds", f"{rounds}", "--seed", f"{SEED}", "--jobs", "1"]
    command += ["--record", str(record), "--only", *names]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return [json.loads(line) for line in record.read_text().splitlines()]


def test_mutated_input_ends_in_a_result_or_in_one_line(tmp_path):
    counts = fuzz(400, QUICK, tmp_path / "counts.jsonl")
    assert {line["target"] for line in counts} == {*QUICK}
    assert sum(line["read"] for line in counts) > 100
    assert sum(line["refused"] for line in counts) > 100


@pytest.mark.slow
@pytest.mark.once
def test_every_target_takes_many_mutated_inputs(tmp_path):
    counts = fuzz(4000, list(TARGETS), tmp_path / "counts.jsonl")
    assert {line["target"] for line in counts} == {*TARGETS}


def check_good_cases(names, folder):
    """Inputs that nothing has changed are read: else their mutations would only try how they are refused."""
    here = Path.cwd()
    try:
        for name in names:
            for case in TARGETS[name].target.good_cases():
                assert safely_checked(TARGETS[name].target, case, folder) == (READ, None), f"{name}: {case.options}"
    finally:
        os.chdir(here)


@pytest.mark.once
def test_sources_that_nothing_has_changed_are_read(tmp_path):
    names = [name for name, entry in TARGETS.items() if hasattr(entry.target, "good_cases")]
    check_good_cases([name for name in names if not name.startswith("command")], tmp_path)


@pytest.mark.slow
@pytest.mark.once
def test_command_lines_that_nothing_has_changed_succeed(tmp_path):
    check_good_cases([name for name in TARGETS if name.startswith("command")], tmp_path)


@pytest.mark.once
def test_inputs_that_failed_once_do_not_fail_again(tmp_path):
    here = Path.cwd()
    try:
        for path in CORPUS:
            name, case = load_case(path)
            _, failure = safely_checked(TARGETS[name].target, case, tmp_path)
            assert failure is None, f"{path.name}: {failure}"
    finally:
        os.chdir(here)
