"""The readable attack: it is short, it equals the slow twins, and the kernels equal it."""

import math
from datetime import date
from pathlib import Path

import numpy as np
import pytest

import naive
import standout as so
from standout.attack import reference
from standout.attack.reference_arrays import known_items

AUX = so.Aux(
    [
        so.Fact("1", 4, date(2005, 3, 1)),
        so.Fact("2", 2),
        so.Fact("3", None, date(2005, 4, 1)),
        so.Fact("4"),
        so.Fact("nowhere", 3, date(2005, 3, 1)),
    ]
)
TARGET = "25"
ADVERSARIES = (
    so.Adversary(knows=8, wrong=2, value_error=1, time_error=14),
    so.Adversary(knows=4, value_error=None, time_error=3),
    so.Adversary(knows=3, value_error=0, time_error=None, items="popular"),
    so.Adversary(knows=2, value_error=None, time_error=None),
)


@pytest.fixture(scope="module")
def release():
    return so.synthesize(records=400, items=60, entries=6_000, seed=11)


@pytest.fixture(scope="module")
def auxes(release):
    return [AUX, *(adversary.observe(release, TARGET, seed=3) for adversary in ADVERSARIES)]


def entries_and_facts(release, aux):
    """The release and the aux as the slow twins take them: times are whole days."""

    def day(time):
        return None if time is None else time.toordinal()

    entries = {
        (name, entry.item): (entry.value, day(entry.time))
        for name in release.records
        for entry in release.record(name).entries
    }
    return entries, {fact.item: (fact.value, day(fact.time)) for fact in aux}


def test_the_reference_has_at_most_60_lines_and_imports_nothing_but_array_types():
    text = Path(reference.__file__).read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if line.strip()]) <= 60
    assert [line for line in text.splitlines() if "standout" in line and "import" in line] == [
        "from standout.core.arrays import Floats, Ints"
    ]


def test_the_reference_equals_the_slow_twin(release, auxes):
    for aux in auxes:
        items, names = known_items(release, aux), list(release.records)
        entries, facts = entries_and_facts(release, aux)
        sums, minima = naive.sums(entries, facts), naive.minima(entries, facts)
        scores = reference.scores_1b(items, release.n_records)
        assert scores == pytest.approx([sums[name] for name in names])
        assert reference.scores_1a(items, release.n_records).tolist() == [minima[name] for name in names]
        assert reference.eccentricity(scores) == pytest.approx(naive.eccentricity(sums), abs=1e-9)
        chances = naive.probabilities(sums)
        assert reference.lineup_1b(scores) == pytest.approx([chances[name] for name in names])


def test_every_number_of_algorithm_1b_equals_the_reference(release, auxes):
    for aux in auxes:
        verdict = so.ScoreboardRH().attack(release, aux)
        scores = reference.scores_1b(known_items(release, aux), release.n_records)
        assert verdict.scores == pytest.approx(scores, abs=1e-9)
        assert verdict.sigma == pytest.approx(scores.std(), rel=1e-6)
        assert verdict.eccentricity == pytest.approx(reference.eccentricity(scores), rel=1e-6)
        lineup = reference.lineup_1b(scores)
        assert math.fsum(lineup) == pytest.approx(1)
        for record in (0, 41, 399):
            name = release.records[record]
            assert verdict.probability(name) == pytest.approx(lineup[record], rel=1e-5)
            assert verdict.entropy(name) == pytest.approx(reference.entropy(lineup, record), rel=1e-5)
        for phi in (0, 0.5, 1.5, 3):
            match, position = verdict.match(phi), reference.match(scores, phi)
            assert (match and match.record) == (None if position is None else release.records[position])


def test_every_number_of_algorithm_1a_equals_the_reference(release, auxes):
    for aux in auxes:
        for alpha in (0.4, 1.0):
            verdict = so.Scoreboard(so.Within(value=1, time=14), alpha=alpha).attack(release, aux)
            scores = reference.scores_1a(known_items(release, aux), release.n_records)
            assert verdict.scores.tolist() == scores.tolist()
            assert verdict.matching == len(reference.matching_set(scores, alpha))
            lineup = reference.lineup_1a(scores, alpha)
            for record in (0, 41, 399):
                name = release.records[record]
                assert verdict.probability(name) == pytest.approx(lineup[record])
                assert verdict.entropy(name) == pytest.approx(reference.entropy(lineup, record))


def test_a_tie_equal_scores_or_a_single_record_is_no_match():
    for scores in ([2.0, 2.0, 0.0], [1.0, 1.0], [3.0], [0.1] * 3):
        assert reference.eccentricity(np.array(scores)) == 0.0
        assert reference.match(np.array(scores), phi=0) is None
    assert reference.lineup_1b(np.array([0.1] * 4)).tolist() == [0.25] * 4


def test_without_facts_all_records_are_equally_likely():
    assert reference.scores_1a([], 4).tolist() == reference.scores_1b([], 4).tolist() == [0.0] * 4
    assert reference.entropy(reference.lineup_1b(np.zeros(4)), 2) == 2.0
    assert reference.entropy(reference.lineup_1a(np.zeros(4)), 2) == 2.0


@pytest.mark.parametrize(("support", "logarithm_of"), [(1, 2), (2, 2), (3, 3)])
def test_an_item_that_one_or_two_records_have_weighs_1_over_ln_2(support, logarithm_of):
    item = reference.KnownItem(np.arange(support), None, None)
    expected = [1 / math.log(logarithm_of)] * support + [0.0] * (5 - support)
    assert reference.scores_1b([item], 5).tolist() == pytest.approx(expected, rel=1e-15)
