"""What every attack offers, the paper's or the user's own."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from standout.attack.column_evidence import CellTabulation
from standout.attack.engine import score
from standout.attack.engine_kernels import CELL_STEP, LIKELIHOOD, MINIMUM, SUM
from standout.attack.likelihood import Likelihood, LikelihoodQueries
from standout.attack.own_attack import Attack
from standout.attack.queries import Queries, prepare_queries
from standout.attack.scoreboard import ExactMatch, Scoreboard, ScoreboardRH
from standout.attack.verdict import PosteriorVerdict, TargetVerdicts, Verdict, VerdictColumns, Verdicts
from standout.core import elementary
from standout.core.arrays import Floats, Ints, run_starts
from standout.core.errors import ParameterError, whole_number
from standout.core.progress import Progress, no_progress
from standout.core.threads import map_on_threads
from standout.data.entries import unpack_item
from standout.data.release import Release
from standout.know.adversary import Adversary
from standout.know.facts import KnownFacts
from standout.know.sanitized import Sanitized, representatives_of
from standout.know.similarity import Decay, Equal, Present, Within, days_per_unit

BUILT_IN = (Likelihood, Scoreboard, ScoreboardRH, ExactMatch)
BUILT_IN_SIMILARITIES = (Within, Decay, Equal, Present)


class AnyAttack(Protocol):
    """An attack on one target, on many, and with the first facts of many: see `QueryAttack`."""

    def attack(self, *given: Any, **options: Any) -> Verdict:
        """Attack one target."""

    def attacks(self, *given: Any, **options: Any) -> Verdicts:
        """Attack many targets."""

    def nested(self, *given: Any, **options: Any) -> Verdicts:
        """Attack with only the first facts of each aux, for several sizes."""


def check_attack(attack: Any) -> AnyAttack:
    """Return `attack` if it is one."""
    methods = all(callable(getattr(attack, name, None)) for name in ("attack", "attacks", "nested"))
    if isinstance(attack, type) or not methods:
        raise ParameterError(
            "attack must be an attack, such as ScoreboardRH() or a subclass of so.Attack, got "
            f"{attack.__name__ + ', a class' if isinstance(attack, type) else type(attack).__name__}"
        )
    checked: AnyAttack = attack
    return checked


def fit_attack(attack: AnyAttack, adversary: Any) -> AnyAttack:
    """The attack with the errors of an adversary, if it has a method for_adversary."""
    fit = getattr(attack, "for_adversary", None)
    return check_attack(fit(adversary)) if callable(fit) else attack


def attacks_by_name(attacks: Any) -> dict[str, AnyAttack]:
    """Return the attacks by name; the default name is that of the class, numbered if it occurs twice."""
    named: dict[str, AnyAttack] = {}
    if isinstance(attacks, Mapping):
        named = {name: check_attack(attack) for name, attack in attacks.items()}
    elif isinstance(attacks, Sequence) and not isinstance(attacks, str):
        for attack in map(check_attack, attacks):
            text = type(attack).__name__
            same = sum(name.split(" #")[0] == text for name in named)
            named[f"{text} #{same + 1}" if same else text] = attack
    if not named or not all(isinstance(name, str) for name in named):
        raise ParameterError("attacks must be a list of attacks, or a dict of attacks by name")
    return named


def checkpoint_key(attack: AnyAttack, option: str = "save") -> str:
    """Text that identifies an attack in a checkpoint. A function does not identify itself by its name."""
    own_key = getattr(attack, "key", None)
    text = own_key() if callable(own_key) else ""
    if text:
        kind = type(attack)
        return f"{kind.__module__}.{kind.__qualname__}: {text}"
    if type(attack) not in BUILT_IN:
        raise ParameterError(
            f"{option} needs a method key() of {type(attack).__name__}: a checkpoint cannot tell one version "
            "of an attack of your own from another"
        )
    if not is_built_in(attack):
        raise ParameterError(
            f"{option} works with named weights and the built-in similarities only: a checkpoint cannot tell "
            "one function from another"
        )
    return repr(attack)


def is_built_in(attack: AnyAttack) -> bool:
    """Whether an attack has no function of the user's own: neither itself, nor a similarity or weights."""
    if not isinstance(attack, BUILT_IN) or type(attack) not in BUILT_IN:
        return False
    if isinstance(attack, Likelihood):
        return True
    has_names = isinstance(getattr(attack, "weights", ""), str)
    return has_names and type(attack.similarity) in BUILT_IN_SIMILARITIES


