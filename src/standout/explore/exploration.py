"""What is explored, and the answers about it: items, lineups, plays and downloads. An answer is a JSON object."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

import standout as so
from standout.core.rng import generator
from standout.core.text import printable
from standout.data.export import inert
from standout.explore.requests import (
    MOST_FACTS,
    MOST_SHOWN,
    DealRequest,
    ExportRequest,
    LineupRequest,
    RequestError,
    RevealRequest,
    TypedFact,
    to_json,
)

MOST_BYTES = 64 * 1024
"""Largest body of a request."""
MOST_LEVELS = 200
EXAMPLES = (1.0, 0.01, 0.001)
"""Shares of the records that have the items which the page offers as examples."""
FACTS_FILE = "facts.csv"
"""The file of facts in a command whose facts cannot be typed; the page exports it under this name."""
ONE = "1 candidate"
MASS = 0.95
"""The candidates that the facts leave have this share of the probability of all records together."""
Answer = dict[str, Any]


@dataclass(frozen=True)
class Exploration:
    """A release, and perhaps a sanitized or other version of it."""

    release: so.Release = field(repr=False)  # the data set
    data: str  # its source, as it was given on the command line
    source_arguments: Sequence[str] = ()  # options for reading it, as they were given
    name: str = ""
    what_if: so.Release | None = field(default=None, repr=False)  # the second data set
    what_if_name: str = ""
    has_audit: bool = False
    _eligible: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def title(self) -> str:
        """The name to show, on one line."""
        return printable(self.name or self.data)

    @cached_property
    def adversaries(self) -> dict[str, so.Rung]:
        """The adversaries of the audit's ladder that apply to the release, by name."""
        try:
            return {rung.name: rung for rung in so.ladder(self.release)}
        except so.ParameterError:  # no adversary applies
            return {}

    @cached_property
    def summary(self) -> Answer:
        """What the page needs to know about the release; `examples` are items from popular to rare."""
        release, support, dates = self.release, self.release.support, None
        if release.clock is not None and release.time_range is not None:
            first, last = release.time_range
            dates = {"first": first, "last": last, "unit": release.clock.unit}
        nearest = [int(np.argmin(np.abs(support - share * release.n_records))) for share in EXAMPLES if len(support)]
        adversaries = [
            {name: getattr(rung.adversary, name) for name in ("knows", "wrong", "value_error", "time_error")}
            | {"name": rung.name, "text": rung.title}
            for rung in self.adversaries.values()
        ]
        what_if = None
        if self.what_if is not None:
            reports = self.what_if.step_reports if isinstance(self.what_if, so.Sanitized) else None
            steps = None if reports is None else [report.step for report in reports]
            what_if = {"name": self.what_if_name, "steps": steps, "records": self.what_if.n_records}
        return {
            "name": self.title,
            "records": release.n_records,
            "items": release.n_items,
            "entries": release.n_entries,
            "values": _values(release),
            "dates": dates,
            "titles": release.titles is not None,
            "repeats": release.may_repeat,
            "adversaries": adversaries,
            "examples": [self.item(release.items[code]) for code in dict.fromkeys(nearest)],
            "what_if": what_if,
            "audit": self.has_audit,
            "limits": {"facts": MOST_FACTS, "top": MOST_SHOWN, "body": MOST_BYTES},
            "fingerprint": release.fingerprint,
            "version": so.__version__,
        }

    def suggest(self, text: str, count: int) -> Answer:
        """Items that a text may mean, the likeliest first."""
        found = so.suggest_items(self.release, text, count)
        return {"items": [{"item": e.item, "title": e.title or None, "records": e.records} for e in found]}

    def item(self, item: str) -> Answer:
        """The item with this id, its title, and the number of records that have it; none if it is unknown."""
        release, code = self.release, self.release.items.find(item)
        title = None if code is None or release.titles is None else release.titles[code] or None
        return {"item": item, "title": title, "records": 0 if code is None else int(release.support[code])}

    def is_name(self, text: str) -> bool:
        """Whether a text with = or @ is an item's id or title."""
        try:
            return not so.Aux([so.Fact(text)]).unknown(self.release)
        except so.NotFoundError:  # several items have this title
            return True

    def describe_fact(self, fact: TypedFact) -> Answer:
        """The fact with the title of its item and the number of records that have it."""
        return asdict(fact) | self.item(fact.item)

    def adversary(self, name: str) -> so.Adversary:
        """The adversary of a play."""
        if name not in self.adversaries:
            names = ", ".join(self.adversaries) or "none applies to this data"
            raise RequestError(404, f"There is no such adversary: {names}.")
        return self.adversaries[name].adversary

    def target(self, deal: DealRequest) -> str:
        """The record that is drawn: any that has enough entries for the adversary is equally likely."""
        adversary, release = self.adversary(deal.adversary), self.release
        if deal.adversary not in self._eligible:
            eligible = adversary.eligible(release, np.arange(release.n_records))
            self._eligible[deal.adversary] = np.flatnonzero(eligible)
        positions = self._eligible[deal.adversary]
        draw = generator(deal.seed, "target of a play", release.fingerprint).integers(len(positions))
        return release.records[int(positions[draw])]

    def dealt_facts(self, deal: DealRequest) -> list[TypedFact]:
        """All facts that the adversary knows about the target, with the errors that they have."""
        adversary = self.adversary(deal.adversary)
        aux = adversary.observe(self.release, self.target(deal), seed=deal.seed)
        return [
            TypedFact(
                fact.item,
                fact.value,
                None if fact.value is None else adversary.value_error,
                fact.time,
                None if fact.time is None else adversary.time_error,
            )
            for fact in aux.facts[:MOST_FACTS]
        ]


