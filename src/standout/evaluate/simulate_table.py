"""Attacks on people of a table whose rows are known: how often the right row is found."""

import math
from dataclasses import dataclass, replace

import numpy as np

from standout.attack.any_attack import AnyAttack
from standout.attack.column_scores import AttackName, ColumnVerdicts, attack_columns, attack_named, weighted_votes
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError, positive_share, whole_number
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed, generator
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, mean, rate
from standout.know.adversary import Adversary
from standout.know.sanitized import Sanitized, original_of, representatives_of

__all__ = [
    "Inference",
    "PopulationRates",
    "TableSimulation",
    "infer_column",
    "population_rates",
    "posterior_among",
    "simulate_table",
    "table_targets",
]

# A table that is a sample of a population: claims about people who may not be in it.
#
# A person of the population who is not in the table explains the facts as well as anybody does. In units of the
# guess that is P(facts) / P(facts | guess), and there are N − n such people:
#
#     posterior = 1 / (1 / posterior among the rows + (N − n) · P(facts) / P(facts | guess))
#
# P(facts) is a product over columns, which depend on each other in truth. The mean of P(facts | row) over the
# other rows is another estimate, and the higher of the two counts.


@dataclass(frozen=True, slots=True)
class PopulationRates:
    """Claims about one of a population: the table is a sample, and the target may not be in it.

    `identified` is the share of the population that is claimed rightly, `in_table` that of the people in the
    table, `confidence` the share of claims that are right.
    """

    population: int
    identified: Estimate
    in_table: Estimate
    confidence: Estimate


def population_rates(
    verdicts: ColumnVerdicts, absent: ColumnVerdicts, people: int, posterior: float, n_original: int
) -> PopulationRates:
    """Claims about people in the table and about others, with a posterior that allows for both.

    `n_original` is the number of people whom the table was made of; some of their rows may have been removed.
    """
    n_rows, n = verdicts.candidates, len(verdicts.found)
    claims = _claims_population_rates(verdicts, people - n_rows, posterior)
    right = math.fsum(verdicts.found * claims)
    wrong = math.fsum((1.0 - verdicts.found) * claims)
    false = float(_claims_population_rates(absent, people - n_rows, posterior).sum())
    share, of_original = n_original / people, rate(right, n)
    present = n if verdicts.present is None else int(np.count_nonzero(verdicts.present))
    in_table = rate(min(right, present), present)
    identified = Estimate(of_original.value * share, of_original.low * share, of_original.high * share, n)
    return PopulationRates(people, identified, in_table, _confidence(right, wrong, false, n, share))


def _claims_population_rates(verdicts: ColumnVerdicts, nobody: float, posterior: float) -> Bools:
    return np.asarray((posterior_among(verdicts, nobody) >= posterior) & (verdicts.ties > 0))


def posterior_among(verdicts: ColumnVerdicts, nobody: float) -> Floats:
    """The posterior of the guess if so many other people may be the target too."""
    likely = verdicts.best_likelihood
    if likely is not None:
        others = (1.0 / verdicts.posterior - 1.0) / max(verdicts.candidates - 1, 1)
        return 1.0 / (1.0 / verdicts.posterior + nobody * np.maximum(likely, others))
    return verdicts.posterior / (1.0 + nobody / max(verdicts.candidates, 1))


def _confidence(right: float, wrong: float, false: float, n: int, share: float) -> Estimate:
    """The share of claims that are right. Its interval takes the ends of both rates."""
    made = share * (right + wrong) + (1.0 - share) * false
    if made == 0:
        return Estimate(0.0, 0.0, 1.0, 0)
    low_right, high_right = rate(right, n).low, rate(right, n).high
    bad = [share * w + (1.0 - share) * f for w, f in zip(_ends(wrong, n), _ends(false, n), strict=True)]
    low = share * low_right / max(share * low_right + bad[1], 1e-300)
    high = share * high_right / max(share * high_right + bad[0], 1e-300)
    return Estimate(share * right / made, low, high, n)


