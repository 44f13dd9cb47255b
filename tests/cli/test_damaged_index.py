"""No command uses a damaged index, whatever its size, and none writes an output from it."""

import pytest
from command_line import check_error, file_names, run_process

import standout as so
from standout.data import store
from standout.data.store import open_index_writer

COMMANDS = {
    "advise": ["--limit", "0.1"],
    "audit": ["-o", "report"],
    "bounds": [],
    "describe": [],
    "index": ["-o", "copy.index"],
    "lineup": ["--knows", "1"],
    "link": ["index"],
    "sanitize": ["--step", "round-time month", "-o", "safer.csv"],
    "simulate": [],
    "sparsity": [],
    "unicity": [],
}


@pytest.mark.parametrize("column", ["by-record-value", "by-item-word"])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_uses_a_damaged_index(run, tmp_path, monkeypatch, command, column):
    """Not even one that is too large to be checked completely when it is opened."""
    monkeypatch.setattr(store, "SMALL", -1)
    monkeypatch.chdir(tmp_path)
    release = so.synthesize(records=40, items=30, entries=300, seed=1)
    so.save(release, "index")
    file = tmp_path / "index" / f"{column}.bin"
    content = file.read_bytes()
    file.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    outcome = run(command, "index", *COMMANDS[command])
    check_error(outcome)
    assert f"index is damaged: {column}.bin does not match its checksum" in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_a_second_build_of_the_same_index_exits_with_3_and_one_line(tmp_path):
    (tmp_path / "ratings.csv").write_text("user,item\np,x\n")
    with open_index_writer(tmp_path / "index"):
        outcome = run_process("index", tmp_path / "ratings.csv", "-o", tmp_path / "index")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (3, "", 1)
    assert f"another process is building {tmp_path / 'index'}: wait" in outcome.err
    assert file_names(tmp_path) == ["ratings.csv"]
