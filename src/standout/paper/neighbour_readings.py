"""Readings of nearest neighbours: other people, other pools, another denominator  [Figure 12]."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from standout.core.rng import generator
from standout.paper.attack_runner import EXAMINED, NEAREST, Lab
from standout.paper.paper_results import neighbours
from standout.paper.readings import DEFINED, Reading
from standout.release.model import Release
from standout.release.subset import subset
from standout.similarity.attributes import Present, Similarity, Within
from standout.similarity.records import Over
from standout.theory.sparsity import Sparsity, sparsity

__all__ = ["COST", "NAMES", "POINTS", "readings_of_neighbours"]

POINTS = (0.05, 0.1, 0.2, 0.3, 0.5)
POOLS = (1_000, 10_000, 50_000)
LEASTS = (20, 100)
COST = 1.5 * NEAREST
NAMES = (
    DEFINED,
    "over the target's own length",
    *(f"among {pool:,} random records" for pool in POOLS),
    *(f"people with ≥ {least} ratings" for least in LEASTS),
)


def readings_of_neighbours(lab: Lab) -> tuple[Reading, ...]:
    """Figure 12 in all readings."""
    found = [
        Reading("12", reading, name, f"at least {x:.2f}", dict(neighbours()[name])[x], share, n)
        for name, similarity in (("sets", Present()), ("ratings", Within(value=0, time=None)))
        if name == "sets" or lab.release.levels is not None
        for reading, shares, n in _shares(lab, similarity)
        for x, share in zip(POINTS, shares, strict=True)
    ]
    order = {reading: at for at, reading in enumerate(NAMES)}
    return tuple(sorted(found, key=lambda one: order[one.reading]))


def _shares(lab: Lab, similarity: Similarity) -> Iterator[tuple[str, list[float], int]]:
    """(reading, share of people with a neighbour at least as similar as each of POINTS, how many people)."""
    release = lab.release
    usual = lab.nearest(similarity)
    yield DEFINED, *_at_points(usual)
    yield NAMES[1], *_at_points(_searched(lab, release, similarity, "first"))
    for pool, reading in zip(POOLS, NAMES[2:5], strict=True):
        if pool < release.n_records:
            yield reading, *_at_points(_searched(lab, _some_of(release, pool, lab.seed), similarity, "union"))
    for least, reading in zip(LEASTS, NAMES[5:], strict=True):
        enough = release.lengths[usual.records] >= least
        if enough.any():
            yield (
                reading,
                *_at_points(replace(usual, records=usual.records[enough], nearest=usual.nearest[enough])),
            )


def _at_points(found: Sparsity) -> tuple[list[float], int]:
    return [float((found.nearest >= x).mean()) for x in POINTS], len(found.nearest)


def _searched(lab: Lab, release: Release, similarity: Similarity, over: Over) -> Sparsity:
    sample = EXAMINED if release.n_records > EXAMINED else None
    with lab.meter.part(NEAREST / 2 * min(release.n_records / lab.release.n_records + 0.1, 1)):
        return sparsity(
            release,
            similarity,
            sample=sample,
            over=over,
            seed=lab.seed,
            threads=lab.threads,
            progress=lab.meter,
        )


def _some_of(release: Release, pool: int, seed: int) -> Release:
    """So many records drawn at random, as a release of their own."""
    keep = np.zeros(release.n_records, np.bool_)
    keep[generator(seed, "readings", "pool").permutation(release.n_records)[:pool]] = True
    return subset(release, keep)
