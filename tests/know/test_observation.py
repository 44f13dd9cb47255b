"""What an adversary draws: which items, how precise, how wrong."""

from datetime import date, datetime, timedelta
from itertools import product

import numpy as np
import pytest
from adversary_cases import CHOICES, FIRST, SEED, assert_shares, assert_uniform, crowd, drawn, person, released, told

import standout as so


@pytest.fixture(scope="module")
def release():
    return crowd()


VALUE, TIME = 0, 1


def observed(adversary, release, seed=SEED):
    """[(what the record holds, what is known of it) for every eligible record]."""
    places = np.flatnonzero(adversary.eligible(release, range(release.n_records)))
    known, own = adversary.observe_all(release, places, seed), told(release)
    assert len(known) == len(places) > 0
    return [(own[place], known.aux(release, q)) for q, place in enumerate(places)]


@pytest.fixture(scope="module")
def support(release):
    return dict(zip(release.items, release.support.tolist(), strict=True))


# Which items.


def test_without_error_every_fact_is_an_entry_of_the_record(release):
    for items, knows in product(CHOICES, [1, 5]):
        for own, aux in observed(so.Adversary(knows=knows, items=items), release):
            assert len(aux) == knows == len({fact.item for fact in aux})
            assert all(own[fact.item] == (fact.value, fact.time) for fact in aux)
            assert aux.length is aux.joined is None


@pytest.mark.parametrize("items", [*CHOICES[:1], *CHOICES[2:]], ids=str)
def test_who_knows_as_much_as_there_is_knows_everything(release, items):
    longest = release.records[release.lengths.argmax()]
    own = release.record(longest)
    aux = so.Adversary(knows=len(own), items=items).observe(release, longest, seed=SEED)
    assert sorted((fact.item, fact.value, fact.time) for fact in aux) == sorted(own.entries)


def test_items_known_outside_the_top_are_never_in_it(release, support):
    rank = dict(zip(release.items, release.rank.tolist(), strict=True))
    for own, aux in observed(so.Adversary(knows=3, items=so.outside_top(20)), release):
        assert all(rank[fact.item] > 20 for fact in aux)
        assert all(support[fact.item] <= min(sorted(support.values())[-20:]) for fact in aux)
        assert sum(rank[item] > 20 for item in own) >= 3


def test_outside_the_top_every_item_is_as_likely():
    cells = dict.fromkeys("abcdef", (1.0, FIRST))
    others = "aaabbccdd"  # a leads, then b, c and d in the order of their ids
    release = person(cells, others)
    draws = drawn(so.Adversary(knows=1, items=so.outside_top(2)), release, "p", 600)
    assert_uniform([aux.facts[0].item for aux in draws], "cdef")
    assert not so.Adversary(knows=1, items=so.outside_top(6)).eligible(release, range(release.n_records)).any()


def test_any_item_is_as_likely_in_any_place():
    release = person(dict.fromkeys("abcdef", (1.0, FIRST)), "aaaaaabbbb")
    draws = drawn(so.Adversary(knows=2), release, "p", 900)
    pairs = [(one, other) for one in "abcdef" for other in "abcdef" if one != other]
    assert_uniform([tuple(fact.item for fact in aux) for aux in draws], pairs)


def test_no_item_known_as_rarest_is_more_popular_than_an_unknown_one(release, support):
    for own, aux in observed(so.Adversary(knows=4, items="rarest"), release):
        known = [support[fact.item] for fact in aux]
        assert known == sorted(known)  # the rarest first: fewer facts are the rarest of these
        assert max(known) <= min((support[item] for item in own.keys() - {f.item for f in aux}), default=9e9)


def test_no_item_known_as_recent_is_older_than_an_unknown_one(release):
    for own, aux in observed(so.Adversary(knows=4, items="recent"), release):
        known = [own[fact.item][TIME] for fact in aux]
        assert known == sorted(known, reverse=True)
        unknown = [own[item][TIME] for item in own.keys() - {f.item for f in aux}]
        assert min(known) >= max(unknown, default=date.min)


def test_a_burst_is_what_lies_nearest_to_its_first_item(release):
    for own, aux in observed(so.Adversary(knows=4, items="burst"), release):
        anchor = own[aux.facts[0].item][TIME]
        known = [abs(own[fact.item][TIME] - anchor) for fact in aux]
        assert known == sorted(known)
        unknown = [abs(own[item][TIME] - anchor) for item in own.keys() - {f.item for f in aux}]
        assert known[-1] <= min(unknown, default=timedelta.max)


