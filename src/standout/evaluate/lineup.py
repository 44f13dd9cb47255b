"""The answer to known facts: a lineup, whether it is a claim, what it assumes, and what it means in words."""

from dataclasses import dataclass, replace
from functools import cached_property

from standout.attack.any_attack import AnyAttack, check_attack, column_verdict
from standout.attack.error_model import GUESSED_WRONG, error_model
from standout.attack.likelihood import Likelihood
from standout.attack.verdict import Lineup, Match, MatchingVerdict, Part, PosteriorVerdict, Verdict
from standout.core.errors import ParameterError, whole_number
from standout.core.text import percent, printable
from standout.data.export import ResultView
from standout.data.release import Release
from standout.evaluate.claims import ClaimThreshold
from standout.know.adversary import Adversary
from standout.know.facts import AS_ASSUMED, Aux, encode_auxes
from standout.know.sanitized import Sanitized, original_of

LONGEST = 1000
"""Largest number of records in a lineup."""


@dataclass(frozen=True, repr=False)
class LineupAnswer(ResultView):
    """The answer of `lineup`: the verdict on known facts, the records it lists, and what it means in words."""

    release: Release
    aux: Aux
    attack: AnyAttack
    verdict: Verdict
    threshold: ClaimThreshold
    top: int

    def __repr__(self) -> str:
        return f"<LineupAnswer: {self.conclusion}>"

    @cached_property
    def lineup(self) -> Lineup:
        """The most probable records."""
        return self.verdict.lineup(self.top)

    @cached_property
    def best(self) -> str | None:
        """The best guess; None if no fact supports any record."""
        return self.lineup[0].record if self.lineup else None

    @cached_property
    def match(self) -> Match | None:
        """The claimed record, if its eccentricity or posterior reaches the threshold."""
        if isinstance(self.verdict, PosteriorVerdict):
            return self.verdict.claim(self.threshold.value)
        return self.verdict.match(self.threshold.value)

    @property
    def nobody(self) -> float | None:
        """Probability that the person is not in the data; None if the attack does not say."""
        return self.verdict.nobody if isinstance(self.verdict, PosteriorVerdict) else None

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """What each fact adds to the score of the best guess."""
        return () if self.best is None else self.verdict.explain(self.best)

    @cached_property
    def bits_left(self) -> float:
        """Bits still missing to identify the best guess; all bits if there is none."""
        return self.verdict.bits if self.best is None else self.verdict.entropy(self.best)

    @property
    def assumption(self) -> str:
        """What the Bayesian attack takes for granted, in a sentence; empty for other attacks."""
        attack, release = self.attack, self.release
        if not isinstance(attack, Likelihood) or release.columns:
            return ""
        coverage = error_model(release, attack.adversary, attack.coverage).coverage
        parts = [f"the person's record has {percent(coverage)} of the known items"]
        if release.n_levels or release.span:
            assumed = f"1 in {1 / GUESSED_WRONG:.0f} facts wrong, otherwise values and dates roughly right"
            if isinstance(attack.adversary, Adversary):
                wrong = attack.adversary.wrong
                _, _, precision = str(replace(attack.adversary, wrong=0)).partition(", ")
                assumed = (f"{wrong} of {len(self.aux)} facts wrong, otherwise " if wrong else "") + precision
            stated = any(fact.errors != AS_ASSUMED for fact in self.aux)
            parts.append(assumed + (" (except where a fact states its own error)" if stated else ""))
        parts.append(f"the person is in the data with a chance of {percent(attack.present)}")
        return f"Assumes: {'; '.join(parts)}."

    @property
    def conclusion(self) -> str:
        """What the verdict means, in a sentence."""
        return self.conclude(f"record {printable(self.best or '')}")

    def conclude(self, best: str) -> str:
        """Say what the verdict means, with another name for the best guess."""
        verdict = self.verdict
        if not verdict.candidates:
            return "No claim: no record fits the length and the first date."
        if not len(self.aux):
            return "No conclusion: there are no facts."
        if len(verdict.unknown) == len(self.aux):
            return "No conclusion: the release has none of these items."
        if isinstance(verdict, MatchingVerdict) and verdict.matching != 1:
            matching = f"{verdict.matching:,} records match" if verdict.matching else "no record matches"
            return f"No claim: {matching} all facts."
        if self.best is None:
            return "No conclusion: these facts do not favour any record."
        if not isinstance(verdict, PosteriorVerdict) and verdict.candidates == 1:
            return "No claim: only one record fits, and eccentricity needs at least two."
        if verdict.ties > 1:
            return f"No claim: {verdict.ties:,} records tie for the best score."
        least = self.threshold.value
        if isinstance(verdict, PosteriorVerdict):
            said = _distinct_from(self.lineup[0].probability, least).replace(" ", "\xa0")
            if self.match is None:
                name = best.removeprefix("record ")
                said = f"the most likely record, {name}, has a probability of {said}, less than"
                return f"No claim: {said} {100 * least:.12g}\xa0%."
            return f"Claim: {best}, with a probability of {said} (at least {100 * least:.12g}\xa0%)."
        distance = f"{_distinct_from_phi(verdict.eccentricity, least)} standard deviations above the second best"
        if self.match is None:
            return f"No claim: the best score is only {distance}, less than φ = {least:g}."
        only = "No other record matches all facts. " if isinstance(verdict, MatchingVerdict) else ""
        return f"Claim: {best}. {only}Its score is {distance} (φ = {least:g})."


