"""Draws of an adversary of the user's own: which entries are known, or all facts about a target."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from standout.core.arrays import Bools, Ints, offsets
from standout.core.errors import ParameterError
from standout.core.rng import generator, uniforms
from standout.facts import Aux, KnownFacts, encode_auxes
from standout.observation import Entries, Knowledge, Observer
from standout.release.model import Release
from standout.similarity.function_values import call_user_code

__all__ = ["ChosenObserver", "TargetEntries", "check_known_facts", "observe_each"]


@dataclass(frozen=True, slots=True)
class TargetEntries:
    """The entries of a target's record, for the method `choose` of an adversary.

    Attributes
    ----------
    release : Release
        The data set that has the record.
    item : array of int
        The position of each entry's item in `release.items`.
    value : array of int
        The position of each entry's value in `release.levels`; the number of levels if it has none.
    time : array of int
        Time since the first of the release, in units of its clock; `release.span` if it has none.
    day : array of int
        Calendar days since the first of the release; -1 if it has none.
    support : array of int
        The number of records that have each item.

    Examples
    --------
    >>> import standout as so
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class RareOnly(so.Adversary):
    ...     def choose(self, entries, rng):
    ...         return np.flatnonzero(entries.support < 20)
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> len(RareOnly(knows=8).observe(release, "42"))
    2
    """

    release: Release
    item: Ints
    value: Ints
    time: Ints
    day: Ints
    support: Ints

    def __len__(self) -> int:
        return len(self.item)


class Chooser(Knowledge, Protocol):
    """An adversary that chooses which entries of a record are known."""

    def choose(self, entries: TargetEntries, rng: np.random.Generator) -> Any:
        """Positions of the known entries."""


class Drawer(Protocol):
    """An adversary that gives all facts about one target."""

    def observe(self, release: Release, record: str, seed: int = 0) -> Aux:
        """What is known about one target."""


class ChosenObserver(Observer):
    """Draws facts from the entries that an adversary of the user's own chooses.

    Errors and wrong values are as those of any adversary. The number of facts may differ between targets.
    """

    def __init__(self, adversary: Chooser, release: Release, seed: int) -> None:
        super().__init__(adversary, release, seed)
        self.chooser = adversary
        self.name = type(adversary).__name__
        if self.by_items:
            raise ParameterError(
                f"wrong_facts must be 'values' for {self.name}, which chooses entries of the record: "
                "override observe to add facts about other items"
            )

    def can_observe(self, records: Ints) -> Bools:
        """Whether each record has an entry."""
        return np.asarray(self.release.lengths[records] > 0)

    def observe(self, records: Ints, draws: int) -> KnownFacts:
        """The known facts of each record, `draws` times."""
        streams = self._streams("errors", records)
        facts, counts = [], []
        for record, stream in zip(records.tolist(), streams, strict=True):
            known = self._chosen_of(record)
            n = len(known.item)
            uniform = uniforms(np.array([stream]), 3 * draws * n).reshape(draws, 3, n).transpose(1, 0, 2)
            known = Entries(*(np.tile(column, (draws, 1)) for column in known))
            wrong = self._wrong(uniform[2], known, self._count_wrong(n))
            value = self._values(uniform[0], known.value, wrong)
            time = self._times(uniform[1], known.time, wrong)
            facts.append(Entries(known.item.ravel(), value.ravel(), time.ravel()))
            counts += [n] * draws
        nothing = Entries(*(np.empty(0, np.int64) for _ in range(3)))
        columns = Entries(*(np.concatenate(parts) for parts in zip(nothing, *facts, strict=True)))
        return self._known_facts(np.repeat(records, draws), columns, offsets(counts))

    def _count_wrong(self, n: int) -> int:
        """The share of wrong facts in n facts (half a fact is right)."""
        knows = self.adversary.knows
        return max(0, -(-(2 * n * self.by_values - knows) // (2 * knows)))

    def _days(self, time: Ints) -> Ints:
        """Calendar days since the first of the release; -1 for an entry without a time."""
        origin = 0 if self.release.clock is None else self.release.clock.origin
        day = (origin + time) // self.units - origin // self.units
        return np.where(time < self.release.span, day, -1)

    def _chosen_of(self, record: int) -> Entries:
        """The known entries of a record, in the order in which they become known."""
        entries, release = self._entries(record), self.release
        day = self._days(entries.time)
        target = TargetEntries(release, *entries, day=day, support=release.support[entries.item])
        rng = generator(self.seed, "choose", self.key, release.records[record])
        source = f"{self.name}.choose()"
        chosen = _positions(
            call_user_code(lambda: self.chooser.choose(target, rng), source), len(target), source
        )
        return Entries(*(column[chosen[: self.adversary.knows]] for column in entries))


def _positions(given: Any, count: int, source: str) -> Ints:
    array = np.asarray(given)
    array = array.astype(np.int64) if array.size == 0 else array
    fits = array.ndim == 1 and array.dtype.kind in "iu" and len(np.unique(array)) == len(array)
    if not fits or (len(array) and not (0 <= array.min() and array.max() < count)):
        raise ParameterError(f"{source} must return positions of entries of the record, each at most once")
    return array.astype(np.int64)


def observe_each(adversary: Drawer, release: Release, records: Ints, seeds: list[int]) -> KnownFacts:
    """What the adversary's own `observe` gives for each record, with each of these seeds."""
    source = f"{type(adversary).__name__}.observe()"
    auxes = []
    for record in records.tolist():
        for seed in seeds:
            aux = call_user_code(_observation(adversary, release, release.records[record], seed), source)
            if not isinstance(aux, Aux):
                raise ParameterError(f"{source} must return an Aux, got {type(aux).__name__}")
            auxes.append(aux)
    return encode_auxes(release, auxes)


def _observation(adversary: Drawer, release: Release, record: str, seed: int) -> Callable[[], Aux]:
    return lambda: adversary.observe(release, record, seed)


def check_known_facts(known: Any, name: str, release: Release, targets: int, knows: int) -> KnownFacts:
    """Return what an adversary of the user's own says if it fits; too many facts would be cut off unseen."""
    if not isinstance(known, KnownFacts):
        raise ParameterError(f"{name}.observe_all() must return KnownFacts, got {type(known).__name__}")
    if len(known) != targets:
        raise ParameterError(f"{name} gives facts about {len(known):,} targets instead of {targets:,}")
    most = int(np.diff(known.first).max(initial=0))
    if most > knows:
        raise ParameterError(
            f"{name} gives {most} facts about a target: knows must be at least {most}, got {knows}"
        )
    columns = (known.item, release.n_items), (known.value, len(known.values))
    n = int(known.first[-1])
    sizes = {len(column) for column in (known.item, known.value, known.time, known.timed)}
    if sizes != {n} or not all(
        column.min(initial=0) >= -1 and column.max(initial=-1) < end for column, end in columns
    ):
        raise ParameterError(f"{name} gives facts that do not fit the release: see docs/extending.md")
    return known
