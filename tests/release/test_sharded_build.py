"""Shards that are built one by one are what the build in memory makes, cut at block boundaries."""

import numpy as np
import pytest

from standout.core.arrays import offsets
from standout.core.errors import ParameterError
from standout.core.progress import no_progress
from standout.data import code_blocks
from standout.data.build import rank_entries
from standout.data.code_blocks import PER_ENTRY, MemoryPlan
from standout.data.packed_blocks import append_block, read_blocks
from standout.data.shards import PartitionedRows, ShardedBuild, ShardPlan, choose_bounds, load_plan, save_plan
from standout.ingest.options import Options
from standout.ingest.read import SourceReader

BLOCK = 1 << 13


def test_blocks_in_files_are_those_that_were_written(tmp_path):
    draw = np.random.default_rng(3)
    blocks = [
        draw.integers(0, 1 << 32, (50, 4), dtype=np.uint32),
        draw.integers(0, 200, (1, 4), dtype=np.uint32),
        np.array([[1, 70_000, 0xFFFFFFFF, 0], [3, 0, 4, (1 << 31) + 5]], np.uint32),
        np.zeros((0, 4), np.uint32),
    ]
    for block in blocks:
        append_block(tmp_path / "blocks", block)
    for block, read in zip(blocks, read_blocks(tmp_path / "blocks"), strict=True):
        np.testing.assert_array_equal(block, read)


def test_a_netflix_entry_takes_nine_bytes_in_a_file(tmp_path):
    block = np.array([[480_188, 17_769, 4, (1 << 31) + 12_000], [0, 0, 0, (1 << 31) + 13_000]] * 500, np.uint32)
    assert append_block(tmp_path / "blocks", block) <= 9 * len(block) + 50


@pytest.mark.parametrize("room", [10_000_000, 3_000_000, 1_200_000])
def test_there_are_as_few_shards_as_fit_into_memory(room):
    lengths = np.random.default_rng(3).integers(1, 9, 20 * BLOCK - 7)
    start, bounds = offsets(lengths), choose_bounds(lengths, None, room)
    assert np.diff(start[list(bounds)]).max() * PER_ENTRY <= room
    fewer = choose_bounds(lengths, len(bounds) - 2, 0) if len(bounds) > 2 else (0, len(start) - 1)
    assert len(bounds) == 2 or np.diff(start[list(fewer)]).max() * PER_ENTRY > room


def test_a_block_that_does_not_fit_into_memory_is_refused():
    with pytest.raises(ParameterError, match=r"memory must be at least 1.3 MB, .*, got 1.1 MB"):
        choose_bounds(np.ones(2 * BLOCK, np.int64), None, room=100_000, limit=1_100_000)


def csv_text(records, rows, seed, share=0.0):
    """Rows in random order; some repeat, and some have no value or no time."""
    draw = np.random.default_rng(seed)
    people = np.concatenate([np.arange(records), draw.integers(0, records, rows - records)])
    items, values = draw.integers(0, 30_000, rows), draw.integers(1, 7, rows)
    again = draw.random(rows) < share
    items[again] = people[again] % 7
    days = draw.integers(10, 29, rows)
    lines = [
        f"p{p},{i},{'' if p % 50 == 1 else v},{'' if v == 6 else f'2020-02-{d}'}"
        for p, i, v, d in zip(people, items, values, days, strict=True)
    ]
    order = draw.permutation(rows)
    return "person,item,stars,day\n" + "\n".join(lines[n] for n in order) + "\n"


