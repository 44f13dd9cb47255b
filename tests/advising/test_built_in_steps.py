"""The steps that are tried by default."""

import pytest

import standout as so
from standout.advising.built_in_steps import built_in_steps, step_family

pytestmark = pytest.mark.once


def test_built_in_steps_suit_the_release():
    release = so.synthesize(records=60, items=60, entries=900, seed=7)
    steps = built_in_steps(release, 0.2)
    assert {step_family(step) for step in steps} == {"times", "values", "items", "entries", "records"}
    assert len({str(step) for step in steps}) == len(steps)
    for step in steps:
        assert so.sanitize(release, step).n_records, step
    bare = so.read(release.to_frame().select("record", "item"))
    assert {step_family(step) for step in built_in_steps(bare, 0.2)} == {"items", "entries", "records"}
