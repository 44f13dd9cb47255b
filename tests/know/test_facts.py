"""Facts by hand, and as codes of a release."""

from dataclasses import FrozenInstanceError
from datetime import UTC, date, datetime, time, timedelta
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fact_cases import DAY, FILMS, ROWS, SECRET, read, released
from hypothesis import given, settings
from hypothesis import strategies as st

import standout as so
from standout.know.facts import KnownFacts, encode_auxes

NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def films():
    return released(ROWS, titles=FILMS)


def test_a_fact_has_only_what_is_known_about_an_item():
    fact = so.Fact("Brazil", value=4, time=DAY)
    assert (fact.item, fact.value, fact.time) == ("Brazil", 4, DAY)
    assert so.Fact("Brazil") == so.Fact("Brazil", None, None) != fact
    assert len({fact, so.Fact("Brazil", 4.0, DAY)}) == 1
    with pytest.raises(FrozenInstanceError):
        fact.value = 5


@pytest.mark.parametrize("item", ["", None, True, 7.0, b"7", ["7"]], ids=str)
def test_a_fact_names_its_item_by_text(item):
    with pytest.raises(so.ParameterError, match="item must be an id or a title"):
        so.Fact(item)


def test_an_item_may_be_a_whole_number():
    assert so.Fact(7) == so.Fact(np.int32(7)) == so.Fact("7")


def test_errors_of_a_fact_are_numbers_in_range():
    for number, name in product([-1, NAN, INF, "1", True, [1], 10**400], ["value_error", "time_error", "doubt"]):
        with pytest.raises(so.ParameterError, match=f"{name} must be a number"):
            so.Fact("7", **{name: number})


@pytest.mark.parametrize(("name", "most", "allowed"), [
    ("time_error", 36_526, "from 0 to 36,525 days"), ("doubt", 1, "from 0 to below 1"),
])  # fmt: skip
def test_errors_of_a_fact_have_a_highest(name, most, allowed):
    with pytest.raises(so.ParameterError, match=f"{name} must be a number {allowed}"):
        so.Fact("7", **{name: most})
    assert getattr(so.Fact("7", **{name: np.float32(0.5)}), name) == 0.5


@pytest.mark.parametrize("value", [NAN, INF, -INF, np.float64("nan")], ids=str)
def test_a_value_is_finite(value):
    with pytest.raises(so.ParameterError, match="value must be finite, or None"):
        so.Fact("7", value=value)


@pytest.mark.parametrize("value", [True, [4], (4,), b"4", 4j, DAY], ids=str)
def test_a_value_is_a_number_or_text(value):
    with pytest.raises(so.ParameterError, match="value must be a number or text, or None, got "):
        so.Fact("7", value=value)


def test_a_numpy_number_is_a_valid_value(films):
    for value in (np.float64(4), np.float32(4), np.int64(4)):
        verdict = so.ScoreboardRH().attack(films, so.Aux([so.Fact("7", value=value)]))
        assert verdict.best == "p"


def test_a_value_beyond_all_floats_is_a_clear_error(films):
    with pytest.raises(so.ParameterError, match="value"):
        encode_auxes(films, [so.Aux([so.Fact("7", value=10**400)])])


@pytest.mark.parametrize("moment", ["2005-03-01", 1_109_635_200, 2005.0, time(20, 15), pd.NaT], ids=str)
def test_a_time_is_a_date_or_datetime(moment):
    with pytest.raises(so.ParameterError, match="time must be a date or datetime, or None, got "):
        so.Fact("7", time=moment)


def test_aux_is_its_facts_in_order():
    facts = [so.Fact("b"), so.Fact("a", 4), so.Fact("c", None, DAY)]
    aux = so.Aux(iter(facts), length=(100, 300), joined=(DAY, DAY))
    assert list(aux) == list(aux.facts) == facts and len(aux) == 3
    assert (aux.length, aux.joined) == ((100, 300), (DAY, DAY))
    assert so.Aux(facts) == so.Aux(tuple(facts)) != so.Aux(facts[::-1])
    assert len(so.Aux([])) == 0


def test_aux_is_made_of_facts():
    for facts in ["7", ["7", "8"], [("7", 4)], [None], {"7": 4}, None, 7, so.Fact("7")]:
        with pytest.raises(so.ParameterError, match="facts must be a sequence of Fact"):
            so.Aux(facts)


