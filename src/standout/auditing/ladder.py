"""The ladder: the named adversaries of an audit, from a colleague to the worst case.

`resolve_ladder` finds the ladder that a caller means. `fit_ladder` adapts it to what a release contains.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from standout.adversary import Adversary, Choice
from standout.core.errors import ParameterError
from standout.release.model import Release

__all__ = [
    "LADDER",
    "FittedLadder",
    "Ladder",
    "LadderSource",
    "Rung",
    "checked_ladder",
    "describe_adversary",
    "eligible_share",
    "fit_ladder",
    "fit_rung",
    "resolve_ladder",
    "shortened",
    "with_facts",
]

FEW = 0.05
"""An adversary knows fewer facts if less than this share of the records has enough items."""
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Rung:
    """One adversary of the ladder.

    Attributes
    ----------
    gate
        Whether the adversary counts for the threshold.
    note
        How the adversary was adapted to the release.
    """

    name: str
    title: str
    adversary: Adversary
    gate: bool = True
    note: str = ""


class Ladder(NamedTuple):
    """Adversaries in order, the name of the headline adversary, and where the ladder comes from."""

    rungs: tuple[Rung, ...]
    headline: str
    source: str


class FittedLadder(NamedTuple):
    """The adversaries that apply to a release, the headline, and sentences about what was skipped."""

    rungs: tuple[Rung, ...]
    headline: str
    limits: tuple[str, ...]


LadderSource: TypeAlias = str | Path | Mapping[str, Adversary | Rung] | Sequence[Rung] | None
"""Path of a TOML file, adversaries by name, rungs, or None for the default ladder."""

LADDER = (
    Rung(
        "colleague",
        "A colleague who knows a few popular items",
        Adversary(knows=4, wrong=1, value_error=1, time_error=30, items="popular"),
    ),
    Rung(
        "acquaintance",
        "An acquaintance who knows approximate dates",
        Adversary(knows=8, wrong=2, value_error=1, time_error=14),
    ),
    Rung(
        "profile",
        "A reader of a public profile",
        Adversary(knows=8, wrong=0, value_error=0, time_error=3),
    ),
    Rung(
        "undated",
        "An acquaintance who knows no dates",
        Adversary(knows=8, wrong=2, value_error=1, time_error=None),
    ),
    Rung(
        "worst",
        "The worst case: exact facts, rarest items",
        Adversary(knows=8, wrong=0, value_error=0, time_error=0, items="rarest"),
        gate=False,
    ),
)
"""The default ladder. The worst case is a bound rather than a likely adversary: it does not count for the
threshold."""
HEADLINE = "acquaintance"
WRONG_LADDER = "ladder must be the path of a TOML file or a mapping from names to adversaries"


def resolve_ladder(ladder: LadderSource, headline: str | None = None) -> Ladder:
    """The ladder that the caller means: the default for None, a TOML file, adversaries by name, or rungs."""
    if ladder is None:
        resolved = Ladder(LADDER, HEADLINE, "default")
    elif isinstance(ladder, (str, Path)):
        from standout.auditing.ladder_file import read_ladder

        resolved = read_ladder(ladder)
    elif isinstance(ladder, Mapping):
        resolved = checked_ladder([_own_rung(name, rung) for name, rung in ladder.items()], None, "own")
    elif isinstance(ladder, (list, tuple)) and all(isinstance(rung, Rung) for rung in ladder):
        resolved = checked_ladder(list(ladder), None, "own")
    else:
        raise ParameterError(f"{WRONG_LADDER}, got {type(ladder).__name__}")
    return resolved if headline is None else resolved._replace(headline=_rung_name(resolved.rungs, headline))


def _own_rung(name: object, rung: object) -> Rung:
    if isinstance(name, str) and isinstance(rung, Adversary):
        return Rung(name, name, rung)
    if isinstance(name, str) and isinstance(rung, Rung):
        return rung
    raise ParameterError(WRONG_LADDER)


def checked_ladder(rungs: Sequence[Rung], headline: str | None, source: str) -> Ladder:
    """The ladder of these rungs, if their names and titles are valid."""
    if not rungs:
        raise ParameterError("a ladder needs at least one adversary")
    for rung in rungs:
        for text in (rung.name, rung.title):
            if not text.strip() or len(text) > LONGEST_NAME or not text.isprintable():
                raise ParameterError(
                    f"the name and title of an adversary must be one line of 1 to {LONGEST_NAME} characters"
                )
    names = [rung.name for rung in rungs]
    if len({*names}) < len(names):
        raise ParameterError("two adversaries have the same name")
    default = HEADLINE if HEADLINE in names else next((rung.name for rung in rungs if rung.gate), names[0])
    return Ladder(tuple(rungs), default if headline is None else _rung_name(rungs, headline), source)


def _rung_name(rungs: Sequence[Rung], name: object) -> str:
    names = [rung.name for rung in rungs]
    if name not in names:
        raise ParameterError(f"headline must be one of {', '.join(names)}, got {shortened(name)}")
    return str(name)


def shortened(value: object) -> str:
    """At most 40 characters of a value, for an error message."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def fit_ladder(ladder: Ladder, release: Release) -> FittedLadder:
    """The adversaries adapted to this release. Those that do not apply are named in `limits`."""
    fitted: list[Rung] = []
    limits: list[str] = []
    replaced_by: dict[str, str] = {}
    for rung in ladder.rungs:
        candidate = fit_rung(rung, release)
        if isinstance(candidate, str):
            limits.append(f"The adversary “{rung.name}” was skipped: {candidate}.")
            continue
        same = next((other.name for other in fitted if other.adversary == candidate.adversary), None)
        if same is None:
            fitted.append(candidate)
        else:
            replaced_by[rung.name] = same
            limits.append(f"The adversary “{rung.name}” was skipped because it equals “{same}” on this data.")
    if not fitted:
        raise ParameterError(f"no adversary of the ladder applies to this release: {' '.join(limits)}")
    headline = replaced_by.get(ladder.headline, ladder.headline)
    if headline not in [rung.name for rung in fitted]:
        headline = next((rung.name for rung in fitted if rung.gate), fitted[0].name)
        limits.append(
            f"The headline adversary “{ladder.headline}” does not apply to this data. "
            f"“{headline}” replaces it."
        )
    return FittedLadder(tuple(fitted), headline, tuple(limits))


