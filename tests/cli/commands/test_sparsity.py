"""`standout sparsity` prints the library's numbers."""

import json

import polars as pl
import pytest
from command_line import undocumented

import standout as so

pytestmark = pytest.mark.large  # whole runs; their parts have tests of their own


def test_sparsity_prints_the_librarys_numbers(run, people_index, tmp_path):
    release = so.open(people_index)
    sparsity = so.sparsity(release, so.Within(value=1, time=None))
    outcome = run("sparsity", people_index, "--within-value", 1, "-o", tmp_path / "curve.parquet")
    assert outcome.code == 0 and "by items in common, values within 1" in outcome.out
    assert f"{100 * sparsity.delta(0.1).value:.1f} %" in outcome.out
    assert pl.read_parquet(tmp_path / "curve.parquet").equals(sparsity.curve())


def test_sparsity_of_a_sample_as_json(run, people_index):
    release = so.open(people_index)
    content = json.loads(run("sparsity", people_index, "--sample", 50, "--seed", 7, "--json").out)
    sample = so.sparsity(release, sample=50, seed=7)
    assert (content["records"], content["of"]) == (50, 300)
    assert content["table"] == sample.table().to_dicts()
    assert content["fingerprint"] == release.fingerprint
    assert undocumented("sparsity", content) == []
