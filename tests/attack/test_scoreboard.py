"""Every number of a verdict equals its slow twin."""

import math
from datetime import date, datetime, timedelta
from functools import partial
from itertools import islice, permutations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
import standout as so
from attack_cases import (
    DENSE,
    DENSE_AUX,
    NOWHERE,
    PEOPLE,
    SHARES,
    START,
    THINGS,
    TWO,
    WEIGHTS,
    Data,
    about,
    attacked,
    attacks_of,
    check_same,
    crowd,
    decay,
    exact,
    examples,
    moment,
    near,
    nearly,
    similarities,
    someone,
    told,
    within,
)


def check_numbers(verdict, scores):
    """Against the scores of all candidates."""
    tied = naive.tied(scores)
    assert (verdict.candidates, verdict.ties, verdict.tied) == (len(scores), len(tied), tuple(tied))
    assert verdict.best == (tied[0] if tied else None)
    assert (verdict.highest, verdict.second) == (exact(naive.highest(scores)), exact(naive.second(scores)))
    assert (verdict.mean, verdict.sigma) == (near(naive.mean(scores)), near(naive.sigma(scores)))
    assert verdict.eccentricity == near(naive.eccentricity(scores))
    assert verdict.bits == near(math.log2(len(scores)) if scores else 0)


def check_people(verdict, every, scores, chances, people):
    """Each of these people, candidates or not, against the scores of all records and of the candidates."""
    for record in people:
        assert verdict.score(record) == exact(every[record])
        assert verdict.rank(record) == naive.rank(scores, every[record])
        assert verdict.probability(record) == near(chances.get(record, 0.0))
        assert verdict.entropy(record) == nearly(naive.entropy(chances, record))


def check_lineup(verdict, scores, chances, count):
    lineup, order = verdict.lineup(count), naive.order(scores)[:count]
    assert [one.record for one in lineup] == order
    assert [one.score for one in lineup] == [exact(scores[record]) for record in order]
    assert [one.probability for one in lineup] == [near(chances[record]) for record in order]
    assert lineup.outside == nearly(1 - math.fsum(chances[record] for record in order))


def check_match(verdict, scores):
    stands_out = naive.eccentricity(scores)
    for phi in (0, 0.1, 1.5, stands_out * (1 - 1e-5), stands_out * (1 + 1e-5) + 1e-9, 40):
        match = verdict.match(phi)
        assert (match and match.record) == naive.match(scores, phi)
        assert match is None or match[1:] == (verdict.highest, verdict.eccentricity)


def check_parts(verdict, made, aux, similarity, weigh, exclude, people):
    """What each fact added: the parts are the twin's, and their plain sum is the score, in any order."""
    counts, known = naive.support(naive.without(made.entries, exclude)), made.facts(aux)
    held = naive.support(made.entries)
    for record in people:
        parts = verdict.explain(record)
        assert [part.fact.item for part in parts] == [fact.item for fact in aux]
        for part in parts:
            item, entry = part.fact.item, made.entries.get((record, part.fact.item))
            assert (part.item, part.has) == (item if item in held else None, entry is not None)
            assert part.weight == (exact(weigh(counts[item])) if item in held else None)
            assert part.similarity == exact(similarity(known[item], entry) if entry else 0.0)
            assert part.score == exact((part.weight or 0.0) * part.similarity)
        for some in islice(permutations(part.score for part in parts), 30):
            assert sum(some) == verdict.score(record)


def check(verdict, made, aux, similarity, weigh, exclude=None, people=None):
    """Every number of a verdict of Algorithm 1B."""
    every = made.scores(aux, similarity, weigh, exclude)
    scores = {record: every[record] for record in made.candidates(aux, exclude)}
    people, chances = sorted(every) if people is None else people, naive.probabilities(scores)
    check_numbers(verdict, scores)
    check_people(verdict, every, scores, chances, people)
    for count in (1, 2, 3, 12, 500):
        check_lineup(verdict, scores, chances, count)
    check_match(verdict, scores)
    check_parts(verdict, made, aux, similarity, weigh, exclude, people)


def check_least(verdict, made, aux, similarity, alpha, exclude=None, people=None):
    """Every number of a verdict of Algorithm 1A."""
    every = naive.minima(made.entries, made.facts(aux), similarity)
    scores = {record: every[record] for record in made.candidates(aux, exclude)}
    people, chances = sorted(scores) if people is None else people, naive.uniform(scores, alpha)
    check_numbers(verdict, scores)
    check_people(verdict, every, scores, chances, people)
    for count in (1, 2, 12, 500):
        check_lineup(verdict, scores, chances, count)
    matching = [record for record, chance in chances.items() if chance]
    assert verdict.matching == len(matching)
    assert (verdict.match() and verdict.match().record) == (naive.tied(scores)[0] if matching else None)
    for phi in (0.1, 1.5):
        match = naive.match(scores, phi) if matching else None
        assert (verdict.match(phi) and verdict.match(phi).record) == match
    for record in people if aux.facts else ():
        assert min(part.score for part in verdict.explain(record)) == exact(every[record])


