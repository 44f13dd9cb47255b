"""Held-out entries are in neither the rest nor anything made from it."""

import polars as pl
import pytest
from utility_data import held_out_values, histories

import standout as so
from standout.sanitizing.recommender import hold_out

pytestmark = pytest.mark.once


def test_held_out_entries_and_the_rest_make_up_the_release(release):
    holdout = hold_out(release, 30, 1)
    before, after = histories(release), histories(holdout.rest)
    questions = held_out_values(holdout, release)
    for person, history in before.items():
        held_out = questions.get(person, {})
        assert history == after[person] | held_out
        assert not {*after[person]} & {*held_out}
        assert len(held_out) <= min(5, len(history) // 5)
    assert len(questions) == 30
    assert list(holdout.rest.items) == list(release.items)
    assert holdout.rest.fingerprint != release.fingerprint


def test_held_out_entries_depend_on_the_seed_alone(release):
    first, same, other = (hold_out(release, 30, seed) for seed in (1, 1, 2))
    assert first.rest.fingerprint == same.rest.fingerprint != other.rest.fingerprint


def test_an_item_that_only_one_person_has_is_not_held_out():
    items = {f"p{p}": [*(f"i{i}" for i in range(10)), f"only {p}"] for p in range(8)}
    rows = [(person, item) for person, some in items.items() for item in some]
    release = so.read(pl.DataFrame(rows, ["record", "item"], orient="row"))
    holdout = hold_out(release, 8, 0)
    assert not any(release.items[item].startswith("only") for item in holdout.item)
