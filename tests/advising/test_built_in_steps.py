"""The steps that are tried by default."""

import polars as pl
import pytest

import standout as so
from standout.advising.candidates import built_in_steps, step_family

pytestmark = pytest.mark.once


def test_built_in_steps_suit_the_release():
    release = so.synthesize(records=60, items=60, entries=900, seed=7)
    steps = built_in_steps(release, so.Adversary(), 0.2)
    assert {step_family(step) for step in steps} == {"times", "values", "items", "entries", "records"}
    assert len({str(step) for step in steps}) == len(steps)
    for step in steps:
        assert so.sanitize(release, step).n_records, step
    bare = so.read(release.to_frame().select("record", "item"))
    assert {step_family(step) for step in built_in_steps(bare, so.Adversary(), 0.2)} == {"items", "entries", "records"}


def test_merging_repeats_is_tried_if_there_are_any():
    frame = so.synthesize(records=60, items=60, entries=900, seed=7).to_frame()
    later = frame.with_columns(pl.col("time").dt.offset_by("3d"))
    repeated, merged = (so.read(pl.concat([frame, later]), repeats=repeats) for repeats in ("keep", "last"))
    steps = {str(step): step_family(step) for step in built_in_steps(repeated, so.Adversary(), 0.2)}
    assert steps["merge-repeats last"] == "repeats"
    assert "repeats" not in map(step_family, built_in_steps(merged, so.Adversary(), 0.2))
    for step in steps:
        assert so.sanitize(repeated, step).n_records, step
    rare = {
        str(step) for step in built_in_steps(merged, so.Adversary(), 0.2) if isinstance(step, so.steps.DropRareItems)
    }
    assert rare == {step for step in steps if step.startswith("drop-rare")}, "by records, not entries"