def fit_rung(rung: Rung, release: Release) -> Rung | str:
    """The adversary without knowledge that the release cannot match; or the reason why it does not apply."""
    adversary, notes = rung.adversary, []
    if not release.n_levels and adversary.value_error is not None:
        adversary = replace(adversary, value_error=None)
        notes.append("the release has no values, so the adversary knows none")
    if isinstance(release.levels, tuple) and adversary.value_error:
        adversary = replace(adversary, value_error=0)
        notes.append("values are categories, so the adversary knows them exactly")
    if not release.span and (adversary.time_error is not None or adversary.joined_error is not None):
        adversary = replace(adversary, time_error=None, joined_error=None)
        notes.append("the release has no dates, so the adversary knows none")
    assert isinstance(adversary.items, Choice)
    if not release.span and adversary.items.name in ("recent", "burst"):
        return "the release has no dates"
    # without values and dates, only the item of a fact can be wrong
    wrong_items = (
        bool(adversary.wrong) and adversary.wrong_facts == "values" and not _applies(adversary, release)
    )
    if wrong_items:
        adversary = replace(adversary, wrong_facts="items")
    adversary, fewer = _with_affordable_facts(adversary, release)
    if wrong_items and adversary.wrong:
        notes.append("only items can be wrong here, so wrong facts are items that the record lacks")
    notes += fewer
    if not eligible_share(adversary, release):
        return "no record has enough items that the adversary could know"
    return replace(rung, adversary=adversary, note="; ".join([*filter(None, [rung.note]), *notes]))


def _applies(adversary: Adversary, release: Release) -> bool:
    try:
        adversary.eligible(release, [0])
    except ParameterError:
        return False
    return True


def eligible_share(adversary: Adversary, release: Release) -> float:
    """Share of records with enough items to be targets of the adversary."""
    try:
        return float(adversary.eligible(release, np.arange(release.n_records)).mean())
    except ParameterError:
        return 0.0


def _with_affordable_facts(adversary: Adversary, release: Release) -> tuple[Adversary, list[str]]:
    """The adversary with as many facts as at least FEW of the records have, and a note if these are fewer."""
    if eligible_share(adversary, release) >= FEW:
        return adversary, []
    top = min(adversary.knows, release.n_items)

    def fits(candidate: Adversary) -> bool:
        return eligible_share(candidate, release) >= FEW

    with_wrong = _largest(top, lambda knows: fits(with_facts(adversary, knows)))
    without_wrong = _largest(top, lambda knows: fits(replace(adversary, knows=knows, wrong=0)))
    fewer = with_facts(adversary, max(with_wrong, 1))
    if without_wrong > with_wrong:
        fewer = replace(adversary, knows=without_wrong, wrong=0)
    fewer = fewer if fewer.wrong else replace(fewer, wrong_facts="values")
    note = (
        f"fewer than {100 * FEW:g} % of the records have enough items for {_facts(adversary)}, "
        f"so the adversary knows {_facts(fewer)}"
    )
    return fewer, [note]


def _largest(top: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `top` that fits, if all smaller numbers do as well; 0 if none does."""
    low, high = 0, top
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def with_facts(adversary: Adversary, knows: int) -> Adversary:
    """The adversary with another number of facts and the same share of them wrong (half a fact is right)."""
    wrong = -(-(2 * knows * adversary.wrong - adversary.knows) // (2 * adversary.knows))
    return replace(adversary, knows=knows, wrong=max(0, min(wrong, knows)))


def _facts(adversary: Adversary) -> str:
    facts = f"{adversary.knows} {'fact' if adversary.knows == 1 else 'facts'}"
    return f"{facts}, {adversary.wrong} of them wrong" if adversary.wrong else facts


def describe_adversary(adversary: Adversary, release: Release) -> str:
    """What the adversary knows, in one line: 4 popular items, values ± 1, dates ± 30 days, 1 wrong."""
    parts = [_items(adversary)]
    if release.n_levels:
        parts.append(_precision("values", adversary.value_error, ""))
    if release.span:
        parts.append(_precision("dates", adversary.time_error, " days"))
    if adversary.length_error is not None:
        parts.append(f"length of the record ± {adversary.length_error:.0%}")
    if adversary.joined_error is not None:
        parts.append(f"first date ± {adversary.joined_error:g} days")
    if adversary.wrong:
        what = "" if adversary.wrong_facts == "values" else " (items that the record lacks)"
        parts.append(f"{adversary.wrong} wrong{what}")
    return ", ".join(parts)


def _items(adversary: Adversary) -> str:
    assert isinstance(adversary.items, Choice)
    noun = "item" if adversary.knows == 1 else "items"
    kinds = {
        "any": noun,
        "popular": f"popular {noun}",
        "rarest": "of the rarest items",
        "recent": "of the latest items",
        "burst": f"{noun} close in time",
    }
    outside = f"{noun} outside the {adversary.items.top:,} most popular"
    return f"{adversary.knows} {kinds.get(adversary.items.name, outside)}"


def _precision(what: str, error: float | None, unit: str) -> str:
    if error is None:
        return f"no {what}"
    return f"{what} ± {error:g}{unit}" if error else f"exact {what}"
