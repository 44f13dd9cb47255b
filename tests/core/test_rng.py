"""Random numbers by key: any order, one by one or many at once."""

import numpy as np
import pytest

import standout as so
from standout.core.rng import check_seed, generator, key, uniform, uniforms

STREAMS = np.array([key(7, name) for name in ("dates", "values", "🙂")])


def test_many_at_once_are_those_one_by_one():
    with np.errstate(over="ignore"):
        slow = [[uniform(stream, np.uint64(i)) for i in range(5)] for stream in STREAMS]
    assert uniforms(STREAMS, 5).tolist() == slow
    assert uniforms(STREAMS[:0], 5).shape == (0, 5)
    assert uniforms(STREAMS, 0).shape == (3, 0)


def test_they_are_uniform_and_streams_have_nothing_in_common():
    rows = uniforms(np.array([key(1, i) for i in range(200)]), 500)
    assert ((rows >= 0) & (rows < 1)).all()
    counts = np.bincount((rows * 10).astype(int).ravel(), minlength=10)
    assert (abs(counts - 10_000) < 5 * np.sqrt(9_000)).all()
    assert abs(np.corrcoef(rows)[np.triu_indices(200, 1)]).max() < 0.25  # 19,900 pairs of 500 numbers
    assert abs(np.corrcoef(rows[:, :-1].ravel(), rows[:, 1:].ravel())[0, 1]) < 0.02
    assert len(np.unique(rows)) == rows.size


def test_a_generator_belongs_to_its_key():
    first, same, other = (generator(7, name).integers(10**9, size=4).tolist() for name in ("a", "a", "b"))
    assert first == same != other


@pytest.mark.parametrize("seed", [-1, 2**63, 1.0, True, "7", None])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(so.ParameterError, match="seed must be a whole number"):
        check_seed(seed)
