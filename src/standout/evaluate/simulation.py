"""The result of `simulate`: the measures of each adversary with each number of facts, and a table of all of them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl

from standout._version import __version__
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.errors import NotFoundError, ParameterError, did_you_mean
from standout.core.files import write_atomically
from standout.core.text import estimate_line
from standout.data.export import FrameExport, ResultView
from standout.evaluate.claims import (
    LAST_DIGITS,
    PAPER_THRESHOLD,
    ClaimRates,
    ClaimThreshold,
    RatesAtPhi,
    rates_within_budget,
)
from standout.evaluate.estimates import Estimate, difference, mean, median, rate, rate_by_target, weighted_mean
from standout.evaluate.outcomes import Criteria, Outcomes

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


# Claims about people who may not be in the release, because it is a sample of a population.
#
# A person of the population who is not in the release explains the facts as well as anybody does. In units of
# the guess that is P(facts) / P(facts | guess), and there are N − n such people:
#
#     posterior = 1 / (1 / posterior among the records + (N − n) · P(facts) / P(facts | guess))
#
# P(facts) is a product over columns, which depend on each other in truth. The mean of P(facts | record) over the
# other records is another estimate, and the higher of the two counts.


@dataclass(frozen=True, slots=True)
class PopulationRates:
    """Shares of the population, and of the people in the release, claimed rightly; and of claims that are right."""

    population: int
    identified: Estimate
    in_table: Estimate
    confidence: Estimate


def population_rates(
    outcomes: Outcomes, people: int, posterior: float, n_records: int, n_original: int, present: int
) -> PopulationRates:
    """Claims about people in the release and others; `present` of the targets, of `n_original` people, are in it."""
    others, n = people - n_records, len(outcomes)
    found = outcomes.identified.ravel()
    claims = posterior_among(outcomes.best_probability, outcomes.anybody, n_records, others) >= posterior
    # Without the target's own record there is one record less to choose from.
    false = posterior_among(outcomes.absent_probability, outcomes.absent_anybody, n_records - 1, others) >= posterior
    draws = max(found.size // max(n, 1), 1)
    right, wrong = math.fsum(found * claims) / draws, math.fsum((1.0 - found) * claims) / draws
    share, of_original = n_original / people, rate(right, n)
    in_table = rate(min(right, present), present)
    identified = Estimate(of_original.value * share, of_original.low * share, of_original.high * share, n)
    return PopulationRates(
        people, identified, in_table, _confidence(right, wrong, float(false.sum()) / draws, n, share)
    )


def posterior_among(probability: Floats, anybody: Floats, candidates: int, nobody: float) -> Floats:
    """The posterior of the guess if so many other people may be the target too; 0 without a guess."""
    probability, anybody = probability.ravel(), anybody.ravel()
    with np.errstate(divide="ignore"):
        others = (1.0 / probability - 1.0) / max(candidates - 1, 1)
        by_likelihood = 1.0 / (1.0 / probability + nobody * np.maximum(anybody, others))
    return np.where(np.isnan(anybody), probability / (1.0 + nobody / max(candidates, 1)), by_likelihood)


def _confidence(right: float, wrong: float, false: float, n: int, share: float) -> Estimate:
    """The share of claims that are right. Its interval takes the ends of both rates."""
    made = share * (right + wrong) + (1.0 - share) * false
    if made == 0:
        return Estimate(0.0, 0.0, 1.0, 0)
    of_right, of_wrong, of_false = (rate(count, n) for count in (right, wrong, false))
    most_bad = share * of_wrong.high + (1.0 - share) * of_false.high
    least_bad = share * of_wrong.low + (1.0 - share) * of_false.low
    low = share * of_right.low / max(share * of_right.low + most_bad, 1e-300)
    high = share * of_right.high / max(share * of_right.high + least_bad, 1e-300)
    return Estimate(share * right / made, low, high, n)


@dataclass(frozen=True, eq=False, repr=False)
class SimulationCell:
    """The outcomes of one adversary with one number of facts.

    `too_few_items` of the `n_considered` people have too few entries to be targets. `targets` are indices of records,
    in the original if the release is sanitized; a record of the release represents the share `present` of them.
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
        return mean((math.log2(self.n_records) - self.outcomes.bits_left).mean(axis=1), 0.0)

    @property
    def claims(self) -> RatesAtPhi:
        """The rates of correct, wrong and absent claims at the threshold."""
        return self.claim_rates.at(self.threshold.strength)

    @property
    def claim_rates(self) -> ClaimRates:
        """The rates of claims at any φ."""
        return ClaimRates.of(self.outcomes, 0.0 if self.threshold.by_posterior else None)

    def calibration(self) -> pl.DataFrame:
        """Best guesses grouped by their probability Π, with the share of right guesses in each group."""
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
        outcomes, theta, all_bits = self.outcomes, f"theta={criteria.theta:g}", math.log2(self.n_records)
        has_similar = not np.isnan(outcomes.similar).any()
        in_top = self.present * min(1.0, criteria.top / self.n_records)
        yield Measurement("identified", "", self.identified)
        yield Measurement("in_top", f"top={criteria.top}", rate_by_target(outcomes.in_top, in_top))
        if has_similar:
            yield Measurement("similar", theta, rate_by_target(outcomes.similar, self.random_guess.similar))
        yield from self._claims(budget, theta if has_similar else None)
        bits, wrong = outcomes.bits_left, 1.0 - outcomes.identified  # a tie of t counts (t − 1)/t
        mixed = -elementary.log2((elementary.exp2(-bits) + 1 / self.n_records) / 2)
        # "Even for the other 32 % … the additional information required … is only around 3 bits" [section 5].
        weight = wrong.mean(axis=1)
        failures = weighted_mean((wrong * bits).mean(axis=1) / np.where(weight > 0, weight, 1.0), weight, all_bits)
        yield Measurement("bits_left", "", _positive_mean(bits, all_bits))
        yield Measurement("bits_gained", "", self.bits_gained)
        if has_similar:
            yield Measurement("bits_left", theta, _positive_mean(outcomes.similar_bits_left, all_bits))
        yield Measurement("bits_left", "mixed_with_uniform", _positive_mean(mixed, all_bits))
        yield Measurement("bits_left", "not identified", replace(failures, low=max(failures.low, 0.0)))
        for mass, sizes in ((50, outcomes.lineup_50), (90, outcomes.lineup_90), (99, outcomes.lineup_99)):
            if len(computed := sizes[~np.isnan(sizes)]):
                guess = math.ceil(mass / 100 * self.n_records)
                yield Measurement("lineup_size", f"mass={mass} %", median(computed, guess))
        revealed, correct = outcomes.revealed, outcomes.revealed_correct
        if not np.isnan(revealed).any():
            yield Measurement("revealed", "", _positive_mean(revealed))
            yield Measurement("revealed_correct", "", _positive_mean(correct))
            has_any = revealed.sum(axis=1) > 0
            shares = correct[has_any].sum(axis=1) / revealed[has_any].sum(axis=1)
            share = rate_by_target(shares[:, None], self.random_guess.revealed_correct_share)
            yield Measurement("revealed_correct_share", "", share)
        if self.population is not None:
            rates, setting = self.population, f"population={self.population.population}"
            yield Measurement("identified", setting, rates.identified)
            yield Measurement("correct_claims", setting, rates.in_table)
            yield Measurement("claim_confidence", setting, rates.confidence)
        bins = self.calibration()  # mean distance between Π and the share of right guesses, over the bins
        n, distance = int(bins["n"].sum()), (bins["mean_probability"] - bins["identified"]).abs()
        gap = float((bins["n"] * distance).sum()) / max(n, 1)
        yield Measurement("calibration_gap", "", Estimate(gap, math.nan, math.nan, n))
        yield Measurement("calibration_bias", "", self._calibration_bias())

    def _claims(self, budget: float, theta: str | None) -> Iterator[Measurement]:
        """Claims at the threshold, of absent targets too, at equal errors, within the budget, and of similar records.

        The baseline claims a random record for every target. A claim about a record that is at least θ similar to the
        target is correct in the sense of [Definition 3].
        """
        threshold, rates, guess = self.threshold, self.claim_rates, self.present / self.n_records
        at_phi, measure, n = threshold.setting, threshold.measure, len(self.outcomes)
        claims = rates.at(threshold.strength)
        yield Measurement("correct_claims", at_phi, replace(claims.correct_claims, baseline=guess))
        yield Measurement("wrong_claims", at_phi, replace(claims.wrong_claims, baseline=1 - guess))
        yield Measurement("no_claim", at_phi, replace(claims.no_claim, baseline=0.0))
        if rates.has_absent:
            absent, equal = claims.absent_claims, rates.equal_error_rate()
            yield Measurement("absent_claims", at_phi, replace(absent, baseline=1.0))
            yield Measurement("absent_rejected", at_phi, rate(n - absent.value * n, n, 0.0))
            yield Measurement("equal_error_rate", "", rate(equal.rate * n, n, 1 / (1 + guess)))
            phi = Estimate(threshold.stated(equal.phi), math.nan, math.nan, n)
            yield Measurement(measure, "equal_error_rate", phi)
            within, at_budget = rates_within_budget(rates, budget), f"absent_claims<={budget:g}"
            yield Measurement(measure, at_budget, replace(phi, value=threshold.stated(within.phi)))
            yield Measurement("correct_claims", at_budget, replace(within.correct_claims, baseline=guess))
            yield Measurement("absent_claims", at_budget, replace(within.absent_claims, baseline=1.0))
        if theta is not None:
            rates, guess = replace(rates, identified=self.outcomes.similar), self.random_guess.similar
            claims = rates.at(threshold.strength)
            setting = f"{at_phi}, {theta}"
            yield Measurement("correct_claims", setting, replace(claims.correct_claims, baseline=guess))
            yield Measurement("wrong_claims", setting, replace(claims.wrong_claims, baseline=1 - guess))
            if rates.has_absent:
                equal_rate = rate(rates.equal_error_rate().rate * n, n, 1 / (1 + guess))
                yield Measurement("equal_error_rate", theta, equal_rate)

    def _calibration_bias(self) -> Estimate:
        """Mean Π of the best guess minus the share of right guesses, paired by target."""
        said, right = self.outcomes.best_probability.mean(axis=1), self.outcomes.identified.mean(axis=1)
        x, y = said - said.mean(), right - right.mean()
        scale = math.sqrt(math.fsum(x * x) * math.fsum(y * y))
        correlation = math.fsum(x * y) / scale if scale > 0 else 0.0
        bias = difference(mean(said), rate_by_target(self.outcomes.identified), correlation)
        return replace(bias, low=max(bias.low, -1.0), high=min(bias.high, 1.0))


