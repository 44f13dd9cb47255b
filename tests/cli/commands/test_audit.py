"""`standout audit`: what it writes and prints is what the library says; exit codes; nobody's id is shown."""

import json
import stat

import polars as pl
import pytest
from click.testing import CliRunner

import standout as so
from standout.cli.command_group import cli
from standout.core.text import percent
from standout.findings.audit import Check

pytestmark = pytest.mark.large  # whole runs; their parts have tests of their own

HOSTILE = ('</script><script>alert("x")</script>', '=HYPERLINK("x")', "a" * 10_000, "\u202eright\u202c to left")
OPTIONS = ("--targets", 20, "--seed", 4, "--quick")
EPOCH, MOMENT = "1195000000", "2007-11-14T00:26:40+00:00"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """An index whose ids say PERSON and whose first items have hostile names."""
    path = tmp_path_factory.mktemp("data") / "people.index"
    frame = so.synthesize(records=60, items=40, entries=1_500, seed=5).to_frame()
    names = dict(zip(sorted(set(frame["item"])), HOSTILE, strict=False))
    frame = frame.with_columns(item=pl.col("item").replace(names), record=pl.lit("PERSON-") + pl.col("record"))
    so.save(so.read(frame), path)
    return path


@pytest.fixture(scope="module")
def sensitive(tmp_path_factory):
    path = tmp_path_factory.mktemp("sensitive") / "sensitive.txt"
    path.write_text("\n".join(f"{name}\t{name}" for name in HOSTILE))
    return path


@pytest.fixture(scope="module")
def folder(index, sensitive, tmp_path_factory):
    return tmp_path_factory.mktemp("audit") / "out"


@pytest.fixture(scope="module")
def audited(index, sensitive, folder):
    """The result of one audit with all its outputs."""
    risk = ("--risk-table", folder.parent / "risk.csv")
    args = ("audit", index, "-o", folder, *OPTIONS, "--sensitive", sensitive, "--fail-above", 0.01, *risk)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", EPOCH)
        return CliRunner().invoke(cli, [str(arg) for arg in args], terminal_width=80)


@pytest.fixture(scope="module")
def findings(audited, folder):
    return json.loads((folder / "findings.json").read_text())


def test_an_audit_writes_the_librarys_findings(findings, index, sensitive):
    audit = so.audit(
        so.open(index), name="people.index", targets=20, seed=4, quick=True, sensitive=sensitive, fail_above=0.01
    )
    assert findings == audit.finished_at(MOMENT).to_dict()


def test_an_audit_prints_the_answer_and_where_the_report_is(audited, findings, folder):
    lines = audited.output.splitlines()
    assert lines[-1] == f"Report: {folder / 'report.html'}"
    assert findings["answer"]["sentence"] in lines and findings["verdict"]["summary"] in lines
    for adversary in findings["adversaries"]:
        assert percent(adversary["as_named"]["identified"]["value"]) in audited.output


def test_the_table_says_which_claims_it_counts_and_fits_80_columns(audited):
    table = audited.stdout.partition("\n\n")[0].splitlines()
    assert all(len(line) <= 80 for line in table) and "…" not in audited.stdout
    words = " ".join(" ".join(table[:6]).split())
    assert words.count("Correct") == 1 and "≤ 1 %" in words and "paper's attack" in words


def test_an_audit_writes_report_tables_and_charts_and_removes_its_checkpoints(audited, folder):
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {"report.html", "findings.json", "tables/adversaries.csv", "charts/success.svg"} < files
    assert not (folder / "checkpoints").exists()


def test_without_advise_the_report_points_to_the_command(findings, folder):
    assert findings["advice"] is None and "standout advise" in (folder / "report.html").read_text()


def test_no_record_id_is_shown(audited, folder):
    shown = audited.output
    for path in folder.rglob("*"):
        shown += path.read_text() if path.suffix in (".html", ".json", ".csv", ".svg") else ""
    assert "PERSON-" not in shown


def test_hostile_titles_are_shown_as_text(audited, folder):
    page = (folder / "report.html").read_text()
    assert "<script" not in page and "&lt;/script&gt;" in page
    for path in (folder / "tables").glob("*.csv"):
        cells = [cell for row in pl.read_csv(path, infer_schema=False).rows() for cell in row if cell]
        assert not any(cell.startswith(("=", "+", "@")) for cell in cells), path


def test_the_risk_table_is_readable_by_its_owner_only(audited, folder):
    path = folder.parent / "risk.csv"
    table = pl.read_csv(path, infer_schema=False)
    assert table.height == 60 and set(table["record"]) <= {f"PERSON-{n}" for n in range(1, 61)}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_exceeding_the_threshold_is_exit_code_4(audited, findings):
    assert audited.exit_code == 4 and findings["threshold"]["exceeded"]
    assert findings["threshold"]["explanation"] in audited.output.splitlines()


def test_the_same_data_and_seed_give_the_same_bytes(run, audited, index, sensitive, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", EPOCH)
    options = (*OPTIONS, "--sensitive", sensitive, "--fail-above", 0.01, "--json")
    outcome = run("audit", index, "-o", tmp_path / "again", *options)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(folder)).read_bytes(), path
    assert json.loads(outcome.out) == json.loads((folder / "findings.json").read_text())


def test_an_audit_below_the_threshold_is_exit_code_0(no_charts, run, index, tmp_path):
    outcome = run("audit", index, "-o", tmp_path / "out", *OPTIONS, "--fail-above", "1")
    assert (outcome.code, outcome.err) == (0, "")
    assert not json.loads((tmp_path / "out" / "findings.json").read_text())["threshold"]["exceeded"]


def test_an_audit_that_fails_its_own_checks_is_not_trusted(no_charts, run, index, tmp_path, monkeypatch):
    failed = Check(
        name="canaries",
        title="Planted records are found",
        expected="20 of 20",
        observed="0 of 20",
        passed=False,
        explanation="None was found.",
    )
    monkeypatch.setattr("standout.auditing.audit.check_attack_on_sample", lambda plan, rung: [failed])
    outcome = run("audit", index, "-o", tmp_path / "out", *OPTIONS, "--fail-above", "0")
    assert outcome.code == 5
    assert "DO NOT TRUST THIS" in outcome.out and "Planted records are found" in outcome.out
    assert "Do not trust this report" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("name", ["paper", "likelihood"])
def test_an_audit_with_one_attack_says_so(no_charts, run, index, tmp_path, name):
    outcome = run("audit", index, "-o", tmp_path / "out", *OPTIONS, "--attack", name)
    assert f"Only one attack was tried ({name}): another may identify more people." in outcome.out
    assert "paper's attack" not in outcome.out.partition("\n\n")[0]
    content = json.loads((tmp_path / "out" / "findings.json").read_text())
    audit = so.audit(so.open(index), name="people.index", targets=20, seed=4, quick=True, attack=name)
    assert content == audit.finished_at(content["run"]["finished_at"]).to_dict()


def test_impossible_options_are_errors_of_one_line(run, index, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "ladder.toml").write_text("[[adversary]]\nname = 'x'\nknwos = 3\n")
    for options, message in [
        (("-o", tmp_path / "file"), "a file has this name"),
        (("--risk-table", tmp_path / "risk.xlsx"), ".csv or .parquet"),
        (("--ladder", tmp_path / "ladder.toml"), "knwos"),
        (("--advise", "--original", index), "--advise cannot be used with --original"),
    ]:
        output = () if "-o" in options else ("-o", tmp_path / "out")
        outcome = run("audit", index, *output, *OPTIONS, *options)
        assert outcome.code == 1 and message in outcome.err and outcome.err.count("\n") == 1, options
