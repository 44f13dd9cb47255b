"""Steps that remove items, entries or records: exactly those, or a fair random selection."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sanitizing_data import START, releases, table

import naive
import standout as so
from conftest import content


@given(releases(), st.integers(1, 4))
def test_rare_and_popular_items_are_removed_and_nothing_else(release, k):
    entries = content(release)
    support = Counter(item for _, item in entries)
    order = sorted(support, key=lambda item: (-support[item], len(item), item))
    for step, kept in (
        (so.steps.DropRareItems(k), {item for item in support if support[item] >= k}),
        (so.steps.DropTopItems(k), set(order[k:])),
    ):
        expected = {cell: entry for cell, entry in entries.items() if cell[1] in kept}
        if not expected:
            with pytest.raises(so.ParameterError, match="nothing would be left"):
                so.sanitize(release, step)
            continue
        safer = so.sanitize(release, step)
        assert content(safer) == expected
        lost = {record for record, _ in entries} - {record for record, _ in expected}
        assert {release.records[i] for i in np.flatnonzero(safer.mapping.representatives < 0)} == lost


def test_listed_items_are_removed_by_id_title_or_file(put):
    titles = put("item,title\n1,Brazil (1985)\n2,Bent (1996)\n3,Bent (1997)\n4,Cube (1997)\n", "titles.csv")
    rows = "record,item\n" + "".join(f"r{r},{i}\n" for r in range(3) for i in range(1, 5))
    release = so.read(put(rows), titles=titles)
    listed = put("# sensitive\n\nBent\tpolitics\n1\n", "sensitive list.txt")
    by_name = so.sanitize(release, so.steps.DropItems(("Bent", "1")))
    by_file = so.sanitize(release, f"drop-items '@{listed}'")
    assert list(by_name.items) == list(by_file.items) == ["4"]
    assert list(by_name.titles) == ["Cube (1997)"]
    assert by_file.step_reports[0].step == "drop-items '@sensitive list.txt'"
    assert by_name.mapping.item_codes.tolist() == [-1, -1, -1, 0]
    again = so.sanitize(so.sanitize(release, "drop-items 1"), "drop-items 1 2")
    assert list(again.items) == ["3", "4"]
    with pytest.raises(so.ParameterError, match="1 of 2 names match no item"):
        so.sanitize(release, "drop-items 1 Brasil")
    with pytest.raises(so.ParameterError, match="nothing would be left: every item is listed"):
        so.sanitize(release, "drop-items 1 2 3 4")
    with pytest.raises(so.SourceError, match="cannot be read"):
        so.sanitize(release, "drop-items @nowhere.txt")
    with pytest.raises(so.ParameterError, match="lists no item"):
        so.sanitize(release, so.steps.DropItems(f"@{put('# none', 'none.txt')}"))


@pytest.mark.large
def test_a_name_that_is_an_id_and_a_title_means_both(put):
    """Otherwise the intended item might be published: 300 is an id and a film."""
    titles = put("item,title\n300,Cube\n7,300 (2006)\n8,Bent\n", "titles.csv")
    rows = "record,item\n" + "".join(f"r{r},{i}\n" for r in range(3) for i in (300, 7, 8))
    safer = so.sanitize(so.read(put(rows), titles=titles), so.steps.DropItems(("300",)))
    assert list(safer.items) == ["8"]


def test_entries_are_removed_at_random_and_the_others_unchanged(large_release):
    safer = so.sanitize(large_release, "drop-entries 0.3", seed=6)
    old, new = content(large_release), content(safer)
    assert new.items() <= old.items()
    n = len(old)
    assert abs(len(new) - 0.7 * n) < 5 * math.sqrt(n * 0.21)
    with pytest.raises(so.ParameterError, match="nothing would be left"):
        so.sanitize(table([("a", "1", 1.0, START)]), so.steps.DropEntries(1 - 1e-12))


def test_a_cap_cuts_long_records_only_and_at_random(large_release):
    safer = so.sanitize(large_release, "cap-records 20", seed=6)
    old, new = naive.item_sets(content(large_release)), naive.item_sets(content(safer))
    assert content(safer).items() <= content(large_release).items()
    assert all(len(new[record]) == min(len(items), 20) for record, items in old.items())
    assert safer.step_reports[0].counts["records cut"] == sum(len(items) > 20 for items in old.values())
    positions = [
        sorted(old[record], key=int).index(item) / (len(old[record]) - 1)
        for record in old
        if len(old[record]) > 40
        for item in new[record]
    ]
    assert len(positions) > 500
    assert abs(np.mean(positions) - 0.5) < 5 * 0.29 / math.sqrt(len(positions))


def test_a_cap_beyond_all_records_changes_nothing(small_release):
    assert so.sanitize(small_release, f"cap-records {'9' * 18}").fingerprint == small_release.fingerprint


def test_a_sample_has_whole_records_and_each_is_equally_likely(small_release):
    entries, draws, counts = content(small_release), 120, Counter()
    for seed in range(draws):
        safer = so.sanitize(small_release, so.steps.SampleRecords(5), seed=seed)
        released = content(safer)
        records = {record for record, _ in released}
        assert len(records) == safer.n_records == 5
        assert released == {cell: entry for cell, entry in entries.items() if cell[0] in records}
        counts.update(records)
    expected = draws * 5 / small_release.n_records
    assert all(abs(counts[record] - expected) < 5 * math.sqrt(expected) for record in small_release.records)
    assert so.sanitize(small_release, "sample-records 0.5").n_records == 7
    with pytest.raises(so.ParameterError, match="would keep 15 of 14 records"):
        so.sanitize(small_release, "sample-records 15")
    with pytest.raises(so.ParameterError, match="would keep 0 of 14 records"):
        so.sanitize(small_release, "sample-records 0.01")
