"""Algorithm 1A tried on targets of a release: who matches, and how alike they are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from standout.attack.kernels.conjunction import Workspace, minimum_similarities, new_workspace
from standout.attack.queries import Queries, prefix_queries, prepare_queries
from standout.core.arrays import Floats, Ints, offsets
from standout.core.progress import Progress, no_progress
from standout.core.threads import run_in_slices
from standout.evaluate.pairs import fact_similarities
from standout.evaluate.targets import draw_targets, shuffled_entries
from standout.facts import facts_from_entries
from standout.release.model import Release
from standout.similarity.attributes import Similarity

__all__ = ["Suspects", "Trial", "trial"]

PIECE = 1 << 20
"""How many attributes are compared at a time."""


@dataclass(frozen=True, slots=True)
class Suspects:
    """The matching set D′ of a target r, and Sim(r, r′) with |supp(r)| below the line, and the union."""

    target: int
    record: Ints
    over_first: Floats
    over_union: Floats

    def over(self, over: str) -> Floats:
        return self.over_first if over == "first" else self.over_union

    def kept(self, keep: NDArray[np.bool_]) -> "Suspects":
        """Those who are left in a sample: a score of Algorithm 1A depends on one record only."""
        return Suspects(self.target, self.record[keep], self.over_first[keep], self.over_union[keep])


@dataclass(frozen=True, slots=True)
class Trial:
    """Targets with at least m items, and who matches m of them; `left_out` records have fewer."""

    m: int
    suspects: list[Suspects]
    left_out: int


def trial(
    release: Release,
    similarity: Similarity,
    alpha: float,
    m: int,
    targets: int | None = 200,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Trial:
    """Tells Algorithm 1A m random items of each target, exactly as they are, and who then has a score ≥ α."""
    chosen, left_out = draw_targets(release.check(), targets, m, seed, "theorems")
    orders = shuffled_entries(release, chosen, seed, "theorems")
    first = offsets([len(order) for order in orders])
    everything = facts_from_entries(release, np.concatenate([np.empty(0, np.int64), *orders]), first)
    nobody = np.full(len(chosen), -1, np.int64)
    histories = prepare_queries(release, everything, similarity, "one", nobody)
    facts = prefix_queries(histories, [m])
    found: dict[int, Suspects] = {}

    def work_on(low: int, high: int, work: Workspace) -> None:
        for q in range(low, high):
            record, score = minimum_similarities(facts, q, work)
            found[q] = _suspects(histories, q, int(chosen[q]), record[score >= alpha])

    run_in_slices(len(chosen), threads, new_workspace, work_on, progress)
    return Trial(m, [found[q] for q in range(len(chosen))], left_out)


def _suspects(histories: Queries, q: int, target: int, record: Ints) -> Suspects:
    """Sim(r, r′) = Σ Sim(r_i, r′_i) over either denominator; the target's own entries are what is known."""
    lengths = histories.release.lengths
    total, shared = np.zeros(len(record)), np.zeros(len(record), np.int64)
    step = max(1, PIECE // int(lengths[target]))
    for low in range(0, len(record), step):
        here = slice(low, low + step)
        total[here], shared[here] = _compared(histories, q, record[here])
    union = lengths[target] + lengths[record] - shared
    return Suspects(target, record, total / lengths[target], total / union)


def _compared(histories: Queries, q: int, record: Ints) -> tuple[Floats, Ints]:
    """(Σ Sim, how many items are shared) of a target and each of these records."""
    pair, _, alike = fact_similarities(histories, np.full(len(record), q), record)
    shared = np.bincount(pair[alike >= 0], minlength=len(record))
    return np.bincount(pair, np.maximum(alike, 0.0), len(record)).astype(np.float64), shared.astype(np.int64)
