"""Requests that make no sense get a status from 400 on and one sentence, never a traceback."""

import json
from itertools import product

import pytest
from explorer_client import ORIGIN
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from standout.explore.requests import DealRequest, ExportRequest, LineupRequest, RequestError, RevealRequest, parse_json

pytestmark = pytest.mark.once
ENDPOINTS = ("/api/lineup", "/api/play", "/api/reveal", "/api/export", "/api/audit")
KINDS = (LineupRequest, ExportRequest, DealRequest, RevealRequest)


def send(page, path, body, kind="application/json"):
    return page.client.post(path, content=body, headers={"origin": ORIGIN, "content-type": kind})


def assert_sentence(response, *statuses):
    assert response.status_code in statuses, response.text
    sentence = response.json()["error"]
    assert sentence[0].isupper() or (sentence.startswith("“") and "\n" not in sentence)


BROKEN = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"7",
    b'"x"',
    b"\xff",
    b"\xef\xbb\xbf{}",
    b'{"facts": NaN}',
    b'{"facts": [], "facts": []}',
    b"[" * 60_000,
    b'{"a":' * 10_000,
    b'{"unknown": 1}',
]


def test_a_body_that_is_no_request_is_refused(page):
    for path, body in product(ENDPOINTS, BROKEN):
        assert_sentence(send(page, path, body), 400)


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "text/json"])
def test_a_body_that_a_form_can_send_is_refused(page, kind):
    assert_sentence(send(page, "/api/lineup", b'{"facts": []}', kind), 415)


def test_a_large_body_is_refused_with_and_without_its_length(page):
    body = b'{"facts": []' + b" " * 70_000 + b"}"
    assert_sentence(send(page, "/api/lineup", body), 413)
    assert_sentence(send(page, "/api/lineup", (body[i : i + 999] for i in range(0, len(body), 999))), 413)


FACT = {"item": "1"}
WRONG = [
    {"facts": [FACT] * 41},
    {"facts": {}},
    {"facts": [7]},
    {"facts": [{}]},
    {"facts": [{"item": ""}]},
    {"facts": [{"item": 7}]},
    {"facts": [{"item": None}]},
    {"facts": [{"item": "\ud800"}]},
    {"facts": [{"item": "x" * 1001}]},
    {"facts": [{**FACT, "other": 1}]},
    {"facts": [{**FACT, "value": True}]},
    {"facts": [{**FACT, "value": []}]},
    {"facts": [{**FACT, "value": 10**400}]},
    {"facts": [{**FACT, "value_error": -1}]},
    {"facts": [{**FACT, "value_error": "1"}]},
    {"facts": [{**FACT, "time": 2005}]},
    {"facts": [{**FACT, "time": "2005-02-30"}]},
    {"facts": [{**FACT, "time": "2005-03-01T10:00:00+02:00"}]},
    {"facts": [{**FACT, "time_error": -1}]},
    {"facts": [{**FACT, "doubtful": 1}]},
    {"length": [1]},
    {"length": [2, 1]},
    {"length": [1.5, 2]},
    {"joined": ["2005-01-02", "2005-01-01"]},
    {"joined": ["2005-01-01", 1]},
    {"joined": ["2005-01-01T10:00Z", "2005-01-01T11:00"]},
    {"attacks": []},
    {"attacks": ["other"]},
    {"attacks": ["paper", "paper"]},
    {"attacks": [["paper"]]},
    {"attacks": "paper"},
    {"top": 0},
    {"top": 101},
    {"top": 2.5},
    {"top": True},
    {"chosen": -1},
    {"show_ids": "yes"},
    {"what_if": None},
]


def test_a_wrong_lineup_request_is_refused(page):
    for request_body in WRONG:
        body = json.dumps({"facts": [], **request_body}).encode()
        assert_sentence(send(page, "/api/lineup", body), 400)


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"Infinity", b"-Infinity", b"NaN", b"1" * 5000])
def test_a_number_that_is_not_finite_is_refused(page, number):
    body = b'{"facts": [{"item": "1", "value": ' + number + b"}]}"
    assert_sentence(send(page, "/api/lineup", body), 400)


def test_a_fact_that_does_not_fit_the_data_is_explained(page):
    assert_sentence(page.post("/api/lineup", {"facts": [{"item": "1", "value": "much"}]}), 422)
    assert_sentence(page.post("/api/lineup", {"facts": [FACT, FACT]}), 422)


@pytest.mark.parametrize(
    "query", ["q=" + "x" * 201, "q=a&count=0", "q=a&count=51", "q=a&count=x", "q=a&count=-1", "q=a&count=٣"]
)
def test_a_wrong_search_is_refused(page, query):
    assert_sentence(page.get(f"/api/items?{query}"), 400)


def test_too_many_items_are_refused(page):
    assert_sentence(page.get("/api/items/by-id?" + "&".join(["item=1"] * 41)), 400)


def test_request_numbers_must_be_numbers(page):
    for headers in ({"x-client": "a"}, {"x-number": "1"}, {"x-client": "a" * 65, "x-number": "1"}):
        assert_sentence(page.get("/api/release", **headers), 400)
    assert_sentence(page.get("/api/release", **{"x-client": "a", "x-number": "1.5"}), 400)


def test_a_request_after_a_newer_one_is_not_computed(page):
    def ask(client, number):
        return page.post("/api/lineup", {"facts": []}, **{"x-client": client, "x-number": str(number)})

    assert [ask("a", 1).status_code, ask("a", 3).status_code] == [200, 200]
    assert_sentence(ask("a", 2), 409)
    assert ask("b", 2).status_code == 200
    assert page.get("/api/release", **{"x-client": "a", "x-number": "1"}).status_code == 200


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
FIELDS = "facts length joined attacks top chosen show_ids what_if adversary seed attack entries format"
NAMES = st.sampled_from(FIELDS.split(" "))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(content=st.dictionaries(NAMES, JSON, max_size=4), kind=st.sampled_from(KINDS))
def test_any_json_is_read_or_refused(content, kind):
    try:
        parse_json(json.dumps(content).encode(), kind)
    except RequestError as error:
        assert error.status == 400 and "\n" not in error.sentence
