"""Reference implementation of typing errors: the fewest that turn a text into the beginning of a word."""

from functools import cache

__all__ = ["typing_errors"]


def typing_errors(typed, word):
    """Fewest letters inserted, dropped, replaced or swapped with a neighbour, each place edited once."""

    @cache
    def between(a, b):
        """Errors between the first a letters of the text and the first b of the word."""
        if a == 0 or b == 0:
            return a + b
        ways = [between(a - 1, b) + 1, between(a, b - 1) + 1]
        ways.append(between(a - 1, b - 1) + (typed[a - 1] != word[b - 1]))
        if a > 1 and b > 1 and typed[a - 1] == word[b - 2] and typed[a - 2] == word[b - 1]:
            ways.append(between(a - 2, b - 2) + 1)
        return min(ways)

    return min(between(len(typed), b) for b in range(len(word) + 1))
