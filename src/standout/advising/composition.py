"""What two sanitized releases of the same people give away together: one is linked to the other."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed, generator
from standout.evaluate.estimates import Estimate, mean, rate
from standout.linking.link import link
from standout.release.model import Release
from standout.release.subset import subset
from standout.sanitized import Sanitized

__all__ = ["Composition", "composition"]

PEOPLE, DECOYS = 300, 300


@dataclass(frozen=True, slots=True)
class Composition:
    """What came of linking the second release's records to the first's.

    right        the share of people in both for whose second record the best guess is their first one:
                 whoever knows that the same people are in both needs no more
    claimed      the share of whom that can also be claimed: people who are not there stand out less
    wrong        the share for whom somebody else's record is claimed
    shown_once   the share of true entries that the first release has, of those who are guessed rightly
    shown        the share that the two have together; None where nobody is guessed rightly
    """

    right: Estimate
    claimed: Estimate
    wrong: Estimate
    shown_once: Estimate | None
    shown: Estimate | None

    def __str__(self) -> str:
        return f"{self.right.value:.0%} of the people are guessed rightly, {self.claimed.value:.0%} for sure"


def composition(
    first: Sanitized,
    second: Sanitized,
    *,
    people: int = PEOPLE,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Composition:
    """What two releases that were made from the same original give away together.

    Records of so many people in the second are linked to the first by `standout.link`, which knows neither
    the original nor who stands for whom: by those it is judged.

    >>> import standout as so
    >>> release = so.synthesize(records=30, items=40, entries=400, seed=7)
    >>> one, two = (so.sanitize(release, so.DropEntries(0.2), seed=s, renumber=True) for s in (1, 2))
    >>> composition(one, two, people=5).right.n
    5
    """
    if not (isinstance(first, Sanitized) and isinstance(second, Sanitized)):
        raise ParameterError("a composition is of two releases that so.sanitize made")
    if first.original.fingerprint != second.original.fingerprint:
        raise ParameterError("the two releases were made from different originals")
    asked = _asked(first, second, whole_number("people", people, 1), check_seed(seed))
    if not len(asked):
        raise ParameterError("nobody is in both releases")
    at = second.mapping.representatives[asked]
    keep = np.zeros(second.n_records, np.bool_)
    keep[at] = True
    public = subset(second, keep)
    found = link(first, public, decoys=DECOYS, seed=seed, threads=threads, progress=progress)
    place = np.cumsum(keep)[at] - 1
    table = found.table
    claimed, guess = table["claimed"].to_numpy(), table["record"].to_list()
    ids = {name: n for n, name in enumerate(table["profile"])}
    row = [ids[public.records[int(one)]] for one in place]
    own = [first.records[int(one)] for one in first.mapping.representatives[asked]]
    right = np.array([guess[r] == name for r, name in zip(row, own, strict=True)])
    sure = claimed[row].astype(np.bool_)
    linked, n = asked[right], len(asked)
    once, both = (_shown(sides, linked) for sides in ([first], [first, second]))
    return Composition(
        rate(int(right.sum()), n, 1 / first.n_records), rate(int((right & sure).sum()), n),
        rate(int((~right & sure).sum()), n),
        mean(once) if len(linked) else None, mean(both) if len(linked) else None,
    )  # fmt: skip


def _asked(first: Sanitized, second: Sanitized, people: int, seed: int) -> Ints:
    """People whom a record of both stands for, no two with the same one."""
    both = np.flatnonzero((first.mapping.representatives >= 0) & (second.mapping.representatives >= 0))
    order = generator(seed, "composition").permutation(both)
    _, single = np.unique(second.mapping.representatives[order], return_index=True)
    return order[np.sort(single)][:people]


def _shown(sides: list[Sanitized], people: Ints) -> NDArray[np.float64]:
    """The share of each person's true items that at least one of the releases has of them."""
    original = sides[0].original
    found = []
    for person in people.tolist():
        items = _items(original, person)
        there = np.zeros(len(items), np.bool_)
        for side in sides:
            there |= np.isin(
                side.mapping.item_codes[items], _items(side, int(side.mapping.representatives[person]))
            )
        found.append(float(there.mean()))
    return np.array(found)


def _items(release: Release, record: int) -> Ints:
    start = release.by_record.start
    return release.by_record.item[start[record] : start[record + 1]].astype(np.int64)
