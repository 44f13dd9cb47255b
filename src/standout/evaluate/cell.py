"""The measures of one adversary with one number of facts."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.files import write_atomically
from standout.core.results import FrameExport
from standout.core.text import estimate_line
from standout.evaluate.claims import (
    LAST_DIGITS,
    PAPER_THRESHOLD,
    ClaimRates,
    ClaimThreshold,
    RatesAtPhi,
    rates_within_budget,
)
from standout.evaluate.columns import PopulationRates
from standout.evaluate.estimates import Estimate, difference, mean, median, rate, weighted_mean
from standout.evaluate.outcomes import Criteria, Outcomes

__all__ = [
    "COLUMNS",
    "WRITERS",
    "EstimateResult",
    "EstimateRow",
    "Measurement",
    "RandomGuess",
    "SimulationCell",
    "TableResult",
    "estimate_table",
    "rate_by_target",
    "write_table",
]

BINS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


class Measurement(NamedTuple):
    """One number of a simulation: which measure, at which setting (φ, θ, k …), and the estimate."""

    measure: str
    setting: str
    estimate: Estimate


class RandomGuess(NamedTuple):
    """How often a random record is similar to the target, and its share of correct items."""

    similar: float
    revealed_correct_share: float


@dataclass(frozen=True, eq=False, repr=False)
class SimulationCell:
    """The outcomes of one adversary with one number of facts.

    Attributes
    ----------
    adversary
        The adversary's name.
    facts
        Number of known facts.
    outcomes
        The outcome of every attack, by target and draw.
    n_records
        Number of records in the release.
    n_considered
        Number of people from whom the targets were taken.
    too_few_items
        How many of these have too few entries to be targets.
    random_guess
        What guessing a random record achieves.
    targets
        Indices of the targets; in the original if the release is sanitized.
    present
        Share of the targets whom a record of the release represents.
    threshold
        When a record is claimed.
    population
        Claims about one of a population, if a release with columns is a sample of one.
    """

    adversary: str
    facts: int
    outcomes: Outcomes
    n_records: int
    n_considered: int
    too_few_items: int
    random_guess: RandomGuess
    targets: Ints
    present: float = 1.0
    threshold: ClaimThreshold = PAPER_THRESHOLD
    population: PopulationRates | None = None

    def __repr__(self) -> str:
        size = f"{self.facts} facts, {len(self.outcomes):,} targets"
        return f"<SimulationCell: {self.adversary}; {size}; identified {estimate_line(self.identified)}>"

    @property
    def identified(self) -> Estimate:
        """The share of targets whose record is the best guess."""
        return rate_by_target(self.outcomes.identified, self.present / self.n_records)

    @property
    def bits_gained(self) -> Estimate:
        """log2 of the number of records, minus the bits that are left."""
        return _mean_by_target(math.log2(self.n_records) - self.outcomes.bits_left, 0.0)

    @property
    def candidates_left(self) -> Estimate:
        """2 to the mean number of bits left: how many people fit the facts about equally well."""
        bits = _mean_by_target(self.outcomes.bits_left, None)
        return Estimate(2**bits.value, 2 ** max(bits.low, 0.0), 2 ** min(bits.high, 60.0), bits.n)

    @property
    def claims(self) -> RatesAtPhi:
        """The rates of correct, wrong and absent claims at the threshold."""
        return self.claim_rates.at(self.threshold.strength)

    @property
    def claim_rates(self) -> ClaimRates:
        """The rates of claims at any φ."""
        return ClaimRates.of(self.outcomes, 0.0 if self.threshold.by_posterior else None)

    @property
    def similar_claim_rates(self) -> ClaimRates:
        """The same if a claim is correct whenever the record is at least θ similar to the target."""
        return replace(self.claim_rates, identified=self.outcomes.similar)

    def calibration(self) -> pl.DataFrame:
        """Best guesses grouped by their probability Π, with the share of right guesses in each group.

        Columns: from and to (the bin of Π), mean_probability (mean Π), identified (share of right guesses),
        low, high, n.
        """
        probability, identified = self.outcomes.best_probability.ravel(), self.outcomes.identified.ravel()
        draws = self.outcomes.best_probability.shape[1]
        bins = np.clip(np.searchsorted(BINS, probability * (1 + LAST_DIGITS), "right") - 1, 0, len(BINS) - 2)
        rows = []
        for i in np.unique(bins).tolist():
            in_bin = bins == i
            trials = max(1, round(in_bin.sum() / draws))  # the draws of one target are one trial
            right = rate(min(float(identified[in_bin].mean()), 1.0) * trials, trials)
            middle = float(probability[in_bin].mean())
            rows.append((BINS[i], BINS[i + 1], middle, right.value, right.low, right.high, right.n))
        names = ["from", "to", "mean_probability", "identified", "low", "high"]
        schema = dict.fromkeys(names, pl.Float64) | {"n": pl.Int64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def measurements(self, criteria: Criteria, budget: float) -> Iterator[Measurement]:
        """All measures, in the order of the table."""
        n, outcomes, theta = self.n_records, self.outcomes, f"theta={criteria.theta:g}"
        in_top = min(1.0, criteria.top / n)
        yield Measurement("identified", "", self.identified)
        yield Measurement("in_top", f"top={criteria.top}", rate_by_target(outcomes.in_top, self.present * in_top))
        has_similar = not np.isnan(outcomes.similar).any()
        if has_similar:
            yield Measurement("similar", theta, rate_by_target(outcomes.similar, self.random_guess.similar))
        yield from self._claims()
        if self.claim_rates.has_absent:
            yield from self._false_claims(budget)
        if has_similar:
            yield from self._similar_claims(theta)
        yield from self._bits(theta if has_similar else None)
        yield from self._lineup_sizes()
        if not np.isnan(outcomes.revealed).any():
            yield from self._revealed()
        if self.population is not None:
            rates, setting = self.population, f"population={self.population.population}"
            yield Measurement("identified", setting, rates.identified)
            yield Measurement("correct_claims", setting, rates.in_table)
            yield Measurement("claim_confidence", setting, rates.confidence)
        yield Measurement("calibration_gap", "", self._calibration_gap())
        yield Measurement("calibration_bias", "", self._calibration_bias())

    def _claims(self) -> Iterator[Measurement]:
        """Claims at the threshold. The baseline claims a random record for every target."""
        at_phi, guess = self.threshold.setting, self.present / self.n_records
        correct, wrong, no_claim, _ = self.claim_rates.at(self.threshold.strength)
        yield Measurement("correct_claims", at_phi, replace(correct, baseline=guess))
        yield Measurement("wrong_claims", at_phi, replace(wrong, baseline=1 - guess))
        yield Measurement("no_claim", at_phi, replace(no_claim, baseline=0.0))

    def _false_claims(self, budget: float) -> Iterator[Measurement]:
        """Claims about absent targets: at the threshold, at equal errors, and within the budget."""
        threshold, rates, guess = self.threshold, self.claim_rates, self.present / self.n_records
        at_phi, measure = threshold.setting, threshold.measure
        absent, n = rates.at(threshold.strength).absent_claims, len(rates.absent_claim_strength)
        yield Measurement("absent_claims", at_phi, replace(absent, baseline=1.0))
        yield Measurement("absent_rejected", at_phi, rate(n - absent.value * n, n, 0.0))
        equal = rates.equal_error_rate()
        yield Measurement("equal_error_rate", "", rate(equal.rate * n, n, 1 / (1 + guess)))
        yield Measurement(measure, "equal_error_rate", _without_interval(threshold.stated(equal.phi), n))
        within, at_budget = rates_within_budget(rates, budget), f"absent_claims<={budget:g}"
        yield Measurement(measure, at_budget, _without_interval(threshold.stated(within.phi), n))
        yield Measurement("correct_claims", at_budget, replace(within.correct_claims, baseline=guess))
        yield Measurement("absent_claims", at_budget, replace(within.absent_claims, baseline=1.0))

    def _similar_claims(self, theta: str) -> Iterator[Measurement]:
        """Claims that are correct if the record is at least θ similar to the target  [Definition 3]."""
        rates, guess = self.similar_claim_rates, self.random_guess.similar
        setting, at_phi = f"{self.threshold.setting}, {theta}", rates.at(self.threshold.strength)
        yield Measurement("correct_claims", setting, replace(at_phi.correct_claims, baseline=guess))
        yield Measurement("wrong_claims", setting, replace(at_phi.wrong_claims, baseline=1 - guess))
        if rates.has_absent:
            n, equal = len(rates.claim_strength), rates.equal_error_rate().rate
            yield Measurement("equal_error_rate", theta, rate(equal * n, n, 1 / (1 + guess)))

    def _bits(self, theta: str | None) -> Iterator[Measurement]:
        bits, all_bits = self.outcomes.bits_left, math.log2(self.n_records)
        mixed = -elementary.log2((elementary.exp2(-bits) + 1 / self.n_records) / 2)
        similar = self.outcomes.similar_bits_left
        yield Measurement("bits_left", "", _not_negative(_mean_by_target(bits, all_bits)))
        yield Measurement("bits_gained", "", self.bits_gained)
        if theta is not None:
            yield Measurement("bits_left", theta, _not_negative(_mean_by_target(similar, all_bits)))
        yield Measurement("bits_left", "mixed_with_uniform", _not_negative(_mean_by_target(mixed, all_bits)))
        yield Measurement("bits_left", "not identified", _not_negative(self._bits_left_of_failures(all_bits)))

    def _bits_left_of_failures(self, baseline: float) -> Estimate:
        """The mean of `bits_left` where the best guess is wrong; a tie of t counts (t − 1)/t.

        "Even for the other 32 % … the additional information required … is only around 3 bits" [section 5].
        """
        wrong = 1.0 - self.outcomes.identified
        weight = _means_by_target(wrong)
        bits = _means_by_target(wrong * self.outcomes.bits_left) / np.where(weight > 0, weight, 1.0)
        return weighted_mean(bits, weight, baseline)

    def _lineup_sizes(self) -> Iterator[Measurement]:
        outcomes = self.outcomes
        for mass, sizes in ((50, outcomes.lineup_50), (90, outcomes.lineup_90), (99, outcomes.lineup_99)):
            computed = sizes[~np.isnan(sizes)]
            if len(computed):
                guess = math.ceil(mass / 100 * self.n_records)
                yield Measurement("lineup_size", f"mass={mass} %", median(computed, guess))

    def _revealed(self) -> Iterator[Measurement]:
        revealed, correct = self.outcomes.revealed, self.outcomes.revealed_correct
        yield Measurement("revealed", "", _not_negative(_mean_by_target(revealed, None)))
        yield Measurement("revealed_correct", "", _not_negative(_mean_by_target(correct, None)))
        has_any = revealed.sum(axis=1) > 0
        shares = correct[has_any].sum(axis=1) / revealed[has_any].sum(axis=1)
        share = rate(min(math.fsum(shares), len(shares)), len(shares), self.random_guess.revealed_correct_share)
        yield Measurement("revealed_correct_share", "", share)

    def _calibration_gap(self) -> Estimate:
        """Mean distance between Π and the share of right guesses, over the bins of the calibration."""
        bins = self.calibration()
        n = int(bins["n"].sum())
        distance = (bins["mean_probability"] - bins["identified"]).abs()
        return _without_interval(float((bins["n"] * distance).sum()) / max(n, 1), n)

    def _calibration_bias(self) -> Estimate:
        """Mean Π of the best guess minus the share of right guesses, paired by target."""
        said, right = (_means_by_target(self.outcomes.best_probability), _means_by_target(self.outcomes.identified))
        bias = difference(mean(said), rate_by_target(self.outcomes.identified), _correlation(said, right))
        return replace(bias, low=max(bias.low, -1.0), high=min(bias.high, 1.0))


def _without_interval(value: float, n: int) -> Estimate:
    return Estimate(value, math.nan, math.nan, n, None)


def _not_negative(estimate: Estimate) -> Estimate:
    """The estimate of a number that cannot be negative: its interval begins at 0 at the lowest."""
    return replace(estimate, low=max(estimate.low, 0.0))


def _means_by_target(values: Floats) -> Floats:
    """The mean over the draws of each target: the draws of one target are one trial."""
    return np.asarray(values.mean(axis=1))


def rate_by_target(values: Floats, baseline: float | None = None) -> Estimate:
    """The rate over targets of outcomes by target and draw."""
    trials = _means_by_target(values)
    return rate(min(math.fsum(trials), len(trials)), len(trials), baseline)


def _correlation(first: Floats, second: Floats) -> float:
    """Pearson's correlation; 0 if one of the two does not vary."""
    x, y = first - first.mean(), second - second.mean()
    scale = math.sqrt(math.fsum(x * x) * math.fsum(y * y))
    return math.fsum(x * y) / scale if scale > 0 else 0.0


