"""Tables of a similarity: they hold Sim of every fact and entry, also for a user's own function."""

import math
from datetime import timedelta
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from similarity_cases import (
    ANY_VALUES,
    FIRST,
    FUNCTIONS,
    TWINS,
    Near,
    expected,
    histories,
    moment,
    near,
    released,
    same,
)

import standout as so
from standout.know.facts import encode_auxes
from standout.know.lookup_tables import CALLS, Tabulation

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


@settings(max_examples=300)
@given(questions())
def test_tables_hold_the_similarity_of_every_fact_and_entry(question):
    """Sim = a[u, kind] + b[u, kind] · c[off[u, kind] + entry's time − fact's time], all within the tables.

    The kernels look up the words of a known item so, without asking.
    """
    release, people, unit, aux, similarity = question
    known, postings = encode_auxes(release, [aux]), release.by_item
    made, records = Tabulation(release, known, similarity).tabulate(), list(release.records)
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


def test_a_similarity_that_gives_no_numbers_from_0_on_is_refused():
    for part, wrong in product(["values", "times"], WRONG):
        similarity = broken(**{part: WRONG[wrong]})
        with pytest.raises(so.ParameterError, match=rf"{part}\(\) must return \d+ finite numbers ≥ 0"):
            so.ScoreboardRH(similarity).attack(released(TWO), KNOWN)


def test_such_a_similarity_is_refused_between_records_too():
    for part, wrong in product(["values", "times"], WRONG):
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


def test_a_function_that_gives_no_number_from_0_on_is_refused():
    for bad in [float("nan"), float("inf"), -1.0, None, "high", [1.0, 2.0], 1j]:
        similarity = so.Custom(lambda known, value, days, bad=bad: bad)
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
        Tabulation(release, encode_auxes(release, [KNOWN]), similarity).tabulate()
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
    monkeypatch.setattr("standout.know.lookup_tables.CALLS", 3 * 10)  # levels and none, 10 days apart
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
