"""Random numbers of a step, keyed by (seed, step number, record id, item id): order and threads never matter.

A record's key is a hash of its id under the seed: whoever works out the noise of one record has learned
nothing of the noise of another.
"""

import hashlib
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from standout.core.rng import check_seed, key
from standout.release.labels import Labels
from standout.release.model import Release
from standout.sanitizing import entry_kernels as kernels
from standout.sanitizing.draft import Draft

__all__ = ["Keys", "Noise"]

Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Noise:
    """The draws of one step on one draft: `records` and `items` are the keys of its records and items."""

    draft: Draft
    records: Words
    items: Words

    def uniforms(self) -> NDArray[np.float64]:
        """A number in [0, 1) for each entry."""
        side, out = self.draft.side, np.empty(self.draft.n_entries)
        self.draft.by_pieces(
            lambda low, high: kernels.uniforms(
                side.start, side.item, self.records, self.items, low, high, out
            )
        )
        return out


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys of all records and items of a release under one seed."""

    seed: int
    records: Words
    items: Words

    @classmethod
    def of(cls, release: Release, seed: int) -> "Keys":
        check_seed(seed)
        return cls(seed, _keys(release.records, seed, "record"), _keys(release.items, seed, "item"))

    def noise(self, draft: Draft, *step: object) -> Noise:
        """The draws of a step: its number among all, or what else it is for."""
        own = key(self.seed, "sanitize", *step)
        return Noise(draft, self.records[draft.people] ^ own, self.items[draft.things])


def _keys(labels: Labels, seed: int, kind: str) -> Words:
    data, secret = labels.data.tobytes(), f"{seed} {kind}".encode()
    hashes = b"".join(
        hashlib.blake2b(data[low:high], digest_size=8, key=secret).digest()
        for low, high in pairwise(labels.offsets.tolist())
    )
    return np.frombuffer(hashes, "<u8").astype(np.uint64)