def _values(release: so.Release) -> Answer | None:
    """The values of the release, at most 200 levels; `step` is the smallest distance of two numbers."""
    levels = release.levels
    if levels is None or not len(levels):
        return None
    ends: Answer = {"lowest": None, "highest": None, "step": None}
    if not isinstance(levels, tuple):
        step = float(np.diff(levels).min()) if len(levels) > 1 else None
        ends = {"lowest": float(levels[0]), "highest": float(levels[-1]), "step": step}
    shown = list(levels[:MOST_LEVELS]) if isinstance(levels, tuple) else levels[:MOST_LEVELS].tolist()
    kind = "categories" if isinstance(levels, tuple) else "numbers"
    return {"kind": kind, "levels": shown, "complete": len(levels) <= MOST_LEVELS, **ends}


# Lineups: the answers of the attacks to known facts, on the release and on its other version.


def answer_lineup(exploration: Exploration, request: LineupRequest) -> Answer:
    """Compute the lineup of each attack."""
    names: dict[str, str] = {}
    answers = {name: _answer(exploration.release, request, name, names) for name in request.attacks}
    for name, answer in answers.items():
        answer["command"] = lineup_command(exploration, request, name)
    what_if = None
    if request.what_if and exploration.what_if is not None:
        other_names: dict[str, str] = {}
        what_if = {name: _answer(exploration.what_if, request, name, other_names) for name in request.attacks}
    facts = list(map(exploration.describe_fact, request.facts))
    return {"facts": facts, "answers": answers, "what_if": what_if, "command": answers[request.attacks[0]]["command"]}


def _attack_named(name: str, in_data: bool) -> so.Likelihood | so.ScoreboardRH:
    """The attack that the page calls by this name; `in_data`: on somebody who is in the data for certain."""
    if name == "likelihood":
        return so.Likelihood(present=1.0) if in_data else so.Likelihood()
    return so.ScoreboardRH()


