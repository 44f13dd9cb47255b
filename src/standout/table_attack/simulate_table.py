"""Attacks on people of a table whose rows are known: how often the right row is found."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from standout.core.arrays import Bools, Ints
from standout.core.checks import positive_share, whole_number
from standout.core.errors import ParameterError
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed, generator
from standout.evaluate.estimates import Estimate, mean, rate
from standout.table_attack.population_rates import PopulationRates, population_rates
from standout.table_attack.prepare import original_of
from standout.table_attack.row_verdicts import RowVerdicts, attack_rows
from standout.table_attack.table_adversary import TableAdversary
from standout.table_attack.table_attacks import (
    ExactMatch,
    TableAttack,
    TableLikelihood,
    TableScoreboard,
    TableThreshold,
)
from standout.tables.model import Table

__all__ = [
    "AttackName",
    "TableSimulation",
    "simulate_table",
    "table_attack_named",
    "table_targets",
]

AttackName = Literal["likelihood", "paper", "threshold", "exact match"]


@dataclass(frozen=True, eq=False)
class TableSimulation:
    """The outcome of attacks on random people of a table.

    Attributes
    ----------
    adversary, attack
        Who knows what, and how it is used.
    targets : ndarray of int
        Rows of the original.
    n_left_out : int
        Number of people about whom too little is there to know.
    verdicts, absent : RowVerdicts
        Results with the targets in the table, and with each target's row removed.
    posterior, phi : float
        Thresholds of a claim.
    population : PopulationRates or None
        Rates if the table is a sample of a population.
    """

    adversary: TableAdversary
    attack: TableAttack
    targets: Ints
    n_left_out: int
    verdicts: RowVerdicts
    absent: RowVerdicts
    posterior: float
    phi: float
    population: PopulationRates | None = None

    def __repr__(self) -> str:
        return f"<TableSimulation: {self.attack.name}, identified {self.identified}>"

    @property
    def identified(self) -> Estimate:
        """The share of targets whose row is the best guess."""
        return rate(math.fsum(self.verdicts.found), len(self.targets), 1.0 / self.verdicts.candidates)

    @property
    def correct_claims(self) -> Estimate:
        """The share of targets that are claimed rightly."""
        claimed = self._claims(self.verdicts)
        return rate(math.fsum(self.verdicts.found * claimed), len(self.targets))

    @property
    def wrong_claims(self) -> Estimate:
        """The share of targets for whom another row is claimed."""
        claimed = self._claims(self.verdicts)
        return rate(math.fsum((1.0 - self.verdicts.found) * claimed), len(self.targets))

    @property
    def absent_claims(self) -> Estimate:
        """The share of absent targets for whom a row is claimed."""
        return rate(int(self._claims(self.absent).sum()), len(self.targets))

    @property
    def bits_gained(self) -> Estimate:
        """log2 of the number of candidates − bits that are left."""
        most = math.log2(max(self.verdicts.candidates, 1))
        return mean(most - self.verdicts.bits_left, 0.0)

    @property
    def candidates_left(self) -> Estimate:
        """2 to the mean number of bits left: how many people fit the facts about equally well."""
        bits = mean(self.verdicts.bits_left)
        return Estimate(2**bits.value, 2 ** max(bits.low, 0.0), 2 ** min(bits.high, 60.0), bits.n)

    def _claims(self, verdicts: RowVerdicts) -> Bools:
        return _claims(self.attack, verdicts, self.posterior, self.phi)


def _claims(attack: TableAttack, verdicts: RowVerdicts, posterior: float, phi: float) -> Bools:
    """Whether the adversary claims the guess: a probable one; of the paper's attack, one that stands out."""
    if isinstance(attack, TableScoreboard):
        return np.asarray(verdicts.eccentricity >= phi)
    return np.asarray((verdicts.posterior >= posterior) & (verdicts.ties > 0))


