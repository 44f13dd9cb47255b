"""What `standout lineup` prints: the known facts, the records they point to, and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from rich.table import Table
from rich.text import Text

from standout.attack.eccentricity import Match
from standout.attack.lineup import Lineup, Part
from standout.attack.verdict import Verdict
from standout.cli.console import borderless_table, console, release_stamp
from standout.cli.typed_facts import NamedFact
from standout.core.formatting import count
from standout.facts import Aux
from standout.release.catalogue import Catalogue, printable
from standout.release.model import Release

__all__ = ["Answer", "bar", "conclusion", "probability_text", "show_answer"]

BAR_WIDTH = 16
EIGHTHS = " ▏▎▍▌▋▊▉█"
MISSING = "not in the release"


@dataclass(frozen=True)
class Answer:
    """The verdict on known facts, with what is needed to print it."""

    release: Release
    facts: tuple[NamedFact, ...]
    aux: Aux
    verdict: Verdict
    phi: float
    top: int

    @cached_property
    def lineup(self) -> Lineup:
        """The records to show."""
        return self.verdict.lineup(self.top)

    @cached_property
    def best(self) -> str | None:
        """The best guess; None if no fact supports any record."""
        return self.lineup[0].record if self.lineup else None

    @cached_property
    def match(self) -> Match | None:
        """The claimed record, if its eccentricity is at least φ."""
        return self.verdict.match(self.phi)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """What each fact adds to the score of the best guess."""
        return () if self.best is None else self.verdict.explain(self.best)

    @cached_property
    def bits_left(self) -> float:
        """Bits still missing to identify the best guess; all bits if there is none."""
        return self.verdict.bits if self.best is None else self.verdict.entropy(self.best)

    @property
    def unknown(self) -> list[str]:
        """Names that match no item."""
        return [name for name, code, _ in self.facts if code is None]

    def to_dict(self) -> dict[str, object]:
        """Return the JSON output."""
        verdict, length, joined = self.verdict, self.aux.length, self.aux.joined
        return {
            "facts": [_fact_dict(self.release, fact) for fact in self.facts],
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
            "explain": [_part_dict(fact, part) for fact, part in zip(self.facts, self.parts, strict=False)],
            "unknown": self.unknown,
            "length": None if length is None else list(length),
            "joined": None if joined is None else [day.isoformat() for day in joined],
            **release_stamp(self.release),
        }


def show_answer(answer: Answer) -> None:
    """Print the answer for people."""
    screen = console()
    for part in _screen_parts(answer):
        screen.print(part)


def conclusion(answer: Answer) -> str:
    """Return what the eccentricity means, in a sentence."""
    verdict, phi = answer.verdict, f"φ = {answer.phi:g}"
    if not verdict.candidates:
        return "No claim: no record fits the length and the first date."
    if len(answer.unknown) == len(answer.facts):
        return "No conclusion: the release has none of these items."
    if answer.best is None:
        return "No conclusion: these facts do not favour any record."
    if verdict.candidates == 1:
        return "No claim: only one record fits, and eccentricity needs at least two."
    if verdict.ties > 1:
        return f"No claim: {verdict.ties:,} records tie for the best score."
    eccentricity = _distinct_from_phi(verdict.eccentricity, answer.phi)
    distance = f"{eccentricity} standard deviations above the second best"
    if answer.match is None:
        return f"No claim: the best score is only {distance}, less than {phi}."
    return f"Claim: record {printable(answer.best)}. Its score is {distance} ({phi})."


def probability_text(probability: float) -> str:
    """Format a probability so that only certainty reads 100 % and only impossibility 0 %.

    >>> [probability_text(p) for p in (0.1234, 0.999999, 1e-9, 1.0)]
    ['12.34 %', '> 99.99 %', '< 0.01 %', '100 %']
    """
    if 0.9999 < probability < 1:
        return "> 99.99 %"
    if 0 < probability < 0.0001:
        return "< 0.01 %"
    return f"{100 * probability:.2f} %" if 0 < probability < 1 else f"{100 * probability:.0f} %"


def bar(share: float, width: int = BAR_WIDTH) -> str:
    """Return a bar for a share, to an eighth of a character; any share above 0 is visible.

    >>> bar(1, 4), bar(0.4, 4), bar(0.001, 4), bar(0, 4)
    ('████', '█▋', '▏', '')
    """
    eighths = max(round(share * width * 8), 1) if share > 0 else 0
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def _screen_parts(answer: Answer) -> Iterator[Table | Text | str]:
    """Yield the output from top to bottom."""
    yield _heading("Known facts")
    yield _fact_table(answer)
    yield from _notes(answer)
    if answer.best is not None:
        yield _heading("\nLineup")
        yield _lineup_table(answer)
    yield _heading(f"\n{conclusion(answer)}")
    if answer.best is not None:
        yield _bits_sentence(answer)
        tied = ", the first of the tied records" if answer.verdict.ties > 1 else ""
        yield _heading(f"\nWhat each fact adds to the score of record {printable(answer.best)}{tied}")
        yield _contribution_table(answer)


def _fact_table(answer: Answer) -> Table:
    """Return how the facts were understood; columns without content are omitted."""
    support = answer.release.support
    rows = [
        (name, _value(fact.value), _date(fact.time), MISSING if code is None else f"{support[code]:,}")
        for name, (_, code, fact) in zip(_names(answer), answer.facts, strict=True)
    ]
    titles = ("item", "value", "date", "records that have it")
    columns = [i for i in range(4) if i in (0, 3) or any(row[i] for row in rows)]
    table = _table(*(titles[i] for i in columns))
    for row in rows:
        table.add_row(*(row[i] for i in columns))
    return table


def _notes(answer: Answer) -> Iterator[str]:
    """Yield which facts are ignored, and how many records fit."""
    release, aux, unknown = answer.release, answer.aux, len(answer.unknown)
    if 0 < unknown < len(answer.facts):
        what = "names an item" if unknown == 1 else "name items"
        yield f"{unknown} of {len(answer.facts)} facts {what} that the release does not have."
    for part, is_present in (("value", release.levels is not None), ("time", release.span > 0)):
        if not is_present and any(getattr(fact, part) is not None for fact in aux):
            yield f"The release has no {part}s: known {part}s are ignored."
    if aux.length or aux.joined:
        remaining = f"{answer.verdict.candidates:,} of {count(release.n_records, 'record', 'records')}"
        yield f"Candidates {' and '.join(_filters(aux))}: {remaining}."


def _filters(aux: Aux) -> Iterator[str]:
    if aux.length:
        low, high = aux.length
        yield f"have {low:,} to {high:,} items" if low < high else f"have {count(low, 'item', 'items')}"
    if aux.joined:
        first, last = aux.joined
        yield f"begin from {first} to {last}" if first < last else f"begin on {first}"


def _lineup_table(answer: Answer) -> Table:
    table = _table("", "record", "probability", "score")
    table.columns[0].justify, table.columns[1].justify = "right", "left"
    rank, previous = 0, -1.0
    for position, (record, score, probability) in enumerate(answer.lineup, start=1):
        rank, previous = (rank if score == previous else position), score
        table.add_row(str(rank), printable(record), probability_text(probability), _number(score))
    others = answer.verdict.candidates - len(answer.lineup)
    if others:
        outside = probability_text(answer.lineup.outside)
        table.add_row("", f"somebody else ({count(others, 'record', 'records')})", outside, "")
    return table


def _bits_sentence(answer: Answer) -> str:
    left, candidates = answer.bits_left, answer.verdict.candidates
    missing = f"{left:.1f}" if left >= 0.05 or left == 0 else "Less than 0.1"
    return (
        f"{missing} of {answer.verdict.bits:.1f} bits (log2 {candidates:,}) are still missing "
        f"to identify the best guess."
    )


def _contribution_table(answer: Answer) -> Table:
    """Return what each fact adds to the score of the best guess."""
    largest = max(part.score for part in answer.parts)
    table = _table("item", "adds")
    table.add_column(no_wrap=True, min_width=BAR_WIDTH)
    table.add_column()
    for name, part in zip(_names(answer), answer.parts, strict=True):
        note = "" if part.has else MISSING if part.item is None else "does not have it"
        table.add_row(name, _number(part.score), bar(part.score / largest), note)
    table.add_row("total", _number(answer.lineup[0].score))
    return table


def _names(answer: Answer) -> list[str]:
    """Return the labels of the items."""
    catalogue = Catalogue(answer.release)
    return [printable(name) if code is None else catalogue.label(code) for name, code, _ in answer.facts]


def _heading(text: str) -> Text:
    return Text(text, "bold")


def _table(first: str, *others: str) -> Table:
    """Return a table whose cells are folded, never cut: one column for names, others for numbers."""
    table = borderless_table()
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", overflow="fold")
    return table


def _distinct_from_phi(eccentricity: float, phi: float) -> str:
    """Format the eccentricity with enough digits to differ from φ and from 0."""
    digits = 1
    while round(eccentricity, digits) in (phi, 0) and eccentricity != phi and digits < 12:
        digits += 1
    return f"{eccentricity:.{digits}f}"


def _number(score: float) -> str:
    return f"{score:.3f}" if score >= 0.001 or score == 0 else f"{score:.1e}"


def _value(value: float | str | None) -> str:
    return "" if value is None else printable(value) if isinstance(value, str) else f"{value:.15g}"


def _date(time: date | None) -> str:
    return "" if time is None else str(time)


def _fact_dict(release: Release, named: NamedFact) -> dict[str, object]:
    name, code, fact = named
    return {
        "name": name,
        "item": None if code is None else release.items[code],
        "title": None if code is None or release.titles is None else release.titles[code] or None,
        "value": fact.value,
        "time": None if fact.time is None else fact.time.isoformat(),
        "records": 0 if code is None else int(release.support[code]),
    }


def _part_dict(named: NamedFact, part: Part) -> dict[str, object]:
    return {
        "name": named.name,
        "item": part.item,
        "has": part.has,
        "similarity": part.similarity,
        "weight": part.weight,
        "part": part.score,
    }
