"""Sim on attributes and records: its laws, its slow twin, and the tables that stand for it in the kernels."""

import math
from dataclasses import FrozenInstanceError, dataclass
from datetime import date, datetime, timedelta
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import standout as so
from standout.facts import encode_auxes
from standout.similarity.lookup_tables import CALLS, tabulate

NUMBERS = st.floats(-1e6, 1e6) | st.sampled_from([0.0, 0.5, 1.0, 3.0, -2.0])
SCALES = st.floats(1e-3, 1e6)
STEP = {"day": timedelta(days=1), "hour": timedelta(hours=1), "minute": timedelta(minutes=1)}
PER_DAY = {"day": 1, "hour": 24, "minute": 1440}
FIRST = datetime(2005, 1, 1)


def released(rows, kind="number", unit="day"):
    """The release of rows (record, item, value, time); kind or unit None: there is no such column."""
    moment = {"day": pl.Date, None: pl.Null}.get(unit, pl.Datetime("us"))
    value = {"number": pl.Float64, "text": pl.String, None: pl.Null}[kind]
    schema = {"record": pl.String, "item": pl.String, "value": value, "time": moment}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    frame = frame.drop(*(name for name, of in schema.items() if of == pl.Null))
    return so.read(frame, value_type=kind or "auto", time_unit=unit or "day")


@dataclass(frozen=True)
class Near(so.Similarity):
    """A similarity of one's own: 1 / (1 + distance) for values, tomorrow is nearer than yesterday."""

    def values(self, known, levels):
        return 1 / (1 + np.abs(levels - known))

    def times(self, days):
        return np.where(days >= 0, 1 / (1 + days.clip(0)), 0.25)


@dataclass(frozen=True)
class Sum(Near):
    adds: ClassVar[bool] = True


@dataclass(frozen=True)
class SameWeekday(so.Similarity):
    def times(self, days):
        return (np.abs(days % 7) < 1e-9).astype(float)


def near(known, value, days):
    """The same as Near, and the worse for what is missing, in one function."""
    alike = 0.5 if known is None or value is None else 1 / (1 + abs(known - value))
    if days is None:
        return alike / 3
    return alike * (1 / (1 + days) if days >= 0 else 0.25)


def same(known, value, days):
    return float(known == value) if days is None else 2.0 / (1 + abs(days))


def apart(one, other):
    """How far values are apart: categories are the same or infinitely far."""
    return abs(one - other) if isinstance(one, float) else 0 if one == other else math.inf


# How alike values are (known, value) and times are (days), as the paper and the docstrings say; None where
# a similarity does not look; and whether the two are added up.
TWINS = {
    so.Within(value=1, time=14): (lambda k, v: apart(k, v) <= 1, lambda d: abs(d) <= 14, False),
    so.Within(value=0, time=0): (lambda k, v: k == v, lambda d: d == 0, False),
    so.Within(value=0.5, time=None): (lambda k, v: apart(k, v) <= 0.5, None, False),
    so.Within(value=None, time=2.5): (None, lambda d: abs(d) <= 2.5, False),
    so.Decay(): (lambda k, v: math.exp(-apart(k, v) / 1.5), lambda d: math.exp(-abs(d) / 30), True),
    so.Decay(2, None): (lambda k, v: math.exp(-apart(k, v) / 2), None, True),
    so.Decay(None, 0.3): (None, lambda d: math.exp(-abs(d) / 0.3), True),
    Near(): (lambda k, v: 1 / (1 + abs(k - v)), lambda d: 1 / (1 + d) if d >= 0 else 0.25, False),
    Sum(): (lambda k, v: 1 / (1 + abs(k - v)), lambda d: 1 / (1 + d) if d >= 0 else 0.25, True),
    SameWeekday(): (None, lambda d: abs(d % 7) < 1e-9, False),
    so.Present(): (None, None, False),
    so.Equal(): (lambda k, v: k == v, None, False),
}
ANY_VALUES = [one for one in TWINS if not isinstance(one, Near)]
FUNCTIONS = [so.Custom(near), so.Custom(same)]


def sim(similarity, known, value, days, timed):
    """(Sim, how many terms were added up): twin of what the tables hold. None is what is not there.

    days are from the fact to the entry, None if either has no time; timed says whether the fact has one.
    """
    if isinstance(similarity, so.Custom):
        return similarity.function(known, value, days), 1
    of_values, of_times, adds = TWINS[similarity]
    parts = []
    if known is not None and of_values:
        parts.append(0.0 if value is None else float(of_values(known, value)))
    if timed and of_times:
        parts.append(0.0 if days is None else float(of_times(days)))
    if not parts:
        return 1.0, 1
    return (sum(parts), len(parts)) if adds else (math.prod(parts), 1)


