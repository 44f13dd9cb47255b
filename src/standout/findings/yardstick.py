"""A yardstick for the main result: the same adversary on data that many readers have heard of."""

from dataclasses import dataclass

from standout.findings.json_types import PositiveCount, Rate

__all__ = ["Yardstick"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Yardstick:
    """What the headline adversary achieves on a stand-in of the Netflix Prize data.

    Attributes
    ----------
    data
        The data of the yardstick.
    records
        Number of people in it.
    entries
        Number of entries in it.
    precision
        How precisely the adversary knows values and dates there.
    identified
        Share of targets there whom this adversary identifies.
    command
        The commands that measured it.
    sentence
        The yardstick in one sentence.
    """

    data: str
    records: PositiveCount
    entries: PositiveCount
    precision: str
    identified: Rate
    command: str
    sentence: str
