"""Randomised response: noise on every entry, with the ε of local differential privacy that it provides."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from standout.core.arrays import Ints, offsets
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.data.labels import StepReport
from standout.data.release import Codes, code_type
from standout.know.sanitized import ReleaseNoise, ValueSpread
from standout.sanitizing import entry_kernels
from standout.sanitizing.draft import Draft
from standout.sanitizing.entry_kernels import LevelNoise
from standout.sanitizing.step import Step, StepNoise, StepResult, check_positive, number, parameter_text
from standout.sanitizing.value_steps import perturb_values

__all__ = ["RandomizedResponse"]

MOST_EPSILON = 50
MOST_ENTRIES = 100_000_000
MOST_CELLS = 10_000_000_000
PIECE = 1 << 22
"""Cells that are drawn at a time."""


@dataclass(frozen=True)
class RandomizedResponse(Step):
    """Apply randomised response to the values, or to which items a record has.

    On values (the default), each of the L levels is kept with probability e^ε / (e^ε + L - 1) and otherwise
    becomes one of the others, all equally likely. Two values of one entry then give any released value with
    probabilities within a factor e^ε. This ε covers ONE entry's value. It does not cover that the person has
    the item, when, how many items there are, or that a value is missing.

    On items, each of the N × M cells (whether a record has an item) flips with probability 1 / (1 + e^ε).
    Values and times are removed: only true entries would have them. Repeated entries of a record and item
    are one cell, and are merged: a count would reveal that the item is true. This ε covers ONE cell; a
    person's record of M cells has M ε.

    Parameters
    ----------
    epsilon
        ε of one value or cell, above 0 and at most 50. A smaller ε means more noise.
    items
        Whether to randomise which items a record has instead of values.

    Raises
    ------
    ParameterError
        If `epsilon` is out of range. Applied to a release: if it has no values, or would have too many cells.

    Examples
    --------
    >>> import standout as so
    >>> str(so.RandomizedResponse(1)), str(so.RandomizedResponse(2.5, items=True))
    ('randomized-response 1', 'randomized-response 2.5 items')
    """

    name = "randomized-response"
    syntax = "EPSILON [items]"
    summary = "randomise each value with ε = EPSILON; items: randomise which items a record has instead"

    epsilon: float
    items: bool = False

    def __post_init__(self) -> None:
        self._set(epsilon=check_positive("epsilon", self.epsilon, MOST_EPSILON), items=bool(self.items))

    def parameter_words(self) -> tuple[str, ...]:
        """Parameters as words."""
        return (parameter_text(self.epsilon), *(["items"] if self.items else []))

    @classmethod
    def from_words(cls, *words: str) -> Self:
        """Make the step with these parameters."""
        match words:
            case [epsilon]:
                return cls(number(epsilon))
            case [epsilon, "items"]:
                return cls(number(epsilon), items=True)
        raise cls._syntax_error()

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The distribution of values, or the chance that a cell does not flip."""
        if self.items:
            return ReleaseNoise(kept=1 - 1 / (1 + math.exp(self.epsilon)))
        return ReleaseNoise(values=(ValueSpread(None, report.counts["expected share changed"]),))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        """Apply the step to a draft."""
        return self._flip_cells(draft, noise, progress) if self.items else self._change_values(draft, noise)

    def _change_values(self, draft: Draft, noise: StepNoise) -> StepResult:
        self._require(draft.n_levels > 0, "values")
        n = draft.n_levels
        change = (n - 1) / (math.exp(self.epsilon) + n - 1)
        level_noise = LevelNoise(np.zeros(n, np.int64), np.full(n, n - 1), change)
        result = perturb_values(draft, noise, level_noise)
        # The number of changed values stays secret: with all other values it would reveal the last one.
        counts = {"levels": n, "expected share changed": change, "epsilon of a value": self.epsilon}
        return result._replace(counts=counts)

    def _flip_cells(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        probability = 1 / (1 + math.exp(self.epsilon))
        self._check_size(draft, probability)
        lengths, items, false = np.empty(draft.n_records, np.int64), [], 0
        for low, high in _record_ranges(draft):
            progress("randomising", low, draft.n_records)
            cells = _flip(draft, noise, probability, low, high)
            lengths[low:high] = np.diff(cells.ends, prepend=0)
            items.append(cells.items)
            false += cells.false
        item = np.concatenate(items)
        if not len(item):
            raise ParameterError(f"nothing would be left: {self} removed every entry")
        counts = {"false entries": false, "epsilon of a cell": self.epsilon}
        return StepResult(draft.with_items(offsets(lengths), item, false), counts)

    def _check_size(self, draft: Draft, probability: float) -> None:
        cells = draft.n_records * draft.n_items
        true = len(draft.distinct.item)
        expected = true + probability * (cells - 2 * true)
        if expected > MOST_ENTRIES or cells > MOST_CELLS:
            raise ParameterError(
                f"{self}: {expected:,.0f} entries would be released from {cells:,} cells; at most "
                f"{MOST_ENTRIES:,} and {MOST_CELLS:,} are allowed: remove rare items first, or use a larger "
                "epsilon"
            )


class _Cells(NamedTuple):
    """Items of some records, the end of each record in them, and how many items are false."""

    items: Codes
    ends: Ints
    false: int


def _record_ranges(draft: Draft) -> Iterator[tuple[int, int]]:
    """Ranges of records with about PIECE cells each."""
    size = max(1, PIECE // draft.n_items)
    return ((low, min(low + size, draft.n_records)) for low in range(0, draft.n_records, size))


def _flip(draft: Draft, noise: StepNoise, probability: float, low: int, high: int) -> _Cells:
    out = np.empty((high - low) * draft.n_items, code_type(draft.n_items))
    ends = np.empty(high - low, np.int64)
    count, false = entry_kernels.flip(noise.streams, low, high, probability, ends, out)
    return _Cells(out[:count].copy(), ends, false)
