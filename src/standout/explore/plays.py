"""Plays: somebody is drawn at random, facts are dealt with an adversary's errors, and the guess is checked.

The server keeps nothing: everything follows from the release, the adversary and the seed.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np

import standout as so
from standout.core.rng import generator
from standout.explore.answers import DealAnswer, RevealAnswer, RevealedEntry
from standout.explore.errors import RequestError
from standout.explore.exploration import Exploration
from standout.explore.lineups import attack_named, describe_fact
from standout.explore.requests import MOST_FACTS, DealRequest, RevealRequest, TypedFact, known_fact

__all__ = ["deal", "dealt_facts", "reveal"]


def deal(exploration: Exploration, request: DealRequest) -> DealAnswer:
    """Deal the first facts about the target; its id is not part of the answer."""
    facts = dealt_facts(exploration, request)
    dealt = facts[: request.facts]
    return DealAnswer(
        dealt=[describe_fact(exploration, fact) for fact in dealt],
        of=len(facts),
        done=len(dealt) == len(facts),
    )


def reveal(exploration: Exploration, request: RevealRequest) -> RevealAnswer:
    """Compare the attack's guess from the dealt facts with the target."""
    target = _target(exploration, request.deal)
    facts = dealt_facts(exploration, request.deal)[: request.deal.facts]
    verdicts = _verdicts(exploration.release, facts, request.attack)
    last, record = verdicts[-1], exploration.release.record(target)
    rank = last.rank(target)
    named = _is_named(record.entries, facts)
    return RevealAnswer(
        right=rank == 1 and last.ties == 1,
        rank=rank,
        ties=last.ties,
        probability=last.probability(target),
        bits=[verdict.entropy(target) for verdict in verdicts],
        learned=named.count(False),
        id=target if request.show_ids else None,
        entries=_entries(exploration, record, named) if request.entries else None,
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
    find = partial(_eligible, adversary, release)
    positions = exploration.remembered(f"eligible {request.adversary}", find)
    draw = generator(request.seed, "target of a play", release.fingerprint).integers(len(positions))
    return release.records[int(positions[draw])]


def _eligible(adversary: so.Adversary, release: so.Release) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.flatnonzero(adversary.eligible(release, np.arange(release.n_records)))


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


def _is_named(entries: Sequence[so.Entry], facts: Sequence[TypedFact]) -> list[bool]:
    """Whether a fact is about each entry; a fact is about one of several entries of its item."""
    facts_left = Counter(fact.item for fact in facts)
    flags = []
    for entry in entries:
        flags.append(facts_left[entry.item] > 0)
        facts_left[entry.item] -= 1
    return flags


def _entries(exploration: Exploration, record: so.Record, named: Sequence[bool]) -> list[RevealedEntry]:
    return [
        RevealedEntry(
            item=entry.item,
            title=exploration.item(entry.item).title,
            value=entry.value,
            time=entry.time,
            named=is_named,
        )
        for entry, is_named in zip(record.entries, named, strict=True)
    ]
