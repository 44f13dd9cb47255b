"""Published statistics of the Netflix Prize data, on which the stand-in is calibrated.

The data itself may not be passed on and is not included. The success of attacks is not among these numbers:
it validates the stand-in (`standout.paper`).
"""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.core.elementary import exp, log

__all__ = ["published", "published_lengths", "published_support"]


@cache
def published() -> dict[str, dict[str, Any]]:
    """Published numbers by section and name.

    >>> published()["sizes"]["records"], published()["lengths"]["q50"]
    (480189, 96)
    """
    return tomllib.loads(_text("netflix.toml"))


@cache
def published_support() -> Floats:
    """Number of people who rated the film of each popularity rank.

    Between the stored ranks it is interpolated on logarithmic scales.

    >>> support = published_support()
    >>> len(support), round(support[0]), round(support[-1])
    (17770, 233391, 3)
    """
    rank, records = _columns("netflix-support.csv")
    all_ranks = np.arange(1, rank[-1] + 1)
    support = exp(np.interp(log(all_ranks), log(rank), log(records)))
    support = np.minimum.accumulate(support)
    support[-1] = published()["support"]["min"]
    support.flags.writeable = False
    return support


@cache
def published_lengths() -> tuple[Ints, Ints]:
    """Number of people with exactly 2 … 100 ratings, including those that the contest held back.

    >>> entries, records = published_lengths()
    >>> int(records[entries == 20][0])
    3951
    """
    entries, records = _columns("netflix-lengths.csv")
    return entries, records


def _columns(name: str) -> list[Ints]:
    rows = [line.split(",") for line in _text(name).splitlines()[1:]]
    return list(np.array(rows, np.int64).T)


def _text(name: str) -> str:
    return (files("standout.paper") / "data" / name).read_text(encoding="utf-8")