REPEATED = [so.Fact("7", value=4), so.Fact("8"), so.Fact("7", time=DAY), so.Fact("7", value=4)]


def test_an_item_is_named_once_where_nobody_has_it_twice(films):
    with pytest.raises(so.ParameterError, match="two facts of one aux name the same item"):
        encode_auxes(films, [so.Aux(REPEATED)])
    with pytest.raises(so.ParameterError, match="two facts of one aux name the same item"):
        encode_auxes(films, [so.Aux([so.Fact("x"), so.Fact("x", value=4)])])  # not in the release


@pytest.mark.parametrize("repeats", ["keep", "last"])
def test_facts_may_name_an_item_several_times_where_people_have_it_so(repeats):
    columns = {"record": ["p", "p", "q"], "item": ["7", "7", "8"], "value": [4, 2, 1], "time": [DAY] * 3}
    release = so.read(pl.DataFrame(columns), repeats=repeats)
    known = encode_auxes(release, [so.Aux(REPEATED), so.Aux(REPEATED[:1])])
    assert (known.item.tolist(), known.first.tolist()) == ([0, 1, 0, 0, 0], [0, 4, 5])
    assert known.aux(release, 0) == so.Aux(REPEATED)


BAD_LENGTHS = [
    (300, 100), (1, 2, 3), (1,), (), 5, "12", ("a", "b"), ("a", 2), (NAN, 2), (2, NAN), (1, INF), (1.5, 3),
    (None, 3),
]  # fmt: skip


BAD_JOINED = [
    (DAY, date(2005, 2, 28)), DAY, (DAY,), ("2005-03-01", "2005-03-02"), (1, 2), (None, DAY), (DAY, None),
]  # fmt: skip


BAD_ENDS = [("length", ends) for ends in BAD_LENGTHS] + [("joined", ends) for ends in BAD_JOINED]


def test_length_and_joined_are_the_lowest_and_the_highest(films):
    for name, ends in BAD_ENDS:
        with pytest.raises(so.ParameterError, match=f"{name} "):
            encode_auxes(films, [so.Aux([so.Fact("7")], **{name: ends})])


@pytest.mark.parametrize("ends", [(1, 2**80), (np.int64(1), np.uint16(9)), (0, np.int64(3))], ids=str)
def test_a_length_is_any_whole_number(films, ends):
    known = encode_auxes(films, [so.Aux([so.Fact("7")], length=ends)])
    assert known.length.tolist() == [[int(ends[0]), min(int(ends[1]), 2**62)]]


def test_a_date_and_a_datetime_are_both_ends_or_a_clear_error(films):
    try:
        known = encode_auxes(films, [so.Aux([so.Fact("7")], joined=(DAY, datetime(2005, 3, 2, 12)))])
    except so.ParameterError as refused:
        assert "joined" in str(refused)
    else:
        assert known.joined.tolist() == [[0, 1]]


def test_unknown_items_are_reported(films):
    aux = so.Aux([so.Fact("brazil", 4), so.Fact("Alien", 5, DAY), so.Fact("8"), so.Fact("777", time=DAY)])
    assert aux.unknown(films) == (aux.facts[1], aux.facts[3])
    for attack in (so.ScoreboardRH(), so.Scoreboard(so.Present())):
        verdict = attack.attack(films, aux)
        assert verdict.unknown == (aux.facts[1], aux.facts[3])
        assert [part.item for part in verdict.explain("p")] == ["7", None, "8", None]
        assert [part.weight is None for part in verdict.explain("p")] == [False, True, False, True]
    known = so.Aux([so.Fact("Bent"), so.Fact("7")])
    assert known.unknown(films) == so.ScoreboardRH().attack(films, known).unknown == ()


def test_unknown_items_add_nothing_to_a_score(films):
    facts = [so.Fact("7", 4, DAY), so.Fact("8", 1)]
    known = so.ScoreboardRH().attack(films, so.Aux(facts))
    mixed = so.ScoreboardRH().attack(films, so.Aux([so.Fact("x", 3), *facts, so.Fact("y", time=DAY)]))
    assert (known.highest, known.second, known.sigma, known.best) == (
        mixed.highest,
        mixed.second,
        mixed.sigma,
        mixed.best,
    )


