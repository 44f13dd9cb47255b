"""Who is exposed: with how few facts, in which groups, with which sensitive items; and the risk of each person."""

from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl

from standout.attack.any_attack import AnyAttack, fit_attack
from standout.attack.likelihood import Likelihood
from standout.attack.release_counts import first_times
from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError, SourceError, whole_number
from standout.core.json_files import read_text
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed, generator, key
from standout.core.text import printable
from standout.data.entries import unpack_item
from standout.data.release import Release
from standout.data.search import Catalogue
from standout.evaluate.estimates import rate, rate_by_target
from standout.evaluate.simulate import success_rates
from standout.evaluate.simulation import SimulationCell
from standout.evaluate.targets import Population
from standout.findings.sections import FactsNeeded, Group, SensitiveCategory
from standout.know.adversary import Adversary
from standout.know.facts import KnownFacts
from standout.report.page import private_table, table_form

NEVER = np.iinfo(np.int64).max
"""In place of a number of facts: not identified with any number that was tried."""
SMALLEST_GROUP = 0.04
"""A group with less than this share of the targets is merged with its neighbour."""


def smallest_sufficient(correct: Floats, sizes: Sequence[int]) -> Ints:
    """Smallest number of facts at which the guess is certainly right, there and at all larger numbers.

    `correct` is by target and number of facts. A guess among several tied records is not certainly right.

    >>> correct = np.array([[0.0, 1.0, 1.0], [1.0, 0.5, 1.0]])
    >>> smallest_sufficient(correct, [1, 2, 4]).tolist()
    [2, 4]
    """
    stays = np.logical_and.accumulate((correct == 1.0)[:, ::-1], axis=1)[:, ::-1]
    first = np.argmax(stays, axis=1)
    return np.where(stays.any(axis=1), np.array(sizes, np.int64)[first], NEVER)


def facts_needed(cells: Sequence[SimulationCell]) -> tuple[FactsNeeded, ...]:
    """Share of targets who are identified with at most this many facts, for each number in the curve."""
    if not cells:
        return ()
    sizes = [cell.facts for cell in cells]
    smallest = smallest_sufficient(np.stack([cell.outcomes.identified[:, 0] for cell in cells], axis=1), sizes)
    return tuple(
        FactsNeeded(facts=size, share=rate(int(np.count_nonzero(smallest <= size)), len(smallest))) for size in sizes
    )


def by_length(release: Release, cell: SimulationCell) -> tuple[Group, ...]:
    """Share of identified targets by number of entries of the record."""
    lengths, longest = release.lengths, int(release.lengths.max())
    shortest = int(lengths[cell.targets].min(initial=longest))
    starts = [shortest, *(start for start in _round_numbers(longest) if start > shortest)]
    return _groups(lengths[cell.targets], cell.outcomes.identified, starts, longest, "{} entries", lengths)


def by_popularity(release: Release, cell: SimulationCell, known: KnownFacts) -> tuple[Group, ...]:
    """Share of identified targets by popularity rank of the rarest known item; 0 if none of its items is known."""
    named, target = known.item >= 0, np.repeat(np.arange(len(known)), np.diff(known.first))
    rank = np.zeros(len(known), np.int64)
    np.maximum.at(rank, target[named], release.rank[known.item[named]])
    starts = [1, *(step + 1 for step in _round_numbers(release.n_items)[1:])]
    groups = _groups(rank, cell.outcomes.identified, starts, release.n_items, "rank {}")
    return tuple(replace(each, label=f"{each.label} (most popular)") if each.low == 1 else each for each in groups)


