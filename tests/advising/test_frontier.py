"""Which candidates are worth trying."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advising.samples import candidate, steps
from standout.advising.candidates import (
    Point,
    frontier,
    propose_combinations,
    select_for_full_stage,
    step_family,
    undominated,
)

pytestmark = pytest.mark.once


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_the_frontier_has_exactly_the_candidates_that_no_other_beats(pairs):
    every = [Point((at,), identified / 6, kept / 6) for at, (identified, kept) in enumerate(pairs)]

    def is_beaten(each):
        others = [other for other in every if other[1:] != each[1:]]
        return any(other.risk <= each.risk and other.utility >= each.utility for other in others)

    unbeaten = {each[1:] for each in every if not is_beaten(each)}
    assert {each[1:] for each in undominated(every)} == unbeaten


def test_the_frontier_goes_from_the_highest_risk_to_the_lowest():
    candidates = [
        candidate([], 0.9, 1.0),
        candidate(["drop-entries 0.5"], 0.5, 0.6),
        candidate(["drop-entries 0.9"], 0.1, 0.2),
        candidate(["cap-records 5"], 0.6, 0.5),
    ]
    names = [each.name for each in frontier(candidates)]
    assert names == ["as it is", "drop-entries 0.5", "drop-entries 0.9"]


def test_combinations_are_proposed_by_the_effects_of_their_parts():
    candidates = [
        candidate([], 0.9, 1.0),
        candidate(["round-time none"], 0.6, 1.0),
        candidate(["round-time year"], 0.8, 1.0),
        candidate(["drop-entries 0.5"], 0.45, 0.7),
        candidate(["cluster-records 5"], 0.2, 0.6),
    ]
    tried = {each.steps: each for each in candidates}
    proposed = propose_combinations(tried, 0.1, 6)
    assert 0 < len(proposed) <= 6 and not {*proposed} & {*tried}
    for combination in proposed:
        assert len({step_family(step) for step in combination}) == len(combination) >= 2
    # expected: log-odds 2.2 − 1.8 − 2.4, so 0.12 identified, and 0.7 of the utility kept
    assert proposed[0] == steps("round-time none", "drop-entries 0.5")
    tried |= {each: candidate(list(map(str, each)), 0.5, 0.5) for each in proposed}
    assert not {*propose_combinations(tried, 0.1, 6)} & {*proposed}


def test_half_of_the_full_stage_has_the_highest_utility_below_the_limit():
    candidates = [candidate([f"drop-entries 0.{n}"], 0.5 - 0.05 * n, 1 - 0.1 * n) for n in range(1, 10)]
    names = {each.name for each in select_for_full_stage(candidates, 0.3, 1000, 4)}
    assert names == {"drop-entries 0.5", "drop-entries 0.6", "drop-entries 0.4", "drop-entries 0.3"}
