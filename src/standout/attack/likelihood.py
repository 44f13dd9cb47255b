"""A Bayesian attack, far stronger than the paper's: how likely the facts are if they are about a record."""

from dataclasses import dataclass, replace
from typing import Any

from standout.attack.attack_base import QueryAttack
from standout.attack.error_model import HasErrors, error_model
from standout.attack.likelihood_queries import LikelihoodQueries, choice_model, prepare_likelihood_queries
from standout.attack.verdict import PosteriorVerdict
from standout.core.arrays import Ints
from standout.core.errors import ParameterError
from standout.data.release import Release
from standout.know.facts import KnownFacts

__all__ = ["Likelihood"]

LARGEST_COVERAGE = 1 - 1e-9


@dataclass(frozen=True)
class Likelihood(QueryAttack[PosteriorVerdict]):
    """Bayesian attack: the posterior probability that a record is the target's, given the known facts.

    A fact is one of the target's entries. With probability c, the coverage, it comes from the own record r,
    otherwise from anywhere in the release. A record that has its item i adds

        ln(c · entries / (|supp(i)| · |r|) + 1 − c) + ln(P(v, t | entry) / P(v, t))

    and one that lacks it ln(1 − c). If it has the item several times, the fact may be about any of these
    entries, and their probabilities are added up (docs/repeats.md). Scores are these sums relative to a
    record that has no known item; a fact never adds less than 0. P(v, t | entry) is the adversary's error
    model, P(v, t) its average over the release. In a sanitized release, the noise of its steps is part of
    both, and of c. The posterior is normalised over all records and the case that the target is not there.
    All parameters come from the release and the adversary, none from the targets. See docs/attack.md.

    Parameters
    ----------
    adversary : Adversary, optional
        Whose errors the facts have. Default: `simulate`, `audit` and `advise` use the adversary that they
        simulate. For facts typed by hand, one in ten is assumed wrong, and errors decay as in the paper.
        Errors that a `Fact` states itself come first.
    coverage : float, optional
        c, above 0 and below 1. Default: 0.98, or less if the adversary has wrong items.
    present : float
        Prior probability that the target is in the release, above 0 and at most 1.

    Raises
    ------
    ParameterError
        If a parameter has the wrong type or is out of range.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> adversary = so.Adversary(knows=6, value_error=0, time_error=None)
    >>> aux = adversary.observe(release, "42", seed=1)
    >>> verdict = so.Likelihood(adversary).attack(release, aux)
    >>> verdict.best, round(verdict.probability("42"), 3), round(verdict.nobody, 3)
    ('42', 0.999, 0.001)
    """

    adversary: HasErrors | None = None
    coverage: float | None = None
    present: float = 0.5

    def __post_init__(self) -> None:
        if self.coverage is not None:
            _check_share("coverage", self.coverage, LARGEST_COVERAGE)
        _check_share("present", self.present, 1.0)

    def for_adversary(self, adversary: Any) -> "Likelihood":
        """The same attack with the errors of this adversary, unless it has an adversary already.

        Parameters
        ----------
        adversary : Adversary
            Whose facts will be attacked with. An adversary of your own that does not state its errors
            leaves the attack as it is.

        Returns
        -------
        Likelihood
            The attack.
        """
        if self.adversary is not None or not all(hasattr(adversary, name) for name in _SETTINGS):
            return self
        return replace(self, adversary=adversary)

    def _queries(self, release: Release, known: KnownFacts, exclude: Ints) -> LikelihoodQueries:
        models = [error_model(release, self.adversary, self.coverage, errors) for errors in known.errors]
        sizes = choice_model(release, "any" if self.adversary is None else self.adversary.items)
        present = self.present * models[0].present
        return prepare_likelihood_queries(release, known, models=models, sizes=sizes, present=present, exclude=exclude)


_SETTINGS = ("knows", "wrong", "wrong_facts", "value_error", "time_error", "items")


def _check_share(name: str, share: Any, most: float) -> None:
    number = isinstance(share, (int, float)) and not isinstance(share, bool)
    if not (number and 0 < share <= most):
        limit = "at most 1" if most == 1 else "below 1"
        raise ParameterError(f"{name} must be a number above 0 and {limit}, got {share!r}")
