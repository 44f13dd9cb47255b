"""All steps, and how a step is read from text such as "round-time month"."""

import shlex

from standout.core.errors import ParameterError
from standout.core.suggestions import did_you_mean
from standout.sanitizing.cluster import ClusterRecords
from standout.sanitizing.km import KmSuppress
from standout.sanitizing.merge_repeats import MergeRepeats
from standout.sanitizing.randomized_response import RandomizedResponse
from standout.sanitizing.step import Step
from standout.sanitizing.suppression_steps import (
    CapRecords,
    DropEntries,
    DropItems,
    DropRareItems,
    DropTopItems,
    SampleRecords,
)
from standout.sanitizing.time_steps import PerturbTime, RoundTime
from standout.sanitizing.value_steps import PerturbValue, RoundValue
from standout.table_sanitizing.table_step import TableStep
from standout.table_sanitizing.table_step_parser import is_table_step, parse_table_step

__all__ = ["STEPS", "parse_step", "step"]

STEPS: tuple[type[Step], ...] = (
    RoundTime,
    PerturbTime,
    RoundValue,
    PerturbValue,
    RandomizedResponse,
    DropRareItems,
    DropTopItems,
    DropItems,
    DropEntries,
    CapRecords,
    MergeRepeats,
    SampleRecords,
    ClusterRecords,
    KmSuppress,
)


def step(words: str) -> Step | TableStep:
    """Read a step from text; it is the inverse of `str(step)`.

    Parameters
    ----------
    words
        Name of the step and its parameters, quoted as in a shell; of a table: name, colon, column, equals
        sign, parameter. ``standout sanitize --list-steps`` shows all steps.

    Returns
    -------
    Step
        Step that can be passed to `standout.sanitize`.

    Raises
    ------
    ParameterError
        If there is no such step, or a parameter is missing or not allowed.

    Examples
    --------
    >>> import standout as so
    >>> so.step("round-time 30 days")
    RoundTime(to=None, days=30)
    >>> str(so.step("round-time 30 days"))
    'round-time 30 days'
    >>> so.step("round:age=5")
    RoundColumn(column='age', to=5)
    """
    is_about_table = isinstance(words, str) and is_table_step(words)
    return parse_table_step(words) if is_about_table else parse_step(words)


def parse_step(words: str) -> Step:
    """Read a step on a release, not on a table; see `step`."""
    try:
        name, *parameters = shlex.split(words)
    except (ValueError, TypeError, AttributeError):
        raise ParameterError("a step must be a name and its parameters, such as 'round-time month'") from None
    kinds = {kind.name: kind for kind in STEPS}
    if name not in kinds:
        raise ParameterError(
            f"there is no step {name!r:.100}: choose one of {', '.join(kinds)}{did_you_mean(name, kinds)}"
        )
    try:
        return kinds[name].from_words(*parameters)
    except ParameterError as error:
        raise ParameterError(f"step {words!r}: {error}") from None
