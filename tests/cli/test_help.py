"""The help of every command: an example, options under headings, whole summaries, 80 columns."""

import re

import click
import pytest
from click.testing import CliRunner

from standout.cli.command_group import cli
from standout.cli.options import GENERAL

HELP_WIDTH = 80
MOST_OPTIONS = 12


def help_texts():
    """Return the help of the group and of every command, as a terminal of any width shows it."""
    for args in ([], *([name] for name in cli.commands)):
        result = CliRunner().invoke(cli, [*args, "--help"], prog_name="standout", terminal_width=None)
        assert result.exit_code == 0
        yield " ".join(args) or "standout", result.output


def test_every_help_has_an_example_and_fits_80_columns():
    for name, text in help_texts():
        assert re.search(r"^  Example:\n    standout ", text, re.M), name
        assert [line for line in text.splitlines() if len(line) > HELP_WIDTH] == [], name
        assert [line for line in text.splitlines() if line.endswith("-")] == [], f"{name}: a broken word"
        assert re.findall(r"^  [A-Z.]+ *$", text, re.M) == [], f"{name}: an argument without a text"


@pytest.mark.parametrize("width", [60, HELP_WIDTH, 200])
def test_the_list_of_commands_cuts_no_summary(width):
    text = CliRunner().invoke(cli, ["--help"], prog_name="standout", terminal_width=width).output
    commands = " ".join(text.partition("Commands:")[2].split())
    for name, command in cli.commands.items():
        summary = " ".join(command.help.split("\n\n")[0].split())
        assert f"{name} {summary}" in commands


def test_every_summary_fits_one_line_of_80_columns():
    lines = dict(help_texts())["standout"].partition("Commands:\n")[2].splitlines()
    assert len(lines) == len(cli.commands)


def options_of(*commands):
    """The options of commands, without their arguments."""
    return [each for command in commands for each in command.params if isinstance(each, click.Option)]


def option_sections(text):
    """The lines of options below each heading of a help text."""
    sections, heading = {}, None
    for line in text.splitlines():
        if line and not line.startswith(" "):
            heading = line.removesuffix(":")
        elif re.match(r"  -", line) and heading is not None and not heading.startswith("Usage"):
            sections.setdefault(heading, []).append(line)
    return sections


def test_options_stand_under_headings_that_are_short_enough_to_read():
    for name, text in help_texts():
        for heading, lines in option_sections(text).items():
            assert len(lines) <= MOST_OPTIONS, f"{name}, {heading}: {len(lines)} options"


def test_options_of_one_name_stand_under_one_heading_unless_they_mean_different_things():
    headings = {}
    for option in options_of(*cli.commands.values()):
        headings.setdefault((option.name, option.help), set()).add(getattr(option, "group", "Options"))
    assert [name for name, groups in headings.items() if len(groups) > 1] == []


def test_general_options_are_the_last_ones_and_every_option_is_explained():
    for name, text in help_texts():
        if name == "standout":
            continue
        assert list(option_sections(text))[-1] == GENERAL, name
        assert "--help" in option_sections(text)[GENERAL][-1], name
    for name, command in cli.commands.items():
        assert [option.name for option in options_of(command) if not option.help] == [], name


def test_all_help_texts_of_options_begin_in_one_column():
    for name, text in help_texts():
        if name != "standout":
            rows = [line for lines in option_sections(text).values() for line in lines]
            columns = {re.match(r"  -.*?\S  +(?=\S)", line) for line in rows}
            assert len({match.end() for match in columns if match}) == 1, name


def test_every_command_that_can_be_interrupted_documents_its_exit_codes():
    texts = dict(help_texts())
    for name in ("advise", "audit", "link", "paper", "simulate"):
        assert re.search(r"Exit code(s:\n    3  | 3: )interrupted", texts[name]), name


# Names that do not exist.

MISTYPED = [
    (["audti", "x.csv"], "Did you mean 'audit'?"),
    (["audit", "x.csv", "--fail-abov", "0.1"], "Did you mean '--fail-above'?"),
    (["unicity", "x.csv", "--within-vlaue", "1"], "'--within-value'"),
    (["sanitize", "x.csv", "-o", "y.csv", "--step", "round-tme month"], "did you mean 'round-time'?"),
    (["sanitize", "x.csv", "-o", "y.csv", "--step", "Drop_Rare_Items 10"], "did you mean 'drop-rare-items'?"),
    (["sanitize", "x.csv", "-o", "y.csv", "--step", "rond age 5"], "did you mean 'round'?"),
    (["advise", "x.csv", "--try", "round-tme month + drop-entries 0.5"], "did you mean 'round-time'?"),
    (["simulate", "x.csv", "--items", "rarset"], "did you mean 'rarest'?"),
]


@pytest.mark.parametrize(("args", "meant"), MISTYPED)
def test_a_mistyped_name_is_answered_with_the_closest_one(args, meant, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("user,item,rating\np,a,4\nq,a,4\nq,b,3\n")
    result = CliRunner().invoke(cli, args)
    assert result.exit_code != 0
    assert meant in result.output + str(result.exception)


def test_a_name_that_resembles_nothing_gets_no_suggestion():
    result = CliRunner().invoke(cli, ["frobnicate"])
    assert result.exit_code == 2 and "mean" not in result.output
