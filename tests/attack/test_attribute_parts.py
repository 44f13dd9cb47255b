"""What the item, the value and the date of a fact add: the differences that they make, which add up."""

from dataclasses import replace
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from attack_cases import attacked, data, examples, known, someone

ATTACKS = [so.Likelihood(), so.ScoreboardRH(), so.Scoreboard(so.Decay(), alpha=0.5)]


def reduced(aux, *known):
    """The same aux with only some attributes of each fact known."""
    missing = {name: None for name in ("value", "time") if name not in known}
    return replace(aux, facts=[replace(fact, **missing) for fact in aux])


def check_parts(attack, release, aux, exclude):
    """Each attribute adds the difference between two attacks, and they add up to the part."""
    verdict, by_item, by_value = (
        attack.attack(release, facts, exclude=exclude) for facts in (aux, reduced(aux), reduced(aux, "value"))
    )
    for record in release.records:
        rows = zip(*(each.explain(record) for each in (verdict, by_item, by_value)), strict=True)
        for part, with_item, with_value in rows:
            assert part.by_item == pytest.approx(with_item.score, rel=1e-9, abs=1e-9)
            assert part.by_item + part.by_value == pytest.approx(with_value.score, rel=1e-9, abs=1e-9)
            total = sum(map(Fraction, (part.by_item, part.by_value, part.by_time)))
            assert float(total) == pytest.approx(part.score, abs=1e-12)
            is_fine = part.by_item > 2**52 * verdict.queries.step[0]  # dates so far off that scores are tiny
            if not isinstance(attack, so.Scoreboard) and not is_fine:
                assert total == Fraction(part.score)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: type(attack).__name__)
@examples(30, 5)
@given(drawn=st.data())
def test_attributes_add_the_difference_they_make_and_add_up_to_the_part(attack, drawn):
    made, aux, exclude = attacked(drawn)
    check_parts(attack, made.read(), aux, exclude)


@examples(30, 4)
@given(drawn=st.data())
def test_attributes_of_repeated_items_add_up_too(drawn):
    made = drawn.draw(data(repeats="keep"))
    aux, exclude = drawn.draw(known(made)), drawn.draw(st.none() | someone(made))
    for attack in ATTACKS:
        check_parts(attack, made.read(), aux, exclude)


def test_a_value_that_does_not_fit_takes_away_what_the_item_adds():
    release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    entry = release.record("42").entries[0]
    wrong = so.Fact(entry.item, value=entry.value % 5 + 1, time=date(2005, 1, 1), value_error=0, doubt=0)
    [part] = so.Likelihood().attack(release, so.Aux([wrong])).explain("42")
    assert part.by_item > 0 > part.by_value and part.score == part.by_item + part.by_value + part.by_time == 0


def test_an_item_that_nobody_has_adds_nothing():
    release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    aux = so.Aux([so.Fact("nowhere", 4), so.Fact("1", 4)])
    for attack in ATTACKS:
        part, _ = attack.attack(release, aux).explain("42")
        assert (part.by_item, part.by_value, part.by_time) == (0, 0, 0)
