"""Estimates in JSON: a plain object without the infinities and NaNs that JSON lacks."""

import math

from standout.evaluate.estimates import Estimate

__all__ = ["estimate_json"]


def estimate_json(estimate: Estimate) -> dict[str, float | None]:
    """An estimate as findings.json stores it; an interval end that is not finite becomes None."""
    return {
        "value": estimate.value,
        "low": _finite(estimate.low),
        "high": _finite(estimate.high),
        "n": estimate.n,
        "baseline": estimate.baseline,
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
