"""Reference implementation of claims: counted one by one, with φ chosen by trying.

A target is (strength of the claim, whether the claimed record is correct, strength of the claim if absent), a
list of such triples if there are several draws.
"""

import math

__all__ = ["bits_left_of_failures", "claim_shares", "phi_for", "shares_within_budget"]


def claim_shares(targets, phi):
    """The shares of correct claims, wrong claims, and claims about absent targets at φ."""
    draws = [draw for target in targets for draw in target]
    correct = sum(strength >= phi and right for strength, right, _ in draws)
    wrong = sum(strength >= phi and not right for strength, right, _ in draws)
    absent = sum(strength >= phi for _, _, strength in draws)
    return tuple(count / len(draws) for count in (correct, wrong, absent))


def phi_for(targets, allowed):
    """The smallest φ that claims at most so many absent targets: 0, or just above one of their strengths."""
    strengths = [strength for target in targets for _, _, strength in target]
    above = [math.nextafter(strength * (1 + 1e-5), math.inf) for strength in strengths if strength >= 0]
    for phi in sorted([0.0, *above]):
        if sum(strength >= phi for strength in strengths) <= allowed:
            return phi
    raise AssertionError("above the highest strength nothing is claimed")


def shares_within_budget(targets, budget):
    """The φ of all targets, and the shares of correct claims and absent claims at the φ of all others."""
    draws = len(targets[0])
    allowed = max(math.floor(budget * (len(targets) + 1) * draws + 1e-9) - draws, 0)
    correct, absent = [], []
    for number, target in enumerate(targets):
        phi = phi_for(targets[:number] + targets[number + 1 :], allowed)
        shares = claim_shares([target], phi)
        correct.append(shares[0])
        absent.append(shares[2])
    return phi_for(targets, allowed), math.fsum(correct) / len(targets), math.fsum(absent) / len(targets)


def bits_left_of_failures(targets):
    """The mean bits left of wrong guesses; a target is a list of (chance of a right guess, bits left)."""
    draws = [draw for target in targets for draw in target]
    wrong = math.fsum(1 - right for right, _ in draws)
    return math.fsum((1 - right) * bits for right, bits in draws) / wrong if wrong else 0.0