def test_the_same_item_by_id_and_by_title_is_refused(films):
    with pytest.raises(so.ParameterError, match="two facts of one aux name the same item"):
        encode_auxes(films, [so.Aux([so.Fact("8")]), so.Aux([so.Fact("7", value=4), so.Fact("Brazil", time=DAY)])])
    with pytest.raises(so.ParameterError, match="two facts of one aux name the same item"):
        so.ScoreboardRH().attack(films, so.Aux([so.Fact("BRAZIL"), so.Fact("brazil (1985)")]))
    apart = encode_auxes(films, [so.Aux([so.Fact("7")]), so.Aux([so.Fact("Brazil")])])
    assert apart.item.tolist() == [0, 0]
    unknown = encode_auxes(films, [so.Aux([so.Fact("x"), so.Fact("y")])])
    assert unknown.item.tolist() == [-1, -1]


def test_a_text_for_a_value_is_refused_where_values_are_numbers(films):
    with pytest.raises(so.ParameterError, match="the release's values are numbers") as caught:
        encode_auxes(films, [so.Aux([so.Fact("7", value=SECRET)])])
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(("category", "values"), [("4", [4, "4", 4.0]), ("4.0", [4.0, "4.0"]), ("4.5", [4.5])])
def test_a_number_for_a_category_is_the_text_that_it_spells(category, values):
    release = released([("p", "x", category, DAY), ("q", "x", "dvd", DAY)], kind="text")
    for value in values:
        verdict = so.ScoreboardRH(so.Equal()).attack(release, so.Aux([so.Fact("x", value=value)]))
        assert verdict.best == "p" and verdict.ties == 1


def test_a_value_in_a_file_is_the_category_that_it_spells(put):
    for category in ["4", "007", "4.0", "4.50", "1e3", "+1", "1_000", "dvd", "4 stars"]:
        release = released([("p", "x", category, DAY), ("q", "x", "another", DAY)], kind="text")
        verdict = so.ScoreboardRH(so.Equal()).attack(release, read(put, f"item,value\nx,{category}\n"))
        assert verdict.best == "p" and verdict.ties == 1


def test_categories_that_spell_one_number_stay_different(put):
    spelled = {"p": "4", "q": "4.0", "r": "04"}
    release = released([(record, "x", category, DAY) for record, category in spelled.items()], kind="text")
    for record, category in spelled.items():
        verdict = so.ScoreboardRH(so.Equal()).attack(release, read(put, f"item,value\nx,{category}\n"))
        assert verdict.tied == (record,)


def test_a_time_with_a_zone_is_refused(films):
    aware = datetime(2005, 3, 1, 20, tzinfo=UTC)
    with pytest.raises(
        so.ParameterError, match="time must be on the wall clock of the release: give it without a zone"
    ):
        encode_auxes(films, [so.Aux([so.Fact("7", time=aware)])])
    with pytest.raises(so.ParameterError, match="without a zone"):
        encode_auxes(films, [so.Aux([so.Fact("7")], joined=(aware, aware))])


def test_joined_needs_times():
    release = released([("p", "7", 4.0, None)], unit=None)
    with pytest.raises(so.ParameterError, match="joined needs dates, and the release has none"):
        encode_auxes(release, [so.Aux([so.Fact("7")], joined=(DAY, DAY))])


def test_values_and_times_that_the_release_lacks_are_not_compared():
    release = released([("p", "7", None, None), ("q", "8", None, None)], kind=None, unit=None)
    known = encode_auxes(release, [so.Aux([so.Fact("7", value=4, time=DAY), so.Fact("8", value="dvd")])])
    assert (known.value.tolist(), known.timed.tolist(), known.values) == ([-1, -1], [False, False], ())
    assert so.ScoreboardRH().attack(release, so.Aux([so.Fact("7", value=4, time=DAY)])).best == "p"


def test_codes_are_those_of_the_release(films):
    auxes = [
        so.Aux([so.Fact("bent", 1, DAY), so.Fact("nothing", 9), so.Fact("9", None, DAY - timedelta(days=3))]),
        so.Aux([], length=(3, 5)),
        so.Aux([so.Fact("7", 1.0, datetime(2005, 3, 20, 23, 59))], joined=(DAY, DAY + timedelta(days=40))),
    ]
    known = encode_auxes(films, auxes)
    assert len(known) == 3 and known.filtered
    assert known.first.tolist() == [0, 3, 3, 4]
    assert known.item.tolist() == [1, -1, 2, 0]
    assert [known.values[i] if i >= 0 else None for i in known.value] == [1.0, 9.0, None, 1.0]
    assert known.timed.tolist() == [True, False, True, True]
    assert known.time[known.timed].tolist() == [0, -3, 19]
    assert known.length.tolist()[1] == [3, 5] and known.joined.tolist()[2] == [0, 40]
    assert all(low < -(10**9) and high > 10**9 for low, high in known.joined[:2])
    assert all(low <= 0 and high > 10**9 for low, high in known.length[[0, 2]])
    assert known.names == {1: "nothing"}
    assert [encode_auxes(films, [aux]).filtered for aux in auxes] == [False, True, True]
    assert len(encode_auxes(films, [])) == 0