# Attributes.


@given(NUMBERS, NUMBERS, st.floats(0, 1e6))
def test_within_is_1_up_to_the_threshold_and_0_beyond(known, value, threshold):
    similarity = so.Within(value=threshold, time=threshold)
    assert similarity.values(known, np.array([value])).tolist() == [abs(value - known) <= threshold]
    assert similarity.times(np.array([value, -value])).tolist() == [abs(value) <= threshold] * 2


def test_what_differs_by_the_threshold_is_within_it_whatever_the_rounding():
    levels = np.array([i / 10 for i in range(11)])
    for known in range(11):
        for reach in range(1, 10):
            wanted = [abs(level - known) <= reach for level in range(11)]
            assert so.Within(value=reach / 10).values(known / 10, levels).tolist() == wanted
            assert so.Within(time=reach / 10).times(levels - known / 10).tolist() == wanted


@given(NUMBERS, NUMBERS, SCALES)
def test_decay_falls_from_1_with_the_distance_over_the_scale(known, value, scale):
    similarity = so.Decay(value_scale=scale, time_scale=scale)
    expected = math.exp(-abs(value - known) / scale)
    assert similarity.values(known, np.array([value])) == pytest.approx([expected], rel=1e-12, abs=1e-300)
    expected = math.exp(-abs(value) / scale)
    assert similarity.times(np.array([value])) == pytest.approx([expected], rel=1e-12, abs=1e-300)


NUMERIC = st.one_of(
    st.builds(so.Within, st.floats(0, 1e6), st.floats(0, 1e6)),
    st.builds(so.Decay, SCALES, SCALES),
    st.just(Near()),
)
SYMMETRIC = st.one_of(
    st.builds(so.Within, st.floats(0, 9), st.floats(0, 9)), st.builds(so.Decay, SCALES, SCALES)
)


@given(NUMERIC, NUMBERS, st.lists(NUMBERS, min_size=1))
def test_the_parts_of_sim_lie_between_0_and_1_and_are_1_for_the_same(similarity, known, others):
    for part in (similarity.values(known, np.array(others)), similarity.times(np.array(others))):
        assert part.shape == (len(others),) and (part >= 0).all() and (part <= 1).all()
    assert similarity.values(known, np.array([known])).tolist() == [1.0]
    assert similarity.times(np.array([0.0])).tolist() == [1.0]


@given(SYMMETRIC, NUMBERS, NUMBERS)
def test_sim_of_attributes_is_symmetric(similarity, one, other):
    there, back = similarity.values(one, np.array([other])), similarity.values(other, np.array([one]))
    assert there.tolist() == back.tolist()
    assert similarity.times(np.array([one])).tolist() == similarity.times(np.array([-one])).tolist()


@given(SYMMETRIC, st.floats(-100, 100), st.lists(st.floats(0, 1e4), min_size=2))
def test_sim_of_attributes_never_rises_with_the_distance(similarity, known, distances):
    apart = np.sort(np.array(distances))
    for part in (
        similarity.values(known, known + apart), similarity.values(known, known - apart),
        similarity.times(apart), similarity.times(-apart),
    ):  # fmt: skip
        assert (np.diff(part) <= 0).all()


@given(st.lists(st.text(min_size=1), min_size=1, unique=True), st.data())
def test_equal_is_1_for_the_same_category_alone(levels, data):
    known = data.draw(st.sampled_from(levels))
    assert so.Equal().values(known, tuple(levels)).tolist() == [level == known for level in levels]
    assert so.Equal().values("no such level" * 9, tuple(levels)).tolist() == [0.0] * len(levels)


def test_equal_is_1_for_the_same_number_alone():
    assert so.Equal().values(2, np.array([1.0, 2.0, 2.0000001])).tolist() == [0.0, 1.0, 0.0]


def test_what_is_not_compared_is_none():
    levels, days = np.array([1.0]), np.array([0.0])
    for blind in (so.Within(None, None), so.Decay(None, None), so.Present(), so.Similarity()):
        assert blind.values(1, levels) is None and blind.times(days) is None
    assert so.Within(None, 3).values(1, levels) is None and so.Within(None, 3).times(days) is not None
    assert so.Decay(1, None).times(days) is None and so.Decay(1, None).values(1, levels) is not None
    assert so.Equal().times(days) is None


