"""Many attacks on known targets → one tidy table of what they are worth."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout._version import __version__
from standout.adversary import Adversary
from standout.attack.match import check_phi
from standout.attack.score import ScoreboardRH
from standout.errors import NotFoundError, ParameterError
from standout.measure.estimate import Estimate, mean, median, rate
from standout.measure.outcomes import Outcomes, Question, tried
from standout.measure.pairs import near, nothing, revealed
from standout.measure.results import Results, Rows
from standout.measure.success import Tradeoff
from standout.measure.targets import whole
from standout.release.model import Release
from standout.release.progress import Progress, quiet
from standout.rng import check_seed, generator
from standout.similarity.attributes import Equal, Present, Similarity, Within

__all__ = ["Cell", "Simulation", "simulate"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
BATCH = 64
"""Targets that are tried before it is told how far things are; it changes no number."""
NEIGHBOURS = 16 * BATCH
"""For so many targets at a time it is asked who is similar to them."""
LINEUPS, FEW_LINEUPS, MANY_RECORDS = 200, 25, 100_000
"""For so many targets the length of the lineup is worked out: fewer where a release is large."""
BINS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
BUDGET = 0.01


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
    theta: float = 0.5,
    similarity: Similarity | None = None,
    top: int = 10,
    absent: bool = True,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = quiet,
    save: str | Path | None = None,
) -> "Simulation":
    """What an adversary achieves, measured: attacks on targets whose records are known.

    facts       with the first so many of what the adversary knows: 4, or [2, 4, 8]; all unless said otherwise
    targets     how many records are tried, drawn at random from those with enough items; "all"; or their ids
    precision   instead of a fixed number: until the rate of right guesses is known to within ± this
    draws       how many times each target is observed: the same items with other errors
    phi         the eccentricity from which on a record is claimed  [Algorithm 1B]
    theta       the similarity from which on a wrong record is as good as the right one  [Definition 2], by
                `similarity`: values within 1 and dates within 14 days, or what the release has of them
    top         a target among the first so many counts as in the lineup
    absent      whether it is also tried without the target in the release  [Definition 3]
    save        a file that keeps what is done; a run that was cut short goes on from there

    The same seed gives the same numbers, whatever the threads. Ctrl-C ends a run with what it has.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> done = simulate(release, so.Adversary(knows=6, time_error=14), facts=[2, 6], targets=100, seed=1)
    >>> print(done.estimate("found", facts=6))
    1.000 (0.963 to 1.000, n = 100)
    """
    runs = _Runs(
        release, _named(adversaries), attack or ScoreboardRH(),
        Question(whole("top", top, 1), _share("theta", theta), similarity or _usual(release), bool(absent)),
        whole("draws", draws, 1), check_phi(phi), check_seed(seed), threads, progress,
        None if save is None else Path(save),
    )  # fmt: skip
    return runs.simulation(facts, targets, None if precision is None else _share("precision", precision))


@dataclass(frozen=True, eq=False)
class Cell:
    """One adversary with one number of facts: what became of every try."""

    adversary: str
    facts: int
    outcomes: Outcomes
    n_records: int
    left_out: int
    random: tuple[float, float]

    @property
    def tradeoff(self) -> Tradeoff:
        """What each φ would give."""
        return Tradeoff.of(self.outcomes)

    def calibration(self) -> pl.DataFrame:
        """When Π says p, how often is it true? Best guesses by Π: what was said, how many are right."""
        sure, right = self.outcomes.sure.ravel(), self.outcomes.right.ravel()
        place = np.clip(np.searchsorted(BINS, sure, "right") - 1, 0, len(BINS) - 2)
        rows = []
        for i in np.unique(place).tolist():
            here = place == i
            seen = rate(float(right[here].sum()), int(here.sum()))
            rows.append(
                (BINS[i], BINS[i + 1], float(sure[here].mean()), seen.value, seen.low, seen.high, seen.n)
            )
        names = ["from", "to", "said", "right", "low", "high", "n"]
        return pl.DataFrame(
            rows, schema=dict.fromkeys(names[:-1], pl.Float64) | {"n": pl.Int64}, orient="row"
        )

    def rows(self, question: Question, phi: float) -> Iterator[tuple[str, str, Estimate]]:
        """(measure, setting, estimate) of all measures."""
        n, seen = self.n_records, self.outcomes
        alike, share = self.random
        yield "found", "", _rate(seen.right, 1 / n)
        yield "in_top", f"top={question.top}", _rate(seen.in_top, min(1.0, question.top / n))
        yield "similar", f"theta={question.theta:g}", _rate(seen.similar, alike)
        yield from self._claims(phi)
        bits = np.log2(seen.candidates)
        yield "bits_left", "", _mean(seen.bits, math.log2(n))
        yield "bits_gained", "", _mean(bits - seen.bits, 0.0)
        yield "bits_left", f"theta={question.theta:g}", _mean(seen.similar_bits, math.log2(n))
        mixed = -np.log2((np.exp2(-seen.bits) + 1 / seen.candidates) / 2)
        yield "bits_left", "mixed", _mean(mixed, math.log2(n))
        for share_of, sizes in ((50, seen.lineup_50), (90, seen.lineup_90), (99, seen.lineup_99)):
            asked = sizes[~np.isnan(sizes)]
            if len(asked):
                yield "lineup", f"mass={share_of} %", median(asked, math.ceil(share_of / 100 * n))
        yield "revealed", "", _mean(seen.beyond, None)
        yield "revealed_right", "", _mean(seen.revealed, None)
        some = seen.beyond.sum(axis=1) > 0  # the others have nothing that was not known
        shares = seen.revealed[some].sum(axis=1) / seen.beyond[some].sum(axis=1)
        yield "revealed_right_share", "", _within(mean(shares, share), 0.0, 1.0)
        gap = self.calibration()
        off = float((gap["n"] * (gap["said"] - gap["right"]).abs()).sum()) / max(int(gap["n"].sum()), 1)
        yield "calibration_gap", "", Estimate(off, math.nan, math.nan, int(gap["n"].sum()), None)

    def _claims(self, phi: float) -> Iterator[tuple[str, str, Estimate]]:
        at, trade = f"phi={phi:g}", self.tradeoff
        found, wrong, silent, false = trade.at(phi)
        yield "claimed_right", at, replace(found, baseline=1 / self.n_records)
        yield "claimed_wrong", at, wrong
        yield "not_claimed", at, silent
        if not trade.judged:
            return
        yield "absent_claimed", at, false
        yield "absent_rejected", at, rate(false.n - false.value * false.n, false.n)
        even, error = trade.equal_error()
        yield "equal_error", "", rate(error * len(trade.claim), len(trade.claim))
        yield "phi", "equal_error", Estimate(even, math.nan, math.nan, false.n, None)
        strict = trade.phi_for(BUDGET)
        kept = trade.at(strict)
        yield "claimed_right", f"absent_claimed<={BUDGET:g}", replace(kept.found, baseline=1 / self.n_records)
        yield "phi", f"absent_claimed<={BUDGET:g}", Estimate(strict, math.nan, math.nan, false.n, None)


def _within(estimate: Estimate, low: float, high: float) -> Estimate:
    """An interval that ends where the numbers do."""
    return replace(estimate, low=max(estimate.low, low), high=min(estimate.high, high))


def _trials(values: Floats) -> Floats:
    """One number for each target: the mean over its draws."""
    return np.asarray(values.mean(axis=1))


def _rate(values: Floats, baseline: float) -> Estimate:
    trials = _trials(values)
    return rate(min(math.fsum(trials), len(trials)), len(trials), baseline)


def _mean(values: Floats, baseline: float | None) -> Estimate:
    return mean(_trials(values), baseline)


@dataclass(frozen=True, eq=False)
class Simulation(Results):
    """The cells of a simulation, and all their measures as one table.

    `complete` is False if it was cut short: then everything is about the targets that were tried.
    """

    cells: tuple[Cell, ...]
    question: Question
    phi: float
    seed: int
    fingerprint: str
    complete: bool

    def cell(self, adversary: str | None = None, facts: int | None = None) -> Cell:
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
            estimate for name, said, estimate in self.cell(adversary, facts).rows(self.question, self.phi)
            if name == measure and setting in (None, said)
        ]  # fmt: skip
        if not found:
            raise NotFoundError(f"no measure {measure!r}" + (f" with {setting!r}" if setting else ""))
        return found[0]

    @cached_property
    def table(self) -> pl.DataFrame:
        rows = Rows()
        for cell in self.cells:
            for measure, setting, estimate in cell.rows(self.question, self.phi):
                rows.add(cell.adversary, cell.facts, measure, setting, estimate, cell.left_out)
        return rows.table(self.seed, self.fingerprint, __version__)


@dataclass(frozen=True, eq=False)
class _Runs:
    release: Release
    adversaries: dict[str, Adversary]
    attack: ScoreboardRH
    question: Question
    draws: int
    phi: float
    seed: int
    threads: int | None
    progress: Progress
    save: Path | None

    def simulation(
        self, facts: int | Sequence[int] | None, targets: Any, precision: float | None
    ) -> Simulation:
        cells: list[Cell] = []
        complete = True
        for at, (name, adversary) in enumerate(self.adversaries.items()):
            sizes = _sizes(facts, adversary)
            places, left_out = self._targets(adversary, targets, precision)
            stage = (
                "attacking" if len(self.adversaries) == 1 else f"attacking {at + 1}/{len(self.adversaries)}"
            )
            done, whole_run = self._tried(adversary, sizes, places, precision, stage)
            complete &= whole_run
            if done is None:
                break
            random = self._random(places[: len(done)])
            cells += [
                Cell(name, size, done.at(s), self.release.n_records, left_out, random)
                for s, size in enumerate(sizes)
            ]
            if not whole_run:
                break
        return Simulation(
            tuple(cells), self.question, self.phi, self.seed, self.release.fingerprint, complete
        )

    def _targets(self, adversary: Adversary, targets: Any, precision: float | None) -> tuple[Ints, int]:
        """Places of the records that are tried, in that order, and how many are not eligible."""
        release = self.release
        if not isinstance(targets, (str, int, np.integer)):
            places = np.unique([_place(release, name) for name in targets]).astype(np.int64)
            able = adversary.eligible(release, places)
            return places[able], int(len(places) - able.sum())
        if isinstance(targets, str) and targets != "all":
            raise ParameterError(f"targets must be a number, all, or ids of records, got {targets!r}")
        able = adversary.eligible(release, np.arange(release.n_records))
        order = generator(self.seed, "targets").permutation(release.n_records)
        eligible = order[able[order]]
        if not len(eligible):
            raise ParameterError("no record has as many items as the adversary knows")
        wanted = len(eligible) if targets == "all" or precision else whole("targets", targets, 1)
        return eligible[:wanted], int(release.n_records - able.sum())

    def _tried(
        self, adversary: Adversary, sizes: list[int], places: Ints, precision: float | None, stage: str
    ) -> tuple[Outcomes | None, bool]:
        """The outcomes, and whether all that was asked for is done."""
        kept = _Kept.of(self.save, self._settings(adversary, sizes))
        parts = [] if kept.outcomes is None else [kept.outcomes]
        done = sum(map(len, parts))
        lineups = LINEUPS if self.release.n_records <= MANY_RECORDS else FEW_LINEUPS
        similar: dict[int, Ints] = {}
        looked_at: set[int] = set()
        try:
            while done < len(places) and not _precise(parts, precision):
                here = places[done : done + BATCH]
                known = adversary.observe_all(self.release, here, self.seed, self.draws)
                shown = min(max(lineups - done, 0), len(here))
                if not set(here.tolist()) <= looked_at:
                    looked_at = set(places[done : done + max(NEIGHBOURS, done)].tolist())
                    similar = self._near(places[done : done + max(NEIGHBOURS, done)])
                own = {place: similar[place] for place in here.tolist() if place in similar}
                part = tried(
                    self.attack, self.release, known, here, sizes, self.question, own, shown, self.threads
                )
                parts, done = [*parts, part], done + len(here)
                parts = [Outcomes.together(parts)]
                kept.write(parts[0])
                self.progress(stage, done, len(places))
        except KeyboardInterrupt:
            return (parts[0] if parts else None), False
        return (parts[0] if parts else None), True

    def _near(self, places: Ints) -> dict[int, Ints]:
        return near(self.release, places, self.question.similarity, self.question.theta, self.threads)

    def _settings(self, adversary: Adversary, sizes: list[int]) -> str:
        """What the outcomes depend on."""
        told = [
            self.release.fingerprint, adversary.key(), sizes, repr(self.attack), repr(self.question),
            self.draws, self.seed, __version__,
        ]  # fmt: skip
        return json.dumps(told)

    def _random(self, places: Ints) -> tuple[float, float]:
        """What a guess at random gives: how often it is similar to the target, how much of it is right."""
        draw = generator(self.seed, "guesses")
        guess = draw.integers(self.release.n_records, size=len(places))
        known = nothing(self.release, len(places))
        found = revealed(self.release, places, guess, known, self.question.similarity)
        return float((found.similarity >= self.question.theta).mean()), float(
            (found.right / found.beyond).mean()
        )


@dataclass(frozen=True, eq=False)
class _Kept:
    """What an earlier run has left in a file, and where to keep more."""

    path: Path | None
    settings: str
    outcomes: Outcomes | None

    @classmethod
    def of(cls, path: Path | None, settings: str) -> "_Kept":
        if path is None:
            return cls(None, settings, None)
        own = path.with_name(
            f"{path.name}.{hashlib.blake2b(settings.encode(), digest_size=6).hexdigest()}.npz"
        )
        try:
            with own.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                fits = str(stored["settings"]) == settings
                found = Outcomes(*(stored[field.name] for field in fields(Outcomes))) if fits else None
        except (OSError, EOFError, KeyError, ValueError, BadZipFile):
            found = None
        return cls(own, settings, found)

    def write(self, outcomes: Outcomes) -> None:
        """Put in place in one step: a reader sees the old or the new."""
        if self.path is None:
            return
        columns = {field.name: getattr(outcomes, field.name) for field in fields(Outcomes)}
        new = self.path.with_suffix(".part")
        with new.open("wb") as file:
            np.savez(file, settings=np.array(self.settings), **columns)
        new.replace(self.path)


def _precise(parts: list[Outcomes], precision: float | None) -> bool:
    """Whether the rate of right guesses is known well enough in every cell."""
    if precision is None or not parts:
        return False
    sizes = parts[0].right.shape[2]
    return all(_rate(parts[0].right[:, :, s], 0.0).width <= precision for s in range(sizes))


def _named(adversaries: Any) -> dict[str, Adversary]:
    if isinstance(adversaries, Adversary):
        adversaries = [adversaries]
    named = dict(adversaries) if isinstance(adversaries, Mapping) else {str(one): one for one in adversaries}
    if not named or not all(isinstance(one, Adversary) for one in named.values()):
        raise ParameterError("adversaries are one Adversary, several, or several by name")
    return named


def _sizes(facts: int | Sequence[int] | None, adversary: Adversary) -> list[int]:
    sizes = [adversary.knows] if facts is None else [facts] if isinstance(facts, (int, np.integer)) else facts
    found = sorted({whole("facts", size, 1) for size in sizes})
    if not found or found[-1] > adversary.knows:
        raise ParameterError(
            f"facts must be from 1 to the {adversary.knows} that the adversary knows, got {facts}"
        )
    return found


def _share(name: str, share: Any) -> float:
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise ParameterError(f"{name} must be above 0 and at most 1, got {share!r}")
    return float(share)


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
