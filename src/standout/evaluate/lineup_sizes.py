"""How many of the most probable records hold 50, 90 and 99 % of the probability.

Sorting the scores of a large release takes ten times as long as computing them. Probabilities are therefore
added up in buckets of similar scores first, and only a bucket in which a wanted sum is reached is sorted.
"""

import math

import numpy as np

from standout.attack.engine_kernels import U
from standout.attack.verdict import MatchingVerdict, Verdict
from standout.attack.verdicts import Verdicts
from standout.core.arrays import Floats
from standout.core.jit import Array, Int, Real, kernel, subroutine
from standout.core.progress import no_progress
from standout.core.threads import run_in_slices

__all__ = ["MASSES", "lineup_sizes"]

MASSES = (0.5, 0.9, 0.99)
BUCKETS = 1 << 13
LEAST = 1e-300
"""Scores that are not above this are all in one bucket: its inverse would overflow."""
TOLERANCE = 1e-12
"""A sum that falls short by this share, which is rounding, counts as reached."""


def lineup_sizes(verdicts: Verdicts, targets: int, sizes: int, draws: int, threads: int | None) -> Floats:
    """The lineup size for each of MASSES and each query; NaN but for the first draw of the first targets."""
    found = np.full((len(MASSES), len(verdicts)), np.nan)
    queries = [target * draws * sizes + size for target in range(targets) for size in range(sizes)]

    def work_on(low: int, high: int, _: None) -> None:
        for q in queries[low:high]:
            found[:, q] = _lineup_size(verdicts[q])

    run_in_slices(len(queries), threads, lambda: None, work_on, no_progress)
    return found


def _lineup_size(verdict: Verdict) -> Floats:
    """The number of most probable records that hold each of MASSES."""
    n = verdict.candidates
    if isinstance(verdict, MatchingVerdict):
        return np.asarray(np.ceil(np.array(MASSES) * (verdict.matching or n)))
    if verdict.scale == 0.0:
        return np.asarray(np.ceil(np.array(MASSES) * n))
    counts = np.empty(len(MASSES))
    _fewest_records(verdict.scores, n, verdict.highest, verdict.scale, np.array(MASSES), counts)
    return counts


@kernel
def _fewest_records(scores: Array, n: Int, highest: Real, scale: Real, masses: Array, counts: Array) -> None:
    """counts[i] = how many of n scores, from the highest down, hold the share masses[i] of Σ e^(score/scale).

    Scores that are not positive are either 0 or of records that are not candidates.
    """
    positive = _positive_scores(scores)
    bucket_of, weight, number = (np.empty(len(positive), np.uint16), np.zeros(BUCKETS), np.zeros(BUCKETS, np.int64))
    per_score = (BUCKETS - 1) / highest if highest > LEAST else 0.0
    for i in range(U(len(positive))):
        x = positive[i]
        at = U(min(x * per_score, BUCKETS - 1.0))
        bucket_of[i] = at
        weight[at] += math.exp((x - highest) / scale)
        number[at] += 1
    of_zero, held = math.exp(-highest / scale), 0.0
    for bucket in range(BUCKETS - 1, -1, -1):
        held += weight[bucket]
    total = held + of_zero * (n - len(positive))
    for i in range(len(masses)):
        wanted = masses[i] * total * (1.0 - TOLERANCE)
        above, before, bucket = 0.0, 0, BUCKETS - 1
        while bucket >= 0 and above + weight[bucket] < wanted:
            above += weight[bucket]
            before += number[bucket]
            bucket -= 1
        if bucket >= 0:
            members = positive[bucket_of == np.uint16(bucket)]
            counts[i] = before + _fewest_of(members, highest, scale, wanted - above)
        else:
            counts[i] = len(positive) + math.ceil((wanted - held) / of_zero)


@subroutine
def _positive_scores(scores: Array) -> Array:
    """The positive scores, in their order. No branch: half of the scores are, in random order."""
    positive, n = np.empty(len(scores) + 1), U(0)
    for i in range(U(len(scores))):
        positive[n] = scores[i]
        n += U(scores[i] > 0.0)
    return positive[:n]


@subroutine
def _fewest_of(members: Array, highest: Real, scale: Real, wanted: Real) -> Int:
    """How many of these scores, from the highest down, have Σ e^((score − highest)/scale) ≥ wanted."""
    members.sort()
    held, n = 0.0, len(members)
    for taken in range(1, n + 1):
        held += math.exp((members[n - taken] - highest) / scale)
        if held >= wanted:
            return taken
    return n
