"""docs/explorer.md names every member of every request and answer."""

import dataclasses
import re
from pathlib import Path

import pytest

from standout.explore import answers, audits, requests
from standout.explore.app import create_app
from standout.explore.exploration import Exploration
from standout.explore.server import Site

pytestmark = pytest.mark.once
PAGE = (Path(__file__).parents[2] / "docs" / "explorer.md").read_text()
WORDS = {*re.findall(r"\w+", PAGE)}
TYPES = [kind for kind in vars(answers).values() if dataclasses.is_dataclass(kind)] + [audits.AuditState]
TYPES += [requests.TypedFact, requests.LineupRequest, requests.DealRequest]


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_every_member_is_documented(kind):
    assert {field.name for field in dataclasses.fields(kind)} <= WORDS


def test_every_route_is_documented(release):
    routes = create_app(Exploration(release, "ratings.csv"), Site("127.0.0.1", 1)).app.routes
    for route in routes:
        path = route.path.replace("{name}", "NAME")
        assert f"{path}`" in PAGE or f"{path}?" in PAGE or f"{path} " in PAGE, path
