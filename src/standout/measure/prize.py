"""The Netflix Prize: how much de-anonymised records improve a recommender's error  [appendix, Netflix Prize].

The true ratings of a de-anonymised subscriber are known, so the error is 0. Let a share f of the records be
de-anonymised, each with the same number of test ratings, and let x be the RMSE without that.

    the paper's reading    RMSE(f) = x · (1 − f)       "assuming that … RMSE behaves roughly linearly"
    exact                  RMSE(f) = x · √(1 − f)      because squared errors are averaged

The paper says "1/0.87 = 1.14 % of de-anonymized records, then the RMSE score improves by 1 %". That is the
first formula with an improvement of 0.01 in RMSE itself, 0.87 → 0.86 (1.149 %, truncated); an improvement by
1 % of 0.87 would take 1 % of the records. By the exact formula it takes twice as many: 2.29 % of the
records, and 1.99 % for 1 % of 0.87.
"""

import math
from numbers import Real
from typing import Any

from standout.core.errors import ParameterError

__all__ = ["RMSE", "improvement", "share"]

RMSE = 0.87
"""The best RMSE of November 2007."""


def share(improvement: float, rmse: float = RMSE, *, relative: bool = False, linear: bool = False) -> float:
    """Share of records to de-anonymise for a given improvement of the RMSE.

    f = 1 − (1 − y/x)²; in the paper's linear reading y/x.

    Parameters
    ----------
    improvement
        y, in units of RMSE (0.01 takes 0.87 to 0.86).
    rmse
        x, the RMSE without de-anonymised records.
    relative
        Whether the improvement is a share of x instead (0.01 takes 0.87 to 0.8613).
    linear
        Whether to use the paper's linear reading.

    Returns
    -------
    float
        f, the share of records.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> round(share(0.01, linear=True), 5), round(share(0.01), 5)
    (0.01149, 0.02286)
    >>> round(share(0.01, relative=True, linear=True), 5), round(share(0.01, relative=True), 5)
    (0.01, 0.0199)
    """
    most = 1.0 if relative else _number("rmse", rmse, 0.0, math.inf, above=True)
    part = _number("improvement", improvement, 0.0, most) / most
    return part if linear else part * (2 - part)


def improvement(share: float, rmse: float = RMSE, *, relative: bool = False, linear: bool = False) -> float:
    """Improvement of the RMSE if a given share of the records is de-anonymised.

    y = x · (1 − √(1 − f)); in the paper's linear reading x · f.

    Parameters
    ----------
    share
        f, the share of records, from 0 to 1.
    rmse
        x, the RMSE without de-anonymised records.
    relative
        Whether to return a share of x.
    linear
        Whether to use the paper's linear reading.

    Returns
    -------
    float
        y, the improvement.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> round(improvement(0.0114), 4), round(improvement(0.0114, linear=True), 4)
    (0.005, 0.0099)
    """
    known = _number("share", share, 0.0, 1.0)
    part = known if linear else known / (1 + math.sqrt(1 - known))  # 1 − √(1 − f) without cancellation
    return part if relative else part * _number("rmse", rmse, 0.0, math.inf, above=True)


def _number(name: str, number: Any, low: float, high: float, above: bool = False) -> float:
    fits = isinstance(number, Real) and not isinstance(number, bool) and math.isfinite(number)
    if not fits or not low <= number <= high or (above and number == low):
        ends = f"a finite number above {low:g}" if above else f"a number from {low:g} to {high:g}"
        raise ParameterError(f"{name} must be {ends}, got {number!r}")
    return float(number)
