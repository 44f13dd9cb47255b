"""Every command that reads data says on stderr how it was read."""

import json

import pytest

import standout as so
from standout.cli.command_group import cli

ROWS = "user,item,rating,date\n" + "".join(
    f"u{user},i{item},{1 + (user * item) % 5},2005-03-{1 + item:02}\n"
    for user in range(12)
    for item in range(8)
    if (user + item) % 3
)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(ROWS)
    return path


COMMANDS = {
    "describe": (),
    "sparsity": (),
    "unicity": (),
    "bounds": (),
    "simulate": ("--targets", "4", "--knows", "2"),
    "lineup": ("--knows", "i1"),
}


@pytest.mark.once
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_prints_one_line_on_how_the_data_was_read(run, data, command):
    outcome = run(command, data, *COMMANDS[command])
    assert outcome.code == 0 and outcome.err == ""
    assert outcome.read.startswith("Read a.csv: CSV, ") and outcome.read.count("\n") == 1
    assert "person = user, item = item, value = rating (numbers 1 to 5), time = date" in outcome.read
    assert "64 rows, 0 rejected, 0 repeated." in outcome.read


@pytest.mark.once
def test_both_files_of_a_link_and_both_of_an_audit_are_reported(run, data, tmp_path):
    outcome = run("link", data, data)
    assert outcome.read.count("Read a.csv: ") == 2, outcome.err
    safer = tmp_path / "safer.csv"
    assert run("sanitize", data, "-o", safer, "--step", "round-time month").read.count("Read ") == 1
    outcome = run("simulate", safer, "--original", data, "--targets", "4", "--knows", "2")
    assert [line.split(":")[0] for line in outcome.read.splitlines()] == ["Read a.csv", "Read safer.csv"]


def test_verbose_adds_the_details_and_leaves_stdout_alone(run, data):
    plain, verbose = run("describe", data, "--json"), run("--verbose", "describe", data, "--json")
    assert json.loads(plain.out) == json.loads(verbose.out)
    for title in ("Separator", "Header", "Person column", "Values", "Times", "Rejected rows"):
        assert title in verbose.read and title not in plain.read


def test_an_index_says_how_its_source_was_read(run, data, tmp_path):
    so.save(so.read(data), tmp_path / "a.index")
    outcome = run("--verbose", "describe", tmp_path / "a.index")
    assert outcome.code == 0 and outcome.read.startswith("Read index a.index of a.csv: CSV, ")


def test_every_command_that_reads_data_has_verbose():
    options = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in cli.commands.items()
    }
    reading = [name for name, given in options.items() if "--read" in given]
    assert len(reading) > 10


def test_names_from_outside_cannot_reach_the_terminal(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("user,item,\x1b[31mred\n1,2,3\n")
    outcome = run("--verbose", "describe", path, "--value", "\x1b[31mred")
    assert outcome.code == 0 and "\x1b" not in outcome.read