@examples(30, 20)
@given(st.data())
def test_every_number_of_a_verdict_equals_its_slow_twin(given):
    made, aux, exclude = attacked(given)
    similarity, slow = given.draw(similarities(made.kind))
    weights, weigh = given.draw(st.sampled_from(WEIGHTS))
    every = made.scores(aux, slow, weigh, exclude)
    assume(not any(0 < score < 1e-9 for score in every.values()))  # to the twin such a score is 0
    verdict = so.ScoreboardRH(similarity, weights).attack(made.read(), aux, exclude=exclude, top=2)
    check(verdict, made, aux, slow, weigh, exclude)
    items = naive.support(made.entries)
    assert verdict.unknown == tuple(fact for fact in told(made, aux) if fact.item not in items)


def between(slow):
    """The twin of a Sim between 0 and 1: a sum of terms counts as their mean."""
    return partial(naive.mean_decay, **slow.keywords) if getattr(slow, "func", None) is naive.decay else slow


@examples(30, 20)
@given(st.data())
def test_every_number_of_a_matching_set_equals_its_slow_twin(given):
    made, aux, exclude = attacked(given)
    similarity, slow = given.draw(similarities(made.kind))
    alpha = given.draw(st.sampled_from([1, 0.5, 0.01]))
    verdict = so.Scoreboard(similarity, alpha).attack(made.read(), aux, exclude=exclude, top=2)
    check_least(verdict, made, aux, between(slow), alpha, exclude)


def test_a_record_that_is_no_candidate_has_its_score_all_the_same():
    aux = so.Aux([so.Fact("b", value=5)], length=(2, 2))
    for attack in (so.ScoreboardRH(so.Equal(), "one"), so.Scoreboard(so.Equal())):
        verdict = attack.attack(TWO.read(), aux)
        assert (verdict.candidates, verdict.tied) == (1, ("7",))
        assert [verdict.score(record) for record in ("7", "9")] == [1, 1]
        assert [verdict.rank(record) for record in ("7", "9")] == [1, 1]
        assert [verdict.probability(record) for record in ("7", "9")] == [1, 0]
        assert [verdict.entropy(record) for record in ("7", "9")] == [0, 0]


def test_one_record_is_the_best_and_no_match():
    made = Data([("7", "b", 1.0, date(2005, 3, 1))])
    for aux in (so.Aux([so.Fact("b", value=1, time=date(2005, 3, 1))]), so.Aux([so.Fact(NOWHERE)]), so.Aux([])):
        verdict = so.ScoreboardRH().attack(made.read(), aux)
        check(verdict, made, aux, naive.decay, naive.weight)
        assert (verdict.best, verdict.ties, verdict.candidates) == ("7", 1, 1)
        assert (verdict.probability("7"), verdict.entropy("7"), verdict.bits) == (1, 0, 0)
        assert verdict.match(0) is None


def test_a_release_of_nobody_but_the_excluded_has_nobody_to_find():
    aux = so.Aux([so.Fact("b", value=1)])
    for attack in (so.ScoreboardRH(), so.Scoreboard()):
        verdict = attack.attack(Data([("7", "b", 1.0, date(2005, 3, 1))]).read(), aux, exclude="7")
        assert (verdict.best, verdict.ties, verdict.tied, verdict.candidates) == (None, 0, (), 0)
        assert (verdict.mean, verdict.sigma, verdict.highest, verdict.second) == (0, 0, 0, 0)
        assert (verdict.eccentricity, verdict.bits, verdict.match(0)) == (0, 0, None)
        assert (verdict.probability("7"), verdict.entropy("7"), verdict.rank("7")) == (0, 0, 1)
        assert len(verdict.lineup(3)) == 0 and verdict.lineup(3).outside == 1


def test_records_that_are_all_the_same_are_no_match():
    made = Data([(record, item, 2.0, None) for record in PEOPLE for item in THINGS[:3]], unit=None)
    for weights, weigh in WEIGHTS:
        aux = so.Aux([so.Fact(item, value=3.7) for item in THINGS])
        verdict = so.ScoreboardRH(weights=weights).attack(made.read(), aux)
        check(verdict, made, aux, naive.decay, weigh)
        assert verdict.sigma == 0 < verdict.highest and verdict.ties == len(PEOPLE)
        assert verdict.probability("7") == pytest.approx(1 / len(PEOPLE)) and verdict.match(0) is None


