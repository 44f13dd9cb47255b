"""Compare attacks on the same targets with the same known facts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl

from standout._version import __version__
from standout.attack.any_attack import AnyAttack, attacks_by_name, fit_attack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError, not_one_of
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import generator, key
from standout.data.export import ResultView
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, paired_difference, rate_by_target
from standout.evaluate.simulate import simulate, success_rates
from standout.evaluate.simulation import Simulation, SimulationCell, TableResult, the_only
from standout.evaluate.targets import Population
from standout.know.adversary import Adversary

# The result of `compare`: attacks side by side on the same targets, and a table.


COLUMNS = (
    *("adversary", "facts", "attack", "identified", "low", "high", "n", "said", "gap", "gap_low", "gap_high"),
    *("difference", "difference_low", "difference_high", "only_this", "only_baseline"),
    *("baseline", "seed", "fingerprint", "version"),
)


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One attack of one adversary with one number of facts.

    `said` is the mean probability that the attack gives its best guesses, and `gap` how much that is above
    `identified`. `difference` is `identified` minus that of the baseline attack on the same targets and facts. Only
    this attack, or only the baseline, identifies so many targets; a tie counts in part.
    """

    adversary: str
    facts: int
    attack: str
    identified: Estimate
    said: float
    gap: Estimate
    difference: Estimate
    only_this: float
    only_baseline: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ResultView, TableResult):
    """The result of `compare`: one row for each adversary, number of facts and attack.

    Attributes
    ----------
    rows
        The numbers, by adversary, number of facts and attack.
    baseline
        Name of the attack that the others are compared with.
    seed, fingerprint
        The seed, and the fingerprint of the release.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> attacks = {"paper": so.ScoreboardRH(), "no dates": so.ScoreboardRH(time_scale=None)}
    >>> comparison = so.compare(release, so.Adversary(knows=3), attacks, targets=50)
    >>> comparison
    <Comparison: 2 attacks, 1 adversary, 50 targets>
    >>> comparison.row(attack="no dates").difference.value < 0
    True
    """

    rows: tuple[ComparisonRow, ...]
    baseline: str
    seed: int
    fingerprint: str

    def __repr__(self) -> str:
        attacks, adversaries = (len({row.attack for row in self.rows}), len({row.adversary for row in self.rows}))
        who = "1 adversary" if adversaries == 1 else f"{adversaries} adversaries"
        targets = max((row.identified.n for row in self.rows), default=0)
        return f"<Comparison: {attacks} attacks, {who}, {targets:,} targets>"

    def __str__(self) -> str:
        """The rows as text, with the difference from the baseline."""
        width = max((len(row.attack) for row in self.rows), default=0)
        lines, before = [], None
        for row in self.rows:
            facts = "1 fact" if row.facts == 1 else f"{row.facts} facts"
            cell = f"{row.adversary}; {facts}, n = {row.identified.n:,}"
            lines += [cell] if cell != before else []
            before = cell
            line = f"  {row.attack:<{width}}  identified {_interval(row.identified)}, says {row.said:.3f}"
            lines.append(line + ("" if row.attack == self.baseline else f", {_interval(row.difference, '+')}"))
        return "\n".join(lines)

    def row(self, attack: str | None = None, adversary: str | None = None, facts: int | None = None) -> ComparisonRow:
        """One row; an error if no row fits, or more than one."""
        return the_only(self.rows, "row", attack=attack, adversary=adversary, facts=facts)

    @cached_property
    def table(self) -> pl.DataFrame:
        """All rows; `difference` is relative to the baseline attack, `gap` is said − identified."""
        rows, about = [], (self.baseline, self.seed, self.fingerprint, __version__)
        for row in self.rows:
            identified = *_numbers(row.identified), row.identified.n, row.said
            compared = *_numbers(row.gap), *_numbers(row.difference), row.only_this, row.only_baseline
            rows.append((row.adversary, row.facts, row.attack, *identified, *compared, *about))
        return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def _numbers(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high


def _interval(estimate: Estimate, sign: str = "") -> str:
    value, low, high = (format(number, f"{sign}.3f") for number in _numbers(estimate))
    return f"{value} ({low} to {high})"


@with_progress
def compare(
    release: Release,
    adversaries: Adversary | Mapping[str, Adversary] | Sequence[Adversary],
    attacks: Mapping[str, AnyAttack] | Sequence[AnyAttack],
    *,
    baseline: str | None = None,
    facts: int | Sequence[int] | None = None,
    targets: int | str | Sequence[str] = 1000,
    draws: int = 1,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> Comparison:
    """Compare attacks: each gets the same targets and the same known facts.

    Most of the variation between targets is common to all attacks, so the interval of a difference is
    narrower than the intervals of two separate simulations suggest.

    Parameters
    ----------
    release
        The release to attack.
    adversaries
        One adversary, several, or several by name.
    attacks
        Attacks by name, or several; default names are those of their classes.
    baseline
        Name of the attack that the others are compared with; default: the first.
    facts, targets, draws
        As in `simulate`.
    seed
        Random seed. The same seed gives the same numbers, for any number of threads.
    threads
        Number of threads; default: all cores.
    progress
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    Comparison
        Success, stated probability and difference from the baseline, by adversary, facts and attack.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> adversary = so.Adversary(knows=4, value_error=1, time_error=14)
    >>> attacks = {"paper": so.ScoreboardRH(), "Algorithm 1A": so.Scoreboard()}
    >>> comparison = compare(release, adversary, attacks, targets=40, seed=1)
    >>> comparison.row("Algorithm 1A").difference.n
    40
    """
    named = attacks_by_name(attacks)
    reference = next(iter(named)) if baseline is None else baseline
    if reference not in named:
        raise ParameterError(not_one_of("baseline", baseline, named))
    simulations: dict[str, Simulation] = {}
    for number, (name, attack) in enumerate(named.items(), 1):

        def report(stage: str, done: int, total: int, number: int = number) -> None:
            progress(f"attack {number}/{len(named)}: {stage}", done, total)

        simulations[name] = simulate(
            release,
            adversaries,
            attack=attack,
            facts=facts,
            targets=targets,
            draws=draws,
            absent=False,
            seed=seed,
            threads=threads,
            progress=report,
        )
        if not simulations[name].complete:
            raise KeyboardInterrupt
    rows = [
        _row(name, simulations[name].cells[index], cell)
        for index, cell in enumerate(simulations[reference].cells)
        for name in named
    ]
    return Comparison(tuple(rows), reference, simulations[reference].seed, release.fingerprint)


def _row(attack: str, cell: SimulationCell, baseline: SimulationCell) -> ComparisonRow:
    identified, reference = cell.outcomes.identified, baseline.outcomes.identified
    said = cell.outcomes.best_probability.mean(axis=1)
    only = [np.maximum(excess, 0.0).mean(axis=1).sum() for excess in (identified - reference, reference - identified)]
    return ComparisonRow(
        adversary=cell.adversary,
        facts=cell.facts,
        attack=attack,
        identified=rate_by_target(identified, cell.present / cell.n_records),
        said=float(said.mean()),
        gap=paired_difference(said, identified.mean(axis=1)),
        difference=paired_difference(identified.mean(axis=1), reference.mean(axis=1)),
        only_this=float(only[0]),
        only_baseline=float(only[1]),
    )


# The attacks that an adversary may use on a release, and which of them is the strongest.
#
# The strongest is always chosen on other targets than those it is reported on. The best of several attacks on
# the same targets would look better than it is.


PAPER: Final = "paper"
LIKELIHOOD: Final = "likelihood"
PILOT_TARGETS = 300
"""Number of other targets on which attacks are compared."""
PILOT_WORK = 100_000_000
"""Fewer are enough, but at least a third, if targets · rows of a release with columns would exceed this."""
FEWEST = 30
"""With fewer other targets than this, attacks are compared on the reported targets with other facts."""


def candidate_attacks(release: Release, adversary: Adversary) -> dict[str, AnyAttack]:
    """The attacks of an adversary on a release, by name: the paper's and the Bayesian one."""
    return {PAPER: ScoreboardRH(), LIKELIHOOD: fit_attack(Likelihood(), adversary)}


def cross_fit(successes: Mapping[str, Floats]) -> tuple[str, Floats]:
    """Choose the strongest of several attacks for each half of the targets on the other half; its success by target.

    Where the halves differ, both are named, that of the targets with an even index first: "likelihood or paper".

    Examples
    --------
    >>> import numpy as np
    >>> cross_fit({"paper": np.array([1.0, 0, 0, 0]), "likelihood": np.array([0, 1.0, 1, 1])})[0]
    'likelihood'
    """
    halves = slice(0, None, 2), slice(1, None, 2)
    odd, even = (_strongest({name: float(of[half].sum()) for name, of in successes.items()}) for half in halves)
    success = successes[even].copy()
    success[1::2] = successes[odd][1::2]
    return " or ".join(dict.fromkeys((even, odd))), success


def choose_strongest(
    release: Release,
    adversary: Adversary,
    attacks: Mapping[str, AnyAttack],
    reported: Ints,
    *,
    seed: int,
    targets: int = PILOT_TARGETS,
    threads: int | None = None,
) -> str:
    """Name of the attack that identifies most people other than those it will be reported on."""
    if len(attacks) == 1:
        return next(iter(attacks))
    people = Population.of(release)
    purpose: tuple[str, ...] = ("strongest",)
    facts_seed = int(generator(seed, "strongest facts").integers(2**62))
    if release.columns:  # an attack reads all rows
        purpose, facts_seed = ("choice", "targets"), int(key(seed, "choice") >> np.uint64(1))
        targets = min(targets, max(PILOT_WORK // release.n_records, targets // 3))
    order = generator(seed, *purpose).permutation(people.original.n_records)
    order = order[adversary.eligible(people.original, order)]
    others = order[~np.isin(order, reported)]
    pilot = (others if len(others) >= FEWEST else order)[:targets]
    known = people.known_facts(adversary, pilot, facts_seed)
    identified = {
        name: math.fsum(success_rates(release, known, pilot, [adversary.knows], threads, attack).ravel())
        for name, attack in attacks.items()
    }
    return _strongest(identified)


def _strongest(identified: Mapping[str, float]) -> str:
    return max(identified, key=lambda name: (identified[name], name == LIKELIHOOD))