@st.composite
def releases_and_auxes(draw):
    """(release, auxes): facts about known and unknown items, with and without values and times."""
    kind, unit = (
        draw(st.sampled_from(["number", "text", None])),
        draw(st.sampled_from(["day", "hour", "minute", None])),
    )
    value = {"number": 4.0, "text": "dvd", None: None}[kind]
    moment = None if unit is None else DAY if unit == "day" else datetime(2005, 3, 1, 12)
    release = released([("p", item, value, moment) for item in ("7", "8", "9")], kind, unit, FILMS)
    values = st.none() | (st.sampled_from(["dvd", "tape"]) if kind == "text" else st.floats(-9, 9) | st.integers(0, 9))
    times = (
        st.none() | st.dates(date(1, 1, 2), date(9999, 12, 30)) | st.datetimes(datetime(2, 1, 1), datetime(5000, 1, 1))
    )
    item = st.sampled_from(["7", "BENT", "the matrix", "x", "y"])
    facts = st.lists(st.builds(so.Fact, item, values, times), max_size=4, unique_by=lambda fact: fact.item)
    length = st.none() | st.tuples(st.integers(0, 9), st.integers(9, 99))
    joined = st.tuples(st.dates(max_value=DAY), st.dates(min_value=DAY, max_value=date(9999, 12, 30)))
    auxes = st.lists(st.builds(so.Aux, facts, length, st.none() | joined if unit else st.none()), max_size=4)
    return release, draw(auxes)


IDS = {"7": "7", "BENT": "8", "the matrix": "9", "x": "x", "y": "y"}


def as_decoded_by(release, aux):
    """The aux with ids instead of titles, only the columns of the release, and times in its units."""

    def moment(when, of_day=time.min):
        if when is None or release.clock is None:
            return None
        wall = when if isinstance(when, datetime) else datetime.combine(when, of_day)
        wall -= timedelta(
            minutes=wall.minute * (release.clock.unit != "minute"), seconds=wall.second,
            microseconds=wall.microsecond,
        )  # fmt: skip
        return wall.date() if release.clock.unit == "day" else wall

    facts = [so.Fact(IDS[fact.item], None if release.levels is None else fact.value, moment(fact.time)) for fact in aux]
    if aux.joined is None:
        return so.Aux(facts, aux.length)
    first, last = aux.joined
    return so.Aux(facts, aux.length, (moment(first), moment(last, time.max)))  # the whole of the last day


@settings(max_examples=100)
@given(releases_and_auxes())
def test_encoded_facts_decode_to_the_same_aux(case):
    release, auxes = case
    known = encode_auxes(release, auxes)
    assert len(known) == len(auxes)
    assert [known.aux(release, q) for q in range(len(known))] == [as_decoded_by(release, aux) for aux in auxes]


@settings(max_examples=50)
@given(releases_and_auxes(), st.data())
def test_a_selection_of_known_facts_is_that_of_the_same_auxes(case, data):
    release, auxes = case
    known = encode_auxes(release, auxes)
    people = data.draw(st.lists(st.sampled_from(range(len(auxes))), max_size=5)) if auxes else []
    keep = [data.draw(st.integers(0, len(auxes[q]))) for q in people]
    fact = [known.first[q] + i for q, count in zip(people, keep, strict=True) for i in range(count)]
    first = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
    selected = known.select(np.array(people, np.int64), np.array(fact, np.int64), first)
    assert isinstance(selected, KnownFacts) and len(selected) == len(people)
    for at, (q, count) in enumerate(zip(people, keep, strict=True)):
        shorter = so.Aux(auxes[q].facts[:count], auxes[q].length, auxes[q].joined)
        assert selected.aux(release, at) == as_decoded_by(release, shorter)
