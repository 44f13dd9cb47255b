"""The ladder: the named adversaries of an audit, from a colleague to the worst case.

`resolve_ladder` finds the ladder that a caller means. `fit_ladder` adapts it to what a release contains: columns,
entries or both. It resolves errors that are shares of the value spread or of the time span.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from standout.auditing.sentences import describe_precision, facts_text, time_text
from standout.core.arrays import Ints, codes_in_use
from standout.core.errors import ParameterError, not_one_of
from standout.data.labels import SECONDS
from standout.data.release import Release
from standout.know.adversary import Adversary
from standout.know.observation import Choice
from standout.know.similarity import ROUNDING
from standout.measure.equivalence import known_columns

# Errors of an adversary relative to a release: shares of its value spread and of its time span.
#
# "± 1" is a fifth of five stars, but nothing on amounts in cents; "± 14 days" says nothing about a trace of two
# weeks. A relative error is resolved to a concrete number on each release, and it means the same on the same
# data in another unit.


BLOCK = 1 << 22
"""Entries that are counted at once, to limit memory."""
DAY = SECONDS["day"]
SAME = 1e-9
"""Distances whose relative difference is smaller are equal."""


@dataclass(frozen=True, slots=True)
class RelativeError:
    """An error as a share of the value spread or of the time span, at most so many units of the values, or days."""

    share: float
    at_most: float | None = None

    def of(self, spread: float) -> float:
        """The error on data of this spread, not yet rounded."""
        return min(self.share * spread, math.inf if self.at_most is None else self.at_most)


class RelativeErrors(NamedTuple):
    """The errors of an adversary that are relative to the data; None for those that are not."""

    value_error: RelativeError | None = None
    time_error: RelativeError | None = None
    joined_error: RelativeError | None = None


ABSOLUTE = RelativeErrors()
"""No error is relative."""


class DataSpread:
    """How far the values and the times (in days) of a release are spread.

    Both are inter-decile ranges, the distance between the lower and the upper tenth of the entries, because a
    single absurd value or date would dominate the full range. 0 without numbers, or without times.
    """

    def __init__(self, release: Release) -> None:
        self.release, self.values, self.days = release, 0.0, 0.0
        self.levels: Any = None
        value, time, levels = release.by_record.value, release.by_record.time, release.levels
        if value is not None and isinstance(levels, np.ndarray):
            counts = _counts(value, release.n_levels)
            if counts.any():
                low, self.median, high = _deciles(counts)
                self.levels, spread = levels, float(levels[high]) - float(levels[low])
                self.values = spread if math.isfinite(spread) else 0.0
        if release.clock is not None and time is not None:
            codes, place = codes_in_use(time, release.span + 1)
            # the code after the last date means no date
            counts = _counts(place, len(codes))[: np.searchsorted(codes, release.span)]
            if counts.any():
                first, _, last = _deciles(counts)
                self.days = float(codes[last] - codes[first]) * SECONDS[release.clock.unit] / DAY

    def value_error(self, error: RelativeError) -> float:
        """The error in units of the values: the nearest distance between the median and another level.

        On evenly spaced levels this is a multiple of their step. 0 (exact) if the next level is too far away.
        """
        raw = error.of(self.values)
        if self.levels is None or not raw:
            return 0.0
        distances = np.unique(np.abs(self.levels - self.levels[self.median]))
        apart = np.abs(distances - raw)
        nearest = float(distances[np.flatnonzero(apart <= apart.min() + SAME * raw)[0]])
        # 1.0 - 0.8 is 0.19999999999999996
        rounded = float(f"{nearest:.14g}")
        return rounded if abs(rounded - nearest) < ROUNDING / 2 else nearest

    def time_error(self, error: RelativeError) -> float:
        """The error in days, rounded down to whole days, hours or minutes, and to the unit of the release."""
        if self.release.clock is None:
            return 0.0
        seconds = error.of(self.days) * DAY + ROUNDING
        unit = next((unit for unit in SECONDS.values() if unit <= seconds), min(SECONDS.values()))
        unit = max(unit, SECONDS[self.release.clock.unit])
        return seconds // unit * unit / DAY

    def explain(self, errors: RelativeErrors) -> list[str]:
        """How the errors were resolved, except where a fixed limit decided."""
        of_values, of_days = (f"the spread of {self.values:g}", f"the time span of {time_text(self.days)}")
        parts = (
            ("value", errors.value_error, self.values, of_values),
            ("date", errors.time_error, self.days, of_days),
            ("first-date", errors.joined_error, self.days, of_days),
        )
        return [
            f"the {what} error is {100 * error.share:g} % of {whole}"
            for what, error, spread, whole in parts
            if error is not None and (error.at_most is None or error.share * spread < error.at_most)
        ]


def _counts(codes: NDArray[np.integer[Any]], size: int) -> Ints:
    """Number of entries with each code; missing ones do not count."""
    counts = np.zeros(size + 1, np.int64)
    for start in range(0, len(codes), BLOCK):
        counts += np.bincount(codes[start : start + BLOCK], minlength=size + 1)
    return counts[:size]


def _deciles(counts: Ints) -> Ints:
    """Codes of the entries below or at which 1, 5 and 9 tenths of all entries lie."""
    below = np.cumsum(counts)
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
        Errors that are shares of the value spread or of the time span. Empty once they are resolved.
    bound
        Whether the adversary is the worst case: it knows at least as much as each of the others.
    data
        For which releases it is: "entries" (histories), "columns", "both" (columns and entries), or "any".
    """

    name: str
    title: str
    adversary: Adversary
    gate: bool = True
    note: str = ""
    relative: RelativeErrors = ABSOLUTE
    bound: bool = False
    data: Data = "any"

    def is_for(self, release: Release) -> bool:
        """Whether the adversary is for releases of this kind."""
        kinds = {"any", "columns" if release.columns else "entries"}
        return self.data in kinds or (self.data == "both" and bool(release.columns) and release.n_items > 0)


