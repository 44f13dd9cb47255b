"""Reference implementation of linking: evidence, titles, value scales, decoys.

Entries are {(record, item): (value, time)}, or {(record, item): [(value, time), …]} where records have items
several times. A profile always has one fact for each item: see `latest`.
"""

import math
import re
from itertools import pairwise

from naive.release import all_cells, cells_of

__all__ = [
    "accepted_pairs",
    "agreement",
    "day_weight",
    "days_apart",
    "edit_distance",
    "escaped_cell",
    "evidence",
    "evidence_scores",
    "latest",
    "matched_quantiles",
    "step_of",
    "strongest_decoys",
    "title_score",
    "value_class",
    "wilson_high",
]


def step_of(entries):
    """A quarter of the range from the 10 % to the 90 % quantile, at least the distance of two levels."""
    values = sorted(value for *_, value, _ in all_cells(entries) if value is not None)
    low, high = (values[max(math.ceil(share * len(values)) - 1, 0)] for share in (0.1, 0.9))
    return max((high - low) / 4, min(b - a for a, b in pairwise(sorted(set(values)))))


def days_apart(day, other):
    """Class of a difference in days: 0 → 0; up to 2, 7, 30, 120 → 2 to 5; more → 6 (1: less than a day)."""
    difference = abs(day - other)
    classes = ((0, 0), (2, 2), (7, 3), (30, 4), (120, 5))
    return next((index for limit, index in classes if difference <= limit), 6)


def value_class(value, other, step):
    """Class of a difference of values: equal, up to one step, up to two, more."""
    off = abs(value - other)
    return 0 if off == 0 else 1 if off <= step else 2 if off <= 2 * step else 3


def day_weight(time, facts):
    """1 / the number of facts of that day, rounded to a power of two (and to at most 128)."""
    same = sum(other == time for _, other in facts.values())
    return 2.0 ** -round(math.log2(min(same, 128)))


def latest(cells):
    """The entry of an item that is known: the latest; one without a time only if none has one."""
    timed = [cell for cell in cells if cell[1] is not None]
    return max(timed or cells, key=lambda cell: (cell[1] or 0, cell[0] is None, cell[0] or 0))


def classes(fact, cell, step):
    """The classes of the differences of values and of days; None where one is not known."""
    (value, time), (record_value, record_time) = fact, cell
    return (
        None if value is None or record_value is None else value_class(value, record_value, step),
        None if time is None or record_time is None else days_apart(time, record_time),
    )


def ratios_of(pair, values, times, weight):
    """(by value, by time): ln(m/u) of two classes."""
    return (0.0 if pair[0] is None else values[pair[0]], 0.0 if pair[1] is None else times[pair[1]] * weight)


def agreement(entries, facts, record, values=(0,) * 4, times=(0,) * 7):
    """How far facts {item: (value, time)} and a record agree, as a row of numbers.

    Items shared and missing; differences of values (4 columns) and of days (7 columns; a day with several
    facts counts about once). Several entries of an item share one count, each with the probability that it is
    the one, by `values` and `times`, which are ln(m/u) by class of difference.
    """
    by_value, by_day, step = [0.0] * 4, [0.0] * 7, step_of(entries)
    shared = [item for item in facts if (record, item) in entries]
    for item in shared:
        weight = day_weight(facts[item][1], facts)
        pairs = [classes(facts[item], cell, step) for cell in cells_of(entries[record, item])]
        likelihoods = [math.exp(sum(ratios_of(pair, values, times, weight))) for pair in pairs]
        for (value, day), likelihood in zip(pairs, likelihoods, strict=True):
            if value is not None:
                by_value[value] += likelihood / sum(likelihoods)
            if day is not None:
                by_day[day] += weight * likelihood / sum(likelihoods)
    return [len(shared), len(facts) - len(shared), *by_value, *by_day]


def evidence(entries, facts, record, covered, values, times, floor=True):
    """(by values, by dates, by items): log-likelihood ratios relative to a record without a known item.

    `values` and `times` are ln(m/u) by class of difference. With `floor`, a fact that speaks against the
    record counts as one that it lacks. If the record has an item several times, the ratio of value and date
    is the mean over its entries; dates are what adds to the mean by values alone.
    """
    rows, step, parts = all_cells(entries), step_of(entries), [0.0, 0.0, 0.0]
    length = sum(owner == record for owner, *_ in rows)
    for item, fact in facts.items():
        cells = cells_of(entries.get((record, item)))
        if not cells:
            continue
        chance = sum(other == item for _, other, *_ in rows) * length / len(rows) / len(cells)
        by_item = math.log((covered / chance + 1 - covered) / (1 - covered))
        weight = day_weight(fact[1], facts)
        pairs = [ratios_of(classes(fact, cell, step), values, times, weight) for cell in cells]
        by_value = math.log(sum(math.exp(value) for value, _ in pairs) / len(cells))
        by_time = math.log(sum(math.exp(sum(pair)) for pair in pairs) / len(cells)) - by_value
        if by_item + by_value + by_time > 0 or not floor:
            parts = [a + b for a, b in zip(parts, (by_value, by_time, by_item), strict=True)]
    return parts


