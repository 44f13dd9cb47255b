"""What `standout lineup` prints: the known facts, the records they point to, and why."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from standout.attack.verdict import MatchingVerdict, Part
from standout.cli.console import (
    borderless_table,
    console,
    number_columns,
    print_json,
    print_text,
    reading_json,
    release_stamp,
)
from standout.cli.typed_facts import NamedFact
from standout.core.errors import ParameterError
from standout.core.text import count, percent, printable, shorten
from standout.data.release import Release
from standout.data.search import Catalogue
from standout.evaluate.lineup import LineupAnswer, probability_text
from standout.know.facts import AS_ASSUMED, Aux

if TYPE_CHECKING:
    from standout.data.column import Column

__all__ = ["Answer", "bar", "lineup_of_table", "refuse_options_of_histories", "show_answer"]

# The answer of `standout lineup`: the library's answer, with the names as they were typed.


@dataclass(frozen=True)
class Answer(LineupAnswer):
    """The library's answer, the facts with their names, and the name of the attack."""

    facts: tuple[NamedFact, ...]
    name: str

    @classmethod
    def of(cls, answer: LineupAnswer, facts: tuple[NamedFact, ...], name: str) -> "Answer":
        """Add the names to the library's answer."""
        parts = answer.release, answer.aux, answer.attack, answer.verdict, answer.threshold, answer.top
        return cls(*parts, facts, name)

    @property
    def unknown(self) -> list[str]:
        """Names that match no item."""
        return [name for name, code, _ in self.facts if code is None]

    def to_dict(self) -> dict[str, object]:
        """Return the JSON output."""
        verdict, length, joined = self.verdict, self.aux.length, self.aux.joined
        by_posterior = self.threshold.by_posterior
        return {
            "attack": self.name,
            "assumes": self.assumption or None,
            "facts": [_fact_dict(self.release, fact) for fact in self.facts],
            "candidates": verdict.candidates,
            "lineup": [candidate._asdict() for candidate in self.lineup],
            "outside": self.lineup.outside,
            "nobody": self.nobody,
            "eccentricity": verdict.eccentricity,
            "sigma": verdict.sigma,
            "mean": verdict.mean,
            "phi": None if by_posterior else self.threshold.value,
            "posterior": self.threshold.value if by_posterior else None,
            "match": self.match.record if self.match else None,
            "ties": verdict.ties,
            "bits": {"prior": verdict.bits, "left": self.bits_left},
            "explain": [_part_dict(fact, part) for fact, part in zip(self.facts, self.parts, strict=False)],
            "unknown": self.unknown,
            "length": None if length is None else list(length),
            "joined": None if joined is None else [day.isoformat() for day in joined],
            "read": reading_json(self.release),
            **release_stamp(self.release),
        }


def _fact_dict(release: Release, named: NamedFact) -> dict[str, object]:
    name, code, fact = named
    return {
        "name": name,
        "item": None if code is None else release.items[code],
        "title": None if code is None or release.titles is None else release.titles[code] or None,
        "value": fact.value,
        "time": None if fact.time is None else fact.time.isoformat(),
        **fact.errors._asdict(),
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
        "by_item": part.by_item,
        "by_value": part.by_value,
        "by_time": part.by_time,
    }


BAR_WIDTH = 16
LONGEST_ID = 200
EIGHTHS = " ▏▎▍▌▋▊▉█"
MISSING = "not in the release"
RATIOS = (
    "× compares with a record that lacks the item, and with values and dates of any entry. The score is the "
    "logarithm of the product, and at least 0."
)


def show_answer(answer: Answer) -> None:
    """Print the answer for people."""
    screen = console()
    for part in _screen_parts(answer):
        screen.print(part)


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
    if assumed := answer.assumption:
        yield assumed
    if answer.best is not None:
        yield _heading("\nLineup")
        yield _lineup_table(answer)
    yield _heading("\n" + answer.conclude(f"record {_id(answer.best or '')}"))
    if answer.best is not None:
        yield _bits_sentence(answer)
        tied = ", the first of the tied records" if answer.verdict.ties > 1 else ""
        yield _heading(f"\n{_explanation_title(answer)} record {_id(answer.best)}{tied}")
        yield _contribution_table(answer) if answer.nobody is None else _ratio_table(answer)
        if answer.nobody is not None:
            yield RATIOS


def _fact_table(answer: Answer) -> Table:
    """Return how the facts were understood; columns without content are omitted."""
    support = answer.release.support
    rows = [
        (
            name,
            _about(_value(fact.value), fact.value_error, ""),
            _about(_date(fact.time), fact.time_error, "\xa0days"),
            "" if fact.doubt is None else percent(fact.doubt),
            MISSING if code is None else f"{support[code]:,}",
        )
        for name, (_, code, fact) in zip(_names(answer), answer.facts, strict=True)
    ]
    titles = ("item", "value", "date", "doubt", "records that have it")
    columns = [i for i in range(5) if i in (0, 4) or any(row[i] for row in rows)]
    table = _table(*(titles[i] for i in columns))
    for row in rows:
        table.add_row(*(row[i] for i in columns))
    return table


