"""People with columns and entries: steps change both, and an adversary who knows the steps allows for them."""

from dataclasses import replace

import numpy as np
import pytest

import standout as so
from standout.data.build import arrange
from standout.data.column import Column

pytestmark = pytest.mark.once
STEPS = ["round age 5", "round-time month", "drop-rare-items 20", "drop-entries 0.3", "swap age 0.3", "drop-rows age 2"]


@pytest.fixture(scope="module")
def mix():
    history = so.synthesize(records=60, items=30, entries=700, seed=3)
    ages = Column("age", "number", np.arange(20.0, 50.0), np.arange(60, dtype=np.uint8) % 30)
    same = Column("same", "category", ("x",), np.zeros(60, np.uint8))
    return replace(arrange(history, np.arange(60)), columns=(ages, same))


@pytest.mark.parametrize("cut", range(len(STEPS)))
def test_two_calls_with_one_seed_equal_one_call_with_all_steps(mix, cut):
    whole = so.sanitize(mix, STEPS, seed=1)
    again = so.sanitize(so.sanitize(mix, STEPS[:cut], seed=1), STEPS[cut:], seed=1)
    assert again.fingerprint == whole.fingerprint and again.step_reports == whole.step_reports
    assert again.original_row.tolist() == whole.original_row.tolist()
    assert again.mapping.item_codes.tolist() == whole.mapping.item_codes.tolist()
    assert again.noise == whole.noise


def test_a_row_keeps_entries_of_its_own_person_only(mix):
    safer = so.sanitize(mix, STEPS, seed=1)
    codes, old, new = safer.mapping.item_codes, mix.by_record, safer.by_record
    assert 0 < safer.n_entries < mix.n_entries
    for row, person in enumerate(safer.original_row.tolist()):
        own = codes[old.item[old.start[person] : old.start[person + 1]].astype(int)]
        assert {*new.item[new.start[row] : new.start[row + 1]].astype(int)} <= {*own}


def test_a_person_without_entries_stays_if_there_are_columns(mix):
    safer = so.sanitize(mix, so.steps.DropEntries(0.97), seed=1)
    assert safer.n_records == 60 and (safer.lengths == 0).any()


def test_known_entries_are_translated_like_those_of_a_history(mix):
    """Removing an item changes the codes of those after it: facts that are not translated would find nobody."""
    steps = ["drop-top-items 1", "round-time month"]
    known = so.Adversary(knows=1, columns=["same"], entries=so.Adversary(knows=5))
    found = so.simulate(so.sanitize(mix, steps, seed=1), known, targets=40, seed=1).cells[0].identified.value
    alone = so.simulate(so.sanitize(mix.history, steps, seed=1), so.Adversary(knows=5), targets=40, seed=1)
    assert found > 0.9 and abs(found - alone.cells[0].identified.value) < 0.1
