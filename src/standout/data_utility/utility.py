"""What a sanitized release is still good for: a recommender trained on it, and one trained on the original.

The entries that it is tested on are held out of the original BEFORE it is sanitized: a release that has seen
them would be measure_utility by what it remembers.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple

import polars as pl

from standout._version import __version__
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed
from standout.data_utility import distortion
from standout.data_utility.holdout import numbers
from standout.data_utility.influence import InfluenceEstimate
from standout.data_utility.recommender_benchmark import (
    RecommenderBenchmark,
    RecommenderResult,
    calibrated_values,
)
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.result_table import TableResult
from standout.release.model import Release
from standout.sanitized import Sanitized
from standout.sanitizing.sanitize import sanitize
from standout.sanitizing.step import Step

__all__ = ["Utility", "measure_utility", "utility"]

PEOPLE = 1000


@dataclass(frozen=True, eq=False, slots=True)
class Utility(TableResult):
    """What a release made by `steps` is good for, beside the untouched one. Each test person counts once.

    kept              the share of what the untouched release is good for that is left: the least of
                      kept_hit_rate and kept_rmse, 1 for the untouched release, 0 for none at all. None where
                      neither is known: the untouched release is good for neither
    hit_rate          the share of held-out items among the ten that are recommended, of all items that a
                      person does not have; its baseline is recommending what is popular
    hit_rate_before   the same of the untouched release
    hit_rate_loss     how much lower it is, in pairs: the same people, the same entries
    kept_hit_rate     hit_rate / hit_rate_before; None where the untouched release gives no hits either
    rmse              the root mean square error of what is predicted for held-out values, on the original's
                      scale; its baseline is the mean of a person's own values, for which it takes no release.
                      None where the original has no values that are numbers
    rmse_before       the same of the untouched release
    rmse_increase        how much higher it is, in pairs
    kept_rmse         (baseline − rmse) / (baseline − rmse_before); None where the untouched release does not
                      beat the baseline for sure
    popularity_change  half the sum of how much the items' shares of all entries changed, from 0 to 1
    popularity_correlation  Spearman's rank correlation of the items' supports, before and after
    similarity_change  the root mean square change of the cosine of two items; its baseline is the loss of all
    entries_kept      the share of a person's entries that is in the record that stands for the person
    value_difference         how far the values of those are off, on average, on the original's scale
    time_difference          how many days their times are off; None where there are no times any more
    """

    steps: tuple[str, ...]
    kept: Estimate | None
    hit_rate: Estimate
    hit_rate_before: Estimate
    hit_rate_loss: Estimate
    kept_hit_rate: Estimate | None
    rmse: Estimate | None
    rmse_before: Estimate | None
    rmse_increase: Estimate | None
    kept_rmse: Estimate | None
    popularity_change: Estimate
    popularity_correlation: Estimate
    similarity_change: Estimate | None
    entries_kept: Estimate
    value_difference: Estimate | None
    time_difference: Estimate | None
    seed: int
    fingerprint: str

    def measures(self) -> Iterator[tuple[str, Estimate]]:
        """Every number there is, by name."""
        for field in fields(self):
            found = getattr(self, field.name)
            if isinstance(found, Estimate):
                yield field.name, found

    @property
    def table(self) -> pl.DataFrame:
        """A row for each number."""
        made = " + ".join(self.steps)
        rows = [
            (made, name, one.value, *map(_finite, (one.low, one.high)), one.n, one.baseline, self.seed,
             self.fingerprint, __version__)
            for name, one in self.measures()
        ]  # fmt: skip
        number = dict.fromkeys(("estimate", "low", "high"), pl.Float64)
        schema = {"steps": pl.String, "measure": pl.String} | number | {"n": pl.Int64, "baseline": pl.Float64}
        schema |= {"seed": pl.Int64, "fingerprint": pl.String, "version": pl.String}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def __repr__(self) -> str:
        kept = "good for nothing" if self.kept is None else f"{self.kept.value:.0%} kept"
        return f"<Utility: {' + '.join(self.steps) or 'untouched'}; {kept}>"


def utility(
    release: Release,
    *steps: Step,
    people: int = PEOPLE,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Utility:
    """What a release is still good for after these steps; without any, what it is good for as it is.

    Of `people` up to five entries each are held out of the release, the rest is sanitized with `seed`, and a
    recommender learns from that: which items are liked, and which go together. For each person the history
    that is not held out is folded in, as it stands in the ORIGINAL: that is what whoever recommends to the
    person has. So people count whom nobody stands for, and those who are hard to find in the release.

    >>> import standout as so
    >>> release = so.synthesize(records=60, items=40, entries=900, seed=7)
    >>> found = so.utility(release, so.DropEntries(0.5), people=30)
    >>> found.entries_kept.value < 0.6, found.hit_rate.n
    (True, 30)
    """
    if isinstance(release, Sanitized):
        raise ParameterError("utility sanitizes by itself: give it the original, and the steps")
    bench = RecommenderBenchmark.of(release, whole_number("people", people, 1), check_seed(seed))
    progress("judging", 1, 3)
    safer = sanitize(bench.holdout.rest, *steps, seed=seed, threads=threads)
    progress("judging", 2, 3)
    return measure_utility(bench, safer, tuple(map(str, steps)), seed, release.fingerprint)


def measure_utility(
    bench: RecommenderBenchmark, safer: Sanitized, steps: tuple[str, ...], seed: int, fingerprint: str
) -> Utility:
    """Utility of a release that was made from the rest of the benchmark's original."""
    rest, item_codes = bench.holdout.rest, safer.mapping.item_codes
    old, new = bench.untouched, bench.tested(safer)
    popularity_change, popularity_correlation = distortion.popularity(rest, safer, item_codes)
    entries = distortion.entries(safer, bench.holdout.people, numbers(rest), calibrated_values(safer))
    errors = _errors(bench, old, new)
    kept_hit_rate = _kept(new.hit_rate, old.hit_rate)
    return Utility(
        steps=steps,
        kept=_least([share for share in (kept_hit_rate, errors.kept_rmse) if share is not None]),
        hit_rate=_rate(new),
        hit_rate_before=_rate(old),
        hit_rate_loss=(old.hit_rate - new.hit_rate).estimate(0.0),
        kept_hit_rate=kept_hit_rate,
        rmse=errors.rmse,
        rmse_before=errors.rmse_before,
        rmse_increase=errors.rmse_increase,
        kept_rmse=errors.kept_rmse,
        popularity_change=popularity_change,
        popularity_correlation=popularity_correlation,
        similarity_change=distortion.similarity(rest, safer, item_codes, seed),
        entries_kept=entries.kept,
        value_difference=entries.value_difference,
        time_difference=entries.time_difference,
        seed=seed,
        fingerprint=fingerprint,
    )


