"""When an adversary claims a record: from an eccentricity φ on, or from a posterior on."""

import math
from typing import NamedTuple

from standout.attack.any_attack import AnyAttack
from standout.attack.eccentricity import check_phi
from standout.attack.likelihood import Likelihood
from standout.attack.posterior_verdict import STRONGEST
from standout.core.checks import positive_share

__all__ = ["PAPER_THRESHOLD", "ClaimThreshold"]


class ClaimThreshold(NamedTuple):
    """The least strength of a claim, as users state it: `measure` is "phi" or "posterior"."""

    measure: str
    value: float

    @classmethod
    def of(cls, attack: AnyAttack, phi: float, posterior: float) -> "ClaimThreshold":
        """The threshold of an attack, after a check of both parameters."""
        phi, posterior = check_phi(phi), positive_share("posterior", posterior)
        by_posterior = isinstance(attack, Likelihood)
        return cls("posterior", posterior) if by_posterior else cls("phi", phi)

    @property
    def by_posterior(self) -> bool:
        """Whether the strength of a claim is −log10(1 − posterior)."""
        return self.measure == "posterior"

    @property
    def strength(self) -> float:
        """The threshold as a strength.

        >>> round(ClaimThreshold("posterior", 0.95).strength, 3), ClaimThreshold("phi", 1.5).strength
        (1.301, 1.5)
        """
        if not self.by_posterior:
            return self.value
        return min(-math.log10(1.0 - self.value), STRONGEST) if self.value < 1 else STRONGEST

    @property
    def setting(self) -> str:
        """Name of the setting in tables."""
        return f"{self.measure}={self.value:g}"

    @property
    def symbol(self) -> str:
        """Name of the measure in text."""
        return "posterior" if self.by_posterior else "φ"

    @property
    def text(self) -> str:
        r"""The threshold in text, with spaces that do not break.

        >>> ClaimThreshold("posterior", 0.95).text, ClaimThreshold("phi", 1.5).text
        ('posterior\xa0≥\xa00.95', 'φ\xa0=\xa01.5')
        """
        return f"{self.symbol}\xa0{'≥' if self.by_posterior else '='}\xa0{self.value:g}"

    def stated(self, strength: float) -> float:
        """A strength in the unit of the threshold: an eccentricity, or a probability."""
        return 1.0 - 10.0**-strength if self.by_posterior else strength


PAPER_THRESHOLD = ClaimThreshold("phi", 1.5)
"""The paper's."""
