"""How many typing errors separate a word from the beginnings of many others: compiled.

An error is a letter too many, a missing one, a wrong one, or two neighbours in the wrong order. Only the
beginning of the other word counts, because the word may not be typed to its end. Words that begin alike share
the rows of the usual table: a million ids take a few milliseconds.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Ints, offsets
from standout.core.jit import Array, Int, kernel

__all__ = ["LONGEST_WORD", "Words", "typing_errors"]

LONGEST_WORD = 32
"""Number of characters of a word that are compared."""
FAR = 255


class Words(NamedTuple):
    """Characters of sorted words one after the other; each shares its first few with the word before it."""

    first: Ints
    code: NDArray[np.uint32]
    shared: NDArray[np.uint8]

    @classmethod
    def of(cls, words: list[str]) -> "Words":
        """The words, cut at LONGEST_WORD characters. Any order is right, and alphabetical order is fast."""
        words = [word[:LONGEST_WORD] for word in words]
        first, code = offsets([len(word) for word in words]), _codes("".join(words))
        shared = np.zeros(len(words), np.uint8)
        _count_shared(first, code, shared)
        return cls(first, code, shared)


def typing_errors(word: str, words: Words, most: int) -> NDArray[np.uint8]:
    """Number of errors between the word and the beginning of each other; FAR if more than `most`."""
    errors = np.full(len(words.shared), FAR, np.uint8)
    _typing_errors(_codes(word[:LONGEST_WORD]), words.first, words.code, words.shared, most, errors)
    return errors


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@kernel
def _count_shared(first: Array, code: Array, shared: Array) -> None:
    for i in range(1, len(shared)):
        before, this = first[i - 1], first[i]
        n, most = 0, min(this - before, first[i + 1] - this)
        while n < most and code[before + n] == code[this + n]:
            n += 1
        shared[i] = n


@kernel
def _typing_errors(word: Array, first: Array, code: Array, shared: Array, most: Int, errors: Array) -> None:
    """Fill in the errors of each word, while they can stay within `most`.

    rows[b, a] is the number of errors between the first b letters of the other word and the first a of the
    word; only cells with |a − b| ≤ most are filled in. nearest[b] is the lowest of rows[: b + 1, n].
    """
    n = len(word)
    rows = np.full((LONGEST_WORD + 1, n + most + 2), FAR, np.int64)
    nearest = np.full(LONGEST_WORD + 1, FAR, np.int64)
    for a in range(min(n, most) + 1):
        rows[0, a] = a
    nearest[0] = rows[0, n]
    end = 0  # the row after which all have too many errors, or the last
    is_over = False
    for i in range(len(shared)):
        low, m = first[i], first[i + 1] - first[i]
        if not (is_over and end <= shared[i]):
            is_over, end = False, m
            for b in range(np.int64(shared[i]) + 1, m + 1):
                least = rows[b, 0] = b if b <= most else FAR
                for a in range(max(b - most, 1), min(b + most, n) + 1):
                    wrong = np.int64(word[a - 1] != code[low + b - 1])
                    best = min(rows[b - 1, a] + 1, rows[b, a - 1] + 1, rows[b - 1, a - 1] + wrong)
                    swapped = a > 1 and b > 1 and word[a - 1] == code[low + b - 2]
                    if swapped and word[a - 2] == code[low + b - 1]:
                        best = min(best, rows[b - 2, a - 2] + 1)
                    rows[b, a] = best
                    least = min(least, best)
                nearest[b] = min(nearest[b - 1], rows[b, n])
                if least > most:
                    is_over, end = True, b
                    break
        if nearest[end] <= most:
            errors[i] = nearest[end]