def _mean_by_target(values: Floats, baseline: float | None) -> Estimate:
    return mean(_means_by_target(values), baseline)


# Results as tidy tables, and tables as files.


WRITERS = {".csv": "write_csv", ".parquet": "write_parquet", ".json": "write_json"}

COLUMNS = {
    "adversary": pl.String,
    "facts": pl.Int64,
    "measure": pl.String,
    "setting": pl.String,
    "estimate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "baseline": pl.Float64,
    "too_few_items": pl.Int64,
    "seed": pl.Int64,
    "fingerprint": pl.String,
    "version": pl.String,
}


class EstimateRow(NamedTuple):
    """One row of the table, without the columns that are the same in all rows."""

    adversary: str
    facts: int
    measure: str
    setting: str
    estimate: Estimate
    too_few_items: int


def estimate_table(rows: Iterable[EstimateRow], seed: int, fingerprint: str, version: str) -> pl.DataFrame:
    """The rows as a table with the columns COLUMNS; an interval end that is not finite is empty."""
    cells = [
        (
            row.adversary,
            row.facts,
            row.measure,
            row.setting,
            row.estimate.value,
            *(end if math.isfinite(end) else None for end in (row.estimate.low, row.estimate.high)),
            row.estimate.n,
            row.estimate.baseline,
            row.too_few_items,
            seed,
            fingerprint,
            version,
        )
        for row in rows
    ]
    return pl.DataFrame(cells, schema=COLUMNS, orient="row")


