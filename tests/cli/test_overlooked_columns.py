"""Columns that nobody named: an audit says which ones it did not use, and its gate does not ignore them."""

import json
import random
from datetime import date, timedelta

import polars as pl
import pytest

import standout as so

pytestmark = [pytest.mark.once, pytest.mark.large, pytest.mark.usefixtures("no_charts")]

PEOPLE, ITEMS = 120, 10
GATE = ("--fail-above", 0.2)
FIRST = date(2020, 1, 1)


def table(header, cells, separator=","):
    """A file in which everybody has every item, so that only the other cells tell people apart."""
    draw = random.Random(5)
    rows = [[f"u{user}", f"i{item}", *cells(draw)] for user in range(PEOPLE) for item in range(ITEMS)]
    return "".join(separator.join(row) + "\n" for row in [header.split(separator), *rows])


def a_day(draw):
    return [str(FIRST + timedelta(days=draw.randrange(700)))]


@pytest.fixture
def audit(run, tmp_path):
    """audit(path, option …) returns the outcome and the share of people identified, None without findings."""

    def audit(path, *options):
        folder = tmp_path / "out"
        outcome = run("audit", path, "-o", folder, "--quick", "--targets", 60, "--seed", 1, *options)
        findings = folder / "findings.json"
        if not findings.exists():
            return outcome, None
        threshold = json.loads(findings.read_text())["adversaries"]
        findings.unlink()
        return outcome, max(each["as_named"]["identified"]["value"] for each in threshold)

    return audit


def last_line(outcome):
    return outcome.err.splitlines()[-1]


def test_a_column_called_when_is_the_time_and_the_gate_fails(put, audit):
    outcome, identified = audit(put(table("user,item,when", a_day)), *GATE)
    assert (outcome.code, identified) == (4, 1.0)
    assert "warning" not in outcome.err


def test_a_date_with_an_unknown_name_is_a_warning_and_stops_the_gate(put, audit):
    name = "moment"
    path = put(table(f"user,item,{name}", a_day))
    outcome, identified = audit(path)
    assert outcome.code == 0 and identified < 0.05
    looks = f"column '{name}' looks like a date and is not used: add --time {name}, or --read ignore={name}"
    assert last_line(outcome) == f"standout: warning: {looks}"

    outcome, identified = audit(path, *GATE)
    assert (outcome.code, outcome.out, identified) == (1, "", None)
    assert last_line(outcome) == (
        "standout: the threshold cannot be checked while columns are overlooked: "
        f"'{name}' looks like a date (--time {name}). Use or remove it, or waive it with --read ignore={name}"
    )

    outcome, identified = audit(path, *GATE, "--time", name)
    assert (outcome.code, identified) == (4, 1.0)
    outcome, identified = audit(path, *GATE, "--read", f"ignore={name}")
    assert outcome.code == 0 and identified < 0.05 and "warning" not in outcome.err


def test_a_rating_whose_name_only_ends_in_rating_is_the_value(put, audit):
    path = put(table("User-ID;ISBN;Book-Rating", lambda draw: [str(draw.randrange(11))], ";"))
    outcome, identified = audit(path, *GATE)
    assert (outcome.code, identified) == (4, 1.0)
    assert so.read(path).provenance.columns == {"record": "User-ID", "item": "ISBN", "value": "Book-Rating"}
    outcome, identified = audit(path, *GATE, "--value", "none")
    assert outcome.code == 0 and identified < 0.05


def test_a_file_of_positions_without_a_header_is_refused(put, audit):
    draw, start = random.Random(7), 1_211_018_404
    places = [(37.75 + draw.random() / 10, -122.4 - draw.random() / 10) for _ in range(400)]
    rows = [f"{lat:.5f} {lon:.5f} {i % 2} {start + 60 * i}\n" for i, (lat, lon) in enumerate(places)]
    path = put("".join(rows), "taxi.txt")
    for options in [(), GATE]:
        outcome, identified = audit(path, *options)
        assert (outcome.code, outcome.out, identified) == (1, "", None)
        assert "the file has 4 columns and no recognised header" in outcome.err
        assert "1 number, 2 number, 3 number, 4 date" in outcome.err
        assert "37.7" not in outcome.err
    outcome, _ = audit(path, "--record", 1, "--item", 2)
    assert outcome.code == 1
    assert outcome.err.startswith("standout: column 1 has decimals: it cannot be a person")


def some_facts(draw):
    return [str(draw.randrange(18, 80)), f"{draw.random() * 9:.2f}", "blue", f"{draw.randrange(10**6):08x}"]


def test_the_gate_lists_every_overlooked_column_and_an_index_is_no_way_around(put, run, audit, tmp_path):
    path = put(table("user,item,Age,unit price,colour,order_id", some_facts))
    message = (
        "'Age' is a quasi-identifier; "
        "'unit price' looks like a number (--value 'unit price'); "
        "'order_id' looks like an id (--record order_id or --item order_id). Use or remove them, or "
        "waive them with --read ignore=Age --read 'ignore=unit price' --read ignore=order_id"
    )
    indexed = run("index", path, "-o", tmp_path / "index")
    assert indexed.code == 0 and indexed.err.count("standout: warning: column") == 3
    for source in (path, tmp_path / "index"):
        outcome, _ = audit(source, *GATE)
        assert outcome.code == 1 and outcome.err.endswith(f"{message}\n")
        described = run("describe", source)
        assert described.err.count("standout: warning: column") == 3 and "colour'" not in described.err
        waive = ("--read", "ignore=Age", "--read", "ignore=unit price", "--read", "ignore=order_id")
        outcome, _ = audit(source, *GATE, *waive)
        assert outcome.code == 0 and "warning" not in outcome.err
        outcome, _ = audit(source, *GATE, *waive[:4])
        assert outcome.code == 1 and "'order_id'" in outcome.err and "'Age'" not in outcome.err
        outcome, _ = audit(source, "--read", "ignore=nothing")
        assert outcome.code == 1 and "'nothing'" in last_line(outcome)


def test_the_search_for_advice_is_a_gate_too(put, run, tmp_path):
    path = put(table("user,item,moment", a_day))
    outcome = run("advise", path, "-o", tmp_path / "out", "--fail")
    assert outcome.code == 1 and last_line(outcome).endswith("with --read ignore=moment")


def test_options_for_a_second_source_are_named_in_its_warnings(put, run, tmp_path):
    path = put(table("user,item,moment", a_day))
    outcome = run("link", path, path, "--read", "ignore=moment", "-o", tmp_path / "out", "--decoys", 50)
    assert outcome.err.count("warning") == 1
    assert "add --public-read time=moment, or --public-read ignore=moment" in outcome.err


def test_the_library_has_the_same_gate():
    frame = pl.DataFrame({"user": ["a", "b", "c"] * 9, "item": ["x", "y", "z"] * 9, "age": [30, 40, 50] * 9})
    with pytest.warns(so.ReadingWarning, match='or add ignore="age"$'):
        release = so.read(frame)
    with pytest.raises(so.ColumnError, match='waive it with ignore="age"'):
        so.audit(release, fail_above=0.5)
    assert so.read(frame, ignore="age").provenance.unused[0].ignored
