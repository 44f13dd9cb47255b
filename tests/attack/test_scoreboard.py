"""The attack: every number of a verdict equals its slow twin, and what must not change a verdict does not."""

import math
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cached_property, partial
from itertools import islice, permutations

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
import standout as so
from standout.attack.kernels.block_scores import exp_sum
from standout.facts import encode_auxes

COMPILED = not numba.config.DISABLE_JIT
PER_DAY = {"day": 1, "hour": 24, "minute": 1_440}
TIME_TYPE = {"day": pl.Date, "hour": pl.Datetime("us"), "minute": pl.Datetime("us")}
VALUE_TYPE = {"number": pl.Float64, "text": pl.String}
PEOPLE = ["9", "10", "2", "007", "7", "é", "🙂🙂"]
THINGS = ["b", "aa", "31", "4", "5"]
NOWHERE = "nowhere"
START = datetime(2005, 3, 1)


def examples(compiled, interpreted):
    """How many are tried: without the compiler, where a query walks blocks in Python, fewer."""
    return settings(max_examples=compiled if COMPILED else interpreted)


@dataclass(frozen=True)
class Data:
    """Rows (record, item, value, time), and what their values and times are; None: no such column."""

    rows: list
    kind: str | None = "number"
    unit: str | None = "day"

    def read(self):
        schema = {"record": pl.String, "item": pl.String}
        schema |= {"value": VALUE_TYPE[self.kind]} if self.kind else {}
        schema |= {"time": TIME_TYPE[self.unit]} if self.unit else {}
        cells = [row[:2] + row[2:3] * bool(self.kind) + row[3:] * bool(self.unit) for row in self.rows]
        frame = pl.DataFrame(cells, schema=schema, orient="row")
        return so.read(frame, value_type=self.kind or "auto", time_unit=self.unit or "day")

    @cached_property
    def entries(self):
        """The same for the twins."""
        return {(record, item): self.told(value, time) for record, item, value, time in self.rows}

    def facts(self, aux):
        return {fact.item: self.told(fact.value, fact.time) for fact in aux}

    def told(self, value, time):
        return value if self.kind else None, self.days(time) if self.unit else None

    def days(self, time):
        """Whole units of the wall clock, in days."""
        if time is None:
            return None
        wall = time if isinstance(time, datetime) else datetime(time.year, time.month, time.day)
        units = naive.units(wall, self.unit)
        return units if self.unit == "day" else Fraction(units, PER_DAY[self.unit])

    def without(self, record):
        return replace(self, rows=[row for row in self.rows if row[0] != record])

    def scores(self, aux, similarity, weigh, exclude=None):
        """Of all records, by Algorithm 1B, with the weights of what is left without the excluded one."""
        counts = naive.support(naive.without(self.entries, exclude))
        return naive.sums(self.entries, self.facts(aux), similarity, weigh, counts)

    def candidates(self, aux, exclude=None):
        joined = aux.joined and tuple(map(self.days, aux.joined))
        return naive.candidates(naive.without(self.entries, exclude), aux.length, joined)


@dataclass(frozen=True)
class SameWeekday(so.Similarity):
    """A user's own: half a point for a near value, and the day of the week."""

    def values(self, known, levels):
        return np.array([0.5 * (abs(level - known) < 2) for level in levels])

    def times(self, days):
        return (np.floor(days) % 7 == 0).astype(float)