class TableResult(FrameExport):
    """A result with a table that can be written to a file and given to other libraries."""

    @property
    def table(self) -> pl.DataFrame:
        """The result as a table."""
        raise NotImplementedError

    def _frame(self) -> pl.DataFrame:
        return self.table

    def to_csv(self, path: str | Path) -> None:
        """Write the table to a CSV file."""
        write_table(self.table, path, ".csv")

    def to_parquet(self, path: str | Path) -> None:
        """Write the table to a Parquet file."""
        write_table(self.table, path, ".parquet")

    def to_json(self, path: str | Path) -> None:
        """Write the table to a JSON file: a list of objects."""
        write_table(self.table, path, ".json")


class EstimateResult(TableResult):
    """A result whose table has one row for each adversary, number of facts and measure.

    `setting` gives φ, θ or k. `low` and `high` are the ends of the 95 % interval, empty if there is none.
    `n` is the number of trials, `baseline` the value that guessing reaches. `too_few_items` counts the
    records that have too few entries to be targets.
    """


def write_table(table: pl.DataFrame, path: str | Path, suffix: str | None = None) -> None:
    """Write a table in the format of `suffix`; default: the suffix of the path."""
    writer = WRITERS.get(suffix or Path(path).suffix)
    if writer is None:
        raise ParameterError(f"the file name must end in {', '.join(WRITERS)}, got {Path(path).name!r}")
    write_atomically(Path(path), getattr(table, writer))
