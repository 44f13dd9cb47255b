"""The number of trials that prove a rate agrees with counting up, and proves it as often as promised."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.sample_size import chance_to_prove, naive_trials_to_prove, wilson_end
from standout.core.errors import ParameterError
from standout.evaluate.estimates import rate, trials_to_prove

pytestmark = pytest.mark.once


@settings(deadline=None, max_examples=40)
@given(limit=st.floats(0.02, 0.95), part=st.floats(0, 0.8))
def test_the_number_of_trials_is_the_first_whose_interval_ends_within_the_limit(limit, part):
    share = part * limit
    n = trials_to_prove(share, limit)
    assert abs(n - naive_trials_to_prove(share, limit)) <= 1  # they may round a tie differently
    assert rate(share * n, n).high <= limit
    assert n <= 2 or rate(share * (n - 2), n - 2).high > limit
    assert wilson_end(share, n) == pytest.approx(rate(share * n, n).high)


@pytest.mark.parametrize(("share", "limit"), [(0.035, 0.05), (0.1, 0.2), (0.3, 0.4), (0.6, 0.75)])
def test_trials_prove_the_limit_about_as_often_as_promised(share, limit):
    for chance in (0.5, 0.8, 0.95):
        n = trials_to_prove(share, limit, chance)
        assert chance_to_prove(share, limit, n) == pytest.approx(chance, abs=0.08)
    assert trials_to_prove(share, limit, 0.5) < trials_to_prove(share, limit, 0.8)


@pytest.mark.parametrize(
    ("share", "limit", "chance", "message"),
    [
        (0.05, 0.05, 0.5, "share"),
        (-0.1, 0.05, 0.5, "share"),
        (0.1, 1.0, 0.5, "limit"),
        (0.1, 0.2, 1.0, "chance"),
        (0.1, 0.2, 0.4, "chance"),
    ],
)
def test_a_share_at_the_limit_cannot_be_proven_below_it(share, limit, chance, message):
    with pytest.raises(ParameterError, match=message):
        trials_to_prove(share, limit, chance)
