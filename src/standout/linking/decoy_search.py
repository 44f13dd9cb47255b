"""Decoys of both kinds, and how strongly they match records of the release."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from standout.core.arrays import Ints
from standout.core.progress import Progress, no_progress
from standout.facts import KnownFacts
from standout.findings.links import LinkSettings
from standout.linking.best_records import BestRecords, concatenate
from standout.linking.claims import DecoyStrengths, draw_templates
from standout.linking.decoys import fact_pool, withhold
from standout.linking.profiles import Profiles, batches
from standout.linking.record_search import RecordSearch

__all__ = ["Decoys", "draw_decoys"]


@dataclass(frozen=True, eq=False)
class _Kind:
    """Decoys of one kind: their facts, the person each was made from, and the record that is removed."""

    known: KnownFacts
    person: Ints
    removed: Ints | None

    def first(self, count: int) -> "_Kind":
        """Return the first decoys."""
        removed = None if self.removed is None else self.removed[:count]
        return _Kind(_facts_of_people(self.known, 0, count), self.person[:count], removed)

    def batches(self) -> Iterator[tuple[KnownFacts, Ints | None]]:
        """Yield decoys that are few enough to be attacked together."""
        for low, high in batches(np.diff(self.known.first)):
            removed = None if self.removed is None else self.removed[low:high]
            yield _facts_of_people(self.known, low, high), removed


@dataclass(frozen=True, eq=False)
class Decoys:
    """The decoys of a linking, in the order of `decoys.KINDS`.

    `slack` allows for the record that is missing where a person was withheld: the eccentricity of N records
    is at most N/√(N − 1), so one record fewer changes it by a share of about 1/N.
    """

    kinds: tuple[_Kind, ...]
    slack: float

    def sample(self, facts: int) -> "Decoys":
        """Return the first decoys of each kind, with at most about this many facts."""
        counts = [max(int(np.searchsorted(kind.known.first, facts, "right")) - 1, 1) for kind in self.kinds]
        return Decoys(tuple(kind.first(min(counts)) for kind in self.kinds), self.slack)

    def best(self, search: RecordSearch, progress: Progress = no_progress) -> BestRecords:
        """Return the best record of each decoy."""
        best: list[BestRecords] = []
        done, total = 0, sum(len(kind.person) for kind in self.kinds)
        for kind in self.kinds:
            for known, removed in kind.batches():
                best.append(search.find(known, removed, full=False))
                done += len(known)
                progress("decoys", done, total)
        return concatenate(best)

    def strengths(self, search: RecordSearch) -> DecoyStrengths:
        """Return how strongly the decoys match."""
        return self.strengths_of(self.best(search))

    def strengths_of(self, best: BestRecords) -> DecoyStrengths:
        """Return how strongly the decoys match their best records."""
        people = [kind.person for kind in self.kinds]
        number = np.repeat(np.arange(len(people)), [len(person) for person in people])
        return DecoyStrengths(number, np.concatenate(people), best.strength, self.slack)


def draw_decoys(profiles: Profiles, settings: LinkSettings) -> Decoys:
    """Draw the decoys of both kinds."""
    templates = draw_templates(profiles.used, settings.decoys, settings.seed)
    withheld = withhold(profiles, templates, settings.seed)
    recombined = fact_pool(profiles, settings.seed).recombine(profiles, templates, settings.seed)
    return Decoys(
        (
            _Kind(recombined, np.arange(len(templates)), None),
            _Kind(withheld.known, withheld.record, withheld.record),
        ),
        slack=2.0 / profiles.release.n_records if settings.by == "eccentricity" else 0.0,
    )


def _facts_of_people(known: KnownFacts, low: int, high: int) -> KnownFacts:
    """The facts of the people from `low` up to `high`."""
    first = known.first[low : high + 1]
    return known.select(np.arange(low, high), np.arange(first[0], first[-1]), first - first[0])
