"""Many attacks on known targets → one tidy table of what they are worth."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from standout._version import __version__
from standout.adversary import Adversary
from standout.attack.eccentricity import check_phi
from standout.attack.scoreboard import ScoreboardRH
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.checks import positive_share, whole_number
from standout.core.errors import NotFoundError, ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed, generator
from standout.evaluate.checkpoint import Checkpoint
from standout.evaluate.claim_rates import ClaimRates
from standout.evaluate.estimates import Estimate, mean, median, rate
from standout.evaluate.outcomes import Criteria, Outcomes, attack_outcomes
from standout.evaluate.pairs import SimilarRecords, no_facts, revealed_items
from standout.evaluate.population import Population
from standout.evaluate.result_table import EstimateResult, EstimateRows
from standout.release.model import Release
from standout.similarity.attributes import Decay, Equal, Present, Similarity, Within

__all__ = ["Simulation", "SimulationCell", "simulate"]

BATCH = 64
"""Targets that are tried before it is told how far things are; it changes no number."""
LINEUPS, FEW_LINEUPS, MANY_RECORDS = 200, 25, 100_000
"""For so many targets the length of the lineup is worked out: fewer where a release is large."""
BINS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


def simulate(
    release: Release,
    adversaries: Adversary | Mapping[str, Adversary] | Sequence[Adversary],
    *,
    attack: ScoreboardRH | None = None,
    facts: int | Sequence[int] | None = None,
    targets: int | str | Sequence[str] = 1000,
    precision: float | None = None,
    draws: int = 1,
    phi: float = 1.5,
    budget: float = 0.01,
    theta: float = 0.5,
    similarity: Similarity | None = None,
    top: int = 10,
    absent: bool = True,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
    save: str | Path | None = None,
) -> "Simulation":
    """What an adversary achieves, measured: attacks on targets whose records are known.

    facts       with the first so many of what the adversary knows: 4, or [2, 4, 8]; all unless said otherwise
    targets     how many records are tried, drawn at random from those with enough items; "all"; or their ids
    precision   instead of a fixed number: until the rate of right guesses is known to within ± this
    draws       how many times each target is observed: the same items with other errors
    phi         the eccentricity from which on a record is claimed  [Algorithm 1B]
    budget      the share of absent targets that may be claimed: which φ keeps to it, and how many are found
    theta       the similarity from which on a wrong record is as good as the right one  [Definition 2], by
                `similarity`: values within 1 and dates within 14 days, or what the release has of them
    top         a target among the first so many counts as in the lineup
    absent      whether it is also tried without the target in the release  [Definition 3]
    save        a file that keeps what is done; a run that was cut short goes on from there

    The same seed gives the same numbers, whatever the threads. Ctrl-C ends a run with what it has.

    Where the release was made from another (`standout.sanitize`), targets are people of the original, also
    those for whom nobody stands in the release, and what is known of them is known of the original.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> done = simulate(release, so.Adversary(knows=6, time_error=14), facts=[2, 6], targets=40, seed=1)
    >>> print(done.estimate("identified", facts=6))
    1.000 (0.912 to 1.000, n = 40)
    """
    if attack is not None and not isinstance(attack, ScoreboardRH):
        raise ParameterError(f"attack must be a ScoreboardRH, got {type(attack).__name__}")
    runs = _Runs(
        release, attack or ScoreboardRH(),
        Criteria(
            whole_number("top", top, 1), positive_share("theta", theta),
            similarity or _usual(release), bool(absent),
        ),
        whole_number("draws", draws, 1), check_phi(phi), positive_share("budget", budget),
        check_seed(seed),
        None if precision is None else positive_share("precision", precision), threads, progress,
        None if save is None else Path(save),
    )  # fmt: skip
    return runs.simulation(_named(adversaries), facts, targets)


@dataclass(frozen=True, eq=False, repr=False)
class SimulationCell:
    """One adversary with one number of facts: what became of every try.

    `places` are the targets' records, in the original if the release was made from one; `present` is the
    share of them for whom a record of the release stands.
    """

    adversary: str
    facts: int
    outcomes: Outcomes
    n_records: int
    n_considered: int
    too_few_items: int
    random: tuple[float, float]
    targets: Ints
    present: float = 1.0

    def __repr__(self) -> str:
        return f"<SimulationCell: {self.adversary}; {self.facts} used, {len(self.outcomes):,} targets>"

    @property
    def claim_rates(self) -> ClaimRates:
        """What each φ would give."""
        return ClaimRates.of(self.outcomes)

    def calibration(self) -> pl.DataFrame:
        """When Π says p, how often is it true? Best guesses by Π: what was said, how many are right."""
        sure, right = self.outcomes.best_probability.ravel(), self.outcomes.identified.ravel()
        draws = self.outcomes.best_probability.shape[1]
        place = np.clip(np.searchsorted(BINS, sure, "right") - 1, 0, len(BINS) - 2)
        rows = []
        for i in np.unique(place).tolist():
            here = place == i
            trials = max(1, round(here.sum() / draws))  # draws of one target are one trial
            seen = rate(min(float(right[here].mean()), 1.0) * trials, trials)
            rows.append(
                (BINS[i], BINS[i + 1], float(sure[here].mean()), seen.value, seen.low, seen.high, seen.n)
            )
        names = ["from", "to", "mean_probability", "identified", "low", "high", "n"]
        return pl.DataFrame(
            rows, schema=dict.fromkeys(names[:-1], pl.Float64) | {"n": pl.Int64}, orient="row"
        )

    def rows(self, criteria: Criteria, phi: float, budget: float) -> Iterator[tuple[str, str, Estimate]]:
        """(measure, setting, estimate) of all measures."""
        n, seen = self.n_records, self.outcomes
        alike, share = self.random
        yield "identified", "", _rate(seen.identified, self.present / n)
        yield "in_top", f"top={criteria.top}", _rate(seen.in_top, self.present * min(1.0, criteria.top / n))
        yield "similar", f"theta={criteria.theta:g}", _rate(seen.similar, alike)
        yield from self._claims(phi, budget)
        yield "bits_left", "", _from_0(_mean(seen.bits_left, math.log2(n)))
        yield "bits_gained", "", _mean(math.log2(n) - seen.bits_left, 0.0)
        yield "bits_left", f"theta={criteria.theta:g}", _from_0(_mean(seen.similar_bits_left, math.log2(n)))
        mixed = -elementary.log2((elementary.exp2(-seen.bits_left) + 1 / n) / 2)
        yield "bits_left", "mixed_with_uniform", _from_0(_mean(mixed, math.log2(n)))
        for share_of, sizes in ((50, seen.lineup_50), (90, seen.lineup_90), (99, seen.lineup_99)):
            asked = sizes[~np.isnan(sizes)]
            if len(asked):
                yield "lineup_size", f"mass={share_of} %", median(asked, math.ceil(share_of / 100 * n))
        yield "revealed", "", _from_0(_mean(seen.revealed, None))
        yield "revealed_correct", "", _from_0(_mean(seen.revealed_correct, None))
        some = seen.revealed.sum(axis=1) > 0  # the others have nothing that was not known
        shares = seen.revealed_correct[some].sum(axis=1) / seen.revealed[some].sum(axis=1)
        yield "revealed_correct_share", "", rate(min(math.fsum(shares), len(shares)), len(shares), share)
        gap = self.calibration()
        off = float((gap["n"] * (gap["mean_probability"] - gap["identified"]).abs()).sum()) / max(
            int(gap["n"].sum()), 1
        )
        yield "calibration_gap", "", Estimate(off, math.nan, math.nan, int(gap["n"].sum()), None)

    def _claims(self, phi: float, budget: float) -> Iterator[tuple[str, str, Estimate]]:
        """Claims at φ; guessing is to claim anybody, every time."""
        at, trade, one = f"phi={phi:g}", self.claim_rates, self.present / self.n_records
        found, wrong, silent, false = trade.at(phi)
        yield "correct_claims", at, replace(found, baseline=one)
        yield "wrong_claims", at, replace(wrong, baseline=1 - one)
        yield "no_claim", at, replace(silent, baseline=0.0)
        if not trade.has_absent:
            return
        yield "absent_claims", at, replace(false, baseline=1.0)
        yield "absent_rejected", at, rate(false.n - false.value * false.n, false.n, 0.0)
        even, error = trade.equal_error_rate()
        yield (
            "equal_error_rate",
            "",
            rate(error * len(trade.eccentricity), len(trade.eccentricity), 1 / (1 + one)),
        )
        yield "phi", "equal_error_rate", Estimate(even, math.nan, math.nan, false.n, None)
        strict, within = trade.phi_for(budget), f"absent_claims<={budget:g}"
        yield "correct_claims", within, replace(trade.at(strict).correct_claims, baseline=one)
        yield "phi", within, Estimate(strict, math.nan, math.nan, false.n, None)


def _from_0(estimate: Estimate) -> Estimate:
    """The interval of a number that cannot be negative."""
    return replace(estimate, low=max(estimate.low, 0.0))


def _trials(values: Floats) -> Floats:
    """One number for each target: the mean over its draws."""
    return np.asarray(values.mean(axis=1))


def _rate(values: Floats, baseline: float) -> Estimate:
    trials = _trials(values)
    return rate(min(math.fsum(trials), len(trials)), len(trials), baseline)


def _mean(values: Floats, baseline: float | None) -> Estimate:
    return mean(_trials(values), baseline)


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(EstimateResult):
    """The cells of a simulation, and all their measures as one table.

    `complete` is False if it was cut short: then everything is about the targets that were tried. `original`
    is the fingerprint of the original if the release was made from one.
    """

    cells: tuple[SimulationCell, ...]
    criteria: Criteria
    phi: float
    budget: float
    seed: int
    fingerprint: str
    complete: bool
    original: str | None = None

    def __repr__(self) -> str:
        cut = "" if self.complete else ", cut short"
        return (
            f"<Simulation: {len(self.cells)} cells, {sum(len(c.outcomes) for c in self.cells):,} tries{cut}>"
        )

    def cell(self, adversary: str | None = None, facts: int | None = None) -> SimulationCell:
        """One of them, by the adversary's name and the number of facts, as far as there is a choice."""
        fit = [
            cell for cell in self.cells
            if adversary in (None, cell.adversary) and facts in (None, cell.facts)
        ]  # fmt: skip
        if len(fit) != 1:
            known = ", ".join(f"{cell.adversary!r} with {cell.facts}" for cell in self.cells)
            raise NotFoundError(f"{'no' if not fit else 'more than one'} such cell: there are {known}")
        return fit[0]

    def estimate(
        self, measure: str, setting: str | None = None, adversary: str | None = None, facts: int | None = None
    ) -> Estimate:
        """One number of the table."""
        found = [
            estimate
            for name, said, estimate in self._rows(self.cell(adversary, facts))
            if name == measure and setting in (None, said)
        ]
        if not found:
            raise NotFoundError(f"no measure {measure!r}" + (f" with {setting!r}" if setting else ""))
        return found[0]

    def _rows(self, cell: SimulationCell) -> Iterator[tuple[str, str, Estimate]]:
        return cell.rows(self.criteria, self.phi, self.budget)

    @cached_property
    def table(self) -> pl.DataFrame:
        rows = EstimateRows()
        for cell in self.cells:
            for measure, setting, estimate in self._rows(cell):
                rows.add(cell.adversary, cell.facts, measure, setting, estimate, cell.too_few_items)
        return rows.table(self.seed, self.fingerprint, __version__)


