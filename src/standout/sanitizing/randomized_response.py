"""Randomised response: noise on every entry, with the ε of local differential privacy that it gives."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from standout.core.arrays import offsets
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.release.model import Codes, code_type
from standout.sanitizing import entry_kernels as kernels
from standout.sanitizing.draft import Draft, Ints
from standout.sanitizing.step import Step, StepResult, number, positive, text
from standout.sanitizing.step_noise import Noise
from standout.sanitizing.value_steps import perturbed

__all__ = ["RandomizedResponse"]

MOST_ENTRIES = 100_000_000
MOST_CELLS = 10_000_000_000
PIECE = 1 << 22
"""Cells that are drawn at a time."""


@dataclass(frozen=True)
class RandomizedResponse(Step):
    """Randomised response on the values, or with items=True on who has what.

    values  each of the L levels that the release has is kept with the probability e^ε / (e^ε + L - 1) and
            else becomes one of the others, each as likely. Any two values of an entry give any released one
            with probabilities within a factor e^ε: ε is that of ONE entry's value. That the person has the
            item, when, and how many items there are, is not covered; nor is that a value is missing.
    items   each of the N × M cells, an item that a record has or not, flips with the probability
            1 / (1 + e^ε). Values and times are dropped: on true entries alone they would tell these from
            false ones. ε is that of ONE cell; a person's whole record of M cells has M ε.

    >>> str(RandomizedResponse(1)), str(RandomizedResponse(2.5, items=True))
    ('randomized-response 1', 'randomized-response 2.5 items')
    """

    name = "randomized-response"
    syntax = "EPSILON [items]"
    summary = "each value another one so often that it has ε = EPSILON; items: each having of an item instead"

    epsilon: float
    items: bool = False

    def __post_init__(self) -> None:
        self._set(epsilon=positive("epsilon", self.epsilon, 50), items=bool(self.items))

    def parameter_words(self) -> tuple[str, ...]:
        return (text(self.epsilon), *(["items"] if self.items else []))

    @classmethod
    def from_words(cls, *words: str) -> Self:
        match words:
            case [epsilon]:
                return cls(number(epsilon))
            case [epsilon, "items"]:
                return cls(number(epsilon), items=True)
        raise ParameterError(f"written like this: {cls.name} {cls.syntax}")

    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        return self._cells(draft, noise, progress) if self.items else self._values(draft, noise)

    def _values(self, draft: Draft, noise: Noise) -> StepResult:
        self._needs(draft.n_levels > 0, "values")
        n = draft.n_levels
        first, last = np.zeros(n, np.int64), np.full(n, n - 1)
        changes = (n - 1) / (math.exp(self.epsilon) + n - 1)
        made = perturbed(draft, noise, first, last, changes)
        # how many did change is not told: whoever knows all other values would learn this one from it
        counts = {"levels": n, "expected share changed": changes, "epsilon of a value": self.epsilon}
        return made._replace(counts=counts)

    def _cells(self, draft: Draft, noise: Noise, progress: Progress) -> StepResult:
        flips = 1 / (1 + math.exp(self.epsilon))
        cells = draft.n_records * draft.n_items
        expected = draft.n_entries + flips * (cells - 2 * draft.n_entries)
        if expected > MOST_ENTRIES or cells > MOST_CELLS:
            raise ParameterError(
                f"{self}: {expected:,.0f} entries would be released, of {cells:,} cells; the most are "
                f"{MOST_ENTRIES:,} and {MOST_CELLS:,}: leave out rare items first, or take a larger epsilon"
            )
        lengths, parts, false = np.empty(draft.n_records, np.int64), [], 0
        for low, high in _pieces(draft):
            progress("randomising", low, draft.n_records)
            part, ends, wrong = _flipped(draft, noise, flips, low, high)
            lengths[low:high], false = np.diff(ends, prepend=0), false + wrong
            parts.append(part)
        item = np.concatenate(parts)
        if not len(item):
            raise ParameterError(f"nothing would be left: {self} left out every entry")
        start = offsets(lengths)
        counts = {"false entries": false, "epsilon of a cell": self.epsilon}
        return StepResult(draft.holding(start, item), counts)


def _pieces(draft: Draft) -> Iterator[tuple[int, int]]:
    """Ranges of records with about PIECE cells each."""
    step = max(1, PIECE // draft.n_items)
    return ((low, min(low + step, draft.n_records)) for low in range(0, draft.n_records, step))


def _flipped(draft: Draft, noise: Noise, flips: float, low: int, high: int) -> tuple[Codes, Ints, int]:
    """The items of these records now, where each record ends in them, and how many are false."""
    side, out = draft.side, np.empty((high - low) * draft.n_items, code_type(draft.n_items))
    ends = np.empty(high - low, np.int64)
    count, false = kernels.flip(
        side.start, side.item, noise.records, noise.items, low, high, flips, ends, out
    )
    return out[:count].copy(), ends, false
