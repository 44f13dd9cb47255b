"""Options that describe the adversary."""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import click

from standout.cli.option_groups import ADVERSARY, ATTACK, option
from standout.cli.options import parse_number_or_none
from standout.cli.reading import Command
from standout.core.errors import ParameterError

if TYPE_CHECKING:
    from standout.attack.any_attack import AnyAttack
    from standout.attack.error_model import HasErrors
    from standout.data.release import Release
    from standout.know.adversary import Adversary
    from standout.know.similarity import Similarity

__all__ = [
    "BOTH",
    "AdversaryOptions",
    "AttackOptions",
    "adversary_options",
    "attack_options",
    "check_applies",
    "within",
]

OPTIONS = [
    option("--knows", "N", "Number of known facts.", group=ADVERSARY, default=8),
    option("--wrong", "N", "Number of known facts that are wrong.", group=ADVERSARY, default=0),
    option(
        "--wrong-facts",
        "",
        "What is wrong: the value and date; an item that the target does not have, "
        "chosen by popularity; or any such item.",
        group=ADVERSARY,
        type=click.Choice(["values", "items", "any items"]),
        default="values",
    ),
    option("--value-error", "E|none", "Error of known values; none: unknown.", group=ADVERSARY, default="1"),
    option("--time-error", "DAYS|none", "Error of known dates; none: unknown.", group=ADVERSARY, default="14"),
    option(
        "--items",
        "NAME",
        "Which items are known: any, rarest, popular, recent, burst, or outside-top-500 (or another number).",
        group=ADVERSARY,
        default="any",
    ),
    option(
        "--length-error",
        "SHARE",
        "Relative error of the known record length.",
        group=ADVERSARY,
        type=float,
        show_default="unknown",
    ),
    option(
        "--joined-error", "DAYS", "Error of the known first date.", group=ADVERSARY, type=float, show_default="unknown"
    ),
]


@dataclass(frozen=True, slots=True)
class AdversaryOptions:
    """The options as typed."""

    knows: int
    wrong: int
    wrong_facts: Literal["values", "items", "any items"]
    value_error: str
    time_error: str
    items: str
    length_error: float | None
    joined_error: float | None

    def adversary(self) -> "Adversary":
        """Return the adversary that the options describe."""
        from standout.know.adversary import Adversary, outside_top

        top = re.fullmatch(r"outside[-_]top[-_(]?(\d+)\)?", self.items)
        return Adversary(
            knows=self.knows,
            wrong=self.wrong,
            wrong_facts=self.wrong_facts,
            value_error=parse_number_or_none("--value-error", self.value_error),
            time_error=parse_number_or_none("--time-error", self.time_error),
            items=outside_top(int(top[1])) if top else self.items,
            length_error=self.length_error,
            joined_error=self.joined_error,
        )


def adversary_options(command: Command) -> Command:
    """Add the options to a command, which receives them as `adversary`."""

    @functools.wraps(command)
    def run(**parameters: Any) -> None:
        values = {field.name: parameters.pop(field.name) for field in fields(AdversaryOptions)}
        command(adversary=AdversaryOptions(**values), **parameters)

    for add_option in reversed(OPTIONS):
        run = add_option(run)
    return run


# Options that choose the attack, its scales, and the minimum strength of a claim.


BOTH = "both"
PHI, POSTERIOR = 1.5, 0.95
VALUE_SCALE, TIME_SCALE = 1.5, 30.0
APPLIES = {
    "phi": ("paper", "algorithm-1a"),
    "value_scale": ("paper",),
    "time_scale": ("paper",),
    "weights": ("paper",),
    "posterior": ("likelihood",),
    "coverage": ("likelihood",),
    "present": ("likelihood",),
}
"""The attacks that each option is for."""
CLAIMS = ("phi", "posterior")
"""Options about claims."""
OPTIONS_ATTACK_OPTIONS = [
    option(
        "--posterior",
        "SHARE",
        "likelihood: minimum posterior probability for a claim.",
        group=ATTACK,
        type=float,
        show_default=f"{POSTERIOR:g}",
    ),
    option(
        "--coverage",
        "SHARE",
        "likelihood: chance that the target's own record has a known item.",
        group=ATTACK,
        type=float,
        show_default="0.98, or less if items can be wrong",
    ),
    option(
        "--present",
        "SHARE",
        "likelihood: prior probability that the target is in the data.",
        group=ATTACK,
        type=float,
        show_default="0.5",
    ),
    option(
        "--phi",
        "FLOAT",
        "paper and Algorithm 1A: minimum eccentricity for a claim.",
        group=ATTACK,
        type=float,
        show_default=f"{PHI:g}",
    ),
    option(
        "--value-scale",
        "E|none",
        "paper: scale with which the similarity of values decays; none: ignore them.",
        group=ATTACK,
        show_default=f"{VALUE_SCALE:g}",
    ),
    option(
        "--time-scale",
        "DAYS|none",
        "paper: scale with which the similarity of dates decays; none: ignore them.",
        group=ATTACK,
        show_default=f"{TIME_SCALE:g}",
    ),
    option(
        "--weights",
        "",
        "paper: weight of an item that n records have: 1/ln n, 1 or 1/n.",
        group=ATTACK,
        type=click.Choice(["rarity", "one", "inverse"]),
        show_default="rarity",
    ),
]


