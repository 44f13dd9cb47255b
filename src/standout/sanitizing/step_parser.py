"""Steps as words: "round-time month", and all that there are."""

import shlex

from standout.core.errors import ParameterError
from standout.sanitizing.cluster import ClusterRecords
from standout.sanitizing.km import KmSuppress
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

__all__ = ["STEPS", "parse_step", "step"]

STEPS: tuple[type[Step], ...] = (
    RoundTime, PerturbTime, RoundValue, PerturbValue, RandomizedResponse, DropRareItems, DropTopItems,
    DropItems, DropEntries, CapRecords, SampleRecords, ClusterRecords, KmSuppress,
)  # fmt: skip


def parse_step(words: str) -> Step:
    """The step that these words name, as `str(step)` gives them.

    >>> step("round-time 30 days")
    RoundTime(to=None, days=30)
    """
    try:
        name, *parameters = shlex.split(words)
    except (ValueError, TypeError, AttributeError):
        raise ParameterError("a step is a name and its parameters: round-time month") from None
    kinds = {kind.name: kind for kind in STEPS}
    if name not in kinds:
        raise ParameterError(f"there is no step {name!r}: the steps are {', '.join(kinds)}")
    try:
        return kinds[name].from_words(*parameters)
    except ParameterError as error:
        raise ParameterError(f"step {words!r}: {error}") from None


step = parse_step
"""The public name, `standout.step`."""