@pytest.mark.parametrize("similarity", [so.Within(), so.Within(0, 0), so.Decay(), so.Equal()], ids=str)
def test_categories_are_the_same_or_have_nothing_in_common(similarity):
    assert similarity.values("dvd", ("dvd", "tape", "DVD")).tolist() == [1.0, 0.0, 0.0]
    assert similarity.values("disc", ("dvd", "tape")).tolist() == [0.0, 0.0]
    release = released([("p", "x", "dvd", FIRST.date()), ("q", "x", "tape", FIRST.date())], kind="text")
    verdict = so.ScoreboardRH(similarity).attack(release, so.Aux([so.Fact("x", value="tape")]))
    assert verdict.best == "q" and verdict.score("p") == 0.0
    assert so.record_similarity(release, "p", "q", similarity) == (0.5 if similarity.adds else 0.0)


@pytest.mark.parametrize("similarity", [so.Within(), so.Decay(), so.Equal()], ids=str)
def test_a_text_has_no_distance_from_numbers(similarity):
    with pytest.raises(so.ParameterError, match="the release's values are numbers"):
        similarity.values("dvd", np.array([4.0]))


@pytest.mark.parametrize(("make", "name"), [
    (so.Within, "value"), (so.Within, "time"), (so.Decay, "value_scale"), (so.Decay, "time_scale"),
    (so.ScoreboardRH, "value_scale"), (so.ScoreboardRH, "time_scale"),
])  # fmt: skip
@pytest.mark.parametrize("bad", [-1, -1e-9, float("nan"), float("inf"), -float("inf"), "1", True, [1.5], 1j])
def test_scales_and_thresholds_are_finite_numbers_or_none(make, name, bad):
    with pytest.raises(
        so.ParameterError, match=f"^{name} must be a finite number [≥>] 0, or None, got "
    ) as caught:
        make(**{name: bad})
    assert "\n" not in str(caught.value)


def test_a_threshold_may_be_0_and_a_scale_may_not():
    assert so.Within(value=0, time=0).times(np.array([0.0, 1.0])).tolist() == [1.0, 0.0]
    for name in ("value_scale", "time_scale"):
        with pytest.raises(so.ParameterError, match=f"{name} must be a finite number > 0, or None, got 0"):
            so.Decay(**{name: 0})


def test_similarities_are_frozen_and_equal_by_what_they_say():
    assert so.Within(1, 14) == so.Within() != so.Within(1, 15)
    assert len({so.Decay(), so.Decay(1.5, 30), so.Decay(2, 30), so.Present(), so.Equal(), so.Present()}) == 4
    with pytest.raises(FrozenInstanceError):
        so.Within().value = 3


# Records.


@st.composite
def histories(draw, kinds=("number", "text", None), units=("day", "hour", "minute", None), gaps=True):
    """(release, {record: {item: (value, units since FIRST)}}, unit): a few people with a few items."""
    kind, unit = draw(st.sampled_from(kinds)), draw(st.sampled_from(units))
    values = {"number": [0.5, 1.0, 2.0, 4.5], "text": ["dvd", "tape", "disc"], None: [None]}[kind]
    value = st.sampled_from(values) if not gaps or kind is None else st.none() | st.sampled_from(values)
    time = st.integers(0, draw(st.sampled_from([0, 3, 60]))) if unit else st.none()
    time = st.none() | time if gaps else time
    pairs = st.tuples(st.sampled_from("pqrst"), st.sampled_from("vwxyz"))
    cells = draw(st.dictionaries(pairs, st.tuples(value, time), min_size=1))
    rows = [(*pair, value, moment(time, unit)) for pair, (value, time) in cells.items()]
    people = {record: {} for record, _ in cells}
    for (record, item), cell in cells.items():
        people[record][item] = cell
    return released(rows, kind, unit), people, unit


def moment(time, unit):
    if time is None:
        return None
    wall = FIRST + time * STEP[unit]
    return wall.date() if unit == "day" else wall


def record_sim(similarity, one, other, unit, over):
    """Twin of record_similarity, on {item: (value, time)}."""
    total = 0.0
    for item, (known, then) in one.items():
        if item in other:
            value, time = other[item]
            days = None if then is None or time is None else (time - then) / PER_DAY[unit]
            part, terms = sim(similarity, known, value, days, then is not None)
            total += part / terms
    return total / (len(one) if over == "first" else len(one.keys() | other.keys()))


