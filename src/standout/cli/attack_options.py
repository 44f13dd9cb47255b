"""Options that describe the adversary and choose the attack, its settings, and the minimum strength of a claim."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from standout.cli.options import ADVERSARY, ATTACK, Decorated, option, shared
from standout.core.errors import ParameterError

if TYPE_CHECKING:
    from standout.attack.any_attack import AnyAttack
    from standout.data.release import Release
    from standout.know.adversary import Adversary
    from standout.know.similarity import Similarity

BOTH = "both"
ADVERSARY_PARAMETERS = (
    "knows", "wrong", "wrong_facts", "value_error", "time_error", "items", "length_error", "joined_error"
)  # fmt: skip
WRONG_FACTS = ("values", "items", "any items")
ITEMS_HELP = "Which items are known: any, rarest, popular, recent, burst, or outside-top-500 (or another number)."
WRONG_HELP = (
    "What is wrong: the value and date; an item that the target does not have, chosen by popularity; or any such item."
)
SETTINGS = {
    **dict.fromkeys(("posterior", "coverage", "present"), ("likelihood",)),
    "phi": ("paper", "algorithm-1a"),
    **dict.fromkeys(("value_scale", "time_scale", "weights"), ("paper",)),
}
"""Settings of the attacks, and the attacks that each is for."""
COVERAGE_HELP = "likelihood: chance that the target's own record has a known item."
PRESENT_HELP = "likelihood: prior probability that the target is in the data."
VALUES_HELP = "paper: scale with which the similarity of values decays; none: ignore them."
DATES_HELP = "paper: scale with which the similarity of dates decays; none: ignore them."
WEIGHTS_HELP = "paper: weight of an item that n records have: 1/ln n, 1 or 1/n."
COVERAGE = "0.98, or less if items can be wrong"


def _convert_adversary(parameters: dict[str, Any]) -> None:
    from standout.know.adversary import Adversary, outside_top

    top = re.fullmatch(r"outside[-_]top[-_(]?(\d+)\)?", parameters["items"])
    parameters["items"] = outside_top(int(top[1])) if top else parameters["items"]
    parameters["adversary"] = Adversary(**{name: parameters.pop(name) for name in ADVERSARY_PARAMETERS})


adversary_options = shared(
    _convert_adversary,
    option("--knows", "N", "Number of known facts.", ADVERSARY, default=8),
    option("--wrong", "N", "Number of known facts that are wrong.", ADVERSARY, default=0),
    option("--wrong-facts", "", WRONG_HELP, ADVERSARY, type=click.Choice(WRONG_FACTS), default="values"),
    option("--value-error", "E|none", "Error of known values; none: unknown.", ADVERSARY, default="1"),
    option("--time-error", "DAYS|none", "Error of known dates; none: unknown.", ADVERSARY, default="14"),
    option("--items", "NAME", ITEMS_HELP, ADVERSARY, default="any"),
    option("--length-error", "SHARE", "Relative error of the known record length.", ADVERSARY, show_default="unknown"),
    option("--joined-error", "DAYS", "Error of the known first date.", ADVERSARY, show_default="unknown"),
)
"""What the adversary knows; a command receives it as `adversary`."""


@dataclass(frozen=True, slots=True)
class AttackOptions:
    """The chosen attack, and its settings."""

    attack: str
    settings: dict[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the chosen attacks."""
        return ("likelihood", "paper") if self.attack == BOTH else (self.attack,)

    @property
    def claims(self) -> dict[str, Any]:
        """Minimum eccentricity and posterior for a claim."""
        return {name: self.settings[name] for name in ("phi", "posterior")}

    def built(
        self, name: str, similarity: "Similarity | None" = None, adversary: "Adversary | None" = None
    ) -> "AnyAttack":
        """An attack with these options; `similarity` is for Algorithm 1A, `adversary` for likelihood."""
        from standout.attack.likelihood import Likelihood
        from standout.attack.scoreboard import Scoreboard, ScoreboardRH

        if name == "likelihood":
            return Likelihood(adversary, coverage=self.settings["coverage"], present=self.settings["present"])
        if name == "algorithm-1a":
            return Scoreboard() if similarity is None else Scoreboard(similarity)
        return ScoreboardRH(**{each: self.settings[each] for each in ("weights", "value_scale", "time_scale")})


def _convert_attack(parameters: dict[str, Any]) -> None:
    settings, attack = {name: parameters.pop(name) for name in SETTINGS}, parameters["attack"]
    context = click.get_current_context()
    for name in settings:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            check_applies(attack, f"--{name.replace('_', '-')}", SETTINGS[name])
    parameters["attack"] = AttackOptions(attack, settings)


def attack_options(choices: Sequence[str], default: str, help_text: str) -> Callable[[Decorated], Decorated]:
    """The attack and its settings; a command receives them as `attack`, checked."""
    return shared(
        _convert_attack,
        option("--attack", "", help_text, ATTACK, type=click.Choice(choices), default=default),
        option("--posterior", "SHARE", "likelihood: minimum posterior probability for a claim.", ATTACK, default=0.95),
        option("--coverage", "SHARE", COVERAGE_HELP, ATTACK, show_default=COVERAGE),
        option("--present", "SHARE", PRESENT_HELP, ATTACK, default=0.5),
        option("--phi", "FLOAT", "paper and Algorithm 1A: minimum eccentricity for a claim.", ATTACK, default=1.5),
        option("--value-scale", "E|none", VALUES_HELP, ATTACK, default="1.5"),
        option("--time-scale", "DAYS|none", DATES_HELP, ATTACK, default="30"),
        option("--weights", "rarity|one|inverse", WEIGHTS_HELP, ATTACK, default="rarity"),
    )


def check_applies(attack: str, option: str, attacks: Sequence[str]) -> None:
    """Refuse an option that is for other attacks than the chosen one."""
    if attack != BOTH and attack not in attacks:
        raise ParameterError(f"{option} is an option of --attack {' and '.join(attacks)}, not of {attack}")


def within(release: "Release", value: float | None, time: float | None) -> "Similarity":
    """Sim of Algorithm 1A: 1 within these errors, else 0."""
    from standout.know.similarity import Present, Within

    value, time = (value if release.n_levels else None), (time if release.span else None)
    return Present() if value is None and time is None else Within(value=value, time=time)
