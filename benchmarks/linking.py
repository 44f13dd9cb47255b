"""Linking at scale: profiles per second and core, compared with SciPy's sparse product for the same scores.

python -m benchmarks.linking [--entries 10000000] [--rounds 3] [--folder build/bench]

Profiles are whole records of the release with up to 2,000 facts: short ones (up to 50), usual ones (51 to
500) and long ones. SciPy multiplies a matrix of profiles × (item, level), which holds the similarity of each
fact's value to every level, by a matrix of (item, level) × records. This gives the same scores as Standout
without dates by the paper's attack; the benchmark checks that the eccentricities are equal. Dates do not fit
into a product: with them, the Bayesian attack is measured. CPU time is measured on one thread. Two more
measurements follow: the time for 10,000 long profiles, and so.link as a whole on half of the entries of
10,000 people.
"""

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

import standout as so
from benchmarks.data_files import index_file
from benchmarks.harness import interleaved, options, restart_single_threaded
from standout.data.build import subset
from standout.know.facts import KnownFacts, facts_from_entries
from standout.linking.decoys import MAX_FACTS
from standout.linking.records import Agreement, EvidenceModel, RecordSearch

MODULE = "benchmarks.linking"
KINDS = (("up to 50 facts", 1, 50, 200), ("51 to 500 facts", 51, 500, 60), ("501 to 2,000 facts", 501, 2_000, 12))
MANY = 10_000


def profiles(release: so.Release, low: int, high: int, count: int) -> KnownFacts:
    """Return the entries of some records of these lengths; the longest records if there are none."""
    suitable = np.flatnonzero((release.lengths >= low) & (release.lengths <= high))
    if not len(suitable):
        suitable = np.argsort(-release.lengths, kind="stable")[:count]
    chosen = np.random.default_rng(1).permutation(suitable)[:count]
    counts = np.minimum(release.lengths[chosen], MAX_FACTS)
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    at = np.arange(first[-1]) + np.repeat(release.by_record.start[chosen] - first[:-1], counts)
    return facts_from_entries(release, at, first)


def product(release: so.Release) -> Callable[[KnownFacts], list[float]]:
    """Scores by a sparse product: Σ wt(i) e^(−|Δvalue|/ρ0) over the items that a record has."""
    side, levels = release.by_record, np.asarray(release.levels, np.float64)
    assert side.value is not None
    n = len(levels)
    column = side.item.astype(np.int64) * n + side.value
    ones = np.ones(len(column), np.float32)
    shape = release.n_records, release.n_items * n
    records = sp.csr_matrix((ones, column, side.start), shape=shape).T.tocsr()
    weight = 1.0 / np.log(np.maximum(release.support, 2))

    def run(known: KnownFacts) -> list[float]:
        values = np.array(known.values)[known.value]
        similarity = np.exp(-np.abs(values[:, None] - levels) / 1.5) * weight[known.item][:, None]
        columns = known.item[:, None] * n + np.arange(n)
        data = similarity.astype(np.float32).ravel(), columns.ravel(), known.first * n
        facts = sp.csr_matrix(data, shape=(len(known), shape[1]))
        return [_eccentricity(scores, release.n_records) for scores in _rows(facts @ records)]

    return run


def _rows(scores: Any) -> list[NDArray[np.float32]]:
    return [scores.data[low:high] for low, high in zip(scores.indptr[:-1], scores.indptr[1:], strict=True)]


def _eccentricity(scores: NDArray[np.float32], n: int) -> float:
    """(max − max2) / σ, zeros included."""
    best = np.sort(np.partition(np.pad(scores, (0, 2)), -2)[-2:])
    total, squares = float(scores.sum(dtype=np.float64)), float((scores.astype(np.float64) ** 2).sum())
    spread = np.sqrt(max(squares / n - (total / n) ** 2, 0.0))
    return float((best[1] - best[0]) / spread) if spread else 0.0


def main() -> None:
    """Print the table of times."""
    restart_single_threaded(MODULE)
    given = options(__doc__, rounds=3)
    release = so.open(index_file(given.folder, given.entries))
    print(f"{release}\n")
    print(f"{'profiles':20}{'facts':>8}{'ours':>10}{'with dates':>12}{'SciPy':>10}{'SciPy ÷ ours':>14}")
    multiply, agreement = product(release), Agreement(release)
    model = EvidenceModel.prior(agreement.stranger_counts(0), agreement.possible)
    paper = RecordSearch(agreement, "ignore", model, so.ScoreboardRH(), threads=1)
    likelihood = RecordSearch(agreement, "use", model, None, threads=1)
    long = 0.0
    for name, low, high, count in KINDS:
        known = profiles(release, low, high, count)
        jobs: dict[str, Callable[[], object]] = {
            "ours": lambda known=known: paper.find(known),  # type: ignore[misc]
            "dated": lambda known=known: likelihood.find(known),  # type: ignore[misc]
            "SciPy": lambda known=known: multiply(known),  # type: ignore[misc]
        }
        ours, theirs = paper.find(known).eccentricity, multiply(known)
        assert np.allclose(ours, theirs, rtol=1e-3, atol=1e-3), "the scores are not the same"
        took = {what: seconds / len(known) for what, seconds in interleaved(given.rounds, jobs).items()}
        facts, long = len(known.item) / len(known), took["dated"]
        print(
            f"{name:20}{facts:8.0f}{1 / took['ours']:8.1f}/s{1 / took['dated']:10.1f}/s"
            f"{1 / took['SciPy']:8.1f}/s{took['SciPy'] / took['ours']:14.1f}",
            flush=True,
        )
    print(f"\n{MANY:,} of the longest, with dates: {MANY * long / 60:.1f} core-minutes")
    whole(release)


def whole(release: so.Release) -> None:
    """Time so.link on half of the entries of MANY people, with decoys of both kinds."""
    draw = np.random.default_rng(1)
    chosen = np.zeros(release.n_records, np.bool_)
    chosen[draw.permutation(np.flatnonzero(release.lengths > 1))[:MANY]] = True
    frame = subset(release, chosen).to_frame()
    public = so.read(frame.filter(pl.Series(draw.random(len(frame)) < 0.5)))
    begun, cpu = time.perf_counter(), time.process_time()
    links = so.link(release, public, truth={name: name for name in public.records})
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"so.link of {len(links):,} profiles of {links.facts.min():,} to {links.facts.max():,} facts (median "
        f"{np.median(links.facts):,.0f}): {wall:.0f} s, {cpu:.0f} core-seconds, {peak:.2f} GB at the peak; "
        f"precision {links.precision}, recall {links.recall}"
    )


if __name__ == "__main__":
    main()