def _answer(release: so.Release, request: LineupRequest, attack: str, names: dict[str, str]) -> Answer:
    """The answer of one attack. Numbers equal those of `standout lineup --json` for `command`.

    Candidates are named by their ranks in the first lineup; new records of later ones get the next numbers. So a
    record has the same name in the lineups of all attacks, and they can be compared without ids.
    """
    aux = so.Aux([fact.known for fact in request.facts], request.length, request.joined)
    answer = so.lineup(release, aux, _attack_named(attack, request.in_data), top=request.top)
    verdict, candidates = answer.verdict, answer.lineup

    def name(record: str) -> str:
        return names.setdefault(record, f"candidate {len(names) + 1}")

    def parts(rank: int) -> Answer | None:
        """What the facts add to the score of a candidate."""
        if rank >= len(candidates):
            return None
        candidate = candidates[rank]
        added = answer.parts if rank == 0 else verdict.explain(candidate.record)
        members = ("has", "score", "by_item", "by_value", "by_time")
        facts = [{member: getattr(part, member) for member in members} for part in added]
        return {"name": name(candidate.record), "score": candidate.score, "facts": facts}

    shown = [
        {
            "name": name(each.record),
            "id": each.record if request.show_ids else None,
            "score": each.score,
            "probability": each.probability,
        }
        for each in candidates
    ]
    return {
        "candidates": verdict.candidates,
        "lineup": shown,
        "everybody_else": max(candidates.outside - (answer.nobody or 0.0), 0.0),
        "nobody": answer.nobody,
        "bits": {"before": verdict.bits, "left": answer.bits_left},
        "eccentricity": verdict.eccentricity,
        "ties": verdict.ties,
        "claim": answer.match is not None,
        "sentence": _sentence(answer),
        "conclusion": answer.conclude(name(candidates[0].record) if len(candidates) else "nobody"),
        "assumes": answer.assumption or None,
        "why": {"chosen": parts(request.chosen), "runner_up": parts(1 if request.chosen == 0 else 0)},
        "command": None,
    }


def _sentence(answer: Any) -> str:
    """How many candidates the facts leave, and how likely the first is, also if the person is in the data."""
    facts, candidates = len(answer.aux), answer.verdict.candidates
    if not candidates:
        return "No record fits the length and the first date."
    if not facts and candidates == answer.release.n_records:
        return f"Nothing is known yet: all {candidates:,} records are equally likely."
    what = "Length and first date" if not facts else "This fact" if facts == 1 else f"These {facts} facts"
    leave = "leaves" if facts == 1 else "leave"
    if answer.best is None:
        return f"{what} {leave} all {candidates:,} candidates equally likely."
    first, in_data = answer.lineup[0].probability, 1.0 - (answer.nobody or 0.0)
    shares = np.cumsum([candidate.probability for candidate in answer.lineup])
    enough = np.flatnonzero(shares >= MASS * in_data)  # the fewest that together have most of the probability
    remaining = f"{enough[0] + 1} candidates" if len(enough) else f"more than {len(answer.lineup)} candidates"
    remaining = ONE if len(enough) and enough[0] == 0 else remaining
    share, given = _share(first), _share(min(first / in_data, 1.0)) if in_data > 0.0 else _share(first)
    whose = "its probability is" if remaining == ONE else "the first has a probability of"
    also = "" if given == share else f", or {given} if the person is in the data"
    return f"{what} {leave} {remaining}; {whose} {share}{also}."


def _share(probability: float) -> str:
    """A probability in whole per cent, where this is neither 0 nor 100."""
    if probability > 0.99:
        return "more than 99\xa0%" if probability < 1 else "100\xa0%"
    return f"{100 * probability:.0f}\xa0%" if probability >= 0.01 else "less than 1\xa0%"


# The `standout lineup` command that gives the same numbers as the page.


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
    return shlex.join([*words, "--top", str(request.top), "--allow-unknown", "--json"])


def fact_text(fact: TypedFact) -> str:
    """A fact as it is typed: ITEM=VALUE±ERROR@DATE±DAYS, with ? at its end if it is doubtful.

    >>> from datetime import date
    >>> fact_text(TypedFact("17", 4.0, 1.0, date(2005, 3, 1), 14.0, doubtful=True))
    '17=4±1@2005-03-01±14?'
    >>> fact_text(TypedFact("17", "good", 0.0))
    '17=good'
    """
    known = fact.known
    errors = ["" if error is None else f"±{_plain(error)}" for error in (known.value_error, known.time_error)]
    value = "" if fact.value is None else f"={_value_text(fact.value)}{errors[0]}"
    time = "" if fact.time is None else f"@{fact.time.isoformat()}{errors[1]}"
    return f"{fact.item}{value}{time}{'?' if fact.doubtful else ''}"


def _plain(error: float) -> str:
    """An error without an exponent, to nine decimals."""
    return f"{error:.9f}".rstrip("0").rstrip(".")


def _value_text(value: float | str) -> str:
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


