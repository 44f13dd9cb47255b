"""The ladder: named adversaries from a colleague to the worst case, fitted to what a release has."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from standout.adversary import Adversary, Choice, outside_top
from standout.core.errors import ParameterError, SourceError
from standout.release.catalogue import printable
from standout.release.model import Release

__all__ = [
    "LADDER", "Fitted", "Ladder", "Rung", "able", "fit", "fitted", "ladder_of", "read_ladder", "scaled",
    "words_of",
]  # fmt: skip

FEW = 0.05
"""An adversary who knows more than this share of the records have is asked for less."""
LONGEST = 80
TEXTS, SWITCHES = ("name", "title"), ("gate",)
NUMBERS = ("knows", "wrong")
ERRORS = ("value_error", "time_error", "length_error", "joined_error")
OPTIONS = (*TEXTS, *SWITCHES, *NUMBERS, *ERRORS, "wrong_facts", "items")


@dataclass(frozen=True, slots=True)
class Rung:
    """One adversary of the ladder. `gate`: whether it counts for the threshold; `note`: what was adapted."""

    name: str
    title: str
    adversary: Adversary
    gate: bool = True
    note: str = ""


class Ladder(NamedTuple):
    """Adversaries in order, who of them is the headline, and where they come from."""

    rungs: tuple[Rung, ...]
    headline: str
    source: str


class Fitted(NamedTuple):
    """The adversaries that apply to a release, the headline among them, and what was left out."""

    rungs: tuple[Rung, ...]
    headline: str
    limits: tuple[str, ...]


LADDER = (
    Rung(
        "colleague", "A colleague at the water cooler",
        Adversary(knows=4, wrong=1, value_error=1, time_error=30, items="popular"),
    ),
    Rung(
        "acquaintance", "An acquaintance who knows about when",
        Adversary(knows=8, wrong=2, value_error=1, time_error=14),
    ),
    Rung(
        "profile", "Somebody who has read a public profile",
        Adversary(knows=8, wrong=0, value_error=0, time_error=3),
    ),
    Rung(
        "undated", "An acquaintance who knows no dates",
        Adversary(knows=8, wrong=2, value_error=1, time_error=None),
    ),
    Rung(
        "worst", "The worst case: the rarest items, exactly",
        Adversary(knows=8, wrong=0, value_error=0, time_error=0, items="rarest"), gate=False,
    ),
)  # fmt: skip
"""The worst case is a bound, not a likely adversary: it is told, and does not count for the threshold."""
HEADLINE = "acquaintance"


def ladder_of(given: Any, headline: str | None = None) -> Ladder:
    """The ladder that is meant: None for the usual one, a TOML file, adversaries by name, or rungs."""
    if given is None:
        ladder = Ladder(LADDER, HEADLINE, "default")
    elif isinstance(given, (str, Path)):
        ladder = read_ladder(given)
    elif isinstance(given, Mapping):
        ladder = _checked([_own(name, one) for name, one in given.items()], None, "own")
    elif isinstance(given, (list, tuple)) and all(isinstance(one, Rung) for one in given):
        ladder = _checked(list(given), None, "own")
    else:
        raise ParameterError("ladder is the path of a TOML file, or adversaries by name")
    return ladder if headline is None else ladder._replace(headline=_among(ladder.rungs, headline))


def read_ladder(path: str | Path) -> Ladder:
    """The ladder in a TOML file: a table [[adversary]] for each, and `headline` if it is not to be chosen.

    Options are those of so.Adversary, and name, title and gate. What is not known is written "none".
    """
    try:
        told = tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ParameterError(f"{path} is not a TOML file: {error}") from error
    if unknown := sorted({*told} - {"adversary", "headline"}):
        raise ParameterError(f"{path}: unknown key {_short(unknown[0])}: adversary and headline are known")
    tables = told.get("adversary")
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        raise ParameterError(f"{path}: a ladder needs at least one table [[adversary]]")
    rungs = [_rung(table, f"{path}, adversary {number}") for number, table in enumerate(tables, 1)]
    headline = told.get("headline")
    if headline is not None and not isinstance(headline, str):
        raise ParameterError(f"{path}: headline is the name of an adversary")
    try:
        return _checked(rungs, headline, printable(Path(path).name))
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


def _rung(table: dict[str, Any], where: str) -> Rung:
    """One table of the file."""
    if unknown := sorted({*table} - {*OPTIONS}):
        raise ParameterError(f"{where}: unknown option {_short(unknown[0])}: there are {', '.join(OPTIONS)}")
    if "name" not in table:
        raise ParameterError(f"{where}: it needs a name")
    for name in (*TEXTS, "wrong_facts", "items"):
        if not isinstance(table.get(name, ""), str):
            raise ParameterError(f"{where}: {name} must be text")
    for name in SWITCHES:
        if not isinstance(table.get(name, True), bool):
            raise ParameterError(f"{where}: {name} must be true or false")
    said = {name: table[name] for name in (*NUMBERS, "wrong_facts") if name in table}
    said |= {name: _error(table[name], name, where) for name in ERRORS if name in table}
    top = re.fullmatch(r"outside[-_]top[-_(]?(\d{1,9})\)?", table.get("items", ""))
    try:
        said |= {"items": outside_top(int(top[1])) if top else table["items"]} if "items" in table else {}
        adversary = Adversary(**said)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None
    return Rung(table["name"], table.get("title", table["name"]), adversary, table.get("gate", True))


def _error(told: Any, name: str, where: str) -> float | None:
    if isinstance(told, str) and told.lower() == "none":
        return None
    if isinstance(told, bool) or not isinstance(told, (int, float)):
        raise ParameterError(f'{where}: {name} must be a number, or "none" where it is not known')
    return float(told)


def _own(name: Any, one: Any) -> Rung:
    if not isinstance(name, str) or not isinstance(one, (Adversary, Rung)):
        raise ParameterError("ladder is the path of a TOML file, or adversaries by name")
    return one if isinstance(one, Rung) else Rung(name, name, one)


def _checked(rungs: list[Rung], headline: str | None, source: str) -> Ladder:
    if not rungs:
        raise ParameterError("a ladder needs at least one adversary")
    for rung in rungs:
        for text in (rung.name, rung.title):
            if not text.strip() or len(text) > LONGEST or not text.isprintable():
                raise ParameterError(f"names and titles are one line of 1 to {LONGEST} characters")
    names = [rung.name for rung in rungs]
    if len({*names}) < len(names):
        raise ParameterError("two adversaries have the same name")
    usual = HEADLINE if HEADLINE in names else next((one.name for one in rungs if one.gate), names[0])
    return Ladder(tuple(rungs), usual if headline is None else _among(rungs, headline), source)


def _among(rungs: "list[Rung] | tuple[Rung, ...]", name: Any) -> str:
    names = [rung.name for rung in rungs]
    if name not in names:
        raise ParameterError(f"headline must be one of {', '.join(names)}, got {_short(name)}")
    return str(name)


def _short(text: Any) -> str:
    told = repr(text)
    return told if len(told) <= 40 else f"{told[:39]}…"


def fitted(ladder: Ladder, release: Release) -> Fitted:
    """The adversaries as they can be tried on this release; what cannot apply is left out, and told."""
    kept: list[Rung] = []
    limits: list[str] = []
    instead: dict[str, str] = {}
    for rung in ladder.rungs:
        found = fit(rung, release)
        if isinstance(found, str):
            limits.append(f"The adversary “{rung.name}” was left out: {found}.")
            continue
        same = next((one.name for one in kept if one.adversary == found.adversary), None)
        if same is None:
            kept.append(found)
        else:
            instead[rung.name] = same
            limits.append(
                f"The adversary “{rung.name}” was left out: on this data it is the same as “{same}”."
            )
    if not kept:
        raise ParameterError(f"no adversary of the ladder can be tried on this release: {' '.join(limits)}")
    headline = instead.get(ladder.headline, ladder.headline)
    if headline not in [one.name for one in kept]:
        headline = next((one.name for one in kept if one.gate), kept[0].name)
        limits.append(f"The headline “{ladder.headline}” cannot be tried on this data: it is “{headline}”.")
    return Fitted(tuple(kept), headline, tuple(limits))


def fit(rung: Rung, release: Release) -> Rung | str:
    """The adversary without what the release does not have; or why it cannot be tried."""
    one, notes = rung.adversary, []
    if not release.n_levels and one.value_error is not None:
        one = replace(one, value_error=None)
        notes.append("the release has no values, so they are left out")
    if isinstance(release.levels, tuple) and one.value_error:
        one = replace(one, value_error=0)
        notes.append("values are categories, which are known exactly or not at all")
    if not release.span and (one.time_error is not None or one.joined_error is not None):
        one = replace(one, time_error=None, joined_error=None)
        notes.append("the release has no times, so dates are left out")
    assert isinstance(one.items, Choice)
    if not release.span and one.items.name in ("recent", "burst"):
        return "the release has no times"
    as_items = bool(one.wrong) and one.wrong_facts == "values" and not _applies(one, release)
    one, fewer = _affordable(replace(one, wrong_facts="items") if as_items else one, release)
    if as_items and one.wrong:
        notes.append("nothing else can be wrong here, so wrong facts are about items that are not there")
    notes += fewer
    if not able(one, release):
        return "no record has the items that it would know"
    return replace(rung, adversary=one, note="; ".join([*filter(None, [rung.note]), *notes]))


def _applies(one: Adversary, release: Release) -> bool:
    try:
        one.eligible(release, [0])
    except ParameterError:
        return False
    return True


def able(one: Adversary, release: Release) -> float:
    """The share of records that such an adversary can be tried on."""
    try:
        return float(one.eligible(release, np.arange(release.n_records)).mean())
    except ParameterError:
        return 0.0


def _affordable(one: Adversary, release: Release) -> tuple[Adversary, list[str]]:
    """The same with as many facts as at least a few of the records have, the same share of them wrong."""
    if able(one, release) >= FEW:
        return one, []
    top = min(one.knows, release.n_items)
    with_wrong = _most(top, lambda knows: able(scaled(one, knows), release) >= FEW)
    without = _most(top, lambda knows: able(replace(one, knows=knows, wrong=0), release) >= FEW)
    less = scaled(one, max(with_wrong, 1))
    if without > with_wrong:
        less = replace(one, knows=without, wrong=0)
    less = less if less.wrong else replace(less, wrong_facts="values")
    told = f"fewer than {100 * FEW:g} % of the records can be tried with {_told(one)}"
    return less, [f"{told}, so it is {_told(less)}"]


def _most(top: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `top` that fits, where all below it do as well; 0 if none does."""
    low, high = 0, top
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def scaled(one: Adversary, knows: int) -> Adversary:
    """The same adversary with another number of facts, the same share of them wrong; half a fact is right."""
    wrong = -(-(2 * knows * one.wrong - one.knows) // (2 * one.knows))
    return replace(one, knows=knows, wrong=max(0, min(wrong, knows)))


def _told(one: Adversary) -> str:
    facts = f"{one.knows} {'fact' if one.knows == 1 else 'facts'}"
    return f"{facts}, {one.wrong} wrong" if one.wrong else facts


def words_of(one: Adversary, release: Release) -> str:
    """What is known, in one line: 4 popular items, values ± 1, dates ± 30 days, 1 wrong."""
    parts = [_items(one)]
    if release.n_levels:
        parts.append(_off("values", one.value_error, ""))
    if release.span:
        parts.append(_off("dates", one.time_error, " days"))
    parts += [] if one.length_error is None else [f"the record's length ± {one.length_error:.0%}"]
    parts += [] if one.joined_error is None else [f"its first date ± {one.joined_error:g} days"]
    if one.wrong:
        parts.append(
            f"{one.wrong} wrong" + ("" if one.wrong_facts == "values" else " (items not in the record)")
        )
    return ", ".join(parts)


def _items(one: Adversary) -> str:
    assert isinstance(one.items, Choice)
    thing = "item" if one.knows == 1 else "items"
    outside = f"{thing} outside the {one.items.top:,} most popular"
    kinds = {
        "any": thing, "popular": f"popular {thing}", "rarest": "of the rarest items",
        "recent": "of the latest items", "burst": f"{thing} close in time",
    }  # fmt: skip
    return f"{one.knows} {kinds.get(one.items.name, outside)}"


def _off(what: str, error: float | None, unit: str) -> str:
    return f"no {what}" if error is None else f"exact {what}" if not error else f"{what} ± {error:g}{unit}"
