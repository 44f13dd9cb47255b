"""What an adversary draws from records that have items several times: entries, not items."""

from collections import Counter
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from adversary_cases import assert_shares
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
import standout as so

FIRST = date(2005, 3, 1)
SCHEMA = {"record": pl.String, "item": pl.String, "value": pl.Float64, "time": pl.Date}
ROWS = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.sampled_from("wxyz"),
        st.none() | st.sampled_from([1.0, 2.0, 4.0]),
        st.none() | st.integers(0, 9).map(lambda day: FIRST + timedelta(days=day)),
    ),
    min_size=4,
    max_size=40,
)
CHOICES = ["any", "rarest", "popular", "recent", "burst", so.outside_top(1)]
RECORD = [
    ("x", 1.0, FIRST),
    ("x", 1.0, FIRST),
    ("x", 2.0, FIRST + timedelta(days=3)),
    ("y", 1.0, FIRST + timedelta(days=1)),
    ("z", 4.0, FIRST + timedelta(days=9)),
]
"""An entry twice, a third one of the same item, and two of other items."""
OTHERS = [("b", item) for item in "xxyyyw"] + [("c", "y"), ("c", "x"), ("d", "y"), ("d", "v"), ("e", "v")]


def read(rows, repeats="keep"):
    return so.read(pl.DataFrame(rows, schema=SCHEMA, orient="row"), repeats=repeats)


def person():
    """A release of the record "a" and of others, some of whom have an item several times."""
    return read([("a", *entry) for entry in RECORD] + [(*pair, 1.0, FIRST) for pair in OTHERS])


def supports(rows):
    return Counter(item for _, item in {row[:2] for row in rows})


def told(aux):
    return tuple((fact.item, fact.value, fact.time) for fact in aux)


def choice_of(items):
    return (items, 0) if isinstance(items, str) else (items.name, items.top)


@given(rows=ROWS, items=st.sampled_from(CHOICES), knows=st.integers(1, 5), seed=st.integers(0, 99))
def test_exact_facts_are_different_entries_of_the_record(rows, items, knows, seed):
    assume(any(row[3] for row in rows))
    release, adversary = read(rows), so.Adversary(knows=knows, items=items)
    eligible = adversary.eligible(release, range(release.n_records))
    for place, record in enumerate(release.records):
        entries = [row[1:] for row in rows if row[0] == record]
        can_be_known = naive.eligible_entries(entries, *(name := choice_of(items))[:1], supports(rows), name[1])
        assert eligible[place] == (len(can_be_known) >= knows)
        if eligible[place]:
            facts = told(adversary.observe(release, record, seed=seed))
            assert len(facts) == knows and Counter(facts) <= Counter(can_be_known)


def test_outside_the_most_popular_items_every_entry_counts():
    rows = [("a", "x", 1.0, FIRST), *3 * [("a", "y", 1.0, FIRST)], ("b", "x", 1.0, FIRST), ("b", "z", 1.0, FIRST)]
    release, support = read(rows), supports(rows)
    for knows in range(1, 5):
        eligible = so.Adversary(knows=knows, items=so.outside_top(1)).eligible(release, range(2))
        entries = ([row[1:] for row in rows if row[0] == record] for record in "ab")
        counts = [len(naive.eligible_entries(own, "outside_top", support, 1)) for own in entries]
        assert counts == [3, 1] and eligible.tolist() == [count >= knows for count in counts]


@pytest.mark.parametrize("items", CHOICES, ids=str)
def test_entries_become_known_as_often_as_their_slow_twin_says(items):
    release, (name, top) = person(), choice_of(items)
    support = supports([("a", *entry) for entry in RECORD] + OTHERS)
    assert support == dict(zip(release.items, release.support.tolist(), strict=True))
    chances = naive.draw_chances(RECORD, name, 2, support, top)
    draws = [told(so.Adversary(knows=2, items=items).observe(release, "a", seed=seed)) for seed in range(1_500)]
    assert_shares(draws, {facts: float(chance) for facts, chance in chances.items()})


