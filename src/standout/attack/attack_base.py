"""What all attacks share: one target, many targets, and the first facts of many; subclasses say how they score."""

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from standout.attack.engine import score
from standout.attack.queries import Queries, excluded_records
from standout.attack.verdict import Verdict
from standout.attack.verdicts import Verdicts
from standout.core.arrays import Ints, offsets
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.data.release import Release
from standout.know.facts import Aux, KnownFacts, encode_auxes

__all__ = ["Exclude", "QueryAttack", "first_facts", "nested_with_attacks"]

Exclude = str | None | Sequence[str | None] | NDArray[np.int64]
V = TypeVar("V", bound=Verdict)


class QueryAttack(Generic[V]):
    """Base class of all attacks: `_queries` says what is asked, and the engine answers."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Let what a subclass overrides take effect in a simulation, or refuse it.

        Simulations call `nested`. If only `attacks` is overridden, `nested` calls it. If only `attack` is, the
        other two are refused: they would return the verdicts of the base class.
        """
        super().__init_subclass__(**options)
        own: dict[str, Any] = dict(vars(cls))
        if "attacks" in own and "nested" not in own:
            cls.nested = nested_with_attacks  # type: ignore[method-assign, assignment]
        elif "attack" in own and "attacks" not in own and "nested" not in own:
            cls.attacks = cls.nested = _refuse  # type: ignore[method-assign, assignment]

    def attack(self, release: Release, aux: Aux, *, exclude: str | None = None, top: int = 10) -> V:
        """Attack one target.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        aux : Aux
            What the adversary knows about the target.
        exclude : str, optional
            Id of a record to remove from the release first.
        top : int
            Number of best records to have ready, from 2 to 1,000.

        Returns
        -------
        Verdict
            The best guess and the lineup.
        """
        found = (vars(base).get("attacks") for base in type(self).__mro__)
        attacks = next(attacks for attacks in found if attacks is not None and attacks is not _refuse)
        return cast(V, attacks(self, release, [aux], exclude=exclude, top=top, threads=1)[0])

    def attacks(
        self,
        release: Release,
        auxes: Iterable[Aux] | KnownFacts,
        *,
        exclude: Exclude = None,
        top: int = 10,
        with_z: bool = True,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> Verdicts:
        """Attack many targets.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        auxes : iterable of Aux, or KnownFacts
            What the adversary knows about each target.
        exclude : str, or sequence of str or None, optional
            Id of a record to remove first: one for all targets, or one for each.
        top : int
            Number of best records to have ready, from 2 to 1,000.
        with_z : bool
            Whether to prepare probabilities. False is faster; probabilities are then computed on demand.
        threads : int, optional
            Number of threads; default: all cores. The results do not depend on it.
        progress : callable, optional
            Called as progress(stage, done, total).

        Returns
        -------
        Verdicts
            One verdict for each aux, in the same order.
        """
        known = auxes if isinstance(auxes, KnownFacts) else encode_auxes(release, auxes)
        excluded = excluded_records(release, exclude, len(known))
        return self._verdicts(release, known, excluded, None, check_top(top), with_z, threads, progress)

    def nested(
        self,
        release: Release,
        auxes: Iterable[Aux] | KnownFacts,
        sizes: Sequence[int],
        *,
        exclude: Exclude = None,
        top: int = 2,
        with_z: bool = True,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> Verdicts:
        """Attack with only the first facts of each aux, for several sizes at once.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        auxes : iterable of Aux, or KnownFacts
            What the adversary knows about each target.
        sizes : sequence of int
            Numbers of facts.
        exclude, top, with_z, threads, progress
            As in `attacks`. Two best records are enough for the eccentricity.

        Returns
        -------
        Verdicts
            The verdict on aux q with sizes[s] facts has the number q · len(sizes) + s.

        Raises
        ------
        ParameterError
            If a size is not a whole number ≥ 1.
        """
        check_sizes(sizes)
        known = auxes if isinstance(auxes, KnownFacts) else encode_auxes(release, auxes)
        excluded = excluded_records(release, exclude, len(known))
        return self._verdicts(release, known, excluded, sizes, check_top(top), with_z, threads, progress)

    def _verdicts(
        self,
        release: Release,
        known: KnownFacts,
        exclude: Ints,
        sizes: Sequence[int] | None,
        top: int,
        with_z: bool,
        threads: int | None,
        progress: Progress,
    ) -> Verdicts:
        queries, alpha = self._queries(release, known, exclude), getattr(self, "alpha", None)
        scored = score(queries, top, sizes, with_z=with_z, alpha=alpha or 0.0, threads=threads, progress=progress)
        return Verdicts(*scored, alpha)

    def _queries(self, release: Release, known: KnownFacts, exclude: Ints) -> Queries:
        raise NotImplementedError


def check_top(top: int) -> int:
    """Return `top` if it is a whole number from 2 to 1,000."""
    if isinstance(top, bool) or not isinstance(top, int) or not 2 <= top <= 1000:
        raise ParameterError(f"top must be a whole number from 2 to 1,000, got {top!r}")
    return top


def check_sizes(sizes: Sequence[int]) -> None:
    """Refuse numbers of facts that are not whole numbers ≥ 1."""
    if not all(isinstance(size, int) and size >= 1 for size in sizes):
        raise ParameterError("sizes must be whole numbers ≥ 1")


def first_facts(known: KnownFacts, sizes: Sequence[int]) -> KnownFacts:
    """Each target with only its first facts: one target for every size, sizes within targets."""
    query = np.repeat(np.arange(len(known)), len(sizes))
    counts = np.minimum(np.tile(np.array(sizes, np.int64), len(known)), np.diff(known.first)[query])
    first = offsets(counts)
    fact = np.arange(first[-1]) + np.repeat(known.first[query] - first[:-1], counts)
    return known.select(query, fact, first)


def nested_with_attacks(
    attack: Any,
    release: Release,
    auxes: Iterable[Aux] | KnownFacts,
    sizes: Sequence[int],
    *,
    exclude: Any = None,
    top: int = 2,
    with_z: bool = True,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Verdicts:
    """Attack with only the first facts of each aux, for several sizes, by one call of `attacks`."""
    check_sizes(sizes)
    known = auxes if isinstance(auxes, KnownFacts) else encode_auxes(release, auxes)
    excluded = np.repeat(excluded_records(release, exclude, len(known)), len(sizes))
    shorter = first_facts(known, sizes)
    verdicts = attack.attacks(release, shorter, exclude=excluded, top=top, threads=threads, progress=progress)
    if not isinstance(verdicts, Verdicts) or len(verdicts) != len(shorter):
        raise ParameterError(f"{type(attack).__name__}.attacks() must return Verdicts, one for each aux")
    return verdicts


def _refuse(attack: Any, *given: Any, **options: Any) -> Verdicts:
    raise ParameterError(
        f"{type(attack).__name__} overrides only attack, which has no effect on many targets: override "
        "attacks instead, or subclass so.Attack"
    )
