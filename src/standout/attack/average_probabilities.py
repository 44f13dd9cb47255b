"""P(v, t) of known facts: how likely each would be about any entry of the release."""

from dataclasses import dataclass

import numpy as np

from standout.attack.error_model import ErrorModel, TimeErrors
from standout.attack.release_counts import ReleaseCounts
from standout.core.arrays import Bools, Floats, Ints
from standout.facts import KnownFacts
from standout.release.clock import SECONDS

__all__ = ["AverageProbabilities"]

PRIOR_ENTRIES = 10.0
PIECES = 640
"""Number of pieces in which a distribution of errors that is not flat is averaged over the release."""


@dataclass(frozen=True, eq=False)
class AverageProbabilities:
    """An error model averaged over a release, for known facts.

    Values are averaged over the entries of the same item and PRIOR_ENTRIES more, spread like all entries.
    """

    counts: ReleaseCounts
    model: ErrorModel
    known: KnownFacts

    def probabilities(self, fact: Ints, exclude: Ints) -> Floats:
        """Return P(v, t) of these facts, averaged over the release without the excluded record of each."""
        right_value, wrong_value = self._values(fact, exclude)
        right_time, wrong_time = self._times(fact, exclude)
        w, times = self.model.wrong, self.model.times
        either = (1.0 - w) * right_value + w * wrong_value
        if times is None or times.is_flat:
            average = (1.0 - w) * right_value * right_time + w * wrong_value * wrong_time
        else:
            average = either * ((1.0 - w) * right_time + w * wrong_time)
        if times is not None:
            untimed = np.where(self.known.timed[fact], self.counts.untimed_shares(exclude), 0.0)
            any_time = 1.0 / self.counts.release.span if times.is_flat else times.elsewhere
            average = (1.0 - untimed) * average + untimed * either * any_time
        return average

    def _values(self, fact: Ints, exclude: Ints) -> tuple[Floats, Floats]:
        """right(v) and wrong(v), averaged over the levels of each fact's item; 1 where no value is known."""
        known, release = self.known, self.counts.release
        right, wrong = np.ones(len(fact)), np.ones(len(fact))
        at = np.flatnonzero(known.value[fact] >= 0) if release.n_levels else fact[:0]
        if not len(at):
            return right, wrong
        people, person = np.unique(exclude[at], return_inverse=True)
        shares = self.counts.level_shares(people)
        weight, own = shares[person.reshape(-1)], self.counts.item_levels(known.item[fact[at]], exclude[at])
        if own is not None:
            weight = own[:, :-1] + (PRIOR_ENTRIES + own[:, -1:]) * weight
        weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
        used, index = np.unique(known.value[fact[at]], return_inverse=True)
        for number, value in enumerate(used.tolist()):
            row = index.reshape(-1) == number
            right[at[row]] = weight[row] @ self.model.right_values(known.values[value])
            wrong[at[row]] = weight[row] @ self.model.wrong_values(known.values[value])
        return right, wrong

    def _times(self, fact: Ints, exclude: Ints) -> tuple[Floats, Floats]:
        """H(t) and G(t), averaged over all times of the release; 1 where no time is known."""
        known, times = self.known, self.model.times
        right, wrong = np.ones(len(fact)), np.ones(len(fact))
        at = np.flatnonzero(known.timed[fact]) if times is not None else fact[:0]
        if not len(at) or times is None:
            return right, wrong
        time, without = known.time[fact[at]], exclude[at]
        timed = np.maximum(self.counts.timed(without), 1.0)
        if times.is_flat:
            share = self.counts.within(time - times.reach, time + times.reach, without) / timed
        else:
            share = self._weighted(time, without, times) / timed
        session = self.counts.session_shares(without)
        share = np.where(self._is_repeated_day()[fact[at]], session + (1.0 - session) * share, share)
        right[at] = times.highest * share
        wrong[at] = times.elsewhere * (1.0 - share if times.is_flat else 1.0)
        return right, wrong

    def _weighted(self, time: Ints, exclude: Ints, times: TimeErrors) -> Floats:
        """Number of entries, each counted with H of its distance relative to the highest H."""
        used = np.flatnonzero(times.shares)
        edge = np.unique(np.linspace(0, len(times.shares), PIECES + 1).astype(np.int64))
        low, high = edge[:-1], edge[1:]
        if len(used) <= PIECES or len(used) < len(times.shares) // 2:  # dates are rounded
            low, high = used, used + 1
        cumulative = np.append(0.0, np.cumsum(times.shares))
        height = (cumulative[high] - cumulative[low]) / (high - low) / times.highest
        nearest, farthest = times.reach + 1 - high, times.reach - low
        total = np.zeros(len(time))
        for at in range(len(time)):
            without = np.full(len(height), exclude[at])
            total[at] = height @ self.counts.within(time[at] + nearest, time[at] + farthest, without)
        return total

    def _is_repeated_day(self) -> Bools:
        """Whether an earlier fact about the same target is of the same day."""
        known, clock = self.known, self.counts.release.clock
        assert clock is not None
        query = np.repeat(np.arange(len(known)), np.diff(known.first))
        day = (known.time + clock.origin) // (SECONDS["day"] // SECONDS[clock.unit])
        repeated = np.zeros(len(query), np.bool_)
        order = np.lexsort((np.arange(len(query)), day, query, ~known.timed))
        same = (np.diff(query[order]) == 0) & (np.diff(day[order]) == 0)
        repeated[order[1:]] = same & known.timed[order[1:]]
        return repeated
