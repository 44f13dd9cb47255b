"""A step that keeps one entry of each record and item."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from standout.core.arrays import Ints
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.release.model import Codes
from standout.sanitized import ReleaseNoise, StepReport
from standout.sanitizing import entry_kernels
from standout.sanitizing.draft import Draft
from standout.sanitizing.replaced_entries import count_replaced, replacement_noise
from standout.sanitizing.step import Step, StepResult
from standout.sanitizing.step_noise import StepNoise

__all__ = ["MergeRepeats"]

Kept = Literal["last", "first", "max"]
POLICY = {"last": 0, "first": entry_kernels.FIRST, "max": entry_kernels.MAX}
NO_CODES: Codes = np.empty(0, np.uint8)


@dataclass(frozen=True)
class MergeRepeats(Step):
    """Keep one entry of each record and item, so that the release does not show how often and when.

    An entry with a time is preferred to one without, and likewise for values. Entries of the same time go by
    value: "last" and "max" keep the largest, "first" the smallest.

    Parameters
    ----------
    keep
        Which entry is kept: "last" or "first" by time, or "max", the one with the largest value (the latest
        of several).

    Raises
    ------
    ParameterError
        If `keep` is something else. Applied to a release: if `keep` is "max" and values are not numbers.

    Examples
    --------
    >>> import standout as so
    >>> str(so.MergeRepeats()), str(so.MergeRepeats("first"))
    ('merge-repeats last', 'merge-repeats first')
    """

    name = "merge-repeats"
    syntax = "[last | first | max]"
    summary = "keep one entry of each record and item: the last (default), the first, or the largest value"
    parsers = (str,)

    keep: Kept = "last"

    def __post_init__(self) -> None:
        if self.keep not in get_args(Kept):
            raise ParameterError(f"keep must be last, first or max, got {self.keep!r}")

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The chance that a known entry was merged into one with another value or time.

        The item of a merged entry is still in the record. So the step removes no entry from the adversary's
        view: it changes the value and moves the time, by as much as repeats of an item differ on average.
        """
        return replacement_noise(report) or ReleaseNoise()

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        """Apply the step to a draft."""
        if self.keep == "max":
            self._require(draft.n_levels > 0, "values")
            if isinstance(draft.levels, tuple):
                raise ParameterError(
                    f"{self}: values are categories, which have no largest: keep last or first"
                )
        chosen = self._chosen(draft)
        keep = chosen == np.arange(draft.n_entries)
        return StepResult(draft.merge_entries(keep), count_replaced(draft, chosen))

    def _chosen(self, draft: Draft) -> Ints:
        """For each entry, the entry that represents it."""
        start, item, value, time = draft.by_record
        missing = np.array([draft.n_levels, 0 if draft.clock is None else draft.clock.span])
        chosen = np.empty(draft.n_entries, np.int64)
        value, time = (NO_CODES if column is None else column for column in (value, time))
        entry_kernels.choose(start, item, value, time, POLICY[self.keep], missing, chosen)
        return chosen
