"""The rows of a table that fit what is known about one person best, and why."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.table_attack.kernels import UNIT, scores_of_rows
from standout.table_attack.prepare import Preparation, original_of
from standout.table_attack.row_facts import RowFacts, typed_facts
from standout.table_attack.table_adversary import TableAdversary
from standout.table_attack.table_attacks import TableAttack, TableLikelihood
from standout.tables.model import Table

__all__ = ["TableCandidate", "TableLineup", "table_lineup"]


@dataclass(frozen=True, slots=True)
class TableCandidate:
    """A row of the lineup.

    Attributes
    ----------
    row : int
        Position of the row in the table.
    id : str or None
        Its id, if the table has ids.
    probability : float
        Probability that it is the target's row.
    score : float
        Sum of the parts.
    parts : dict
        What each known column adds to the score.

    Examples
    --------
    >>> TableCandidate(3, None, 0.9, 4.5, {"age": 4.5}).probability
    0.9
    """

    row: int
    id: str | None
    probability: float
    score: float
    parts: dict[str, float]


@dataclass(frozen=True, slots=True)
class TableLineup:
    """The rows that fit some known cells best.

    Attributes
    ----------
    candidates : tuple of TableCandidate
        The best rows; the first has the highest score.
    ties : int
        Number of rows with the highest score.
    nobody : float
        Probability that the target is not in the table.
    bits_left : float
        Bits that are missing to identify the best row: −log2 of its probability.
    """

    candidates: tuple[TableCandidate, ...]
    ties: int
    nobody: float
    bits_left: float

    def __repr__(self) -> str:
        best = f"{self.candidates[0].probability:.3g}" if self.candidates else "none"
        return f"<TableLineup: best row {best}, {self.ties:,} tied for it, {self.bits_left:.1f} bits left>"


def table_lineup(
    table: Table,
    known: Mapping[str, float | str | date],
    attack: TableAttack | None = None,
    *,
    adversary: TableAdversary | None = None,
    population: int | None = None,
    top: int = 10,
) -> TableLineup:
    """Rank all rows by how well they fit what is known about one person.

    Parameters
    ----------
    table : Table
        The table.
    known : mapping
        A value for some columns, such as {"age": 34, "sex": "f"}. Of a set, one member. A number or date that
        no row has stands for the nearest one.
    attack : TableAttack, optional
        An attack with a posterior. Default: `TableLikelihood` with each column's own error.
    adversary : TableAdversary, optional
        Whose errors the known values have.
    population : int, optional
        Number of people of whom the table is a sample.
    top : int
        Number of rows to return.

    Returns
    -------
    TableLineup
        The best rows with their probabilities.

    Raises
    ------
    ParameterError
        If a column or value is not in the table, or the attack has no posterior.

    Examples
    --------
    >>> from standout.tables.column import Column
    >>> age = Column("age", "number", np.array([30.0, 34.0, 60.0]), np.array([0, 1, 2, 1], np.uint8))
    >>> sex = Column("sex", "category", ("f", "m"), np.array([0, 0, 1, 1], np.uint8))
    >>> lineup = table_lineup(Table((age, sex)), {"age": 34, "sex": "m"})
    >>> [candidate.row for candidate in lineup.candidates[:2]], lineup.ties
    ([3, 1], 1)
    """
    attack = TableLikelihood(adversary) if attack is None else attack
    if not attack.has_posterior:
        raise ParameterError("attack must have a posterior, such as TableLikelihood")
    people = table.n_rows if population is None else whole_number("population", population, table.n_rows)
    facts = typed_facts(original_of(table), known)
    scores, parts = _scores(table, facts, attack, adversary)
    best = float(scores.max(initial=0.0))
    weight = elementary.exp(scores - best)
    outside = (people - table.n_rows) * float(elementary.exp(np.array([-best]))[0])
    total = float(weight.sum()) + outside
    order = np.argsort(-scores, kind="stable")[: whole_number("top", top, 1)]
    candidates = tuple(
        TableCandidate(
            row=int(row),
            id=None if table.ids is None else table.ids[int(row)],
            probability=float(weight[row]) / total,
            score=float(scores[row]),
            parts={name: float(part[row]) for name, part in parts.items()},
        )
        for row in order
    )
    ties = int(np.count_nonzero(scores == best))
    return TableLineup(candidates, ties, outside / total, math.log2(total))


def _scores(
    table: Table, facts: RowFacts, attack: TableAttack, adversary: TableAdversary | None
) -> tuple[Floats, dict[str, Floats]]:
    """Scores of all rows, and what each known column adds to them."""
    names = original_of(table).names
    parts = {
        names[facts.column[f]]: _part(table, fact, attack, adversary)
        for f, fact in enumerate(_single_facts(facts))
    }
    return np.sum([*parts.values()], axis=0), parts


def _single_facts(facts: RowFacts) -> list[RowFacts]:
    one = np.array([0, 1])
    return [RowFacts(one, facts.column[[f]], facts.code[[f]], facts.target) for f in range(len(facts.column))]


def _part(table: Table, fact: RowFacts, attack: TableAttack, adversary: TableAdversary | None) -> Floats:
    score = np.zeros(table.n_rows, np.int32)
    for batch in Preparation(table, attack, adversary).batches(fact):
        scores_of_rows(batch.columns, batch.facts, batch.more, attack.takes_smallest, score)
    return score / UNIT
