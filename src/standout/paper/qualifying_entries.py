"""Test entries of the Netflix Prize: ratings that the contest published without their values  [Figure 7]."""

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from standout.core.arrays import Ints
from standout.core.errors import SourceError
from standout.core.rng import generator
from standout.release.model import Release

__all__ = ["count_qualifying", "draw_qualifying", "find_qualifying"]

FILE_NAMES = ("qualifying.txt", "qualifying.txt.gz")
HELD_OUT = 9
"""The latest 9 ratings of each person were assigned to probe, quiz and test, a third each."""


def draw_qualifying(lengths: Ints, seed: int = 0) -> Ints:
    """Random numbers of test entries for records of these lengths, if the true ones are not known.

    The contest held out the latest 9 of a person's T ratings, or half of them if T < 18. Each fell at random
    to probe, quiz or test. Probe is published with the rest. So a binomial (h, 2/3) number of h = min(9, T/2)
    ratings is missing. A person with n ratings left had T ≈ 3n/2 ratings, hence h = min(9, 3n/4).

    >>> draw_qualifying(np.array([1, 8, 12, 500]), seed=1).tolist()
    [1, 4, 6, 7]
    """
    held_out = np.minimum(HELD_OUT, (3 * lengths + 2) // 4)
    return np.asarray(generator(seed, "held back").binomial(held_out, 2 / 3), np.int64)


def find_qualifying(source: Path) -> Path | None:
    """The file of test entries in a folder of the Netflix Prize; None if there is none."""
    folder = source if source.is_dir() else source.parent
    return next((folder / name for name in FILE_NAMES if (folder / name).is_file()), None)


def count_qualifying(path: Path, release: Release) -> Ints:
    """Number of test entries of each record, from the contest's qualifying file.

    The file has a line `item:` for each item, followed by a line `record,date` for each of its entries.
    """
    counts = Counter(_record_ids(path))
    return np.array([counts.get(release.records[i], 0) for i in range(release.n_records)], np.int64)


def _record_ids(path: Path) -> Iterator[str]:
    """The record id of each test entry in the file."""
    try:
        with _open_text(path) as file:
            yield from _parse(path, file)
    except (OSError, UnicodeDecodeError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "it is not a qualifying file of the Netflix Prize"
        raise SourceError(f"{path} cannot be read: {reason}") from error


def _open_text(path: Path) -> TextIO:
    return gzip.open(path, "rt", encoding="ascii") if path.suffix == ".gz" else path.open(encoding="ascii")


def _parse(path: Path, lines: TextIO) -> Iterator[str]:
    has_item = False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.endswith(":"):
            has_item = True
        elif text:
            record, comma, _ = text.partition(",")
            if not (has_item and comma and record):
                raise SourceError(
                    f"{path}, line {number}: expected an item followed by a colon, or a record and a date"
                )
            yield record
