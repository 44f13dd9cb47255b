"""Adversaries: what a draw depends on, who can be observed, and parameters that are refused."""

from datetime import timedelta
from itertools import product

import numpy as np
import polars as pl
import pytest
from adversary_cases import CHOICES, FIRST, SEED, assert_uniform, crowd, drawn, person, released, told
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import standout as so
from standout.know.observation import Choice


@pytest.fixture(scope="module")
def release():
    return crowd()


# What a draw depends on.


@pytest.mark.parametrize("items", CHOICES, ids=str)
@pytest.mark.parametrize("wrong_facts", ["values", "items"])
def test_a_draw_depends_neither_on_who_else_is_observed_nor_on_the_order(release, items, wrong_facts):
    adversary = so.Adversary(
        knows=4, wrong=2, wrong_facts=wrong_facts, value_error=1, time_error=14, items=items,
        length_error=0.5, joined_error=30,
    )  # fmt: skip
    places = np.flatnonzero(adversary.eligible(release, range(release.n_records)))[:40]
    whole = adversary.observe_all(release, places, SEED)
    everyone = {place: whole.aux(release, q) for q, place in enumerate(places)}
    shuffled = np.random.default_rng(1).permutation(places)[:25]
    some = adversary.observe_all(release, np.repeat(shuffled, 2), SEED)
    for q, place in enumerate(np.repeat(shuffled, 2)):
        assert some.aux(release, q) == everyone[place]
    for place in places[:10]:
        assert adversary.observe(release, release.records[place], SEED) == everyone[place]


def test_a_draw_belongs_to_the_id_of_the_record_wherever_it_stands(release):
    frame = release.to_frame()
    fewer = so.read(frame.filter(pl.col("record") != release.records[0]), kind="history")
    assert fewer.n_records == release.n_records - 1 and fewer.levels.tolist() == release.levels.tolist()
    adversary = so.Adversary(knows=3, wrong=1, value_error=1, time_error=None)
    places = np.flatnonzero(adversary.eligible(fewer, range(fewer.n_records)))[:50]
    for name in (fewer.records[place] for place in places):
        assert adversary.observe(fewer, name, SEED) == adversary.observe(release, name, SEED)


def test_the_same_content_under_other_ids_is_drawn_apart():
    cells = [(item, 1.0, FIRST) for item in "abcdefghijklmnop"]
    release = released([(record, *cell) for record in "pq" for cell in cells])
    known = [tuple(so.Adversary(knows=8).observe(release, record, SEED)) for record in "pq"]
    assert known[0] != known[1]


BASE = {"knows": 6, "wrong": 1, "value_error": 1, "time_error": 14}


OTHERS = [
    {"wrong": 2}, {"wrong_facts": "items"}, {"value_error": 2}, {"time_error": 15}, {"items": "popular"},
    {"items": so.outside_top(2)}, {"items": so.outside_top(3)}, {"length_error": 0.5}, {"joined_error": 30},
    {"knows": 7},
]  # fmt: skip


def test_another_adversary_draws_something_else(release):
    for other in OTHERS:
        record = release.records[release.lengths.argmax()]
        one = so.Adversary(**BASE).observe(release, record, SEED)
        two = so.Adversary(**BASE | other).observe(release, record, SEED)
        assert [fact.item for fact in one] != [fact.item for fact in two]


def test_another_seed_draws_something_else(release):
    record = release.records[release.lengths.argmax()]
    draws = drawn(so.Adversary(**BASE), release, record, 50)
    assert len({tuple(aux) for aux in draws}) == 50
    assert draws == drawn(so.Adversary(**BASE), release, record, 50)
    assert so.Adversary(**BASE).observe(release, record) == draws[0]  # a seed that is not said is 0


EQUALS = [
    ({"value_error": 1}, {"value_error": 1.0}), ({"time_error": 14}, {"time_error": 14.0}),
    ({"length_error": 1}, {"length_error": 1.0}), ({"joined_error": 0}, {"joined_error": 0.0}),
    ({"items": "rarest"}, {"items": Choice("rarest")}), ({}, {"wrong": 0, "items": "any"}),
    ({"value_error": 0}, {"value_error": -0.0}),
]  # fmt: skip


def test_adversaries_who_are_equal_draw_the_same(release):
    for one, two in EQUALS:
        one, two = so.Adversary(**one), so.Adversary(**two)
        assert one == two and hash(one) == hash(two)
        record = release.records[release.lengths.argmax()]
        assert one.observe(release, record, SEED) == two.observe(release, record, SEED)


