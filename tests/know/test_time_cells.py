"""Tables of times that end where the similarity ends give the same numbers as tables of all distances."""

from datetime import datetime, timedelta
from itertools import product

import numpy as np
import polars as pl
import pytest

import standout as so
from standout.core.arrays import codes_in_use
from standout.know.facts import encode_auxes
from standout.know.lookup_tables import COLUMN_BITS, MIDDLE, Tabulation, time_similarity

START = datetime(2001, 1, 1)
WIDE = "standout.know.lookup_tables.WIDE"


def release_of(repeats, minutes=600_000, unit="minute", records=60, last=()):
    draw = np.random.default_rng(3)
    times = [START + timedelta(minutes=m) for m in draw.integers(0, minutes, records * 8).tolist()]
    items = [draw.choice(12, 8, replace=repeats) for _ in range(records)]
    frame = pl.DataFrame({
        "record": [*np.repeat(np.arange(records), 8).astype(str), *("0" for _ in last)],
        "item": [*np.concatenate(items).astype(str), *("99" for _ in last)],
        "value": [*draw.integers(1, 6, records * 8).astype(float).tolist(), *(1.0 for _ in last)],
        "time": [*times, *last],
    })  # fmt: skip
    return so.read(frame, time_unit=unit, repeats="keep" if repeats else "last")


def bounded(monkeypatch):
    monkeypatch.setattr(WIDE, 0)


def test_a_bounded_table_has_one_cell_for_all_distances_beyond_its_reach():
    for at, row in product([-9, -3, -1, 0, 2, 3, 4, 40, 1 << 35, -(1 << 35)], [0, 2]):
        c = np.arange(24.0).reshape(3, 8)  # distances -3 … 3, and all others
        place = np.uint64((row << COLUMN_BITS) + MIDDLE + at)
        wanted = at + 3 if abs(at) <= 3 else 7
        with np.errstate(over="ignore"):  # below the first cell, numbers wrap around
            assert time_similarity(c, place) == c[row, wanted]
        assert time_similarity(c.reshape(-1), np.uint64(5)) == 5.0


SIMILARITIES = [so.Decay(1.5, 0.5), so.Decay(None, 0.5), so.Within(1, 3), so.Within(None, 0), so.Equal()]


@pytest.mark.parametrize("similarity", SIMILARITIES, ids=str)
@pytest.mark.parametrize("repeats", [False, True], ids=["single", "repeats"])
def test_attacks_and_neighbours_are_the_same_with_bounded_tables(monkeypatch, similarity, repeats):
    def results():
        release = release_of(repeats)
        known = so.Adversary(knows=4, wrong=1, value_error=1, time_error=1).observe_all(release, range(20))
        found = []
        for attack in (so.ScoreboardRH(similarity), so.Scoreboard(similarity)):
            verdicts = attack.attacks(release, known)
            found += [(v.highest, v.ties, v.scores.tolist()) for v in verdicts]
        nested = so.ScoreboardRH(similarity).nested(release, known, [2, 4])
        found += [(v.highest, v.ties) for v in nested]
        nearest = so.sparsity(release, similarity=similarity, sample=None)
        return found, nearest.nearest.tolist()

    wanted = results()
    bounded(monkeypatch)
    known = so.Adversary(knows=4, time_error=1).observe_all(release_of(repeats), range(2))
    assert Tabulation(release_of(repeats), known, similarity).tabulate().c.ndim == 2
    assert results() == wanted


@pytest.mark.parametrize("repeats", [False, True], ids=["single", "repeats"])
@pytest.mark.parametrize("time_error", [None, 0.01, 2])
def test_the_bayesian_attack_is_the_same_with_bounded_tables(monkeypatch, repeats, time_error):
    def results():
        release = release_of(repeats)
        aware = so.Adversary(knows=4, wrong=1, value_error=1, time_error=1)
        known = aware.observe_all(release, range(20))
        adversary = None if time_error is None else so.Adversary(knows=4, wrong=1, time_error=time_error)
        attack = so.Likelihood(adversary)
        single, nested = attack.attacks(release, known), attack.nested(release, known, [2, 4])
        scores = [v.scores.tolist() for v in single]
        return scores, [(v.highest, v.ties, v.nobody) for v in [*single, *nested]]

    wanted = results()
    bounded(monkeypatch)
    assert results() == wanted


