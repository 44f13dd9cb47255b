"""A worked example with an invented person: known facts → a lineup of three → one.

All names, titles and values are invented and fixed. Only numbers of the adversary decide how many facts are
shown, and how precise they are: nothing comes from the data.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from standout.core.formatting import count, decimal
from standout.findings.adversaries import AdversaryFindings
from standout.findings.audit import DataSummary
from standout.findings.table_adversaries import TableAdversaryFindings

__all__ = ["ExampleFact", "ExampleRecord", "WorkedExample", "release_example", "table_example"]

PERSON = "Kim"
FILMS = (
    ("The Glass Ferry", 4, "3 March"),
    ("Nine Quiet Winters", 2, "9 March"),
    ("A Map of Salt", 5, "21 March"),
    ("Thursday’s Orchard", 3, "2 April"),
    ("The Lamp Ledger", 4, "5 April"),
    ("Paper Estuary", 1, "18 April"),
    ("My Uncle’s Comet", 5, "30 April"),
    ("Ninety Umbrellas", 3, "11 May"),
)
"""Invented titles of films, with stars and dates."""
ATTRIBUTES = (
    ("age", "43", True),
    ("household", "3 people", False),
    ("occupation", "beekeeper", False),
    ("way to work", "25 minutes", True),
    ("pets", "2 dogs", False),
    ("instrument", "cello", False),
    ("income", "31,000", True),
    ("home", "rented", False),
)
"""Invented answers to a survey; the last part says whether the answer can be known roughly."""


@dataclass(frozen=True, slots=True)
class ExampleFact:
    """One known fact about the invented person."""

    text: str
    is_wrong: bool


@dataclass(frozen=True, slots=True)
class ExampleRecord:
    """One record of the lineup, and how many of the known facts fit it."""

    name: str
    fitting: int


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """The example in three steps.

    Attributes
    ----------
    setting
        What the invented facts are about.
    knowledge
        How much is known, in one sentence.
    facts
        The facts that are shown.
    further
        Facts that are known and not shown; empty if all are shown.
    lineup
        The three records that fit best, the invented person's own one first.
    result
        The last step.
    """

    person: str
    setting: str
    knowledge: str
    facts: tuple[ExampleFact, ...]
    further: str
    knows: int
    lineup: tuple[ExampleRecord, ...]
    result: str


def release_example(adversary: AdversaryFindings, data: DataSummary) -> WorkedExample | None:
    """An example with films for an adversary of a release; None if all of the facts are wrong."""
    stars = adversary.value_error if data.has_values else None
    days = adversary.time_error if data.has_times else None
    texts = [
        ", ".join(
            [title, *([count(number, "star", "stars")] * (stars is not None)), *([day] * (days is not None))]
        )
        for title, number, day in FILMS
    ]
    known = ["films that Kim rated" if stars is not None else "films that Kim watched"]
    known += [] if stars is None else ["the stars" if stars == 0 else "roughly how many stars"]
    known += [] if days is None else ["the day" if days == 0 else f"the day to within {_days(days)}"]
    known += [] if adversary.length_error is None else ["how many films there are in all"]
    known += [] if adversary.joined_error is None else ["when the first one was"]
    knowledge = f"{_facts(adversary.knows, 'fact', 'facts')} about Kim: {_listed(known)}"
    return _example(
        adversary.knows,
        adversary.wrong,
        texts,
        setting="films in place of the items of your data",
        knowledge=knowledge,
        words=("record", "film"),
    )


def table_example(adversary: TableAdversaryFindings) -> WorkedExample | None:
    """An example with a survey for an adversary of a table; None if all of the values are wrong."""
    is_rough = any(error.error for error in adversary.errors)
    texts = [
        f"{name}: about {value}" if is_rough and can_be_rough else f"{name}: {value}"
        for name, value, can_be_rough in ATTRIBUTES
    ]
    knowledge = f"{_facts(adversary.knows, 'attribute', 'attributes')} of Kim"
    knowledge += ", numbers only roughly" if is_rough else ", exactly"
    return _example(
        adversary.knows,
        adversary.wrong,
        texts,
        setting="a survey in place of your table",
        knowledge=knowledge,
        words=("row", "answer"),
    )


def _example(
    knows: int, wrong: int, texts: Sequence[str], *, setting: str, knowledge: str, words: tuple[str, str]
) -> WorkedExample | None:
    right = knows - wrong
    if right < 1:
        return None
    shown = min(knows, len(texts))
    shown_wrong = wrong if shown == knows else wrong * shown // knows
    # wrong facts stand in the middle: the adversary does not know which ones they are
    first = (shown - shown_wrong) // 2
    facts = tuple(
        ExampleFact(text, first <= index < first + shown_wrong) for index, text in enumerate(texts[:shown])
    )
    if wrong:
        knowledge += f". {count(wrong)} of them {'is' if wrong == 1 else 'are'} wrong"
    record, item = words
    fitting = right, max(1, right * 2 // 3), max(1, right // 2)
    lineup = tuple(
        ExampleRecord(f"{record.capitalize()} {letter}", number)
        for letter, number in zip("ABC", fitting, strict=True)
    )
    return WorkedExample(
        PERSON,
        setting,
        f"{knowledge}.",
        facts,
        _further(knows - shown, wrong - shown_wrong),
        knows,
        lineup,
        _result(record, item, is_tie=fitting[0] == fitting[1]),
    )


def _result(record: str, item: str, *, is_tie: bool) -> str:
    learned = f"Whoever knows this learns every other {item} in it, under Kim’s name"
    if is_tie:
        return (
            f"All three fit equally well, so the adversary guesses: {record.capitalize()} A. "
            f"One guess in three is right. {learned}."
        )
    return f"{record.capitalize()} A fits best, and it is Kim’s: Kim is identified. {learned}."


def _further(more: int, more_wrong: int) -> str:
    if not more:
        return ""
    return f"and {count(more)} more" + (f", {count(more_wrong)} of them wrong" if more_wrong else "")


def _days(error: float) -> str:
    number = decimal(error).removesuffix(".0")
    return f"{number} {'day' if number == '1' else 'days'}"


def _facts(knows: int, singular: str, plural: str) -> str:
    return count(knows, singular, plural)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