def test_what_people_do_often_is_known_more_often():
    rows = [("a", "bread", 1.0, FIRST + timedelta(days=day)) for day in range(9)]
    release = read([*rows, ("a", "wine", 1.0, FIRST)])
    draws = [so.Adversary(knows=1).observe(release, "a", seed=seed).facts[0].item for seed in range(600)]
    assert_shares(draws, {"bread": 9, "wine": 1})


@pytest.mark.parametrize("wrong_facts", ["items", "any items"])
def test_wrong_items_are_outside_the_record_whatever_repeats_in_it(wrong_facts):
    release, adversary = person(), so.Adversary(knows=3, wrong=1, wrong_facts=wrong_facts)
    support = supports([("a", *entry) for entry in RECORD] + OTHERS)
    draws = [adversary.observe(release, "a", seed=seed) for seed in range(400)]
    wrong = [[fact.item for fact in aux if fact.item not in "xyz"] for aux in draws]
    assert all(len(items) == 1 for items in wrong)
    chances = naive.wrong_item_chances(RECORD, support, wrong_facts == "items")
    assert_shares([item for (item,) in wrong], {item: float(share) for item, share in chances.items()})


def test_a_record_lacks_as_many_items_as_there_are_whatever_repeats_in_it():
    release = person()  # "a" has 5 entries of 3 of the 5 items
    fits = so.Adversary(knows=2, wrong=2, wrong_facts="items").eligible(release, [0])
    too_many = so.Adversary(knows=3, wrong=3, wrong_facts="items").eligible(release, [0])
    assert (fits.tolist(), too_many.tolist()) == ([True], [False])


@pytest.mark.parametrize("wrong", [0, 2])
def test_a_fact_is_right_or_wrong_about_an_entry_of_its_own(wrong):
    days = [0, 40, 80, 120]
    rows = [("a", "x", 1.0, FIRST + timedelta(days=day)) for day in days]
    release = read([*rows, ("b", "x", 5.0, FIRST), ("b", "y", 3.0, FIRST + timedelta(days=160))])
    adversary = so.Adversary(knows=4, wrong=wrong, value_error=1, time_error=5)
    for seed in range(40):
        facts = adversary.observe(release, "a", seed=seed).facts
        assert all(fact.item == "x" for fact in facts)
        right = [fact for fact in facts if abs(fact.value - 1.0) <= 1]  # a wrong value is 3 or 5
        assert len(right) == 4 - wrong
        nearest = [min(days, key=lambda day, fact=fact: abs((fact.time - FIRST).days - day)) for fact in right]
        assert len({*nearest}) == len(right)
        assert all(abs((fact.time - FIRST).days - day) <= 5 for fact, day in zip(right, nearest, strict=True))


def test_a_known_length_counts_entries():
    aux = so.Adversary(knows=1, length_error=0).observe(person(), "a")
    assert aux.length == (5, 5)


@pytest.mark.once
@settings(max_examples=15)
@given(rows=ROWS)
def test_without_repeated_rows_keeping_repeats_changes_no_byte_of_a_simulation(rows):
    rows = list({row[:2]: row for row in rows}.values())
    keep, last = read(rows), read(rows, "last")
    assume(keep.lengths.max() >= 2)
    assert keep.fingerprint == last.fingerprint
    adversary = so.Adversary(knows=2)
    places = np.flatnonzero(adversary.eligible(keep, range(keep.n_records)))
    one, other = (adversary.observe_all(release, places, 3) for release in (keep, last))
    for name in ("first", "item", "value", "time", "timed", "length", "joined"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
    for attack in (so.ScoreboardRH(), so.Likelihood()):
        cells = [
            so.simulate(release, adversary, attack=attack, targets="all", seed=5).cell() for release in (keep, last)
        ]
        first, second = (vars_of(cell.outcomes) for cell in cells)
        assert first == second


def vars_of(outcomes):
    return {name: getattr(outcomes, name).tobytes() for name in outcomes.__dataclass_fields__}
