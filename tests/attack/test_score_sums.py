"""Sums over all scores in double precision, groups of queries and candidates: each equals its slow twin."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from standout.attack import sum_kernels as score_sums
from standout.attack.engine import _group
from standout.attack.queries import prefix_queries
from standout.core.simd_fallback import LANES

STEP = 2.0**-44
WHOLE = st.one_of(st.just(0), st.integers(1, 2**48), st.sampled_from([7, 2**47, 2**48]))


def slow_sums(numbers, wanted):
    """The same with Python's whole numbers; None is a record that is not a candidate."""
    candidates = [number for number in numbers if number is not None]
    highest = max(candidates, default=-math.inf)
    best = sorted((number for number in candidates if number > 0), reverse=True)
    return {
        "candidates": len(candidates),
        "total": sum(candidates),
        "squares": sum(number**2 for number in candidates),
        "highest": highest * STEP,
        "ties": candidates.count(highest),
        "below": max((number for number in candidates if number < highest), default=-math.inf) * STEP,
        "least": best[wanted - 1] * STEP if len(best) >= wanted else 0.0,
    }


def as_scores(numbers):
    return np.array([-math.inf if number is None else number * STEP for number in numbers])


@given(st.lists(st.none() | WHOLE, max_size=40), st.integers(2, 12))
def test_sums_of_scores_are_exact(numbers, wanted):
    assert score_sums.score_sums(as_scores(numbers), STEP, wanted)._asdict() == slow_sums(numbers, wanted)


@pytest.mark.once
def test_sums_of_many_high_scores_do_not_overflow():
    numbers = [2**48 - i % 3 for i in range(30_000)]
    assert score_sums.score_sums(as_scores(numbers), STEP, 2)._asdict() == slow_sums(numbers, 2)


@given(st.lists(st.none() | WHOLE, min_size=1, max_size=40), st.floats(0.01, 50.0))
def test_masses_of_blocks_are_sums_of_exponentials(numbers, scale):
    scores, masses = as_scores(numbers), np.empty(3)
    highest = max(float(scores.max()), 0.0)
    whole = np.full(2 * score_sums.BLOCK + 1, -math.inf)
    whole[score_sums.BLOCK - 1] = highest
    whole[score_sums.BLOCK : score_sums.BLOCK + len(scores)] = scores
    score_sums.block_masses(whole, highest, scale, masses)
    expected = math.fsum(math.exp((x - highest) / scale) for x in scores.tolist())
    assert masses.tolist() == pytest.approx([1.0, expected, 0.0], rel=1e-13)


def slow_group(queries, prefixes, n_sizes, steps):
    """Groups and rows, query by query."""

    def layout(q):
        of_query = queries.facts_of(q)
        position = queries.origin[of_query] - queries.known.first[q]
        return queries.exclude[q], queries.facts.item[of_query].tolist(), position.tolist()

    first = [0]
    for q in range(1, len(queries)):
        if q - first[-1] == LANES or layout(q) != layout(first[-1]):
            first.append(q)
    row, source = np.full((len(queries), max(steps, 1)), -1), np.arange(len(prefixes))
    for prefix, count in enumerate(np.diff(prefixes.facts.first).tolist()):
        if count:
            at = prefix // n_sizes, count - 1
            row[at] = prefix if row[at] < 0 else row[at]
            source[prefix] = row[at]
    return [*first, len(queries)], row, queries.exclude[first], source


@pytest.mark.once
@pytest.mark.parametrize("draws", [1, 3, 11])
def test_groups_of_queries_are_neighbours_with_the_same_items(draws):
    release = so.synthesize(records=300, items=80, entries=6_000, seed=5)
    adversary = so.Adversary(knows=4, wrong=1, wrong_facts="any items", time_error=10)
    targets = np.flatnonzero(adversary.eligible(release, np.arange(300)))[:9]
    known = adversary.observe_all(release, np.append(targets, targets[-1]), 1, draws)
    item = known.item.copy()
    item[::7] = -1  # facts about items that the release lacks
    exclude = np.repeat([-1, -1, 3, 4, 4, -1, 7, 7, 8, 8], draws)
    verdicts = so.ScoreboardRH().attacks(release, replace(known, item=item), exclude=exclude)
    queries, sizes = verdicts.queries, [1, 2, 3, 4, 9]
    prefixes = prefix_queries(queries, sizes)
    steps = int(np.diff(queries.facts.first).max())
    groups, source = _group(queries, prefixes, len(sizes), steps)
    for ours, slow in zip((*groups, source), slow_group(queries, prefixes, len(sizes), steps), strict=True):
        np.testing.assert_array_equal(ours, slow)


@pytest.mark.once
@pytest.mark.parametrize("filtered", [False, True])
def test_candidates_of_a_range_are_those_found_one_by_one(filtered):
    release = so.synthesize(records=300, items=80, entries=6_000, seed=5)
    known = so.Adversary(knows=2).observe_all(release, np.arange(6), 1)
    length, joined = known.length.copy(), known.joined.copy()
    if filtered:
        length[::2], joined[1::2] = (10, 25), (100, 900)
    known = replace(known, length=length, joined=joined, filtered=filtered)
    queries = so.ScoreboardRH().attacks(release, known, exclude=np.array([-1, 5, 150, 290, -1, 0])).queries
    for q in range(6):
        for records in (range(300), range(100, 200)):
            one_by_one = queries.are_candidates(np.full(len(records), q), np.array(records))
            np.testing.assert_array_equal(queries.candidates_in(q, records), one_by_one)


@pytest.mark.once
def test_threads_change_no_verdict_in_double_precision():
    release = so.synthesize(records=200, items=6, entries=1_000, seed=2)
    known = so.Adversary(knows=4, time_error=None).observe_all(release, np.flatnonzero(release.lengths >= 4)[:30], 1)
    one, four = (so.ScoreboardRH().nested(release, known, [1, 2, 4], threads=n).columns for n in (1, 4))
    for name in ("mean", "sigma", "z", "highest", "second", "ties", "record", "score"):
        np.testing.assert_array_equal(getattr(one, name), getattr(four, name))
