"""What must not change a verdict does not change it: batches, threads, order, names, scale."""

import math
from dataclasses import replace
from datetime import date
from itertools import islice, permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import standout as so
from attack_cases import (
    DENSE_AUX,
    NOWHERE,
    PEOPLE,
    THINGS,
    TWO,
    WEIGHTS,
    Data,
    SameWeekday,
    about,
    all_numbers,
    attacked,
    attacks_of,
    check_same,
    crowd,
    data,
    examples,
    known,
    lopsided,
    moment,
    moments,
    near,
    numbers,
    similarities,
    someone,
)
from standout.know.facts import encode_auxes


@examples(15, 5)
@given(st.data())
def test_neither_batches_nor_their_order_nor_threads_change_a_bit(given):
    made = given.draw(data())
    auxes = given.draw(st.lists(known(made, filters=True), min_size=1, max_size=20))
    exclude = given.draw(st.lists(st.none() | someone(made), min_size=len(auxes), max_size=len(auxes)))
    release = made.read()
    for attack in attacks_of(given.draw(similarities(made.kind))[0]):
        together = all_numbers(attack.attacks(release, auxes, exclude=exclude, threads=1))
        backwards = attack.attacks(release, auxes[::-1], exclude=exclude[::-1], threads=1)
        assert all_numbers(backwards)[::-1] == together
        assert all_numbers(attack.attacks(release, auxes, exclude=exclude, threads=3)) == together
        assert all_numbers(attack.attacks(release, encode_auxes(release, auxes), exclude=exclude)) == together
        for aux, without, own in zip(auxes, exclude, together, strict=True):
            assert numbers(attack.attacks(release, [aux], exclude=without), 0) == own


@pytest.mark.large
def test_neither_batches_nor_threads_change_a_bit_of_many_verdicts_on_many_records():
    rows = crowd(12_000)
    release = Data(rows).read()
    auxes = [so.Aux(about(str(i), rows, i % 2), (1, 1 + i % 4) if i % 3 else None) for i in range(0, 12_000, 200)]
    exclude = [str(i) if i % 400 else None for i in range(0, 12_000, 200)]
    for attack in attacks_of(so.Decay()):
        together = all_numbers(attack.attacks(release, auxes, exclude=exclude, threads=1))
        for threads in (2, 5):
            assert all_numbers(attack.attacks(release, auxes, exclude=exclude, threads=threads)) == together
        for low, high in ((0, 1), (7, 31), (59, 60)):
            some = attack.attacks(release, auxes[low:high], exclude=exclude[low:high])
            assert all_numbers(some) == together[low:high]


def test_facts_far_outside_do_not_change_a_bit_of_other_verdicts():
    """The year 2300 beside a release of three days: what is tabulated for one is not for another."""
    days = [date(2005, 3, 1), date(2005, 3, 2), date(2005, 3, 3)]
    made = Data([(str(i), item, float(1 + i % 3), days[i % 3]) for i in range(9) for item in THINGS[: 1 + i % 4]])
    times = [*days, date(2005, 3, 20), date(2005, 2, 1), date(1900, 1, 1), date(2300, 1, 1), None]
    auxes = [so.Aux([so.Fact(item, 3.7, time) for item in THINGS[:3]]) for time in times]
    release = made.read()
    for similarity in (so.Decay(time_scale=10_000), so.Within(1, 20), SameWeekday(), so.Custom(lopsided)):
        attack = so.ScoreboardRH(similarity)
        together = all_numbers(attack.attacks(release, auxes))
        assert [numbers(attack.attacks(release, [aux]), 0) for aux in auxes] == together


@examples(30, 12)
@given(st.data())
def test_the_order_of_facts_changes_neither_scores_nor_ties(given):
    made, aux, exclude = attacked(given)
    similarity, weights = given.draw(similarities(made.kind))[0], given.draw(st.sampled_from(WEIGHTS))[0]
    other = replace(aux, facts=given.draw(st.permutations(aux.facts)))
    attack, release = so.ScoreboardRH(similarity, weights), made.read()
    one, two = (attack.attack(release, known, exclude=exclude) for known in (aux, other))
    assert (one.highest, one.second, one.tied) == (two.highest, two.second, two.tied)
    assert one.scores.tobytes() == two.scores.tobytes()
    assert [tuple(part)[:2] for part in one.lineup(9)] == [tuple(part)[:2] for part in two.lineup(9)]


