"""What the paper's theory says about a release: sparsity, and the bounds of the theorems."""

from dataclasses import dataclass

from standout.findings.json_types import Count, Rate, Share

__all__ = ["Bound", "Sparsity", "SparsityPoint", "Theory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SparsityPoint:
    """One point of the sparsity curve.

    Attributes
    ----------
    epsilon
        Similarity of two records, from 0 to 1.
    share
        Share of records whose nearest neighbour is at least this similar.
    """

    epsilon: Share
    share: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparsity:
    """How similar the nearest neighbours of records are (Definition 1 of the paper).

    Attributes
    ----------
    similarity
        What makes two entries of one item similar.
    n
        Number of records whose neighbours were searched.
    """

    similarity: str
    n: Count
    curve: tuple[SparsityPoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A theorem of the paper applied to the data, next to what was measured.

    Attributes
    ----------
    statement
        What the theorem says about this data.
    bound
        Number of facts that are enough; null if the theorem does not apply to this data.
    measured
        What the audit measured.
    setting
        Parameters of the theorem.
    """

    theorem: str
    statement: str
    bound: Count | None
    measured: str
    setting: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Theory:
    """What the paper's theory says about the release."""

    sparsity: Sparsity
    bounds: tuple[Bound, ...]
