"""Everything that the page, the console and the documentation say in words about a reproduction.

Texts without numbers are in data/sentences.toml.
"""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from standout.data.release import Release
from standout.paper.comparison_rows import PEOPLE, ComparisonRow, full_size_run, is_small_standin

__all__ = [
    "FigureText",
    "agreement_rule",
    "data_note",
    "figure_text",
    "goal_text",
    "judgement",
    "qualifying_note",
    "readings_introduction",
    "scaling_note",
    "size_note",
    "stronger_attack",
    "summary",
    "two_attacks_note",
]

NUMBERS = {
    "imdb": "In the text of the section on IMDb, in both versions",
    "sp10": "Figure 10 of 2008, not in the version of 2007",
    "table": "Table in the appendix “Marginals” of 2007, in section 5 of 2008",
}


GAINS = {"rate": "{:+.2f} of the targets", "bits": "{:+.1f} bits"}


class FigureText(NamedTuple):
    """The texts of one figure; `assumptions` are the settings that the paper leaves open."""

    title: str
    description: str
    number_2008: str
    assumptions: tuple[str, ...]

    def number(self, key: str) -> str:
        """The figure's number in both versions of the paper."""
        if key in NUMBERS:
            return NUMBERS[key]
        other = f"Figure {self.number_2008} of 2008" if self.number_2008 else "not in the version of 2008"
        return f"Figure {key} of 2007, {other}"


@cache
def figure_text(key: str) -> FigureText:
    """The texts of the figure with this key."""
    texts, notes = _texts()["figures"][key], _texts()["notes"]
    return FigureText(
        title=texts["title"],
        description=texts["description"].strip(),
        number_2008=texts["number_2008"],
        assumptions=tuple(notes[name].strip() for name in texts["assumptions"]),
    )


def agreement_rule() -> str:
    """When two numbers agree."""
    return str(_texts()["agreement_rule"]).strip()


def readings_introduction() -> str:
    """Introduction to the other readings of the paper's text."""
    return str(_texts()["readings_introduction"]).strip()


def qualifying_note(origin: Literal["file", "standin", "drawn"]) -> str:
    """Where the test entries of Figures 7 to 9 come from."""
    return str(_texts()["qualifying"][origin]).strip()


def data_note(release: Release) -> str:
    """Which data was used: the stand-in, other synthetic data, or the user's own."""
    provenance = release.provenance
    if provenance.format != "synthetic":
        name = "user"
    else:
        name = "standin" if provenance.settings.get("like") == "netflix" else "synthetic"
    return str(_texts()["data"][name]).strip()


def size_note(release: Release) -> str:
    """A warning that the release has another size than the paper's data; empty if it has the same size."""
    if release.n_records == PEOPLE:
        return ""
    sizes = (
        f"The paper's data has {PEOPLE:,} people, this release has {release.n_records:,}. With fewer people, "
        "a person is easier to identify and there are fewer bits to gain."
    )
    if not is_small_standin(release):
        return sizes
    run = full_size_run()
    return (
        f"{sizes} The numbers are therefore compared with our own at full size ({run['command']}: "
        f"{run['people']:,} people, {run['targets']:,} targets for each bar), which shows what the size "
        "changes. The paper's numbers are shown for orientation."
    )


def scaling_note(release: Release) -> str:
    """How counts were made comparable with the paper's."""
    return f"Counts are scaled from {release.n_records:,} to the paper's {PEOPLE:,} people."


def summary(rows: Sequence[ComparisonRow], full_size: bool = False) -> str:
    """How close the attacks come to the paper, in one sentence; `rows` are those that have a goal.

    If `full_size`, they are compared with our own result at full size.
    """
    if not rows:
        return "No attack was run."
    near = sum(bool(row.within_goal) for row in rows)
    alike = sum(bool(row.within_sampling_error) for row in rows)
    others = "our own at full size" if full_size else "the paper's"
    return (
        f"{near} of {len(rows)} attack results are within 0.10 or 1 bit of {others}, and {alike} show no "
        "difference beyond sampling error."
    )


def stronger_attack(rows: Sequence[ComparisonRow]) -> str:
    """How much more the Bayesian attack reaches than the paper's, on average by unit; empty without rows."""
    if not rows:
        return ""
    gains = {unit: [row.gain for row in rows if row.unit == unit and row.gain is not None] for unit in GAINS}
    more, less = (sum(sign * gain > 0 for each in gains.values() for gain in each) for sign in (1, -1))
    means = (GAINS[unit].format(sum(each) / len(each)) for unit, each in gains.items() if each)
    return (
        "With the same facts about the same targets, the Bayesian attack (so.Likelihood) reaches more than "
        f"the paper's in {more} of {len(rows)} numbers and less in {less}; the mean difference is "
        f"{' and '.join(means)}."
    )


def two_attacks_note() -> str:
    """What the columns of the two attacks mean."""
    return str(_texts()["two_attacks"]).strip()


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


@cache
def _texts() -> dict[str, Any]:
    return tomllib.loads((files("standout.paper") / "data" / "sentences.toml").read_text(encoding="utf-8"))
