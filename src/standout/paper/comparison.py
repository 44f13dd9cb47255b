"""One number compared with the paper's, or with our own at full size: the difference and its meaning.

The bars of the paper are read off the figures of the 2008 version, to about ± 0.003. A smaller stand-in is
compared with our own result at full size: it has fewer people than the paper's data, which changes every number.
data/full_size.csv and data/full_size.json have these numbers, from the run that docs/lab/paper.md records;
`python -m tools.paper_full_size` writes them.
"""

import csv
import json
import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from io import StringIO
from typing import Any, Literal, NamedTuple

from standout.evaluate.estimates import Estimate
from standout.evaluate.estimates import difference as estimate_difference
from standout.know.adversary import Adversary, WrongFacts, outside_top
from standout.paper.published import data_file

TARGETS = 150
"""Number of targets for each of the paper's bars, which is not stated exactly: 100 to 200."""
READ_OFF = 0.003
"""Precision to which the heights of bars are read off."""
PEOPLE = 480_189
Unit = Literal["rate", "bits", "number"]
GOALS: dict[Unit, float] = {"rate": 0.10, "bits": 1.0}
"""The goal: the largest difference from the paper that we aim for."""
Z = 1.96


@cache
def texts() -> dict[str, Any]:
    """All texts without numbers: of the figures, of the settings that the paper leaves open, of the page."""
    return tomllib.loads(data_file("sentences.toml"))


class Setting(NamedTuple):
    """An attack of the paper: `right` of the `known` facts are right, within these errors."""

    right: int
    known: int
    value_error: float
    time_error: float | None
    outside_top: int | None
    length_error: float | None
    wrong_facts: WrongFacts

    @property
    def adversary(self) -> Adversary:
        """The adversary of this attack."""
        return Adversary(
            knows=self.known,
            wrong=self.known - self.right,
            wrong_facts=self.wrong_facts,
            value_error=self.value_error,
            time_error=self.time_error,
            items="any" if self.outside_top is None else outside_top(self.outside_top),
            length_error=self.length_error,
        )

    @property
    def facts(self) -> str:
        """Number of facts as the paper writes it: "2" or "6 of 8"."""
        return f"{self.right} of {self.known}" if self.right < self.known else str(self.known)

    @property
    def words(self) -> dict[str, str]:
        """How well each part is known, in words."""
        top, is_uniform = self.outside_top, self.wrong_facts == "any items"
        return {
            "facts": self.facts,
            "of": f"{self.right} of {self.known}",
            "dates": "no dates" if self.time_error is None else f"dates ± {self.time_error:g} days",
            "films": "any films" if top is None else f"films outside the top {top}",
            "popularity": "any films" if top is None else f"not in top {top}",
            "length": "length not known" if self.length_error is None else "length known ± 50 %",
            "wrong_films": f"wrong films, {'all equally likely' if is_uniform else 'by popularity'}",
        }


class Bar(NamedTuple):
    """A bar of a figure: its measure, its attack and its height."""

    figure: str
    measure: str
    setting: Setting
    paper: float

    @property
    def is_claim(self) -> bool:
        """Whether it is about claims, which are also made about absent targets."""
        return self.measure in ("correct_claims", "absent_rejected")


@cache
def bars(figure: str) -> tuple[Bar, ...]:
    """The bars of a figure, in the order of the figure.

    >>> bars("1")[0].paper, bars("1")[0].setting.facts, bars("1")[0].setting.words["dates"]
    (0.436, '2', 'dates ± 14 days')
    """

    def number(text: str) -> float | None:
        return float(text) if text else None

    return tuple(
        Bar(
            figure,
            row["measure"],
            Setting(
                right=int(row["right"]),
                known=int(row["known"] or row["right"]),
                value_error=number(row["value_error"]) or 0.0,
                time_error=number(row["time_error"]),
                outside_top=int(row["outside_top"]) if row["outside_top"] else None,
                length_error=number(row["length_error"]),
                wrong_facts=row["wrong_facts"] or "values",  # type: ignore[arg-type]
            ),
            float(row["paper"]),
        )
        for row in _csv_rows("bars.csv")
        if row["figure"] == figure
    )