def _positive_mean(values: Floats, baseline: float | None = None) -> Estimate:
    """The mean over targets of numbers that cannot be negative: its interval begins at 0 at the lowest."""
    estimate = mean(values.mean(axis=1), baseline)
    return replace(estimate, low=max(estimate.low, 0.0))


# Results as tidy tables, and tables as files.


WRITERS = {".csv": "write_csv", ".parquet": "write_parquet", ".json": "write_json"}

COLUMNS: dict[str, type[pl.DataType]] = dict.fromkeys(("adversary", "facts", "measure", "setting"), pl.String)
COLUMNS |= dict.fromkeys(("estimate", "low", "high", "n", "baseline"), pl.Float64)
COLUMNS |= dict.fromkeys(("facts", "n", "too_few_items", "seed"), pl.Int64)
COLUMNS |= dict.fromkeys(("fingerprint", "version"), pl.String)


Row = TypeVar("Row")


def the_only(rows: Sequence[Row], kind: str, **wanted: Any) -> Row:
    """The only row with these attributes (None: any); an error if no row fits, or more than one."""
    fitting = [row for row in rows if all(value in (None, getattr(row, name)) for name, value in wanted.items())]
    if len(fitting) == 1:
        return fitting[0]
    known = {name: list(dict.fromkeys(str(getattr(row, name)) for row in rows)) for name in wanted}
    near = [did_you_mean(value, known[name]) for name, value in wanted.items() if value not in known[name]]
    there_are = "; ".join(f"{name} {', '.join(values) or 'none'}" for name, values in known.items())
    count = "more than one" if fitting else "no"
    raise NotFoundError(f"{count} {kind} fits: give {', '.join(wanted)}: {there_are}{'' if fitting else ''.join(near)}")


