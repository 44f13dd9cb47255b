"""Steps about values: other levels, fewer levels, or none."""

import math
import sys
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np

from standout.core.arrays import Floats
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.release.build import count_codes
from standout.release.model import Codes
from standout.sanitized import Bins
from standout.sanitizing import entry_kernels as kernels
from standout.sanitizing.draft import Draft, Ints
from standout.sanitizing.step import Step, StepResult, number, number_or_none, portion, text
from standout.sanitizing.step_noise import Noise
from standout.similarity.attributes import ROUNDING

__all__ = ["PerturbValue", "RoundValue", "perturbed"]

MOST_BINS = 10_000


@dataclass(frozen=True)
class PerturbValue(Step):
    """With this probability a value becomes another level within ± error, each of them as likely.

    The levels are those that the release has. error=None means any other level, which is the only way for
    categories. A value that has no other level near it stays, and so does what is missing.

    >>> str(PerturbValue(error=1, probability=0.5))
    'perturb-value 1 0.5'
    """

    name = "perturb-value"
    syntax = "ERROR|none [PROBABILITY]"
    summary = "another value within ± ERROR, with PROBABILITY (1); none: any other value"
    parsers = (number_or_none, number)

    error: float | None = 1
    probability: float = 1.0

    def __post_init__(self) -> None:
        error = self.error
        if error is not None and (
            isinstance(error, bool) or not isinstance(error, Real) or not 0 < error <= sys.float_info.max
        ):
            raise ParameterError(f"error must be a number > 0, or None for any value, got {error!r}")
        self._set(probability=portion("probability", self.probability, whole=True))

    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        self._needs(draft.n_levels > 0, "values")
        first, last = self._near(draft)
        return perturbed(draft, noise, first, last, self.probability)

    def _near(self, draft: Draft) -> tuple[Ints, Ints]:
        """The first and the last level within the error of each."""
        levels = draft.levels
        if self.error is None:
            return np.zeros(draft.n_levels, np.int64), np.full(draft.n_levels, draft.n_levels - 1)
        if not isinstance(levels, np.ndarray):
            raise ParameterError(f"{self}: values are categories, which have no distance: error must be none")
        reach = self.error + ROUNDING
        return np.searchsorted(levels, levels - reach), np.searchsorted(levels, levels + reach, "right") - 1


@dataclass(frozen=True)
class RoundValue(Step):
    """Values are told by the bin that they lie in, or not at all.

    bins        so many bins with about as many entries each: each cut is where the share of entries below it
                is nearest to 1/bins, 2/bins, …; heavy levels may leave fewer bins
    edges       bins that begin at these numbers
    liked_from  1 for this value and above, 0 below
    to          "none": no values

    A bin is told by one number, the mean of its entries; where none is left by that of its levels.

    >>> str(RoundValue(bins=3)), str(RoundValue(edges=(2, 4.5))), str(RoundValue(liked_from=4))
    ('round-value bins 3', 'round-value edges 2 4.5', 'round-value liked 4')
    """

    name = "round-value"
    syntax = "bins N | edges E … | liked FROM | none"
    summary = "N bins of about as many entries; bins that begin at E …; 1 from FROM on, else 0; or no values"

    bins: int | None = None
    edges: tuple[float, ...] | None = None
    liked_from: float | None = None
    to: str | None = None

    def __post_init__(self) -> None:
        ways = [self.bins, self.edges, self.liked_from, self.to]
        if sum(way is not None for way in ways) != 1:
            raise ParameterError("round-value takes one of bins, edges, liked_from and to='none'")
        if self.to not in (None, "none"):
            raise ParameterError(f"to must be 'none', got {self.to!r}")
        if self.bins is not None:
            self._set(bins=whole_number("bins", self.bins, 1))
            if self.bins > MOST_BINS:
                raise ParameterError(f"bins must be at most {MOST_BINS:,}, got {self.bins:,}")
        if self.edges is not None:
            self._set(edges=_edges(self.edges))
        if self.liked_from is not None:
            self._set(liked_from=_edges((self.liked_from,))[0])

    def parameter_words(self) -> tuple[str, ...]:
        if self.bins is not None:
            return "bins", str(self.bins)
        if self.edges is not None:
            return "edges", *map(text, self.edges)
        return ("none",) if self.liked_from is None else ("liked", text(self.liked_from))

    @classmethod
    def from_words(cls, *words: str) -> Self:
        match words:
            case ["none"]:
                return cls(to="none")
            case ["bins", count]:
                return cls(bins=number(count))  # type: ignore[arg-type]  # checked there
            case ["edges", _, *_]:
                return cls(edges=tuple(map(number, words[1:])))
            case ["liked", least]:
                return cls(liked_from=number(least))
        raise ParameterError(f"written like this: {cls.name} {cls.syntax}")

    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        self._needs(draft.levels is not None, "values")
        side = draft.side
        if self.to is not None:
            return StepResult(
                draft.valued(None, None, (None,) * len(draft.told)), {"values changed": _valued(draft)}
            )
        levels = draft.levels
        self._needs(draft.n_levels > 0, "values")
        if not isinstance(levels, np.ndarray) or side.value is None:
            raise ParameterError(f"{self}: values are categories: only 'round-value none' is for them")
        counts = count_codes(side.value, len(levels) + 1)[:-1]
        bins = self._bins(levels, counts, draft.told)
        told = np.array(bins.bin_values(levels.tolist()))
        tells = np.unique(told)
        recode = np.append(np.searchsorted(tells, told), len(tells))
        known = [None if one is None else bins.bin_values([float(one)])[0] for one in draft.told]
        changed = int(counts[told != levels].sum())
        return StepResult(
            draft.valued(recode[side.value], tells, tuple(known)),
            {"values changed": changed, "levels": len(tells)},
            bins,
        )

    def _bins(self, levels: Floats, counts: Ints, told: tuple[float | str | None, ...]) -> Bins:
        if self.liked_from is not None:
            return Bins((self.liked_from,), (0.0, 1.0))
        edges = _cuts(levels, counts, self.bins) if self.bins is not None else self.edges
        assert edges is not None
        gone = np.setdiff1d([float(one) for one in told if one is not None], levels)
        return _weighed(edges, np.append(levels, gone), np.append(counts, np.zeros(len(gone), np.int64)))