@pytest.mark.parametrize("items", CHOICES, ids=str)
def test_one_observed_alone_is_as_among_all(release, items):
    adversary = so.Adversary(**BASE | {"items": items})
    places = np.flatnonzero(adversary.eligible(release, range(release.n_records)))
    known = adversary.observe_all(release, places, SEED)
    for q in (0, 7, len(places) - 1):
        assert adversary.observe(release, release.records[places[q]], SEED) == known.aux(release, q)


def test_nobody_observed_is_nothing_known(release):
    known = so.Adversary().observe_all(release, [], SEED)
    assert len(known) == len(known.item) == 0
    assert len(so.ScoreboardRH().attacks(release, known)) == 0


# Who can be observed.


ROWS = st.dictionaries(
    st.tuples(st.sampled_from("pqrst"), st.sampled_from("vwxyz")),
    st.tuples(
        st.none() | st.sampled_from([1.0, 2.0, 5.0]),
        st.none() | st.integers(0, 30).map(lambda days: FIRST + timedelta(days=days)),
    ),
    min_size=1,
)


@settings(max_examples=150)
@given(
    cells=ROWS,
    knows=st.integers(1, 4),
    wrong=st.integers(0, 2),
    wrong_facts=st.sampled_from(["values", "items", "any items"]),
    items=st.sampled_from(["any", so.outside_top(1), so.outside_top(3), "rarest", "popular", "recent", "burst"]),
)
def test_exactly_the_eligible_can_be_observed(cells, knows, wrong, wrong_facts, items):
    release = released([(*pair, *cell) for pair, cell in cells.items()])
    adversary = so.Adversary(knows=knows, wrong=min(wrong, knows), wrong_facts=wrong_facts, items=items)
    try:
        eligible = adversary.eligible(release, range(release.n_records))
    except so.ParameterError:  # nobody can be observed at all
        eligible = np.zeros(release.n_records, bool)
    for place, can in enumerate(eligible):
        try:
            aux = adversary.observe(release, release.records[place], SEED)
        except so.ParameterError:
            assert not can
        else:
            assert can and len(aux) == knows


def test_eligible_are_those_with_enough_items_to_know(release):
    ranks = naive.ranks({(i, item): None for i, own in enumerate(told(release)) for item in own})
    everyone = range(release.n_records)
    assert so.Adversary(knows=9).eligible(release, everyone).tolist() == [len(own) >= 9 for own in told(release)]
    outside = [sum(ranks[item] > 30 for item in own) for own in told(release)]
    adversary = so.Adversary(knows=5, items=so.outside_top(30))
    assert adversary.eligible(release, everyone).tolist() == [count >= 5 for count in outside]
    fewer = so.Adversary(knows=5, wrong=3, wrong_facts="items", items=so.outside_top(30))
    assert fewer.eligible(release, everyone).tolist() == [count >= 2 for count in outside]
    assert adversary.eligible(release, [4, 2]).tolist() == [outside[4] >= 5, outside[2] >= 5]


def test_too_few_entries_are_a_clear_error():
    release = released([("p", "x", 1.0, FIRST), ("q", "x", 1.0, FIRST), ("q", "y", 1.0, FIRST)])
    with pytest.raises(so.ParameterError, match=r"a record has only 1 of the 2 entries .*eligible"):
        so.Adversary(knows=2).observe(release, "p")
    with pytest.raises(so.ParameterError, match="wrong items must come from outside the record"):
        so.Adversary(knows=1, wrong=1, wrong_facts="items").observe(release, "q")


# Releases of other kinds.


def test_categories_are_known_exactly_or_not_at_all():
    cells = {item: (kind, FIRST) for item, kind in zip("abcd", ["dvd", "tape", "dvd", "disc"], strict=True)}
    release = person(cells, kind="text")
    (aux,) = drawn(so.Adversary(knows=4), release, "p", 1)
    assert {fact.item: fact.value for fact in aux} == {item: kind for item, (kind, _) in cells.items()}
    (aux,) = drawn(so.Adversary(knows=4, value_error=None), release, "p", 1)
    assert {fact.value for fact in aux} == {None}
    with pytest.raises(so.ParameterError, match="value_error must be 0 or None"):
        so.Adversary(knows=4, value_error=1).observe(release, "p")


def test_a_wrong_category_is_any_other_with_equal_chance():
    release = person({"x": ("dvd", FIRST)} | {kind: (kind, FIRST) for kind in ("tape", "disc", "film")}, kind="text")
    draws = drawn(so.Adversary(knows=4, wrong=4, time_error=None, items="any"), release, "p", 300)
    values = [fact.value for aux in draws for fact in aux if fact.item == "x"]
    assert len(values) == 300
    assert_uniform(values, ["disc", "film", "tape"])