# The entries that a release has of each known fact's item: what an attack of the user's own reads.


class FactEntries(NamedTuple):
    """All entries of one known fact's item, in the order of their records.

    A record that has the item several times has an entry for each; `highest` gives one number per record.

    Attributes
    ----------
    target : int
        Number of the target that the fact is about.
    item : int
        Position of the item in `release.items`.
    known_value : float or str or None
        The known value; None if it is not known.
    record : array of int
        Position of each entry's record; the same several times if the record has the item several times.
    value : array of float, or of str
        The value of each entry; NaN or None if it has none.
    days : array of float
        Date of the entry minus known date, in days; NaN if either is missing.

    Examples
    --------
    >>> FactEntries(0, 17, 4.0, np.array([3]), np.array([5.0]), np.array([-2.0])).record.tolist()
    [3]
    """

    target: int
    item: int
    known_value: float | str | None
    record: Ints
    value: NDArray[Any]
    days: Floats

    def highest(self, numbers: NDArray[Any]) -> tuple[Ints, Floats]:
        """Reduce numbers by entry to one for each record: that of its best entry."""
        if not len(self.record):
            return self.record, np.empty(0)
        first = run_starts(self.record)
        return self.record[first], np.maximum.reduceat(np.asarray(numbers, np.float64), first)


def fact_entries(release: Release, known: KnownFacts) -> Iterator[FactEntries]:
    """For each known fact the entries that the release has of its item.

    Facts about items that the release does not have are skipped.

    Parameters
    ----------
    release : Release
        The data set.
    known : KnownFacts
        What is known about each target.

    Yields
    ------
    FactEntries
        The entries of the item, with record, value and distance in days.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> known = so.Adversary(knows=2).observe_all(release, [41])
    >>> [len(fact.record) for fact in so.fact_entries(release, known)]
    [380, 213]
    """
    values, day = release.levels, days_per_unit(release)
    levels: NDArray[Any] = np.append(np.empty(0) if values is None or isinstance(values, tuple) else values, np.nan)
    if isinstance(values, tuple):
        levels = np.array([*values, None], object)
    target = np.repeat(np.arange(len(known)), np.diff(known.first))
    for fact in np.flatnonzero(known.item >= 0).tolist():
        item, value = int(known.item[fact]), int(known.value[fact])
        record, code, time = unpack_item(release.by_item, item, release.n_levels, release.span)
        if release.has_repeats:
            order = np.argsort(record, kind="stable")
            record, code, time = record[order], code[order], time[order]
        is_dated = bool(known.timed[fact]) & (time < release.span)
        yield FactEntries(
            target=int(target[fact]),
            item=item,
            known_value=None if value < 0 else known.values[value],
            record=record,
            value=levels[code],
            days=np.where(is_dated, (time - known.time[fact]) * day, np.nan),
        )


# Attacks on people of a release with columns: known cells and known entries, scored together by the engine.


AttackName = Literal["likelihood", "paper", "threshold", "exact match"]


def attack_named(attack: AttackName | AnyAttack, adversary: Adversary | None = None) -> AnyAttack:
    """The attack of this name, with the adversary's errors; an attack is returned as it is."""
    if not isinstance(attack, str):
        return check_attack(attack)
    attacks: dict[str, AnyAttack] = {
        "likelihood": Likelihood(adversary),
        "paper": ScoreboardRH(),
        "threshold": Scoreboard(Decay(), alpha=0.5),
        "exact match": ExactMatch(),
    }
    if attack not in attacks:
        raise ParameterError(f"attack must be one of {', '.join(attacks)}, or an attack, got {attack!r}")
    return attacks[attack]


def counts_wrong(attack: AnyAttack) -> bool:
    """Whether the number of wrong facts is used, with products instead of sums of logarithms."""
    adversary = attack.adversary if isinstance(attack, Likelihood) else None
    return adversary is not None and adversary.wrong > 0