def perturbed(draft: Draft, noise: Noise, first: Ints, last: Ints, probability: float) -> StepResult:
    """Values that become another level of first[v] … last[v] with this probability."""
    side, out = draft.side, np.empty(draft.n_entries, np.uint32)
    value = side.value
    assert value is not None
    draft.by_pieces(
        lambda low, high: kernels.perturb(
            side.start, side.item, noise.records, noise.items, low, high,
            value, first, last, probability, out,
        )
    )  # fmt: skip
    changed = int(np.count_nonzero(out != value))
    counts = {"values changed": changed, "share changed": changed / max(_valued(draft), 1)}
    return StepResult(draft.valued(out, draft.levels, draft.told), counts)


def _valued(draft: Draft) -> int:
    """How many entries have a value."""
    value: Codes | None = draft.side.value
    return 0 if value is None else int(np.count_nonzero(value != draft.n_levels))


def _edges(given: Any) -> tuple[float, ...]:
    try:
        edges = tuple(given)
    except TypeError:
        edges = ()
    numbers = all(isinstance(edge, Real) and not isinstance(edge, bool) for edge in edges)
    if not edges or not numbers or not all(map(_finite, edges)) or list(edges) != sorted(set(edges)):
        raise ParameterError("edges are finite numbers, ascending, one at least")
    return tuple(map(float, edges))


def _finite(edge: Any) -> bool:
    """Whether a number is one that a float can hold."""
    return bool(abs(edge) <= sys.float_info.max)


def _cuts(levels: Floats, counts: Ints, bins: int) -> tuple[float, ...]:
    """The levels that begin a bin."""
    below = np.cumsum(counts)[:-1]
    if not len(below):
        return ()
    goals = counts.sum() * np.arange(1, bins) / bins
    cuts = np.unique([np.abs(below - goal).argmin() for goal in goals]).astype(np.int64)
    return tuple(levels[cuts + 1].tolist())


def _weighed(edges: tuple[float, ...], levels: Floats, counts: Ints) -> Bins:
    """Bins told by the mean of their entries; a bin without a level is part of the one below it."""
    place = np.searchsorted(edges, levels, side="right")
    used = np.unique(place)
    tells = [_mean(levels[place == one], counts[place == one]) for one in used]
    return Bins(tuple(edges[one - 1] for one in used[1:]), tuple(tells))


def _mean(levels: Floats, counts: Ints) -> float:
    weights = counts if counts.any() else np.ones_like(counts)
    return math.fsum((levels * weights).tolist()) / int(weights.sum())
