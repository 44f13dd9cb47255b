"""The paper's numbers: statistics of the Netflix Prize data, bars and curves, and how ours compare with them.

The data itself may not be passed on and is not included. The bars of the paper are read off the figures of the 2008
version, to about ± 0.003. full_size.csv and full_size.json have our own numbers at full size, from the run that
docs/lab/paper.md records; `python -m tools.paper_full_size` writes them.
"""

import json
import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from standout.core.arrays import Floats, Ints
from standout.core.elementary import exp, log
from standout.evaluate.estimates import Estimate
from standout.evaluate.estimates import difference as estimate_difference
from standout.know.adversary import Adversary, WrongFacts, outside_top

PEOPLE = 480_189


def data_file(name: str) -> str:
    """The text of a data file of this package."""
    return (files("standout.paper") / "data" / name).read_text(encoding="utf-8")


def _table(name: str) -> pl.DataFrame:
    """A data file; numbers that may have decimals are floats whatever the file has."""
    floats = dict.fromkeys(("value_error", "time_error", "length_error", "paper", "similarity"), pl.Float64)
    return pl.read_csv(data_file(name).encode(), infer_schema_length=None, schema_overrides=floats)


@cache
def texts() -> dict[str, Any]:
    """All texts without numbers: of the figures, of the settings that the paper leaves open, of the page."""
    return tomllib.loads(data_file("sentences.toml"))


@cache
def published() -> dict[str, dict[str, Any]]:
    """Statistics of the Netflix Prize data by section and name; the success of attacks is not among them.

    >>> published()["sizes"]["records"], published()["lengths"]["q50"]
    (480189, 96)
    """
    return tomllib.loads(data_file("netflix.toml"))


@cache
def published_support() -> Floats:
    """Number of people who rated the film of each popularity rank, interpolated on logarithmic scales.

    >>> support = published_support()
    >>> len(support), round(support[0]), round(support[-1])
    (17770, 233391, 3)
    """
    rank, records = _table("netflix-support.csv").to_numpy().T
    support = np.minimum.accumulate(exp(np.interp(log(np.arange(1, rank[-1] + 1)), log(rank), log(records))))
    support[-1] = published()["support"]["min"]
    support.flags.writeable = False
    return support