def lineup(
    release: Release,
    aux: Aux,
    attack: AnyAttack | None = None,
    *,
    top: int = 10,
    phi: float = 1.5,
    posterior: float = 0.95,
    population: int | None = None,
) -> LineupAnswer:
    """Answer which records known facts point to, and what this means.

    Parameters
    ----------
    release : Release
        The data set that would be published. If it was sanitized (`standout.sanitize`), the facts are about
        its original, and they are translated as an adversary would do who knows the steps.
    aux : Aux
        What is known about the person.
    attack : an attack, optional
        Default: `Likelihood()`.
    top : int
        Number of records in the lineup, from 1 to 1,000.
    phi : float
        Minimum eccentricity for a claim of the paper's attacks.
    posterior : float
        Minimum posterior for a claim of `Likelihood`.
    population : int, optional
        Number of people of whom a release with columns is a sample; default: the person is in it.

    Returns
    -------
    LineupAnswer
        The verdict, the lineup, and both in words.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> adversary = so.Adversary(knows=6, value_error=0, time_error=3)
    >>> answer = so.lineup(release, adversary.observe(release, "42", seed=1), so.Likelihood(adversary))
    >>> answer.best, answer.match.record, len(answer.lineup)
    ('42', '42', 10)
    >>> answer.conclude("candidate 1").partition(",")[0]
    'Claim: candidate 1'
    """
    if not isinstance(aux, Aux):
        raise ParameterError(f"aux must be an Aux: so.Aux([so.Fact(item, value, time), …]), got {type(aux).__name__}")
    attack = Likelihood() if attack is None else check_attack(attack)
    threshold = ClaimThreshold.of(attack, phi=phi, posterior=posterior)
    if whole_number("top", top, 1) > LONGEST:
        raise ParameterError(f"top must be from 1 to {LONGEST:,}, got {top:,}")
    verdict: Verdict
    if release.columns:
        if not len(aux):
            raise ParameterError("aux must have at least one fact")
        verdict = column_verdict(release, encode_auxes(original_of(release), [aux]), attack, population)
    elif isinstance(release, Sanitized):
        verdict = attack.attacks(release, release.translate_aux(aux), top=max(top, 2), threads=1)[0]
    else:
        verdict = attack.attack(release, aux, top=max(top, 2))
    return LineupAnswer(release, aux, attack, verdict, threshold, top)


def probability_text(probability: float) -> str:
    """Format a probability so that only certainty reads 100 % and only impossibility 0 %.

    >>> [probability_text(p) for p in (0.1234, 0.999999, 1e-9, 1.0)]
    ['12.34 %', '> 99.99 %', '< 0.01 %', '100 %']
    """
    if 0.9999 < probability < 1:
        return "> 99.99 %"
    if 0 < probability < 0.0001:
        return "< 0.01 %"
    return f"{100 * probability:.2f} %" if 0 < probability < 1 else f"{100 * probability:.0f} %"


def _distinct_from(probability: float, threshold: float) -> str:
    """Format a probability with enough digits to differ from the threshold."""
    text, digits = probability_text(probability), 3
    while text == probability_text(threshold) and probability != threshold and digits < 12:
        text, digits = f"{100 * probability:.{digits}f} %", digits + 1
        if float(text.removesuffix(" %")) != 100 * threshold:
            break
    return text


def _distinct_from_phi(eccentricity: float, phi: float) -> str:
    """Format the eccentricity with enough digits to differ from φ and from 0."""
    if 0 < eccentricity < 1e-6 < phi:
        return "0.000001 or less"
    digits = 1
    while round(eccentricity, digits) in (phi, 0) and eccentricity != phi and digits < 12:
        digits += 1
    return f"{eccentricity:.{digits}f}"