def test_facts_about_items_of_nobody_point_to_nobody():
    made = Data([("7", "b", 1.0, None), ("9", "b", 2.0, None), ("10", "b", 2.0, None)], unit=None)
    aux = so.Aux([so.Fact(NOWHERE, value=1), so.Fact("elsewhere", time=date(2005, 3, 1))])
    verdict = so.ScoreboardRH().attack(made.read(), aux)
    check(verdict, made, aux, naive.decay, naive.weight)
    assert verdict.unknown == (so.Fact(NOWHERE, value=1), so.Fact("elsewhere"))
    assert (verdict.best, verdict.ties, len(verdict.lineup())) == ("7", 3, 0)
    assert [verdict.probability(record) for record in ("7", "9")] == [pytest.approx(1 / 3)] * 2
    assert verdict.match(0) is None


def test_tied_best_scores_give_no_match():
    made = Data([("7", "b", 1.0, None), ("9", "b", 1.0, None), ("10", "aa", 1.0, None)], unit=None)
    verdict = so.ScoreboardRH().attack(made.read(), so.Aux([so.Fact("b", value=1)]))
    assert (verdict.tied, verdict.eccentricity) == (("7", "9"), 0)
    assert verdict.highest == verdict.second > verdict.sigma > 0
    assert verdict.match(0) is None


@pytest.mark.parametrize("first", [1, 2, 9])
@pytest.mark.parametrize("second", [2, 5, 13, 29])
def test_scores_that_differ_by_rounding_only_are_tied(first, second):
    """The same terms make the same score, whether e^(-1/1.5) comes with the first fact or the second."""
    days = [moment(step, "day") for step in (0, first, second)]
    rows = [("7", "a", 4.0, days[1]), ("7", "b", 5.0, days[2]), ("9", "a", 5.0, days[1]), ("9", "b", 4.0, days[2])]
    made = Data([*rows, ("2", "c", 1.0, days[0])])
    aux = so.Aux([so.Fact("a", 5.0, days[0]), so.Fact("b", 5.0, days[0])])
    verdict = so.ScoreboardRH().attack(made.read(), aux)
    assert (verdict.tied, verdict.match(0)) == (("7", "9"), None)
    check(verdict, made, aux, naive.decay, naive.weight)


@pytest.mark.parametrize("exclude", [None, "7", "9", "10"])
def test_an_item_of_one_or_none_weighs_as_one_of_two(exclude):
    made = Data([("7", "b", 1.0, None), ("9", "b", 2.0, None), ("10", "aa", 2.0, None)], unit=None)
    aux = so.Aux([so.Fact("b", value=2), so.Fact("aa", value=1)])
    verdict = so.ScoreboardRH().attack(made.read(), aux, exclude=exclude)
    check(verdict, made, aux, naive.decay, naive.weight, exclude)
    assert [part.weight for part in verdict.explain("7")] == [exact(1 / math.log(2))] * 2


def test_times_far_outside_a_release_are_compared_as_any():
    for year, unit in product([1, 1900, 2004, 2006, 2300, 9999], ["day", "hour", "minute"]):
        rows = [("7", "b", 1.0, START), ("9", "b", 2.0, START + timedelta(days=20)), ("10", "b", 1.0, None)]
        rows += [("2", "aa", 1.0, None)]
        made = Data([(*row[:3], row[3] and (row[3].date() if unit == "day" else row[3])) for row in rows], unit=unit)
        aux = so.Aux([so.Fact("b", value=1.0, time=datetime(year, 3, 1, 12, 30))])
        scales = {"value_scale": 1.5, "time_scale": 36_500.0}
        verdict = so.ScoreboardRH(so.Decay(**scales)).attack(made.read(), aux)
        check(verdict, made, aux, partial(naive.decay, **scales), naive.weight)


def test_a_time_finer_than_the_release_counts_as_its_day():
    made = Data([("7", "b", 1.0, date(2005, 3, 1)), ("9", "b", 1.0, date(2005, 3, 2))])
    aux = so.Aux([so.Fact("b", time=datetime(2005, 3, 1, 23, 59))])
    verdict = so.ScoreboardRH(so.Within(None, 0)).attack(made.read(), aux)
    assert verdict.tied == ("7",)


