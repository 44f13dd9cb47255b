"""One known fact about a target, with its own errors if they are known."""

import sys
from dataclasses import dataclass
from datetime import date
from numbers import Integral, Real
from typing import Any, NamedTuple

from standout.core.errors import ParameterError, fact_value

__all__ = ["ALLOWED_ERRORS", "AS_ASSUMED", "DOUBTFUL", "Fact", "FactErrors", "is_error"]

DOUBTFUL = 0.5
"""Probability that value and date are wrong, of a fact that is only called doubtful."""

LARGEST = {"value_error": sys.float_info.max, "time_error": 36_525.0, "doubt": 1.0}
ALLOWED_ERRORS = {"value_error": "≥ 0", "time_error": "from 0 to 36,525 days", "doubt": "from 0 to below 1"}


class FactErrors(NamedTuple):
    """Errors of one fact, as in `Fact`; None: as the attack assumes for all facts."""

    value_error: float | None = None
    time_error: float | None = None
    doubt: float | None = None


AS_ASSUMED = FactErrors()


@dataclass(frozen=True, slots=True, repr=False)
class Fact:
    """One known fact about a target: an item, perhaps with its value and its date  [section 3: aux_i].

    `Likelihood` uses the errors of each fact. The paper's attacks ignore them: their similarity is fixed.

    Parameters
    ----------
    item : str
        Id or title of the item.
    value : float or str, optional
        Its value; None: not known.
    time : date or datetime, optional
        Its date, on the wall clock of the release (without a zone); None: not known.
    value_error : float, optional
        Largest error of this value, 0 if it is exact; None: as the attack assumes. No effect on categories
        or without a value.
    time_error : float, optional
        Largest error of this date in days, 0 if it is exact, at most 36,525; None: as the attack assumes. No
        effect without a date.
    doubt : float, optional
        Probability that value and date of this fact are wrong, from 0 to below 1; None: as the attack
        assumes. 0.5 is a doubtful fact.

    Raises
    ------
    ParameterError
        If a parameter has the wrong type or is out of range, or the value is not finite.

    Examples
    --------
    >>> Fact("Brazil", value=4, time=date(2005, 3, 1))
    Fact(item='Brazil', value=4, time=datetime.date(2005, 3, 1))
    >>> Fact("Brazil", value=4, value_error=1, doubt=0.5)
    Fact(item='Brazil', value=4, time=None, value_error=1, doubt=0.5)
    """

    item: str
    value: float | str | None = None
    time: date | None = None
    value_error: float | None = None
    time_error: float | None = None
    doubt: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.item, Integral) and not isinstance(self.item, bool):
            object.__setattr__(self, "item", str(int(self.item)))
        if not isinstance(self.item, str) or not self.item:
            raise ParameterError(f"item must be an id or a title, as non-empty text, got {type(self.item).__name__}")
        object.__setattr__(self, "value", fact_value(self.value))
        if not isinstance(self.time, (date, type(None))) or self.time != self.time:  # NaT is a date too
            raise ParameterError(f"time must be a date or datetime, or None, got {type(self.time).__name__}")
        for name, error in self.errors._asdict().items():
            object.__setattr__(self, name, _error(name, error))

    @property
    def errors(self) -> FactErrors:
        """Its errors alone."""
        return FactErrors(self.value_error, self.time_error, self.doubt)

    def __repr__(self) -> str:
        errors = [f", {name}={error!r}" for name, error in self.errors._asdict().items() if error is not None]
        return f"Fact(item={self.item!r}, value={self.value!r}, time={self.time!r}{''.join(errors)})"


def is_error(name: str, number: float) -> bool:
    """Whether an error of a fact can be this number."""
    return 0 <= number <= LARGEST[name] and not (name == "doubt" and number == 1)


def _error(name: str, error: Any) -> float | None:
    """Check an error of a fact. A number of Python keeps its type."""
    if error is None:
        return None
    number = isinstance(error, Real) and not isinstance(error, bool)
    if not number or not is_error(name, error):
        raise ParameterError(
            f"{name} must be a number {ALLOWED_ERRORS[name]}, or None if it is not known, got {error!r}"
        )
    return error if isinstance(error, (int, float)) else float(error)