@pytest.mark.parametrize("over", ["union", "first"])
@settings(max_examples=60)
@given(data=st.data())
def test_record_similarity_equals_its_slow_twin(over, data):
    kinds = data.draw(st.sampled_from([("number", None), ("text",)]))
    release, people, unit = data.draw(histories(kinds=kinds))
    choices = [*ANY_VALUES, so.Custom(same)] if kinds == ("text",) else [*TWINS, *FUNCTIONS]
    similarity = data.draw(st.sampled_from(choices))
    for first, one in people.items():
        for second, other in people.items():
            expected = record_sim(similarity, one, other, unit, over)
            found = so.record_similarity(release, first, second, similarity, over=over)
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)


@settings(max_examples=60)
@given(histories(kinds=("number", None)), st.sampled_from(list(TWINS)))
def test_a_record_is_as_similar_to_itself_as_can_be_and_nobody_is_more(history, similarity):
    release, people, _ = history
    for over in ("union", "first"):
        for one in people:
            assert so.record_similarity(release, one, one, similarity, over=over) == 1.0
            for other in people:
                assert 0.0 <= so.record_similarity(release, one, other, similarity, over=over) <= 1.0


@settings(max_examples=60)
@given(histories(gaps=False), st.sampled_from(ANY_VALUES))
def test_record_similarity_over_the_union_is_symmetric_where_nothing_is_missing(history, similarity):
    release, people, _ = history
    for one in people:
        for other in people:
            there = so.record_similarity(release, one, other, similarity)
            assert there == pytest.approx(so.record_similarity(release, other, one, similarity), rel=1e-12)


def test_what_the_first_record_lacks_is_not_compared_and_what_the_second_lacks_is_not_alike():
    day = FIRST.date()
    release = released(
        [("p", "x", None, day), ("q", "x", 4.0, day), ("p", "y", 1.0, None), ("q", "y", 1.0, day)]
    )
    assert so.record_similarity(release, "p", "q", so.Within()) == 1.0
    assert so.record_similarity(release, "q", "p", so.Within()) == 0.0
    assert so.record_similarity(release, "q", "p", so.Decay()) == 0.5


@settings(max_examples=60)
@given(histories(kinds=("number", None)), st.sampled_from(list(TWINS)))
def test_a_superset_is_as_similar_as_the_record_itself_over_the_first_but_not_over_the_union(
    history, similarity
):
    """Convention 14: Lemma 1 does not hold with the union below the line."""
    release, people, unit = history
    record = max(people, key=lambda name: len(people[name]))
    own = people[record]
    extra = {item: cell for one in people.values() for item, cell in one.items() if item not in own}
    assume(extra)
    both = [("r", own), ("s", own | extra)]
    kind = None if release.levels is None else "number"
    rows = [
        (name, item, value, moment(t, unit)) for name, cells in both for item, (value, t) in cells.items()
    ]
    larger = released(rows, kind, unit)
    assert so.record_similarity(larger, "r", "s", similarity, over="first") == 1.0
    share = len(own) / (len(own) + len(extra))
    assert so.record_similarity(larger, "r", "s", similarity) == pytest.approx(share, rel=1e-12)
    assert share < 1


def test_twice_as_long_a_superset_is_half_as_similar_over_the_union():
    day = FIRST.date()
    rows = [("r", item, 4.0, day) for item in "ab"] + [("s", item, 4.0, day) for item in "abcd"]
    release = released(rows)
    assert so.record_similarity(release, "r", "s", so.Within()) == 0.5
    assert so.record_similarity(release, "r", "s", so.Within(), over="first") == 1.0
    assert so.record_similarity(release, "s", "r", so.Within(), over="first") == 0.5


PAIR = [("p", "x", 4.0, FIRST.date()), ("q", "x", 3.0, FIRST.date())]


def test_bad_questions_about_records_are_refused():
    release = released(PAIR)
    with pytest.raises(so.ParameterError, match="over must be union or first, got 'both'"):
        so.record_similarity(release, "p", "q", so.Within(), over="both")
    for pair in (("p", "nobody"), ("nobody", "p")):
        with pytest.raises(so.NotFoundError, match="no record of that id"):
            so.record_similarity(release, *pair, so.Within())
    with pytest.raises(so.ParameterError, match="similarity must be a Similarity, got float"):
        so.record_similarity(release, "p", "q", 0.5)


