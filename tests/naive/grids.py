"""Cells of a grid of facts and errors, and the risk above a control, in plain Python."""

__all__ = ["residual_risk", "strongest_by_halves"]


def strongest_by_halves(successes):
    """Mean success if each target is attacked with what is best for the targets at places of other parity.

    `successes` maps attacks to lists of successes of the same targets. Of equally good attacks "likelihood"
    counts, then the first.
    """
    n = len(next(iter(successes.values())))
    total = 0.0
    for place in range(n):
        others = [other for other in range(n) if other % 2 != place % 2]
        sums = {name: sum(success[other] for other in others) for name, success in successes.items()}
        best = [name for name in sums if sums[name] == max(sums.values())]
        total += successes["likelihood" if "likelihood" in best else best[0]][place]
    return total / n


def residual_risk(main, control, n, z=1.959963984540054):
    """Anonymeter's residual success of two counts of n, with Wilson's ends inserted one at a time."""
    if control == n:
        return None

    def wilson(count):
        share = count / n
        middle, reach = share + z * z / (2 * n), z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
        low, high = ((middle + sign * reach) / (1 + z * z / n) for sign in (-1, 1))
        return share, 0.0 if count == 0 else low, 1.0 if count == n else high

    def risk(attack, guess):
        return (attack - guess) / (1 - guess)

    (m, m_low, m_high), (c, c_low, c_high) = wilson(main), wilson(control)
    value = risk(m, c)
    below = ((value - risk(m_low, c)) ** 2 + (value - risk(m, c_high)) ** 2) ** 0.5
    above = ((value - risk(m_high, c)) ** 2 + (value - risk(m, c_low)) ** 2) ** 0.5
    return tuple(min(max(end, 0.0), 1.0) for end in (value, value - below, value + above))
