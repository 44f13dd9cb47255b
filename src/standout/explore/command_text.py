"""The `standout lineup` command that gives the same numbers as the page."""

import shlex

from standout.explore.exploration import Exploration
from standout.explore.requests import LineupRequest, TypedFact

__all__ = ["FACTS_FILE", "fact_text", "lineup_command", "value_text"]

FACTS_FILE = "facts.csv"
"""The file of facts in a command whose facts cannot be typed; the page exports it under this name."""


def lineup_command(exploration: Exploration, request: LineupRequest, attack: str) -> str | None:
    """The command, ready to paste into a shell; None without facts."""
    if not request.facts:
        return None
    words = ["standout", "lineup", *_source(exploration), *_facts(exploration, request)]
    if request.length is not None:
        words += ["--length", "{}-{}".format(*request.length)]
    if request.joined is not None:
        words += ["--joined", "{}/{}".format(*request.joined)]
    if attack != "likelihood":
        words += ["--attack", attack]
    elif request.in_data:
        words += ["--present", "1"]
    words += ["--top", str(request.top), "--allow-unknown", "--json"]
    return shlex.join(words)


def _source(exploration: Exploration) -> list[str]:
    data = exploration.data
    return [f"./{data}" if data.startswith("-") else data, *exploration.source_arguments]


def _facts(exploration: Exploration, request: LineupRequest) -> list[str]:
    if all(_is_typable(exploration, fact) for fact in request.facts):
        return [word for fact in request.facts for word in ("--knows", fact_text(fact))]
    return ["--aux", FACTS_FILE]


def fact_text(fact: TypedFact) -> str:
    """A fact as it is typed: ITEM=VALUE±ERROR@DATE±DAYS, with ? at its end if it is doubtful.

    >>> from datetime import date
    >>> fact_text(TypedFact("17", 4.0, time=date(2005, 3, 1)))
    '17=4@2005-03-01'
    >>> fact_text(TypedFact("17", 4.0, 1.0, date(2005, 3, 1), 14.0, doubtful=True))
    '17=4±1@2005-03-01±14?'
    >>> fact_text(TypedFact("17", "good", 0.0))
    '17=good'
    """
    error = None if isinstance(fact.value, str) else fact.value_error  # a category has none
    value = "" if fact.value is None else f"={value_text(fact.value)}{_about(error)}"
    time = "" if fact.time is None else f"@{fact.time.isoformat()}{_about(fact.time_error)}"
    return f"{fact.item}{value}{time}{'?' if fact.doubtful else ''}"


def _about(error: float | None) -> str:
    return "" if error is None else f"±{_plain(error)}"


def _plain(error: float) -> str:
    """An error without an exponent, to nine decimals."""
    return f"{error:.9f}".rstrip("0").rstrip(".")


def value_text(value: float | str) -> str:
    """A value as it is typed."""
    return value if isinstance(value, str) else repr(value).removesuffix(".0")


def _is_typable(exploration: Exploration, fact: TypedFact) -> bool:
    """Whether the command line reads the fact's text as this fact, and not as one about another item."""
    value = fact.value if isinstance(fact.value, str) else ""
    parts, text = fact.item + value, fact_text(fact)
    errors = [error for error in (fact.value_error, fact.time_error) if error is not None]
    certain = text.removesuffix("?")
    heads = {text, certain, certain.rpartition("@")[0], certain.rpartition("=")[0]} - {"", fact.item}
    return (
        parts.isprintable()
        and fact.item == fact.item.strip()
        and value == value.strip()
        and not any(mark in parts for mark in "=@±?+")
        and not any(map(exploration.is_name, heads))
        and all(float(_plain(error)) == error for error in errors)
    )