def test_a_burst_is_closer_in_time_than_chance(release):
    def width(items):
        times = [[fact.time for fact in aux] for _, aux in observed(so.Adversary(knows=4, items=items), release)]
        return np.mean([(max(own) - min(own)).days for own in times])

    assert width("burst") < width("any") / 3


def test_a_burst_may_begin_at_any_entry():
    cells = {item: (1.0, FIRST + timedelta(days=10 * i)) for i, item in enumerate("abcdef")}
    draws = drawn(so.Adversary(knows=2, items="burst"), person(cells), "p", 600)
    assert_uniform([aux.facts[0].item for aux in draws], "abcdef")


@pytest.mark.parametrize("items", ["rarest", "recent"])
def test_equals_go_by_chance(items):
    release = person(dict.fromkeys("abcd", (1.0, FIRST)))
    draws = drawn(so.Adversary(knows=1, items=items), release, "p", 400)
    assert_uniform([aux.facts[0].item for aux in draws], "abcd")


def test_popular_items_are_known_in_proportion_to_their_popularity():
    others = "a" * 11 + "b" * 5 + "c" * 2  # with p itself: 12, 6, 3, 1
    release = person(dict.fromkeys("abcd", (1.0, FIRST)), others)
    draws = drawn(so.Adversary(knows=2, items="popular"), release, "p", 3_000)
    weight = {"a": 12, "b": 6, "c": 3, "d": 1}
    shares = {
        (one, other): weight[one] / 22 * weight[other] / (22 - weight[one])
        for one in weight for other in weight if one != other
    }  # fmt: skip
    assert_shares([tuple(fact.item for fact in aux) for aux in draws], shares)


def test_popular_items_are_more_popular_than_any_and_those_than_the_rarest(release, support):
    def popularity(items):
        found = observed(so.Adversary(knows=4, items=items), release)
        return np.mean([support[fact.item] for _, aux in found for fact in aux])

    assert popularity("popular") > 1.1 * popularity("any") > 1.2 * popularity("rarest")


@pytest.mark.parametrize("items", ["recent", "burst"])
def test_entries_without_a_time_are_neither_recent_nor_in_a_burst(items):
    cells = {item: (1.0, FIRST if item in "abc" else None) for item in "abcdef"}
    release = person(cells)
    for aux in drawn(so.Adversary(knows=3, items=items), release, "p", 20):
        assert {fact.item for fact in aux} == set("abc")
    assert so.Adversary(knows=3, items=items).eligible(release, [0]).tolist() == [True]
    assert so.Adversary(knows=4, items=items).eligible(release, [0]).tolist() == [False]


# How precise.


@pytest.mark.parametrize(("right", "error", "allowed"), [
    (3.0, 1, [2.0, 3.0, 4.0]), (1.0, 1, [1.0, 2.0]), (5.0, 2, [3.0, 4.0, 5.0]), (4.0, 0, [4.0]),
    (2.0, 9, [1.0, 2.0, 3.0, 4.0, 5.0]), (3.0, 0.99, [3.0]),
])  # fmt: skip
def test_a_value_is_any_level_within_the_error_with_equal_chance(right, error, allowed):
    rows = [("p", "x", right, FIRST), *(("q", str(i), i, FIRST) for i in (1.0, 2.0, 3.0, 4.0, 5.0))]
    draws = drawn(so.Adversary(knows=1, value_error=error), released(rows), "p", 500)
    assert_uniform([aux.facts[0].value for aux in draws], allowed)


def test_levels_that_differ_by_the_error_are_within_it_whatever_the_rounding():
    tenths = [i / 10 for i in range(1, 11)]
    rows = [(str(i), "x", i / 10, FIRST) for i in range(1, 11)]
    release = released(rows)
    for i in range(1, 11):
        draws = drawn(so.Adversary(knows=1, value_error=0.2), release, str(i), 60)
        near = {tenths[j - 1] for j in range(max(i - 2, 1), min(i + 2, 10) + 1)}
        assert {aux.facts[0].value for aux in draws} == near


