"""Record lengths and held-back ratings of the full stand-in are those that are published."""

import numpy as np
import pytest

from standout.paper.netflix import qualifying_entries, record_lengths
from standout.paper.published import published, published_lengths

PEOPLE = published()["sizes"]["records"]


@pytest.fixture(scope="module")
def lengths():
    return record_lengths(PEOPLE, 17_770, published()["sizes"]["entries"], 4)


@pytest.fixture(scope="module")
def qualifying():
    return qualifying_entries(PEOPLE, 4)


def test_lengths_with_held_back_ratings_are_the_published_table(lengths, qualifying):
    entries, people = published_lengths()
    counts = np.bincount(lengths + qualifying, minlength=101)[entries]
    # some lengths are changed by one, to meet the total
    assert np.abs(counts - people).max() <= 0.02 * people.max()
    assert np.abs(counts.sum() - people.sum()) <= 0.002 * people.sum()


def test_held_back_ratings_are_as_many_as_published(lengths, qualifying):
    assert qualifying.min() == 0 and qualifying.max() == 9  # "no more than 9 entries"
    assert abs(qualifying.sum() / published()["sizes"]["qualifying"] - 1) < 0.002
    single = (lengths == 1).sum()
    assert abs(single - published()["lengths"]["one"]) < 4 * np.sqrt(single)