# Plays: somebody is drawn at random, facts are dealt with an adversary's errors, and the guess is checked.
#
# The server keeps nothing: everything follows from the release, the adversary and the seed.


def deal(exploration: Exploration, request: DealRequest) -> Answer:
    """Deal the first facts about the target; its id is not part of the answer."""
    facts = exploration.dealt_facts(request)
    dealt = list(map(exploration.describe_fact, facts[: request.facts]))
    return {"dealt": dealt, "of": len(facts), "done": len(dealt) == len(facts)}


def reveal(exploration: Exploration, request: RevealRequest) -> Answer:
    """Compare the attack's guess from the dealt facts with the target; `bits` are left after each fact."""
    release, target = exploration.release, exploration.target(request)
    facts = exploration.dealt_facts(request)[: request.facts]
    aux, attack = so.Aux([fact.known for fact in facts]), _attack_named(request.attack, in_data=True)
    verdicts = [attack.attack(release, so.Aux([]))]  # on no fact, the first fact, the first two, …
    verdicts += attack.nested(release, [aux], range(1, len(facts) + 1)) if facts else ()
    last, rank = verdicts[-1], verdicts[-1].rank(target)
    facts_left, entries = Counter(fact.item for fact in facts), []
    for entry in release.record(target).entries:  # a fact is about one of several entries of its item
        shown = {"item": entry.item, "title": exploration.item(entry.item)["title"], "value": entry.value}
        entries.append({**shown, "time": entry.time, "named": facts_left[entry.item] > 0})
        facts_left[entry.item] -= 1
    return {
        "right": rank == 1 and last.ties == 1,
        "rank": rank,
        "ties": last.ties,
        "probability": last.probability(target),
        "bits": [verdict.entropy(target) for verdict in verdicts],
        "learned": sum(not entry["named"] for entry in entries),
        "id": target if request.show_ids else None,
        "entries": entries if request.entries else None,
    }


def prepare(exploration: Exploration) -> None:
    """Do what a page will ask for, so that its first answers are as fast as later ones: compile, build tables."""
    try:
        release = exploration.release
        popular = release.items[int(release.support.argmax())]
        exploration.suggest(popular, 1)
        answer_lineup(exploration, LineupRequest((TypedFact(popular),), what_if=True))
        for name in list(exploration.adversaries)[:2]:
            play = DealRequest(name, seed=0, facts=2)
            answer_lineup(exploration, LineupRequest(tuple(exploration.dealt_facts(play)[:2]), what_if=True))
            reveal(exploration, RevealRequest(name, seed=0, facts=2))
    except so.StandoutError:  # the page will show the same error
        return


# Downloads: the facts as CSV that `standout lineup --aux` reads, and the lineup as CSV or JSON.


def export(exploration: Exploration, request: ExportRequest) -> tuple[str, str, bytes]:
    """The name, the media type and the content of a file; without ids of records unless they were asked for."""
    if request.format == FACTS_FILE:
        heads = ("item", "value", "time", "value_error", "time_error", "doubt")
        facts = [  # exact ids, because they are read again
            (
                fact.item,
                None if fact.value is None else _value_text(fact.value),
                fact.time and fact.time.isoformat(),
                *fact.known.errors,
            )
            for fact in request.facts
        ]
        table = pl.DataFrame(facts, schema=heads, orient="row", infer_schema_length=None)
        return FACTS_FILE, "text/csv", table.write_csv().encode()
    answer = answer_lineup(exploration, request)
    if request.format == "lineup.csv":
        columns = {"data": str, "attack": str, "name": str, "id": str, "score": float, "probability": float}
        candidates = [
            {"data": version, "attack": attack, **candidate}
            for version, answers in (("release", answer["answers"]), ("what if", answer["what_if"] or {}))
            for attack, of_attack in answers.items()
            for candidate in of_attack["lineup"]
        ]
        content = inert(pl.DataFrame(candidates, schema=columns)).write_csv().encode("utf-8", "replace")
        return "lineup.csv", "text/csv", content
    origin = {"data": exploration.title, "fingerprint": exploration.release.fingerprint, "version": so.__version__}
    return "lineup.json", "application/json", to_json({"lineup": answer, **origin}, indent=1) + b"\n"
