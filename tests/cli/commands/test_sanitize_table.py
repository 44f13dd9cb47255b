"""`standout sanitize --table`: it writes what `so.sanitize` makes of a table, and refuses before it works."""

import json
import stat

import polars as pl
import pytest
from command_line import check_error, undocumented
from sanitizing_tables import random_table

import standout as so

pytestmark = pytest.mark.once

STEPS = ["round age 5", "generalize born month", "suppress-to-k age size 3"]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "survey.csv"
    random_table(n_rows=80, seed=1).to_frame().drop("has").write_csv(path)
    return path


def arguments(steps=STEPS):
    return [word for step in steps for word in ("--step", step)]


def test_the_command_writes_a_table_that_opens_with_its_original_and_key(run, source, tmp_path):
    out, key = tmp_path / "safer.csv", tmp_path / "key.csv"
    outcome = run("sanitize", source, "--table", "-o", out, *arguments(), "--key", key, "--seed", 7)
    assert outcome.code == 0, outcome.err
    assert all(step in outcome.out for step in STEPS[:2])
    assert "0 of 80 people are not in the output" in outcome.out
    table = so.read(source, kind="table")
    safer = so.open_sanitized(out, table, key)
    assert safer.fingerprint == so.sanitize(table, STEPS, seed=7).fingerprint
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert "person" not in out.read_text()


def test_steps_on_columns_say_that_the_data_is_a_table(run, source, tmp_path):
    outcome = run("sanitize", source, "-o", tmp_path / "safer.parquet", "--step", "drop-column age")
    assert outcome.code == 0, outcome.err
    assert "Without --key" in outcome.out
    assert "age" not in pl.read_parquet(tmp_path / "safer.parquet").columns


def test_the_hierarchy_of_a_step_comes_from_the_schema(run, source, tmp_path):
    schema = tmp_path / "schema.toml"
    outcome = run("schema", source, "-o", schema)
    assert outcome.code == 0, outcome.err
    text = schema.read_text()
    assert "[zip]" in text or "[columns.zip]" in text, text
    section = "[zip]" if "[zip]" in text else "[columns.zip]"
    schema.write_text(text.replace(section, f'{section}\nhierarchy = "prefix"', 1))
    args = ["--table", "--schema", schema, "--step", "generalize zip 2"]
    outcome = run("sanitize", source, "-o", tmp_path / "safer.csv", *args)
    assert outcome.code == 0, outcome.err
    assert set(pl.read_csv(tmp_path / "safer.csv", infer_schema=False)["zip"]) - {None} <= {"1**", "2**", "3**"}


def test_json_output_is_documented_and_has_no_seed(run, source, tmp_path):
    out = tmp_path / "safer.csv"
    outcome = run("sanitize", source, "--table", "-o", out, *arguments(), "--json", "--seed", 271828)
    content = json.loads(outcome.out)
    assert undocumented("sanitize", content) == []
    assert (content["original"]["records"], content["original"]["columns"]) == (80, 5)
    assert (content["records"], content["columns"]) == (80, 5)
    assert [step["step"] for step in content["steps"]] == STEPS
    assert "271828" not in outcome.out


def test_the_command_refuses_before_it_works(run, source, tmp_path):
    out = tmp_path / "safer.csv"
    for args, reason in (
        (["--step", "rund age 5"], "there is no step 'rund'"),
        (["--step", "round age five"], "expected a number"),
        (["--step", "round nothing 5"], "is not one of"),
        (["--step", "round-time month"], "the release has no entries"),
        ([*arguments(), "--key", out], "must be different files"),
    ):
        outcome = run("sanitize", source, "--table", "-o", out, *args)
        assert reason in outcome.err
        check_error(outcome._replace(err="standout: " + outcome.err.split("standout: ")[-1]))
        assert not out.exists()
    outcome = run("sanitize", source, "--table", "-o", tmp_path / "index", *arguments())
    assert "must end in .csv or .parquet" in outcome.err


def test_all_steps_are_listed_with_their_syntax(run):
    outcome = run("sanitize", "--list-steps")
    assert "Steps on columns" in outcome.out
    for line in ("generalize COLUMN HEIGHT", "round COLUMN MULTIPLE", "swap COLUMN", "suppress-to-k [COLUMN"):
        assert line in outcome.out
