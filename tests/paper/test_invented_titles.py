"""Titles are different, and only the stand-in has them."""

import standout as so
from standout.paper.synthesize import invented_titles


def test_only_the_stand_in_has_titles_and_no_two_are_the_same():
    release = so.synthesize(like="netflix", records=40, items=500, entries=900, seed=1)
    titles = [release.titles[i] for i in range(500)]
    assert len(set(titles)) == 500 and all(title.strip() for title in titles)
    assert so.synthesize(records=40, items=50, entries=900, seed=1).titles is None


def test_titles_stay_different_when_all_combinations_are_used():
    count = 65 * 80 * 6 + 5
    titles = invented_titles(count, seed=2)
    assert len({titles[i] for i in range(count)}) == count
