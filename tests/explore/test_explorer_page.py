"""docs/explorer.md names every member of every request and answer."""

import dataclasses
import re
from pathlib import Path

import pytest
from explorer_client import explorer

import standout as so
from standout.explore import requests
from standout.explore.app import create_app
from standout.explore.exploration import Exploration
from standout.explore.server import Site

pytestmark = pytest.mark.once
PAGE = (Path(__file__).parents[2] / "docs" / "explorer.md").read_text()
WORDS = {*re.findall(r"\w+", PAGE)}


def members(content):
    """Yield the names of all members of a JSON value."""
    for part in content if isinstance(content, list) else []:
        yield from members(part)
    for name, part in content.items() if isinstance(content, dict) else []:
        yield name
        yield from members(part)


def test_every_member_of_a_request_is_documented():
    for kind in (requests.TypedFact, requests.LineupRequest, requests.DealRequest):
        assert {field.name for field in dataclasses.fields(kind)} <= WORDS


def test_every_member_of_an_answer_is_documented(release):
    play = {"adversary": "colleague", "seed": 1, "facts": 2}
    with explorer(release, what_if=so.sanitize(release, "round-time month"), what_if_name="safer") as page:
        answers = [page.get(path).json() for path in ("/api/release", "/api/items?q=1", "/api/audit")]
        answers.append(page.lineup([{"item": "3", "value": 4}], what_if=True, show_ids=True))
        answers.append(page.post("/api/play", play).json())
        answers.append(page.post("/api/reveal", {**play, "entries": True}).json())
    assert {name for answer in answers for name in members(answer)} <= WORDS


def test_every_route_is_documented(release):
    routes = create_app(Exploration(release, "ratings.csv"), Site("127.0.0.1", 1)).app.routes
    for route in routes:
        path = route.path.replace("{name}", "NAME")
        assert f"{path}`" in PAGE or f"{path}?" in PAGE or f"{path} " in PAGE, path
