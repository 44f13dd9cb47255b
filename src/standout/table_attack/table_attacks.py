"""Attacks on tables: each says what a known cell adds to the score of every row.

TableLikelihood   sums of log-likelihood ratios: the strongest
TableScoreboard   the paper's Algorithm 1B as written: Σ wt(i) · Sim, with wt(i) = 1 / ln |supp(i)| per column
TableThreshold    the paper's Algorithm 1A: the smallest Sim must be at least alpha
ExactMatch        all known cells must be equal, as k-anonymity assumes
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from standout.core.arrays import Ints
from standout.core.checks import positive_share
from standout.core.errors import ParameterError
from standout.table_attack.evidence import ColumnEvidence, Window
from standout.table_attack.table_adversary import TableAdversary

__all__ = [
    "ExactMatch",
    "TableAttack",
    "TableLikelihood",
    "TableScoreboard",
    "TableThreshold",
    "scoreboard_weight",
]

GUESSED_WRONG = 0.1
"""Share of wrong facts where the adversary's errors are not known."""
COVERAGE = 0.98
MANY = 100
"""With more facts than this, sums of logarithms might exceed the range of the kernels' whole numbers."""


@dataclass(frozen=True, slots=True)
class TableAttack:
    """Base class: how known cells become scores.

    Subclass it, with a `name` and a `window`, for an attack of your own.

    Attributes
    ----------
    takes_smallest : bool
        A score is the smallest addend instead of the sum.
    has_posterior : bool
        Scores are log-likelihood ratios.

    Examples
    --------
    >>> TableAttack().takes_smallest
    False
    """

    name: ClassVar[str] = ""
    takes_smallest: ClassVar[bool] = False
    has_posterior: ClassVar[bool] = False

    @property
    def wrong(self) -> float:
        """The share of wrong facts that the attack reckons with."""
        return 0.0

    @property
    def coverage(self) -> float:
        """The share of facts that the attack expects to be about cells of the table."""
        return 1.0

    def window(self, evidence: ColumnEvidence, code: int, own: int | None) -> Window:
        """What a known level adds to a row, by the row's code.

        Parameters
        ----------
        evidence : ColumnEvidence
            What is known of the column.
        code : int
            The known level, a level of the original column.
        own : int, optional
            The target's own level, if it is not in the table.

        Returns
        -------
        Window
            By the code of a row's cell.
        """
        raise NotImplementedError

    def member_window(self, evidence: ColumnEvidence, code: int, own: Ints | None) -> Window:
        """What a known member of a set adds to a row, by the size of its set; 0: it lacks the member.

        Parameters
        ----------
        evidence : ColumnEvidence
            What is known of the column.
        code : int
            The known member of a set, a level of the original column.
        own : array of int, optional
            Members of the target's own set, if it is not in the table.

        Returns
        -------
        Window
            By the size of a row's set; 0: it lacks the member.
        """
        return evidence.member_presence()


@dataclass(frozen=True, slots=True)
class TableLikelihood(TableAttack):
    """Scores are ln P(facts | row) / P(facts): rare values count more, inaccurate facts count as such.

    Parameters
    ----------
    adversary : TableAdversary, optional
        The adversary whose errors the facts have. Default: a tenth of the facts may be wrong.
    coverage : float
        The share of facts that are about cells of the table; the rest are about something else.
    counted : bool
        Whether the attack uses that exactly `adversary.wrong` of the facts are wrong: a row that agrees with
        all of them is then out of the question. Otherwise each fact is wrong with the same probability.

    Examples
    --------
    >>> TableLikelihood(TableAdversary(knows=4, wrong=1)).wrong
    0.25
    """

    adversary: TableAdversary | None = None
    coverage: float = COVERAGE
    counted: bool = True
    name: ClassVar[str] = "likelihood"
    has_posterior: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.coverage < 1:
            raise ParameterError(f"coverage must be above 0 and below 1, got {self.coverage!r}")

    @property
    def wrong(self) -> float:
        """The share of wrong facts."""
        return GUESSED_WRONG if self.adversary is None else self.adversary.wrong / self.adversary.most

    @property
    def counts_wrong(self) -> bool:
        """Whether the number of wrong facts is used, with products instead of sums of logarithms."""
        adversary = self.adversary
        return self.counted and adversary is not None and (adversary.wrong > 0 or adversary.most > MANY)

    def window(self, evidence: ColumnEvidence, code: int, own: int | None) -> Window:
        """The log-likelihood ratio of a known level, by code."""
        return evidence.likelihood(code, own)

    def member_window(self, evidence: ColumnEvidence, code: int, own: Ints | None) -> Window:
        """The log-likelihood ratio of a known member, by size of the set."""
        return evidence.member_likelihood(code, own)


@dataclass(frozen=True, slots=True)
class TableScoreboard(TableAttack):
    """The paper's Algorithm 1B: Σ Sim / ln |supp(i)|, a match stands out by φ · σ.

    In a table without empty cells all columns have the same support, so every column counts the same.

    Examples
    --------
    >>> TableScoreboard().name
    'paper'
    """

    name: ClassVar[str] = "paper"

    def window(self, evidence: ColumnEvidence, code: int, own: int | None) -> Window:
        """wt(i) · Sim of a known level, by code."""
        return _weighted(evidence, evidence.similarity(code), own is not None)

    def member_window(self, evidence: ColumnEvidence, code: int, own: Ints | None) -> Window:
        """wt(i) · Sim of a known member."""
        return _weighted(evidence, evidence.member_presence(), own is not None)


def scoreboard_weight(evidence: ColumnEvidence, absent: bool) -> float:
    """wt(i) = 1 / ln |supp(i)| of a column."""
    support = evidence.released.n_rows - int(evidence.released.counts[-1]) - absent
    return 1.0 / math.log(max(support, 2))


def _weighted(evidence: ColumnEvidence, window: Window, absent: bool) -> Window:
    weight = scoreboard_weight(evidence, absent)
    return Window(window.low, window.numbers * weight, window.outside * weight, window.empty * weight)


@dataclass(frozen=True, slots=True)
class TableThreshold(TableAttack):
    """The paper's Algorithm 1A: rows whose every known cell is similar, Sim ≥ alpha, are candidates.

    Parameters
    ----------
    alpha : float
        The smallest similarity of a candidate.

    Examples
    --------
    >>> TableThreshold(alpha=0.5).alpha
    0.5
    """

    alpha: float = 0.5
    name: ClassVar[str] = "threshold"
    takes_smallest: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive_share("alpha", self.alpha)

    def window(self, evidence: ColumnEvidence, code: int, own: int | None) -> Window:
        """Sim of a known level, by code."""
        return evidence.similarity(code)


@dataclass(frozen=True, slots=True)
class ExactMatch(TableAttack):
    """Rows that equal every known cell are candidates: what k-anonymity and ARX's risks assume.

    Examples
    --------
    >>> ExactMatch().alpha
    1.0
    """

    alpha: ClassVar[float] = 1.0
    name: ClassVar[str] = "exact match"
    takes_smallest: ClassVar[bool] = True

    def window(self, evidence: ColumnEvidence, code: int, own: int | None) -> Window:
        """1 for the cells that show the known level."""
        return evidence.equality(code)

    def member_window(self, evidence: ColumnEvidence, code: int, own: Ints | None) -> Window:
        """1 for the sets that have the known member."""
        return evidence.member_presence(hidden=True)
