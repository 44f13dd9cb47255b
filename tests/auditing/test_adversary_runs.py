"""The attacks of an audit: where a curve ends."""

import pytest

import standout as so
from auditing.audit_samples import ACQUAINTANCE, people
from standout.auditing.runs import curve_adversary

pytestmark = pytest.mark.once


def test_a_curve_ends_where_half_of_the_records_have_enough_items():
    adversary = ACQUAINTANCE
    half_long = people(items=40, length=lambda r: 5 if r % 2 else 20)
    longest, sizes = curve_adversary(adversary, half_long, [1, 2, 4, 8, 16])
    assert (longest.knows, longest.wrong, sizes) == (16, 4, (1, 2, 4, 8, 16))
    third_long = people(items=40, length=lambda r: 5 if r % 3 else 20)
    longest, sizes = curve_adversary(adversary, third_long, [2, 4, 8])
    assert (longest.knows, longest.wrong, sizes) == (4, 1, (2, 4))
    assert curve_adversary(adversary, people(length=lambda r: 1), [2, 4])[1] == (1,)


def test_a_curve_has_no_wrong_facts_if_no_other_item_can_be_wrong():
    liar, full = so.Adversary(knows=2, wrong=2, wrong_facts="items"), people(items=3, length=lambda r: 3)
    assert curve_adversary(liar, full, [2, 4]) == (so.Adversary(knows=1), (1,))