def _about(text: str, error: float | None, unit: str) -> str:
    """Return a value or date with its error, if that is known."""
    return text if error is None or not text else f"{text}\xa0±\xa0{error:.15g}{unit}"


def _notes(answer: Answer) -> Iterator[str]:
    """Yield which facts are ignored, and how many records fit."""
    release, aux, unknown = answer.release, answer.aux, len(answer.unknown)
    if 0 < unknown < len(answer.facts):
        what = "names an item" if unknown == 1 else "name items"
        yield f"{unknown} of {len(answer.facts)} facts {what} that the release does not have."
    for part, is_present in (("value", release.levels is not None), ("time", release.span > 0)):
        if not is_present and any(getattr(fact, part) is not None for fact in aux):
            yield f"The release has no {part}s: known {part}s are ignored."
    if answer.nobody is None and any(fact.errors != AS_ASSUMED for fact in aux):
        yield "This attack ignores the errors and doubts of single facts; likelihood uses them."
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
        table.add_row(str(rank), _id(record), probability_text(probability), _number(score))
    others, nobody = answer.verdict.candidates - len(answer.lineup), answer.nobody or 0.0
    if others:
        outside = probability_text(max(answer.lineup.outside - nobody, 0.0))
        table.add_row("", f"somebody else ({count(others, 'record', 'records')})", outside, "")
    if answer.nobody is not None:
        table.add_row("", "nobody in the data", probability_text(nobody), "")
    return table


def _bits_sentence(answer: Answer) -> str:
    left, candidates = answer.bits_left, answer.verdict.candidates
    missing = f"{left:.1f}" if left >= 0.05 or left == 0 else "Less than 0.1"
    return (
        f"{missing} of {answer.verdict.bits:.1f} bits (log2 {candidates:,}) are still missing "
        f"to identify the best guess{'' if answer.nobody is None else ', if the person is in the data'}."
    )


def _explanation_title(answer: Answer) -> str:
    if answer.nobody is not None:
        return "How much likelier each fact is about"
    return (
        "How well each fact fits"
        if isinstance(answer.verdict, MatchingVerdict)
        else "What each fact adds to the score of"
    )


def _contribution_table(answer: Answer) -> Table:
    """Return what each fact adds to the score of the best guess."""
    largest = max(part.score for part in answer.parts)
    is_matching = isinstance(answer.verdict, MatchingVerdict)
    table = _table("item", "similarity" if is_matching else "adds")
    table.add_column(no_wrap=True, min_width=BAR_WIDTH)
    table.add_column()
    for name, part in zip(_names(answer), answer.parts, strict=True):
        note = "" if part.has else MISSING if part.item is None else "does not have it"
        table.add_row(name, _number(part.score), bar(part.score / largest), note)
    total = "lowest" if is_matching else "total"
    table.add_row(total, _number(answer.lineup[0].score))
    return table


def _ratio_table(answer: Answer) -> Table:
    """Return how much likelier each fact is if it is about the best guess.

    Both ratios of a fact, and the logarithm of their product, which adds to the score.
    """
    largest = max(part.score for part in answer.parts)
    table = _table("fact", "item", "value, date", "score")
    table.add_column(min_width=BAR_WIDTH, overflow="fold")
    for name, part in zip(_names(answer), answer.parts, strict=True):
        ratios = (_ratio(part.weight or 0.0), _ratio(part.similarity)) if part.has else ("", "")
        note = MISSING if part.item is None else "does not fit" if part.has else "does not have it"
        table.add_row(name, *ratios, _number(part.score), bar(part.score / largest) or note)
    table.add_row("total", "", "", _number(answer.lineup[0].score))
    return table


def _ratio(ratio: float) -> str:
    return f"×\xa0{ratio:,.0f}" if ratio >= 100 else f"×\xa0{ratio:.3g}"


def _names(answer: Answer) -> list[str]:
    """Return the labels of the items."""
    catalogue = Catalogue.of(answer.release)
    return [printable(name) if code is None else catalogue.label(code) for name, code, _ in answer.facts]


def _heading(text: str) -> Text:
    return Text(text, "bold")


def _id(record: str) -> str:
    """An id as it fits on a screen: laying out an id of megabytes takes minutes."""
    return printable(shorten(record, LONGEST_ID))


def _table(first: str, *others: str) -> Table:
    """Return a table whose cells are folded, never cut: one column for names, others for numbers."""
    table = borderless_table()
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", overflow="fold")
    return table