# Tables.


@st.composite
def questions(draw):
    """(release, {record: {item: (value, time)}}, unit, aux, similarity): facts of every kind."""
    kinds = draw(st.sampled_from([("number", None), ("text",)]))
    release, people, unit = draw(histories(kinds=kinds))
    numeric = kinds != ("text",)
    values = [0.5, 1, 2.0, 2.7, -8.0, 100] if numeric else ["dvd", "tape", "none of these"]
    times = st.sampled_from([0, 1, 30, 60, -1, -70, 61, 200, -3_000, 5_000, -600_000, 900_000])
    fact = st.builds(
        so.Fact,
        st.sampled_from("vwxyz") | st.sampled_from(["nothing", "of the kind"]),
        st.none() | st.sampled_from(values),
        st.none() | times.map(lambda time: moment(time, unit or "day")),
    )
    facts = draw(st.lists(fact, min_size=1, max_size=7, unique_by=lambda one: one.item))
    similarity = draw(st.sampled_from([*TWINS, *FUNCTIONS] if numeric else [*ANY_VALUES, so.Custom(same)]))
    return release, people, unit, so.Aux(facts), similarity


def expected(similarity, fact, cell, release, unit):
    """Sim of a fact and an entry by the twin: what the release has none of is not compared."""
    value, time = cell
    known = None if release.levels is None or fact.value is None else fact.value
    known = float(known) if isinstance(known, int) else known
    timed = fact.time is not None and release.span > 0
    days = None
    if timed and time is not None:
        wall = fact.time if isinstance(fact.time, datetime) else datetime(*fact.time.timetuple()[:3])
        days = (time - (wall - FIRST) // STEP[unit]) / PER_DAY[unit]
    return sim(similarity, known, value, days, timed)


@settings(max_examples=300)
@given(questions())
def test_tables_hold_the_similarity_of_every_fact_and_entry(question):
    """Sim = a[u, kind] + b[u, kind] · c[off[u, kind] + entry's time − fact's time], all within the tables.

    The kernels look up the words of a known item so, without asking.
    """
    release, people, unit, aux, similarity = question
    known, postings = encode_auxes(release, [aux]), release.by_item
    made, records = tabulate(release, known, similarity), list(release.records)
    for fact, item, u, then in zip(aux, known.item, made.shape, made.time, strict=True):
        if item < 0:
            continue
        word = postings.word[postings.start[item] : postings.start[item + 1]].astype(np.int64)
        kind = (word >> postings.time_bits) & ((1 << postings.value_bits) - 1)
        place = made.off[u, kind] + (word & ((1 << postings.time_bits) - 1)) - then
        assert (place >= 0).all() and (place < len(made.c)).all()
        found = made.a[u, kind] + made.b[u, kind] * made.c[place]
        for record, number in zip(word >> (postings.time_bits + postings.value_bits), found, strict=True):
            wanted, terms = expected(similarity, fact, people[records[record]][fact.item], release, unit)
            assert number == pytest.approx(wanted, rel=1e-12, abs=1e-300)
            assert made.terms[u] == terms


@settings(max_examples=150)
@given(questions())
def test_an_explanation_names_the_similarity_of_every_fact(question):
    release, people, unit, aux, similarity = question
    verdict = so.ScoreboardRH(similarity, weights="one").attack(release, aux)
    for record, cells in people.items():
        parts = verdict.explain(record)
        assert [part.fact.item for part in parts] == [fact.item for fact in aux]
        for fact, part in zip(aux, parts, strict=True):
            assert part.has == (fact.item in cells)
            wanted = expected(similarity, fact, cells[fact.item], release, unit)[0] if part.has else 0.0
            assert part.similarity == pytest.approx(wanted, rel=1e-12, abs=1e-300)


def test_single_precision_tables_have_no_numbers_near_their_end():
    release = released([("p", "x", 1.0, date(2005, 1, 1)), ("q", "x", 500.0, date(2009, 1, 1))])
    known = encode_auxes(release, [so.Aux([so.Fact("x", value=1, time=date(2005, 1, 1))])])
    made = tabulate(release, known, so.Decay(1.5, 3))
    double, single = made.c, made.kernel_tables(0)
    assert ((double > 0) & (double < 1e-38)).any()
    for part in (single.a, single.b, single.c):
        assert part.dtype == np.float32
        assert ((part == 0) | (part > 1e-31)).all()
    assert single.c[double > 1e-30] == pytest.approx(double[double > 1e-30], rel=1e-6)
    assert (single.c[double < 1e-30] == 0).all()


# Functions of the user's own.


DAY = FIRST.date()
TWO = [("p", "x", 4.0, DAY), ("q", "x", 3.0, DAY + timedelta(days=2)), ("r", "x", None, None)]
KNOWN = so.Aux([so.Fact("x", value=4, time=DAY)])


def broken(values=None, times=None):
    class Broken(so.Similarity):
        def values(self, known, levels):
            return values and values(levels)

        def times(self, days):
            return times and times(days)

    return Broken()


WRONG = {
    "wrong length": lambda given: np.ones(len(given) + 1),
    "one number": lambda given: 1.0,
    "a matrix": lambda given: np.ones((len(given), 1)),
    "not a number": lambda given: np.full(len(given), np.nan),
    "infinite": lambda given: np.full(len(given), np.inf),
    "negative": lambda given: np.full(len(given), -1e-9),
    "text": lambda given: ["high"] * len(given),
    "complex": lambda given: np.full(len(given), 1j),
    "ragged": lambda given: [[1.0], [1.0, 2.0]],
}
FAILING = {"a key": lambda given: {}["x"], "a zero": lambda given: 1 / 0, "an index": lambda given: [][1]}


@pytest.mark.parametrize("part", ["values", "times"])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_similarity_that_gives_no_numbers_from_0_on_is_refused(part, wrong):
    similarity = broken(**{part: WRONG[wrong]})
    with pytest.raises(so.ParameterError, match=rf"{part}\(\) must return \d+ finite numbers ≥ 0"):
        so.ScoreboardRH(similarity).attack(released(TWO), KNOWN)


@pytest.mark.parametrize("part", ["values", "times"])
@pytest.mark.parametrize("wrong", WRONG)
def test_such_a_similarity_is_refused_between_records_too(part, wrong):
    with pytest.raises(so.ParameterError):
        so.record_similarity(released(TWO), "p", "q", broken(**{part: WRONG[wrong]}))


@pytest.mark.parametrize("part", ["values", "times"])
@pytest.mark.parametrize("how", FAILING)
def test_a_similarity_that_fails_says_how(part, how):
    similarity = broken(**{part: FAILING[how]})
    with pytest.raises(so.ParameterError, match=rf"{part}\(\) failed: (Key|ZeroDivision|Index)Error"):
        so.ScoreboardRH(similarity).attack(released(TWO), KNOWN)
    with pytest.raises(so.ParameterError, match=rf"{part}\(\) failed: (Key|ZeroDivision|Index)Error"):
        so.record_similarity(released(TWO), "p", "q", similarity)


@pytest.mark.parametrize("how", FAILING)
def test_a_function_that_fails_says_how(how):
    similarity = so.Custom(lambda *given: FAILING[how](given))
    with pytest.raises(so.ParameterError, match=r"function failed: (Key|ZeroDivision|Index)Error"):
        so.ScoreboardRH(similarity).attack(released(TWO), KNOWN)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0, None, "high", [1.0, 2.0], 1j], ids=str)