def _rate(tested: RecommenderResult) -> Estimate:
    n = len(tested.hits)
    return rate(min(math.fsum(tested.hits), n), n, float(tested.popular.mean()))


class _Errors(NamedTuple):
    rmse: Estimate | None = None
    rmse_before: Estimate | None = None
    rmse_increase: Estimate | None = None
    kept_rmse: Estimate | None = None


def _errors(bench: RecommenderBenchmark, old: RecommenderResult, new: RecommenderResult) -> _Errors:
    alone, before, after = bench.alone, old.rmse, new.rmse
    if alone is None or before is None or after is None:
        return _Errors()
    ends = after.estimate(alone.value), before.estimate(alone.value), (after - before).estimate(0.0)
    return _Errors(*ends, _kept(alone - after, alone - before))


def _kept(now: InfluenceEstimate, before: InfluenceEstimate) -> Estimate | None:
    """The share of a gain that is left; None where it is not certain that there was one."""
    return (now / before).estimate(0.0) if before.value > 0 and before.estimate().low > 0 else None


def _least(shares: list[Estimate]) -> Estimate | None:
    """The least of several, with the least of their ends."""
    if not shares:
        return None
    value, low, high = (min(getattr(one, name) for one in shares) for name in ("value", "low", "high"))
    return Estimate(value, low, high, min(one.n for one in shares), 0.0)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
