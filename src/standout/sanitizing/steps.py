"""All steps, and how a step is read from text such as "round-time month" or "round age 5"."""

import shlex
from collections.abc import Iterable

from standout.core.errors import ParameterError, did_you_mean
from standout.sanitizing.column_steps import (
    DropColumn,
    DropRows,
    GeneralizeColumn,
    RoundColumn,
    SuppressCells,
    SuppressToK,
    SwapColumn,
    TopCode,
)
from standout.sanitizing.item_steps import (
    CapRecords,
    DropEntries,
    DropItems,
    DropRareItems,
    DropTopItems,
    MergeRepeats,
    SampleRecords,
)
from standout.sanitizing.k_steps import ClusterRecords, KmSuppress
from standout.sanitizing.step import Step
from standout.sanitizing.value_steps import PerturbTime, PerturbValue, RandomizedResponse, RoundTime, RoundValue

__all__ = [
    "CapRecords", "ClusterRecords", "DropColumn", "DropEntries", "DropItems", "DropRareItems", "DropRows",
    "DropTopItems", "GeneralizeColumn", "KmSuppress", "MergeRepeats", "PerturbTime", "PerturbValue",
    "RandomizedResponse", "RoundColumn", "RoundTime", "RoundValue", "SampleRecords", "SuppressCells",
    "SuppressToK", "SwapColumn", "TopCode",
]  # fmt: skip

_KINDS: tuple[type[Step], ...] = (
    *(RoundTime, PerturbTime, RoundValue, PerturbValue, RandomizedResponse),
    *(DropRareItems, DropTopItems, DropItems, DropEntries, CapRecords, MergeRepeats, SampleRecords),
    *(ClusterRecords, KmSuppress),
    *(GeneralizeColumn, RoundColumn, TopCode, SwapColumn, SuppressCells, SuppressToK, DropColumn, DropRows),
)
STEPS: dict[str, type[Step]] = {kind.name: kind for kind in _KINDS}


def step(words: str) -> Step:
    """Read a step from text; it is the inverse of `str(step)`.

    Parameters
    ----------
    words
        Name of the step and its parameters, quoted as in a shell. ``standout sanitize --list-steps`` shows all steps.

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
    >>> so.step("round-time 30 days"), so.step("round age 5")
    (RoundTime(to=30), RoundColumn(column='age', to=5.0))
    """
    try:
        name, *parameters = shlex.split(words)
    except (ValueError, TypeError, AttributeError):
        raise ParameterError("a step must be a name and its parameters, such as 'round-time month'") from None
    if name not in STEPS:
        raise ParameterError(
            f"there is no step {name!r:.100}: choose one of {', '.join(STEPS)}{did_you_mean(name, STEPS)}"
        )
    try:
        return STEPS[name].from_words(*parameters)
    except ParameterError as error:
        raise ParameterError(f"step {words!r:.200}: {error}") from None


def parse_steps(given: Iterable[object]) -> list[Step]:
    """Steps given one by one or as lists, as objects or as text."""
    flat = [each for some in given for each in (some if isinstance(some, (list, tuple)) else [some])]
    steps = []
    for each in flat:
        parsed = step(each) if isinstance(each, str) else each
        if not isinstance(parsed, Step):
            raise ParameterError("a step must be a Step, or text such as 'round-time month' or 'round age 5'")
        steps.append(parsed)
    return steps