class _Asked(NamedTuple):
    """Whom an adversary is tried on, by places; of how many records, and how many of those cannot be."""

    name: str
    adversary: Adversary
    sizes: list[int]
    places: Ints
    of: int
    left_out: int


@dataclass(frozen=True, eq=False)
class _Runs:
    release: Release
    attack: ScoreboardRH
    criteria: Criteria
    draws: int
    phi: float
    budget: float
    seed: int
    precision: float | None
    threads: int | None
    progress: Progress
    save: Path | None

    @cached_property
    def people(self) -> Population:
        return Population.of(self.release)

    def simulation(self, adversaries: dict[str, Adversary], facts: Any, targets: Any) -> Simulation:
        asked = [
            _Asked(name, one, _sizes(facts, one), *self._targets(name, one, targets))
            for name, one in adversaries.items()
        ]
        cells: list[SimulationCell] = []
        complete = True
        for at, ask in enumerate(asked):
            stage = "attacking" if len(asked) == 1 else f"attacking {at + 1}/{len(asked)}"
            done, whole_run = self._tried(ask, stage)
            complete &= whole_run
            if done is not None:
                places = ask.places[: len(done)]
                random, n = self._random(places), self.release.n_records
                present = float((self.people.record_of(places) >= 0).mean())
                cells += [
                    SimulationCell(
                        ask.name, size, done.for_size(s), n, ask.of, ask.left_out, random, places, present
                    )
                    for s, size in enumerate(ask.sizes)
                ]
            if not whole_run:
                break
        return Simulation(
            tuple(cells), self.criteria, self.phi, self.budget, self.seed, self.release.fingerprint, complete,
            self.people.original.fingerprint if self.people.is_sanitized else None,
        )  # fmt: skip

    def _targets(self, name: str, adversary: Adversary, targets: Any) -> tuple[Ints, int, int]:
        """Places of the records that are tried, in that order; of how many; how many of those cannot be."""
        release = self.people.original
        if isinstance(targets, str) and targets != "all":
            raise ParameterError("targets must be a number, all, or ids of records")
        if isinstance(targets, Iterable) and not isinstance(targets, str):
            order = np.unique([_place(release, one) for one in targets]).astype(np.int64)
        else:
            order = generator(self.seed, "targets").permutation(release.n_records)
        able = adversary.eligible(release, order)
        places = order[able]
        if not len(places):
            raise ParameterError(f"no record can be a target: none has enough items for {name!r}")
        if targets != "all" and not isinstance(targets, Iterable):
            wanted = whole_number("targets", targets, 1)
            places = places if self.precision else places[:wanted]
        return places, len(order), int(len(order) - able.sum())

    def _tried(self, ask: _Asked, stage: str) -> tuple[Outcomes | None, bool]:
        """The outcomes, and whether all that was asked for is done."""
        kept = Checkpoint.of(self.save, self._settings(ask.adversary, ask.sizes), ask.places)
        parts: list[Outcomes] = []
        done, total = 0, len(ask.places)
        maybe = SimilarRecords(self.release, self.criteria.similarity, self.criteria.theta, self.threads)
        try:
            while done < total and not _precise(parts, self.precision):
                end = min(done + BATCH, total)
                part = kept.part(done, end)
                if part is None:
                    part = self._batch(ask, done, end, maybe)
                parts.append(part)
                done = end
                kept.keep(parts)
                self.progress(stage, done, total)
        except KeyboardInterrupt:
            pass
        kept.keep(parts, now=True)
        whole_run = done == total or _precise(parts, self.precision)
        return (Outcomes.concatenate(parts) if parts else None), whole_run

    def _batch(self, ask: _Asked, low: int, high: int, maybe: "SimilarRecords") -> Outcomes:
        """The outcomes of targets low … high - 1."""
        here = ask.places[low:high]
        known = self.people.known_facts(ask.adversary, here, self.seed, self.draws)
        lineups = LINEUPS if self.release.n_records <= MANY_RECORDS else FEW_LINEUPS
        shown = min(max(lineups - low, 0), len(here))
        near = maybe.near(ask.places, low, high)
        return attack_outcomes(
            self.attack, self.release, known, here, ask.sizes, self.criteria, near, shown, self.threads
        )

    def _settings(self, adversary: Adversary, sizes: list[int]) -> list[object]:
        """What the outcomes depend on. A function cannot be told from another by its name."""
        similarities = self.attack.similarity, self.criteria.similarity
        known = all(type(one) in (Within, Decay, Equal, Present) for one in similarities)
        if self.save is not None and not (known and isinstance(self.attack.weights, str)):
            raise ParameterError("save works with named weights and the similarities that come with Standout")
        return [
            *self.people.key(), adversary.key(), sizes, repr(self.attack), repr(self.criteria),
            self.draws, self.seed, LINEUPS, FEW_LINEUPS, __version__,
        ]  # fmt: skip

    def _random(self, places: Ints) -> tuple[float, float]:
        """What a guess at random gives: how often it is similar to the target, how much of it is right."""
        draw = generator(self.seed, "guesses")
        guess = draw.integers(self.release.n_records, size=len(places))
        known = no_facts(self.release, len(places))
        found = revealed_items(self.release, places, guess, known, self.criteria.similarity)
        return float((found.similarity >= self.criteria.theta).mean()), float(
            (found.right / found.beyond).mean()
        )


