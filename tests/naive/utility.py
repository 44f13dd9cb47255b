"""Reference implementation of the recommender that measures utility."""

import math
from itertools import permutations

import numpy as np

__all__ = ["cosine", "mean_value", "probability_in_top", "recommender_results", "smallest_difference"]


def recommender_results(histories, published, held_out, scale, factors, damping=5.0):
    """(hits, hits by popularity, squared error) of each person, with dense matrices and loops.

    histories  {person: {item: value}}: what is folded in, on the original's scale
    published  the same for the release, with values already on that scale
    held_out   {person: {item: value}}
    """
    items = sorted({item for history in histories.values() for item in history})
    code = {item: index for index, item in enumerate(items)}
    support = [sum(item in record for record in published.values()) for item in items]
    known = [value for record in published.values() for value in record.values() if value is not None]
    mean = sum(known) / len(known) if known else None
    bias = [_item_bias(published, item, mean, damping) for item in items]
    presence, residuals = np.zeros((2, len(published), len(items)))
    for row, record in enumerate(published.values()):
        for item in record:
            presence[row, code[item]] = 1.0
        residuals[row] = _residuals(record, items, mean, bias, damping)[0]
    item_factors, value_factors = (np.linalg.svd(matrix)[2][:factors] for matrix in (presence, residuals))
    results = []
    for person, questions in held_out.items():
        history = histories[person]
        vector = np.array([1.0 if item in history and support[code[item]] else 0.0 for item in items])
        scores = (item_factors.T @ (item_factors @ vector)).tolist()
        candidates = [index for index, item in enumerate(items) if item not in history and support[index]]
        hits = [probability_in_top(scores, candidates, code[item]) for item in questions]
        popular = [probability_in_top(support, candidates, code[item]) for item in questions]
        known_values = [value for value in history.values() if value is not None]
        if mean is None:
            guesses = [sum(known_values) / len(known_values)] * len(questions)
        else:
            vector, person_bias = _residuals(history, items, mean, bias, damping)
            fits = [float(value_factors.T[code[item]] @ (value_factors @ vector)) for item in questions]
            raw = [mean + bias[code[i]] + person_bias + fit for i, fit in zip(questions, fits, strict=True)]
            guesses = [min(max(guess, scale[0]), scale[1]) for guess in raw]
        errors = [(a - b) ** 2 for a, b in zip(guesses, questions.values(), strict=True)]
        results.append((np.mean(hits), np.mean(popular), np.mean(errors)))
    return np.array(results).T


def _item_bias(published, item, mean, damping):
    values = [record[item] for record in published.values() if record.get(item) is not None]
    return sum(value - mean for value in values) / (len(values) + damping) if values else 0.0


def _residuals(record, items, mean, bias, damping):
    """(values without mean and biases as a vector of all items, the person's bias)."""
    rest = {i: record[item] - mean - bias[i] for i, item in enumerate(items) if record.get(item) is not None}
    person_bias = sum(rest.values()) / (len(rest) + damping)
    vector = np.zeros(len(items))
    for index, value in rest.items():
        vector[index] = value - person_bias
    return vector, person_bias


def probability_in_top(scores, candidates, item, top=10):
    """Probability that an item is among the first `top` candidates, with ties in random order."""
    if item not in candidates:
        return 0.0
    higher = sum(scores[index] > scores[item] + 1e-9 for index in candidates)
    tied = sum(abs(scores[index] - scores[item]) <= 1e-9 for index in candidates)
    return min(max((top - higher) / tied, 0), 1)


def cosine(histories, item, other):
    """Cosine of two items: records with both / √(records with the first · records with the second)."""
    a, b = ({person for person, history in histories.items() if i in history} for i in (item, other))
    return len(a & b) / math.sqrt(len(a) * len(b)) if a and b else 0.0


def smallest_difference(numbers, others):
    """(number of pairs, smallest Σ |a − b|) over all ways to pair the numbers of two lists, None left out."""
    a, b = ([number for number in some if number is not None] for some in (numbers, others))
    short, long = sorted((a, b), key=len)
    if not short:
        return 0, 0.0
    totals = (sum(abs(x - y) for x, y in zip(short, some, strict=True)) for some in permutations(long, len(short)))
    return len(short), min(totals)


def mean_value(values):
    """Mean of the known values; None if there is none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
