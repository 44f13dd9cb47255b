"""Random numbers of a step, keyed by (seed, step number, record id, item id): order and threads never matter.

A record's key is a hash of its id under the seed. So the noise of one record reveals nothing about the noise
of another.
"""

import hashlib
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats
from standout.core.rng import check_seed, key
from standout.release.labels import Labels
from standout.release.model import Release
from standout.sanitizing import entry_kernels
from standout.sanitizing.draft import Draft
from standout.sanitizing.entry_kernels import EntryStreams

__all__ = ["NoiseKeys", "StepNoise"]

Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class StepNoise:
    """Random numbers of one step on one draft, from the keys of its records and items."""

    draft: Draft
    record_keys: Keys
    item_keys: Keys

    @property
    def streams(self) -> EntryStreams:
        """What kernels need to draw for each entry."""
        entries = self.draft.by_record
        return EntryStreams(entries.start, entries.item, self.record_keys, self.item_keys)

    def uniforms(self) -> Floats:
        """One number in [0, 1) for each entry."""
        streams, out = self.streams, np.empty(self.draft.n_entries)
        self.draft.run_by_records(lambda low, high: entry_kernels.uniforms(streams, low, high, out))
        return out


@dataclass(frozen=True, eq=False)
class NoiseKeys:
    """Keys of all records and items of a release under one seed."""

    seed: int
    records: Keys
    items: Keys

    @classmethod
    def of(cls, release: Release, seed: int) -> "NoiseKeys":
        """Keys of a release; raises a ParameterError for a bad seed."""
        check_seed(seed)
        return cls(
            seed, _hash_labels(release.records, seed, "record"), _hash_labels(release.items, seed, "item")
        )

    def noise(self, draft: Draft, *purpose: object) -> StepNoise:
        """Noise for one purpose: the number of a step, or another name for what is drawn."""
        purpose_key = key(self.seed, "sanitize", *purpose)
        return StepNoise(
            draft, self.records[draft.source_records] ^ purpose_key, self.items[draft.source_items]
        )


def _hash_labels(labels: Labels, seed: int, kind: str) -> Keys:
    data, secret = labels.data.tobytes(), f"{seed} {kind}".encode()
    hashes = b"".join(
        hashlib.blake2b(data[low:high], digest_size=8, key=secret).digest()
        for low, high in pairwise(labels.offsets.tolist())
    )
    return np.frombuffer(hashes, "<u8").astype(np.uint64)
