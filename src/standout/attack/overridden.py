"""Subclasses of attacks: what they override takes effect in a simulation, or is refused."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from standout.attack.own_queries import first_facts
from standout.attack.queries import excluded_records
from standout.attack.verdicts import Verdicts
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.facts import Aux, KnownFacts, encode_auxes
from standout.release.model import Release

__all__ = ["batch_attack", "check_sizes", "guard_overrides", "nested_with_attacks"]


def guard_overrides(kind: type[Any]) -> None:
    """Make a subclass of an attack consistent; call it in `__init_subclass__`.

    Simulations call `nested`. If only `attacks` is overridden, `nested` calls it. If only `attack` is, the
    other two are refused: they would return the verdicts of the base class.
    """
    own = vars(kind)
    if "attacks" in own and "nested" not in own:
        kind.nested = nested_with_attacks
    elif "attack" in own and "attacks" not in own and "nested" not in own:
        kind.attacks = kind.nested = _refuse


def batch_attack(kind: type[Any]) -> Any:
    """The `attacks` of a class or its bases that is not refused, for `attack` to call."""
    found = (vars(base).get("attacks") for base in kind.__mro__)
    return next(attacks for attacks in found if attacks is not None and attacks is not _refuse)


def check_sizes(sizes: Sequence[int]) -> None:
    """Refuse numbers of facts that are not whole numbers ≥ 1."""
    if not all(isinstance(size, int) and size >= 1 for size in sizes):
        raise ParameterError("sizes must be whole numbers ≥ 1")


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