@pytest.mark.parametrize("repeats", [False, True], ids=["single", "repeats"])
def test_facts_with_errors_of_their_own_are_the_same_with_bounded_tables(monkeypatch, repeats):
    def results():
        errors = [{}, {"time_error": 0.5}, {"time_error": 3, "value_error": 1}, {"doubt": 0.3}]
        facts = [so.Fact(str(n), 2, START + timedelta(days=n), **given) for n, given in enumerate(errors)]
        verdict = so.Likelihood().attack(release_of(repeats), so.Aux([*facts, so.Fact("7", 4)]))
        return verdict.scores.tolist(), verdict.highest, verdict.nobody

    wanted = results()
    bounded(monkeypatch)
    assert results() == wanted


@pytest.mark.once
def test_links_are_the_same_with_bounded_tables(monkeypatch):
    def results():
        release = release_of(False, records=80)
        return so.link(release, release_of(False, records=40), dates="learn", decoys=100).table.rows()

    wanted = results()
    bounded(monkeypatch)
    assert results() == wanted


def test_facts_far_outside_a_release_find_the_last_cell(monkeypatch):
    release = release_of(False)
    far = [so.Fact("3", 2, datetime(year, 5, 1)) for year in (1000, 1999, 2001, 2003, 9000)]
    known = encode_auxes(release, [so.Aux([fact]) for fact in far])
    similarity = so.Decay(value_scale=None, time_scale=0.3)
    attack = so.ScoreboardRH(similarity)
    wanted = [verdict.scores for verdict in attack.attacks(release, known)]
    bounded(monkeypatch)
    made = Tabulation(release, known, similarity).tabulate()
    assert made.c.shape == (1, 2 * (21 * 1440 + 1) + 2) and made.a.shape[0] == 1
    for verdict, scores in zip(attack.attacks(release, known), wanted, strict=True):
        assert verdict.scores == pytest.approx(scores, abs=1e-25)


@pytest.mark.once
@pytest.mark.parametrize("unit", ["minute", "hour"])
def test_one_wrong_year_does_not_lengthen_the_tables(unit):
    release = release_of(False, unit=unit, last=[datetime(9999 if unit == "hour" else 4000, 12, 31)])
    aux = so.Aux([so.Fact("3", 2, START), so.Fact("4", 1, datetime(3000, 1, 1))])
    known = encode_auxes(release, [aux])
    per_day = 1440 if unit == "minute" else 24
    assert release.span > 1 << 24
    assert Tabulation(release, known, so.Within(1, 14)).tabulate().c.size == 2 * (14 * per_day + 1) + 2
    assert Tabulation(release, known, so.Decay()).tabulate().c.size == 2 * (2100 * per_day + 1) + 2
    assert Tabulation(release, known, so.Present()).tabulate().c.size <= 4
    attack = so.Likelihood(so.Adversary(knows=2, time_error=3))
    assert attack.attacks(release, known).queries.tables.c.size == 2 * 3 * per_day + 2
    guessed = so.Likelihood().attacks(release, known).queries.tables.c.size
    assert guessed == 2 * 300 * per_day + 2


@pytest.mark.once
def test_an_error_as_long_as_the_calendar_takes_no_memory_of_its_own():
    release = release_of(False, unit="minute")
    model = so.Likelihood(so.Adversary(knows=2, time_error=3_000_000)).attack
    verdict = model(release, so.Aux([so.Fact("3", 2, START)]))
    assert verdict.highest >= 0


@pytest.mark.once
def test_a_table_that_would_fill_the_memory_is_refused_in_one_line():
    class Weekday(so.Similarity):
        def times(self, days):
            return (days % 7 == 0).astype(float)

    release = release_of(False, last=[datetime(4000, 12, 31)])
    known = encode_auxes(release, [so.Aux([so.Fact("3", 2, START)])])
    with pytest.raises(so.ParameterError, match=r"span 1,\d{3},\d{3},\d{3} minutes.*coarser time_unit"):
        Tabulation(release, known, Weekday()).tabulate()


def test_tables_by_code_hold_the_codes_in_use_only_if_there_are_many_others():
    codes = np.array([5, 0, 5, 3], np.uint32)
    table, place = codes_in_use(codes, 6)
    assert table.tolist() == [*range(6)] and place is codes
    table, place = codes_in_use(codes, 1 << 31)
    assert table.tolist() == [0, 3, 5] and place.tolist() == [2, 0, 2, 1]


@pytest.mark.parametrize("period", ["day", "week", "month", "year"])
def test_rounded_times_are_the_same_with_tables_of_codes_in_use(monkeypatch, period):
    release = release_of(False)
    wanted = so.sanitize(release, [so.steps.RoundTime(period)])
    monkeypatch.setattr("standout.core.arrays.FEW_CODES", 0)
    made = so.sanitize(release_of(False, records=60), [so.steps.RoundTime(period)])
    assert made.fingerprint == wanted.fingerprint and made.clock == wanted.clock