@pytest.mark.parametrize(("kind", "unit"), [(None, "day"), ("number", None), (None, None), ("text", None)])
def test_what_the_release_does_not_have_is_in_no_fact(kind, unit):
    value = {"number": 4.0, "text": "dvd", None: None}[kind]
    rows = [(record, item, value, FIRST if unit else None) for record in "pq" for item in "xyz"]
    release = released([*rows, ("q", "w", value, FIRST if unit else None)], kind, unit)
    for wrong in (0, 1):
        adversary = so.Adversary(knows=3, wrong=wrong, wrong_facts="items", time_error=3, joined_error=None)
        aux = adversary.observe(release, "p", SEED)
        assert {fact.value for fact in aux} == {value}
        assert {fact.time is None for fact in aux} == {unit is None}


@pytest.mark.parametrize(("kind", "unit", "unknown"), [
    (None, None, {}), ("number", None, {"value_error": None}), (None, "day", {"time_error": None}),
    ("number", "day", {"value_error": None, "time_error": None}),
])  # fmt: skip
def test_wrong_values_need_something_known_that_can_be_wrong(kind, unit, unknown):
    release = released([("p", "x", 4.0 if kind else None, FIRST if unit else None)], kind, unit)
    with pytest.raises(so.ParameterError, match=r"needs known values or dates.*wrong_facts='items'"):
        so.Adversary(knows=1, wrong=1, **unknown).observe(release, "p")


def test_a_column_of_values_that_is_empty_is_no_values():
    release = released([("p", "x", None, None), ("q", "y", None, None)], unit=None)
    with pytest.raises(so.ParameterError, match="needs known values or dates"):
        so.Adversary(knows=1, wrong=1).observe(release, "p")
    aux = so.Adversary(knows=1, wrong=1, wrong_facts="items").observe(release, "p")
    assert aux.facts == (so.Fact("y"),)


@pytest.mark.parametrize("items", ["recent", "burst"])
def test_recent_and_burst_need_times(items):
    release = released([("p", "x", 4.0, None)], unit=None)
    for ask in ("observe", "eligible"):
        with pytest.raises(so.ParameterError, match=f"items='{items}' needs dates"):
            getattr(so.Adversary(knows=1, items=items), ask)(release, "p" if ask == "observe" else [0])


# Bad input.

NUMBERS = ["value_error", "time_error", "length_error", "joined_error"]


def test_an_error_is_a_finite_number_from_0_on_or_none():
    for name, bad in product(NUMBERS, [-1, -0.001, float("nan"), float("inf"), -float("inf"), "1", True, [1], 1j]):
        with pytest.raises(so.ParameterError, match=f"^{name} must be a finite number ≥ 0, or None, got ") as caught:
            so.Adversary(**{name: bad})
        assert "\n" not in str(caught.value)


def test_counts_are_whole_numbers():
    for name, bad in [*product(["knows", "wrong"], [-1, 1.5, 2.0, "2", True, float("nan")]), ("wrong", None)]:
        with pytest.raises(so.ParameterError, match=f"^{name} must be a whole number ≥ [01], got "):
            so.Adversary(**{name: bad})


def test_numpys_numbers_are_numbers():
    given = so.Adversary(np.int64(4), np.uint8(1), value_error=np.float32(1), time_error=np.int32(14))
    assert given == so.Adversary(4, 1, value_error=1, time_error=14)
    assert given.key() == so.Adversary(4, 1, value_error=1, time_error=14).key()
    assert so.outside_top(np.int64(5)) == so.outside_top(5)


BAD = [
    ({"knows": 0}, "knows must be a whole number ≥ 1, got 0"),
    ({"knows": 2, "wrong": 3}, "wrong must be at most knows \\(2\\), got 3"),
    ({"wrong_facts": "dates"}, "wrong_facts must be values, items or any items, got 'dates'"),
    ({"wrong_facts": None}, "wrong_facts must be values, items or any items, got None"),
    ({"items": "all"}, r"items must be any, rarest, popular, recent, burst or outside_top\(k\), got 'all'"),
    ({"items": "outside_top"}, "items must be .*, got 'outside_top'"),
    ({"items": 500}, r"items must be a name or outside_top\(k\), got int"),
    ({"items": None}, "items must be .* got NoneType"),
    ({"items": Choice("all")}, "items must be"),
    ({"items": Choice("outside_top", 0)}, "outside_top"),
]