def test_a_function_that_gives_no_number_from_0_on_is_refused(bad):
    similarity = so.Custom(lambda known, value, days: bad)
    with pytest.raises(so.ParameterError, match="the similarity's function") as caught:
        so.ScoreboardRH(similarity).attack(released(TWO), KNOWN)
    assert "\n" not in str(caught.value)
    with pytest.raises(so.ParameterError, match="the similarity's function"):
        so.record_similarity(released(TWO), "p", "q", similarity)


def test_what_is_no_function_is_refused():
    for nothing in (None, 3, "lambda"):
        with pytest.raises(so.ParameterError, match="function"):
            so.ScoreboardRH(so.Custom(nothing)).attack(released(TWO), KNOWN)


@pytest.mark.parametrize("similarity", [None, 1.5, "Decay", so.Within], ids=str)
def test_what_is_no_similarity_is_refused(similarity):
    release = released(TWO)
    with pytest.raises(so.ParameterError, match="similarity must be a Similarity, got "):
        tabulate(release, encode_auxes(release, [KNOWN]), similarity)
    with pytest.raises(so.ParameterError, match="similarity must be a Similarity, got "):
        so.Scoreboard(similarity)


def test_a_function_is_asked_for_what_can_come_up_and_before_the_attack():
    asked = []

    def function(known, value, days):
        asked.append((known, value, days))
        return 1.0

    verdict = so.ScoreboardRH(so.Custom(function)).attack(released(TWO), KNOWN)
    assert {known for known, _, _ in asked} == {4.0}
    assert {value for _, value, _ in asked} == {3.0, 4.0, None}
    assert {days for _, _, days in asked} == {None, 0.0, 1.0, 2.0}
    assert len(asked) <= 24
    count = len(asked)
    assert [verdict.score(record) for record in "pqr"] == pytest.approx([verdict.highest] * 3)
    assert len(asked) == count


