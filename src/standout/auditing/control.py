"""The control of an adversary: the same attack on people who are not in the data.

As in Anonymeter (Giomi et al., PoPETs 2023), a main attack on people in the data is compared with a control
attack on people who are not in it. Here the control is each target after its record is removed. A claim about
somebody who is not in the data is always wrong, so the control shows how often the adversary is sure without
reason.
"""

import math

import numpy as np

from standout.evaluate.cell import SimulationCell
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.paired import paired_difference
from standout.findings.adversaries import Control

__all__ = ["control_of", "residual"]


def control_of(cell: SimulationCell) -> Control:
    """Correct claims about targets in the data, claims about the same targets without their records."""
    outcomes, threshold = cell.outcomes, cell.threshold.strength
    is_correct = (outcomes.claim_strength >= threshold) & (outcomes.identified == 1.0)
    main = np.asarray(is_correct.mean(axis=1))
    control = np.asarray((outcomes.absent_claim_strength >= threshold).mean(axis=1))
    n = len(main)
    main_rate, control_rate = (rate(min(math.fsum(of), n), n) for of in (main, control))
    return Control(
        main=main_rate,
        control=control_rate,
        difference=paired_difference(main, control),
        residual=residual(main_rate, control_rate),
    )


def residual(main: Estimate, control: Estimate) -> Estimate | None:
    """Anonymeter's risk: (main − control) / (1 − control), at least 0; None if the control always claims.

    The ends of its interval combine how far it moves with each end of the main and of the control rate, as
    Newcombe's interval of a difference does.

    >>> round(residual(rate(90, 100), rate(20, 100)).value, 3)
    0.875
    """
    if control.value >= 1.0:
        return None
    value = _residual(main.value, control.value)
    below = math.hypot(
        value - _residual(main.low, control.value), value - _residual(main.value, control.high)
    )
    above = math.hypot(
        value - _residual(main.high, control.value), value - _residual(main.value, control.low)
    )
    low, middle, high = (min(max(end, 0.0), 1.0) for end in (value - below, value, value + above))
    return Estimate(middle, low, high, main.n)


def _residual(main: float, control: float) -> float:
    return (main - control) / (1.0 - control) if control < 1.0 else -math.inf
