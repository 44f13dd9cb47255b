"""Random targets, and their entries in random order."""

import hashlib
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from standout.attack.pairs import has_item
from standout.core.arrays import Ints
from standout.core.errors import whole_number
from standout.core.rng import generator
from standout.data.labels import Labels
from standout.data.release import Release
from standout.data.repeats import distinct_positions
from standout.data.subset import subset
from standout.know.adversary import Adversary, known_facts
from standout.know.facts import KnownFacts, facts_from_entries, level_values
from standout.know.sanitized import OriginalMapping, Sanitized

__all__ = ["Population", "draw_targets", "sample_release", "shuffled_entries"]


def draw_targets(
    release: Release, targets: int | None, min_items: int, seed: int, purpose: str, counts: Ints | None = None
) -> tuple[Ints, int]:
    """Up to `targets` random records with enough entries (None: all), and how many records have too few.

    All records are put in one random order and those with too few entries are skipped, so that another
    `min_items` gives largely the same targets. `counts` is what is counted instead of entries, by record.
    """
    wanted = release.n_records if targets is None else whole_number("targets", targets, 1)
    order = generator(seed, purpose, "targets").permutation(release.n_records)
    eligible = order[(release.lengths if counts is None else counts)[order] >= min_items]
    return eligible[:wanted], release.n_records - len(eligible)


def shuffled_entries(
    release: Release, records: Ints, seed: int, purpose: str, count: int | None = None, start: Ints | None = None
) -> list[Ints]:
    """For each record the indices of its entries in random order, at most `count` of them.

    The order depends on (seed, purpose, record) only. `start` says where each record begins, if something
    else than its entries is drawn.
    """
    start = release.by_record.start if start is None else start
    entries = []
    for record in records.tolist():
        draw = generator(seed, purpose, release.records[record])
        entries.append(start[record] + draw.permutation(int(start[record + 1] - start[record]))[:count])
    return entries


# The people whom a release is about, and the records that represent them.
#
# An adversary knows facts about the original data. A release that is not sanitized is its own original.


@dataclass(frozen=True, eq=False, slots=True)
class Population:
    """The release under attack, and the original that describes its people.

    People are indices of records of the original, records are indices of records of the release. Without a
    separate original these are the same.
    """

    release: Release
    original: Release

    @classmethod
    def of(cls, release: Release) -> "Population":
        """The people of a release."""
        return cls(release, release.original if isinstance(release, Sanitized) else release)

    @property
    def is_sanitized(self) -> bool:
        """Whether the release was made from an original, so that records may differ from what is true."""
        return self.original is not self.release

    def record_of(self, people: Ints) -> Ints:
        """The record that represents each of these people; -1 for none."""
        return self.release.mapping.representatives[people] if isinstance(self.release, Sanitized) else people

    def known_facts(self, adversary: Adversary, people: Ints, seed: int, draws: int = 1) -> KnownFacts:
        """What the adversary knows about these people, in codes of the release."""
        return self._in_release_codes(known_facts(adversary, self.original, people, seed, draws), people)

    def all_facts(self, people: Ints) -> KnownFacts:
        """Everything that is true of these people, in codes of the release; -1 for an item it lacks.

        Equal entries of a person are one fact.
        """
        entries, first = distinct_positions(self.original, people)
        return self._in_release_codes(facts_from_entries(self.original, entries, first), people)

    def items_in_record(self, person: int, items: Ints) -> NDArray[np.bool_]:
        """Which of a person's items are also in the record that represents them."""
        if not isinstance(self.release, Sanitized):
            return np.ones(len(items), np.bool_)
        record, code = self.release.mapping.representatives[person], self.release.mapping.item_codes[items]
        return (code >= 0) & has_item(self.release, np.full(len(items), record), code)

    def key(self) -> list[str]:
        """Fingerprints of the release, its original, and the mapping between them."""
        if not isinstance(self.release, Sanitized):
            return [self.release.fingerprint]
        mapping, digest = self.release.mapping, hashlib.blake2b(digest_size=16)
        for codes in (mapping.representatives, mapping.item_codes):
            digest.update(np.ascontiguousarray(codes, np.int64).tobytes())
        digest.update(repr((mapping.released_values, mapping.rounding_periods)).encode())
        return [self.release.fingerprint, self.original.fingerprint, digest.hexdigest()]

    def _in_release_codes(self, known: KnownFacts, people: Ints) -> KnownFacts:
        return self.release.translate_facts(known, people) if isinstance(self.release, Sanitized) else known


# A sample of a release, together with the people whom its records represent.


def sample_release(release: Release, keep: NDArray[np.bool_]) -> Release:
    """The records where `keep` is set; the original keeps the people whom they represent."""
    sample = subset(release, keep)
    if not isinstance(release, Sanitized):
        return sample
    mapping, whole = release.mapping, release.original
    is_represented = (mapping.representatives >= 0) & keep[np.maximum(mapping.representatives, 0)]
    original = subset(whole, is_represented)
    code = np.full(release.n_items + 1, -1)  # the last one is for an item that is gone: -1
    code[_indices(release.items, sample.items)] = np.arange(sample.n_items)
    value = dict(zip(level_values(whole), mapping.released_values, strict=True))
    sample_mapping = OriginalMapping(
        (np.cumsum(keep) - 1)[mapping.representatives[is_represented]],
        code[mapping.item_codes[_indices(whole.items, original.items)]],
        tuple(value[level] for level in level_values(original)),
        mapping.rounding_periods,
    )
    columns = {field.name: getattr(sample, field.name) for field in fields(Release)}
    return replace(release, **columns, original=original, mapping=sample_mapping)


def _indices(labels: Labels, names: Labels) -> NDArray[np.int64]:
    """The index of each name among the labels."""
    return np.array([labels.find(name) for name in names], np.int64)
