"""Profiles → who in the release each points to, how far that stands out, and what carries it."""

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from standout.attack.queries import Queries
from standout.attack.score import ScoreboardRH
from standout.attack.verdict import Columns
from standout.facts import Known
from standout.release.model import Release

__all__ = ["CARRIERS", "Dates", "Scored", "scored"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Dates = Literal["use", "ignore", "learn"]
CARRIERS = ("values", "dates", "items")
WITH, WITHOUT = ScoreboardRH(), ScoreboardRH(time_scale=None)
WAYS: dict[str, tuple[bool, ...]] = {"use": (True,), "ignore": (False,), "learn": (True, False)}
"""Whether dates are compared: each way is tried."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What the attack makes of profiles, a row each.

    `record` and `runner_up` are places in the release, -1 for nobody. `ties` have the best score. `bits` are
    left to point at the best record. `dated` says whether dates were compared. `margin` is the eccentricity
    in three parts: from values, from dates, from having items.
    """

    record: Ints
    runner_up: Ints
    score: Floats
    second: Floats
    sigma: Floats
    ties: Ints
    bits: Floats
    dated: NDArray[np.bool_]
    margin: Floats

    @property
    def claim(self) -> Floats:
        """The eccentricity: (max − max2) / σ; 0 for a tie, or where nothing is scored."""
        return np.asarray((self.score - self.second) / np.where(self.sigma > 0, self.sigma, np.inf))

    @property
    def able(self) -> NDArray[np.bool_]:
        """Whether the best record stands out at all: a tie is no match."""
        return np.asarray((self.record >= 0) & (self.ties == 1) & (self.claim > 0))

    def __len__(self) -> int:
        return len(self.record)

    @classmethod
    def together(cls, parts: "list[Scored]") -> "Scored":
        """Parts behind each other."""
        return cls(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)))

    def better(self, other: "Scored") -> "Scored":
        """Of each row the one that stands out more; this one if they are equal."""
        mine = self.claim >= other.claim
        return Scored(
            *(
                np.where(mine if own.ndim == 1 else mine[:, None], own, its)
                for own, its in ((getattr(self, one.name), getattr(other, one.name)) for one in fields(self))
            )
        )


def scored(
    release: Release, known: Known, dates: Dates, gone: Ints | None, full: bool, threads: int | None
) -> Scored:
    """The verdicts on profiles. Without `full`, neither bits nor what carries them is worked out. `gone` are
    the records, one for each profile, that are taken out of the release before.

    With dates="learn" each profile is tried with and without its dates, and the more eccentric verdict holds.
    """
    found = [_attacked(release, known, dated, gone, full, threads) for dated in WAYS[dates]]
    return found[0] if len(found) == 1 else found[0].better(found[1])


def _attacked(
    release: Release, known: Known, dated: bool, gone: Ints | None, full: bool, threads: int | None
) -> Scored:
    attack = WITH if dated else WITHOUT
    verdicts = attack.attacks(release, known, exclude=gone, top=2, with_z=full, threads=threads)
    columns, n = verdicts.columns, len(known)
    best, second = _places(columns, 0), _places(columns, 1)
    z = np.where(columns.z > 0, columns.z, np.maximum(columns.candidates, 1))
    margin = _margins(verdicts.queries, columns, best, second) if full else np.zeros((n, len(CARRIERS)))
    return Scored(
        best, second, columns.highest, columns.second, columns.sigma, columns.ties,
        np.log2(z), np.full(n, dated), margin,
    )  # fmt: skip


def _places(columns: Columns, rank: int) -> Ints:
    """The first or second best record of each; -1 where there is none with a score above 0."""
    at = columns.first[:-1] + rank
    there = at < columns.first[1:]
    return np.where(there, np.append(columns.record, -1)[np.where(there, at, -1)], -1)


def _margins(queries: Queries, columns: Columns, best: Ints, second: Ints) -> Floats:
    """(max − max2) / σ of each query by what gives it: the terms of values, of dates, and of bare items."""
    parts = _parts(queries, best) - _parts(queries, second)
    return parts / np.where(columns.sigma > 0, columns.sigma, np.inf)[:, None]


def _parts(queries: Queries, record: Ints) -> Floats:
    """The score of one record for each query, in three parts."""
    asked = np.flatnonzero(record >= 0)
    pair, fact, terms = queries.pairs(asked, record[asked])
    step = queries.step[asked[pair]]
    made = np.rint(queries.weight[fact] * np.maximum(terms, 0.0) / step) * step
    bare = (queries.known.value[queries.origin[fact]] < 0) | (queries.release.n_levels == 0)
    found = np.zeros((len(record), len(CARRIERS)))
    for place, part in enumerate((np.where(bare, 0.0, made[0]), made[1], np.where(bare, made[0], 0.0))):
        found[asked, place] = np.bincount(pair, part, len(asked))
    return found
