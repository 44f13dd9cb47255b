"""Lineups: the answers of the attacks to known facts, on the release and on its other version."""

import standout as so
from standout.explore.answers import (
    AnswerPart,
    AttackAnswer,
    Bits,
    CandidateAnswer,
    FactAnswer,
    LineupResponse,
    Parts,
    Why,
)
from standout.explore.command_text import lineup_command
from standout.explore.exploration import Exploration
from standout.explore.requests import LineupRequest, TypedFact

__all__ = ["Names", "answer_lineup", "attack_named", "describe_fact"]

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
    return FactAnswer(
        item=fact.item,
        value=fact.value,
        value_error=fact.value_error,
        time=fact.time,
        time_error=fact.time_error,
        doubtful=fact.doubtful,
        title=item.title,
        records=item.records,
    )


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
            CandidateAnswer(
                name=names[candidate.record],
                id=candidate.record if request.show_ids else None,
                score=candidate.score,
                probability=candidate.probability,
            )
            for candidate in lineup
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
        why=_why(answer, request.chosen, names),
        command=command,
    )


def _why(answer: so.LineupAnswer, chosen: int, names: Names) -> Why:
    """What the facts add for the chosen candidate, and for the best of the others."""
    return Why(_parts(answer, chosen, names), _parts(answer, 1 if chosen == 0 else 0, names))


def _parts(answer: so.LineupAnswer, rank: int, names: Names) -> Parts | None:
    if rank >= len(answer.lineup):
        return None
    candidate = answer.lineup[rank]
    parts = answer.parts if rank == 0 else answer.verdict.explain(candidate.record)
    return Parts(names[candidate.record], candidate.score, [_part(part) for part in parts])


def _part(part: so.Part) -> AnswerPart:
    return AnswerPart(
        has=part.has,
        score=part.score,
        by_item=part.by_item,
        by_value=part.by_value,
        by_time=part.by_time,
    )


def _sentence(answer: so.LineupAnswer) -> str:
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


def _first_share(answer: so.LineupAnswer) -> str:
    """The probability of the first, and what it is if the person is in the data, where that differs."""
    first, in_data = answer.lineup[0].probability, 1.0 - (answer.nobody or 0.0)
    share = _share(first)
    if in_data <= 0.0:
        return share
    given = _share(min(first / in_data, 1.0))
    return share if given == share else f"{share}, or {given} if the person is in the data"


def _remaining(answer: so.LineupAnswer) -> str:
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
