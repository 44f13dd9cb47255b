"""The ladder: the named adversaries of an audit, from a colleague to the worst case.

`resolve_ladder` finds the ladder that a caller means, also in a TOML file. `fit_ladder` adapts it to what a release
contains: columns, entries or both. It resolves errors that are shares of the value spread or of the time span.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from standout.auditing.sentences import describe_precision, facts_text, time_text
from standout.core.arrays import Ints, codes_in_use
from standout.core.errors import ParameterError, did_you_mean, not_one_of
from standout.core.json_files import read_toml
from standout.core.text import printable
from standout.data.build import count_codes
from standout.data.labels import SECONDS, TimeUnit
from standout.data.release import Release
from standout.know.adversary import Adversary, outside_top
from standout.know.observation import Choice, possible_attributes
from standout.know.similarity import ROUNDING
from standout.measure.equivalence import known_columns

# Errors of an adversary relative to a release: shares of its value spread and of its time span.
#
# "± 1" is a fifth of five stars, but nothing on amounts in cents; "± 14 days" says nothing about a trace of two
# weeks. A relative error is resolved to a concrete number on each release, and it means the same on the same
# data in another unit.


DAY = SECONDS["day"]
ERRORS = {"value_error": "value", "time_error": "date", "length_error": "length", "joined_error": "first-date"}
SAME = 1e-9
"""Distances whose relative difference is smaller are equal."""


@dataclass(frozen=True, slots=True)
class RelativeError:
    """An error as a share of the value spread or of the time span, at most so many units of the values, or days."""

    share: float
    at_most: float = math.inf


class DataSpread:
    """How far the values and the times (in days) of a release are spread.

    Both are inter-decile ranges, the distance between the lower and the upper tenth of the entries, because a
    single absurd value or date would dominate the full range. 0 without numbers, or without times.
    """

    def __init__(self, release: Release) -> None:
        self.clock, self.values, self.days = release.clock, 0.0, 0.0
        self.levels: Any = None
        value, time, levels = release.by_record.value, release.by_record.time, release.levels
        if value is not None and isinstance(levels, np.ndarray):
            deciles = _deciles(value, release.n_levels + 1, release.n_levels)
            if deciles is not None:
                low, self.median, high = deciles
                self.levels, spread = levels, float(levels[high]) - float(levels[low])
                self.values = spread if math.isfinite(spread) else 0.0
        if release.clock is not None and time is not None:
            codes, place = codes_in_use(time, release.span + 1)
            # the code after the last date means no date
            deciles = _deciles(place, len(codes), int(np.searchsorted(codes, release.span)))
            if deciles is not None:
                self.days = float(codes[deciles[2]] - codes[deciles[0]]) * SECONDS[release.clock.unit] / DAY

    def error(self, name: str, relative: RelativeError) -> float:
        """The error of values or of times in numbers.

        Of values, the nearest distance between the median and another level: on evenly spaced levels a multiple of
        their step, and 0 (exact) if the next level is too far away. Of times, days, rounded down to whole days, hours
        or minutes, and to the unit of the release.
        """
        if name == "value_error":
            raw = min(relative.share * self.values, relative.at_most)
            if self.levels is None or not raw:
                return 0.0
            distances = np.unique(np.abs(self.levels - self.levels[self.median]))
            apart = np.abs(distances - raw)
            nearest = float(distances[np.flatnonzero(apart <= apart.min() + SAME * raw)[0]])
            # 1.0 - 0.8 is 0.19999999999999996
            rounded = float(f"{nearest:.14g}")
            return rounded if abs(rounded - nearest) < ROUNDING / 2 else nearest
        if self.clock is None:
            return 0.0
        seconds = min(relative.share * self.days, relative.at_most) * DAY + ROUNDING
        unit = next((unit for unit in SECONDS.values() if unit <= seconds), min(SECONDS.values()))
        unit = max(unit, SECONDS[self.clock.unit])
        return seconds // unit * unit / DAY


def _deciles(codes: NDArray[np.integer[Any]], size: int, missing: int) -> Ints | None:
    """Codes at or below which 1, 5 and 9 tenths of all entries lie; those from `missing` on do not count."""
    below = np.cumsum(count_codes(codes, size)[:missing])
    if not len(below) or not below[-1]:
        return None
    return np.searchsorted(below, [-(-tenths * int(below[-1]) // 10) for tenths in (1, 5, 9)])


FEW = 0.05
"""An adversary knows fewer facts if less than this share of the records has enough entries, or cells."""
LONGEST_NAME = 80
PRECISION = "{precision}"
"""Stands in a title for the errors on the release: values ± 1, dates ± 14 days."""
QUASI_IDENTIFIERS = "quasi-identifiers"
"""In place of columns: those that others may know."""
Data: TypeAlias = Literal["any", "entries", "columns", "both"]


@dataclass(frozen=True, slots=True)
class Rung:
    """One adversary of the ladder.

    Attributes
    ----------
    name
        Name by which it is chosen.
    title
        Title in the report. "{precision}" is replaced by the errors of values and dates on the release.
    adversary
        What is known. Errors in `relative` replace its errors. The column "quasi-identifiers" means all of these.
    gate
        Whether the adversary counts for the threshold.
    note
        How the adversary was adapted to the release.
    relative
        Errors that are shares of the value spread or of the time span, by name. Empty once they are resolved.
    data
        For which releases it is: "entries" (histories), "columns", "both" (columns and entries), or "any".
    """

    name: str
    title: str
    adversary: Adversary
    gate: bool = True
    note: str = ""
    relative: Mapping[str, RelativeError] = field(default_factory=dict)
    data: Data = "any"


class Ladder(NamedTuple):
    """Adversaries in order, the headline, where the ladder comes from, and sentences about what was skipped."""

    rungs: tuple[Rung, ...]
    headline: str
    source: str
    limits: tuple[str, ...] = ()


LadderSource: TypeAlias = str | Path | Mapping[str, Adversary | Rung] | Sequence[Rung] | None
"""Path of a TOML file, adversaries by name, rungs, or None for the default ladder."""

ABOUT_ONE_STAR = RelativeError(0.33)
"""A third of the spread: one star of five in the Netflix Prize data, whose inter-decile range is 2 to 5."""


def _entries_rung(name: str, title: str, adversary: Adversary, **relative: RelativeError) -> Rung:
    return Rung(name, f"{title}: {PRECISION}", adversary, relative=relative, data="entries")


LADDER = (
    _entries_rung(
        "colleague",
        "A colleague",
        Adversary(knows=4, wrong=1, items="popular"),
        value_error=ABOUT_ONE_STAR,
        time_error=RelativeError(0.05, at_most=30),
    ),
    _entries_rung(
        "acquaintance",
        "An acquaintance",
        Adversary(knows=8, wrong=2),
        value_error=ABOUT_ONE_STAR,
        time_error=RelativeError(0.02, at_most=14),
    ),
    _entries_rung("profile", "Public profile", Adversary(knows=8), time_error=RelativeError(0.005, at_most=3)),
    _entries_rung(
        "undated", "An acquaintance", Adversary(knows=8, wrong=2, time_error=None), value_error=ABOUT_ONE_STAR
    ),
    Rung("worst", f"The worst case: {PRECISION}", Adversary(knows=8, items="rarest"), gate=False, data="entries"),
    Rung("register", "The owner of a register", Adversary(columns=(QUASI_IDENTIFIERS,), error=0.0), data="columns"),
    Rung("stranger", "A stranger", Adversary(knows=3), data="columns"),
    Rung("acquaintance", "An acquaintance", Adversary(knows=6, wrong=1), data="columns"),
    Rung("colleague", "A colleague", Adversary(knows=10, wrong=2), data="columns"),
    Rung("worst", "The worst case", Adversary(knows=6, items="rarest", error=0.0), gate=False, data="columns"),
    Rung("friend", "A friend", Adversary(knows=6, wrong=1, entries=Adversary(knows=4, time_error=14)), data="both"),
)
"""The default ladder. The worst case is a bound rather than a likely adversary: it does not count for the
threshold."""
HEADLINE = "acquaintance"
WRONG_LADDER = "ladder must be the path of a TOML file or a mapping from names to adversaries"


def ladder(release: Release, source: LadderSource = None) -> tuple[Rung, ...]:
    """Return the adversaries of an audit, adapted to a release.

    Parameters
    ----------
    release : Release
        The data set that would be published.
    source : str, Path or mapping, optional
        A TOML file (docs/ladder.toml) or adversaries by name. Default: the default ladder.

    Returns
    -------
    tuple of Rung
        The adversaries that apply, with their errors in numbers.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> [rung.name for rung in so.ladder(release)]
    ['colleague', 'acquaintance', 'profile', 'undated', 'worst']
    >>> str(so.ladder(release)[1].adversary)
    '8 facts, 2 wrong, values ± 1, dates ± 14 days'
    """
    return fit_ladder(resolve_ladder(source), release).rungs


def resolve_ladder(ladder: LadderSource, headline: str | None = None) -> Ladder:
    """The ladder that the caller means: the default for None, a TOML file, adversaries by name, or rungs."""
    if ladder is None:
        resolved = Ladder(LADDER, HEADLINE, "default")
    elif isinstance(ladder, (str, Path)):
        resolved = read_ladder(ladder)
    elif isinstance(ladder, (Mapping, list, tuple)):
        named: Any = ladder.items() if isinstance(ladder, Mapping) else [("", rung) for rung in ladder]
        rungs = [Rung(name, name, rung) if name and isinstance(rung, Adversary) else rung for name, rung in named]
        if not all(isinstance(rung, Rung) and isinstance(rung.name, str) for rung in rungs):
            raise ParameterError(WRONG_LADDER)
        resolved = _checked_ladder(rungs, None, "own")
    else:
        raise ParameterError(f"{WRONG_LADDER}, got {type(ladder).__name__}")
    return resolved if headline is None else resolved._replace(headline=_rung_name(resolved.rungs, headline))


def headline_adversary(release: Release, ladder: LadderSource = None, headline: str | None = None) -> Adversary:
    """The headline adversary of a ladder, adapted to the release."""
    fitted = fit_ladder(resolve_ladder(ladder, headline), release)
    return next(rung.adversary for rung in fitted.rungs if rung.name == fitted.headline)


def _checked_ladder(rungs: Sequence[Rung], headline: str | None, source: str) -> Ladder:
    """The ladder of these rungs, if their names and titles are valid."""
    if not rungs:
        raise ParameterError("a ladder needs at least one adversary")
    for rung in rungs:
        for text in (rung.name, rung.title):
            if not text.strip() or len(text) > LONGEST_NAME or not text.isprintable():
                raise ParameterError(
                    f"the name and title of an adversary must be one line of 1 to {LONGEST_NAME} characters"
                )
    names = [rung.name for rung in rungs]
    for kinds in (("any", "entries"), ("any", "columns", "both")):
        together = [rung.name for rung in rungs if rung.data in kinds]
        if len({*together}) < len(together):
            raise ParameterError("two adversaries have the same name")
    default = HEADLINE if HEADLINE in names else next((rung.name for rung in rungs if rung.gate), names[0])
    return Ladder(tuple(rungs), default if headline is None else _rung_name(rungs, headline), source)


def _rung_name(rungs: Sequence[Rung], name: object) -> str:
    names = list(dict.fromkeys(rung.name for rung in rungs))
    if name not in names:
        raise ParameterError(not_one_of("headline", name, names))
    return str(name)


def fit_ladder(ladder: Ladder, release: Release, quasi_identifiers: Sequence[str] | None = None) -> Ladder:
    """The adversaries adapted to this release. Those that do not apply are named in `limits`.

    `quasi_identifiers` are the columns that others may know; default: by their roles.
    """
    kinds = {"any", "columns", *(["both"] if release.n_items else [])} if release.columns else {"any", "entries"}
    spread = DataSpread(release)
    fitted, limits, replaced_by = list[Rung](), list[str](), dict[str, str]()
    for rung in ladder.rungs:
        if rung.data not in kinds:
            continue
        candidate = fit_rung(rung, release, spread, quasi_identifiers)
        if isinstance(candidate, str):
            limits.append(f"The adversary “{rung.name}” was skipped: {candidate}.")
            continue
        same = next((other.name for other in fitted if other.adversary == candidate.adversary), None)
        if same is None:
            fitted.append(candidate)
            continue
        replaced_by[rung.name] = same
        if rung.gate:  # the adversary that stays counts for the threshold if one of them does
            fitted = [replace(other, gate=True) if other.name == same else other for other in fitted]
        limits.append(f"The adversary “{rung.name}” was skipped because it equals “{same}” on this data.")
    if not fitted:
        raise ParameterError(f"no adversary of the ladder applies to this release: {' '.join(limits)}")
    headline = replaced_by.get(ladder.headline, ladder.headline)
    if headline not in [rung.name for rung in fitted]:
        headline = next((rung.name for rung in fitted if rung.gate), fitted[0].name)
        limits.append(
            f"The headline adversary “{ladder.headline}” does not apply to this data. “{headline}” replaces it."
        )
    return Ladder(tuple(fitted), headline, ladder.source, tuple(limits))


def fit_rung(
    rung: Rung, release: Release, spread: DataSpread | None = None, quasi_identifiers: Sequence[str] | None = None
) -> Rung | str:
    """The adversary with errors in numbers, without knowledge that the release cannot match; or why it cannot be."""
    adversary, notes = rung.adversary, list[str]()
    if release.columns:
        if adversary.columns == (QUASI_IDENTIFIERS,):
            known = quasi_identifiers or known_columns(release, None, None).quasi_identifiers
            adversary = replace(adversary, columns=tuple(known), knows=len(known))
        for name in (*(adversary.columns or ()), *adversary.errors):
            if name not in release.attributes:
                release.column_position(name)
        if adversary.entries is not None:
            if not release.n_items:
                return "the release has no entries"
            entries = adversary.entries if release.n_levels else replace(adversary.entries, value_error=None)
            adversary = replace(adversary, entries=entries if release.span else replace(entries, time_error=None))
        adversary.eligible(release, np.arange(1))  # an error if its choice of items is not for columns
        attributes = len(possible_attributes(adversary, release))
        if adversary.knows > attributes:
            of = "the release has" if adversary.columns is None else "it may know"
            adversary = with_facts(adversary, attributes)
            notes.append(f"{of} {attributes} attributes, so the adversary knows {facts_text(adversary)}")
    else:
        adversary, notes = _with_errors(rung, release, spread or DataSpread(release))
        assert isinstance(adversary.items, Choice)
        if not release.span and adversary.items.name in ("recent", "burst"):
            return "the release has no dates"
        if adversary.columns is not None or adversary.entries is not None:
            return "the release has no columns"
        if adversary.wrong and adversary.wrong_facts == "values":
            try:
                adversary.eligible(release, [0])
            except ParameterError:  # without values and dates, only the item of a fact can be wrong
                adversary = replace(adversary, wrong_facts="items")
    fewer = with_enough_facts(adversary, release)
    if not eligible_share(fewer, release):
        return "no record has enough entries or cells that the adversary could know"
    if fewer.wrong and fewer.wrong_facts != rung.adversary.wrong_facts:
        notes.append("only items can be wrong here, so wrong facts are items that the record lacks")
    if fewer.knows < adversary.knows:
        notes.append(
            f"fewer than {100 * FEW:g} % of the records have enough {'cells' if release.columns else 'entries'} for "
            f"{facts_text(adversary)}, so the adversary knows {facts_text(fewer)}"
        )
    title = rung.title.replace(PRECISION, describe_precision(fewer, release))
    note = "; ".join([*filter(None, [rung.note]), *notes])
    return replace(rung, title=title, adversary=fewer, note=note, relative={})


def _with_errors(rung: Rung, release: Release, spread: DataSpread) -> tuple[Adversary, list[str]]:
    """The adversary with errors of entries in numbers, without what the release lacks, and notes about the changes."""
    adversary, relative, notes = rung.adversary, {**rung.relative}, []
    knows_values = adversary.value_error is not None or "value_error" in relative
    if not isinstance(release.levels, np.ndarray):
        relative.pop("value_error", None)
    if not release.n_levels and knows_values:
        adversary = replace(adversary, value_error=None)
        notes.append("the release has no values, so the adversary knows none")
    elif isinstance(release.levels, tuple) and (adversary.value_error or "value_error" in rung.relative):
        adversary = replace(adversary, value_error=0)
        notes.append("values are categories, so the adversary knows them exactly")
    is_dated = adversary.time_error is not None or adversary.joined_error is not None
    if not release.span and (is_dated or {*relative} - {"value_error"}):
        adversary = replace(adversary, time_error=None, joined_error=None)
        relative = {name: error for name, error in relative.items() if name == "value_error"}
        notes.append("the release has no dates, so the adversary knows none")
    numbers: dict[str, Any] = {name: spread.error(name, error) for name, error in relative.items()}
    adversary = replace(adversary, **numbers)
    for name, error in relative.items():
        size, whole = spread.days, f"the time span of {time_text(spread.days)}"
        if name == "value_error":
            size, whole = spread.values, f"the spread of {spread.values:g}"
        if error.share * size < error.at_most:
            notes.append(f"the {ERRORS[name]} error is {100 * error.share:g} % of {whole}")
    return adversary, notes


def eligible_share(adversary: Adversary, release: Release) -> float:
    """Share of records with enough entries or cells to be targets of the adversary."""
    try:
        return float(adversary.eligible(release, np.arange(release.n_records)).mean())
    except ParameterError:
        return 0.0


def with_enough_facts(adversary: Adversary, release: Release) -> Adversary:
    """The adversary with as many facts as at least FEW of the records have, or with one fact."""
    if eligible_share(adversary, release) >= FEW:
        return adversary
    longest = adversary.knows if release.columns else min(adversary.knows, int(release.lengths.max()))

    def most(of: Callable[[int], Adversary]) -> int:
        """The largest number of facts that enough records have, if they have all smaller ones; 0 if there is none."""
        return bisect_left(range(1, longest + 1), True, key=lambda knows: eligible_share(of(knows), release) < FEW)

    with_wrong = most(lambda knows: with_facts(adversary, knows))
    without_wrong = most(lambda knows: replace(adversary, knows=knows, wrong=0))
    fewer = with_facts(adversary, max(with_wrong, 1))
    if without_wrong > with_wrong:
        fewer = replace(adversary, knows=without_wrong, wrong=0)
    return fewer if fewer.wrong else replace(fewer, wrong_facts="values")


def with_facts(adversary: Adversary, knows: int) -> Adversary:
    """The adversary with another number of facts and the same share of them wrong (half a fact is right)."""
    wrong = -(-(2 * knows * adversary.wrong - adversary.knows) // (2 * adversary.knows))
    return replace(adversary, knows=knows, wrong=max(0, min(wrong, knows)))


# Ladders in TOML files: see docs/ladder.toml.


KNOWN = ("knows", "wrong", "wrong_facts", "columns", "error", "errors")
OPTIONS = ("name", "title", "gate", "data", *KNOWN, "items", *ERRORS, "entries")
TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    **dict.fromkeys(("name", "title", "wrong_facts", "items"), (str, "text")),
    "gate": (bool, "true or false"),
    "columns": ((list, str), f'a list of column names, or "{QUASI_IDENTIFIERS}"'),
    "errors": (dict, "a table of numbers by column"),
    "entries": (dict, "a table of what is known of the entries"),
}
AMOUNT, UNIT = r"(\d+(?:\.\d*)?|\.\d+)", r"(?: (day|hour|minute)s?)?"
DURATION, SHARE = re.compile(AMOUNT + UNIT), re.compile(rf"{AMOUNT} ?%(?:, at most {AMOUNT}{UNIT})?")
LARGEST = 1e300
EXAMPLES = dict.fromkeys(ERRORS, '"14 days", "2 %" of the time span, "2 %, at most 14 days"')
EXAMPLES |= {"value_error": '"33 %" of the spread, "33 %, at most 1"', "length_error": '"50 %"'}


def read_ladder(path: str | Path) -> Ladder:
    """The ladder in a TOML file: one table [[adversary]] for each adversary, and optionally `headline`.

    The options of a table are those of so.Adversary, and name, title, gate and data. An error is a number, a
    share of the data ("33 %", "2 %, at most 14 days"), or "none" if it is not known.
    """
    content = read_toml(Path(path))
    tables, headline = content.get("adversary"), content.get("headline")
    if unknown := sorted({*content} - {"adversary", "headline"}):
        raise ParameterError(f"{path}: unknown key {unknown[0]!r:.40}; the known keys are adversary and headline")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise ParameterError(f"{path}: a ladder needs at least one table [[adversary]]")
    rungs, kinds = list[Rung](), get_args(Data)
    for number, table in enumerate(tables, 1):
        where = f"{path}, adversary {number}"
        adversary, relative = _read_adversary(table, where, OPTIONS)
        if "name" not in table:
            raise ParameterError(f"{where}: name is missing")
        if table.get("data", "any") not in kinds:
            raise ParameterError(f"{where}: data must be one of {', '.join(kinds)}")
        options = {name: table[name] for name in ("gate", "data") if name in table}
        title = table.get("title", table["name"])
        rungs.append(Rung(table["name"], title, adversary, relative=relative, **options))
    try:
        return _checked_ladder(rungs, headline, printable(Path(path).name))
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


def _read_adversary(
    table: dict[str, Any], where: str, allowed: Sequence[str]
) -> tuple[Adversary, dict[str, RelativeError]]:
    """What is known, and errors that are shares of the data."""
    if unknown := sorted({*table} - {*allowed}):
        raise ParameterError(
            f"{where}: unknown option {unknown[0]!r:.40}; the options are {', '.join(allowed)}"
            f"{did_you_mean(unknown[0], allowed)}"
        )
    for name, (kind, text) in TYPES.items():
        if name in table and not isinstance(table[name], kind):
            raise ParameterError(f"{where}: {name} must be {text}")
    options = {name: table[name] for name in (*KNOWN, "items") if name in table}
    errors = {name: _read_error(table[name], name, where) for name in ERRORS if name in table}
    relative = {name: error for name, error in errors.items() if isinstance(error, RelativeError)}
    options |= {name: error for name, error in errors.items() if name not in relative}
    if options.get("columns") == QUASI_IDENTIFIERS:
        if given := [name for name in (*KNOWN, "items", *ERRORS) if name in table and name != "columns"]:
            raise ParameterError(
                f'{where}: {given[0]} must not be given with columns = "{QUASI_IDENTIFIERS}", which means '
                "that they are known exactly: name the columns instead"
            )
        options = {"columns": (QUASI_IDENTIFIERS,), "error": 0.0}
    elif "columns" in options:
        if isinstance(options["columns"], str) or not all(isinstance(name, str) for name in options["columns"]):
            raise ParameterError(f"{where}: columns must be {TYPES['columns'][1]}")
        options["columns"] = tuple(options["columns"])
    if "entries" in table:
        parts = (*KNOWN[:3], "items", *ERRORS)
        options["entries"], of_entries = _read_adversary(table["entries"], f"{where}, entries", parts)
        if of_entries:
            raise ParameterError(f"{where}, entries: errors must be numbers")
    top = re.fullmatch(r"outside[-_]top[-_(]?(\d{1,9})\)?", table.get("items", ""))
    try:
        return Adversary(**options | ({"items": outside_top(int(top[1]))} if top else {})), relative
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None


def _read_error(option: Any, name: str, where: str) -> float | RelativeError | None:
    """The error in a table: a number, a share of the data, a duration, or None for "none"."""
    text, is_time = " ".join(str(option).lower().split()), name in ("time_error", "joined_error")
    if text == "none":
        return None
    if isinstance(option, (int, float)) and not isinstance(option, bool) and abs(option) < LARGEST:
        return float(option)
    duration, share = DURATION.fullmatch(text), SHARE.fullmatch(text)
    if duration and duration[2] and is_time:
        return float(duration[1]) * SECONDS[cast(TimeUnit, duration[2])] / DAY
    if share and name == "length_error" and not share[2]:  # always a share of the length
        return float(share[1]) / 100
    if share and name != "length_error" and float(share[1]) <= 100 and (is_time or not share[3]):
        unit = SECONDS[cast(TimeUnit, share[3] or "day")] / DAY if is_time else 1.0
        return RelativeError(float(share[1]) / 100, float(share[2] or math.inf) * unit)
    raise ParameterError(
        f'{where}: {name} must be a number, a text such as {EXAMPLES[name]}, or "none" if it is not known; '
        f"got {option!r:.40}"
    )
