"""`standout audit` of a table: recognised or named, what it prints and writes, exit codes."""

import json

import numpy as np
import pytest

import standout as so
from standout.attack import column_evidence as evidence
from standout.sanitizing.files import write_sanitized

pytestmark = pytest.mark.large  # whole audits; their kernels have tests of their own
OPTIONS = ("--targets", "20", "--seed", "4", "--quick", "--threads", "1")


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    draw = np.random.default_rng(3)
    path = tmp_path_factory.mktemp("data") / "survey.csv"
    rows = [
        f"P{i},{draw.integers(18, 90)},{draw.choice(['f', 'm'])},{draw.integers(10100, 10140)},"
        f"{draw.choice(['clerk', 'nurse', 'cook', 'driver'])},{draw.choice(['flu', 'none', 'asthma'])}"
        for i in range(150)
    ]
    path.write_text("id,age,sex,zip,job,diagnosis\n" + "\n".join(rows) + "\n")
    return path


def test_a_table_is_recognised_audited_and_reported(run, survey, tmp_path):
    result = run("audit", survey, "-o", tmp_path / "out", *OPTIONS)
    assert result.code == 0, result.err
    assert "read as a table with one row per person" in result.err
    assert "by exact" in result.out and "acquaintance" in result.out
    assert "self-checks" in result.out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "report.html", "findings.json", "tables", "charts",
    }  # fmt: skip


def test_what_is_printed_and_written_is_what_the_library_says(run, survey, tmp_path):
    out = tmp_path / "out"
    printed = run("audit",
        survey, "--table", "-o", out, "--json", "--sensitive", "diagnosis",
        "--population", 1000, *OPTIONS,
    )  # fmt: skip
    findings = so.audit(
        so.read(survey, kind="table"), targets=20, seed=4, quick=True,
        sensitive_columns=["diagnosis"], population=1000, name="survey.csv",
    ).to_dict()  # fmt: skip
    for text in (printed.out, (out / "findings.json").read_text()):
        content = json.loads(text)
        assert content["run"].pop("finished_at")
        expected = json.loads(json.dumps(findings))
        expected["run"].pop("finished_at")
        assert content == expected


def test_a_threshold_that_may_be_exceeded_gives_code_4(run, survey, tmp_path):
    assert run("audit", survey, "--table", "-o", tmp_path, "--fail-above", 0.0, *OPTIONS).code == 4
    assert run("audit", survey, "--table", "-o", tmp_path, "--fail-above", 1.0, *OPTIONS).code == 0


def test_a_failed_self_check_gives_code_5(run, survey, tmp_path, monkeypatch):
    right = evidence.ColumnEvidence.likelihood
    monkeypatch.setattr(
        evidence.ColumnEvidence,
        "likelihood",
        lambda self, code, own=None: (w := right(self, code, own))._replace(numbers=w.numbers - 1.0),
    )
    result = run("audit", survey, "--table", "-o", tmp_path, *OPTIONS)
    assert result.code == 5
    assert "DO NOT TRUST THIS" in result.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--sensitive", "height"), "no column 'height'"),
        (("--population", "10"), "--population must be at least the number of rows, 150"),
        (("--key", "key.csv"), "--key needs --original"),
    ],
)
def test_options_that_do_not_fit_are_refused_by_name(run, survey, tmp_path, options, message):
    result = run("audit", survey, "--table", "-o", tmp_path / "out", *options, *OPTIONS)
    assert result.code == 1
    assert message in result.err


def test_options_of_tables_are_refused_for_histories(run, tmp_path):
    path = tmp_path / "ratings.csv"
    so.synthesize(records=20, items=20, entries=100, seed=7).to_frame().write_csv(path)
    result = run("audit", path, "-o", tmp_path / "out", "--population", 100)
    assert result.code == 1
    assert "--population is for tables with one row per person: add --table" in result.err


def test_a_sanitized_table_is_audited_with_its_original(run, survey, tmp_path):
    safer = so.sanitize(so.read(survey, kind="table"), "round age 10", seed=3)
    write_sanitized(safer, tmp_path / "safer.csv", key=tmp_path / "key.csv")
    result = run("audit",
        tmp_path / "safer.csv", "--table", "--original", survey, "--key", tmp_path / "key.csv",
        "-o", tmp_path / "out", *OPTIONS,
    )  # fmt: skip
    assert result.code == 0, result.err
    assert "made from an original with 150 people" in result.out


@pytest.mark.parametrize("command", [("bounds",), ("sparsity",), ("unicity",)])
def test_commands_for_histories_refuse_tables_in_one_sentence(run, survey, command):
    result = run(*command, survey, "--table")
    assert result.code == 1
    assert "needs entries (who, what, when)" in result.err


def test_a_simulation_attacks_the_people_of_a_table(run, survey):
    result = run("simulate", survey, "--table", "--knows", 3, "--targets", 20, "--json")
    assert result.code == 0, result.err
    rows = [row for row in json.loads(result.out)["table"] if row["measure"] == "identified"]
    assert {row["attack"] for row in rows} == {"likelihood", "paper"} and all(row["n"] == 20 for row in rows)


def test_a_table_is_described_by_its_columns(run, survey):
    printed = run("describe", survey, "--table")
    assert printed.code == 0
    assert all(name in printed.out for name in ("age", "number", "quasi-identifier", "diagnosis", "sensitive"))
    content = json.loads(run("describe", survey, "--table", "--json").out)
    assert [column["name"] for column in content["columns"]] == ["age", "sex", "zip", "job", "diagnosis"]


@pytest.mark.parametrize(
    ("rows", "part"),
    [
        (["when,age", *(f"2024-01-0{i % 3 + 1} 1{i % 9}:0{i % 6}:1{i % 9},{i}" for i in range(40))], "times of day"),
        (["user,age", *(f"a{i}@x.org,{i % 7}" for i in range(40))], "looks like an e-mail address"),
        (["patient_id,age", *(f"{i // 2},{i % 7}" for i in range(40))], "looks like an id of people"),
    ],
)
def test_a_threshold_is_refused_where_the_risk_may_be_understated(run, put, rows, part):
    path = put("\n".join(rows) + "\n", "people.csv")
    outcome = run("audit", path, "--table", "--fail-above", "0.9", "-o", path.parent / "out")
    assert outcome.code == 1
    assert "the threshold cannot be checked" in outcome.err
    assert part in outcome.err


def test_a_threshold_needs_an_adversary_that_counts(run, put):
    path = put("age,sex\n" + "".join(f"{i},{'mf'[i % 2]}\n" for i in range(40)), "people.csv")
    ladder = put('[[adversary]]\nname = "w"\ntitle = "W"\nknows = 1\ngate = false\n', "ladder.toml")
    outcome = run("audit", path, "--table", "--ladder", ladder, "--fail-above", "0.0", "-o", path.parent / "out")
    assert outcome.code == 1
    assert "an adversary that counts for the threshold" in outcome.err
