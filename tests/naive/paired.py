"""Bonett and Price's interval of a paired difference, as it is printed in their paper, for 0 and 1."""

import math


def bonett_price(only_first, only_second, n, z=1.959963984540054):
    """(low, high) from the numbers of pairs that only the first or only the second wins."""
    p12, p21 = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    reach = z * math.sqrt((p12 + p21 - (p12 - p21) ** 2) / (n + 2))
    return max(p12 - p21 - reach, -1.0), min(p12 - p21 + reach, 1.0)


def coverage(p12, p21, n):
    """The probability that the interval covers p12 − p21, summed over all outcomes of n pairs."""
    total = 0.0
    for first in range(n + 1):
        for second in range(n + 1 - first):
            low, high = bonett_price(first, second, n)
            if low <= p12 - p21 <= high:
                ways = math.comb(n, first) * math.comb(n - first, second)
                total += ways * p12**first * p21**second * (1 - p12 - p21) ** (n - first - second)
    return total
