"""What is published about the Netflix Prize data: the numbers that the stand-in is calibrated on.

The data itself may not be passed on and is not here. The success of attacks is not among these numbers: it is
what the stand-in is validated by (`standout.paper`).
"""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.core.elementary import exp, log

__all__ = ["lengths_in_all", "netflix", "support_by_rank"]


@cache
def netflix() -> dict[str, dict[str, Any]]:
    """Published aggregates, by section and name.

    >>> netflix()["sizes"]["records"], netflix()["lengths"]["q50"]
    (480189, 96)
    """
    return tomllib.loads(_text("netflix.toml"))


@cache
def support_by_rank() -> Floats:
    """How many people rated the film of each popularity rank; between the knots that are kept, log over log.

    >>> support = support_by_rank()
    >>> len(support), round(support[0]), round(support[-1])
    (17770, 233391, 3)
    """
    rank, records = _columns("netflix-support.csv")
    every = np.arange(1, rank[-1] + 1)
    support = exp(np.interp(log(every), log(rank), log(records)))
    support = np.minimum.accumulate(support)
    support[-1] = netflix()["support"]["min"]
    support.flags.writeable = False
    return support


@cache
def lengths_in_all() -> tuple[Ints, Ints]:
    """How many people have exactly 2 … 100 ratings, those that were held back for the contest included.

    >>> entries, records = lengths_in_all()
    >>> int(records[entries == 20][0])
    3951
    """
    entries, records = _columns("netflix-lengths.csv")
    return entries, records


def _columns(name: str) -> list[Ints]:
    rows = [line.split(",") for line in _text(name).splitlines()[1:]]
    return list(np.array(rows, np.int64).T)


def _text(name: str) -> str:
    return (files("standout.synthetic") / "data" / name).read_text(encoding="utf-8")
