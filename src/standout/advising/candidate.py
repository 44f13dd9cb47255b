"""One way to sanitize a release, with its risk and what it leaves of the release's use."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from standout.advising.strongest_attack import Among, Risk
from standout.data_utility.utility import Utility
from standout.evaluate.estimates import Estimate
from standout.sanitizing.step import Step

__all__ = ["UNTOUCHED", "Point", "key_of"]

UNTOUCHED = "untouched"


@dataclass(frozen=True, eq=False, slots=True)
class Point:
    """Steps in order, how many people are found after them, and what the release is still good for.

    `stage` says how well that is known: "quick", "full", or "fresh": with other facts and noise than it was
    chosen by. The limit is for those who are found `among` everybody, or among those in the release.
    """

    steps: tuple[Step, ...]
    risk: Risk
    utility: Utility
    stage: str
    among: Among = "released"

    @property
    def share(self) -> Estimate:
        """The share of people found that is held against the limit."""
        return self.risk.among(self.among)

    @property
    def name(self) -> str:
        return named(self.steps)

    @property
    def kept(self) -> float:
        """The share of the use that is left; all, where the untouched release is good for nothing either."""
        return 1.0 if self.utility.kept is None else self.utility.kept.value

    def to_dict(self) -> dict[str, Any]:
        """In plain values."""
        return {
            "steps": list(map(str, self.steps)),
            "name": self.name,
            "stage": self.stage,
            "attack": self.risk.attack,
            "risk": _told(self.risk.everybody),
            "risk_released": _told(self.risk.released),
            "utility": {name: _told(one) for name, one in self.utility.measures()},
        }

    @classmethod
    def of(
        cls, told: Mapping[str, Any], steps: tuple[Step, ...], among: Among, seed: int, fingerprint: str
    ) -> "Point":
        """The point that was told so."""
        found = {name: Estimate(**one) for name, one in told["utility"].items()}
        names = [each.name for each in fields(Utility)]
        plain: dict[str, Any] = {"steps": tuple(told["steps"]), "seed": seed, "fingerprint": fingerprint}
        plain |= {name: found.get(name) for name in names if name not in plain}
        risk = Risk(Estimate(**told["risk"]), Estimate(**told["risk_released"]), told["attack"])
        return cls(steps, risk, Utility(**plain), told["stage"], among)


def named(steps: Sequence[Step]) -> str:
    return " + ".join(map(str, steps)) or UNTOUCHED


def key_of(*settings: object) -> str:
    """A name of everything that a point depends on."""
    return hashlib.blake2b(json.dumps(settings, default=str).encode(), digest_size=12).hexdigest()


def _told(found: Estimate) -> dict[str, Any]:
    return {each.name: getattr(found, each.name) for each in fields(Estimate)}
