"""The answer of `standout lineup`: the library's answer, with the names as they were typed."""

from dataclasses import dataclass

from standout.attack.lineup import Part
from standout.cli.console import release_stamp
from standout.cli.reading_report import reading_json
from standout.cli.typed_facts import NamedFact
from standout.evaluate.lineup_answer import LineupAnswer
from standout.release.model import Release

__all__ = ["Answer"]


@dataclass(frozen=True)
class Answer(LineupAnswer):
    """The library's answer, the facts with their names, and the name of the attack."""

    facts: tuple[NamedFact, ...]
    name: str

    @classmethod
    def of(cls, answer: LineupAnswer, facts: tuple[NamedFact, ...], name: str) -> "Answer":
        """Add the names to the library's answer."""
        parts = answer.release, answer.aux, answer.attack, answer.verdict, answer.threshold, answer.top
        return cls(*parts, facts, name)

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
            "assumes": self.assumption or None,
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


def _fact_dict(release: Release, named: NamedFact) -> dict[str, object]:
    name, code, fact = named
    return {
        "name": name,
        "item": None if code is None else release.items[code],
        "title": None if code is None or release.titles is None else release.titles[code] or None,
        "value": fact.value,
        "time": None if fact.time is None else fact.time.isoformat(),
        **fact.errors._asdict(),
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
        "by_item": part.by_item,
        "by_value": part.by_value,
        "by_time": part.by_time,
    }