def attack_columns(
    release: Release,
    known: KnownFacts,
    attack: AnyAttack,
    *,
    absent: bool = False,
    probabilities: bool = True,
    counted: bool = True,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> TargetVerdicts:
    """Attack many people at once.

    If `absent`, each target's record is removed, and what is counted is counted without it. Without
    `probabilities`, posteriors of the paper's attack are NaN. Unless `counted`, `Likelihood` takes each fact to
    be wrong with the same probability, instead of a known number.
    """
    records, counted = _records(release, known), counted and counts_wrong(attack)
    own, gone = np.where(absent, -1, records), np.where(absent, records, -1)
    if isinstance(attack, Attack):
        return TargetVerdicts.of(attack.with_targets(release, known, gone, own, progress))
    alpha = round(attack.alpha / CELL_STEP) * CELL_STEP if isinstance(attack, Scoreboard) else None
    with_z = probabilities or isinstance(attack, Likelihood)
    parts = []
    for targets, queries in _queries(release, known, attack, gone, absent, counted, threads):
        options: dict[str, Any] = {"with_z": with_z, "alpha": alpha or 0.0, "threads": threads, "progress": progress}
        queries, columns = score(queries, 2, own=own[targets], **options)
        if counted and (columns.highest <= queries.lowest).any():  # products below all numbers
            return attack_columns(
                release, known, attack, absent=absent, counted=False, threads=threads, progress=progress
            )
        parts.append(columns)
    return TargetVerdicts.of(Verdicts(queries, VerdictColumns.joined(parts), alpha))


def _records(release: Release, known: KnownFacts) -> Ints:
    """The record that represents each target, or -1."""
    target = known.cells.target
    return np.where(target >= 0, representatives_of(release)[target], -1)


def _queries(
    release: Release, known: KnownFacts, attack: AnyAttack, exclude: Ints, absent: bool, counted: bool,
    threads: int | None,
) -> Iterator[tuple[slice, Queries]]:  # fmt: skip
    """The queries about known cells and entries, in slices whose tables fit into memory."""
    mode = LIKELIHOOD if isinstance(attack, Likelihood) else MINIMUM if isinstance(attack, Scoreboard) else SUM
    for targets, cells in CellTabulation(release, attack, absent, counted).batches(known):
        few, without = known.of(np.arange(targets.start, targets.stop)), exclude[targets]
        if not len(known.item):
            plain = prepare_queries(release, few, Present(), "one", without)
            yield targets, replace(plain, mode=mode, cells=cells, prepare=None)
            continue
        by_entries: Any = attack
        if isinstance(attack, Likelihood):
            by_entries = Likelihood(None if attack.adversary is None else getattr(attack.adversary, "entries", None))
        if isinstance(release, Sanitized):
            few = release.translate_facts(few, np.maximum(few.cells.target, 0))
        queries: Queries = by_entries._queries(release, few, without)
        most, lowest, lacking = cells.most + np.ldexp(1.0, np.add(*queries.exponents)), cells.lowest, np.zeros(len(few))
        if isinstance(queries, LikelihoodQueries):  # scores are relative to a record without any known entry
            lacking = np.diff(few.first) * math.log1p(-queries.coverage)
            lowest = lowest + np.rint(lacking / CELL_STEP) * CELL_STEP
        arrays = cells.arrays._replace(lacking=lacking)
        yield targets, replace(queries, cells=replace(cells, arrays=arrays, lowest=lowest, most=most))


def weighted_votes(
    release: Release, known: KnownFacts, attack: AnyAttack, name: str, *, absent: bool = False, counted: bool = True,
    threads: int | None = None, progress: Progress = no_progress,
) -> Floats:  # fmt: skip
    """For each target, the posterior of each level of a released column (the last one: an empty cell)."""
    column, exclude = release.column(name), np.where(absent, _records(release, known), -1)
    votes: list[Floats] = []

    def vote(queries: Queries, q: int) -> Floats:
        scores = queries.scores(q)
        weight = elementary.exp(scores - scores.max())
        return np.asarray(np.bincount(column.codes, weight, column.n_levels + 1) / weight.sum())

    for _, queries in _queries(release, known, attack, exclude, absent, counted and counts_wrong(attack), threads):
        for shares in map_on_threads(vote, ((queries, q) for q in range(len(queries))), threads):
            votes.append(shares)
            progress("attacking", len(votes), len(known))
    return np.array(votes).reshape(len(known), -1)


def column_verdict(release: Release, known: KnownFacts, attack: AnyAttack, population: int | None) -> PosteriorVerdict:
    """Rank all records by how well they fit what is known about one person; facts are about the original."""
    if not isinstance(attack, Likelihood):
        raise ParameterError("attack must be Likelihood in a release with columns: others have no posterior")
    people = release.n_records if population is None else whole_number("population", population, release.n_records)
    [(_, queries)] = _queries(release, known, attack, np.full(1, -1), False, False, None)
    assert queries.cells is not None
    queries = replace(queries, cells=replace(queries.cells, others=people - release.n_records))
    return PosteriorVerdict(*score(queries, 10, with_z=False), 0)
