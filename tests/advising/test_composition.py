"""Two releases of the same people reveal more than one."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

import standout as so
from advising.samples import DECOYS
from standout.advising.advise import _shown_shares
from standout.data.build import subset
from standout.evaluate.estimates import percent, rate_text

pytestmark = pytest.mark.once


def two_releases(release, step):
    return [so.sanitize(release, step, seed=seed, renumber=True) for seed in (1, 2)]


def test_an_entry_that_one_release_drops_may_be_in_the_other(small_release):
    result = so.composition(*two_releases(small_release, "drop-entries 0.4"), people=150, seed=1)
    assert result.identified.n > 130 and result.identified.low > 0.3 and result.wrong_claims.high < 0.3
    assert result.correct_claims.value <= result.identified.value
    # longer records are linked more often
    assert result.entries_shown_by_one.value == pytest.approx(0.6, abs=0.06)
    assert result.entries_shown_together.value == pytest.approx(0.84, abs=0.04)  # 1 − 0.4²
    shown = f"{percent(result.entries_shown_by_one.value)} of their entries and both together"
    assert shown in result.explanation and rate_text(result.identified) in result.explanation


def test_links_are_compared_with_the_records_that_represent_the_same_people(small_release):
    first, second = two_releases(small_release, "drop-entries 0.3")
    result = so.composition(first, second, people=1000, seed=4)
    representatives = zip(first.mapping.representatives, second.mapping.representatives, strict=True)
    truth = {second.records[int(b)]: first.records[int(a)] for a, b in representatives if a >= 0 and b >= 0}
    public = subset(second, np.array([name in truth for name in second.records]))
    links = so.link(first, public, truth=truth, decoys=DECOYS, seed=4)
    correct_claims = links.table.filter("claimed").filter("identified").height
    identified = sum(truth[row["profile"]] == row["record"] for row in links.table.iter_rows(named=True))
    assert result.correct_claims.value * result.correct_claims.n == pytest.approx(correct_claims)
    assert result.identified.value * result.identified.n == pytest.approx(identified)


def test_equal_records_are_linked_even_if_there_are_few(small_release):
    first, second = two_releases(small_release, "cluster-records 30")
    result = so.composition(first, second, seed=1)
    supports = [{each.record_at(at).support for at in range(each.n_records)} for each in (first, second)]
    assert supports[0] == supports[1]  # clusters are not random
    assert result.identified.value == 1 and result.identified.n == first.n_records < 10


def test_only_releases_of_one_original_are_compared(small_release):
    safer = so.sanitize(small_release, "drop-entries 0.4")
    other = so.sanitize(so.synthesize(records=50, items=40, entries=500), "drop-entries 0.4")
    with pytest.raises(so.ParameterError, match="different originals"):
        so.composition(safer, other)
    with pytest.raises(so.ParameterError, match=r"so\.sanitize"):
        so.composition(safer, small_release)


def test_repeated_entries_are_shown_as_often_as_the_releases_have_them(small_release):
    frame = small_release.to_frame()
    release = so.read(pl.concat([frame, frame, frame.head(500)]), repeats="keep")
    releases = [so.sanitize(release, "drop-entries 0.4", seed=seed) for seed in (1, 2)]
    people = np.flatnonzero(np.all([each.mapping.representatives >= 0 for each in releases], axis=0))[:40]
    own, *others = (Counter(some.to_frame().select("record", "item").rows()) for some in (release, *releases))
    for count in (1, 2):
        expected = []
        for person in people:
            cells = {cell: n for cell, n in own.items() if cell[0] == release.records[person]}
            shown = sum(min(n, sum(other[cell] for other in others[:count])) for cell, n in cells.items())
            expected.append(shown / sum(cells.values()))
        assert _shown_shares(releases[:count], people) == pytest.approx(expected)
