"""Sparsity: Definition 1 and Figure 12 from the nearest neighbours."""

import numba
import numpy as np
import pytest

import standout as so
from random_releases import random_rows, read_rows
from standout.measure.sparsity import EPSILONS, Sparsity, sparsity

COMPILED = not numba.config.DISABLE_JIT


SEED = 2008


@pytest.fixture(scope="module")
def release():
    return read_rows(random_rows(300 if COMPILED else 40, 30, 7, missing=0.05))


def test_a_sample_depends_on_its_seed_and_is_no_larger_than_the_release(release):
    first, same, other = (sparsity(release, sample=9, seed=seed).records.tolist() for seed in (1, 1, 2))
    assert first == same != other
    assert sparsity(release, sample=10**6).complete


def sparsity_of(nearest, total=None):
    near = np.array(nearest, np.float64)
    return Sparsity(np.arange(len(near)), near, np.zeros(len(near), np.int64), total or len(near))


def test_delta_is_strict_and_survival_is_not():
    result = sparsity_of([0.0, 1 / 10, 2 / 4, 0.5, 1.0])
    assert [result.delta(epsilon).value for epsilon in (0, 0.1, 0.5, 1)] == [0.8, 0.6, 0.2, 0.0]
    assert [result.survival(x).value for x in (0, 0.1, 0.5, 1)] == [1.0, 0.8, 0.6, 0.2]
    assert result.is_sparse(0.5, 0.2) and not result.is_sparse(0.5, 0.19)


def test_without_sampling_there_is_no_interval():
    whole, part = sparsity_of([0.1, 0.3, 0.6]), sparsity_of([0.1, 0.3, 0.6], total=1000)
    assert (whole.delta(0.2).low, whole.delta(0.2).high) == (whole.delta(0.2).value,) * 2
    assert part.delta(0.2).low < part.delta(0.2).value == whole.delta(0.2).value < part.delta(0.2).high
    assert whole.is_sparse(0.2, 0.7) and not part.is_sparse(0.2, 0.7)


def test_tables_have_a_row_for_each_point_and_never_rise():
    result = sparsity_of(np.random.default_rng(1).random(50), total=99)
    table, curve = result.table(), result.curve([0.0, 0.5])
    assert table.columns == ["epsilon", "delta", "low", "high", "n"]
    assert table["epsilon"].to_list() == [*EPSILONS] and (table["n"] == 50).all()
    assert (table["delta"].diff().drop_nulls() <= 0).all()
    assert ((table["low"] <= table["delta"]) & (table["delta"] <= table["high"])).all()
    assert curve.columns == ["similarity", "share", "low", "high", "n"]
    assert curve["share"].to_list() == [1.0, result.survival(0.5).value]
    assert len(result.curve()) == 101 and len(result.table([])) == 0


def test_parameters_out_of_range_are_refused(release):
    for options, message in [
        ({"similarity": so.Custom(lambda known, value, days: 2.0)}, "from 0 to 1 for every pair of entries"),
        ({"similarity": None}, "got NoneType"),
        ({"over": "second"}, "over must be .union. or .first., got 'second'"),
        ({"sample": 0}, "sample must be a whole number ≥ 1"),
        ({"sample": 2.5}, "sample must be a whole number ≥ 1"),
        ({"sample": True}, "sample must be a whole number ≥ 1"),
        ({"sample": 3, "seed": -1}, "seed must be"),
        ({"threads": 0}, "threads must be"),
    ]:
        with pytest.raises(so.ParameterError, match=message):
            sparsity(release, **options)


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan"), "half", True])
def test_shares_are_between_0_and_1(share):
    for ask in (
        sparsity_of([0.5]).delta,
        sparsity_of([0.5]).survival,
        lambda delta: sparsity_of([0.5]).is_sparse(0.1, delta),
    ):
        with pytest.raises(so.ParameterError, match="must be a number from 0 to 1"):
            ask(share)


@pytest.mark.realdata
@pytest.mark.large
def test_real_histories_are_sparse(realdata):
    """As in the appendix of the paper: most records have no neighbour that is half as similar."""
    release = so.read(realdata / "movielens-latest-small")
    assert sparsity(release).is_sparse(epsilon=0.5, delta=0.1)
    assert sparsity(release, so.Within(0, 14)).is_sparse(epsilon=0.25, delta=0.1)