def _ends(successes: float, n: int) -> tuple[float, float]:
    estimate = rate(successes, n)
    return estimate.low, estimate.high


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
    verdicts, absent : ColumnVerdicts
        Results with the targets in the table, and with each target's row removed.
    posterior, phi : float
        Thresholds of a claim.
    population : PopulationRates or None
        Rates if the table is a sample of a population.
    """

    adversary: Adversary
    attack: AnyAttack
    targets: Ints
    n_left_out: int
    verdicts: ColumnVerdicts
    absent: ColumnVerdicts
    posterior: float
    phi: float
    population: PopulationRates | None = None

    def __repr__(self) -> str:
        return f"<TableSimulation: {type(self.attack).__name__}, identified {self.identified}>"

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

    @property
    def claims(self) -> tuple[Floats, Floats]:
        """For each target, whether it is claimed rightly, and whether a row is claimed after its own is removed."""
        right = (self.verdicts.found == 1.0) & self._claims(self.verdicts)
        return right.astype(np.float64), self._claims(self.absent).astype(np.float64)

    def _claims(self, verdicts: ColumnVerdicts) -> Bools:
        return _claims(self.attack, verdicts, self.posterior, self.phi)


def _claims(attack: AnyAttack, verdicts: ColumnVerdicts, posterior: float, phi: float) -> Bools:
    """Whether the adversary claims the guess: a probable one; of the paper's attack, one that stands out."""
    if isinstance(attack, ScoreboardRH):
        return np.asarray(verdicts.eccentricity >= phi)
    return np.asarray((verdicts.posterior >= posterior) & (verdicts.ties > 0))


def table_targets(
    table: Release, adversary: Adversary, targets: int | None, seed: int, purpose: str = "table"
) -> tuple[Ints, int]:
    """Random rows of the original about whom the adversary can know enough, and how many were left out."""
    original = original_of(table)
    wanted = original.n_records if targets is None else whole_number("targets", targets, 1)
    order = generator(seed, purpose, "targets").permutation(original.n_records)
    eligible = order[adversary.eligible(original, order)]
    if not len(eligible):
        raise ParameterError(f"no row has {adversary.knows} attributes that are not missing: lower knows")
    return eligible[:wanted], original.n_records - len(eligible)