def test_a_function_is_not_asked_about_missing_values_where_none_is_missing():
    similarity = so.Custom(lambda known, value, days: math.exp(-abs(known - value) - abs(days)))
    verdict = so.ScoreboardRH(similarity).attack(released(TWO[:2]), KNOWN)
    assert verdict.best == "p"
    assert verdict.score("q") == pytest.approx(verdict.highest * math.exp(-1 - 2))


def test_a_function_that_would_be_asked_too_often_is_refused_with_a_way_out():
    rows = [("p", str(i), float(i), FIRST + timedelta(minutes=2_000 * i)) for i in range(50)]
    release = released(rows, unit="minute")
    assert 51 * release.span > CALLS
    aux, asked = so.Aux([so.Fact("7", value=7, time=FIRST)]), []
    with pytest.raises(so.ParameterError, match=r"subclass of Similarity with values\(\) and times\(\)"):
        so.ScoreboardRH(so.Custom(lambda *given: asked.append(given))).attack(release, aux)
    assert not asked
    assert so.ScoreboardRH(Near()).attack(release, aux).best == "p"
    timeless = so.Aux([so.Fact("7", value=7)])  # there is little to ask for
    assert so.ScoreboardRH(so.Custom(near)).attack(release, timeless).best == "p"


def test_the_calls_for_all_facts_count_together(monkeypatch):
    release = released([("p", "x", 4.0, DAY), ("p", "y", 3.0, DAY + timedelta(days=9))])
    facts = [so.Fact("x", value=4, time=DAY), so.Fact("y", value=3, time=DAY)]
    monkeypatch.setattr("standout.similarity.lookup_tables.CALLS", 3 * 10)  # levels and none, 10 days apart
    assert so.ScoreboardRH(so.Custom(near)).attack(release, so.Aux(facts[:1])).best == "p"
    with pytest.raises(so.ParameterError, match="more than 30 times"):
        so.ScoreboardRH(so.Custom(near)).attack(release, so.Aux(facts))


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1.0, 1e3, 1e12])
def test_scores_are_as_exact_whatever_the_size_of_a_similarity(size):
    people = [f"r{i}" for i in range(20)]
    rows = [(r, f"i{j}", float((3 * i + j) % 5), None) for i, r in enumerate(people) for j in range(i % 7, 9)]
    release = released(rows, unit=None)
    similarity = so.Custom(lambda known, value, days: size * abs(math.sin(7 * known + (value or 0))))
    facts = [so.Fact(f"i{j}", value=j % 5) for j in range(9)]
    verdict = so.ScoreboardRH(similarity).attack(release, so.Aux(facts))
    for record in people:
        parts = verdict.explain(record)
        told = [part.score for part in parts]
        assert sum(told) == sum(reversed(told)) == math.fsum(told) == verdict.score(record)
        wanted = math.fsum(part.similarity * part.weight for part in parts if part.has)
        assert verdict.score(record) == pytest.approx(wanted, rel=1e-9, abs=0)
    assert verdict.highest == max(verdict.score(record) for record in people)


def test_scores_are_right_for_dates_that_lie_years_off():
    days = [DAY + timedelta(days=i) for i in range(40)]
    release = released([(f"r{i}", "x", None, day) for i, day in enumerate(days)], kind=None)
    aux = so.Aux([so.Fact("x", time=days[-1] + timedelta(days=900))])
    verdict = so.ScoreboardRH().attack(release, aux)
    for i in range(40):
        wanted = math.exp(-(939 - i) / 30) / math.log(40)
        assert verdict.score(f"r{i}") == pytest.approx(wanted, rel=1e-9, abs=0)
    assert (verdict.best, verdict.ties) == ("r39", 1)
