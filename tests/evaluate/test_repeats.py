"""Outcomes and similarities where people have items several times: each equals its slow twin."""

from datetime import timedelta
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
import standout as so
from evaluate.releases import COMPILED, DAY, NAMES, SIZES, targets_of
from standout.evaluate.simulate import simulate
from standout.evaluate.targets import SimilarRecords, pair_similarities, similarities_to_all

SCHEMA = {"record": pl.String, "item": pl.String, "value": pl.Float64, "day": pl.Int32}
SIMILARITIES = {
    so.Within(1, 14): naive.within,
    so.Present(): naive.present,
    so.Decay(): naive.mean_decay,
    so.Equal(): naive.equal,
}


def read(rows):
    start = (DAY - DAY.fromordinal(719163)).days
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return so.read(frame.with_columns(time=(pl.col("day") + start).cast(pl.Date)).drop("day"), repeats="keep")


@st.composite
def visits(draw):
    """Rows of a few people, some with several entries of an item; some values and days are missing."""
    value, day = st.sampled_from([1.0, 2.0, 4.0, None]), st.sampled_from([0, 3, 20, 60, None])
    row = st.tuples(st.sampled_from("abcde"), st.sampled_from("uvwx"), value, day)
    rows = draw(st.lists(row, min_size=6, max_size=30))
    assume(max(naive.lengths(naive.visits(rows)).values()) >= 3)
    for column, room in ((2, 1), (3, 3)):
        known = [row[column] for row in rows if row[column] is not None]
        assume(known and max(known) - min(known) > room)
    return rows


@st.composite
def crowds(draw):
    """Rows of people at two places: more of them than there are values and times."""
    value, day = st.sampled_from([1.0, 2.0, None]), st.sampled_from([0, 1, 3, None])
    row = st.tuples(st.sampled_from("abcdefghijkl"), st.sampled_from("uv"), value, day)
    return draw(st.lists(row, min_size=90, max_size=120))


def facts_of(aux):
    return [(fact.item, (fact.value, None if fact.time is None else (fact.time - DAY).days)) for fact in aux]


@settings(max_examples=30 if COMPILED else 8)
@given(visits() | crowds(), st.sampled_from(list(SIMILARITIES)))
def test_similarities_of_records_with_repeats_equal_their_slow_twin(rows, similarity):
    release, cells = read(rows), naive.visits(rows)
    n = release.n_records
    first, second = np.divmod(np.arange(n * n), n)
    slow = [
        naive.record_similarity(cells, one, other, SIMILARITIES[similarity])
        for one, other in product(release.records, repeat=2)
    ]
    assert pair_similarities(release, first, second, similarity) == pytest.approx(slow)
    to_all = [similarities_to_all(release, record, similarity) for record in range(n)]
    assert np.concatenate(to_all) == pytest.approx(slow)
    similar = SimilarRecords(release, similarity, 0.4).of(np.arange(n))
    close = np.isclose(slow, 0.4)
    for record in range(n):
        row = slice(record * n, (record + 1) * n)
        expected = {
            other for other in range(n) if other != record and slow[row][other] >= 0.4 and not close[row][other]
        }
        assert (
            expected
            <= {*similar.get(record, np.empty(0, int)).tolist()}
            <= expected | {other for other in range(n) if close[row][other]}
        )


@settings(max_examples=30 if COMPILED else 6)
@given(visits(), st.integers(0, 3), st.integers(1, 4), st.sampled_from([0.3, 0.5, 1.0]))
def test_every_outcome_with_repeats_equals_its_slow_twin(rows, wrong, top, theta):
    release, cells = read(rows), naive.visits(rows)
    adversary = so.Adversary(knows=3, wrong=wrong, value_error=1, time_error=3)
    options = {"draws": 2, "top": top, "theta": theta, "similarity": so.Within(value=1, time=14)}
    simulation = simulate(release, adversary, facts=SIZES, targets="all", seed=5, attack=so.ScoreboardRH(), **options)
    able = {record for record, length in naive.lengths(cells).items() if length >= 3}
    targets = [target for target in targets_of(release, 5) if release.records[target] in able]
    assert {cell.too_few_items for cell in simulation.cells} == {release.n_records - len(able)}
    known = adversary.observe_all(release, targets, 5, draws=2)
    for cell, size in zip(simulation.cells, SIZES, strict=True):
        assert (cell.facts, len(cell.outcomes)) == (size, len(targets))
        for (t, target), d in product(enumerate(targets), range(2)):
            facts = facts_of(known.aux(release, 2 * t + d))[:size]
            if naive.has_coincidental_tie(cells, facts):
                continue
            person = naive.record_of(cells, release.records[target])
            slow = naive.attack_outcome(cells, facts, person, release.records[target], top, theta)
            for name in NAMES:
                outcome = getattr(cell.outcomes, name)[t, d]
                if name.startswith("lineup") and d == 1:
                    assert np.isnan(outcome)
                else:
                    assert outcome == pytest.approx(slow[name], rel=2e-6, abs=2e-6), name


@pytest.mark.once
@pytest.mark.parametrize("attack", [so.ScoreboardRH(), so.Likelihood()], ids=["paper", "likelihood"])
def test_people_of_an_original_with_repeats_are_compared_with_what_is_released(attack):
    draw = np.random.default_rng(4)
    rows = [
        (f"{record}", f"{item}", float(draw.integers(1, 6)), int(draw.integers(300)))
        for record in range(60)
        for item in draw.integers(12, size=20)
    ]
    original = read(rows)
    months = so.sanitize(original, "round-time month", seed=1)
    adversary = so.Adversary(knows=6)
    exact, rounded = (
        simulate(release, adversary, targets="all", attack=attack, seed=2).cell() for release in (original, months)
    )
    assert exact.outcomes.identified.mean() == 1.0
    assert 0.5 < rounded.outcomes.identified.mean() <= 1.0
    assert np.array_equal(exact.targets, rounded.targets)


@pytest.mark.once
def test_a_known_length_in_entries_leaves_the_target_a_candidate():
    rows = [("a", "x", 1.0, day) for day in range(9)]
    rows += [("b", "x", 1.0, 0), ("b", "y", 2.0, 3), ("c", "x", 1.0, 70)]
    adversary = so.Adversary(knows=1, length_error=0.1)
    outcomes = simulate(read(rows), adversary, targets=["a"], seed=2).cell().outcomes
    assert outcomes.candidates.tolist() == [[1.0]]


def test_the_days_of_this_file_are_those_of_the_release():
    assert read([("a", "x", 1.0, 5)]).record("a").entries[0].time == DAY + timedelta(days=5)
