"""Readings of nearest neighbours: other people, other candidates, another denominator  [Figure 12]."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from standout.core.rng import generator
from standout.paper.attack_runner import NEIGHBOUR_SAMPLE, NEIGHBOUR_SECONDS, AttackRunner
from standout.paper.paper_results import neighbours
from standout.paper.readings import AS_DEFINED, Reading, in_order
from standout.release.model import Release
from standout.release.subset import subset
from standout.similarity.attributes import Present, Similarity, Within
from standout.similarity.records import Over
from standout.theory.sparsity import Sparsity, sparsity

__all__ = ["NEIGHBOUR_READINGS", "SECONDS", "SIMILARITIES", "readings_of_neighbours"]

SIMILARITIES = (0.05, 0.1, 0.2, 0.3, 0.5)
POOL_SIZES = (1_000, 10_000, 50_000)
MINIMUM_RATINGS = (20, 100)
SECONDS = 1.5 * NEIGHBOUR_SECONDS
NEIGHBOUR_READINGS = (
    AS_DEFINED,
    "divided by the target's own length",
    *(f"among {size:,} random records" for size in POOL_SIZES),
    *(f"people with ≥ {minimum} ratings" for minimum in MINIMUM_RATINGS),
)


def readings_of_neighbours(runner: AttackRunner) -> tuple[Reading, ...]:
    """Figure 12 in all readings."""
    readings = [
        Reading(
            figure="12",
            reading=reading,
            panel=panel,
            label=f"at least {x:.2f}",
            paper=dict(neighbours()[panel])[x],
            measured=share,
            n=n,
        )
        for panel, similarity in (("sets", Present()), ("ratings", Within(value=0, time=None)))
        if panel == "sets" or runner.release.levels is not None
        for reading, shares, n in _shares_by_reading(runner, similarity)
        for x, share in zip(SIMILARITIES, shares, strict=True)
    ]
    return in_order(readings, NEIGHBOUR_READINGS)


def _shares_by_reading(
    runner: AttackRunner, similarity: Similarity
) -> Iterator[tuple[str, list[float], int]]:
    """(reading, share of people with a neighbour of at least each of SIMILARITIES, number of people)."""
    release = runner.release
    defined = runner.nearest_neighbours(similarity)
    yield AS_DEFINED, *_shares(defined)
    yield NEIGHBOUR_READINGS[1], *_shares(_search(runner, release, similarity, "first"))
    for size, reading in zip(POOL_SIZES, NEIGHBOUR_READINGS[2:5], strict=True):
        if size < release.n_records:
            pool = _random_records(release, size, runner.seed)
            yield reading, *_shares(_search(runner, pool, similarity, "union"))
    for minimum, reading in zip(MINIMUM_RATINGS, NEIGHBOUR_READINGS[5:], strict=True):
        is_long = release.lengths[defined.records] >= minimum
        if is_long.any():
            long = replace(defined, records=defined.records[is_long], nearest=defined.nearest[is_long])
            yield reading, *_shares(long)


def _shares(neighbours: Sparsity) -> tuple[list[float], int]:
    return [float((neighbours.nearest >= x).mean()) for x in SIMILARITIES], len(neighbours.nearest)


def _search(runner: AttackRunner, release: Release, similarity: Similarity, over: Over) -> Sparsity:
    sample = NEIGHBOUR_SAMPLE if release.n_records > NEIGHBOUR_SAMPLE else None
    part_of_all = min(release.n_records / runner.release.n_records + 0.1, 1)
    with runner.meter.part(NEIGHBOUR_SECONDS / 2 * part_of_all):
        return sparsity(
            release,
            similarity,
            sample=sample,
            over=over,
            seed=runner.seed,
            threads=runner.threads,
            progress=runner.meter,
        )


def _random_records(release: Release, size: int, seed: int) -> Release:
    """A release of `size` records drawn at random."""
    is_drawn = np.zeros(release.n_records, np.bool_)
    is_drawn[generator(seed, "readings", "pool").permutation(release.n_records)[:size]] = True
    return subset(release, is_drawn)