def evidence_scores(entries, facts, records, model, listed):
    """{record: (by values, by dates, by items)} of the best records, and Σ e^score of all others.

    The best are found with a floor for each fact, and weighed again without it.
    """
    scores = {r: sum(evidence(entries, facts, r, *model)) for r in records}
    best = sorted((r for r in records if scores[r] > 0), key=lambda r: -scores[r])[:listed]
    rest = sum(math.exp(scores[r]) for r in records if r not in best)
    return {r: evidence(entries, facts, r, *model, floor=False) for r in best}, rest


def edit_distance(text, other):
    """Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours."""
    table = {(i, -1): i + 1 for i in range(-1, len(text))} | {(-1, j): j + 1 for j in range(-1, len(other))}
    for i in range(len(text)):
        for j in range(len(other)):
            edits = [table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (text[i] != other[j])]
            if i and j and text[i] == other[j - 1] and text[i - 1] == other[j]:
                edits.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(edits)
    return table[len(text) - 1, len(other) - 1]


def title_score(title, other, release_words, public_words):
    """The score of two parsed titles without brackets, by the rules of docs/linking.md."""
    (name,), (other_name,), years = title.names, other.names, (title.year, other.year)
    apart = abs(years[0] - years[1]) if all(years) else None
    words, others = name.split(), other_name.split()
    numbers = [sorted(word for word in side if word.isdigit()) for side in (words, others)]
    short, long = sorted((words, others), key=len)
    length = max(len(name), len(other_name))
    edits = edit_distance(name, other_name)
    begins = len(short) < len(long) and long[: len(short)] == short
    ends = len(short) < len(long) and long[-len(short) :] == short and len(" ".join(short)) >= 5
    score = 100 * (1 - edits / length)
    changed = [(u, v) for u, v in zip(words, others, strict=False) if u != v]
    if name.replace(" ", "") == other_name.replace(" ", ""):
        score = 100
    elif all(numbers) and numbers[0] != numbers[1]:
        return 0
    elif begins or ends:
        similar_length = len(" ".join(short)) * 2 >= length
        score = 79 if apart == 0 or (apart is None and similar_length) or score >= 75 else 0
    elif numbers[0] != numbers[1]:
        score = min(score, 80)
    elif sorted(words) == sorted(others):
        score = 96
    elif (len(words) == len(others) and any(u in release_words and v in public_words for u, v in changed)) or edits > 3:
        score = min(score, 80)
    if score < 75:
        return 0
    if apart is None:
        score -= 10 if any(years) else 0 if score == 100 else 5
    elif apart == 1:
        score = min(score - 5, 100 if title.article == other.article else 80)
    elif apart > 1:
        score = 80 if score == 100 else 0
    return round(score, 1) if score >= 75 else 0


def accepted_pairs(pairs, least):
    """The pairs (public, release, score, …) that are accepted: identical titles first, then clear winners."""

    def winners(pairs, least):
        return [
            pair
            for pair in pairs
            if pair[2] >= least
            and all(
                pair[2] - rival[2] >= 5
                for rival in pairs
                if rival != pair and (rival[0] == pair[0] or rival[1] == pair[1])
            )
        ]

    identical = winners([pair for pair in pairs if pair[2] == 100], 100)
    rest = [p for p in pairs if not any(p[0] == q[0] or p[1] == q[1] for q in identical)]
    return {*identical, *winners(rest, least)}


def matched_quantiles(ours, theirs):
    """For each level of `theirs`, the level of `ours` with the same quantile; equal values count half."""

    def below(values, level):
        return sum(v < level for v in values) + sum(v == level for v in values) / 2

    levels = sorted(set(ours))
    shares = [below(ours, level) / len(ours) for level in levels]
    matched = []
    for level in sorted(set(theirs)):
        share = below(theirs, level) / len(theirs)
        if share <= shares[0] or share >= shares[-1]:
            matched.append(levels[0] if share <= shares[0] else levels[-1])
            continue
        at = next(i for i in range(len(levels) - 1) if shares[i] <= share <= shares[i + 1])
        part = (share - shares[at]) / (shares[at + 1] - shares[at])
        matched.append(levels[at] + part * (levels[at + 1] - levels[at]))
    return matched


def escaped_cell(text):
    """A cell with an apostrophe if a spreadsheet would execute it, or if it would be read back wrongly."""
    return f"'{text}" if re.match("'*[=+\\-@\t\r\n＝＋－＠]", text) else text


def strongest_decoys(kinds, people, strengths):
    """For each of two kinds, the strongest decoy of each person, ascending."""
    strongest = [{}, {}]
    for kind, person, strength in zip(kinds, people, strengths, strict=True):
        strongest[kind][person] = max(strength, strongest[kind].get(person, -math.inf))
    return [sorted(by_person.values()) for by_person in strongest]


def wilson_high(count, n, z=1.959964):
    """The upper end of Wilson's interval."""
    share = count / n
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (share + z * z / (2 * n) + reach) / (1 + z * z / n)
