"""A tree over the categories of a column, such as ZIP codes and their prefixes, or ages and their bands."""

from dataclasses import dataclass

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError

__all__ = ["Hierarchy"]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Groups of a column's levels at each height of a tree.

    Attributes
    ----------
    labels : tuple of tuples of str
        labels[h - 1] are the names of the groups at height h = 1, 2, …; the levels are height 0.
    groups : ndarray of int, heights × levels
        groups[h - 1, code] is the position of a level's group in labels[h - 1]. Levels of one group are
        neighbours, so the groups of each height ascend.

    Examples
    --------
    >>> zip_codes = Hierarchy((("10*", "20*"), ("*",)), np.array([[0, 0, 1], [0, 0, 0]]))
    >>> zip_codes.height, zip_codes.similarities(0).tolist()
    (2, [1.0, 0.5, 0.0])
    """

    labels: tuple[tuple[str, ...], ...]
    groups: Ints

    def __post_init__(self) -> None:
        if self.groups.ndim != 2 or len(self.groups) != len(self.labels):
            raise ParameterError("groups must have one row for each height of the hierarchy")
        if (np.diff(self.groups, axis=1) < 0).any():
            raise ParameterError("the levels of one group must be neighbours")

    @property
    def height(self) -> int:
        """Number of heights above the levels."""
        return len(self.labels)

    def similarities(self, code: int) -> Floats:
        """1 − height of the lowest common ancestor / height of the tree.

        Parameters
        ----------
        code : int
            A level.

        Returns
        -------
        ndarray of float
            One number for each level; 0 without a common ancestor.
        """
        common = self.groups == self.groups[:, [code]]
        lowest = np.where(common.any(axis=0), common.argmax(axis=0) + 1, self.height)
        lowest[code] = 0
        return 1.0 - lowest / self.height

    def group_of(self, height: int) -> Ints:
        """The group of each level at a height.

        Parameters
        ----------
        height : int
            A height; at height 0 each level is its own group.

        Returns
        -------
        ndarray of int
            Positions in `labels[height - 1]`.
        """
        return np.arange(self.groups.shape[1]) if height == 0 else self.groups[height - 1]