def sharded(paths, folder, shards, limit=10**12, **options):
    """All shards of a source, and the plan."""
    folder.mkdir(exist_ok=True)
    memory = MemoryPlan(limit, folder / "blocks", forced=True)
    entries = SourceReader(Options(**options), memory=memory).collect(paths)
    ranked = rank_entries(entries.coded)
    bounds = choose_bounds(np.diff(ranked.start), shards, 0)
    plan = ShardPlan(
        ranked.records,
        ranked.items,
        None,
        np.diff(ranked.start),
        ranked.sizes,
        bounds,
        entries.repeats,
        entries.provenance,
    )
    plan = load_plan(folder, save_plan(folder, plan))
    rows = PartitionedRows(folder / "rows")
    rows.write(entries.coded.blocks, ranked.codes, plan, no_progress)
    build = ShardedBuild(plan, rows, folder, "test")
    whole = build.sort(no_progress)
    return plan, whole, list(build.releases(whole, no_progress))


@pytest.mark.once
@pytest.mark.parametrize("repeats", ["auto", "keep", "last", "max"])
@pytest.mark.parametrize("share", [0.0, 0.004, 0.3])
def test_each_shard_is_a_slice_of_the_release_built_in_memory(tmp_path, repeats, share):
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(3 * BLOCK + 100, 40_000, 5, share))
    expected = SourceReader(Options(repeats=repeats)).read([path])
    plan, whole, shards = sharded([path], tmp_path / "work", 3, repeats=repeats)
    assert whole.provenance == expected.provenance
    assert plan.bounds[-1] == expected.n_records and len(shards) == 3
    assert [shard.n_entries for shard in shards] == list(whole.entries)
    for shard, (low, high) in zip(shards, plan.ranges(), strict=True):
        check_slice(shard, expected, low, high)


def check_slice(shard, expected, low, high):
    """A shard has the records low … high - 1 of a release, and everything else of it."""
    entries = slice(expected.by_record.start[low], expected.by_record.start[high])
    assert list(shard.records) == list(expected.records)[low:high]
    assert list(shard.items) == list(expected.items)
    assert shard.clock == expected.clock and list(shard.levels) == list(expected.levels)
    for name in ("item", "value", "time"):
        column, whole = getattr(shard.by_record, name), getattr(expected.by_record, name)
        assert column.dtype == whole.dtype
        np.testing.assert_array_equal(column, whole[entries])
    assert shard.has_repeats == expected.has_repeats
    assert (shard.by_item.value_bits, shard.by_item.time_bits) == (
        expected.by_item.value_bits,
        expected.by_item.time_bits,
    )
    assert shard.by_item.word.dtype == expected.by_item.word.dtype
    check_words(shard, expected, low, high)


def check_words(shard, expected, low, high):
    """The runs of a shard's blocks have the same words in the same order."""
    ours, theirs = shard.by_item, expected.by_item
    for item in range(0, expected.n_items, 997):
        runs = slice(theirs.run[item], theirs.run[item + 1])
        kept = [n for n in range(runs.start, runs.stop) if low <= int(theirs.block[n]) * BLOCK < high]
        own = range(ours.run[item], ours.run[item + 1])
        assert [theirs.block[n] - low // BLOCK for n in kept] == [ours.block[n] for n in own]
        for a, b in zip(kept, own, strict=True):
            np.testing.assert_array_equal(
                theirs.word[theirs.begin[a] : theirs.end[a]], ours.word[ours.begin[b] : ours.end[b]]
            )


@pytest.mark.once
def test_entries_in_files_give_the_same_shards_as_entries_in_memory(tmp_path, monkeypatch):
    header, *lines = csv_text(2 * BLOCK + 5, 400_000, 6).splitlines()
    paths = [tmp_path / f"{number}.csv" for number in range(8)]
    for number, path in enumerate(paths):
        path.write_text("\n".join([header, *lines[number * 50_000 : number * 50_000 + 50_000]]))
    expected = SourceReader(Options()).read(paths)
    monkeypatch.setattr(code_blocks, "PROGRAM", 0)
    plan, whole, shards = sharded(paths, tmp_path / "work", 2, limit=18_000_000)
    assert (tmp_path / "work" / "blocks").is_dir()
    assert whole.provenance == expected.provenance
    for shard, (low, high) in zip(shards, plan.ranges(), strict=True):
        check_slice(shard, expected, low, high)
