"""Attribute disclosure: guessing a column that is not known from the rows that fit what is known."""

import math
from dataclasses import dataclass

import numpy as np

from standout.core.arrays import Ints
from standout.core.errors import ParameterError
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.evaluate.estimates import Estimate, rate
from standout.table_attack.prepare import original_of, representing_rows
from standout.table_attack.row_verdicts import weighted_votes
from standout.table_attack.simulate_table import AttackName, table_attack_named, table_targets
from standout.table_attack.table_adversary import TableAdversary
from standout.table_attack.table_attacks import TableAttack
from standout.tables.model import SanitizedTable, Table

__all__ = ["Inference", "infer_column"]


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
    table: Table,
    adversary: TableAdversary,
    column: str,
    attack: AttackName | TableAttack = "likelihood",
    *,
    targets: int | None = 1000,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> Inference:
    """Guess the value of a column for random people, as the likeliest over all rows  [attribute disclosure].

    Parameters
    ----------
    table : Table
        The table.
    adversary : TableAdversary
        Who knows what; the column must not be among what is known.
    column : str
        The column to guess; it must not be a set.
    attack : str or TableAttack
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
    >>> from standout.tables.column import Column
    >>> draw = np.random.default_rng(7)
    >>> columns = [Column(f"c{i}", "category", tuple("abcd"), draw.integers(0, 4, 500, np.uint8))
    ...            for i in range(8)]
    >>> adversary = TableAdversary(columns=("c0", "c1", "c2", "c3", "c4", "c5"))
    >>> inference = infer_column(Table(tuple(columns)), adversary, "c7", targets=100)
    >>> inference.guessed.value > 0.8 > 0.5 > inference.control.value
    True
    """
    original = original_of(table)
    hidden = original.column(column)
    attack = table_attack_named(attack, adversary)
    if hidden.starts is not None or not attack.has_posterior:
        raise ParameterError("column must not be a set, and attack must have a posterior")
    rows, _ = table_targets(table, adversary, None, check_seed(seed), "inference")
    rows = rows[~hidden.is_missing[rows] & (representing_rows(table)[rows] >= 0)][:targets]
    facts = adversary.observe(original, rows, seed)
    facts = facts.without(original.position(column))
    true = _released_codes(table, column, rows)
    shares = []
    for gone in (False, True):
        votes = weighted_votes(
            table, facts, attack, adversary, column, absent=gone, threads=threads, progress=progress
        )[:, :-1]
        best = votes == votes.max(axis=1, keepdims=True)
        shown = true < best.shape[1]  # a value that was suppressed everywhere cannot be guessed
        right = shown * best[np.arange(len(rows)), np.where(shown, true, 0)] / best.sum(axis=1)
        shares.append(rate(math.fsum(right), len(rows)))
    counts = table.column(column).counts[:-1]
    return Inference(column, shares[0], shares[1], float(counts.max()) / max(int(counts.sum()), 1))


def _released_codes(table: Table, column: str, rows: Ints) -> Ints:
    """What the release would show of the true values of these rows."""
    codes = original_of(table).column(column).codes[rows].astype(np.int64)
    channel = table.channels.get(column) if isinstance(table, SanitizedTable) else None
    return codes if channel is None else channel.released[codes]
