"""What `standout lineup` prints: the known facts, the records they point to, and why."""

from collections.abc import Iterator
from datetime import date

from rich.table import Table
from rich.text import Text

from standout.attack.matching_verdict import MatchingVerdict
from standout.cli.console import borderless_table, console
from standout.cli.lineup_answer import Answer
from standout.core.foreign_text import printable, shorten
from standout.core.formatting import count, percent
from standout.evaluate.lineup_answer import probability_text
from standout.fact import AS_ASSUMED
from standout.facts import Aux
from standout.release.catalogue import Catalogue

__all__ = ["bar", "show_answer"]

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
