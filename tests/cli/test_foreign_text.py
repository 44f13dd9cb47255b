"""No text from a file reaches a terminal or a page with characters that change it; JSON and CSV keep it."""

import ast
import json
import re
import sqlite3
import zipfile
from itertools import product
from pathlib import Path

import polars as pl
import pytest

import standout
from standout.cli.console import console, print_json, print_line

pytestmark = pytest.mark.once

EVIL = "\x1b[31m\x9b2J\u202e\x07[red]x[/red]"
NAME = EVIL.removesuffix("[/red]")
"""ESC, C1, an override of the writing direction, a bell, and Rich markup; the name of a file has no slash."""
DANGEROUS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
SOURCE = Path(standout.__file__).parent


def assert_harmless(outcome, *allowed):
    assert outcome.code in allowed, outcome
    for text in (outcome.out, outcome.err, outcome.read):
        assert not DANGEROUS.search(text), ascii(text)
    assert "Traceback" not in outcome.err


def assert_pages_are_harmless(folder):
    pages = [path for path in folder.rglob("*") if path.suffix in (".html", ".svg")]
    assert pages
    for path in pages:
        assert not DANGEROUS.search(path.read_text(encoding="utf-8")), path.name


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a hostile name and histories and tables with hostile headers, ids, titles and labels."""
    folder = tmp_path / f"data {NAME}"
    folder.mkdir()
    monkeypatch.chdir(folder)
    rows = [
        (f"p{person}{EVIL}", f"i{person * place % 41}{EVIL}", 1 + place % 5)
        for person, place in product(range(1, 31), range(1, 13))
    ]
    history = pl.DataFrame(rows, ["user", "item", "rating"], orient="row")
    history = history.unique(["user", "item"], maintain_order=True)
    history = history.with_columns(extra=pl.lit(EVIL)).rename({"extra": f"note{EVIL}"})
    history.write_csv(HISTORY)
    items = history["item"].unique(maintain_order=True)
    pl.DataFrame({"item": items, "title": [f"T{EVIL} {item}" for item in items]}).write_csv(TITLES)
    table = pl.DataFrame(
        {
            f"age{EVIL}": [20 + 7 * row % 50 for row in range(60)],
            f"town{EVIL}": [f"t{row % 7}{EVIL}" for row in range(60)],
            "sex": ["mf"[row % 2] for row in range(60)],
        }
    )
    table.write_csv(TABLE)
    return folder


HISTORY, TITLES, TABLE = f"r{NAME}.csv", f"titles{NAME}.csv", f"people{NAME}.csv"
AS_HISTORY = ["--record", "user", "--item", "item", "--value", "rating"]


@pytest.mark.parametrize(
    "command",
    [
        ["describe"],
        ["lineup", "--knows", "i1" + EVIL, "--knows", "i2" + EVIL],
        ["lineup", "--knows", "nothing" + EVIL],
        ["unicity"],
        ["sparsity"],
        ["bounds"],
        ["simulate", "--targets", "5"],
        ["sanitize", "--step", "drop-entries 0.5", "-o", f"safe{NAME}.csv", "--key", f"key{NAME}.csv"],
        ["sanitize", "--step", "nonsense" + EVIL, "-o", "safe.csv"],
        ["index", "-o", f"index{NAME}"],
        ["describe", "--read", f"titles={TITLES}"],
        ["describe", "--record", "person" + EVIL],
        ["describe", "--read", f"zone={EVIL}"],
        ["describe", EVIL],
        ["nonsense" + EVIL],
        ["describe", "--option" + EVIL],
        ["verify"],
    ],
)
def test_names_ids_and_titles_of_a_history_cannot_reach_the_terminal(command, run, folder):
    name, *options = command
    assert_harmless(run(name, HISTORY, *AS_HISTORY, *options), 0, 1, 2)
    assert_harmless(run(name, HISTORY, *options), 0, 1, 2)


def test_a_report_about_hostile_names_is_harmless(run, folder, no_charts):
    outcome = run("audit", HISTORY, *AS_HISTORY, "--quick", "--read", f"titles={TITLES}", "-o", "out")
    assert_harmless(outcome, 0, 5)
    assert_pages_are_harmless(folder / "out")


def test_linked_names_are_harmless(run, folder, no_charts):
    public = ["--public-read", "record=user", "--public-read", "item=item", "--public-read", "value=rating"]
    assert_harmless(run("--verbose", "link", HISTORY, HISTORY, *AS_HISTORY, *public, "-o", "out"), 0, 1)


@pytest.mark.parametrize(
    "command",
    [
        ["schema", "-o", "schema.toml"],
        ["lineup", "--table", "--knows", f"age{EVIL}=27"],
        ["lineup", "--table", "--knows", f"nothing{EVIL}=27"],
        ["audit", "--table", "--quick", "-o", "out"],
        ["audit", "--table", "--sensitive", "nothing" + EVIL, "-o", "out"],
        ["sanitize", "--table", "--step", f"round age{EVIL}=5", "-o", "safe.csv", "--key", "key.csv"],
        ["sanitize", "--table", "--step", f"drop:nothing{EVIL}", "-o", "safe.csv"],
    ],
)
def test_names_and_values_of_a_table_cannot_reach_the_terminal(command, run, folder, no_charts):
    name, *options = command
    assert_harmless(run(name, TABLE, *options), 0, 1, 2, 4, 5)
    if name == "schema":
        text = (folder / "schema.toml").read_text(encoding="utf-8")
        assert not DANGEROUS.search(text)
        hierarchy = f"hierarchy = {json.dumps(f'missing{NAME}.csv')}"
        text = text.replace('kind = "', f'{hierarchy}\nkind = "', 1)
        (folder / "schema.toml").write_text(text, encoding="utf-8")
        refused = run("schema", TABLE, "--schema", "schema.toml")
        assert_harmless(refused, 1)
        assert "missing" in refused.err
    if (folder / "out").exists():
        assert_pages_are_harmless(folder / "out")


def test_names_of_zip_members_and_sql_tables_are_harmless(run, folder):
    with zipfile.ZipFile("two.zip", "w") as archive:
        for number in "12":
            archive.writestr(f"m{number}{NAME}.csv", "user,item\np,x\n")
    assert_harmless(run("describe", "two.zip"), 0, 1)
    assert_harmless(run("describe", "two.zip", "--read", "member=m" + EVIL), 1)
    with sqlite3.connect("two.db") as database:
        for number in "12":
            database.execute(f'create table "t{number}{EVIL}" (user, item)')
            database.execute(f'insert into "t{number}{EVIL}" values (1, 2)')
    database.close()
    assert_harmless(run("describe", "two.db"), 0, 1)
    assert_harmless(run("describe", "two.db", "--read", "sql-table=t" + EVIL), 1)
    assert_harmless(run("describe", "two.db", "--read", "sql-table=t1" + EVIL), 0, 1)


def test_a_reproduction_of_a_hostile_file_is_a_harmless_page(run, folder):
    outcome = run(
        "--verbose", "paper", "--data", HISTORY, *AS_HISTORY, "--only", "table", "--targets", "5", "-o", "out"
    )
    assert_harmless(outcome, 0, 1)
    assert_pages_are_harmless(folder / "out")


def test_json_has_the_exact_text_without_raw_characters(capsys):
    content = {"name": EVIL + "\x7f\u2066\ud800é", "long": "x" * 5000}
    print_json(content)
    text = capsys.readouterr().out
    assert not DANGEROUS.search(text) and "é" in text and json.loads(text) == content


def test_markup_is_text_and_a_long_line_is_cut(capsys):
    print_line("[red]x[/red]\nstandout: all is well" + "y" * 10_000)
    console(width=60).print(f"[red]{EVIL}[/red]")
    text = capsys.readouterr().out
    assert text.startswith("[red]x[/red] standout: all is well") and len(text) < 3000 and "…" in text
    assert "[red]�[31m" in text and not DANGEROUS.search(text)


def test_only_the_console_and_the_progress_bar_print():
    for path in sorted(SOURCE.rglob("*.py")):
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        names = {ast.unparse(call) for call in calls}
        if path.name not in ("console.py", "progress.py"):
            assert not names & {"click.echo", "click.secho", "print", "Console"}, path