def table_attack_named(attack: AttackName | TableAttack, adversary: TableAdversary) -> TableAttack:
    """The attack of this name, with the adversary's errors."""
    if isinstance(attack, TableAttack):
        return attack
    attacks: dict[str, TableAttack] = {
        "likelihood": TableLikelihood(adversary),
        "paper": TableScoreboard(),
        "threshold": TableThreshold(),
        "exact match": ExactMatch(),
    }
    if attack not in attacks:
        raise ParameterError(f"attack must be one of {', '.join(attacks)}, or an attack, got {attack!r}")
    return attacks[attack]


def table_targets(
    table: Table, adversary: TableAdversary, targets: int | None, seed: int, purpose: str = "table"
) -> tuple[Ints, int]:
    """Random rows of the original about whom the adversary can know enough, and how many were left out."""
    original = original_of(table)
    wanted = original.n_rows if targets is None else whole_number("targets", targets, 1)
    order = generator(seed, purpose, "targets").permutation(original.n_rows)
    eligible = order[adversary.eligible(original, order)]
    if not len(eligible):
        raise ParameterError(f"no row has {adversary.most} attributes that are not missing: lower knows")
    return eligible[:wanted], original.n_rows - len(eligible)


@with_progress
def simulate_table(
    table: Table,
    adversary: TableAdversary,
    attack: AttackName | TableAttack = "likelihood",
    *,
    targets: int | None = 1000,
    population: int | None = None,
    posterior: float = 0.95,
    phi: float = 1.5,
    seed: int = 0,
    purpose: str = "table",
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> TableSimulation:
    """Attack random people of a table and count how often the right row is found.

    Parameters
    ----------
    table : Table
        The table; if it was sanitized, adversaries know facts about the original.
    adversary : TableAdversary
        Who knows what.
    attack : str or TableAttack
        "likelihood", "paper" (Algorithm 1B), "threshold" (Algorithm 1A), "exact match", or an attack.
    targets : int, optional
        Number of people; None for all.
    population : int, optional
        Number of people of whom the table is a sample. Claims then allow for the target not being in it.
    posterior, phi : float
        Smallest posterior of a claim, and smallest eccentricity of one by the paper's attack.
    seed : int
        Seed of all draws.
    purpose : str
        Name of the sample of targets; another name gives other targets.
    threads : int, optional
        Number of threads; it changes no result.
    progress : bool or callable, optional
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    TableSimulation
        Rates with intervals.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or nobody's row has enough cells.

    Examples
    --------
    >>> import numpy as np
    >>> from standout.tables.column import Column
    >>> draw = np.random.default_rng(7)
    >>> columns = [Column(f"c{i}", "category", tuple("abcdefgh"), draw.integers(0, 8, 500, np.uint8))
    ...            for i in range(8)]
    >>> simulate_table(Table(tuple(columns)), TableAdversary(knows=6, wrong=1), targets=100).identified.value
    0.9...
    """
    attack = table_attack_named(attack, adversary)
    people = _population(table, population)
    positive_share("posterior", posterior)
    rows, left_out = table_targets(table, adversary, targets, check_seed(seed), purpose)
    facts = adversary.observe(original_of(table), rows, seed)
    verdicts, absent = (
        attack_rows(
            table,
            facts,
            attack,
            adversary,
            absent=gone,
            probabilities=not gone or people is not None,
            threads=threads,
            progress=progress,
        )
        for gone in (False, True)
    )
    simulation = TableSimulation(adversary, attack, rows, left_out, verdicts, absent, posterior, phi)
    if people is None:
        return simulation
    rates = population_rates(verdicts, absent, people, posterior, original_of(table).n_rows)
    return replace(simulation, population=rates)


def _population(table: Table, population: int | None) -> int | None:
    if population is None:
        return None
    people = whole_number("population", population, 1)
    if people < table.n_rows:
        raise ParameterError(
            f"population must be at least the number of rows, {table.n_rows:,}, got {people:,}"
        )
    return people
