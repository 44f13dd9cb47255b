"""A standard recommender: biases and a truncated SVD, with people folded in.

    value     r̂ = μ + b_item + b_person + e_person · V Vᵀ      V: the first factors of what the biases leave
    ranking   s = x_person · W Wᵀ                              W: the first factors of who has what, 0 or 1

The second is PureSVD  [Cremonesi, Koren & Turrin 2010]. Both learn about ITEMS from the release; a person
comes in by the own history alone, which whoever recommends to that person has. So a release can be judged
whose records are sampled, merged or renumbered, and for people who are not in it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from standout.core.arrays import Floats, Ints, offsets
from standout.release.model import Release

__all__ = ["DAMPING", "FACTORS", "Recommender", "history_matrix", "train_recommender"]

FACTORS, DAMPING = 32, 5.0
"""How many factors; a bias counts as many entries less than it has: of few little is believed."""
NOISE = 1e-9
"""Factors below this share of the first are rounding."""
SMALL = 1024
"""Up to so many records or items their products with each other are one dense matrix."""


@dataclass(frozen=True, eq=False, slots=True)
class Recommender:
    """What was learned of items, in the codes of the original. Of an item that is gone nothing is known.

    support   how many records have the item; 0: it is gone
    together  W, a row for each item
    mean      μ; NaN where the release has no values that are numbers
    bias      b of each item
    alike     V, a row for each item
    """

    support: Ints
    together: Floats
    mean: float
    bias: Floats
    alike: Floats

    def scores(self, own: csr_array) -> Floats:
        """How much each item suits people with these histories (1 for what they have): people × items.

        What they have, and what is gone, is not recommended: −∞.
        """
        scores = np.asarray((own @ self.together) @ self.together.T)
        return self._allowed(scores, own)

    def popular(self, own: csr_array) -> Floats:
        """The same by popularity alone."""
        return self._allowed(np.tile(self.support.astype(np.float64), (own.shape[0], 1)), own)

    def _allowed(self, scores: Floats, own: csr_array) -> Floats:
        scores[:, self.support == 0] = -np.inf
        scores[own.nonzero()] = -np.inf
        return scores

    def predicted(self, own: csr_array, person: Ints, item: Ints) -> Floats:
        """The values that people with these histories (values where they are known) would give items."""
        left = own.copy()
        left.data = own.data - self.mean - self.bias[own.indices]
        counts = np.diff(own.indptr)
        bias = np.asarray(left.sum(axis=1)) / (counts + DAMPING)
        left.data = left.data - np.repeat(bias, counts)
        suits = np.einsum("ij,ij->i", np.asarray(left @ self.alike)[person], self.alike[item])
        return np.asarray(self.mean + self.bias[item] + bias[person] + suits)


def train_recommender(
    release: Release, values: Floats, items: Ints, records: Ints | None = None
) -> Recommender:
    """What a release teaches. `values` are the numbers of its value codes, NaN for none; `items` are the
    codes of the original's items in it, -1 for those that are gone; `records` are those to learn from."""
    gone, place = items < 0, np.maximum(items, 0)
    support = np.where(gone, 0, release.support[place])
    together = np.where(gone[:, None], 0.0, _factors(history_matrix(release, None, records))[place])
    rated = history_matrix(release, values, records)
    if not rated.nnz:
        empty = np.zeros(len(items))
        return Recommender(support, together, float("nan"), empty, empty[:, None])
    mean = float(rated.data.mean())
    bias = _bias(rated.data - mean, rated.indices, release.n_items)
    person = np.repeat(np.arange(rated.shape[0]), np.diff(rated.indptr))
    rated.data -= mean + bias[rated.indices]
    rated.data -= _bias(rated.data, person, rated.shape[0])[person]
    alike = np.where(gone[:, None], 0.0, _factors(rated)[place])
    return Recommender(support, together, mean, np.where(gone, 0.0, bias[place]), alike)


def history_matrix(release: Release, values: Floats | None = None, people: Ints | None = None) -> csr_array:
    """Records × items: 1 for what somebody has; or the value, where it is a number, and nothing elsewhere.

    With `people` the rows are theirs.
    """
    start, index, code = release.by_record[:3]
    if people is not None:
        length = release.lengths[people]
        ends = offsets(length)
        at = np.arange(ends[-1]) + np.repeat(start[people] - ends[:-1], length)
        start, index, code = ends, index[at], None if code is None else code[at]
    if values is None:
        data = np.ones(len(index))
    else:
        data = values[np.full(len(index), len(values) - 1) if code is None else code]
        known = ~np.isnan(data)
        start = offsets(known)[start]
        data, index = data[known], index[known]
    return csr_array((data, index.astype(np.int32), start), shape=(len(start) - 1, release.n_items))


def _bias(left: Floats, of: NDArray[np.integer[Any]], count: int) -> Floats:
    """The damped mean of what is left, for each of `count`."""
    return np.bincount(of, left, count) / (np.bincount(of, minlength=count) + DAMPING)


def _factors(matrix: csr_array) -> Floats:
    """The first right singular vectors, as columns; the same matrix gives the same ones, but for signs."""
    if not np.any(matrix.data):
        return np.zeros((matrix.shape[1], 1))
    least = min(matrix.shape)
    if least > SMALL:
        _, weight, right = svds(matrix, k=FACTORS, v0=np.ones(least), return_singular_vectors="vh")
        return np.ascontiguousarray(right[weight > NOISE * weight.max()].T)
    wide = matrix.shape[0] == least
    square = (matrix @ matrix.T if wide else matrix.T @ matrix).toarray()
    weight, first = eigh(square, subset_by_index=[max(least - FACTORS, 0), least - 1])
    first = first[:, weight > NOISE * weight.max()]
    if not wide:
        return np.asarray(first)
    return np.asarray(matrix.T @ (first / np.sqrt(weight[weight > NOISE * weight.max()])))