@cache
def neighbours() -> dict[str, dict[float, float]]:
    """The curves of Figure 12, for sets of films and for films with equal ratings.

    They map a similarity to the share of people with a neighbour of at least this similarity.

    >>> neighbours()["sets"][0.1], neighbours()["ratings"][0.1]
    (0.5, 0.314)
    """
    rows = list(_csv_rows("neighbours.csv"))
    return {
        name: {float(row["similarity"]): float(row[name]) for row in rows if row[name]} for name in ("sets", "ratings")
    }


@cache
def full_size_run() -> dict[str, Any]:
    """How the numbers at full size were made: command, size, targets, fingerprint, version.

    >>> full_size_run()["command"], full_size_run()["people"]
    ('standout paper -o paper', 480189)
    """
    run: dict[str, Any] = json.loads(data_file("full_size.json"))
    return run


@cache
def full_size() -> dict[tuple[str, str], Estimate]:
    """Our numbers at full size by figure and name."""
    estimates = {}
    for row in _csv_rows("full_size.csv"):
        measured, low, high = (float(row[name] or row["measured"]) for name in ("measured", "low", "high"))
        estimates[row["figure"], row["number"]] = Estimate(measured, low, high, full_size_run()["targets"])
    return estimates


def _csv_rows(name: str) -> Iterator[dict[str, str]]:
    return csv.DictReader(StringIO(data_file(name)))


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One number: the paper's, and the measured one with its interval.

    measured        None if it cannot be measured on this release; `note` says why
    n               number of our targets
    spread          standard deviation between our targets
    paper_targets   number of targets behind the paper's number, estimated; 0 if it is not from a sample
    too_few_items   people whose records are too short to be targets
    full_size       our own number at full size, with its interval, if that is what ours is compared with
    likelihood      what the Bayesian attack reaches with the same facts about the same targets, with its
                    interval; None if there is no attack. It is no part of the comparison with the paper.
    """

    panel: str
    label: str
    measure: str
    unit: Unit
    paper: float | None
    measured: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    spread: float = 0.0
    paper_targets: int = 0
    too_few_items: int = 0
    note: str = ""
    likelihood: float | None = None
    likelihood_low: float | None = None
    likelihood_high: float | None = None
    full_size: Estimate | None = None

    @property
    def name(self) -> str:
        """Panel and label."""
        return ", ".join(filter(None, (self.panel, self.label)))

    @property
    def compared_with(self) -> float | None:
        """The number that ours is compared with: our own at full size, otherwise the paper's."""
        return self.paper if self.full_size is None else self.full_size.value

    @property
    def difference(self) -> float | None:
        """The measured number minus the one that it is compared with."""
        other = self.compared_with
        return None if self.measured is None or other is None else self.measured - other

    @property
    def gain(self) -> float | None:
        """What the Bayesian attack reaches more than the paper's on the same data."""
        return None if self.likelihood is None or self.measured is None else self.likelihood - self.measured

    @property
    def sampling_error(self) -> float | None:
        """The largest difference that sampling error explains, at 95 %; None if there is no sample.

        Rates: 1.96 √(p(1 − p)(1/paper_targets + 1/n)) with p pooled over both, plus 0.003 because the paper's
        bars are read off. Bits: 1.96 s √(1/paper_targets + 1/n), s the deviation between our targets.
        Compared with our own result at full size, it follows from the two intervals (Newcombe 1998).

        >>> estimate = Estimate(0.75, 0.72, 0.78, 1000)
        >>> row = comparison_row("", "", "identified", "rate", 0.7, estimate, paper_targets=150)
        >>> row.sampling_error
        0.077...
        """
        full = self.full_size
        if full is not None:
            if self.measured is None or self.low is None or self.high is None or full.low == full.high:
                return None
            both = estimate_difference(Estimate(self.measured, self.low, self.high, self.n), full)
            return both.value - both.low if both.value > 0 else both.high - both.value
        if self.measured is None or self.paper is None or not self.paper_targets or not self.n:
            return None
        per_target = math.sqrt(1 / self.paper_targets + 1 / self.n)
        if self.unit == "bits":
            return Z * self.spread * per_target
        pooled = (self.paper_targets * self.paper + self.n * self.measured) / (self.paper_targets + self.n)
        return Z * math.sqrt(max(pooled * (1 - pooled), 0.0)) * per_target + READ_OFF

    @property
    def within_sampling_error(self) -> bool | None:
        """Whether sampling error explains the difference; None if there is no sample."""
        difference, sampling_error = self.difference, self.sampling_error
        return None if difference is None or sampling_error is None else abs(difference) <= sampling_error

    @property
    def within_goal(self) -> bool | None:
        """Whether the difference reaches the goal; None if there is no goal."""
        difference, goal = self.difference, GOALS.get(self.unit)
        return None if difference is None or goal is None else abs(difference) <= goal + 1e-12