def _number(score: float) -> str:
    return f"{score:.3f}" if score >= 0.001 or score == 0 else f"{score:.1e}"


def _value(value: float | str | None) -> str:
    return "" if value is None else printable(value) if isinstance(value, str) else f"{value:.15g}"


def _date(time: date | None) -> str:
    return "" if time is None else str(time)


# `standout lineup` on a table: which rows a few known cells point to, and why.


def lineup_of_table(
    rows: Release, knows: tuple[str, ...], wrong: int | None, population: int | None, top: int, as_json: bool
) -> None:
    """Rank the rows of a table, and print them."""
    from standout.attack.likelihood import Likelihood
    from standout.evaluate.lineup import lineup
    from standout.know.adversary import Adversary
    from standout.know.facts import Aux, Fact

    typed = [_split(fact) for fact in knows]
    if not typed:
        raise ParameterError("--knows is missing: name a column and its value, such as --knows age=34")
    known = {name: _value_table_lineup_screen(rows.column(name), value) for name, value in typed}
    if len(known) < len(typed):
        raise ParameterError("--knows names a column twice: a person has one value of each")
    facts = [Fact(name, time=v) if isinstance(v, date) else Fact(name, v) for name, v in known.items()]
    adversary = None if wrong is None else Adversary(knows=len(known), wrong=wrong)
    found = lineup(rows, Aux(facts), Likelihood(adversary), population=population, top=top)
    if as_json:
        print_json(_as_json(found, rows, population))
    else:
        _show(found, rows)


def _split(fact: str) -> tuple[str, str]:
    name, separator, value = fact.partition("=")
    if not separator or not name or not value:
        raise ParameterError("--knows must be COLUMN=VALUE for a table, such as age=34")
    return name, value


def _value_table_lineup_screen(column: "Column", text: str) -> float | str | date:
    """A typed value as the column has it."""
    if column.kind == "number":
        try:
            return float(text)
        except ValueError:
            raise ParameterError(f"--knows: the value of column {column.name!r} must be a number") from None
    if column.kind == "date":
        try:
            return date.fromisoformat(text)
        except ValueError:
            raise ParameterError(
                f"--knows: the value of column {column.name!r} must be a date like 2005-03-01"
            ) from None
    return text


def _show(answer: "LineupAnswer", release: "Release") -> None:
    from standout.core.text import printable

    screen, best, ties, nobody = console(), answer.lineup[0], answer.verdict.ties, answer.nobody or 0.0
    candidates, reasons = borderless_table(), borderless_table()
    candidates.add_column("Row", no_wrap=True)
    number_columns(candidates, "Probability", "Score")
    for each in answer.lineup:
        candidates.add_row(_label(each.record, release), f"{each.probability:.3g}", f"{each.score:.2f}")
    screen.print(candidates)
    tied = f"{count(ties, 'row', 'rows')} fit equally well. " if ties > 1 else ""
    outside = f" The person is not in the table with a probability of {percent(nobody)}." if nobody > 0 else ""
    print_text(
        "",
        f"{tied}The first row has a probability of {percent(best.probability)}; "
        f"{answer.bits_left:.1f} bits are missing to identify the person.{outside}",
        "",
        f"Why {_label(best.record, release)} is first: how much likelier each known value is for it than for anybody",
    )
    reasons.add_column("Column", no_wrap=True)
    number_columns(reasons, "Times", "Logarithm")
    for part in answer.parts:
        reasons.add_row(printable(part.fact.item), f"× {math.exp(part.score):.3g}", f"{part.score:+.2f}")
    screen.print(reasons)


def _label(record: str, release: "Release") -> str:
    from standout.core.text import printable
    from standout.data.labels import position_of_id

    return printable(record) if release.has_ids else f"row {position_of_id(release.records, record) + 1:,}"


def _as_json(answer: "LineupAnswer", release: "Release", population: int | None) -> dict[str, object]:
    from standout._version import __version__
    from standout.data.labels import position_of_id

    rows = [
        {
            "row": position_of_id(release.records, each.record) + 1,
            "id": each.record if release.has_ids else None,
            "probability": each.probability,
            "score": each.score,
            "parts": {part.fact.item: part.score for part in answer.verdict.explain(each.record)},
        }
        for each in answer.lineup
    ]
    return {
        "lineup": rows,
        "ties": answer.verdict.ties,
        "nobody": answer.nobody,
        "bits_left": answer.bits_left,
        "rows": release.n_records,
        "population": population,
        "fingerprint": release.fingerprint,
        "version": __version__,
    }


def refuse_options_of_histories(given: dict[str, object]) -> None:
    """Refuse options that say nothing about a table."""
    for option, value in given.items():
        if value:
            raise ParameterError(f"{option} is for histories, and the data is a table: leave it out")