@pytest.mark.parametrize("unit", ["hour", "minute"])
def test_words_of_64_bits_equal_the_slow_twin(unit):
    """Many levels, and years of hours or minutes."""
    random = np.random.default_rng(6)
    rows = []
    for pair in random.choice(60 * 5, 150, replace=False).tolist():
        hours, value = int(random.integers(20_000)), float(random.integers(3_000)) / 7
        cells = value if pair % 7 else None, START + timedelta(hours=hours) if pair % 11 else None
        rows.append((str(pair // 5), THINGS[pair % 5], *cells))
    made = Data(rows, unit=unit)
    release, people = made.read(), sorted({row[0] for row in rows})[:4]
    assert release.by_item.word.dtype == np.uint64
    auxes = [so.Aux(about(record, rows, wrong=i)) for i, record in enumerate(people)]
    for exclude in (None, people[0]):
        for aux, verdict in zip(auxes, so.ScoreboardRH().attacks(release, auxes, exclude=exclude), strict=True):
            check(verdict, made, aux, naive.decay, naive.weight, exclude, people)


@pytest.mark.parametrize("attack", [so.ScoreboardRH(), so.Scoreboard()], ids=["1B", "1A"])
def test_values_that_nobody_else_tells_are_compared_all_the_same(attack):
    """Excluding the only record with a value is the same as a column of which nothing is left."""
    rows = [("7", "b", 1.0, None), ("9", "b", None, None), ("10", "aa", None, None)]
    made, aux = Data(rows), so.Aux([so.Fact("b", 1.0)])
    check_same(attack.attack(made.read(), aux, exclude="7"), attack.attack(made.without("7").read(), aux))


@pytest.mark.parametrize("algorithm", ["1B", "1A"])
@examples(25, 15)
@given(given=st.data())
def test_excluding_a_record_equals_rebuilding_the_release_without_it(algorithm, given):
    made, aux, _ = attacked(given, least=2)
    exclude, similarity = given.draw(someone(made)), given.draw(similarities(made.kind))[0]
    weights = given.draw(st.sampled_from(WEIGHTS))[0]
    attack = so.Scoreboard(similarity, 0.5) if algorithm == "1A" else so.ScoreboardRH(similarity, weights)
    left = made.without(exclude)
    assume(left.rows)
    rebuilt = attack.attack(left.read(), aux)
    verdict = attack.attack(made.read(), aux, exclude=exclude)
    check_same(verdict, rebuilt, sorted({row[0] for row in left.rows}))
    if algorithm == "1A":
        assert verdict.matching == rebuilt.matching


@pytest.mark.parametrize("exclude", [None, "1234"])
def test_blocks_that_many_entries_touch_equal_the_slow_twin(exclude):
    """One after another on the same workplace."""
    people, verdicts = (["0", "7", "1234", "2999"], so.ScoreboardRH().attacks(DENSE.read(), DENSE_AUX, exclude=exclude))
    for aux, verdict in zip(DENSE_AUX, verdicts, strict=True):
        check(verdict, DENSE, aux, naive.decay, naive.weight, exclude, people)


@pytest.mark.parametrize("record", ["0", "127", "128", "1919", "2999"])
def test_the_best_of_a_block_is_found_wherever_it_stands(record):
    rows = [row for row in DENSE.rows if row[0] != record]
    made = Data([*rows, *((record, f"item{j}", 3.0, moment(j, "day")) for j in range(4))])
    aux = so.Aux(about(record, made.rows))
    verdict = so.ScoreboardRH().attack(made.read(), aux, top=2)
    assert (verdict.tied, verdict.rank(record)) == ((record,), 1)
    check_numbers(verdict, made.scores(aux, naive.decay, naive.weight))


@pytest.mark.parametrize("similarity", [within(value=1, time=14), decay(value_scale=1.5, time_scale=30)])
def test_matching_sets_of_many_entries_equal_the_slow_twin(similarity):
    for aux in DENSE_AUX[:2]:
        verdict = so.Scoreboard(similarity[0], 0.5).attack(DENSE.read(), aux, exclude="77")
        check_least(verdict, DENSE, aux, between(similarity[1]), 0.5, "77", ["0", "7", "1234", "2999"])


MANY_SHARES = {8_192: [SHARES], 8_193: [SHARES], 25_000: [SHARES, [0.004, 0.01, 0, 0], [0, 0, 0, 0], SHARES]}


@pytest.mark.large
@pytest.mark.parametrize("n", MANY_SHARES)
def test_several_blocks_equal_the_slow_twin(n):
    """Blocks that many entries of the known items touch, few, none; the last one is not full."""
    shares, rows = MANY_SHARES[n], []
    for here, low in enumerate(range(0, n, 8_192)):
        rows += crowd(min(8_192, n - low), shares[here % len(shares)], seed=here, first=low)
    made = Data(rows)
    release, people = made.read(), ["0", "8191", str(n - 1), str(n // 2)]
    facts = [so.Fact(f"item{j}", 3.0, moment(20 * j, "day")) for j in range(4)]
    auxes = [
        so.Aux(facts),
        so.Aux(facts, length=(1, 2)),
        so.Aux(about(str(n - 1), rows, wrong=1), joined=(moment(0, "day"), moment(50, "day"))),
        so.Aux(about("8191", rows)),
    ]
    exclude = [None, "8191", str(n - 1), None]
    for aux, one, verdict in zip(
        auxes, exclude, so.ScoreboardRH().attacks(release, auxes, exclude=exclude), strict=True
    ):
        check(verdict, made, aux, naive.decay, naive.weight, one, people)
    for aux in auxes[::3]:
        verdict = so.Scoreboard(so.Within(1, 30), 1).attack(release, aux, exclude=people[-1])
        check_least(verdict, made, aux, partial(naive.within, value=1, time=30), 1, people[-1], people[:-1])


@pytest.mark.large
def test_blocks_that_the_rarest_item_does_not_reach_are_passed_over():
    """Record 5 of the second block has what record 5 of the third lacks."""
    rows = [(str(i), "filler", 1.0, None) for i in range(20_000)]
    rows += [(str(i), "common", 1.0, None) for i in (5, 6, 8_192 + 5, 8_192 + 6, 16_384 + 6, 16_384 + 7)]
    rows += [(str(i), "rare", 1.0, None) for i in (5, 16_384 + 5, 16_384 + 6)]
    made, aux = Data(rows, unit=None), so.Aux([so.Fact("common", value=1), so.Fact("rare", value=1)])
    release = made.read()
    for exclude in (None, "16390"):
        verdict = so.Scoreboard().attack(release, aux, exclude=exclude)
        check_least(verdict, made, aux, naive.within, 1, exclude, ["5", "6", "8197", "16389"])
        assert verdict.tied == ("5", "16390")[: verdict.matching]


@pytest.mark.large
def test_a_few_of_many_are_told_with_probabilities_as_exact_as_any():
    """Where the best score is a hundred times σ, and more."""
    rows = [(str(record), "b", 1.0 + record % 5, None) for record in range(30_000)]
    rows += [(str(record), "aa", 1.0 + record % 3, None) for record in (5, 9_000, 9_001, 29_999)]
    made = Data(rows, unit=None)
    release = made.read()
    for value in (1, 2, 3):
        aux = so.Aux([so.Fact("aa", value=value)])
        verdict = so.ScoreboardRH().attack(release, aux)
        assert verdict.highest > 100 * verdict.sigma
        check(verdict, made, aux, naive.decay, naive.weight, people=["5", "9000", "17"])


@pytest.mark.large
@pytest.mark.parametrize("exclude", ["17", "8192"])
def test_excluding_one_of_many_equals_rebuilding_the_release_without_it(exclude):
    made = Data(crowd(9_000))
    release, rebuilt = made.read(), made.without(exclude).read()
    auxes = [*DENSE_AUX, so.Aux(about(exclude, made.rows))]
    for attack in attacks_of(so.Within(1, 30)) + attacks_of(so.Decay()):
        others = attack.attacks(rebuilt, auxes)
        for one, other in zip(attack.attacks(release, auxes, exclude=exclude), others, strict=True):
            check_same(one, other, ["0", "1234", "8999"])


@pytest.mark.parametrize("others", [0, 1_200])
def test_more_tied_records_than_places_are_all_tied(others):
    """300 share the best score, with few entries in their block and with many."""
    rows = [(f"{i:04}", "b", 4.0, None) for i in range(1, 601, 2)]
    rows += [(f"{i:04}", "aa", 4.0, None) for i in range(0, 600, 2)]
    rows += [(f"{i:04}", "b", 2.0, None) for i in range(600, 600 + others)]
    made, aux = Data(rows, unit=None), so.Aux([so.Fact("b", value=4)])
    verdict = so.ScoreboardRH().attack(made.read(), aux)
    check(verdict, made, aux, naive.decay, naive.weight, people=["0001", "0002", "0599"])
    assert verdict.tied == tuple(f"{i:04}" for i in range(1, 601, 2))
    assert verdict.columns.record.tolist() == list(range(1, 601, 2))
    assert [one.record for one in verdict.lineup(3)] == ["0001", "0003", "0005"]
    least = so.Scoreboard(so.Equal()).attack(made.read(), aux)
    assert (least.ties, least.tied, least.matching) == (300, verdict.tied, 300)
