"""A standard recommender: biases and a truncated SVD, with people folded in.

    value     r̂ = μ + b_item + b_person + e_person · V Vᵀ      V: first factors of the residuals of the biases
    ranking   s = x_person · W Wᵀ                              W: first factors of the 0/1 record-item matrix

The second is PureSVD  [Cremonesi, Koren & Turrin 2010]. Both learn about ITEMS from the release. A person
enters only with the own history, which the service that makes recommendations has anyway. So the recommender
also works for releases with sampled, merged or renumbered records, and for people who are not in them.

If a record has an item several times, it counts once: the matrix of items stays 0/1, and the value is the
mean of those entries' values. A mean needs no times, so it is the same after steps that move or remove them.
How often a person has an item is not used.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from standout.core.arrays import Floats, Ints, offsets
from standout.release.distinct_items import first_entries
from standout.release.model import Codes, RecordEntries, Release

__all__ = ["DAMPING", "FACTORS", "Recommender", "history_matrix", "train_recommender"]

FACTORS = 32
DAMPING = 5.0
"""A bias is shrunk as if it had this number of further entries at 0."""
ROUNDING = 1e-9
"""Factors below this share of the first one are rounding errors."""
SMALL = 1024
"""Up to this number of records or items, a dense matrix of their products is used."""


@dataclass(frozen=True, eq=False, slots=True)
class Recommender:
    """What was learned about items, in codes of the original; nothing is known about removed items.

    support       number of records that have the item; 0: it was removed
    item_factors  W, one row per item
    mean          μ; NaN if the release has no numeric values
    bias          b of each item
    value_factors V, one row per item
    """

    support: Ints
    item_factors: Floats
    mean: float
    bias: Floats
    value_factors: Floats

    def scores(self, histories: csr_array) -> Floats:
        """Scores of all items for people with these histories (1 for an item they have): people × items.

        Items that a person has already, and removed items, get −∞.
        """
        scores = np.asarray((histories @ self.item_factors) @ self.item_factors.T)
        return self._exclude(scores, histories)

    def popularity_scores(self, histories: csr_array) -> Floats:
        """Scores by popularity alone."""
        support = self.support.astype(np.float64)
        return self._exclude(np.tile(support, (histories.shape[0], 1)), histories)

    def _exclude(self, scores: Floats, histories: csr_array) -> Floats:
        scores[:, self.support == 0] = -np.inf
        scores[histories.nonzero()] = -np.inf
        return scores

    def predict(self, histories: csr_array, person: Ints, item: Ints) -> Floats:
        """Predict values of (person, item) pairs for people with these histories of values."""
        residual = histories.copy()
        residual.data = histories.data - self.mean - self.bias[histories.indices]
        counts = np.diff(histories.indptr)
        bias = np.asarray(residual.sum(axis=1)) / (counts + DAMPING)
        residual.data = residual.data - np.repeat(bias, counts)
        factors = np.asarray(residual @ self.value_factors)
        fit = np.einsum("ij,ij->i", factors[person], self.value_factors[item])
        return np.asarray(self.mean + self.bias[item] + bias[person] + fit)


def train_recommender(
    release: Release, values: Floats, item_codes: Ints, records: Ints | None = None
) -> Recommender:
    """Train a recommender on a release.

    `values` are the numbers of its value codes, NaN for a missing value. `item_codes` are the codes of the
    original's items in the release, -1 for removed ones. `records` are those to learn from (default: all).
    """
    removed, code = item_codes < 0, np.maximum(item_codes, 0)
    support = np.where(removed, 0, release.support[code])
    item_factors = np.where(removed[:, None], 0.0, _factors(history_matrix(release, None, records))[code])
    residual = history_matrix(release, values, records)
    if not residual.nnz:
        zeros = np.zeros(len(item_codes))
        return Recommender(support, item_factors, float("nan"), zeros, zeros[:, None])
    mean = float(residual.data.mean())
    bias = _damped_means(residual.data - mean, residual.indices, release.n_items)
    person = np.repeat(np.arange(residual.shape[0]), np.diff(residual.indptr))
    residual.data -= mean + bias[residual.indices]
    residual.data -= _damped_means(residual.data, person, residual.shape[0])[person]
    value_factors = np.where(removed[:, None], 0.0, _factors(residual)[code])
    return Recommender(support, item_factors, mean, np.where(removed, 0.0, bias[code]), value_factors)


def history_matrix(release: Release, values: Floats | None = None, people: Ints | None = None) -> csr_array:
    """Matrix of records × items: 1 where a record has an item, or with `values` the mean of its numbers.

    With `people`, the rows are theirs.
    """
    start, item, code = release.by_record[:3]
    if people is not None:
        length = release.lengths[people]
        ends = offsets(length)
        entry = np.arange(ends[-1]) + np.repeat(start[people] - ends[:-1], length)
        start, item, code = ends, item[entry], None if code is None else code[entry]
    if values is None:
        data = np.ones(len(item))
    else:
        data = values[np.full(len(item), len(values) - 1) if code is None else code]
        known = ~np.isnan(data)
        start = offsets(known)[start]
        data, item = data[known], item[known]
    if release.has_repeats:
        start, item, data = _merge_repeats(start, item, data)
    return csr_array((data, item.astype(np.int32), start), shape=(len(start) - 1, release.n_items))


def _merge_repeats(start: Ints, item: Codes, data: Floats) -> tuple[Ints, Codes, Floats]:
    """Replace the numbers of each record and item by their mean."""
    is_first = first_entries(RecordEntries(start, item, None, None))
    group = np.cumsum(is_first) - 1
    means = np.bincount(group, data) / np.bincount(group)
    return offsets(is_first)[start], item[is_first], means


def _damped_means(residuals: Floats, group: NDArray[np.integer[Any]], count: int) -> Floats:
    """Damped mean of the residuals of each group 0 … count - 1."""
    return np.bincount(group, residuals, count) / (np.bincount(group, minlength=count) + DAMPING)


def _factors(matrix: csr_array) -> Floats:
    """First right singular vectors as columns; deterministic except for their signs."""
    if not np.any(matrix.data):
        return np.zeros((matrix.shape[1], 1))
    least = min(matrix.shape)
    if least > SMALL:
        _, weight, right = svds(matrix, k=FACTORS, v0=np.ones(least), return_singular_vectors="vh")
        return np.ascontiguousarray(right[weight > ROUNDING * weight.max()].T)
    is_wide = matrix.shape[0] == least
    square = (matrix @ matrix.T if is_wide else matrix.T @ matrix).toarray()
    weight, vectors = eigh(square, subset_by_index=[max(least - FACTORS, 0), least - 1])
    is_real = weight > ROUNDING * weight.max()
    if not is_wide:
        return np.asarray(vectors[:, is_real])
    return np.asarray(matrix.T @ (vectors[:, is_real] / np.sqrt(weight[is_real])))
