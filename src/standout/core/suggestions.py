"""What somebody may have meant who typed a name that does not exist."""

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean", "not_one_of"]

CLOSE = 0.6
"""Minimum difflib ratio of a suggestion."""
LONGEST = 100
"""Longer texts are no typos, and comparing them takes long."""


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """The end of a message: the closest of the known names, or nothing if none is close.

    Capital letters do not count, and neither does the choice between a hyphen, an underscore and a space.

    >>> did_you_mean("fond", ["found", "claimed"])
    "; did you mean 'found'?"
    >>> did_you_mean("Round_Time", ["round-time"]), did_you_mean("x", ["found"]), did_you_mean(7, ["found"])
    ("; did you mean 'round-time'?", '', '')
    """
    if not isinstance(given, str) or len(given) > LONGEST:
        return ""
    plain = {_plain(name): name for name in known}
    near = difflib.get_close_matches(_plain(given), plain, 1, CLOSE)
    return f"; did you mean {plain[near[0]]!r}?" if near else ""


def not_one_of(parameter: str, given: object, allowed: Iterable[str]) -> str:
    """The message about a parameter that must be one of some names.

    >>> not_one_of("headline", "freind", ["friend", "stranger"])
    "headline must be one of friend, stranger, got 'freind'; did you mean 'friend'?"
    """
    names = list(allowed)
    return f"{parameter} must be one of {', '.join(names)}, got {given!r:.60}{did_you_mean(given, names)}"


def _plain(name: str) -> str:
    return name.casefold().replace("_", "-").replace(" ", "-")
