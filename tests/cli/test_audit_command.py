"""`standout audit` and `standout demo`: what is written and printed is what the library says; exit codes."""

import json
import stat

import polars as pl
import pytest

import standout as so
from standout.auditing import selfcheck

pytestmark = pytest.mark.large  # whole runs; what they are made of has tests of its own

HOSTILE = (
    '</script><script>alert("x")</script>',
    '=HYPERLINK("x")',
    "a" * 10_000,
    "\u202eright\u202c to left",
)
FEW = ("--targets", 30, "--seed", 4)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "people.index"
    so.save(so.synthesize(records=300, items=120, entries=9_000, seed=3), path)
    return path


@pytest.fixture(autouse=True)
def moment(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1195000000")


@pytest.fixture
def swift(monkeypatch):
    """Nothing is drawn, and the audit checks itself on fewer people: these tests are about something else."""
    nothing = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" viewBox="0 0 9 9"><g></g></svg>'
    monkeypatch.setattr("vl_convert.vegalite_to_svg", lambda *args, **more: nothing)
    monkeypatch.setattr("vl_convert.vegalite_to_png", lambda *args, **more: b"")
    monkeypatch.setattr(selfcheck, "GONE", 50)


def test_an_audit_writes_the_librarys_findings_and_says_where_the_report_is(run, index, tmp_path):
    told = run("audit", index, "-o", tmp_path / "out", *FEW)
    assert (told.code, told.err) == (0, "")
    done = so.audit(so.open(index), name="people.index", targets=30, seed=4)
    done.findings["made"]["at"] = "2007-11-14T00:26:40+00:00"
    assert json.loads((tmp_path / "out" / "findings.json").read_text()) == json.loads(
        json.dumps(done.findings)
    )
    lines = told.out.splitlines()
    assert lines[-1] == f"Report: {tmp_path / 'out' / 'report.html'}"
    assert done.findings["answer"]["sentence"] in lines and done.findings["verdict"]["summary"] in lines
    for one in done.findings["adversaries"]:
        assert f"{100 * one['at']['identified']['value']:.1f} %" in told.out
    written = {
        str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()
    }
    assert {"report.html", "findings.json", "tables/adversaries.csv", "charts/success.svg"} < written
    assert not (tmp_path / "out" / "work").exists()  # nothing about a single person is left


def test_the_same_data_and_seed_give_the_same_bytes(run, index, tmp_path):
    for name in ("one", "two"):
        run("audit", index, "-o", tmp_path / name, *FEW, "--quick")
    for path in sorted(path for path in (tmp_path / "one").rglob("*") if path.is_file()):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes(), path


def test_findings_for_machines(swift, run, index, tmp_path):
    told = run("audit", index, "-o", tmp_path / "out", *FEW, "--quick", "--json")
    assert json.loads(told.out) == json.loads((tmp_path / "out" / "findings.json").read_text())


@pytest.mark.parametrize(("share", "code"), [("0.01", 4), ("1", 0)])
def test_a_threshold_is_a_gate(swift, run, index, tmp_path, share, code):
    told = run("audit", index, "-o", tmp_path / "out", *FEW, "--quick", "--fail-above", share)
    found = json.loads((tmp_path / "out" / "findings.json").read_text())
    assert told.code == code and found["threshold"]["exceeded"] == (code == 4)
    assert found["threshold"]["words"] in told.out.splitlines()


def test_an_audit_that_fails_its_own_checks_is_not_trusted(swift, run, index, tmp_path, monkeypatch):
    broken = selfcheck.Check(
        "canaries", "Planted records are found", "20 of 20", "0 of 20", False, "None was found."
    )
    monkeypatch.setattr(selfcheck.SelfCheck, "run", lambda self, meter: [broken])
    told = run("audit", index, "-o", tmp_path / "out", *FEW, "--quick", "--fail-above", "0")
    assert told.code == 5 and "DO NOT TRUST THIS" in told.out and "Planted records are found" in told.out
    assert "Do not trust this report" in (tmp_path / "out" / "report.html").read_text()


def test_the_risk_table_is_written_on_request_for_its_owner(swift, run, index, tmp_path):
    told = run(
        "audit",
        index,
        "-o",
        tmp_path / "out",
        *FEW,
        "--quick",
        "--risk-table",
        tmp_path / "risk.csv",
        "--risk-sample",
        20,
    )
    assert told.code == 0
    table = pl.read_csv(tmp_path / "risk.csv", infer_schema=False)
    assert table.height == 20 and set(table["record"]) <= {str(n) for n in range(1, 301)}
    assert stat.S_IMODE((tmp_path / "risk.csv").stat().st_mode) == 0o600


def test_hostile_titles_are_texts(swift, run, tmp_path):
    release = so.synthesize(records=60, items=40, entries=1_500, seed=5)
    frame = release.to_frame()
    names = dict(zip(sorted(set(frame["item"])), HOSTILE, strict=False))
    frame = frame.with_columns(pl.col("item").replace(names))
    so.save(so.read(frame), tmp_path / "people.index")
    (tmp_path / "sensitive.txt").write_text(
        "\n".join(f"{name}\t{name}" for name in HOSTILE if "\n" not in name)
    )
    told = run(
        "audit", tmp_path / "people.index", "-o", tmp_path / "out", *FEW, "--quick", "--sensitive",
        tmp_path / "sensitive.txt",
    )  # fmt: skip
    assert told.code == 0
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<script" not in page and "&lt;/script&gt;" in page
    for path in (tmp_path / "out" / "tables").glob("*.csv"):
        cells = [cell for row in pl.read_csv(path, infer_schema=False).rows() for cell in row if cell]
        assert not any(cell.startswith(("=", "+", "@")) for cell in cells), path


def test_no_record_id_is_in_what_is_shown(swift, run, tmp_path):
    frame = so.synthesize(records=60, items=40, entries=1_500, seed=5).to_frame()
    frame = frame.with_columns(record=pl.lit("PERSON-") + pl.col("record"))
    so.save(so.read(frame), tmp_path / "people.index")
    told = run("audit", tmp_path / "people.index", "-o", tmp_path / "out", *FEW, "--quick")
    shown = told.out + told.err
    shown += "".join(
        p.read_text() for p in (tmp_path / "out").rglob("*") if p.suffix in (".html", ".json", ".csv", ".svg")
    )
    assert told.code == 0 and "PERSON-" not in shown


def test_what_cannot_be_is_refused(run, index, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "ladder.toml").write_text("[[adversary]]\nname = 'x'\nknwos = 3\n")
    for wrong, words in [
        (("-o", tmp_path / "file"), "is a file"),
        (("--risk-sample", 5), "--risk-table"),
        (("--risk-table", tmp_path / "risk.xlsx"), ".csv or .parquet"),
        (("--ladder", tmp_path / "ladder.toml"), "knwos"),
        (("--headline", "nobody"), "nobody"),
    ]:
        told = run("audit", index, *(("-o", tmp_path / "out") if "-o" not in wrong else ()), *FEW, *wrong)
        assert told.code == 1 and words in told.err and told.err.count("\n") == 1, (wrong, told)


def test_the_demo_is_an_audit_of_a_stand_in(swift, run, tmp_path, monkeypatch):
    told = run("demo", "-o", tmp_path / "demo", "--records", 400)
    assert told.code == 0 and told.out.splitlines()[-1] == f"Report: {tmp_path / 'demo' / 'report.html'}"
    found = json.loads((tmp_path / "demo" / "findings.json").read_text())
    assert found["data"]["records"] == 400 and found["data"]["synthetic"] and found["trust"]["trusted"]