def same_weekday(known, entry):
    values, times = lambda one, other: 0.5 * (abs(other - one) < 2), lambda days: float(days // 1 % 7 == 0)
    return math.prod(naive.terms(known, entry, values, times))


def lopsided(known, value, days):
    """A function that no table of values times a table of times could hold."""
    near = 0.25 if known is None or value is None else 1.5 / (1 + abs(value - known))
    return near if days is None else near / (1 + days * days) if days >= -1 else near * near / 8


def of_entry(function):
    """The twin of Custom(function)."""

    def similarity(known, entry):
        days = None if known[1] is None or entry[1] is None else float(entry[1] - known[1])
        return function(known[0], entry[0], days)

    return similarity


def within(**thresholds):
    return so.Within(**thresholds), partial(naive.within, **thresholds)


def decay(**scales):
    return so.Decay(**scales), partial(naive.decay, **scales)


ANY_KIND = [
    (so.Present(), naive.present),
    (so.Equal(), naive.equal),
    within(value=None, time=14),
    within(value=None, time=None),
    decay(value_scale=None, time_scale=7),
    (
        so.Custom(lambda known, value, days: float(known == value)),
        of_entry(lambda one, other, _: float(one == other)),
    ),
    within(value=1, time=14),
    within(value=0, time=0),
    within(value=2.5, time=None),
    decay(value_scale=1.5, time_scale=30),
    decay(value_scale=0.5, time_scale=10_000),
    decay(value_scale=40, time_scale=None),
]
NUMBERS = [
    (SameWeekday(), same_weekday),
    (so.Custom(lopsided), of_entry(lopsided)),
]
WEIGHTS = [
    ("rarity", naive.weight),
    ("one", lambda count: 1.0),
    ("inverse", lambda count: 1 / max(count, 1)),
    (lambda support: 1 / np.sqrt(support + 3.0), lambda count: (count + 3) ** -0.5),
]
STEPS = [0, 1, 2, 14, 15, 40, 400]  # days; the terms of all scales above are well above 1e-12 or below 1e-17
OUTSIDE = [-38_000, -500, -40, 450, 1_300, 107_000]  # 1900 and 2300 among them
VALUES = {"number": [1.0, 2.0, 3.5, 5.0], "text": ["bought", "rented", "sold"], None: [None]}
NO_LEVELS = {"number": [3.7, 4, 100.0], "text": ["stolen"], None: [1.0, "bought"]}


def moment(days, unit):
    """Days after the start, a time of the day with it where the unit is finer than a day."""
    time = START + timedelta(days=days) + timedelta(**{f"{unit}s": days % 3} if unit != "day" else {})
    return time.date() if unit == "day" else time


def moments(unit, steps):
    return [None] if unit is None else [moment(days, unit) for days in steps]


@st.composite
def data(draw, kinds=("number", "text", None), units=("day", "hour", None), least=1):
    """Any small release; whatever columns it has hold something, in at least so many records."""
    kind, unit = draw(st.sampled_from(kinds)), draw(st.sampled_from(units))
    people = draw(st.lists(st.sampled_from(PEOPLE), min_size=least, max_size=7, unique=True))
    cells = st.tuples(st.sampled_from(people), st.sampled_from(THINGS))
    pairs = draw(st.lists(cells, min_size=least, max_size=24, unique=True))
    value = st.sampled_from([*VALUES[kind], None] if kind else [None])
    time = st.sampled_from([*moments(unit, STEPS), None])
    rows = [(*pair, draw(value), draw(time)) for pair in pairs]
    assume(len({row[0] for row in rows}) >= least)
    for column, there in ((2, kind), (3, unit)):
        assume(not there or len({row[0] for row in rows if row[column] is not None}) >= least)
    return Data(rows, kind, unit)


@st.composite
def known(draw, made, most=5, filters=False):
    """What somebody may know: right and wrong values and times, outside the release, items of nobody."""
    items = draw(st.lists(st.sampled_from([*THINGS, NOWHERE]), max_size=most, unique=True))
    value = st.sampled_from([None, *VALUES[made.kind], *NO_LEVELS[made.kind]])
    time = st.sampled_from([None, *moments(made.unit or "day", [*STEPS, *OUTSIDE])])
    facts = [so.Fact(item, draw(value), draw(time)) for item in items]
    length = draw(st.none() | st.sampled_from([(0, 2), (2, 3), (3, 9)])) if filters else None
    ends = st.tuples(st.sampled_from(STEPS[:4]), st.sampled_from(STEPS[3:]))
    joined = draw(st.none() | ends) if filters and made.unit else None
    return so.Aux(facts, length, joined and tuple(moment(days, made.unit) for days in joined))


def similarities(kind):
    return st.sampled_from([*ANY_KIND, *NUMBERS] if kind != "text" else ANY_KIND)


def someone(made):
    return st.sampled_from(sorted({row[0] for row in made.rows}))


def near(number):
    return pytest.approx(number, rel=1e-6, abs=1e-9)


def exact(number):
    return pytest.approx(number, rel=1e-12, abs=1e-12)


def nearly(number):
    """For bits and for the mass left over: what an error of 1e-6 in a probability makes of them."""
    return pytest.approx(number, rel=1e-6, abs=2e-6)


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
        found = verdict.match(phi)
        assert (found and found.record) == naive.match(scores, phi)
        assert found is None or found[1:] == (verdict.highest, verdict.eccentricity)


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
        found = naive.match(scores, phi) if matching else None
        assert (verdict.match(phi) and verdict.match(phi).record) == found
    for record in people if aux.facts else ():
        assert min(part.score for part in verdict.explain(record)) == exact(every[record])


def attacked(given, least=1, filters=True):
    """(data, aux, a record to leave out or None) of any kind."""
    made = given.draw(data(least=least))
    aux = given.draw(known(made, filters=filters and given.draw(st.booleans())))
    return made, aux, given.draw(st.none() | someone(made))


@examples(100, 20)
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


def told(made, aux):
    """The facts without what the release could not be asked for."""
    return [
        so.Fact(fact.item, fact.value if made.kind else None, fact.time if made.unit else None)
        for fact in aux
    ]


def between(slow):
    """The twin of a Sim between 0 and 1: a sum of terms counts as their mean."""
    return partial(naive.mean_decay, **slow.keywords) if getattr(slow, "func", None) is naive.decay else slow


@examples(100, 20)
@given(st.data())
def test_every_number_of_a_matching_set_equals_its_slow_twin(given):
    made, aux, exclude = attacked(given)
    similarity, slow = given.draw(similarities(made.kind))
    alpha = given.draw(st.sampled_from([1, 0.5, 0.01]))
    verdict = so.Scoreboard(similarity, alpha).attack(made.read(), aux, exclude=exclude, top=2)
    check_least(verdict, made, aux, between(slow), alpha, exclude)


TWO = Data([("7", "b", 5.0, None), ("7", "aa", 1.0, None), ("9", "b", 5.0, None)], unit=None)


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
    for aux in (
        so.Aux([so.Fact("b", value=1, time=date(2005, 3, 1))]),
        so.Aux([so.Fact(NOWHERE)]),
        so.Aux([]),
    ):
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
    rows = [
        ("7", "a", 4.0, days[1]),
        ("7", "b", 5.0, days[2]),
        ("9", "a", 5.0, days[1]),
        ("9", "b", 4.0, days[2]),
    ]
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


@pytest.mark.parametrize("year", [1, 1900, 2004, 2006, 2300, 9999])
@pytest.mark.parametrize("unit", ["day", "hour", "minute"])
def test_times_far_outside_a_release_are_compared_as_any(year, unit):
    rows = [("7", "b", 1.0, START), ("9", "b", 2.0, START + timedelta(days=20)), ("10", "b", 1.0, None)]
    rows += [("2", "aa", 1.0, None)]
    made = Data(
        [(*row[:3], row[3] and (row[3].date() if unit == "day" else row[3])) for row in rows], unit=unit
    )
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
        for aux, verdict in zip(
            auxes, so.ScoreboardRH().attacks(release, auxes, exclude=exclude), strict=True
        ):
            check(verdict, made, aux, naive.decay, naive.weight, exclude, people)


@pytest.mark.parametrize("attack", [so.ScoreboardRH(), so.Scoreboard()], ids=["1B", "1A"])
def test_values_that_nobody_else_tells_are_compared_all_the_same(attack):
    """Excluding the only record with a value is the same as a column of which nothing is left."""
    rows = [("7", "b", 1.0, None), ("9", "b", None, None), ("10", "aa", None, None)]
    made, aux = Data(rows), so.Aux([so.Fact("b", 1.0)])
    check_same(attack.attack(made.read(), aux, exclude="7"), attack.attack(made.without("7").read(), aux))


def check_same(verdict, other, people=()):
    """Every number, for two verdicts that should be the same."""
    names = ("candidates", "best", "ties", "tied")
    assert [getattr(verdict, name) for name in names] == [getattr(other, name) for name in names]
    assert (verdict.highest, verdict.second) == (exact(other.highest), exact(other.second))
    for name in ("mean", "sigma", "eccentricity", "bits"):
        assert getattr(verdict, name) == near(getattr(other, name))
    for count in (1, 3, 500):
        one, two = verdict.lineup(count), other.lineup(count)
        assert [candidate.record for candidate in one] == [candidate.record for candidate in two]
        assert [candidate.score for candidate in one] == [exact(candidate.score) for candidate in two]
        assert [candidate.probability for candidate in one] == [near(same.probability) for same in two]
        assert one.outside == nearly(two.outside)
    for record in people:
        assert verdict.score(record) == exact(other.score(record))
        assert verdict.rank(record) == other.rank(record)
        assert verdict.probability(record) == near(other.probability(record))
        assert verdict.entropy(record) == nearly(other.entropy(record))
        parts = [[part.score for part in one.explain(record)] for one in (verdict, other)]
        assert parts[0] == [exact(part) for part in parts[1]]


@pytest.mark.parametrize("algorithm", ["1B", "1A"])
@examples(60, 15)
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


SHARES = [0.6, 0.35, 0.1, 0.02]


def crowd(n, shares=SHARES, seed=2008, first=0):
    """n people who each have an item with its share of chance, and one of 50 others."""
    random = np.random.default_rng(seed)
    rows = []
    for i in range(first, first + n):
        items = [f"item{j}" for j, share in enumerate(shares) if random.random() < share]
        for item in [*items, f"other{i % 50}"]:
            value, days = random.choice([1.0, 2.0, 3.0, 4.0, 5.0, None]), int(random.integers(100))
            rows.append((str(i), item, value, None if days > 90 else moment(days, "day")))
    return rows


def about(record, rows, wrong=0):
    """What is known of a record: all that it has, the first few wrongly."""
    facts = [so.Fact(item, value, time) for owner, item, value, time in rows if owner == record]
    return [so.Fact(fact.item, 3.7, moment(97, "day")) for fact in facts[:wrong]] + facts[wrong:]


DENSE = Data(crowd(3_000))
DENSE_AUX = [
    so.Aux([so.Fact(f"item{j}", 3.0, moment(20 * j, "day")) for j in range(4)]),
    so.Aux(about("1234", DENSE.rows, wrong=1), length=(2, 3)),
    so.Aux(
        [so.Fact("item0"), so.Fact("item3", value=2), so.Fact(NOWHERE)],
        joined=(moment(0, "day"), moment(30, "day")),
    ),
]


@pytest.mark.parametrize("exclude", [None, "1234"])
def test_blocks_that_many_entries_touch_equal_the_slow_twin(exclude):
    """One after another on the same workplace."""
    people, verdicts = (
        ["0", "7", "1234", "2999"],
        so.ScoreboardRH().attacks(DENSE.read(), DENSE_AUX, exclude=exclude),
    )
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


def numbers(verdicts, q):
    """All numbers of a verdict, to the last bit."""
    columns = verdicts.columns
    here = slice(columns.first[q], columns.first[q + 1])
    own = {"first": 0, "record": columns.record[here], "score": columns.score[here]}
    each = {one.name: getattr(columns, one.name) for one in fields(columns) if one.name not in own}
    return {name: np.asarray(column[q]).tobytes() for name, column in each.items()} | {
        name: np.asarray(part).tobytes() for name, part in own.items()
    }


def all_numbers(verdicts):
    return [numbers(verdicts, q) for q in range(len(verdicts))]


def attacks_of(similarity):
    return [so.ScoreboardRH(similarity), so.Scoreboard(similarity, 0.5)]


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
    auxes = [
        so.Aux(about(str(i), rows, i % 2), (1, 1 + i % 4) if i % 3 else None) for i in range(0, 12_000, 200)
    ]
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
    made = Data(
        [(str(i), item, float(1 + i % 3), days[i % 3]) for i in range(9) for item in THINGS[: 1 + i % 4]]
    )
    times = [*days, date(2005, 3, 20), date(2005, 2, 1), date(1900, 1, 1), date(2300, 1, 1), None]
    auxes = [so.Aux([so.Fact(item, 3.7, time) for item in THINGS[:3]]) for time in times]
    release = made.read()
    for similarity in (so.Decay(time_scale=10_000), so.Within(1, 20), SameWeekday(), so.Custom(lopsided)):
        attack = so.ScoreboardRH(similarity)
        together = all_numbers(attack.attacks(release, auxes))
        assert [numbers(attack.attacks(release, [aux]), 0) for aux in auxes] == together


@examples(40, 12)
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


@examples(40, 12)
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


@examples(50, 15)
@given(st.data())
def test_a_right_fact_more_never_lowers_the_score(given):
    made = given.draw(data())
    similarity, target = given.draw(similarities(made.kind))[0], given.draw(someone(made))
    wrong = given.draw(known(made, most=2)).facts
    right = [so.Fact(item, value, time) for record, item, value, time in made.rows if record == target]
    right = given.draw(
        st.permutations([fact for fact in right if fact.item not in {one.item for one in wrong}])
    )
    release = made.read()
    auxes = [so.Aux([*wrong, *right[:n]]) for n in range(len(right) + 1)]
    scores = [one.score(target) for one in so.ScoreboardRH(similarity).attacks(release, auxes)]
    assert scores == sorted(scores)
    if not isinstance(similarity, (so.Custom, SameWeekday)):  # these find nothing wholly like itself
        least = [one.score(target) for one in so.Scoreboard(similarity).attacks(release, auxes[1:])]
        assert least == [pytest.approx(least[0])] * len(least) if wrong else least == [1] * len(least)


@examples(50, 15)
@given(st.data())
def test_the_mass_of_a_lineup_and_of_all_candidates_is_1(given):
    made, aux, exclude = attacked(given)
    for attack in attacks_of(given.draw(similarities(made.kind))[0]):
        verdict = attack.attack(made.read(), aux, exclude=exclude)
        assume(verdict.candidates)
        for count in (1, 2, 9):
            lineup = verdict.lineup(count)
            assert math.fsum(one.probability for one in lineup) + lineup.outside == pytest.approx(
                1, abs=1e-12
            )
            assert 0 <= lineup.outside <= 1 and len(lineup) <= count
        total = math.fsum(verdict.probability(record) for record in {row[0] for row in made.rows})
        matches = isinstance(attack, so.ScoreboardRH) or verdict.matching
        assert total == pytest.approx(1 if matches else 0, rel=1e-6)


@examples(60, 8)
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


@examples(40, 12)
@given(st.data())
def test_without_z_all_is_the_same_and_probabilities_are_worked_out_when_asked_for(given):
    made, aux, exclude = attacked(given)
    attack = so.ScoreboardRH(given.draw(similarities(made.kind))[0])
    with_z, without = (
        attack.attacks(made.read(), [aux], exclude=exclude, with_z=flag) for flag in (True, False)
    )
    one, other = ({**numbers(each, 0), "z": None} for each in (with_z, without))
    assert one == other and not without.columns.z.any()
    check_same(without[0], with_z[0], sorted({row[0] for row in made.rows}))


@examples(50, 15)
@given(st.data())
def test_a_threshold_written_as_a_function_is_the_same(given):
    made = given.draw(data(kinds=("number", None)))
    timed = [(*row[:3], row[3] or moments(made.unit or "day", [3])[0]) for row in made.rows]
    made, aux = replace(made, rows=timed), given.draw(known(made))

    def both_near(known, value, days):
        near = known is None or (value is not None and abs(value - known) <= 1)
        return float(near and (days is None or abs(days) <= 14))

    one, other = (
        so.ScoreboardRH(each).attack(made.read(), aux) for each in (so.Within(), so.Custom(both_near))
    )
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
    other = so.ScoreboardRH(similarity, lambda support: scales[1] / np.log(np.maximum(support, 2))).attack(
        release, aux
    )
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
        here, there = (
            attack.attacks(release, auxes) for release in (made.read(), so.open(tmp_path / "index"))
        )
        assert all_numbers(here) == all_numbers(there)


def test_verdicts_are_a_sequence():
    verdicts = so.ScoreboardRH().attacks(
        TWO.read(), [so.Aux([so.Fact("b")]), so.Aux([so.Fact("aa")]), so.Aux([])]
    )
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


MILLIONTH = 1e-6


@numba.njit
def mass(scores, low, high, highest, scale):
    return exp_sum(scores, low, high, highest, scale)


@pytest.mark.parametrize("heights", [0.01, 0.1, 1, 3, 10, 20, 40, 80, 300])
@pytest.mark.parametrize("zeros", [0, 0.95])
def test_sums_of_exponentials_are_right_to_a_millionth(heights, zeros):
    """heights = how many σ the highest score is above 0."""
    random = np.random.default_rng(2008)
    for n in (1, 3, 7, 127, 129, 384) if COMPILED else (1, 3, 7, 129):
        for size in random.uniform(0.01, 20, 9):
            scores = (size * random.random(n) * (random.random(n) >= zeros)).astype(np.float32)
            scores[n // 2] = size
            highest, low = float(scores[n // 2]), min(3, n // 2)
            scale = heights / highest
            expected = np.exp((scores[low:].astype(np.float64) - highest) * scale).sum()
            assert mass(scores, low, n, highest, scale) == pytest.approx(expected, rel=MILLIONTH)


@pytest.mark.parametrize("heights", [3, 10, 20])
def test_sums_over_people_of_whom_nothing_is_known_are_right_to_a_millionth(heights):
    for size in np.random.default_rng(2008).uniform(0.01, 20, 30):
        highest = float(np.float32(size))
        found = mass(np.zeros(300, np.float32), 0, 300, highest, heights / highest)
        assert found == pytest.approx(300 * math.exp(-heights), rel=MILLIONTH)


def test_scores_of_no_candidates_add_nothing_to_a_sum_of_exponentials():
    scores = np.array([1, -1e30, 0.5, -1e30], np.float32)
    assert mass(scores, 0, 4, 1.0, 2.0) == pytest.approx(1 + math.exp(-1), rel=1e-6)


@pytest.mark.parametrize("n", [3, 40, 1_300])
def test_bits_and_the_mass_left_over_are_right_to_a_millionth(n):
    rows = [(str(i), "b", 4.0, None) for i in range(n // 2)]
    rows += [(str(i), "aa", 1.0, None) for i in range(n)]
    made = Data([*rows, ("0", "c", 1.0, None)], unit=None)
    aux = so.Aux([so.Fact("b", value=4), so.Fact("aa", value=3), so.Fact("c", value=1)])
    verdict = so.ScoreboardRH().attack(made.read(), aux)
    chances = naive.probabilities(made.scores(aux, naive.decay, naive.weight))
    exactly = partial(pytest.approx, rel=MILLIONTH, abs=1e-9)
    for record in ("0", str(n - 1)):
        assert verdict.probability(record) == exactly(chances[record])
        assert verdict.entropy(record) == exactly(naive.entropy(chances, record))
    assert verdict.lineup(1).outside == exactly(1 - chances["0"])


NAN, INF = math.nan, math.inf
BAD_SETTINGS = [
    (lambda: so.Within(value=NAN), "value must"),
    (lambda: so.Within(value=-1), "value must"),
    (lambda: so.Within(value="1"), "value must"),
    (lambda: so.Within(time=INF), "time must"),
    (lambda: so.Within(time=True), "time must"),
    (lambda: so.Decay(value_scale=0), "value_scale must"),
    (lambda: so.Decay(value_scale=NAN), "value_scale must"),
    (lambda: so.Decay(time_scale=-30), "time_scale must"),
    (lambda: so.Decay(time_scale=INF), "time_scale must"),
    (lambda: so.ScoreboardRH(value_scale=NAN), "value_scale must"),
    (lambda: so.ScoreboardRH(value_scale=0), "value_scale must"),
    (lambda: so.ScoreboardRH(time_scale=INF), "time_scale must"),
    (lambda: so.ScoreboardRH(time_scale=-1), "time_scale must"),
    (lambda: so.ScoreboardRH(so.Within(), time_scale=7), "value_scale and time_scale"),
    (lambda: so.ScoreboardRH("decay"), "similarity must"),
    (lambda: so.ScoreboardRH(weights="rare"), "weights must"),
    (lambda: so.ScoreboardRH(weights=2), "weights must"),
    (lambda: so.ScoreboardRH(weights=["one"]), "weights must"),
    (lambda: so.Scoreboard(so.Within), "similarity must"),
    (lambda: so.Scoreboard(alpha=0), "alpha must"),
    (lambda: so.Scoreboard(alpha=1.01), "alpha must"),
    (lambda: so.Scoreboard(alpha=NAN), "alpha must"),
    (lambda: so.Scoreboard(alpha=True), "alpha must"),
    (lambda: so.Scoreboard(alpha="1"), "alpha must"),
]


@pytest.mark.parametrize(("make", "message"), BAD_SETTINGS)
def test_settings_that_mean_nothing_are_refused(make, message):
    with pytest.raises(so.ParameterError, match=message):
        make()


AUX = so.Aux([so.Fact("b", value=5)])


@pytest.mark.parametrize("top", [1, 0, 1_001, True, 2.0, "10", None])
def test_top_is_from_2_to_1000(top):
    for attack in attacks_of(so.Present()):
        with pytest.raises(so.ParameterError, match="top must"):
            attack.attack(TWO.read(), AUX, top=top)


@pytest.mark.parametrize("threads", [0, -1, True, 1.0, "2"])
def test_threads_are_at_least_1(threads):
    for attack in attacks_of(so.Present()):
        with pytest.raises(so.ParameterError, match="threads must"):
            attack.attacks(TWO.read(), [AUX], threads=threads)


def test_only_records_that_exist_can_be_excluded_one_for_each_query():
    release = TWO.read()
    for attack in attacks_of(so.Present()):
        for exclude in ("nobody", ["7", "nobody"], [7, None], np.array([0, 2]), np.array([-2, 0])):
            with pytest.raises(so.NotFoundError, match="record"):
                attack.attacks(release, [AUX, AUX], exclude=exclude)
        for exclude in (["7"], ["7"] * 3, [], np.array([0])):
            with pytest.raises(so.ParameterError, match=r"exclude has [013] records for 2 queries"):
                attack.attacks(release, [AUX, AUX], exclude=exclude)
        codes, names = (
            attack.attacks(release, [AUX] * 2, exclude=some) for some in (np.array([1, -1]), ["9", None])
        )
        assert all_numbers(codes) == all_numbers(names)


@pytest.mark.parametrize("phi", [-1, -1e-9, NAN, INF, True, "1.5", None])
def test_phi_is_a_finite_number_from_0_on(phi):
    for attack in attacks_of(so.Present()):
        with pytest.raises(so.ParameterError, match="phi must"):
            attack.attack(TWO.read(), AUX).match(phi)


@pytest.mark.parametrize("k", [0, -1, True, 1.5, "3", None])
def test_a_lineup_has_at_least_one_place(k):
    for attack in attacks_of(so.Present()):
        with pytest.raises(so.ParameterError, match="k must"):
            attack.attack(TWO.read(), AUX).lineup(k)


def test_only_records_of_the_release_have_a_score():
    for attack in attacks_of(so.Present()):
        verdict = attack.attack(TWO.read(), AUX)
        for ask in (verdict.score, verdict.probability, verdict.rank, verdict.entropy, verdict.explain):
            with pytest.raises(so.NotFoundError, match="no record of that id"):
                ask("nobody")
            with pytest.raises(so.StandoutError, match="text"):
                ask(7)


@pytest.mark.parametrize("answer", [NAN, INF, -1.0, "much", None, [1.0, 2.0]], ids=repr)
def test_a_similarity_of_ones_own_must_give_finite_numbers_from_0_on(answer):
    timed = Data([("7", "b", 5.0, date(2005, 3, 1)), ("9", "b", 4.0, None)])
    for made, aux in ((TWO, AUX), (timed, so.Aux([so.Fact("b", value=5, time=date(2005, 3, 1))]))):
        for attack in attacks_of(so.Custom(lambda known, value, days: answer)):
            with pytest.raises(so.ParameterError, match="similarity's function"):
                attack.attack(made.read(), aux)


@pytest.mark.parametrize("name", ["values", "times"])
@pytest.mark.parametrize("answer", [[NAN], [-1.0], [1.0, 1.0, 1.0], 1.0, ["much"]], ids=repr)
def test_a_subclass_must_give_as_many_finite_numbers_from_0_on(name, answer):
    similarity = type("Own", (so.Similarity,), {name: lambda self, *given: answer})()
    made = Data([("7", "b", 5.0, date(2005, 3, 1))])
    for attack in attacks_of(similarity):
        with pytest.raises(so.ParameterError, match=rf"{name}\(\) must return"):
            attack.attack(made.read(), so.Aux([so.Fact("b", value=5, time=date(2005, 3, 1))]))


@pytest.mark.parametrize(
    "weights",
    [
        lambda support: support * NAN,
        lambda support: -1.0 * support,
        lambda support: 1.0,
        lambda support: "much",
    ],
    ids=["nan", "negative", "one for all", "text"],
)
def test_weights_of_ones_own_must_be_finite_numbers_from_0_on(weights):
    with pytest.raises(so.ParameterError, match="weights must"):
        so.ScoreboardRH(weights=weights).attack(TWO.read(), AUX)


def test_a_function_that_would_be_called_millions_of_times_is_refused():
    rows = [("7", "b", 1.0, date(1700, 1, 1)), ("9", "b", 2.0, date(9999, 1, 1))]
    aux = so.Aux([so.Fact("b", value=1, time=date(2005, 3, 1))])
    for attack in attacks_of(so.Custom(lambda *given: 1.0)):
        with pytest.raises(so.ParameterError, match="function of value and time would be called"):
            attack.attack(Data(rows).read(), aux)


# A table of times that is too long for a cache.


@pytest.mark.parametrize("nested", [False, True], ids=["single", "nested"])
@pytest.mark.parametrize(
    ("similarity", "lined"),
    [
        (so.Decay(), True),
        (so.Decay(value_scale=None, time_scale=90), True),
        (so.Within(value=1, time=0.5), True),
        (so.Decay(time_scale=0.01), False),
    ],
    ids=str,
)
def test_straight_pieces_of_a_long_table_give_the_same_verdicts(monkeypatch, similarity, lined, nested):
    monkeypatch.setattr("standout.similarity.lookup_tables.LONG", 1 << 11)
    draw = np.random.default_rng(8)
    frame = pl.DataFrame({
        "record": np.repeat(np.arange(200), 12).astype(str),
        "item": np.concatenate([draw.permutation(20)[:12] for _ in range(200)]).astype(str),
        "value": draw.integers(1, 6, 2_400).astype(float),
        "time": [START + timedelta(minutes=m) for m in draw.integers(0, 3_000, 2_400).tolist()],
    })  # fmt: skip
    release = so.read(frame, time_unit="minute")
    known = so.Adversary(knows=6, wrong=1, value_error=1, time_error=1).observe_all(release, range(40))
    attack = so.ScoreboardRH(similarity)
    single = attack._queries(release, known, None).kernel_tables
    assert (single.line_bits > 0) == lined
    if lined:
        crooked = np.isnan(single.lines[::2]).sum()
        assert 0 < crooked < 8  # at the kink or the thresholds, and where a table ends
    for verdict in attack.nested(release, known, [3, 6]) if nested else attack.attacks(release, known):
        scores = verdict.scores
        assert verdict.highest == exact(scores.max())
        assert verdict.ties == np.count_nonzero(scores == scores.max())
        assert (verdict.mean, verdict.sigma) == (near(scores.mean()), near(scores.std()))
