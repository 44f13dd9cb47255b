"""Lineups: the answers of the attacks to known facts, on the release and on its other version."""

import csv
import io
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import standout as so
from standout.core.rng import generator
from standout.data.export import inert
from standout.explore.answers import (
    AnswerPart,
    AttackAnswer,
    Bits,
    CandidateAnswer,
    DealAnswer,
    FactAnswer,
    LineupResponse,
    Parts,
    RevealAnswer,
    RevealedEntry,
    Why,
    to_json,
)
from standout.explore.exploration import Exploration
from standout.explore.requests import (
    ATTACKS,
    MOST_FACTS,
    DealRequest,
    ExportRequest,
    LineupRequest,
    RequestError,
    RevealRequest,
    TypedFact,
    known_fact,
)

# The `standout lineup` command that gives the same numbers as the page.


FACTS_FILE = "facts.csv"
"""The file of facts in a command whose facts cannot be typed; the page exports it under this name."""


def lineup_command(exploration: Exploration, request: LineupRequest, attack: str) -> str | None:
    """The command, ready to paste into a shell; None without facts."""
    if not request.facts:
        return None
    data = exploration.data
    words = ["standout", "lineup", f"./{data}" if data.startswith("-") else data, *exploration.source_arguments]
    if all(_is_typable(exploration, fact) for fact in request.facts):
        words += [word for fact in request.facts for word in ("--knows", fact_text(fact))]
    else:
        words += ["--aux", FACTS_FILE]
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

    def about(error: float | None) -> str:
        return "" if error is None else f"±{_plain(error)}"

    error = None if isinstance(fact.value, str) else fact.value_error  # a category has none
    value = "" if fact.value is None else f"={value_text(fact.value)}{about(error)}"
    time = "" if fact.time is None else f"@{fact.time.isoformat()}{about(fact.time_error)}"
    return f"{fact.item}{value}{time}{'?' if fact.doubtful else ''}"


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


ONE = "1 candidate"
MASS = 0.95
"""The candidates that the facts leave have this share of the probability of all records together."""


def answer_lineup(exploration: Exploration, request: LineupRequest) -> LineupResponse:
    """Compute the lineup of each attack."""
    other = exploration.what_if if request.what_if else None
    names, other_names = Names(), Names()
    answers = {
        name: _answer(exploration.release, request, name, names, lineup_command(exploration, request, name))
        for name in request.attacks
    }
    return LineupResponse(
        facts=[describe_fact(exploration, fact) for fact in request.facts],
        answers=answers,
        what_if=None
        if other is None
        else {name: _answer(other, request, name, other_names) for name in request.attacks},
        command=answers[request.attacks[0]].command,
    )


def attack_named(name: str, in_data: bool = False) -> so.Likelihood | so.ScoreboardRH:
    """The attack that the page calls by this name; `in_data`: on somebody who is in the data for certain."""
    if name == "likelihood":
        return so.Likelihood(present=1.0) if in_data else so.Likelihood()
    return so.ScoreboardRH()


def describe_fact(exploration: Exploration, fact: TypedFact) -> FactAnswer:
    """The fact with the title of its item and the number of records that have it."""
    item = exploration.item(fact.item)
    stated = fact.item, fact.value, fact.value_error, fact.time, fact.time_error, fact.doubtful
    return FactAnswer(*stated, item.title, item.records)


