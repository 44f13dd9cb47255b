"""Reference implementation of claims: counted one by one, with φ chosen by trying.

A target is (strength of the claim, whether the claimed record is correct, strength of the claim if absent), a
list of such triples if there are several draws.
"""

import math

__all__ = [
    "bits_left_of_failures",
    "calibration_bias",
    "claim_shares",
    "correct_claims_interval",
    "phi_for",
    "shares_within_budget",
    "wilson",
]

Z = 1.959963984540054


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


def wilson(share, n):
    """The ends of Wilson's interval: where |share − p| = z √(p(1 − p)/n)."""
    middle, root = share + Z * Z / (2 * n), Z * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return max((middle - root) / (1 + Z * Z / n), 0.0), min((middle + root) / (1 + Z * Z / n), 1.0)


def correct_claims_interval(targets, budget):
    """The interval of the correct claims within a budget: the error of a share, and that of φ."""
    n, draws = len(targets), len(targets[0])
    value = shares_within_budget(targets, budget)[1]

    def correct_claims_with(absent_claims):
        if absent_claims < 0:
            return 0.0
        place = absent_claims * draws
        low, high = (claim_shares(targets, phi_for(targets, math.floor(place) + more))[0] for more in (0, 1))
        return low * (1 - place % 1) + high * (place % 1)

    share = max(budget, 1 / (n + 1))
    lowest = correct_claims_with(n * budget - Z * math.sqrt(n * budget * (1 - budget)))
    highest = correct_claims_with(n * share + Z * math.sqrt(n * share * (1 - share)))
    low, high = wilson(value, n)
    below = math.sqrt((value - low) ** 2 + max(value - lowest, 0) ** 2)
    above = math.sqrt((high - value) ** 2 + max(highest - value, 0) ** 2)
    return max(value - below, 0.0), min(value + above, 1.0)


def bits_left_of_failures(targets):
    """The mean bits left of wrong guesses; a target is a list of (chance of a right guess, bits left)."""
    draws = [draw for target in targets for draw in target]
    wrong = math.fsum(1 - right for right, _ in draws)
    return math.fsum((1 - right) * bits for right, bits in draws) / wrong if wrong else 0.0


def calibration_bias(said, right, t):
    """Mean probability minus share of right guesses, with Newcombe's interval; t is Student's quantile."""
    n = len(said)
    mean_said, mean_right = math.fsum(said) / n, math.fsum(right) / n
    square_said = math.fsum((x - mean_said) ** 2 for x in said)
    square_right = math.fsum((y - mean_right) ** 2 for y in right)
    product = math.fsum((x - mean_said) * (y - mean_right) for x, y in zip(said, right, strict=True))
    correlation = product / math.sqrt(square_said * square_right) if square_said * square_right else 0.0
    reach = t * math.sqrt(square_said / (n - 1) / n)
    low, high = wilson(mean_right, n)
    below, above = (
        math.sqrt(reach**2 + error**2 - 2 * correlation * reach * error)
        for error in (high - mean_right, mean_right - low)
    )
    bias = mean_said - mean_right
    return bias - below, bias, bias + above
