"""What `standout lineup` prints: how the facts were understood, who they point to, and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from rich.table import Table
from rich.text import Text

from standout._version import __version__
from standout.attack.eccentricity import Match
from standout.attack.lineup import Lineup, Part
from standout.attack.verdict import Verdict
from standout.cli import show
from standout.cli.knows import Named
from standout.facts import Aux
from standout.release.catalogue import Catalogue, printable
from standout.release.model import Release

__all__ = ["Answer", "bar", "meaning", "percent", "show_answer"]

BAR = 16  # characters of the longest bar
EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class Answer:
    """The verdict on some facts, with what is needed to tell it."""

    release: Release
    facts: tuple[Named, ...]
    aux: Aux
    verdict: Verdict
    phi: float
    top: int

    @cached_property
    def lineup(self) -> Lineup:
        return self.verdict.lineup(self.top)

    @cached_property
    def best(self) -> str | None:
        """The record with the best score, if anything speaks for it."""
        return self.lineup[0].record if self.lineup else None

    @cached_property
    def match(self) -> Match | None:
        return self.verdict.match(self.phi)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return () if self.best is None else self.verdict.explain(self.best)

    @cached_property
    def bits_left(self) -> float:
        """What is still missing to point at the best record; all of it if nothing speaks for anybody."""
        return self.verdict.bits if self.best is None else self.verdict.entropy(self.best)

    @property
    def unknown(self) -> list[str]:
        return [name for name, code, _ in self.facts if code is None]

    def to_dict(self) -> dict[str, Any]:
        verdict, length, joined = self.verdict, self.aux.length, self.aux.joined
        return {
            "facts": [_fact(self.release, fact) for fact in self.facts],
            "candidates": verdict.candidates,
            "lineup": [candidate._asdict() for candidate in self.lineup],
            "outside": self.lineup.outside,
            "eccentricity": verdict.eccentricity,
            "sigma": verdict.sigma,
            "mean": verdict.mean,
            "phi": self.phi,
            "match": self.match.record if self.match else None,
            "ties": verdict.ties,
            "bits": {"prior": verdict.bits, "left": self.bits_left},
            "explain": [_part(fact, part) for fact, part in zip(self.facts, self.parts, strict=False)],
            "unknown": self.unknown,
            "length": None if length is None else list(length),
            "joined": None if joined is None else [day.isoformat() for day in joined],
            "fingerprint": self.release.fingerprint,
            "version": __version__,
        }


def show_answer(answer: Answer, as_json: bool) -> None:
    """The answer, for machines or for people."""
    if as_json:
        show.print_json(answer.to_dict())
        return
    screen = show.console()
    for part in _told(answer):
        screen.print(part)


def meaning(answer: Answer) -> str:
    """What the eccentricity says, in a sentence."""
    verdict, phi = answer.verdict, f"φ = {answer.phi:g}"
    if not verdict.candidates:
        return "No match: nobody is left who could be meant."
    if len(answer.unknown) == len(answer.facts):
        return "Nothing can be said: the release has none of these items."
    if answer.best is None:
        return "Nothing can be said: these facts speak for no record more than for any other."
    if verdict.candidates == 1:
        return "No match: only one record is left, and out of one nobody stands out."
    if verdict.ties > 1:
        return f"No match: {verdict.ties:,} records tie for the best score."
    apart = f"{_apart(verdict.eccentricity, answer.phi)} standard deviations above the next best"
    if answer.match is None:
        return f"No match: the best score lies only {apart}; with {phi} nobody is claimed."
    return f"Record {printable(answer.best)} stands out: its score lies {apart} ({phi}): a match."


def percent(probability: float) -> str:
    """A probability for people: nothing that is not certain reads 100 %, nothing possible 0 %.

    >>> percent(0.1234), percent(0.999999), percent(1e-9), percent(1.0)
    ('12.34 %', '> 99.99 %', '< 0.01 %', '100 %')
    """
    if 0.9999 < probability < 1:
        return "> 99.99 %"
    if 0 < probability < 0.0001:
        return "< 0.01 %"
    return f"{100 * probability:.2f} %" if 0 < probability < 1 else f"{100 * probability:.0f} %"


def bar(share: float, width: int = BAR) -> str:
    """A bar of so much of the width, to an eighth of a character; the smallest share still shows.

    >>> bar(1, 4), bar(0.4, 4), bar(0.001, 4), bar(0, 4)
    ('████', '█▋', '▏', '')
    """
    eighths = max(round(share * width * 8), 1) if share > 0 else 0
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def _told(answer: Answer) -> Iterator[Table | Text | str]:
    """What people read, from top to bottom."""
    yield _heading("What is known")
    yield _facts(answer)
    yield from _notes(answer)
    if answer.best is not None:
        yield _heading("\nLineup")
        yield _lineup(answer)
    yield _heading(f"\n{meaning(answer)}")
    if answer.best is not None:
        yield _bits(answer)
        tied = ", the first of those that tie" if answer.verdict.ties > 1 else ""
        yield _heading(f"\nWhat each fact adds to the score of record {printable(answer.best)}{tied}")
        yield _contributions(answer)


def _facts(answer: Answer) -> Table:
    """How the facts were understood."""
    names, support = _names(answer), answer.release.support
    rows = [
        (
            name,
            _value(fact.value),
            _date(fact.time),
            "not in the release" if code is None else f"{support[code]:,}",
        )
        for name, (_, code, fact) in zip(names, answer.facts, strict=True)
    ]
    shown = [place for place in range(4) if place in (0, 3) or any(row[place] for row in rows)]
    table = _table(*(("item", "value", "date", "records that have it")[place] for place in shown))
    for row in rows:
        table.add_row(*(row[place] for place in shown))
    return table


def _notes(answer: Answer) -> Iterator[str]:
    """What of the facts does not count, and who is left."""
    release, aux, unknown = answer.release, answer.aux, len(answer.unknown)
    if 0 < unknown < len(answer.facts):
        what = "names an item" if unknown == 1 else "name items"
        yield f"{unknown} of {len(answer.facts)} facts {what} that the release does not have."
    for part, there in (("value", release.levels is not None), ("time", release.span > 0)):
        if not there and any(getattr(fact, part) is not None for fact in aux):
            yield f"The release has no {part}s: they are not compared."
    if aux.length or aux.joined:
        left = f"{answer.verdict.candidates:,} of {_count(release.n_records, 'record')}"
        yield f"Only those can be meant that {' and '.join(_filters(aux))}: {left}."


def _filters(aux: Aux) -> Iterator[str]:
    if aux.length:
        low, high = aux.length
        yield f"have {low:,} to {high:,} items" if low < high else f"have {_count(low, 'item')}"
    if aux.joined:
        first, last = aux.joined
        yield f"begin from {first} to {last}" if first < last else f"begin on {first}"


def _lineup(answer: Answer) -> Table:
    table = _table("", "record", "probability", "score")
    table.columns[0].justify, table.columns[1].justify = "right", "left"
    place, before = 0, -1.0
    for at, (record, score, probability) in enumerate(answer.lineup, start=1):
        place, before = (place if score == before else at), score
        table.add_row(str(place), printable(record), percent(probability), _number(score))
    others = answer.verdict.candidates - len(answer.lineup)
    if others:
        table.add_row("", f"somebody else ({_count(others, 'record')})", percent(answer.lineup.outside), "")
    return table


def _bits(answer: Answer) -> str:
    left, candidates = answer.bits_left, answer.verdict.candidates
    missing = f"{left:.1f}" if left >= 0.05 or left == 0 else "Less than 0.1"
    return (
        f"{missing} of {answer.verdict.bits:.1f} bits (log2 {candidates:,}) are still missing "
        f"to point at the best record."
    )


def _contributions(answer: Answer) -> Table:
    """The part of each fact in the best record's score."""
    most = max(part.score for part in answer.parts)
    table = _table("item", "adds")
    table.add_column(no_wrap=True, min_width=BAR)
    table.add_column()
    for name, part in zip(_names(answer), answer.parts, strict=True):
        note = "" if part.has else "not in the release" if part.item is None else "does not have it"
        table.add_row(name, _number(part.score), bar(part.score / most), note)
    table.add_row("together", _number(answer.lineup[0].score))
    return table