@cache
def published_lengths() -> Ints:
    """Number of people with exactly 2 … 100 ratings (two rows), including those that the contest held back."""
    return _table("netflix-lengths.csv").to_numpy().T


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
    def words(self) -> dict[str, str]:
        """How much is known, in words; facts as the paper writes them: "2" or "6 of 8"."""
        top, of = self.outside_top, f"{self.right} of {self.known}"
        drawn = "all equally likely" if self.wrong_facts == "any items" else "by popularity"
        return {
            "facts": of if self.right < self.known else str(self.known),
            "of": of,
            "dates": "no dates" if self.time_error is None else f"dates ± {self.time_error:g} days",
            "films": "any films" if top is None else f"films outside the top {top}",
            "popularity": "any films" if top is None else f"not in top {top}",
            "length": "length not known" if self.length_error is None else "length known ± 50 %",
            "wrong_films": f"wrong films, {drawn}",
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

    >>> bars("1")[0].paper, bars("1")[0].setting.words["facts"], bars("1")[0].setting.words["dates"]
    (0.436, '2', 'dates ± 14 days')
    """
    found = []
    for row in _table("bars.csv").filter(pl.col("figure") == figure).iter_rows(named=True):
        known, errors = row["known"] or row["right"], (row["value_error"] or 0.0, row["time_error"])
        wrong: Any = row["wrong_facts"] or "values"
        setting = Setting(row["right"], known, *errors, row["outside_top"], row["length_error"], wrong)
        found.append(Bar(figure, row["measure"], setting, row["paper"]))
    return tuple(found)


@cache
def neighbours(name: str) -> dict[float, float]:
    """Figure 12 for "sets" of films or "ratings": similarity → share of people with a neighbour of at least this.

    >>> neighbours("sets")[0.1], neighbours("ratings")[0.1]
    (0.5, 0.314)
    """
    return dict(_table("neighbours.csv").select("similarity", name).drop_nulls().iter_rows())


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
    numbers = _table("full_size.csv").with_columns(pl.col("low", "high").fill_null(pl.col("measured")))
    return {
        (row["figure"], row["number"]): Estimate(row["measured"], row["low"], row["high"], full_size_run()["targets"])
        for row in numbers.iter_rows(named=True)
    }


# One of these numbers compared with ours.


TARGETS = 150
"""Number of targets for each of the paper's bars, which is not stated exactly: 100 to 200."""
READ_OFF = 0.003
"""Precision to which the heights of bars are read off."""
Unit = Literal["rate", "bits", "number"]
GOALS: dict[str, tuple[float, str]] = {"rate": (0.10, "0.10"), "bits": (1.0, "1 bit")}
"""The goal: the largest difference from the paper that we aim for."""
Z = 1.96


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One number: the paper's, and ours with its interval.

    ours            None if it cannot be measured on this release; `note` says why
    spread          standard deviation between our targets
    paper_targets   number of targets behind the paper's number, estimated; 0 if it is not from a sample
    too_few_items   people whose records are too short to be targets
    likelihood      what the Bayesian attack reaches with the same facts about the same targets; None if there is no
                    attack. It is no part of the comparison with the paper.
    full_size       our own number at full size, if that is what ours is compared with
    """

    panel: str
    label: str
    measure: str
    unit: Unit
    paper: float | None
    ours: Estimate | None
    spread: float = 0.0
    paper_targets: int = 0
    too_few_items: int = 0
    note: str = ""
    likelihood: Estimate | None = None
    full_size: Estimate | None = None

    @property
    def name(self) -> str:
        """Panel and label."""
        return ", ".join(filter(None, (self.panel, self.label)))

    @property
    def measured(self) -> float | None:
        """Our number."""
        return None if self.ours is None else self.ours.value

    @property
    def compared_with(self) -> float | None:
        """The number that ours is compared with: our own at full size, otherwise the paper's."""
        return self.paper if self.full_size is None else self.full_size.value

    @property
    def difference(self) -> float | None:
        """The measured number minus the one that it is compared with."""
        other = self.compared_with
        return None if self.ours is None or other is None else self.ours.value - other

    @property
    def sampling_error(self) -> float | None:
        """The largest difference that sampling error explains, at 95 %; None if there is no sample.

        Rates: 1.96 √(p(1 − p)(1/paper_targets + 1/n)) with p pooled over both, plus 0.003 because the paper's
        bars are read off. Bits: 1.96 s √(1/paper_targets + 1/n), s the deviation between our targets.
        Compared with our own result at full size, it follows from the two intervals (Newcombe 1998).

        >>> ComparisonRow("", "", "identified", "rate", 0.7, Estimate(0.75, 0.72, 0.78, 1000), 0.0, 150).sampling_error
        0.077...
        """
        ours, full = self.ours, self.full_size
        if ours is None:
            return None
        if full is not None:
            if ends(ours)[0] is None or full.low == full.high:
                return None
            both = estimate_difference(ours, full)
            return both.value - both.low if both.value > 0 else both.high - both.value
        if self.paper is None or not self.paper_targets or not ours.n:
            return None
        per_target = math.sqrt(1 / self.paper_targets + 1 / ours.n)
        if self.unit == "bits":
            return Z * self.spread * per_target
        pooled = (self.paper_targets * self.paper + ours.n * ours.value) / (self.paper_targets + ours.n)
        return Z * math.sqrt(max(pooled * (1 - pooled), 0.0)) * per_target + READ_OFF

    @property
    def within_sampling_error(self) -> bool | None:
        """Whether sampling error explains the difference; None if there is no sample."""
        difference, error = self.difference, self.sampling_error
        return None if difference is None or error is None else abs(difference) <= error

    @property
    def within_goal(self) -> bool | None:
        """Whether the difference reaches the goal; None if there is no goal."""
        difference = self.difference
        return None if difference is None or self.unit not in GOALS else abs(difference) <= GOALS[self.unit][0] + 1e-12

    @property
    def interval(self) -> str:
        """Our interval as text; empty if there is none."""
        low, high = ends(self.ours)
        return "" if low is None or high is None else f"{number(low, self.unit)} to {number(high, self.unit)}"

    @property
    def likelihood_text(self) -> str:
        """What the Bayesian attack reaches, with its interval; empty if it was not run."""
        if self.likelihood is None:
            return ""
        value, *interval = (number(each, self.unit) for each in (self.likelihood.value, *ends(self.likelihood)))
        return f"{value} ({' to '.join(interval)})"

    @property
    def difference_text(self) -> str:
        """The difference with its sign; empty if there is none."""
        return "" if self.difference is None else signed(self.difference, self.unit, self.compared_with)

    @property
    def judgement(self) -> str:
        """Whether our number agrees with the paper's, or with full size, in a few words."""
        if self.ours is None:
            return f"not measured: {self.note}"
        goal = GOALS.get(self.unit, (0.0, ""))[1]
        if self.within_sampling_error:
            return "within sampling error" if self.within_goal else f"within sampling error, not within {goal}"
        return (
            "" if self.within_goal is None else f"within {goal}" if self.within_goal else f"differs by more than {goal}"
        )

    def cells(self) -> dict[str, Any]:
        """The row of the table of all numbers."""

        def named(*names: str) -> dict[str, Any]:
            return {name: getattr(self, name) for name in names}

        columns = named("panel", "label", "measure", "unit", "paper", "measured")
        columns |= dict(zip(("low", "high", "n"), (*ends(self.ours), self.ours.n if self.ours else 0), strict=True))
        columns |= named("spread", "paper_targets", "too_few_items", "difference", "sampling_error")
        columns |= named("within_sampling_error", "within_goal", "note")
        for name, other in (("likelihood", self.likelihood), ("full_size", self.full_size)):
            numbers = (None, None, None) if other is None else (other.value, other.low, other.high)
            columns |= dict(zip((name, f"{name}_low", f"{name}_high"), numbers, strict=True))
        return columns


def ends(estimate: Estimate | None) -> tuple[float | None, float | None]:
    """The ends of an interval; None where it is unknown or a single point."""
    if estimate is None or not math.isfinite(estimate.high - estimate.low) or estimate.low == estimate.high:
        return None, None
    return estimate.low, estimate.high


def exact(value: float, n: int = 1) -> Estimate:
    """An estimate without sampling error, over n people."""
    return Estimate(value, value, value, n)


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


def signed(value: float, unit: str = "bits", like: float | None = None) -> str:
    """A number with its sign; 0 has none."""
    text = number(abs(value), unit, like)
    return text if not text.strip("0.") else f"{'+' if value > 0 else '−'}{text}"