class TableResult(FrameExport):
    """A result with a table that can be written to a file and given to other libraries."""

    def to_csv(self, path: str | Path) -> None:
        """Write the table to a CSV file."""
        write_table(self._frame(), path, ".csv")

    def to_parquet(self, path: str | Path) -> None:
        """Write the table to a Parquet file."""
        write_table(self._frame(), path, ".parquet")

    def to_json(self, path: str | Path) -> None:
        """Write the table to a JSON file: a list of objects."""
        write_table(self._frame(), path, ".json")


def write_table(table: pl.DataFrame, path: str | Path, suffix: str | None = None) -> None:
    """Write a table in the format of `suffix`; default: the suffix of the path."""
    writer = WRITERS.get(suffix or Path(path).suffix)
    if writer is None:
        raise ParameterError(f"the file name must end in {', '.join(WRITERS)}, got {Path(path).name!r}")
    write_atomically(Path(path), getattr(table, writer))


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(ResultView, TableResult):
    """The result of `simulate`: one cell for each adversary and number of facts, and a table of all measures.

    Attributes
    ----------
    cells
        The outcomes by adversary and number of facts.
    criteria, threshold, budget, seed
        The settings; a record is claimed from `threshold` on.
    fingerprint
        The fingerprint of the release.
    complete
        False if the run was interrupted; the numbers are then about the targets attacked so far.
    original
        The fingerprint of the original if the release is sanitized.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> simulation = so.simulate(release, so.Adversary(knows=4), targets=40)
    >>> simulation
    <Simulation: 1 cell, 40 attacks; identified 100 % (91.2 to 100 %)>
    >>> simulation.table.columns[:5]
    ['adversary', 'facts', 'measure', 'setting', 'estimate']
    """

    cells: tuple[SimulationCell, ...]
    criteria: Criteria
    threshold: ClaimThreshold
    budget: float
    seed: int
    fingerprint: str
    complete: bool
    original: str | None = None

    def __repr__(self) -> str:
        cells = "1 cell" if len(self.cells) == 1 else f"{len(self.cells)} cells"
        attacks = sum(len(cell.outcomes) for cell in self.cells)
        state = "" if self.complete else ", interrupted"
        return f"<Simulation: {cells}, {attacks:,} attacks{state}; {self._identified}>"

    @property
    def _identified(self) -> str:
        """The main result: the share of targets identified, or its range over the cells."""
        rates = sorted((cell.identified for cell in self.cells), key=lambda rate: rate.value)
        if not rates:
            return "no result"
        shown = list(dict.fromkeys(map(estimate_line, (rates[0], rates[-1]))))
        return f"identified {' to '.join(shown) if len(rates) > 1 else shown[0]}"

    def cell(self, adversary: str | None = None, facts: int | None = None) -> SimulationCell:
        """The cell of an adversary and a number of facts; an error if no cell fits, or more than one."""
        return the_only(self.cells, "cell", adversary=adversary, facts=facts)

    def estimate(
        self, measure: str, setting: str | None = None, adversary: str | None = None, facts: int | None = None
    ) -> Estimate:
        """One number of the table; an error if there is no such measure, setting or cell."""
        measurements = self.measurements(self.cell(adversary, facts))
        for measurement in measurements:
            if measurement.measure == measure and setting in (None, measurement.setting):
                return measurement.estimate
        names = list(dict.fromkeys(each.measure for each in measurements))
        if measure not in names:
            near = did_you_mean(measure, names) or f"; there are {', '.join(names)}"
            raise NotFoundError(f"no measure {measure!r:.60}{near}")
        settings = [each.setting for each in measurements if each.measure == measure and each.setting]
        near = did_you_mean(setting, settings) or f"; its settings: {', '.join(settings) or 'none'}"
        raise NotFoundError(f"no measure {measure!r} with setting {setting!r:.60}{near}")

    def measurements(self, cell: SimulationCell) -> list[Measurement]:
        """All measures of a cell, in the order of the table."""
        return list(cell.measurements(self.criteria, self.budget))

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row for each adversary, number of facts and measure; see docs/measures.md.

        `setting` gives φ, θ or k. `low` and `high` are the ends of the 95 % interval, empty if there is none.
        """
        rows, about = [], (self.seed, self.fingerprint, __version__)
        for cell in self.cells:
            for measure, setting, estimate in self.measurements(cell):
                low, high = (end if math.isfinite(end) else None for end in (estimate.low, estimate.high))
                numbers = estimate.value, low, high, estimate.n, estimate.baseline, cell.too_few_items
                rows.append((cell.adversary, cell.facts, measure, setting, *numbers, *about))
        return pl.DataFrame(rows, schema=COLUMNS, orient="row")