class Names:
    """Names of candidates: ranks in the first lineup; new records of later ones get the next numbers.

    A record has the same name in the lineups of all attacks, so that they can be compared without ids.

    >>> names = Names()
    >>> [names[record] for record in ("12", "7", "12")]
    ['candidate 1', 'candidate 2', 'candidate 1']
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def __getitem__(self, record: str) -> str:
        return self._names.setdefault(record, f"candidate {len(self._names) + 1}")


def _answer(
    release: so.Release, request: LineupRequest, attack: str, names: Names, command: str | None = None
) -> AttackAnswer:
    answer = so.lineup(release, request.aux, attack_named(attack, request.in_data), top=request.top)
    verdict, lineup = answer.verdict, answer.lineup
    nobody = answer.nobody
    return AttackAnswer(
        candidates=verdict.candidates,
        lineup=[
            CandidateAnswer(names[each.record], each.record if request.show_ids else None, each.score, each.probability)
            for each in lineup
        ],
        everybody_else=max(lineup.outside - (nobody or 0.0), 0.0),
        nobody=nobody,
        bits=Bits(verdict.bits, answer.bits_left),
        eccentricity=verdict.eccentricity,
        ties=verdict.ties,
        claim=answer.match is not None,
        sentence=_sentence(answer),
        conclusion=answer.conclude(names[lineup[0].record] if len(lineup) else "nobody"),
        assumes=answer.assumption or None,
        why=Why(_parts(answer, request.chosen, names), _parts(answer, 1 if request.chosen == 0 else 0, names)),
        command=command,
    )


def _parts(answer: Any, rank: int, names: Names) -> Parts | None:
    """What the facts add to the score of a candidate."""
    if rank >= len(answer.lineup):
        return None
    candidate = answer.lineup[rank]
    parts = answer.parts if rank == 0 else answer.verdict.explain(candidate.record)
    facts = [AnswerPart(part.has, part.score, part.by_item, part.by_value, part.by_time) for part in parts]
    return Parts(names[candidate.record], candidate.score, facts)


def _sentence(answer: Any) -> str:
    """How many candidates the facts leave, and how likely the first is."""
    facts, candidates = len(answer.aux), answer.verdict.candidates
    if not candidates:
        return "No record fits the length and the first date."
    if not facts and candidates == answer.release.n_records:
        return f"Nothing is known yet: all {candidates:,} records are equally likely."
    what = "Length and first date" if not facts else "This fact" if facts == 1 else f"These {facts} facts"
    leave = "leaves" if facts == 1 else "leave"
    if answer.best is None:
        return f"{what} {leave} all {candidates:,} candidates equally likely."
    remaining = _remaining(answer)
    whose = "its probability is" if remaining == ONE else "the first has a probability of"
    return f"{what} {leave} {remaining}; {whose} {_first_share(answer)}."


def _first_share(answer: Any) -> str:
    """The probability of the first, and what it is if the person is in the data, where that differs."""
    first, in_data = answer.lineup[0].probability, 1.0 - (answer.nobody or 0.0)
    share = _share(first)
    if in_data <= 0.0:
        return share
    given = _share(min(first / in_data, 1.0))
    return share if given == share else f"{share}, or {given} if the person is in the data"


def _remaining(answer: Any) -> str:
    """The fewest candidates that together have most of the probability, in words."""
    in_data, total = 1.0 - (answer.nobody or 0.0), 0.0
    for count, candidate in enumerate(answer.lineup, start=1):
        total += candidate.probability
        if total >= MASS * in_data:
            return ONE if count == 1 else f"{count} candidates"
    return f"more than {len(answer.lineup)} candidates"


def _share(probability: float) -> str:
    """A probability in whole per cent, where this is neither 0 nor 100."""
    if probability > 0.99:
        return "more than 99\xa0%" if probability < 1 else "100\xa0%"
    return f"{100 * probability:.0f}\xa0%" if probability >= 0.01 else "less than 1\xa0%"


# Plays: somebody is drawn at random, facts are dealt with an adversary's errors, and the guess is checked.
#
# The server keeps nothing: everything follows from the release, the adversary and the seed.


def deal(exploration: Exploration, request: DealRequest) -> DealAnswer:
    """Deal the first facts about the target; its id is not part of the answer."""
    facts = dealt_facts(exploration, request)
    dealt = facts[: request.facts]
    return DealAnswer(
        dealt=[describe_fact(exploration, fact) for fact in dealt], of=len(facts), done=len(dealt) == len(facts)
    )


def reveal(exploration: Exploration, request: RevealRequest) -> RevealAnswer:
    """Compare the attack's guess from the dealt facts with the target."""
    target = _target(exploration, request.deal)
    facts = dealt_facts(exploration, request.deal)[: request.deal.facts]
    verdicts = _verdicts(exploration.release, facts, request.attack)
    last, record = verdicts[-1], exploration.release.record(target)
    rank = last.rank(target)
    facts_left, named = Counter(fact.item for fact in facts), []
    for entry in record.entries:  # a fact is about one of several entries of its item
        named.append(facts_left[entry.item] > 0)
        facts_left[entry.item] -= 1
    entries = [
        RevealedEntry(entry.item, exploration.item(entry.item).title, entry.value, entry.time, is_named)
        for entry, is_named in zip(record.entries if request.entries else (), named, strict=False)
    ]
    return RevealAnswer(
        right=rank == 1 and last.ties == 1,
        rank=rank,
        ties=last.ties,
        probability=last.probability(target),
        bits=[verdict.entropy(target) for verdict in verdicts],
        learned=named.count(False),
        id=target if request.show_ids else None,
        entries=entries if request.entries else None,
    )