def _precise(parts: list[Outcomes], precision: float | None) -> bool:
    """Whether the rate of right guesses is known well enough in every cell."""
    if precision is None or not parts:
        return False
    right = np.concatenate([part.identified for part in parts])
    return all(_rate(right[:, :, s], 0.0).width <= precision for s in range(right.shape[2]))


def _named(adversaries: Any) -> dict[str, Adversary]:
    """Adversaries by name: in few words unless names are given, numbered where the words are the same."""
    if isinstance(adversaries, Mapping):
        named = dict(adversaries)
    else:
        listed = [adversaries] if isinstance(adversaries, Adversary) else adversaries
        if not isinstance(listed, Iterable):
            listed = []
        named = {}
        for one in listed:
            words, same = str(one), sum(name.split(" #")[0] == str(one) for name in named)
            named[f"{words} #{same + 1}" if same else words] = one
    if not named or not all(isinstance(one, Adversary) for one in named.values()):
        raise ParameterError("adversaries are one Adversary, several, or several by name")
    return named


def _sizes(facts: int | Sequence[int] | None, adversary: Adversary) -> list[int]:
    sizes = [adversary.knows] if facts is None else [facts] if isinstance(facts, (int, np.integer)) else facts
    found = sorted({whole_number("facts", size, 1) for size in sizes})
    if not found or found[-1] > adversary.knows:
        raise ParameterError(
            f"facts must be from 1 to the {adversary.knows} that the adversary knows, got {facts}"
        )
    return found


def _usual(release: Release) -> Similarity:
    """Values within 1 and dates within 14 days, as far as the release has them."""
    if isinstance(release.levels, tuple):
        return Equal()
    value, time = (1 if release.n_levels else None), (14 if release.span else None)
    return Present() if value is None and time is None else Within(value=value, time=time)


def _place(release: Release, name: Any) -> int:
    place = release.records.find(name) if isinstance(name, str) else None
    if place is None:
        raise NotFoundError("the release has no record of that id; ids are text, so 007 is not 7")
    return place