def comparison_row(
    panel: str, label: str, measure: str, unit: Unit, paper: float | None, estimate: Estimate, **fields: Any
) -> ComparisonRow:
    """A row with our estimate; an interval that is infinite or a single point is left empty."""
    low, high = (end if math.isfinite(end) else None for end in (estimate.low, estimate.high))
    if (low, high) == (estimate.value, estimate.value):
        low = high = None
    return ComparisonRow(panel, label, measure, unit, paper, estimate.value, low, high, estimate.n, **fields)


def exact_estimate(value: float, n: int) -> Estimate:
    """An estimate without sampling error, over n people."""
    return Estimate(value, value, value, n)


# Numbers of a reproduction as text, for the page, the console and the documentation.


def number(value: float | None, unit: str = "rate", like: float | None = None) -> str:
    """A number as text: rates with three digits, bits with two, large counts without any.

    `like` is the number that decides how many digits there are; default: the value itself.

    >>> number(0.5), number(14.25, "bits"), number(1181.0, "number"), number(None)
    ('0.500', '14.25', '1,181', '–')
    """
    if value is None:
        return "–"
    if unit == "number" and (value.is_integer() or abs(value if like is None else like) >= 100):
        return f"{value:,.0f}"
    return f"{value:.3f}" if unit == "rate" else f"{value:.2f}"


def interval(row: ComparisonRow, between: str = " to ") -> str:
    """The interval of a row; empty if it has none."""
    if row.low is None or row.high is None:
        return ""
    return number(row.low, row.unit) + between + number(row.high, row.unit)


def likelihood(row: ComparisonRow, between: str = " to ") -> str:
    """What the Bayesian attack reaches, with its interval; empty if it was not run."""
    if row.likelihood is None:
        return ""
    low, high = number(row.likelihood_low, row.unit), number(row.likelihood_high, row.unit)
    return f"{number(row.likelihood, row.unit)} ({low}{between}{high})"


def difference(row: ComparisonRow) -> str:
    """The difference from the paper, or from full size, with its sign; empty if there is none."""
    return "" if row.difference is None else signed(row.difference, row.unit, row.compared_with)


def signed(value: float, unit: str = "bits", like: float | None = None) -> str:
    """A number with its sign; 0 has none."""
    text = number(abs(value), unit, like)
    return text if not text.strip("0.") else f"{'+' if value > 0 else '−'}{text}"


def goal_text(unit: str) -> str:
    """The goal for a unit."""
    return "1 bit" if unit == "bits" else "0.10"


def judgement(row: ComparisonRow) -> str:
    """Whether a number agrees with the paper's, in a few words."""
    if row.measured is None:
        return f"not measured: {row.note}"
    goal = goal_text(row.unit)
    if row.within_sampling_error:
        return "within sampling error" if row.within_goal else f"within sampling error, not within {goal}"
    if row.within_goal is None:
        return ""
    return f"within {goal}" if row.within_goal else f"differs by more than {goal}"