def by_first_date(release: Release, cell: SimulationCell) -> tuple[Group, ...]:
    """Share of identified targets by date of the record's first entry. Undated records do not count.

    Groups begin with years; in a short release, with quarters or months.
    """
    if release.time_range is None or release.clock is None:
        return ()
    begin, end = (12 * moment.year + moment.month - 1 for moment in release.time_range)
    step = 12 if end - begin > 29 else 3 if end - begin > 8 else 1
    months = range(begin - begin % step, end + 1, step)
    days = [date(month // 12, month % 12 + 1, 1) for month in months]
    starts = [max(0, release.clock.encode(day)) for day in days]
    first = first_times(release).astype(np.int64)
    dated, groups = first[cell.targets] >= 0, []
    numbers, identified = first[cell.targets][dated], cell.outcomes.identified[dated]
    for group in _groups(numbers, identified, starts, NEVER - 1, "", first):
        low, last = int(group.low), int(group.high)
        since, period = days[starts.index(low)], starts.index(last + 1) - 1 if last + 1 in starts else -1
        year, month = divmod(months[period] + step - 1, 12)
        until = date(year, month + 1, monthrange(year, month + 1)[1])
        is_years = (since.month, until.month) == (1, 12)
        names = [f"{day:%Y}" if is_years else f"{day:%Y-%m}" for day in (since, until)]
        label = ("–" if is_years else " to ").join(dict.fromkeys(names))
        groups.append(replace(group, label=label, low=since.isoformat(), high=until.isoformat()))
    return tuple(groups)


def _groups(
    numbers: Ints, identified: Floats, starts: Sequence[int], end: int, label: str, everybody: Ints | None = None
) -> tuple[Group, ...]:
    """Groups of targets by first and last number, with their rates; a small group joins its neighbour."""
    groups, smallest, low = [], max(1, round(SMALLEST_GROUP * len(numbers))), starts[0]
    for high in [*starts[1:], NEVER] if len(numbers) else ():
        inside = (numbers >= low) & (numbers < high)
        if high == NEVER or min(np.count_nonzero(inside), np.count_nonzero(numbers >= high)) >= smallest:
            last = end if high == NEVER else high - 1
            group = Group(
                label=label.format(f"{low:,}" if low == last else f"{low:,}–{last:,}"),
                low=low,
                high=last,
                people=None if everybody is None else int(((everybody >= low) & (everybody <= last)).sum()),
                identified=rate_by_target(identified[inside]),
            )
            groups.append(group)
            low = high
    return tuple(groups)


def _round_numbers(most: int) -> list[int]:
    """1, 2, 5, 10, 20, 50, … up to a number."""
    return [step * 10**power for power in range(len(str(most))) for step in (1, 2, 5) if step * 10**power <= most]


# Sensitive items: how many people would have one revealed that the adversary did not know.
#
# Each line of the file names an item by its id or title, optionally followed by a tab and a category. Empty
# lines and lines that begin with # are skipped.


ANY = "any"
"""The category of all items together; a line without a category belongs to no other."""
LONGEST_CATEGORY = 80
MOST_LINES = 1_000_000


@dataclass(frozen=True, slots=True)
class SensitiveList:
    """Sensitive items of a file: lines that name an item, how many are in the release, and codes by category."""

    file: str
    lines: int
    matched: int
    categories: dict[str, Ints]

    @property
    def limit(self) -> str:
        """Sentence about lines that name no item of the release; empty if there are none."""
        missing = self.lines - self.matched
        return f"{missing:,} of {self.lines:,} lines of {self.file} name no item of the release." if missing else ""


def read_sensitive_list(path: str | Path, release: Release) -> SensitiveList:
    """The sensitive items in a file. A title that several items share means all of them."""
    texts = [line for line in read_text(Path(path)).split("\n") if line.strip() and not line.startswith("#")]
    if len(texts) > MOST_LINES:
        raise SourceError(f"{path} has more than {MOST_LINES:,} lines: is it a list of items?")
    catalogue, lines, matched = Catalogue(release), len(texts), 0
    categories: dict[str, set[int]] = {}
    for text in texts:
        name, _, label = text.partition("\t")
        codes = list[int]()
        for spelling in (name, name.strip()):
            code = release.items.find(spelling)
            titled = [] if release.titles is None else catalogue.items_with_title(spelling)
            codes = codes or (titled if code is None else [code])
        matched += bool(codes)
        category_name = printable(label.strip())[:LONGEST_CATEGORY]
        for category in {category_name or ANY, ANY}:
            categories.setdefault(category, set()).update(codes)
    if not lines:
        raise ParameterError(f"{Path(path).name} names no item: write one item per line, by id or title")
    order = [*sorted({*categories} - {ANY}), ANY]
    codes_of = {category: np.array(sorted(categories[category]), np.int64) for category in order}
    return SensitiveList(printable(Path(path).name), lines, matched, codes_of)


def revealed_categories(
    people: Population, sensitive: SensitiveList, cell: SimulationCell, known: KnownFacts, eligible: Bools
) -> tuple[SensitiveCategory, ...]:
    """For each category, how many people have such an item and how many would have one revealed.

    `eligible` says who has enough entries to be a target. Item codes and `known` are those of the original.
    """
    original, correct, categories = people.original, cell.outcomes.identified.mean(axis=1), []
    side = original.by_record
    for name, codes in sensitive.categories.items():
        having, is_sensitive = np.zeros(original.n_records, np.bool_), np.zeros(original.n_items, np.bool_)
        for code in codes.tolist():
            having[unpack_item(original.by_item, code, original.n_levels, original.span)[0]] = True
        is_sensitive[codes] = True
        has_new = []  # whether the record that represents a target shows a sensitive item of theirs that was not known
        for q, row in enumerate(cell.targets.tolist()):
            items = side.item[int(side.start[row]) : int(side.start[row + 1])].astype(np.int64)
            own = items[is_sensitive[items]]
            new = own[~np.isin(own, known.item[known.first[q] : known.first[q + 1]])]
            has_new.append(bool(people.items_in_record(row, new).any()))
        has = having[cell.targets]
        revealed = rate(min(float(correct[has & np.array(has_new)].sum()), int(has.sum())), int(has.sum()))
        total, targets = int(having.sum()), int((having & eligible).sum())
        people_revealed = round(revealed.value * targets)
        categories.append(
            SensitiveCategory(
                category=name,
                items=len(codes),
                people_with=total,
                revealed=revealed,
                people_revealed=people_revealed,
                explanation=(
                    f"{total:,} people have such an item, and {targets:,} of them have enough entries to be targets. "
                    f"About {people_revealed:,} of these would have one revealed."
                ),
            )
        )
    return tuple(categories)


# The risk table: how likely each person is to be identified, and with how few facts.


RISK_BATCH = 256
"""Number of records that are attacked at a time; it changes no result."""
SIZES = (1, 2, 3, 4, 6, 8, 12, 16)


def risk_table(
    release: Release,
    adversary: Adversary,
    *,
    records: str | int = "all",
    draws: int = 8,
    facts: Sequence[int] | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
    path: str | Path | None = None,
    attack: AnyAttack | None = None,
) -> pl.DataFrame:
    """Risk of each person: one row for each record, in the order of the release.

    `facts_needed` is the smallest number of facts at which the best guess is right in more than half of the
    draws, at this and every larger number; it is empty if there is none. A record with too few entries or
    cells has only its length, the number of these. If the release was sanitized, the rows are the records of
    the original, and a person missing from the release has probability 0.
    """
    file = None if path is None else Path(path)
    if file is not None:
        table_form(file)
    draws, seed = whole_number("draws", draws, 1), check_seed(seed)
    fitted = fit_attack(Likelihood() if attack is None else attack, adversary)
    tried = SIZES if facts is None else [whole_number("facts", size, 1) for size in facts]
    if facts is not None and max(tried, default=0) > adversary.knows:
        raise ParameterError(
            f"facts must be from 1 to {adversary.knows}, the number that the adversary knows, got {max(tried)}"
        )
    sizes = sorted({*(size for size in tried if size < adversary.knows), adversary.knows})
    people = Population.of(release)
    original = people.original
    rows = np.arange(original.n_records)
    if isinstance(records, str) and records != "all":
        raise ParameterError(f'records must be a whole number or "all", got {records!r}')
    if records != "all":
        count = whole_number("records", records, 1)
        rows = np.sort(generator(seed, "risk table").permutation(original.n_records)[:count])
    eligible = adversary.eligible(original, rows)
    lengths = np.sum([original.lengths, *(~column.is_missing for column in original.columns)], axis=0)[rows]
    needed, risk = np.full(len(rows), NEVER), np.full((len(rows), 3), np.nan)
    for low in range(0, len(rows), RISK_BATCH):
        at = low + np.flatnonzero(eligible[low : low + RISK_BATCH])
        correct = np.zeros((len(at), draws, len(sizes)))  # by person, draw and number of facts
        for draw in range(draws if len(at) else 0):
            known = people.known_facts(adversary, rows[at], int(key(seed, "risk", draw) >> np.uint64(1)))
            correct[:, draw] = success_rates(release, known, rows[at], sizes, threads, fitted)
        of_draws = smallest_sufficient(correct.reshape(len(at) * draws, -1), sizes).reshape(len(at), draws)
        needed[at] = np.sort(of_draws, axis=1)[:, draws // 2]
        is_present = people.record_of(rows[at]) >= 0
        for person, hits, present in zip(at, correct[:, :, -1].sum(axis=1).tolist(), is_present, strict=True):
            found = rate(min(hits, draws), draws)
            risk[person] = found.value, found.low, found.high if present else 0.0
        progress("risk table", min(low + RISK_BATCH, len(rows)), len(rows))
    table = pl.DataFrame(
        {
            "record": [original.records[row] for row in rows.tolist()],
            "length": lengths.astype(np.int64),
            "facts_needed": pl.Series(needed).replace(NEVER, None),
            **{name: pl.Series(risk[:, at]).fill_nan(None) for at, name in enumerate(("probability", "low", "high"))},
        }
    )
    if file is not None:
        private_table(table, file)
    return table
