"""Utility of releases with repeated entries: pairs of person and item, and slow twins on rows."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import standout as so
from standout.sanitizing import recommender
from standout.sanitizing.recommender import RecommenderBenchmark, history_matrix, hold_out, level_numbers
from standout.sanitizing.utility import NumberedEntries, _item_pairs, compare_entries

pytestmark = pytest.mark.once
FACTORS = 5
NUMBERS = st.lists(st.none() | st.integers(0, 20).map(float), max_size=4)


@pytest.fixture(scope="module")
def repeated():
    """40 people with up to four entries of an item, some without a value or a time."""
    draw, rows = np.random.default_rng(3), []
    for person in range(40):
        for item in draw.choice(25, size=int(draw.integers(4, 16)), replace=False).tolist():
            for _ in range(int(draw.integers(1, 5))):
                value = None if draw.random() < 0.1 else float(draw.integers(1, 6))
                day = None if draw.random() < 0.1 else date(2005, 3, 1) + timedelta(int(draw.integers(300)))
                rows.append((f"p{person}", f"i{item}", value, day))
    schema = {"record": pl.String, "item": pl.String, "value": pl.Float64, "time": pl.Date}
    return so.read(pl.DataFrame(rows, schema=schema, orient="row"), repeats="keep")


def entries(release):
    """{person: {item: [(value, days since 1970)]}}."""
    result = {record: {} for record in release.records}
    for record, item, value, time in release.to_frame().rows():
        days = None if time is None else (time - date(1970, 1, 1)).days
        result[record].setdefault(item, []).append((value, days))
    return result


def mean_histories(release):
    """{person: {item: mean value}}."""
    return {
        person: {item: naive.mean_value([value for value, _ in some]) for item, some in items.items()}
        for person, items in entries(release).items()
    }


def test_all_entries_of_a_person_and_item_are_held_out_together(repeated):
    holdout = hold_out(repeated, 30, 1)
    before, after, means = entries(repeated), entries(holdout.rest), mean_histories(repeated)
    questions = {}
    for person, item, value in zip(holdout.person, holdout.item, holdout.value, strict=True):
        name, thing = repeated.records[holdout.people[person]], repeated.items[item]
        questions.setdefault(name, set()).add(thing)
        assert (None if np.isnan(value) else value) == pytest.approx(means[name][thing])
    for person, items in before.items():
        held_out = questions.get(person, set())
        assert after[person] == {item: some for item, some in items.items() if item not in held_out}
        assert len(held_out) <= min(5, len(items) // 5)
    assert all(len(before[person]) >= 5 for person in questions)
    assert len(questions) == 30
    assert (holdout.rest.support > 0).all()


def test_histories_are_means_over_the_entries_of_a_person_and_item(repeated):
    people, means = np.array([3, 0, 17]), mean_histories(repeated)
    presence = history_matrix(repeated, None, people).toarray()
    values = history_matrix(repeated, level_numbers(repeated), people)
    for row, person in enumerate(people):
        history = means[repeated.records[person]]
        assert presence[row].tolist() == [float(item in history) for item in repeated.items]
        known = {item: value for item, value in history.items() if value is not None}
        found = dict(zip(values[[row]].indices, values[[row]].data, strict=True))
        assert {repeated.items[item]: value for item, value in found.items()} == pytest.approx(known)


@pytest.mark.parametrize("words", [[], ["drop-entries 0.4", "perturb-value 1 0.5"], ["merge-repeats last"]])
def test_the_recommender_equals_its_slow_twin(repeated, words, monkeypatch):
    monkeypatch.setattr(recommender, "FACTORS", FACTORS)
    bench = RecommenderBenchmark(hold_out(repeated, 25, 1))
    rest = bench.holdout.rest
    safer = so.sanitize(rest, *words, seed=3)
    means, questions = mean_histories(repeated), {}
    for person, item in zip(bench.holdout.person, bench.holdout.item, strict=True):
        name, thing = repeated.records[bench.holdout.people[person]], repeated.items[item]
        if means[name][thing] is not None:
            questions.setdefault(name, {})[thing] = means[name][thing]
    asked = {repeated.records[person] for person in bench.holdout.people}
    complete = [  # people all of whose held-out items have a value: the twin knows no others
        row
        for row, person in enumerate(bench.holdout.people)
        if len(questions.get(repeated.records[person], {})) == (bench.holdout.person == row).sum()
    ]
    assert len(complete) > 15 and len(asked) == 25
    names = [repeated.records[bench.holdout.people[row]] for row in complete]
    levels = level_numbers(rest)
    hits, popular, squared = naive.recommender_results(
        mean_histories(rest),
        mean_histories(safer),
        {name: questions[name] for name in names},
        (levels[0], levels[-2]),
        FACTORS,
    )
    result = bench.result(safer)
    assert result.hits[complete] == pytest.approx(hits)
    assert result.popular_hits[complete] == pytest.approx(popular)
    assert result.squared[complete] == pytest.approx(squared)


@given(st.dictionaries(st.integers(0, 3), st.tuples(NUMBERS, NUMBERS), min_size=1))
def test_matched_differences_are_the_smallest_possible(items):
    def numbered(side):
        item = [code for code in sorted(items) for _ in items[code][side]]
        numbers = [number for code in sorted(items) for number in items[code][side]]
        as_floats = np.array([np.nan if number is None else number for number in numbers], np.float64)
        return NumberedEntries(np.array([0, len(item)]), np.array(item, np.int64), as_floats)

    expected = [naive.smallest_difference(*pair) for pair in items.values()]
    matched, total = compare_entries(numbered(0), numbered(1))
    assert matched[0] == sum(count for count, _ in expected)
    assert total[0] == pytest.approx(sum(difference for _, difference in expected))


@pytest.mark.parametrize(
    "words", ["drop-entries 0.4", "perturb-time 90", "perturb-value 2 0.5", "merge-repeats last", "cluster-records 3"]
)
def test_differences_to_the_original_are_those_of_plain_loops(repeated, words):
    bench = RecommenderBenchmark(hold_out(repeated, 30, 4))
    rest = bench.holdout.rest
    safer, result = so.sanitize(rest, words, seed=4), so.utility(repeated, so.step(words), people=30, seed=4)
    before, after = entries(rest), entries(safer)
    kept, values, times = [], [], []
    for person in bench.holdout.people:
        own, record = before[rest.records[person]], safer.mapping.representatives[person]
        other = after[safer.records[record]] if record >= 0 else {}
        shared = sum(min(len(some), len(other.get(item, []))) for item, some in own.items())
        kept.append(shared / sum(map(len, own.values())))
        for column, means in ((0, values), (1, times)):
            pairs = [
                naive.smallest_difference(*([e[column] for e in side.get(item, [])] for side in (own, other)))
                for item in own
            ]
            if count := sum(n for n, _ in pairs):
                means.append(sum(total for _, total in pairs) / count)
    assert result.entries_kept.value == pytest.approx(np.mean(kept))
    assert result.value_difference.value == pytest.approx(np.mean(values))
    assert result.time_difference.value == pytest.approx(np.mean(times))


def test_popularity_has_shares_of_entries_and_ranks_of_records(repeated):
    steps = so.steps.DropTopItems(2), so.steps.DropEntries(0.4)
    rest = RecommenderBenchmark(hold_out(repeated, 30, 4)).holdout.rest
    some = [entries(rest), entries(so.sanitize(rest, *steps, seed=4))]
    result = so.utility(repeated, *steps, people=30, seed=4)
    counts = [
        [sum(len(items.get(item, [])) for items in people.values()) for item in repeated.items] for people in some
    ]
    shares = [[count / sum(side) for count in side] for side in counts]
    change = sum(abs(a - b) for a, b in zip(*shares, strict=True)) / 2
    assert result.popularity_change.value == pytest.approx(change)
    supports = [[sum(item in items for items in people.values()) for item in repeated.items] for people in some]
    ranks = [[(sum(o < c for o in s) + sum(o <= c for o in s) + 1) / 2 for c in s] for s in supports]
    assert result.popularity_correlation.value == pytest.approx(np.corrcoef(*ranks)[0, 1])
    pairs = [(repeated.items[a], repeated.items[b]) for a, b in zip(*_item_pairs(rest, 4), strict=True)]
    assert all(a != b for a, b in pairs) and len(pairs) > 50
    changes = [naive.cosine(some[1], *pair) - naive.cosine(some[0], *pair) for pair in pairs]
    assert result.similarity_change.value == pytest.approx(np.sqrt(np.mean(np.square(changes))))