def _names(answer: Answer) -> list[str]:
    """The items of the facts for people."""
    catalogue = Catalogue(answer.release)
    return [printable(name) if code is None else catalogue.label(code) for name, code, _ in answer.facts]


def _heading(text: str) -> Text:
    return Text(text, "bold")


def _table(first: str, *others: str) -> Table:
    """A table without lines: a column for names, of which no letter is left out, and others for numbers."""
    table = Table(box=None, pad_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", overflow="fold")
    return table


def _apart(eccentricity: float, phi: float) -> str:
    """The eccentricity with as many digits as it takes to tell it from φ and from 0."""
    digits = 1
    while round(eccentricity, digits) in (phi, 0) and eccentricity != phi and digits < 12:
        digits += 1
    return f"{eccentricity:.{digits}f}"


def _number(score: float) -> str:
    return f"{score:.3f}" if score >= 0.001 or score == 0 else f"{score:.1e}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _value(value: float | str | None) -> str:
    return "" if value is None else printable(value) if isinstance(value, str) else f"{value:.15g}"


def _date(time: date | None) -> str:
    return "" if time is None else str(time)


def _fact(release: Release, named: Named) -> dict[str, Any]:
    name, code, fact = named
    return {
        "named": name,
        "item": None if code is None else release.items[code],
        "title": None if code is None or release.titles is None else release.titles[code] or None,
        "value": fact.value,
        "time": None if fact.time is None else fact.time.isoformat(),
        "records": 0 if code is None else int(release.support[code]),
    }


def _part(named: Named, part: Part) -> dict[str, Any]:
    return {
        "named": named.name,
        "item": part.item,
        "has": part.has,
        "similarity": part.similarity,
        "weight": part.weight,
        "part": part.score,
    }
