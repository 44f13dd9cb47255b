"""The first request finds everything ready."""

import polars as pl
import pytest

import standout as so
from standout.explore.exploration import Exploration, prepare

pytestmark = pytest.mark.once


def test_preparation_remembers_what_plays_need_and_changes_no_answer(release):
    exploration = Exploration(release, "ratings.csv", what_if=so.sanitize(release, "round-time month"))
    prepare(exploration)
    assert len(exploration.adversaries) == 5
    assert len(exploration._eligible["colleague"])


def test_a_release_without_adversaries_is_prepared_too():
    single = so.read(pl.DataFrame({"record": ["a"], "item": ["x"]}))
    prepare(Exploration(single, "one.csv"))
