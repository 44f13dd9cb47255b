"""The answer of `standout lineup`: the verdict on known facts, what it assumes, and what it means."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from standout.adversary import Adversary
from standout.attack.any_attack import AnyAttack
from standout.attack.eccentricity import Match
from standout.attack.error_model import GUESSED_WRONG, error_model
from standout.attack.likelihood import Likelihood
from standout.attack.lineup import Lineup, Part
from standout.attack.matching_verdict import MatchingVerdict
from standout.attack.posterior_verdict import PosteriorVerdict
from standout.attack.verdict import Verdict
from standout.cli.console import release_stamp
from standout.cli.reading_report import reading_json
from standout.cli.typed_facts import NamedFact
from standout.core.foreign_text import printable
from standout.core.formatting import percent
from standout.evaluate.claim_threshold import ClaimThreshold
from standout.facts import Aux
from standout.release.model import Release

__all__ = ["Answer", "assumption", "conclusion", "probability_text"]


@dataclass(frozen=True)
class Answer:
    """The verdict on known facts, with what is needed to print it."""

    release: Release
    facts: tuple[NamedFact, ...]
    aux: Aux
    name: str
    attack: AnyAttack
    verdict: Verdict
    threshold: ClaimThreshold
    top: int

    @cached_property
    def lineup(self) -> Lineup:
        """The records to show."""
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
    def unknown(self) -> list[str]:
        """Names that match no item."""
        return [name for name, code, _ in self.facts if code is None]

    def to_dict(self) -> dict[str, object]:
        """Return the JSON output."""
        verdict, length, joined = self.verdict, self.aux.length, self.aux.joined
        by_posterior = self.threshold.by_posterior
        return {
            "attack": self.name,
            "assumes": assumption(self) or None,
            "facts": [_fact_dict(self.release, fact) for fact in self.facts],
            "candidates": verdict.candidates,
            "lineup": [candidate._asdict() for candidate in self.lineup],
            "outside": self.lineup.outside,
            "nobody": self.nobody,
            "eccentricity": verdict.eccentricity,
            "sigma": verdict.sigma,
            "mean": verdict.mean,
            "phi": None if by_posterior else self.threshold.value,
            "posterior": self.threshold.value if by_posterior else None,
            "match": self.match.record if self.match else None,
            "ties": verdict.ties,
            "bits": {"prior": verdict.bits, "left": self.bits_left},
            "explain": [_part_dict(fact, part) for fact, part in zip(self.facts, self.parts, strict=False)],
            "unknown": self.unknown,
            "length": None if length is None else list(length),
            "joined": None if joined is None else [day.isoformat() for day in joined],
            "read": reading_json(self.release),
            **release_stamp(self.release),
        }


def assumption(answer: Answer) -> str:
    """Return what the Bayesian attack takes for granted, in a sentence; empty for other attacks."""
    attack = answer.attack
    if not isinstance(attack, Likelihood):
        return ""
    coverage = error_model(answer.release, attack.adversary, attack.coverage).coverage
    parts = [
        f"the person's record has {percent(coverage)} of the known items",
        *_assumed_errors(answer, attack),
        f"the person is in the data with a chance of {percent(attack.present)}",
    ]
    return f"Assumes: {'; '.join(parts)}."


def _assumed_errors(answer: Answer, attack: Likelihood) -> Iterator[str]:
    """Yield what is assumed about values and dates, if the release has any."""
    if not (answer.release.n_levels or answer.release.span):
        return
    if isinstance(attack.adversary, Adversary):
        wrong, n = attack.adversary.wrong, len(answer.facts)
        _, _, precision = str(replace(attack.adversary, wrong=0)).partition(", ")
        yield (f"{wrong} of {n} facts wrong, otherwise " if wrong else "") + precision
    else:
        yield f"1 in {1 / GUESSED_WRONG:.0f} facts wrong, otherwise values and dates roughly right"


def conclusion(answer: Answer) -> str:
    """Return what the verdict means, in a sentence."""
    verdict = answer.verdict
    if not verdict.candidates:
        return "No claim: no record fits the length and the first date."
    if len(answer.unknown) == len(answer.facts):
        return "No conclusion: the release has none of these items."
    if isinstance(verdict, MatchingVerdict) and verdict.matching != 1:
        matching = f"{verdict.matching:,} records match" if verdict.matching else "no record matches"
        return f"No claim: {matching} all facts."
    if answer.best is None:
        return "No conclusion: these facts do not favour any record."
    if isinstance(verdict, PosteriorVerdict):
        return _posterior_conclusion(answer, verdict)
    if verdict.candidates == 1:
        return "No claim: only one record fits, and eccentricity needs at least two."
    if verdict.ties > 1:
        return f"No claim: {verdict.ties:,} records tie for the best score."
    return _eccentricity_conclusion(answer)


def _posterior_conclusion(answer: Answer, verdict: PosteriorVerdict) -> str:
    if verdict.ties > 1:
        return f"No claim: {verdict.ties:,} records tie for the best score."
    best, least = answer.lineup[0], _threshold_text(answer.threshold.value)
    said = _distinct_from(best.probability, answer.threshold.value).replace(" ", "\xa0")
    if answer.match is None:
        return (
            f"No claim: the most likely record, {printable(best.record)}, has a probability of {said}, "
            f"less than {least}."
        )
    return f"Claim: record {printable(best.record)}, with a probability of {said} (at least {least})."


def _eccentricity_conclusion(answer: Answer) -> str:
    phi, verdict = f"φ = {answer.threshold.value:g}", answer.verdict
    eccentricity = _distinct_from_phi(verdict.eccentricity, answer.threshold.value)
    distance = f"{eccentricity} standard deviations above the second best"
    if answer.match is None:
        return f"No claim: the best score is only {distance}, less than {phi}."
    only = "No other record matches all facts. " if isinstance(verdict, MatchingVerdict) else ""
    return f"Claim: record {printable(answer.best or '')}. {only}Its score is {distance} ({phi})."


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


def _threshold_text(probability: float) -> str:
    return f"{100 * probability:.12g}\xa0%"


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


def _fact_dict(release: Release, named: NamedFact) -> dict[str, object]:
    name, code, fact = named
    return {
        "name": name,
        "item": None if code is None else release.items[code],
        "title": None if code is None or release.titles is None else release.titles[code] or None,
        "value": fact.value,
        "time": None if fact.time is None else fact.time.isoformat(),
        "records": 0 if code is None else int(release.support[code]),
    }


def _part_dict(named: NamedFact, part: Part) -> dict[str, object]:
    return {
        "name": named.name,
        "item": part.item,
        "has": part.has,
        "similarity": part.similarity,
        "weight": part.weight,
        "part": part.score,
    }
