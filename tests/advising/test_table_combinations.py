"""The combinations that are proposed for a table: the frontier of all of them, as brute force finds it."""

import math
from itertools import product

import numpy as np
import pytest

import standout as so
from advising.tables_to_advise import MENU
from standout.advising.candidates import (
    Candidate,
    IdentificationRisk,
    effect_slope,
    expected_frontier,
    families,
    log_point,
    propose_combinations,
    step_effects,
    step_family,
)
from standout.evaluate.estimates import Estimate, rate
from standout.sanitizing.utility import Utility

pytestmark = pytest.mark.once


def candidate(texts, identified, kept, bits=10.0):
    counted = Estimate(kept, kept, kept, 100, 0.0)
    estimates = dict.fromkeys(("kept", "information", "rows_kept"), counted)
    estimates["bits"] = Estimate(bits, bits, bits, 100, 0.0)
    utility = Utility(steps=tuple(texts), estimates=estimates)
    risk = rate(identified * 500, 500)
    return Candidate(tuple(map(so.step, texts)), IdentificationRisk(risk, risk, ""), utility, "quick")


def tried(*candidates):
    return {each.steps: each for each in candidates}


SINGLES = [candidate([text], 0.5 - 0.06 * at, 0.95 - 0.07 * at) for at, text in enumerate(MENU)]
TRIED = tried(candidate([], 0.6, 1.0), *SINGLES)


def by_brute_force(effects):
    """All combinations of one step of each family at most that no other dominates."""
    start = log_point(TRIED[()])
    every = []
    columns, classes = families(effects)
    for chosen in product(*([None, *family] for family in [*columns, classes])):
        steps = tuple(step for step in chosen if step is not None)
        if not (so.step("drop-column zip") in steps and so.step(MENU[-1]) in steps):
            odds = start.risk + math.fsum(effects[step].risk for step in steps)
            utility = math.exp(start.utility + math.fsum(effects[step].utility for step in steps))
            every.append((1 / (1 + math.exp(-odds)), utility, steps))
    return {
        steps: (risk, utility)
        for risk, utility, steps in every
        if not any(other[0] <= risk and other[1] > utility for other in every)
    }


def test_theexpected_frontier_is_that_of_all_combinations():
    effects = step_effects(TRIED, 0.5)
    expected = {each.steps: each for each in expected_frontier(TRIED, effects)}
    by_hand = {steps: point for steps, point in by_brute_force(effects).items() if len(steps) >= 2}
    assert expected.keys() == by_hand.keys() and len(expected) >= 3
    for steps, each in expected.items():
        assert np.allclose((each.risk, each.utility), by_hand[steps])


def test_proposed_combinations_are_new_and_take_one_step_of_each_family():
    proposed = propose_combinations(TRIED, 0.1, 8, 0.5)
    assert 0 < len(proposed) <= 8 and not {*proposed} & {*TRIED}
    for steps in proposed:
        assert len({step_family(step) for step in steps}) == len(steps) >= 2
        assert not {so.step("drop-column zip"), so.step(MENU[-1])} <= {*steps}
    more = TRIED | tried(*(candidate(list(map(str, steps)), 0.2, 0.5) for steps in proposed))
    assert not {*propose_combinations(more, 0.1, 8, 0.5)} & {*proposed}


def test_measured_combinations_correct_what_is_expected_of_others():
    effects = step_effects(TRIED, 0.5)
    assert effect_slope(TRIED, effects) == 1.0
    steps = (so.step(MENU[0]), so.step(MENU[2]))
    odds = log_point(TRIED[()]).risk + 0.5 * sum(effects[step].risk for step in steps)
    weak = candidate(list(map(str, steps)), 1 / (1 + math.exp(-odds)), 0.8)
    assert np.isclose(effect_slope(TRIED | tried(weak), effects), 0.5, atol=0.01)


def test_where_everybody_is_identified_lost_bits_say_which_step_helps():
    saturated = tried(candidate([], 1.0, 1.0), candidate([MENU[0]], 1.0, 0.9, 8.0), candidate([MENU[2]], 1.0, 0.9))
    effects = step_effects(saturated, 0.5)
    assert np.isclose(effects[so.step(MENU[0])].risk, -math.log(2) * 2 * 0.5)
    assert effects[so.step(MENU[2])].risk == 0