def test_the_order_of_facts_changes_no_bit_where_their_sum_is_near_a_power_of_two():
    supports = {"a": 2, "b": 6, "c": 9, "d": 9, "e": 9}  # 1/2 + 1/6 + 3/9: 1, or the next number after it
    rows = [(str(i), item, None, None) for item, count in supports.items() for i in range(count)]
    release = Data(rows, None, None).read()
    attack = so.ScoreboardRH(so.Present(), "inverse")
    orders = [so.Aux([so.Fact(item) for item in order]) for order in permutations(supports)]
    assert len({tuple(verdict.scores) for verdict in attack.attacks(release, orders)}) == 1


@examples(30, 12)
@given(st.data())
def test_renaming_records_or_items_renames_the_verdict(given):
    made, aux, exclude = attacked(given)
    similarity = given.draw(similarities(made.kind))[0]
    record = dict(zip(PEOPLE, given.draw(st.permutations(PEOPLE)), strict=True))
    item = dict(zip(THINGS, given.draw(st.permutations(THINGS)), strict=True)) | {NOWHERE: "neverland"}
    renamed = Data([(record[row[0]], item[row[1]], *row[2:]) for row in made.rows], made.kind, made.unit)
    facts = [so.Fact(item[fact.item], fact.value, fact.time) for fact in aux]
    for attack in attacks_of(similarity):
        one = attack.attack(made.read(), aux, exclude=exclude)
        two = attack.attack(renamed.read(), replace(aux, facts=facts), exclude=exclude and record[exclude])
        for name in ("candidates", "ties", "highest", "second", "bits"):
            assert getattr(one, name) == getattr(two, name)
        for name in ("mean", "sigma", "eccentricity"):
            assert getattr(one, name) == near(getattr(two, name))
        assert sorted(record[name] for name in one.tied) == sorted(two.tied)
        for name in {row[0] for row in made.rows}:
            assert one.score(name) == two.score(record[name])
            assert one.rank(name) == two.rank(record[name])
            assert one.probability(name) == near(two.probability(record[name]))


@examples(30, 15)
@given(st.data())
def test_a_right_fact_more_never_lowers_the_score(given):
    made = given.draw(data())
    similarity, target = given.draw(similarities(made.kind))[0], given.draw(someone(made))
    wrong = given.draw(known(made, most=2)).facts
    right = [so.Fact(item, value, time) for record, item, value, time in made.rows if record == target]
    right = given.draw(st.permutations([fact for fact in right if fact.item not in {one.item for one in wrong}]))
    release = made.read()
    auxes = [so.Aux([*wrong, *right[:n]]) for n in range(len(right) + 1)]
    scores = [one.score(target) for one in so.ScoreboardRH(similarity).attacks(release, auxes)]
    assert scores == sorted(scores)
    if not isinstance(similarity, (so.Custom, SameWeekday)):  # these find nothing wholly like itself
        least = [one.score(target) for one in so.Scoreboard(similarity).attacks(release, auxes[1:])]
        assert least == [pytest.approx(least[0]) if wrong else 1 for _ in least]


@examples(30, 15)
@given(st.data())
def test_the_mass_of_a_lineup_and_of_all_candidates_is_1(given):
    made, aux, exclude = attacked(given)
    for attack in attacks_of(given.draw(similarities(made.kind))[0]):
        verdict = attack.attack(made.read(), aux, exclude=exclude)
        assume(verdict.candidates)
        for count in (1, 2, 9):
            lineup = verdict.lineup(count)
            assert math.fsum(one.probability for one in lineup) + lineup.outside == pytest.approx(1, abs=1e-12)
            assert 0 <= lineup.outside <= 1 and len(lineup) <= count
        total = math.fsum(verdict.probability(record) for record in {row[0] for row in made.rows})
        matches = isinstance(attack, so.ScoreboardRH) or verdict.matching
        assert total == pytest.approx(1 if matches else 0, rel=1e-6)


@examples(30, 8)
@given(st.data())
def test_a_larger_phi_only_removes_matches_and_never_changes_one(given):
    made, aux, exclude = attacked(given)
    similarity = given.draw(similarities(made.kind))[0]
    release, phis = made.read(), [0, 0.001, 0.5, 1, 1.5, 2, 3, 10]
    for attack in (so.ScoreboardRH(similarity), so.Scoreboard(similarity, 0.5)):
        verdict = attack.attack(release, aux, exclude=exclude)
        found = [verdict.match(phi) for phi in phis]
        first_none = found.index(None) if None in found else len(found)
        assert len(set(found[:first_none])) <= 1 and not any(found[first_none:])
        assert verdict.match(math.nextafter(verdict.eccentricity, math.inf)) is None
        if verdict.eccentricity > 0:
            assert verdict.match(verdict.eccentricity) == found[0]


