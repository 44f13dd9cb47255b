"""What an adversary knows, in words: its items, and how precise its values and dates are."""

from standout.auditing.sentences import listed
from standout.data.labels import SECONDS, TimeUnit
from standout.data.release import Release
from standout.findings.adversaries import ColumnError
from standout.findings.reading import error_text
from standout.know.adversary import Adversary, has_own_draws
from standout.know.observation import Choice

DAY = SECONDS["day"]
ITEMS_ONLY = "items only"
MOST_ERRORS = 4
"""Number of columns whose error a sentence gives: the report lists all of them in a table."""


def describe_adversary(adversary: Adversary, release: Release) -> str:
    """What the adversary knows: 4 popular items, values ± 1, dates ± 30 days, 1 wrong."""
    if release.columns:
        return _columns(adversary, release)
    parts = [_entries(adversary, release.has_repeats), *_precision(adversary, release)]
    if adversary.wrong:
        what = "" if adversary.wrong_facts == "values" else " (items that the record lacks)"
        parts.append(f"{adversary.wrong} wrong{what}")
    return ", ".join(parts)


def facts_text(adversary: Adversary) -> str:
    """The number of facts: 8 facts, 2 of them wrong."""
    facts = f"{adversary.knows} {'fact' if adversary.knows == 1 else 'facts'}"
    return f"{facts}, {adversary.wrong} of them wrong" if adversary.wrong else facts


def describe_precision(adversary: Adversary, release: Release) -> str:
    """How precisely the adversary knows what the release has: values ± 1, dates ± 14 days."""
    parts = _precision(adversary, release)
    if parts[:2] == ["exact values", "exact dates"]:
        parts[:2] = ["exact values and dates"]
    return ", ".join(parts) or ITEMS_ONLY


def time_text(days: float) -> str:
    """A duration in whole days, hours or minutes.

    >>> time_text(14), time_text(5 / 24), time_text(1.5)
    ('14 days', '5 hours', '1.5 days')
    """
    if days >= 1 or not days:
        return f"{days:g} {'day' if days == 1 else 'days'}"
    unit: TimeUnit = "hour" if days * DAY + 1e-6 >= SECONDS["hour"] else "minute"
    number = f"{days * DAY / SECONDS[unit]:.3g}"
    return f"{number} {unit if number == '1' else unit + 's'}"


def _precision(adversary: Adversary, release: Release) -> list[str]:
    parts = []
    if release.n_levels:
        error = adversary.value_error
        parts.append(_error("values", error, f"{error or 0:g}"))
    if release.span:
        parts.append(_error("dates", adversary.time_error, time_text(adversary.time_error or 0)))
    if adversary.length_error is not None:
        parts.append(f"length of the record ± {adversary.length_error:.0%}")
    if adversary.joined_error is not None:
        parts.append(f"first date ± {time_text(adversary.joined_error)}")
    return parts


def _error(what: str, error: float | None, text: str) -> str:
    if error is None:
        return f"no {what}"
    return f"{what} ± {text}" if error else f"exact {what}"


def _entries(adversary: Adversary, repeats: bool) -> str:
    """Which items are known, or which entries where an item may repeat: several of them may be about the same item."""
    assert isinstance(adversary.items, Choice)
    one = adversary.knows == 1
    noun = ("entry" if one else "entries") if repeats else "item" if one else "items"
    of = f"{noun} of items" if repeats else noun
    if has_own_draws(adversary):
        return f"up to {adversary.knows} {noun} chosen by {type(adversary).__name__}"
    kinds = {
        "any": noun,
        "popular": f"{noun} of popular items" if repeats else f"popular {noun}",
        "rarest": f"{noun} of the rarest items" if repeats else "of the rarest items",
        "recent": "latest entry" if repeats and one else f"of the latest {noun if repeats else 'items'}",
        "burst": f"{noun} close in time",
    }
    outside = f"{of} outside the {adversary.items.top:,} most popular"
    return f"{adversary.knows} {kinds.get(adversary.items.name, outside)}"


def _columns(adversary: Adversary, release: Release) -> str:
    """Which attributes are known, how many are wrong and how imprecise the others are."""
    errors = [f"{error.column} {error.text}" for error in column_errors(adversary, release) if error.error]
    wrong = f", {adversary.wrong} of them wrong" if adversary.wrong else ""
    whose = "The other values" if adversary.wrong else "Values"
    precision = f"{whose} are imprecise: {listed(errors, MOST_ERRORS)}" if errors else f"{whose} are exact"
    entries = ""
    if adversary.entries is not None:
        number = adversary.entries.knows
        entries = f". Also knows {number} {'entry' if number == 1 else 'entries'} of the person's history"
    return f"{_attributes(adversary, release)}{wrong}. {precision}{entries}"


def _attributes(adversary: Adversary, release: Release) -> str:
    n, known = adversary.knows, adversary.columns
    total = len(release.attributes) if known is None else len(known)
    if known is not None and n == total:
        return listed(known)
    if n == total:
        return "the only attribute" if n == 1 else f"all {total} attributes"
    among = f"{n} of the {total} attributes" if known is None else f"{n} of {listed(known)}"
    if str(adversary.items) == "rarest":
        if n == 1:
            return f"the one{among.removeprefix('1')} whose value the fewest people share"
        return f"the {among} whose values the fewest people share"
    return f"{among}, drawn at random for each person"


def column_errors(adversary: Adversary, release: Release) -> tuple[ColumnError, ...]:
    """How inaccurate the adversary's knowledge of each column is."""
    known = None if adversary.columns is None else set(adversary.columns)
    errors = []
    for column in release.columns:
        if known is None or column.name in known or column.attribute in known:
            error = adversary.error_of(column) if column.has_distances else 0.0
            errors.append(ColumnError(column=column.name, error=error, text=error_text(column, error)))
    return tuple(errors)
