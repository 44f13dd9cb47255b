"""Weights of films give every film its support."""

import numpy as np
import pytest

from standout.paper.netflix import alias_tables, expected_supports, fit_weights


def test_an_alias_table_has_the_shares_from_which_it_was_made():
    rank = np.arange(1.0, 51.0)
    weight = 1 / rank
    tables = alias_tables(rank, weight)
    for share, keep, other in (
        (tables.weight, tables.keep, tables.other),
        (tables.damped, tables.damped_keep, tables.damped_other),
    ):
        total = keep + np.bincount(other, 1 - keep, len(keep))
        assert total / len(keep) == pytest.approx(share, abs=1e-12)
    assert tables.weight == pytest.approx(weight / weight.sum())
    assert (np.diff(tables.damped / tables.weight) < 0).all()


def test_fitted_weights_give_every_rank_its_support():
    """People draw films by the definition: one film after the other, without repeats."""
    draw = np.random.default_rng(3)
    rank, length = np.arange(1.0, 61.0), np.repeat([2.0, 9.0, 30.0], 400)
    head = draw.random(len(length))
    expected = length.sum() / (rank + 8) / (1 / (rank + 8)).sum()
    tables = alias_tables(rank, fit_weights(rank, expected, length, head))
    support = np.zeros(60)
    for n, taste in zip(length.astype(int), head, strict=True):
        share = taste * tables.damped + (1 - taste) * tables.weight
        support[draw.choice(60, n, replace=False, p=share)] += 1
    assert (np.abs(support - expected) < 4 * np.sqrt(expected)).all()
    assert abs(support[:10].sum() / expected[:10].sum() - 1) < 0.05


def test_support_beyond_the_number_of_people_goes_to_other_items():
    expected = expected_supports(np.arange(1.0, 11.0), 100, 800)
    assert expected.sum() == pytest.approx(800) and expected.max() <= 97
