"""Random numbers keyed by (seed, purpose, record): neither order nor the number of workers changes a draw."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError
from standout.core.jit import inline

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
S11, S27, S30, S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)
TO_UNIT = 2.0**-53


def check_seed(seed: int) -> int:
    """Check that a seed is a whole number from 0 to 2**63 - 1."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**63:
        raise ParameterError(f"seed must be a whole number from 0 to 2**63 - 1, got {seed!r}")
    return int(seed)


def key(seed: int, *purpose: object) -> np.uint64:
    """64-bit key of one stream of draws."""
    text = "\x1f".join([str(check_seed(seed)), *map(str, purpose)])
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def generator(seed: int, *purpose: object) -> np.random.Generator:
    """NumPy generator for one stream of draws."""
    return np.random.Generator(np.random.Philox(key=int(key(seed, *purpose))))


@inline
def mix(stream: np.uint64, counter: np.uint64) -> np.uint64:
    """Return 64 random bits of a stream, number `counter` (SplitMix64); draws have no state and no order."""
    z = stream + (counter + np.uint64(1)) * GOLDEN
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    return z ^ (z >> S31)


@inline
def uniform(stream: np.uint64, counter: np.uint64) -> float:
    """Return number `counter` of a stream, uniform in [0, 1)."""
    return float(mix(stream, counter) >> S11) * TO_UNIT


def uniforms(streams: NDArray[np.uint64], count: int) -> NDArray[np.float64]:
    """Return the first `count` numbers of many streams, uniform in [0, 1): one row per stream."""
    z = streams[:, None] + np.arange(1, count + 1, dtype=np.uint64) * GOLDEN
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    return np.asarray(((z ^ (z >> S31)) >> S11) * TO_UNIT)
