"""Parameter errors name the option that sets the parameter."""

import ast
import re
from pathlib import Path

import click
import pytest

import standout
from standout.cli.command_group import cli
from standout.cli.error_lines import as_options, naming_options, option_names, with_option_name
from standout.cli.reading import read_setting
from standout.core.errors import ParameterError

PACKAGE = Path(standout.__file__).parent
OPTIONS = [name for command in cli.commands.values() for each in command.params for name in each.opts]
ABOUT_COMMANDS = {"advising", "cli", "cluster", "explore", "paper", "report"}
"""Packages that speak of commands: the command line itself, and pages that suggest complete commands."""
BOTH = PACKAGE / "ingest" / "unused_columns.py"
"""Warnings that are written in either way."""


def test_only_the_parameter_at_the_start_of_a_message_is_replaced():
    options = {"phi": "--phi", "top": "--top"}
    for message, expected in [
        ("phi must be ≥ 0, got -1", "--phi must be ≥ 0, got -1"),
        ("the phi must be ≥ 0", "the phi must be ≥ 0"),
        ("sigma must be > 0", "sigma must be > 0"),
        ("--phi must be ≥ 0", "--phi must be ≥ 0"),
    ]:
        assert str(with_option_name(ParameterError(message), options)) == expected


def test_an_option_with_another_name_than_its_parameter_is_named():
    with pytest.raises(ParameterError, match=r"^--within-days must be"), naming_options(time="--within-days"):
        raise ParameterError("time must be ≥ 0")


def test_the_long_form_of_an_option_is_its_name():
    command = click.Command("x", params=[click.Option(["-o", "--output"]), click.Option(["-k", "sizes"])])
    assert option_names(command) == {"output": "--output", "sizes": "-k"}


def test_parameters_in_a_text_become_options():
    for written, typed in [
        ("set it with separator=…", "set it with --read separator=…"),
        ("add header=True or header=False", "add --read header=yes or --read header=no"),
        ("ignore the column with value=False", "ignore the column with --value none"),
        ("(for UTF-16: encoding='utf-16')", "(for UTF-16: --read encoding=utf-16)"),
        ("add quote='' if", "add --read quote= if"),
        ("choose with record='user id' or record=3", "choose with --record 'user id' or --record 3"),
        ("for a history, add kind='history'", "for a history, add --read kind=history"),
        ("it is a table: add kind='table'", "it is a table: add --table"),
        ("no such column: zip='x', data/record=1/x.csv", "no such column: zip='x', data/record=1/x.csv"),
        ("so.read(x) and item='\\x'", "so.read(x) and item='\\x'"),
        (f"so.read({'(' * 240}).csv: no such file", f"so.read({'(' * 240}).csv: no such file"),
        ("so.read('\0').csv: no such file", "so.read('\0').csv: no such file"),
    ]:
        known = OPTIONS
        assert as_options(written, known) == typed
        assert as_options(typed, known) == typed


def test_a_second_source_has_options_of_its_own():
    known = ["--read", "--public-read"]
    assert as_options("separator=…, quote=''", known, "public-") == "--public-read separator=…, --public-read quote="


def test_the_library_speaks_of_parameters_and_not_of_options():
    named = [
        f"{path.relative_to(PACKAGE)}: {text.value[:60]}"
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] not in ABOUT_COMMANDS and path != BOTH
        for text in _texts_without_docstrings(ast.parse(path.read_text()))
        if re.search(r"(?<![\w-])--[a-z]|\s--$", text.value)
    ]
    assert named == []


def _texts_without_docstrings(tree):
    """All texts in code; a text that is a statement of its own documents something."""
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents
    ]


@pytest.mark.parametrize(
    ("text", "args", "message"),
    [
        ("user,item\n7.5,x\n", [], "name another one with --record"),
        ("user,item\np,x\np,x\n", ["--read", "repeats=error"], "keep all with --read repeats=keep"),
        ("user,item,rating\np,x,4\nq,x,a\n", ["--read", "value_type=number"], "List them all with --read rejects=FILE"),
        ("6,2,4,1289241912\n6,5,2,1289241942\n", [], "such as --record 1, --item 2. The columns look like: 1 number"),
    ],
)
def test_errors_of_the_library_name_options_on_the_command_line(run, tmp_path, monkeypatch, text, args, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text(text)
    outcome = run("describe", "x.csv", *args)
    assert outcome.code == 1 and message in outcome.err
    with pytest.raises(standout.StandoutError) as caught:
        standout.read("x.csv", **dict(map(read_setting, args[1::2])))
    assert "--" not in str(caught.value)


def test_an_error_about_the_second_source_names_its_options(run, tmp_path):
    data, public = tmp_path / "data.csv", tmp_path / "public.csv"
    data.write_text("user,item\np,x\nq,y\n")
    public.write_text("user,item\n7.5,x\n")
    outcome = run("link", data, public)
    assert outcome.code == 1 and "name another one with --public-read record=…" in outcome.err
