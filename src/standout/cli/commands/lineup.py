"""`standout lineup`: which records a few known facts point to, and why."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from standout.cli import options
from standout.cli.attack_options import AttackOptions, attack_options, check_applies, within
from standout.cli.console import console, print_json, print_table, print_title
from standout.cli.options import option
from standout.cli.reading import Source, data_command
from standout.core.errors import ParameterError
from standout.core.progress import progress_bar as progress
from standout.core.text import count, percent, printable, shorten

if TYPE_CHECKING:
    from standout.attack.verdict import Part
    from standout.cli.typed_facts import NamedFact
    from standout.data.release import Release
    from standout.evaluate.lineup import LineupAnswer

ATTACKS = ("likelihood", "paper", "algorithm-1a")
ATTACK_HELP = (
    "likelihood (Bayesian), paper (Algorithm 1B), or algorithm-1a: match everything within --value-error "
    "and --time-error."
)
KNOWS_HELP = (
    "A known fact: an item by title or id, with its value and date if known, each with its own error if that is "
    "known, and ? if it is doubtful: Brazil=4±1@2005-03-01±14? (or +-). For a table: COLUMN=VALUE. Repeat for several."
)
AUX_HELP = (
    "CSV file of known facts with the columns item and, if known, value, time, value_error, time_error (in days), "
    "doubt (from 0 to below 1)."
)
VALUE_ERROR, TIME_ERROR = 1.0, 14.0
"""Errors of known facts if only some of them are given."""
BAR_WIDTH, LONGEST_ID = 16, 200
EIGHTHS = " ▏▎▍▌▋▊▉█"
MISSING = "not in the release"
RATIOS = (
    "× compares with a record that lacks the item, and with values and dates of any entry. The score is the "
    "logarithm of the product, and at least 0."
)
RATIOS_OF_COLUMNS = "× compares with the values of all rows. The score is the logarithm of the product."


@data_command
@option("--knows", "ITEM[=VALUE][@DATE]", KNOWS_HELP, options.ADVERSARY, multiple=True)
@option("--aux aux_path", "FILE", AUX_HELP, options.ADVERSARY)
@option("--length", "N±SHARE", "Number of items in the record: 200±50%, 200±50 or 100-300.", options.ADVERSARY)
@option("--joined", "DATE±DAYS", "First date of the record: 2004-01-01±30 or 2004-01-01/2004-02-28.", options.ADVERSARY)
@attack_options(ATTACKS, "likelihood", ATTACK_HELP)
@option("--wrong", "N", "How many facts may be wrong.", options.ADVERSARY, type=int, show_default="0, or about 1 in 10")
@option("--value-error", "E", "Largest error of known values.", options.ADVERSARY, show_default="1, or roughly right")
@option("--time-error", "DAYS", "Largest error of known dates.", options.ADVERSARY, show_default="14, or roughly right")
@option("--top", "N", "Number of records to show.", type=click.IntRange(1, 1000), default=10)
@option("--allow-unknown", "", "Accept item names that resemble an item but match none, and unknown categories.")
@options.population_option
def lineup(
    data: str,
    source: Source,
    knows: tuple[str, ...],
    aux_path: Path | None,
    length: str | None,
    joined: str | None,
    attack: AttackOptions,
    wrong: int | None,
    value_error: float | None,
    time_error: float | None,
    top: int,
    allow_unknown: bool,
    population: int | None,
    as_json: bool,
) -> None:
    """Show which records a few known facts point to, and why.

    DATA is an index, or any source that `standout index` reads. A fact names an
    item, by its title in any case or by its id, with its value and date if known.

    The attack is Bayesian: it computes the probability that a record is the
    person's, or that the person is not in the data. By default one fact in ten is
    assumed wrong, and errors of 30 days or half of the spread of values are common.
    A fact can state its own errors: ±1 after a value, ±14 (days) after a date, and ?
    at its end if it is as likely wrong as right. The probabilities of the paper's
    Algorithm 1B (--attack paper) are not calibrated.

    DATA can also be a table with one row per person (--table, or recognised). A fact
    is then COLUMN=VALUE, with the error of its column, and a record is a row.

    \b
    Example:
      standout lineup ml-latest-small --knows "Brazil=4@2005-03-01" \\
          --knows "Bent=1" --knows "Matrix, The (1999)" --length 200±50%
      standout lineup ml-latest-small --knows Bent --attack paper --phi 2
      standout lineup survey.csv --table --knows age=34 --knows sex=f
    """
    with progress() as report:
        release = source.read([data], report, check=False)
    from standout.cli.typed_facts import facts_about_columns, facts_about_items, parse_joined, parse_length
    from standout.data.manifest import checked_meanwhile
    from standout.evaluate.lineup import lineup as answer_facts
    from standout.know.adversary import Adversary
    from standout.know.facts import Aux

    of_histories = {"--aux": aux_path, "--length": length, "--joined": joined, "--value-error": value_error}
    of_histories |= {"--time-error": time_error, "--attack": attack.attack != "likelihood"}
    for name, value in of_histories.items():
        if value and release.columns:
            raise ParameterError(f"{name} is for histories, and the data is a table: leave it out")
    if population is not None and not release.columns:
        raise ParameterError("--population is for tables (--table), and the data is a history: leave it out")
    of_attacks = {"--wrong": wrong, "--value-error": value_error, "--time-error": time_error}
    for name, error in of_attacks.items():
        if error is not None:
            check_applies(attack.attack, name, ("likelihood",) if name == "--wrong" else ("likelihood", "algorithm-1a"))
    errors = VALUE_ERROR if value_error is None else value_error, TIME_ERROR if time_error is None else time_error
    lengths = None if length is None else parse_length(length)
    first = None if joined is None else parse_joined(joined)
    with checked_meanwhile(release):
        if release.columns:
            facts = facts_about_columns(release, knows)
        else:
            facts = facts_about_items(release, knows, aux_path, allow_unknown)
        aux = Aux([fact for _, _, fact in facts], lengths, first)
        adversary = None
        if any(error is not None for error in of_attacks.values()):
            of_entries: dict[str, Any] = {} if release.columns else {"value_error": errors[0], "time_error": errors[1]}
            adversary = Adversary(len(facts), wrong or 0, **of_entries)
        built = attack.built(attack.attack, within(release, *errors), adversary)
        answer = answer_facts(release, aux, built, top=top, population=population, **attack.claims)
    if as_json:
        print_json(_to_dict(answer, facts, attack.attack), release)
    else:
        _show(answer, facts)


def _to_dict(answer: "LineupAnswer", facts: "tuple[NamedFact, ...]", attack: str) -> dict[str, object]:
    release, verdict, threshold = answer.release, answer.verdict, answer.threshold
    length, joined = answer.aux.length, answer.aux.joined

    def fact_dict(named: "NamedFact") -> dict[str, object]:
        name, code, fact = named
        return {
            "name": name,
            "item": None if code is None else fact.item,
            "title": None if code is None or release.titles is None else release.titles[code] or None,
            "value": fact.value,
            "time": None if fact.time is None else fact.time.isoformat(),
            **fact.errors._asdict(),
            "records": None if release.columns else 0 if code is None else int(release.support[code]),
        }

    def part_dict(name: str, part: "Part") -> dict[str, object]:
        parts = {each: getattr(part, each) for each in ("item", "has", "similarity", "weight")}
        by = {each: getattr(part, each) for each in ("by_item", "by_value", "by_time")}
        return {"name": name, **parts, "part": part.score, **by}

    return {
        "attack": attack,
        "assumes": answer.assumption or None,
        "facts": list(map(fact_dict, facts)),
        "candidates": verdict.candidates,
        "lineup": [candidate._asdict() for candidate in answer.lineup],
        "outside": answer.lineup.outside,
        "nobody": answer.nobody,
        "eccentricity": verdict.eccentricity,
        "sigma": verdict.sigma,
        "mean": verdict.mean,
        "phi": None if threshold.by_posterior else threshold.value,
        "posterior": threshold.value if threshold.by_posterior else None,
        "match": answer.match.record if answer.match else None,
        "ties": verdict.ties,
        "bits": {"prior": verdict.bits, "left": answer.bits_left},
        "explain": [part_dict(fact.name, part) for fact, part in zip(facts, answer.parts, strict=False)],
        "unknown": [name for name, code, _ in facts if code is None],
        "length": None if length is None else list(length),
        "joined": None if joined is None else [day.isoformat() for day in joined],
    }


def bar(share: float, width: int = BAR_WIDTH) -> str:
    """Return a bar for a share, to an eighth of a character; any share above 0 is visible.

    >>> bar(1, 4), bar(0.4, 4), bar(0.001, 4), bar(0, 4)
    ('████', '█▋', '▏', '')
    """
    eighths = max(round(share * width * 8), 1) if share > 0 else 0
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def _show(answer: "LineupAnswer", facts: "tuple[NamedFact, ...]") -> None:
    """Print the facts as they were understood, the lineup, the conclusion, and what each fact adds to it."""
    from standout.data.search import Catalogue

    catalogue, say = None if answer.release.columns else Catalogue.of(answer.release), console().print
    names = [printable(name) if code is None or catalogue is None else catalogue.label(code) for name, code, _ in facts]
    print_title("Known facts")
    _show_facts(answer.release, names, facts)
    for note in _notes(answer, facts):
        say(note)
    if answer.best is not None:
        print_table(("", "<record", ">probability", ">score"), _candidates(answer), "\nLineup")
    say("\n" + answer.conclude(_label(answer, answer.best or "")), style="bold")
    if answer.best is not None:
        left, candidates = answer.bits_left, answer.verdict.candidates
        missing = f"{left:.1f}" if left >= 0.05 or left == 0 else "Less than 0.1"
        say(
            f"{missing} of {answer.verdict.bits:.1f} bits (log2 {candidates:,}) are still missing "
            f"to identify the best guess{'' if answer.nobody is None else ', if the person is in the data'}."
        )
        _show_parts(answer, names)


def _show_facts(release: "Release", names: list[str], facts: "tuple[NamedFact, ...]") -> None:
    """Print how the facts were understood; columns without content are omitted."""

    def about(text: str, error: float | None, unit: str) -> str:
        return text if error is None or not text else f"{text}\xa0±\xa0{error:.15g}{unit}"

    rows = [("item", ">value", ">date", ">doubt", ">records that have it")]
    for name, (_, code, fact) in zip(names, facts, strict=True):
        value = "" if fact.value is None else fact.value
        value = printable(value) if isinstance(value, str) else f"{value:.15g}"
        time = about("" if fact.time is None else str(fact.time), fact.time_error, "\xa0days")
        records = "" if release.columns else MISSING if code is None else f"{release.support[code]:,}"
        doubt = "" if fact.doubt is None else percent(fact.doubt)
        rows.append((name, about(value, fact.value_error, ""), time, doubt, records))
    heads, *cells = zip(*(column for column in zip(*rows, strict=True) if any(column[1:])), strict=True)
    print_table(heads, cells)


def _show_parts(answer: "LineupAnswer", names: list[str]) -> None:
    """Print what each fact adds to the score of the best guess; for likelihood as two ratios of a product."""
    from standout.attack.verdict import MatchingVerdict

    is_matching, by_posterior = isinstance(answer.verdict, MatchingVerdict), answer.nobody is not None
    title = "How well each fact fits" if is_matching else "What each fact adds to the score of"
    title = "How much likelier each fact is about" if by_posterior else title
    tied = ", the first of the tied records" if answer.verdict.ties > 1 else ""
    largest, rows = max(part.score for part in answer.parts), []
    for name, part in zip(names, answer.parts, strict=True):
        drawn = bar(part.score / largest if largest > 0 else 0)
        note = MISSING if part.item is None else "does not fit" if part.has else "does not have it"
        ratios = (_ratio(part.weight or 0.0), _ratio(part.similarity)) if part.has else ("", "")
        rows.append((name, *(ratios if by_posterior else ()), _number(part.score), drawn or note))
    total = ("", "") if by_posterior else ()
    rows.append(("lowest" if is_matching else "total", *total, _number(answer.lineup[0].score), ""))
    score = (">item", ">value, date", ">score") if by_posterior else (">similarity",) if is_matching else (">adds",)
    head = "fact" if by_posterior else "item"
    print_table((head, *score, "<"), rows, f"\n{title} {_label(answer, answer.best or '')}{tied}")
    if by_posterior:
        console().print(RATIOS_OF_COLUMNS if answer.release.columns else RATIOS)


def _notes(answer: "LineupAnswer", facts: "tuple[NamedFact, ...]") -> Iterator[str]:
    """Yield which facts are ignored, how many records fit, and what is assumed."""
    from standout.know.facts import AS_ASSUMED

    release, aux = answer.release, answer.aux
    unknown = sum(code is None for _, code, _ in facts)
    if 0 < unknown < len(facts):
        what = "names an item" if unknown == 1 else "name items"
        yield f"{unknown} of {len(facts)} facts {what} that the release does not have."
    for part, is_present in (("value", release.levels is not None), ("time", release.span > 0)):
        if not (is_present or release.columns) and any(getattr(fact, part) is not None for fact in aux):
            yield f"The release has no {part}s: known {part}s are ignored."
    if answer.nobody is None and any(fact.errors != AS_ASSUMED for fact in aux):
        yield "This attack ignores the errors and doubts of single facts; likelihood uses them."
    filters = []
    if aux.length:
        low, high = aux.length
        filters.append(f"have {low:,} to {high:,} items" if low < high else f"have {count(low, 'item', 'items')}")
    if aux.joined:
        first, last = aux.joined
        filters.append(f"begin from {first} to {last}" if first < last else f"begin on {first}")
    if filters:
        remaining = f"{answer.verdict.candidates:,} of {count(release.n_records, 'record', 'records')}"
        yield f"Candidates {' and '.join(filters)}: {remaining}."
    if answer.assumption:
        yield answer.assumption


def _candidates(answer: "LineupAnswer") -> Iterator[tuple[str, str, str, str]]:
    """Yield rank, record, probability and score of each candidate, then those of everybody else and of nobody."""
    from standout.evaluate.lineup import probability_text

    rank, previous = 0, -1.0
    for position, (record, score, probability) in enumerate(answer.lineup, start=1):
        rank, previous = (rank if score == previous else position), score
        label = _label(answer, record).removeprefix("record ")
        yield str(rank), label, probability_text(probability), _number(score)
    others, nobody = answer.verdict.candidates - len(answer.lineup), answer.nobody or 0.0
    if others:
        outside = probability_text(max(answer.lineup.outside - nobody, 0.0))
        yield "", f"somebody else ({count(others, 'record', 'records')})", outside, ""
    if answer.nobody is not None:
        yield "", "nobody in the data", probability_text(nobody), ""


def _label(answer: "LineupAnswer", record: str) -> str:
    """A record by its id as it fits on a screen, where an id of megabytes takes minutes, or a row by its number."""
    if answer.release.has_ids or not record:
        return f"record {printable(shorten(record, LONGEST_ID))}"
    from standout.data.labels import position_of_id

    return f"row {position_of_id(answer.release.records, record) + 1:,}"


def _ratio(ratio: float) -> str:
    return f"×\xa0{ratio:,.0f}" if ratio >= 100 else f"×\xa0{ratio:.3g}"


def _number(score: float) -> str:
    return f"{score:.3f}" if abs(score) >= 0.001 or score == 0 else f"{score:.1e}"
