"""What an adversary knows, in words: its items, and how precise its values and dates are."""

from standout.data.labels import SECONDS, TimeUnit
from standout.data.release import Release
from standout.know.adversary import Adversary, has_own_draws
from standout.know.observation import Choice

__all__ = ["describe_adversary", "describe_precision", "time_text"]

DAY = SECONDS["day"]
ITEMS_ONLY = "items only"


def describe_adversary(adversary: Adversary, release: Release) -> str:
    """What the adversary knows, in one line: 4 popular items, values ± 1, dates ± 30 days, 1 wrong."""
    parts = [_entries(adversary) if release.has_repeats else _items(adversary), *_precision(adversary, release)]
    if adversary.wrong:
        what = "" if adversary.wrong_facts == "values" else " (items that the record lacks)"
        parts.append(f"{adversary.wrong} wrong{what}")
    return ", ".join(parts)


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


def _items(adversary: Adversary) -> str:
    assert isinstance(adversary.items, Choice)
    noun = "item" if adversary.knows == 1 else "items"
    if has_own_draws(adversary):
        return f"up to {adversary.knows} {noun} chosen by {type(adversary).__name__}"
    kinds = {
        "any": noun,
        "popular": f"popular {noun}",
        "rarest": "of the rarest items",
        "recent": "of the latest items",
        "burst": f"{noun} close in time",
    }
    outside = f"{noun} outside the {adversary.items.top:,} most popular"
    return f"{adversary.knows} {kinds.get(adversary.items.name, outside)}"


def _entries(adversary: Adversary) -> str:
    """Which entries are known where an item may repeat: several of them may be about the same item."""
    assert isinstance(adversary.items, Choice)
    noun = "entry" if adversary.knows == 1 else "entries"
    if has_own_draws(adversary):
        return f"up to {adversary.knows} {noun} chosen by {type(adversary).__name__}"
    kinds = {
        "any": noun,
        "popular": f"{noun} of popular items",
        "rarest": f"{noun} of the rarest items",
        "recent": f"of the latest {noun}" if adversary.knows > 1 else "latest entry",
        "burst": f"{noun} close in time",
    }
    outside = f"{noun} of items outside the {adversary.items.top:,} most popular"
    return f"{adversary.knows} {kinds.get(adversary.items.name, outside)}"