@with_progress
def simulate_table(
    table: Release,
    adversary: Adversary,
    attack: AttackName | AnyAttack = "likelihood",
    *,
    targets: int | None = 1000,
    population: int | None = None,
    posterior: float = 0.95,
    phi: float = 1.5,
    seed: int = 0,
    purpose: str = "table",
    counted: bool = True,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> TableSimulation:
    """Attack random people of a table and count how often the right row is found.

    Parameters
    ----------
    table : Release
        The table; if it was sanitized, adversaries know facts about the original.
    adversary : Adversary
        Who knows what.
    attack : str or AnyAttack
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
    counted : bool
        Whether `Likelihood` uses that exactly `adversary.wrong` of the facts are wrong: a row that agrees with
        all of them is then out of the question. Otherwise each fact is wrong with the same probability.
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
    >>> from standout.data.column import Column
    >>> draw = np.random.default_rng(7)
    >>> columns = [Column(f"c{i}", "category", tuple("abcdefgh"), draw.integers(0, 8, 500, np.uint8))
    ...            for i in range(8)]
    >>> table = Release.of_columns(tuple(columns))
    >>> simulate_table(table, Adversary(knows=6, wrong=1), targets=100).identified.value
    0.9...
    """
    attack = attack_named(attack, adversary)
    people = _population(table, population)
    positive_share("posterior", posterior)
    rows, left_out = table_targets(table, adversary, targets, check_seed(seed), purpose)
    facts = adversary.observe_all(original_of(table), rows, seed)
    verdicts, absent = (
        attack_columns(
            table,
            facts,
            attack,
            counted=counted,
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
    rates = population_rates(verdicts, absent, people, posterior, original_of(table).n_records)
    return replace(simulation, population=rates)


def _population(table: Release, population: int | None) -> int | None:
    if population is None:
        return None
    people = whole_number("population", population, 1)
    if people < table.n_records:
        raise ParameterError(f"population must be at least the number of rows, {table.n_records:,}, got {people:,}")
    return people


# Attribute disclosure: guessing a column that is not known from the rows that fit what is known.


@dataclass(frozen=True, slots=True)
class Inference:
    """How well an adversary guesses a column that is not known: with the target in the table, and without.

    Attributes
    ----------
    column : str
        The column that is guessed.
    guessed : Estimate
        Share of right guesses.
    control : Estimate
        Share of right guesses about people who are not in the table: what can be learned about anybody.
    baseline : float
        Share of the commonest value.
    """

    column: str
    guessed: Estimate
    control: Estimate
    baseline: float


@with_progress
def infer_column(
    table: Release,
    adversary: Adversary,
    column: str,
    attack: AttackName | AnyAttack = "likelihood",
    *,
    targets: int | None = 1000,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> Inference:
    """Guess the value of a column for random people, as the likeliest over all rows  [attribute disclosure].

    Parameters
    ----------
    table : Release
        The table.
    adversary : Adversary
        Who knows what; the column must not be among what is known.
    column : str
        The column to guess; it must not be a set.
    attack : str or AnyAttack
        An attack with a posterior.
    targets, seed, threads, progress
        As in `simulate_table`.

    Returns
    -------
    Inference
        Share of right guesses, with a control.

    Raises
    ------
    ParameterError
        If the column is a set, or the attack has no posterior.

    Examples
    --------
    >>> import numpy as np
    >>> from standout.data.column import Column
    >>> draw = np.random.default_rng(7)
    >>> columns = [Column(f"c{i}", "category", tuple("abcd"), draw.integers(0, 4, 500, np.uint8))
    ...            for i in range(8)]
    >>> adversary = Adversary(columns=("c0", "c1", "c2", "c3", "c4", "c5"))
    >>> inference = infer_column(Release.of_columns(tuple(columns)), adversary, "c7", targets=100)
    >>> inference.guessed.value > 0.8 > 0.5 > inference.control.value
    True
    """
    original = original_of(table)
    hidden = original.column(column)
    attack = attack_named(attack, adversary)
    if hidden.starts is not None or not isinstance(attack, Likelihood):
        raise ParameterError("column must not be a set, and attack must have a posterior")
    rows, _ = table_targets(table, adversary, None, check_seed(seed), "inference")
    rows = rows[~hidden.is_missing[rows] & (representatives_of(table)[rows] >= 0)][:targets]
    facts = adversary.observe_all(original, rows, seed)
    facts = replace(facts, cells=facts.cells.where(facts.cells.column != original.column_position(column)))
    true = _released_codes(table, column, rows)
    shares = []
    for gone in (False, True):
        votes = weighted_votes(table, facts, attack, column, absent=gone, threads=threads, progress=progress)[:, :-1]
        best = votes == votes.max(axis=1, keepdims=True)
        shown = true < best.shape[1]  # a value that was suppressed everywhere cannot be guessed
        right = shown * best[np.arange(len(rows)), np.where(shown, true, 0)] / best.sum(axis=1)
        shares.append(rate(math.fsum(right), len(rows)))
    counts = table.column(column).counts[:-1]
    return Inference(column, shares[0], shares[1], float(counts.max()) / max(int(counts.sum()), 1))


def _released_codes(table: Release, column: str, rows: Ints) -> Ints:
    """What the release would show of the true values of these rows."""
    codes = original_of(table).column(column).codes[rows].astype(np.int64)
    channel = table.channels.get(column) if isinstance(table, Sanitized) else None
    return codes if channel is None else channel.released[codes]