@dataclass(frozen=True, slots=True)
class AttackOptions:
    """The options as typed; None where the default applies."""

    attack: str
    posterior: float | None
    coverage: float | None
    present: float | None
    phi: float | None
    value_scale: str | None
    time_scale: str | None
    weights: Literal["rarity", "one", "inverse"] | None

    def check(self) -> None:
        """Refuse options that do not apply to the attack."""
        for name, attacks in APPLIES.items():
            if getattr(self, name) is not None:
                check_applies(self.attack, f"--{name.replace('_', '-')}", attacks)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the chosen attacks."""
        return ("likelihood", "paper") if self.attack == BOTH else (self.attack,)

    @property
    def least_phi(self) -> float:
        """Minimum eccentricity for a claim."""
        return PHI if self.phi is None else self.phi

    @property
    def least_posterior(self) -> float:
        """Minimum posterior for a claim."""
        return POSTERIOR if self.posterior is None else self.posterior

    def is_changed(self, name: str) -> bool:
        """Whether an option changes the attack itself, and not only its claims."""
        options = (option for option, attacks in APPLIES.items() if name in attacks and option not in CLAIMS)
        return any(getattr(self, option) is not None for option in options)

    def built(
        self, name: str, similarity: "Similarity | None" = None, adversary: "HasErrors | None" = None
    ) -> "AnyAttack":
        """An attack with these options; `similarity` is for Algorithm 1A, `adversary` for likelihood."""
        from standout.attack.likelihood import Likelihood
        from standout.attack.scoreboard import Scoreboard, ScoreboardRH

        if name == "likelihood":
            present = {} if self.present is None else {"present": self.present}
            return Likelihood(adversary, coverage=self.coverage, **present)
        if name == "algorithm-1a":
            return Scoreboard() if similarity is None else Scoreboard(similarity)
        return ScoreboardRH(
            weights=self.weights or "rarity",
            value_scale=_scale("--value-scale", self.value_scale, VALUE_SCALE),
            time_scale=_scale("--time-scale", self.time_scale, TIME_SCALE),
        )


def attack_options(choices: Sequence[str], default: str, help_text: str) -> Callable[[Command], Command]:
    """Add the options to a command, which receives them as `attack`, checked."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(**parameters: Any) -> None:
            values = {field.name: parameters.pop(field.name) for field in fields(AttackOptions)}
            options = AttackOptions(**values)
            options.check()
            command(attack=options, **parameters)

        choice = option("--attack", "", help_text, group=ATTACK, type=click.Choice(choices), default=default)
        for add_option in reversed([choice, *OPTIONS_ATTACK_OPTIONS]):
            run = add_option(run)
        return run

    return decorate


def check_applies(attack: str, option: str, attacks: Sequence[str]) -> None:
    """Refuse an option that is for other attacks than the chosen one."""
    if attack != BOTH and attack not in attacks:
        raise ParameterError(f"{option} is an option of --attack {' and '.join(attacks)}, not of {attack}")


def within(release: "Release", value: float | None, time: float | None) -> "Similarity":
    """Sim of Algorithm 1A: 1 within these errors, else 0."""
    from standout.know.similarity import Present, Within

    value, time = (value if release.n_levels else None), (time if release.span else None)
    return Present() if value is None and time is None else Within(value=value, time=time)


def _scale(option: str, text: str | None, default: float) -> float | None:
    return default if text is None else parse_number_or_none(option, text)