class Ladder(NamedTuple):
    """Adversaries in order, the name of the headline adversary, and where the ladder comes from."""

    rungs: tuple[Rung, ...]
    headline: str
    source: str


class FittedLadder(NamedTuple):
    """The adversaries that apply to a release, the headline, and sentences about what was skipped."""

    rungs: tuple[Rung, ...]
    headline: str
    limits: tuple[str, ...]


LadderSource: TypeAlias = str | Path | Mapping[str, Adversary | Rung] | Sequence[Rung] | None
"""Path of a TOML file, adversaries by name, rungs, or None for the default ladder."""

ABOUT_ONE_STAR = RelativeError(0.33)
"""A third of the spread: one star of five in the Netflix Prize data, whose inter-decile range is 2 to 5."""

LADDER = (
    Rung(
        "colleague",
        f"A colleague: {PRECISION}",
        Adversary(knows=4, wrong=1, items="popular"),
        relative=RelativeErrors(ABOUT_ONE_STAR, RelativeError(0.05, at_most=30)),
        data="entries",
    ),
    Rung(
        "acquaintance",
        f"An acquaintance: {PRECISION}",
        Adversary(knows=8, wrong=2),
        relative=RelativeErrors(ABOUT_ONE_STAR, RelativeError(0.02, at_most=14)),
        data="entries",
    ),
    Rung(
        "profile",
        f"Public profile: {PRECISION}",
        Adversary(knows=8),
        relative=RelativeErrors(time_error=RelativeError(0.005, at_most=3)),
        data="entries",
    ),
    Rung(
        "undated",
        f"An acquaintance: {PRECISION}",
        Adversary(knows=8, wrong=2, time_error=None),
        relative=RelativeErrors(ABOUT_ONE_STAR),
        data="entries",
    ),
    Rung("worst", f"The worst case: {PRECISION}", Adversary(knows=8), gate=False, bound=True, data="entries"),
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
        from standout.auditing.ladder_file import read_ladder

        resolved = read_ladder(ladder)
    elif isinstance(ladder, Mapping):
        rungs = [Rung(name, name, rung) if isinstance(rung, Adversary) else rung for name, rung in ladder.items()]
        if not all(isinstance(name, str) for name in ladder) or not all(isinstance(rung, Rung) for rung in rungs):
            raise ParameterError(WRONG_LADDER)
        resolved = checked_ladder(rungs, None, "own")
    elif isinstance(ladder, (list, tuple)) and all(isinstance(rung, Rung) for rung in ladder):
        resolved = checked_ladder(list(ladder), None, "own")
    else:
        raise ParameterError(f"{WRONG_LADDER}, got {type(ladder).__name__}")
    return resolved if headline is None else resolved._replace(headline=_rung_name(resolved.rungs, headline))


def headline_adversary(release: Release, ladder: LadderSource = None, headline: str | None = None) -> Adversary:
    """The headline adversary of a ladder, adapted to the release."""
    fitted = fit_ladder(resolve_ladder(ladder, headline), release)
    return next(rung.adversary for rung in fitted.rungs if rung.name == fitted.headline)


def checked_ladder(rungs: Sequence[Rung], headline: str | None, source: str) -> Ladder:
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


def shortened(value: object) -> str:
    """At most 40 characters of a value, for an error message."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def fit_ladder(ladder: Ladder, release: Release, quasi_identifiers: Sequence[str] | None = None) -> FittedLadder:
    """The adversaries adapted to this release. Those that do not apply are named in `limits`.

    `quasi_identifiers` are the columns that others may know; default: by their roles.
    """
    fit = partial(fit_rung, release=release, spread=DataSpread(release), quasi_identifiers=quasi_identifiers)
    rungs = [rung for rung in ladder.rungs if rung.is_for(release)]
    candidates = {rung.name: fit(rung) for rung in rungs if not rung.bound}
    others = [rung.adversary for rung in candidates.values() if isinstance(rung, Rung)]
    for rung in rungs:
        if rung.bound:
            adversary = _at_least_as_strong(rung.adversary, others)
            adversary = replace(adversary, error=0.0, errors={}) if release.columns else adversary
            candidates[rung.name] = fit(replace(rung, adversary=adversary, relative=ABSOLUTE))
    fitted: list[Rung] = []
    limits: list[str] = []
    replaced_by: dict[str, str] = {}
    for rung in rungs:
        candidate = candidates[rung.name]
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
    return FittedLadder(tuple(fitted), headline, tuple(limits))


def _at_least_as_strong(adversary: Adversary, others: Sequence[Adversary]) -> Adversary:
    """The adversary with right and exact facts about the rarest items, and with all that the others know.

    It knows as many facts as any of them. It knows lengths and first dates as precisely as the best of them,
    so that the same candidates are excluded. Exact ones could leave a single candidate, who is never claimed.
    """
    lengths, joined = (
        [error for each in (adversary, *others) if (error := getattr(each, name)) is not None]
        for name in ("length_error", "joined_error")
    )
    return replace(
        adversary,
        knows=max([adversary.knows, *(other.knows for other in others)]),
        wrong=0,
        wrong_facts="values",
        value_error=0,
        time_error=0,
        items="rarest",
        length_error=min(lengths, default=None),
        joined_error=min(joined, default=None),
    )


def fit_rung(
    rung: Rung, release: Release, spread: DataSpread | None = None, quasi_identifiers: Sequence[str] | None = None
) -> Rung | str:
    """The adversary with errors in numbers, without knowledge that the release cannot match; or why it cannot be."""
    if release.columns:
        fitted = _fit_columns(rung.adversary, release, quasi_identifiers)
    else:
        fitted = _fit_entries(rung, release, spread or DataSpread(release))
    if isinstance(fitted, str):
        return fitted
    adversary, notes = fitted
    if not eligible_share(adversary, release):
        return "no record has enough entries or cells that the adversary could know"
    title = rung.title.replace(PRECISION, describe_precision(adversary, release))
    note = "; ".join([*filter(None, [rung.note]), *notes])
    return replace(rung, title=title, adversary=adversary, note=note, relative=ABSOLUTE)


def _fit_columns(
    adversary: Adversary, release: Release, quasi_identifiers: Sequence[str] | None
) -> tuple[Adversary, list[str]] | str:
    """The adversary with as many attributes as the release has, and notes about the changes."""
    if adversary.columns == (QUASI_IDENTIFIERS,):
        known = known_columns(release, None, None).quasi_identifiers if quasi_identifiers is None else quasi_identifiers
        adversary = replace(adversary, columns=tuple(known), knows=len(known))
    for name in (*(adversary.columns or ()), *adversary.errors):
        if name not in release.attributes:
            release.column_position(name)
    if adversary.entries is not None:
        if not release.n_items:
            return "the release has no entries"
        entries = adversary.entries if release.n_levels else replace(adversary.entries, value_error=None)
        adversary = replace(adversary, entries=entries if release.span else replace(entries, time_error=None))
    names, notes = adversary.columns or (), []
    attributes = len({name if name in release.attributes else release.column(name).attribute for name in names})
    attributes = attributes if adversary.columns is not None else len(release.attributes)
    if adversary.knows > attributes:
        of = "the release has" if adversary.columns is None else "it may know"
        adversary = with_facts(adversary, attributes)
        notes.append(f"{of} {attributes} attributes, so the adversary knows {facts_text(adversary)}")
    fitting = with_enough_cells(adversary, release)
    if fitting is None:
        return "no row has a cell that the adversary could know"
    if fitting.knows < adversary.knows:
        notes.append(
            f"fewer than {100 * FEW:g} % of the rows have {adversary.knows} cells that the adversary could "
            f"know, so the adversary knows {facts_text(fitting)}"
        )
    return fitting, notes


def with_enough_cells(adversary: Adversary, release: Release) -> Adversary | None:
    """The adversary with the most attributes that a few of the rows have; None if no row has any."""
    fewer = [adversary, *(with_facts(adversary, knows) for knows in range(adversary.knows - 1, 0, -1))]
    rows = np.arange(release.n_records)
    enough = max(FEW * np.count_nonzero(fewer[-1].eligible(release, rows)), 1)
    return next((each for each in fewer if np.count_nonzero(each.eligible(release, rows)) >= enough), None)


def _fit_entries(rung: Rung, release: Release, spread: DataSpread) -> tuple[Adversary, list[str]] | str:
    """The adversary with errors in numbers, without what the release lacks, and notes about the changes."""
    adversary, relative, notes = rung.adversary, rung.relative, []
    if not release.n_levels and (adversary.value_error is not None or relative.value_error):
        adversary, relative = replace(adversary, value_error=None), relative._replace(value_error=None)
        notes.append("the release has no values, so the adversary knows none")
    elif not isinstance(release.levels, np.ndarray) and (adversary.value_error or relative.value_error):
        adversary, relative = replace(adversary, value_error=0), relative._replace(value_error=None)
        notes.append("values are categories, so the adversary knows them exactly")
    dated = (adversary.time_error, adversary.joined_error, relative.time_error, relative.joined_error)
    if not release.span and any(error is not None for error in dated):
        adversary = replace(adversary, time_error=None, joined_error=None)
        relative = relative._replace(time_error=None, joined_error=None)
        notes.append("the release has no dates, so the adversary knows none")
    for name, error in relative._asdict().items():
        if error is not None:
            resolve = spread.value_error if name == "value_error" else spread.time_error
            changed: dict[str, Any] = {name: resolve(error)}
            adversary = replace(adversary, **changed)
    notes += spread.explain(relative)
    assert isinstance(adversary.items, Choice)
    if not release.span and adversary.items.name in ("recent", "burst"):
        return "the release has no dates"
    if adversary.columns is not None or adversary.entries is not None:
        return "the release has no columns"
    wrong_items = False
    if adversary.wrong and adversary.wrong_facts == "values":
        try:
            adversary.eligible(release, [0])
        except ParameterError:  # without values and dates, only the item of a fact can be wrong
            adversary, wrong_items = replace(adversary, wrong_facts="items"), True
    adversary, fewer = _with_affordable_facts(adversary, release)
    if wrong_items and adversary.wrong:
        notes.append("only items can be wrong here, so wrong facts are items that the record lacks")
    return adversary, [*notes, *fewer]


def eligible_share(adversary: Adversary, release: Release) -> float:
    """Share of records with enough entries to be targets of the adversary."""
    try:
        return float(adversary.eligible(release, np.arange(release.n_records)).mean())
    except ParameterError:
        return 0.0


def _with_affordable_facts(adversary: Adversary, release: Release) -> tuple[Adversary, list[str]]:
    """The adversary with as many facts as at least FEW of the records have, and a note if these are fewer."""
    if eligible_share(adversary, release) >= FEW:
        return adversary, []

    def most(of: Callable[[int], Adversary]) -> int:
        """The largest number of facts that enough records have, if they have all smaller ones; 0 if there is none."""
        sizes = range(1, min(adversary.knows, int(release.lengths.max())) + 1)
        return bisect_left(sizes, True, key=lambda knows: eligible_share(of(knows), release) < FEW)

    with_wrong = most(partial(with_facts, adversary))
    without_wrong = most(lambda knows: replace(adversary, knows=knows, wrong=0))
    fewer = with_facts(adversary, max(with_wrong, 1))
    if without_wrong > with_wrong:
        fewer = replace(adversary, knows=without_wrong, wrong=0)
    fewer = fewer if fewer.wrong else replace(fewer, wrong_facts="values")
    note = (
        f"fewer than {100 * FEW:g} % of the records have enough entries for {facts_text(adversary)}, "
        f"so the adversary knows {facts_text(fewer)}"
    )
    return fewer, [note]


def with_facts(adversary: Adversary, knows: int) -> Adversary:
    """The adversary with another number of facts and the same share of them wrong (half a fact is right)."""
    wrong = -(-(2 * knows * adversary.wrong - adversary.knows) // (2 * adversary.knows))
    return replace(adversary, knows=knows, wrong=max(0, min(wrong, knows)))
