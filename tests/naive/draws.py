"""Reference implementation of which entries of a record an adversary knows, by counting all orders.

An entry is (item, value, time). A record is a list of entries, in which equal ones are different entries.
"""

from collections import Counter
from fractions import Fraction
from itertools import permutations
from math import factorial

__all__ = ["draw_chances", "eligible_entries", "wrong_item_chances"]


def eligible_entries(record, choice, support, top=0):
    """The entries that can be known: all, those of less popular items, or those with a time."""
    if choice == "outside_top":
        popular = sorted(support, key=lambda item: (-support[item], len(item), item))[:top]
        return [entry for entry in record if entry[0] not in popular]
    if choice in ("recent", "burst"):
        return [entry for entry in record if entry[2] is not None]
    return list(record)


def draw_chances(record, choice, count, support, top=0):
    """{the known entries, in the order in which they become known: probability}.

    support = the number of records that have each item.
    """
    entries, chances = eligible_entries(record, choice, support, top), Counter()
    for order in permutations(range(len(entries))):
        chance = Fraction(1, factorial(len(entries)))
        if choice == "popular":
            chance, left = Fraction(1), sum(support[entry[0]] for entry in entries)
            for entry in order:
                chance *= Fraction(support[entries[entry][0]], left)
                left -= support[entries[entry][0]]
        if choice == "rarest":
            items = [entries[entry][0] for entry in order]
            turn = {entry: items[:at].count(items[at]) for at, entry in enumerate(order)}
            order = sorted(order, key=lambda entry: (turn[entry], support[entries[entry][0]]))
        if choice == "recent":
            order = sorted(order, key=lambda entry: entries[entry][2], reverse=True)
        if choice == "burst":
            anchor = entries[order[0]][2]
            order = sorted(order, key=lambda entry: abs(entries[entry][2] - anchor))
        chances[tuple(entries[entry] for entry in order[:count])] += chance
    return chances


def wrong_item_chances(record, support, by_popularity):
    """{item outside the record: probability that a wrong fact is about it}."""
    own = {entry[0] for entry in record}
    weight = {item: count if by_popularity else 1 for item, count in support.items() if item not in own}
    return {item: Fraction(share, sum(weight.values())) for item, share in weight.items()}
