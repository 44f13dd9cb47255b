"""What the paper's appendices show of the data itself: test entries, records by length, bits of an item."""

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.errors import SourceError
from standout.core.rng import generator
from standout.release.model import Levels, Release
from standout.similarity.attributes import ROUNDING, days_per_unit
from standout.synthetic.marginals import date_bits, item_levels, near_bits

__all__ = ["Bits", "bits_by_rank", "find_qualifying", "held_back", "qualifying_in"]

NAMES = ("qualifying.txt", "qualifying.txt.gz")
HELD_OUT = 9
"""Of each person's ratings so many, the latest, were put into probe, quiz and test, a third each."""


def held_back(lengths: Ints, seed: int = 0) -> Ints:
    """How many ratings of each person were kept back as test entries, if they are not known: drawn.

    The latest 9 of a person's T ratings were held out (of fewer than 18, half of them), and each fell at
    random to probe, quiz or test. Probe is published with the rest, so q of h = min(9, T/2) are missing, q
    binomial (h, 2/3). Of the n = T − q that are left, T is about 3n/2, which makes h = min(9, 3n/4).

    >>> held_back(np.array([1, 8, 12, 500]), seed=1).tolist()
    [1, 4, 6, 7]
    """
    held = np.minimum(HELD_OUT, (3 * lengths + 2) // 4)
    return np.asarray(generator(seed, "held back").binomial(held, 2 / 3), np.int64)


def find_qualifying(source: Path) -> Path | None:
    """The file of test entries in a Netflix Prize folder, if there is one."""
    folder = source if source.is_dir() else source.parent
    return next((folder / name for name in NAMES if (folder / name).is_file()), None)


def qualifying_in(path: Path, release: Release) -> Ints:
    """How many test entries each record of a release has, from the contest's qualifying file.

    It has a line `item:` and below it a line `record,date` for each entry.
    """
    counts = Counter(_people(path))
    found = [counts.get(release.records[record], 0) for record in range(release.n_records)]
    return np.array(found, np.int64)


def _people(path: Path) -> Iterator[str]:
    try:
        with (
            gzip.open(path, "rt", encoding="ascii")
            if path.suffix == ".gz"
            else path.open(encoding="ascii") as file
        ):
            inside = False
            for number, line in enumerate(file, 1):
                text = line.strip()
                if text.endswith(":"):
                    inside = True
                elif text:
                    person, comma, _ = text.partition(",")
                    if not (inside and comma and person):
                        raise SourceError(
                            f"{path}, line {number}: not an item and a colon, nor a person and a date"
                        )
                    yield person
    except (OSError, UnicodeDecodeError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text of the contest"
        raise SourceError(f"{path} cannot be read: {reason}") from error


class Bits(NamedTuple):
    """By popularity rank, the most popular first: bits that one item tells of a person who has it."""

    alone: Floats
    with_value: Floats
    with_time: Floats


def bits_by_rank(release: Release, value: float = 1, time: float = 14) -> Bits:
    """How much it tells to know one item of somebody: −log2 of the share of people who have it  [Figure 10].

    `with_value` and `with_time` add −log2 of the share of its others whose value lies within `value`, or
    whose time within `time` days; the mean over the people who have the item.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=50, entries=9_000, seed=7)
    >>> bits = bits_by_rank(release)
    >>> [round(float(column[0]), 2) for column in bits]
    [0.09, 0.64, 5.29]
    """
    order = np.argsort(release.check().rank, kind="stable")
    alone = elementary.log2(release.n_records / release.support[order])
    with_value, with_time = alone, alone
    if release.levels is not None:
        with_value = alone + near_bits(item_levels(release)[order], _near(release.levels, value))
    if release.span:
        reach = int(min(time / days_per_unit(release) + ROUNDING, release.span))
        with_time = alone + date_bits(release, order, reach)
    return Bits(alone, with_value, with_time)


def _near(levels: Levels, value: float) -> NDArray[np.bool_]:
    """Which levels are near each other; categories only if they are the same."""
    if not isinstance(levels, np.ndarray):
        return np.eye(len(levels), dtype=np.bool_)
    return np.asarray(np.abs(levels[:, None] - levels) <= value + ROUNDING)
