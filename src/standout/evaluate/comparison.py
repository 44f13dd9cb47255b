"""The result of `compare`: attacks side by side on the same targets, and a table."""

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from standout._version import __version__
from standout.core.errors import NotFoundError
from standout.core.result_views import ResultView
from standout.core.suggestions import did_you_mean
from standout.evaluate.estimates import Estimate
from standout.evaluate.result_table import TableResult

__all__ = ["Comparison", "ComparisonRow"]

COLUMNS = {
    "adversary": pl.String,
    "facts": pl.Int64,
    "attack": pl.String,
    "identified": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "said": pl.Float64,
    "gap": pl.Float64,
    "gap_low": pl.Float64,
    "gap_high": pl.Float64,
    "difference": pl.Float64,
    "difference_low": pl.Float64,
    "difference_high": pl.Float64,
    "only_this": pl.Float64,
    "only_baseline": pl.Float64,
    "baseline": pl.String,
    "seed": pl.Int64,
    "fingerprint": pl.String,
    "version": pl.String,
}


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One attack of one adversary with one number of facts.

    Attributes
    ----------
    adversary, facts, attack
        Who attacks, with how many facts, and how.
    identified
        Share of targets whose record is the best guess.
    said
        Mean probability that the attack gives its best guesses.
    gap
        `said` minus `identified`: above 0 the attack is too sure.
    difference
        `identified` minus that of the baseline attack, on the same targets and facts.
    only_this, only_baseline
        Number of targets that only this attack identifies, or only the baseline; a tie counts in part.
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
        attacks, adversaries = (
            len({row.attack for row in self.rows}),
            len({row.adversary for row in self.rows}),
        )
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
            lines.append(
                line + ("" if row.attack == self.baseline else f", {_interval(row.difference, '+')}")
            )
        return "\n".join(lines)

    def row(
        self, attack: str | None = None, adversary: str | None = None, facts: int | None = None
    ) -> ComparisonRow:
        """One row.

        Parameters
        ----------
        attack, adversary, facts
            Which row; may be omitted where there is only one.

        Returns
        -------
        ComparisonRow
            The numbers.

        Raises
        ------
        NotFoundError
            If no row fits, or more than one.
        """
        fitting = [
            row
            for row in self.rows
            if attack in (None, row.attack)
            and adversary in (None, row.adversary)
            and facts in (None, row.facts)
        ]
        if len(fitting) != 1:
            count = "no row fits" if not fitting else "more than one row fits"
            names = ", ".join(dict.fromkeys(row.attack for row in self.rows))
            known = f"give attack, adversary and facts; the attacks are {names}"
            raise NotFoundError(f"{count}: {known}{'' if fitting else self._near(attack, adversary)}")
        return fitting[0]

    def _near(self, attack: str | None, adversary: str | None) -> str:
        """The closest name of an attack or an adversary that does not exist."""
        attacks, adversaries = {row.attack for row in self.rows}, {row.adversary for row in self.rows}
        wrong = [(attack, attacks), (adversary, adversaries)]
        return "".join(did_you_mean(name, names) for name, names in wrong if name not in names)

    @cached_property
    def table(self) -> pl.DataFrame:
        """All rows; `difference` is relative to the baseline attack, `gap` is said − identified."""
        cells = [
            (
                row.adversary,
                row.facts,
                row.attack,
                *_numbers(row.identified),
                row.identified.n,
                row.said,
                *_numbers(row.gap),
                *_numbers(row.difference),
                row.only_this,
                row.only_baseline,
                self.baseline,
                self.seed,
                self.fingerprint,
                __version__,
            )
            for row in self.rows
        ]
        return pl.DataFrame(cells, schema=COLUMNS, orient="row")


def _numbers(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high


def _interval(estimate: Estimate, sign: str = "") -> str:
    value, low, high = (format(number, f"{sign}.3f") for number in _numbers(estimate))
    return f"{value} ({low} to {high})"
