"""An index of names by runs of three letters: which names are worth comparing at all."""

import numpy as np

from standout.core.arrays import Ints

__all__ = ["TrigramIndex", "trigrams"]

MAX_PARTNERS = 200
"""Approximate number of names that each name is compared with."""
END = ord("\n")


class TrigramIndex:
    """The names that have each trigram."""

    def __init__(self, names: list[str]) -> None:
        owner, trigram = trigrams(names)
        order = np.argsort(trigram, kind="stable")
        self.name = owner[order]
        self.trigram, self.start = np.unique(trigram[order], return_index=True)
        self.count = np.diff(self.start, append=len(trigram))

    def partners(self, name: Ints, trigram: Ints) -> tuple[Ints, Ints]:
        """Return (name, indexed name) of pairs that share some of the name's rarest trigrams."""
        if not len(self.trigram):
            return name[:0], name[:0]
        index = np.minimum(np.searchsorted(self.trigram, trigram), len(self.trigram) - 1)
        is_known = self.trigram[index] == trigram
        name, index = name[is_known], index[is_known]
        order = np.lexsort((self.count[index], name))
        name, index = name[order], index[order]
        before = np.cumsum(self.count[index]) - self.count[index]
        partners_before = before - before[np.searchsorted(name, name)]
        few = partners_before < MAX_PARTNERS
        name, index = name[few], index[few]
        counts = self.count[index]
        ends = np.cumsum(counts)
        row = np.arange(int(counts.sum())) + np.repeat(self.start[index] - (ends - counts), counts)
        return np.repeat(name, counts), self.name[row]


def trigrams(names: list[str]) -> tuple[Ints, Ints]:
    """Return (name, trigram as one number), each pair once, in the order of names."""
    text = "".join(f" {name} \n" for name in names)
    signs = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32).astype(np.int64)
    if len(signs) < 3:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    owner = np.cumsum(signs == END) - (signs == END)
    trigram = (signs[:-2] << 42) | (signs[1:-1] << 21) | signs[2:]
    whole = (signs[:-2] != END) & (signs[1:-1] != END) & (signs[2:] != END)
    owner, trigram = owner[:-2][whole], trigram[whole]
    order = np.lexsort((trigram, owner))
    owner, trigram = owner[order], trigram[order]
    is_new = (np.diff(owner, prepend=-1) != 0) | (np.diff(trigram, prepend=-1) != 0)
    return owner[is_new], trigram[is_new]
