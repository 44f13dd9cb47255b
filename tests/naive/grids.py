"""Cells of a grid of facts and errors, in plain Python."""

__all__ = ["strongest_by_halves"]


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