def test_a_match_needs_no_more_than_phi():
    made = Data([("7", "b", 1.0, None), ("9", "aa", 1.0, None), ("10", "aa", 1.0, None)], unit=None)
    verdict = so.ScoreboardRH(so.Present(), "one").attack(made.read(), so.Aux([so.Fact("b")]))
    match = verdict.match(verdict.eccentricity)
    assert match == ("7", 1, verdict.eccentricity)
    assert verdict.match(math.nextafter(verdict.eccentricity, 9)) is None


@examples(30, 12)
@given(st.data())
def test_without_z_all_is_the_same_and_probabilities_are_worked_out_when_asked_for(given):
    made, aux, exclude = attacked(given)
    attack = so.ScoreboardRH(given.draw(similarities(made.kind))[0])
    with_z, without = (attack.attacks(made.read(), [aux], exclude=exclude, with_z=flag) for flag in (True, False))
    one, other = ({**numbers(each, 0), "z": None} for each in (with_z, without))
    assert one == other and not without.columns.z.any()
    check_same(without[0], with_z[0], sorted({row[0] for row in made.rows}))


@examples(30, 15)
@given(st.data())
def test_a_threshold_written_as_a_function_is_the_same(given):
    made = given.draw(data(kinds=("number", None)))
    timed = [(*row[:3], row[3] or moments(made.unit or "day", [3])[0]) for row in made.rows]
    made, aux = replace(made, rows=timed), given.draw(known(made))

    def both_near(known, value, days):
        near = known is None or (value is not None and abs(value - known) <= 1)
        return float(near and (days is None or abs(days) <= 14))

    one, other = (so.ScoreboardRH(each).attack(made.read(), aux) for each in (so.Within(), so.Custom(both_near)))
    check_same(one, other, sorted({row[0] for row in made.rows}))


@pytest.mark.parametrize("scale", [1e-9, 0.3, 1e9])
@pytest.mark.parametrize("scaled", ["similarity", "weights"])
def test_the_scale_of_similarities_and_weights_changes_no_probability(scale, scaled):
    rows = [
        (str(i), item, 1.0 + i * j % 5, moment(i * j % 17, "day"))
        for j, item in enumerate(THINGS)
        for i in range(9 - j)
    ]
    aux = so.Aux([so.Fact(item, 3.7, moment(j, "day")) for j, item in enumerate(THINGS)])
    scales = {"similarity": (scale, 1), "weights": (1, scale)}[scaled]
    similarity = so.Custom(lambda *given: scales[0] * lopsided(*given))
    release = Data(rows).read()
    plain = so.ScoreboardRH(so.Custom(lopsided)).attack(release, aux)
    other = so.ScoreboardRH(similarity, lambda support: scales[1] / np.log(np.maximum(support, 2))).attack(release, aux)
    assert (other.tied, other.eccentricity) == (plain.tied, near(plain.eccentricity))
    for record in map(str, range(9)):
        assert other.score(record) == pytest.approx(scale * plain.score(record), rel=1e-9)
        assert other.rank(record) == plain.rank(record)
        assert other.probability(record) == near(plain.probability(record))
        for some in islice(permutations(part.score for part in other.explain(record)), 30):
            assert sum(some) == other.score(record)


def test_a_verdict_on_an_index_is_the_same(tmp_path):
    made = Data(crowd(300))
    so.save(made.read(), tmp_path / "index")
    auxes = [replace(aux, joined=None) for aux in DENSE_AUX]
    for attack in attacks_of(so.Decay()):
        here, there = (attack.attacks(release, auxes) for release in (made.read(), so.open(tmp_path / "index")))
        assert all_numbers(here) == all_numbers(there)


def test_verdicts_are_a_sequence():
    verdicts = so.ScoreboardRH().attacks(TWO.read(), [so.Aux([so.Fact("b")]), so.Aux([so.Fact("aa")]), so.Aux([])])
    assert len(verdicts) == 3
    assert [one.best for one in verdicts] == ["7", "7", "7"]
    assert [one.ties for one in verdicts[1:]] == [1, 2] and verdicts[-1].ties == 2
    with pytest.raises(IndexError):
        verdicts[3]
    assert verdicts.columns.eccentricity.tolist() == [one.eccentricity for one in verdicts]
    assert len(so.ScoreboardRH().attacks(TWO.read(), [])) == len(so.Scoreboard().attacks(TWO.read(), [])) == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_is_told_until_all_is_done(threads):
    told = []
    auxes = [so.Aux([so.Fact("b")])] * 40
    for attack in attacks_of(so.Present()):
        told.clear()
        attack.attacks(TWO.read(), auxes, threads=threads, progress=lambda *what: told.append(what))
        assert told[-1] == ("attacking", 40, 40)
        assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
