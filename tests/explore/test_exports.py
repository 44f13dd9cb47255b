"""Downloads hold the facts and the lineup of the page."""

import csv
import io
import json

import pytest

import standout as so

pytestmark = pytest.mark.once
FACTS = [
    {"item": "17", "value": 4, "value_error": 1, "time": "2004-03-01", "time_error": 0},
    {"item": "3", "doubtful": True},
]


def download(page, form, **settings):
    response = page.post("/api/export", {"facts": FACTS, "format": form, **settings})
    assert response.status_code == 200, response.text
    assert response.headers["content-disposition"].startswith("attachment; filename=")
    return response


def test_exported_facts_are_read_back_as_they_are(page, tmp_path):
    (tmp_path / "facts.csv").write_bytes(download(page, "facts.csv").content)
    aux = so.Aux.read(tmp_path / "facts.csv")
    assert [fact.item for fact in aux] == ["17", "3"]
    assert [fact.value for fact in aux] == [4, None]
    assert [fact.errors for fact in aux] == [(1, 0, None), (None, None, 0.5)]
    assert [fact.time and fact.time.isoformat() for fact in aux] == ["2004-03-01", None]


@pytest.mark.parametrize("show_ids", [False, True])
def test_exported_lineups_have_the_numbers_of_the_page_and_ids_only_on_demand(page, show_ids):
    answers = page.lineup(FACTS, top=5, show_ids=show_ids)["answers"]
    rows = list(csv.DictReader(io.StringIO(download(page, "lineup.csv", top=5, show_ids=show_ids).text)))
    shown = [(attack, each) for attack, answer in answers.items() for each in answer["lineup"]]
    assert [(row["attack"], row["name"]) for row in rows] == [(attack, each["name"]) for attack, each in shown]
    assert [float(row["probability"]) for row in rows] == [each["probability"] for _, each in shown]
    assert [row["id"] or None for row in rows] == [each["id"] for _, each in shown]
    assert all(row["id"] for row in rows) == show_ids


def test_the_json_export_is_the_answer_with_its_origin(page, release):
    content = json.loads(download(page, "json").text)
    assert content["lineup"] == page.lineup(FACTS)
    assert content["fingerprint"] == release.fingerprint and content["version"] == so.__version__


def test_an_unknown_format_is_refused(page):
    assert page.post("/api/export", {"facts": FACTS, "format": "exe"}).status_code == 400