def test_what_makes_no_adversary_is_refused_by_name():
    for options, message in BAD:
        with pytest.raises(so.ParameterError, match=message) as caught:
            so.Adversary(**options)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "500", None])
def test_outside_top_takes_a_whole_number_from_1_on(bad):
    with pytest.raises(so.ParameterError, match="outside_top must be a whole number ≥ 1, got "):
        so.outside_top(bad)


@pytest.mark.parametrize("record", ["nobody", "", "007", 10**30])
def test_a_record_that_does_not_exist_cannot_be_observed(release, record):
    with pytest.raises(so.NotFoundError, match="no record with this id"):
        so.Adversary().observe(release, record)


def test_places_that_do_not_exist_are_a_clear_error(release):
    for ask, places in product(["observe_all", "eligible"], [[10_000], [-1], [0, 10**12], [-10_000]]):
        with pytest.raises(so.StandoutError, match="positions run from 0 to "):
            getattr(so.Adversary(knows=1), ask)(release, places)


def test_places_are_whole_numbers_and_never_ids(release):
    for ask, places in product(["observe_all", "eligible"], [["42"], [1.5], ["x"], [None]]):
        with pytest.raises(so.StandoutError):
            getattr(so.Adversary(knows=1), ask)(release, places)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None, True, 2**63])
def test_a_seed_is_a_whole_number(release, seed):
    with pytest.raises(so.ParameterError, match="seed must be a whole number"):
        so.Adversary(knows=1).observe(release, release.records[0], seed)


@pytest.mark.parametrize("name", ["time_error", "joined_error", "length_error"])
@pytest.mark.parametrize("error", [1e5, 1e7, 1e18, 1e300])
def test_an_error_however_large_gives_facts_or_a_clear_error(release, name, error):
    adversary = so.Adversary(knows=1, **{name: error})
    try:
        aux = adversary.observe(release, release.records[0], SEED)
    except so.StandoutError as refused:
        assert name in str(refused)
    else:
        assert len(aux) == 1
        assert so.ScoreboardRH().attack(release, aux).candidates == release.n_records or name == "time_error"


# Several draws.


@pytest.mark.parametrize("wrong_facts", ["values", "items"])
@pytest.mark.parametrize("items", CHOICES, ids=str)
def test_several_draws_are_the_same_items_with_other_errors_the_first_as_if_alone(release, items, wrong_facts):
    adversary = so.Adversary(
        knows=4, wrong=1, wrong_facts=wrong_facts, value_error=1, time_error=20, items=items, length_error=0.2
    )
    places = np.flatnonzero(adversary.eligible(release, range(release.n_records)))[:12]
    once, often = (adversary.observe_all(release, places, SEED, draws=draws) for draws in (1, 3))
    assert len(often) == 3 * len(once)
    own = told(release)
    for q, place in enumerate(places):
        auxes = [often.aux(release, 3 * q + d) for d in range(3)]
        assert auxes[0] == once.aux(release, q)
        assert len({(aux.length, aux.joined) for aux in auxes}) == 1
        right = [[fact.item for fact in aux if fact.item in own[place]] for aux in auxes]
        if wrong_facts == "values":
            assert right[0] == right[1] == right[2]
        else:  # and the wrong one stands anywhere among them
            assert all(sorted(some) == sorted(right[0]) and len(some) == 3 for some in right)
    noisy = [often.aux(release, 3 * q).facts != often.aux(release, 3 * q + 1).facts for q in range(len(places))]
    assert sum(noisy) > len(places) / 2


@pytest.mark.parametrize("draws", [0, -1, 1.5, True, "2", None])
def test_draws_are_a_whole_number(release, draws):
    with pytest.raises(so.ParameterError, match="draws must be a whole number ≥ 1"):
        so.Adversary(knows=2).observe_all(release, [0], draws=draws)


@pytest.mark.parametrize(
    ("adversary", "words"),
    [
        (so.Adversary(), "8 facts, values exact, dates exact"),
        (so.Adversary(knows=8, wrong=2, value_error=1, time_error=14), "8 facts, 2 wrong, values ± 1, dates ± 14 days"),
        (
            so.Adversary(4, 1, "items", None, None, so.outside_top(500), 0.5, 30),
            "4 facts, 1 wrong items, outside top(500), no values, no dates, length ± 50%, joined ± 30 days",
        ),
    ],
)
def test_an_adversary_in_few_words(adversary, words):
    assert str(adversary) == words
