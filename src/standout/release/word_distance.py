"""How many typing errors separate a word from the beginnings of many others: compiled.

An error is a letter too many, a missing one, a wrong one, or two neighbours in the wrong order. Only the
beginning of the other word counts, because the word may not be typed to its end.
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
    """Characters of many words one after the other, and a set of the characters of each, in 64 bits."""

    first: Ints
    code: NDArray[np.uint32]
    letters: NDArray[np.uint64]

    @classmethod
    def of(cls, words: list[str]) -> "Words":
        """The words, cut at LONGEST_WORD characters."""
        words = [word[:LONGEST_WORD] for word in words]
        first, code = offsets([len(word) for word in words]), _codes("".join(words))
        letters = np.zeros(len(words), np.uint64)
        _fill_letters(first, code, letters)
        return cls(first, code, letters)


def typing_errors(word: str, words: Words, most: int) -> NDArray[np.uint8]:
    """Number of errors between the word and the beginning of each other; FAR if more than `most`."""
    codes = _codes(word[:LONGEST_WORD])
    letters, errors = np.zeros(1, np.uint64), np.full(len(words.letters), FAR, np.uint8)
    _fill_letters(np.array([0, len(codes)]), codes, letters)
    _typing_errors(codes, letters[0], words.first, words.code, words.letters, most, errors)
    return errors


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@kernel
def _fill_letters(first: Array, code: Array, letters: Array) -> None:
    for i in range(len(letters)):
        for at in range(first[i], first[i + 1]):
            letters[i] |= np.uint64(1) << (np.uint64(code[at]) & np.uint64(63))


@kernel
def _typing_errors(
    word: Array, of_word: Int, first: Array, code: Array, letters: Array, most: Int, errors: Array
) -> None:
    """Fill in the errors of each word, row by row of the usual table, while they can stay within `most`."""
    n = len(word)
    rows = np.zeros((3, LONGEST_WORD + 1), np.int64)
    for i in range(len(letters)):
        missing, count = of_word & ~letters[i], 0
        while missing and count <= most:  # each character that the other lacks is an error
            missing &= missing - np.uint64(1)
            count += 1
        if count > most:
            continue
        low, m = first[i], first[i + 1] - first[i]
        for j in range(m + 1):
            rows[0, j] = j
        least = 0
        for a in range(1, n + 1):
            now, before, earlier = a % 3, (a - 1) % 3, (a - 2) % 3
            rows[now, 0] = least = a
            for b in range(1, m + 1):
                wrong = np.int64(word[a - 1] != code[low + b - 1])
                best = min(rows[before, b] + 1, rows[now, b - 1] + 1, rows[before, b - 1] + wrong)
                if a > 1 and b > 1 and word[a - 1] == code[low + b - 2] and word[a - 2] == code[low + b - 1]:
                    best = min(best, rows[earlier, b - 2] + 1)
                rows[now, b] = best
                least = min(least, best)
            if least > most:
                break
        if least <= most:
            errors[i] = least
