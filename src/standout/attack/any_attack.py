"""What every attack offers, the paper's or the user's own."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import Exclude, Scoreboard, ScoreboardRH
from standout.attack.verdict import Verdict
from standout.attack.verdicts import Verdicts
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.facts import Aux, KnownFacts
from standout.release.model import Release
from standout.similarity.attributes import Decay, Equal, Present, Within

__all__ = [
    "BUILT_IN_SIMILARITIES",
    "AnyAttack",
    "attacks_by_name",
    "check_attack",
    "checkpoint_key",
    "fit_attack",
    "is_built_in",
]

BUILT_IN = (Likelihood, Scoreboard, ScoreboardRH)
BUILT_IN_SIMILARITIES = (Within, Decay, Equal, Present)


class AnyAttack(Protocol):
    """An attack on one target, on many, and with the first facts of many."""

    def attack(self, release: Release, aux: Aux, *, exclude: str | None = None, top: int = 10) -> Verdict:
        """Attack one target."""

    def attacks(
        self,
        release: Release,
        auxes: Iterable[Aux] | KnownFacts,
        *,
        exclude: Exclude = None,
        top: int = 10,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> Verdicts:
        """Attack many targets."""

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
