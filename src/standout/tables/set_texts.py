"""Cells that are sets of categories, such as "a;b;c"."""

from typing import NamedTuple

import numpy as np
import polars as pl

from standout.core.arrays import Ints

__all__ = ["Sets", "recognise_separator", "sets_in"]

SEPARATORS = (";", "|", ",")
MOST_TEXTS, MOST_MEMBERS, LONGEST = 200_000, 1_000, 60
USED, REPEATED, SHARED = 0.05, 2.0, 0.5
"""Smallest share of rows with a separator, rows per member, and share of members in several texts."""


class Sets(NamedTuple):
    """The members of some distinct texts: text t has codes[starts[t] : starts[t + 1]], ascending."""

    members: tuple[str, ...]
    starts: Ints
    codes: Ints


def recognise_separator(texts: pl.Series, counts: Ints) -> str | None:
    """The separator of the members, if the texts are sets: members repeat, and their number varies.

    >>> recognise_separator(pl.Series(["a;b", "a", "b;c;a"]), np.array([4, 2, 3]))
    ';'
    >>> recognise_separator(pl.Series(["Smith, Jane", "Jones, Tim"]), np.array([1, 1]))
    """
    if not len(texts) or len(texts) > MOST_TEXTS:
        return None
    for separator in SEPARATORS:
        used = texts.str.contains(separator, literal=True).to_numpy()
        if counts[used].sum() >= USED * counts.sum() and _are_sets(texts, counts, separator):
            return separator
    return None


def _are_sets(texts: pl.Series, counts: Ints, separator: str) -> bool:
    sets = sets_in(texts, separator)
    sizes = np.diff(sets.starts)
    if len(sets.members) > MOST_MEMBERS or max(map(len, sets.members), default=0) > LONGEST:
        return False
    parts = texts.str.count_matches(separator, literal=True).to_numpy().astype(np.int64) + 1
    if (sizes < 1).any() or (sizes < parts - 1).any() or len(set(sizes.tolist())) < 2:
        return False
    texts_of = np.bincount(sets.codes, minlength=len(sets.members))
    rows = np.repeat(counts, sizes).sum() / max(len(sets.members), 1)
    return bool(rows >= REPEATED and np.mean(texts_of > 1) >= SHARED)


def sets_in(texts: pl.Series, separator: str) -> Sets:
    """Split texts into their members; a member that repeats in a text counts once.

    >>> sets_in(pl.Series(["b; a", "b"]), ";")
    Sets(members=('a', 'b'), starts=array([0, 2, 3]), codes=array([0, 1, 1]))
    """
    parts = (
        pl.DataFrame({"text": np.arange(len(texts), dtype=np.int64), "member": texts.str.split(separator)})
        .explode("member")
        .with_columns(pl.col("member").str.strip_chars())
        .filter(pl.col("member") != "")
        .unique()
    )
    members = parts["member"].unique().sort()
    codes = parts["member"].cast(pl.Enum(members)).to_physical().to_numpy().astype(np.int64)
    owner = parts["text"].to_numpy()
    order = np.lexsort((codes, owner))
    starts = np.append(0, np.cumsum(np.bincount(owner, minlength=len(texts)))).astype(np.int64)
    return Sets(tuple(members.to_list()), starts, codes[order])