@pytest.mark.parametrize("value", [0.2, 0.1, 0.3])
def test_what_the_adversary_takes_for_right_is_within_the_same_threshold(value):
    release = released([(str(i), "x", i / 10, FIRST) for i in range(1, 11)])
    for i in range(1, 11):
        for aux in drawn(so.Adversary(knows=1, value_error=value), release, str(i), 30):
            verdict = so.Scoreboard(so.Within(value=value, time=None)).attack(release, aux)
            assert verdict.score(str(i)) == 1.0


@pytest.mark.parametrize(("unit", "error", "reach"), [
    ("day", 0, 0), ("day", 3, 3), ("day", 3.9, 3), ("hour", 0.25, 6), ("hour", 1, 24),
    ("minute", 1 / 144, 10), ("minute", 13 / 1440, 13), ("minute", 0.0001, 0),
])  # fmt: skip
def test_a_date_is_off_by_whole_units_within_the_error_with_equal_chance(unit, error, reach):
    right = FIRST if unit == "day" else datetime(2005, 1, 1, 12)
    step = timedelta(**{f"{unit}s": 1})
    rows = [("p", "x", 1.0, right), ("q", "x", 1.0, right + 2 * step)]
    draws = drawn(so.Adversary(knows=1, time_error=error), released(rows, unit=unit), "p", 1_000)
    assert_uniform([(aux.facts[0].time - right) // step for aux in draws], range(-reach, reach + 1))


def test_what_is_not_known_is_in_no_fact(release):
    for _, aux in observed(so.Adversary(knows=2, value_error=None), release):
        assert all(fact.value is None and fact.time is not None for fact in aux)
    for _, aux in observed(so.Adversary(knows=2, time_error=None), release):
        assert all(fact.time is None and fact.value is not None for fact in aux)
    for own, aux in observed(so.Adversary(knows=2, value_error=None, time_error=None), release):
        assert all((fact.value, fact.time) == (None, None) and fact.item in own for fact in aux)


@pytest.mark.parametrize("wrong", [0, 4])
def test_an_entry_that_lacks_a_value_or_a_time_gives_a_fact_without_it(wrong):
    cells = {"a": (None, FIRST), "b": (2.0, None), "c": (None, None), "d": (3.0, FIRST + timedelta(days=40))}
    adversary = so.Adversary(knows=4, wrong=wrong, value_error=1, time_error=5)
    for aux in drawn(adversary, person(cells), "p", 50):
        gaps = {fact.item: (fact.value is None, fact.time is None) for fact in aux}
        assert gaps == {item: (value is None, time is None) for item, (value, time) in cells.items()}


# How wrong.


@pytest.mark.parametrize("wrong", [0, 1, 3, 5])
@pytest.mark.parametrize(("value_error", "time_error"), [(1, 14), (0, 0), (1, None), (None, 14), (0, 400)])
def test_exactly_so_many_facts_are_wrong_in_value_and_date(release, wrong, value_error, time_error):
    adversary = so.Adversary(knows=5, wrong=wrong, value_error=value_error, time_error=time_error)
    for own, aux in observed(adversary, release):
        assert all(fact.item in own for fact in aux)
        judged = []
        for fact in aux:
            value, time = own[fact.item]
            judged.append(set() if value_error is None else {abs(fact.value - value) > value_error})
            judged[-1] |= set() if time_error is None else {abs(fact.time - time).days > time_error}
        assert [len(each) for each in judged] == [1] * 5  # value and date are both right or both wrong
        assert judged.count({True}) == wrong


@pytest.mark.parametrize(("value_error", "time_error", "told"), [(1, 5, "abd"), (1, None, "bd"), (None, 5, "ad")])
def test_what_has_nothing_to_be_told_is_not_told_wrongly_instead(value_error, time_error, told):
    cells = {"a": (None, FIRST), "b": (2.0, None), "c": (None, None), "d": (3.0, FIRST + timedelta(days=40))}
    rows = [("p", item, *cell) for item, cell in cells.items()]
    release = released([*rows, ("q", "a", 5.0, FIRST + timedelta(days=90))])
    adversary = so.Adversary(knows=4, wrong=len(told), value_error=value_error, time_error=time_error)
    for aux in drawn(adversary, release, "p", 30):
        off = set()
        for fact in aux:
            value, time = cells[fact.item]
            if fact.value is not None and abs(fact.value - value) > value_error:
                off.add(fact.item)
            if fact.time is not None and abs(fact.time - time).days > time_error:
                off.add(fact.item)
        assert off == set(told)


def test_any_of_the_facts_may_be_the_wrong_one():
    cells = dict.fromkeys("abc", (2.0, FIRST)) | {"d": (5.0, FIRST)}
    release = person(cells)
    draws = drawn(so.Adversary(knows=4, wrong=1, time_error=None, items="rarest"), release, "p", 400)
    wrong = [[fact.value == cells[fact.item][VALUE] for fact in aux].index(False) for aux in draws]
    assert_uniform(wrong, range(4))
    assert_uniform([aux.facts[at].item for aux, at in zip(draws, wrong, strict=True)], "abcd")


def test_a_wrong_value_is_any_level_outside_the_error_with_equal_chance():
    rows = [("p", "x", 3.0, FIRST), *(("q", str(i), i, FIRST) for i in (0.5, 1.0, 2.0, 4.0, 4.5, 5.0))]
    adversary = so.Adversary(knows=1, wrong=1, value_error=1, time_error=None)
    draws = drawn(adversary, released(rows), "p", 500)
    assert_uniform([aux.facts[0].value for aux in draws], [0.5, 1.0, 4.5, 5.0])


@pytest.mark.parametrize(("right", "allowed"), [
    (6, [0, 1, 2, 10, 11]), (0, range(4, 12)), (11, range(8)), (3, range(7, 12)),
])  # fmt: skip
@pytest.mark.parametrize("unit", ["day", "hour"])
def test_a_wrong_date_is_any_of_the_release_outside_the_error_with_equal_chance(unit, right, allowed):
    step, error = timedelta(**{f"{unit}s": 1}), 3 if unit == "day" else 3 / 24
    first = FIRST if unit == "day" else datetime(2005, 1, 1, 21)
    rows = [("p", "x", None, first + right * step), *(("q", str(i), None, first + i * step) for i in (0, 11))]
    draws = drawn(so.Adversary(knows=1, wrong=1, time_error=error), released(rows, unit=unit), "p", 500)
    assert_uniform([(aux.facts[0].time - first) // step for aux in draws], allowed)


@pytest.mark.parametrize(
    ("error", "days"), [({"value_error": 4}, None), ({"value_error": 1, "time_error": 50}, 50), ({"value_error": 9}, 0)]
)
def test_what_cannot_be_wrong_is_not_called_so(error, days):
    time = timedelta(days=days or 0)
    release = released([("p", "x", 1.0, FIRST), ("q", "x", 2.0, FIRST + time), ("q", "y", 2.0, FIRST)])
    with pytest.raises(so.ParameterError, match="every value and every date lies within"):
        so.Adversary(knows=1, wrong=1, **error).observe(release, "p")


@pytest.mark.parametrize("items", CHOICES, ids=str)
@pytest.mark.parametrize("wrong", [1, 3, 5])
def test_exactly_so_many_wrong_items_are_not_in_the_record(release, items, wrong):
    adversary = so.Adversary(knows=5, wrong=wrong, wrong_facts="items", value_error=1, time_error=14, items=items)
    first, last = release.time_range
    for own, aux in observed(adversary, release):
        assert len(aux) == 5 == len({fact.item for fact in aux})
        right = [fact for fact in aux if fact.item in own]
        assert len(right) == 5 - wrong
        for fact in right:
            value, time = own[fact.item]
            assert abs(fact.value - value) <= 1 and abs(fact.time - time).days <= 14
        assert all(fact.value in release.levels and first <= fact.time <= last for fact in aux if fact not in right)


@pytest.mark.parametrize(
    ("wrong_facts", "shares"), [("items", {"a": 5, "b": 2, "c": 1}), ("any items", {"a": 1, "b": 1, "c": 1})]
)
def test_wrong_items_come_by_their_popularity_or_evenly_with_any_value_and_date_in_any_place(wrong_facts, shares):
    rows = [("p", item, 1.0, FIRST) for item in "xyz"]
    rows += [(f"q{i}", item, 1.0 + i % 3, FIRST + timedelta(days=i % 4)) for i, item in enumerate("aaaaabbc")]
    adversary = so.Adversary(knows=3, wrong=1, wrong_facts=wrong_facts)
    draws = drawn(adversary, released(rows), "p", 1_200)
    wrong = [(at, fact) for aux in draws for at, fact in enumerate(aux) if fact.item not in "xyz"]
    assert len(wrong) == len(draws)
    assert_shares([fact.item for _, fact in wrong], shares)
    assert_uniform([at for at, _ in wrong], range(3))
    assert_uniform([fact.value for _, fact in wrong], [1.0, 2.0, 3.0])
    assert_uniform([(fact.time - FIRST).days for _, fact in wrong], range(4))


def test_wrong_items_lack_what_is_not_known(release):
    options = {"knows": 4, "wrong": 4, "wrong_facts": "items"}
    for _, aux in observed(so.Adversary(**options, value_error=None), release):
        assert all(fact.value is None and fact.time is not None for fact in aux)
    for _, aux in observed(so.Adversary(**options, time_error=None), release):
        assert all(fact.time is None and fact.value is not None for fact in aux)


def test_an_adversary_who_is_wrong_in_all_items_needs_none_of_the_record():
    release = released([("p", "x", 1.0, FIRST), ("q", "y", 1.0, FIRST), ("q", "z", 2.0, FIRST)])
    aux = so.Adversary(knows=2, wrong=2, wrong_facts="items").observe(release, "p", seed=SEED)
    assert {fact.item for fact in aux} == {"y", "z"}


# What else is known.


def test_the_length_of_the_record_is_known_to_within_a_share():
    for length, error, ends in [
        (30, 0.5, (15, 45)),
        (30, 0.1, (27, 33)),
        (30, 0, (30, 30)),
        (7, 0.5, (4, 10)),
        (3, 2, (0, 9)),
        (10, 1, (0, 20)),
        (10, 0.7, (3, 17)),
        (45, 0.4, (27, 63)),
    ]:
        rows = [("p", str(i), 1.0, FIRST) for i in range(length)]
        aux = so.Adversary(knows=1, length_error=error).observe(released(rows), "p", seed=SEED)
        assert aux.length == ends and aux.joined is None


@pytest.mark.parametrize(("unit", "error", "reach"), [
    ("day", 30, timedelta(days=30)), ("day", 0, timedelta(0)), ("day", 1.5, timedelta(days=1)),
    ("hour", 1.5, timedelta(hours=36)), ("minute", 0.01, timedelta(minutes=14)),
    ("minute", 13 / 1440, timedelta(minutes=13)),
])  # fmt: skip
def test_the_first_date_of_the_record_is_known_to_within_so_many_days(unit, error, reach):
    first = FIRST if unit == "day" else datetime(2005, 1, 1, 12)
    rows = [("p", str(i), 1.0, first + timedelta(days=i)) for i in range(5)] + [("p", "z", 1.0, None)]
    rows += [("q", "z", 1.0, first - timedelta(days=99))]
    aux = so.Adversary(knows=1, joined_error=error).observe(released(rows, unit=unit), "p", seed=SEED)
    assert aux.joined == (first - reach, first + reach) and aux.length is None


def test_of_a_record_without_times_no_first_date_is_known():
    release = released([("p", "x", 1.0, None), ("q", "x", 1.0, FIRST)])
    adversary = so.Adversary(knows=1, joined_error=9)
    assert adversary.observe(release, "p").joined is None
    assert adversary.observe(release, "q").joined is not None
    assert so.ScoreboardRH().attack(release, adversary.observe(release, "q")).candidates == 2


@pytest.mark.parametrize("error", [0, 0.01, 0.5, 3])
def test_the_target_is_always_among_the_candidates(release, error):
    own = [len(release.record_at(place)) for place in range(release.n_records)]
    begins = [min(time for _, time in record.values()) for record in told(release)]
    adversary = so.Adversary(knows=1, length_error=error, joined_error=100 * error)
    known = adversary.observe_all(release, range(release.n_records), SEED)
    for place in range(release.n_records):
        aux = known.aux(release, place)
        assert aux.length[0] <= own[place] <= aux.length[1]
        assert aux.joined[0] <= begins[place] <= aux.joined[1]
        assert aux.length[1] - own[place] == int(own[place] * error + 1e-9)
        assert aux.joined[1] - aux.joined[0] == timedelta(days=2 * int(100 * error))
    verdicts = so.ScoreboardRH().attacks(release, adversary.observe_all(release, [3, 200], SEED))
    for verdict, place in zip(verdicts, (3, 200), strict=True):
        low, high = verdict.queries.known.aux(release, verdict.q).joined
        short, long = verdict.queries.known.aux(release, verdict.q).length
        fits = [short <= n <= long and low <= day <= high for n, day in zip(own, begins, strict=True)]
        assert fits[place] and verdict.candidates == sum(fits)