def _verdicts(release: so.Release, facts: list[TypedFact], attack: str) -> list[so.Verdict]:
    """The verdicts on no fact, the first fact, the first two, …."""
    aux, chosen = so.Aux([known_fact(fact) for fact in facts]), attack_named(attack, in_data=True)
    before = chosen.attack(release, so.Aux([]))
    return [before, *(chosen.nested(release, [aux], range(1, len(facts) + 1)) if facts else ())]


def _adversary(exploration: Exploration, name: str) -> so.Adversary:
    rung = exploration.adversaries.get(name)
    if rung is None:
        names = ", ".join(exploration.adversaries) or "none applies to this data"
        raise RequestError(404, f"There is no such adversary: {names}.")
    return rung.adversary


def _target(exploration: Exploration, request: DealRequest) -> str:
    """The record that is drawn: any that has enough entries for the adversary is equally likely."""
    adversary, release = _adversary(exploration, request.adversary), exploration.release
    positions = exploration.remembered(
        f"eligible {request.adversary}",
        lambda: np.flatnonzero(adversary.eligible(release, np.arange(release.n_records))),
    )
    draw = generator(request.seed, "target of a play", release.fingerprint).integers(len(positions))
    return release.records[int(positions[draw])]


def dealt_facts(exploration: Exploration, request: DealRequest) -> list[TypedFact]:
    """All facts that the adversary knows about the target, with the errors that they have."""
    adversary = _adversary(exploration, request.adversary)
    aux = adversary.observe(exploration.release, _target(exploration, request), seed=request.seed)
    return [
        TypedFact(
            item=fact.item,
            value=fact.value,
            value_error=None if fact.value is None else adversary.value_error,
            time=fact.time,
            time_error=None if fact.time is None else adversary.time_error,
        )
        for fact in aux.facts[:MOST_FACTS]
    ]


def prepare(exploration: Exploration) -> None:
    """Do what a page will ask for, so that its first answers are as fast as later ones: compile, build tables."""

    def lineup(*facts: TypedFact) -> None:
        answer_lineup(exploration, LineupRequest(facts, None, None, ATTACKS, 20, 0, show_ids=False, what_if=True))

    try:
        release = exploration.release
        popular = release.items[int(release.support.argmax())]
        exploration.suggest(popular, 1)
        lineup(TypedFact(popular))
        for name in list(exploration.adversaries)[:2]:
            play = DealRequest(name, seed=0, facts=2)
            lineup(*dealt_facts(exploration, play)[:2])
            reveal(exploration, RevealRequest(play, ATTACKS[0], show_ids=False, entries=False))
    except so.StandoutError:  # the page will show the same error
        return


# Downloads: the facts as CSV that `standout lineup --aux` reads, and the lineup as CSV or JSON.


@dataclass(frozen=True, slots=True)
class Download:
    """A file: its name, its media type and its content."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class JsonExport:
    """The JSON export: the answer, and what it was computed from."""

    lineup: LineupResponse
    data: str
    fingerprint: str
    version: str


def export(exploration: Exploration, request: ExportRequest) -> Download:
    """Make the file of a format."""
    if request.format == "facts.csv":
        return Download(FACTS_FILE, "text/csv", _facts_csv(request.lineup.facts))
    answer = answer_lineup(exploration, request.lineup)
    if request.format == "lineup.csv":
        return Download("lineup.csv", "text/csv", _lineup_csv(answer))
    summary = exploration.summary
    content = JsonExport(answer, summary.name, summary.fingerprint, so.__version__)
    return Download("lineup.json", "application/json", to_json(content, indent=1) + b"\n")


def _facts_csv(facts: Sequence[TypedFact]) -> bytes:
    """The facts with exact ids, because they are read again."""
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("item", "value", "time", "value_error", "time_error", "doubt"))
    for fact in map(known_fact, facts):
        value = None if fact.value is None else value_text(fact.value)
        time = fact.time and fact.time.isoformat()
        table.writerow((fact.item, value, time, fact.value_error, fact.time_error, fact.doubt))
    return text.getvalue().encode("utf-8", "replace")


def _lineup_csv(answer: LineupResponse) -> bytes:
    """One row for each record of each lineup; without ids unless they were asked for."""
    versions = {"release": answer.answers, "what if": answer.what_if or {}}
    rows = [
        (version, attack, candidate.name, candidate.id, candidate.score, candidate.probability)
        for version, answers in versions.items()
        for attack, answers_of_attack in answers.items()
        for candidate in answers_of_attack.lineup
    ]
    columns = {"data": str, "attack": str, "name": str, "id": str, "score": float, "probability": float}
    return inert(pl.DataFrame(rows, schema=columns, orient="row")).write_csv().encode("utf-8", "replace")
