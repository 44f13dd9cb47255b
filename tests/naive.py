"""Slow twins: loops and dicts to hold against the specification. Nothing of Standout is imported here.

A row is (record, item, value, time), a value a number, a text or None, a time whole units on the wall
clock (see `units`), or anything that can be compared, or None.
"""

import csv
import io
import math
import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import combinations, pairwise
from statistics import correlation, fmean, pstdev, stdev
from zoneinfo import ZoneInfo

import numpy as np

EPOCH = datetime(1970, 1, 1)


def entries(rows, repeats="last"):
    """{(record, item): (value, time)}: one entry for each pair, chosen among its rows.

    last   the latest time; no time is before all times; of equals the later row
    first  the earliest time; no time is after all times; of equals the earlier row
    max    the largest value, no value is below all values; of equals the last
    """
    kept = {}
    for record, item, value, time in rows:
        old = kept.get((record, item))
        if old is None or _replaces((value, time), old, repeats):
            kept[record, item] = (value, time)
    return kept


def _replaces(new, old, repeats):
    (new_value, new_time), (old_value, old_time) = new, old
    if repeats == "first":
        return new_time is not None and (old_time is None or new_time < old_time)
    if repeats == "max" and new_value != old_value:
        return new_value is not None and (old_value is None or new_value > old_value)
    return old_time is None or (new_time is not None and new_time >= old_time)


def shortlex(texts):
    """Shorter ones first, then by their bytes: 9 before 10."""
    return sorted(texts, key=lambda text: (len(text.encode()), text.encode()))


def support(entries):
    """{item: how many records have it}."""
    return Counter(item for _, item in entries)


def lengths(entries):
    """{record: how many items it has}."""
    return Counter(record for record, _ in entries)


def ranks(entries):
    """{item: its place among the most popular, 1 is the first}; equals go by their ids in shortlex order."""
    counts = support(entries)
    popular = sorted(shortlex(counts), key=lambda item: -counts[item])
    return {item: place for place, item in enumerate(popular, 1)}


def postings(entries, n_items, n_levels, span, block_bits=13):
    """Entries by item as an index holds them: its columns as lists, and the bits of a word's fields.

    entries = {(record, item): (value, time)} in whole numbers from 0 on, below n_levels and span.
    """
    gaps = span > 0 and any(time is None for _, time in entries.values())
    kinds = 2 * (n_levels + 1) if gaps else n_levels + 1
    value_bits, time_bits = digits(kinds - 1), digits(max(span - 1, 0))
    made = {"start": [0], "run": [0], "block": [], "end": [], "word": []}
    for item in range(n_items):
        own = sorted((record, *cells) for (record, other), cells in entries.items() if other == item)
        ends = {}
        for count, (record, value, time) in enumerate(own, 1):
            kind = n_levels if value is None else value
            if time is None and gaps:
                kind += n_levels + 1
            ends[record // 2**block_bits] = count
            place = record % 2**block_bits
            made["word"].append((place * 2**value_bits + kind) * 2**time_bits + (time or 0))
        made["block"] += ends.keys()
        made["end"] += ends.values()
        made["start"].append(len(made["word"]))
        made["run"].append(len(made["block"]))
    return made | {"value_bits": value_bits, "time_bits": time_bits}


def digits(number):
    """How many binary digits a number has, none for 0."""
    return len(f"{number:b}") if number else 0


def outside_top(entries, tops=(100, 500, 1000), leasts=(1, 5, 10)):
    """{top: {least: share of the records with at least so many items that are not in the top}}.

    A top that holds all items is left out.
    """
    rank, people = ranks(entries), list(lengths(entries))
    table = {}
    for top in tops:
        if top < len(rank):
            outside = Counter(record for record, item in entries if rank[item] > top)
            table[top] = {
                least: sum(outside[one] >= least for one in people) / len(people) for least in leasts
            }
    return table


def cells(text, separator=",", quote='"'):
    """The rows of a delimited text as lists of cells; empty lines are passed over.

    Only separators of one character go with quotes.
    """
    if quote and len(separator) == 1:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quotechar=quote, strict=True)
        return [row for row in rows if row]
    lines = text.split("\n")
    return [line.removesuffix("\r").split(separator) for line in lines if line.removesuffix("\r")]


def number(text):
    """The number that a cell spells, None for a blank one."""
    return float(text) if text.strip() else None


def units(wall, unit="day"):
    """Whole days, hours or minutes from 1970 to a datetime without a zone, rounded down."""
    return (wall - EPOCH) // timedelta(**{f"{unit}s": 1})


def day(text):
    """The day of YYYY-MM-DD, in days since 1970."""
    return units(datetime.fromisoformat(text))


def unix_time(text, per_second=1, unit="day", zone="UTC"):
    """The units of a Unix time: its second, rounded down, on the wall clock of the zone."""
    second = int((Decimal(text) / per_second).to_integral_value("ROUND_FLOOR"))
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    return units(_wall(moment, zone), unit)


def iso_time(text, unit="day", zone="UTC"):
    """The units of an ISO date or datetime: moved to the zone if it has one of its own, else as written."""
    return units(_wall(datetime.fromisoformat(text.strip()), zone), unit)


def pattern_time(text, pattern, unit="day", zone="UTC"):
    """The same, for text written after a pattern of strptime."""
    return units(_wall(datetime.strptime(text.strip(), pattern), zone), unit)


def _wall(moment, zone):
    return (moment.astimezone(ZoneInfo(zone)) if moment.tzinfo else moment).replace(tzinfo=None)


def netflix(text):
    """The rows of a Netflix Prize text, and {line: complaint} for its bad lines.

    A complaint is "film" for a rating of no known film, "form" for anything else. A bad line without a comma
    may have been a film's: what follows it belongs to no known film.
    """
    rows, bad, film = [], {}, None
    for line, content in enumerate(text.split("\n"), 1):
        content = content.removesuffix("\r")
        rating = re.fullmatch(r"([0-9]{1,18}),([1-5]),([0-9]{4}-[0-9]{2}-[0-9]{2})", content)
        if re.fullmatch(r"[0-9]{1,18}:", content):
            film = content[:-1]
        elif rating and _is_date(rating[3]):
            if film is None:
                bad[line] = "film"
            else:
                rows.append((rating[1], film, float(rating[2]), day(rating[3])))
        elif content:
            bad[line] = "form"
            film = film if "," in content else None
    return rows, bad


def _is_date(text):
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


# The attack. Facts are {item: (value, time)}, what is not known None; times are in days, so that a difference
# of two is what Sim judges. Entries are as above. Scores are {record: score}, of all candidates and of nobody
# else.

EQUAL = 1e-12
"""Scores that are no further apart are the same: sums of floats depend on their order."""


def weight(count):
    """wt(i) = 1 / ln |supp(i)|; an item that one person has is as rare as one that two have."""
    return 1 / math.log(max(count, 2))


def within(known, entry, value=1, time=14):
    """Sim: 1 if all that is compared lies within its threshold, else 0; None: not compared."""
    values = None if value is None else lambda one, other: float(apart(one, other) <= value)
    times = None if time is None else lambda days: float(abs(days) <= time)
    return math.prod(terms(known, entry, values, times))


def decay(known, entry, value_scale=1.5, time_scale=30):
    """Sim in the Netflix form: e^(-|difference of values| / rho0) + e^(-|days| / d0)."""
    return math.fsum(decay_terms(known, entry, value_scale, time_scale))


def mean_decay(known, entry, value_scale=1.5, time_scale=30):
    """The same between 0 and 1."""
    found = decay_terms(known, entry, value_scale, time_scale)
    return math.fsum(found) / len(found)


def decay_terms(known, entry, value_scale, time_scale):
    values = None if value_scale is None else lambda one, other: math.exp(-apart(one, other) / value_scale)
    times = None if time_scale is None else lambda days: math.exp(-abs(days) / time_scale)
    return terms(known, entry, values, times)


def present(known, entry):
    """Sim: having the item is enough."""
    return 1.0


def equal(known, entry):
    """Sim: 1 if the values are the same; the time does not count."""
    return math.prod(terms(known, entry, lambda one, other: float(one == other), None))


def apart(one, other):
    """How far values are from each other; categories are the same, or infinitely far."""
    if isinstance(one, str) or isinstance(other, str):
        return 0.0 if one == other else math.inf
    return abs(other - one)


def terms(known, entry, values, times):
    """How alike the values are and the times are, as far as the fact tells them and they are compared.

    An entry that lacks what is told has nothing in common with it there. If nothing is compared, having the
    item counts 1.
    """
    found = []
    if known[0] is not None and values is not None:
        found.append(0.0 if entry[0] is None else values(known[0], entry[0]))
    if known[1] is not None and times is not None:
        found.append(0.0 if entry[1] is None else times(entry[1] - known[1]))
    return found or [1.0]


def sums(entries, facts, similarity=decay, weigh=weight, counts=None):
    """{record: the sum of wt(i) * Sim(aux_i, r'_i) over the known items that it has}  [Algorithm 1B].

    counts = how many records have an item: the supports of these entries, unless others are given.
    """
    counts = support(entries) if counts is None else counts
    scores = {}
    for record in lengths(entries):
        own = [item for item in facts if (record, item) in entries]
        parts = [weigh(counts[item]) * similarity(facts[item], entries[record, item]) for item in own]
        scores[record] = math.fsum(parts)
    return scores


def has_coincidental_tie(entries, facts):
    """Whether two records tie only because of their weights: 2 / ln 4 = 1 / ln 2 on paper, not in floats."""
    scores = sums(entries, facts)
    shifted = sums(entries, facts, weigh=lambda count: weight(count) * (1 + count / 1000))
    pairs = [(one, other) for one in scores for other in scores if one < other]
    return any(
        abs(scores[one] - scores[other]) <= EQUAL < abs(shifted[one] - shifted[other]) for one, other in pairs
    )


def minima(entries, facts, similarity=within):
    """{record: min Sim(aux_i, r'_i) over the known items}, 0 where it lacks one  [Algorithm 1A]."""
    scores = {}
    for record in lengths(entries):
        has_all = facts and all((record, item) in entries for item in facts)
        parts = [similarity(facts[item], entries[record, item]) for item in facts] if has_all else [0.0]
        scores[record] = min(parts)
    return scores


def without(entries, record):
    """The entries of everybody else."""
    return {pair: cells for pair, cells in entries.items() if pair[0] != record}


def candidates(entries, length=None, joined=None):
    """The records whose length and first time lie within (lowest, highest).

    Nobody is removed by a first time that is not there.
    """
    first = {}
    for (record, _), (_, time) in entries.items():
        if time is not None:
            first[record] = min(time, first.get(record, time))
    return [
        record
        for record, count in lengths(entries).items()
        if (length is None or length[0] <= count <= length[1])
        and (joined is None or record not in first or joined[0] <= first[record] <= joined[1])
    ]


def mean(scores):
    return math.fsum(scores.values()) / len(scores) if scores else 0.0


def sigma(scores):
    """The standard deviation of all scores, zeros included; none if they are all the same."""
    if not scores or max(scores.values()) - min(scores.values()) <= EQUAL:
        return 0.0
    middle = mean(scores)
    return math.sqrt(math.fsum((score - middle) ** 2 for score in scores.values()) / len(scores))


def highest(scores):
    return max(scores.values(), default=0.0)


def second(scores):
    """max2: the second of all scores, in descending order; the only one stands alone."""
    return sorted(scores.values())[-2] if len(scores) > 1 else highest(scores)


def tied(scores):
    """The records with the highest score, in the order of a release."""
    least = highest(scores) - EQUAL
    return shortlex(record for record, score in scores.items() if score >= least)


def eccentricity(scores):
    """(max - max2) / sigma; nothing stands out of a tie, or where there is no spread."""
    spread = sigma(scores)
    return 0.0 if spread == 0 or len(tied(scores)) > 1 else (highest(scores) - second(scores)) / spread


def match(scores, phi):
    """The best record if its eccentricity is at least phi; none for a tie, no spread or a single record."""
    stands_out = len(tied(scores)) == 1 and sigma(scores) > 0 and eccentricity(scores) >= phi
    return tied(scores)[0] if stands_out else None


def probabilities(scores):
    """{record: Pi}, in proportion to e^(score / sigma); all the same where there is no spread  [1B]."""
    spread, most = sigma(scores) or math.inf, highest(scores)
    masses = {record: math.exp((score - most) / spread) for record, score in scores.items()}
    total = math.fsum(masses.values())
    return {record: mass / total for record, mass in masses.items()}


def uniform(scores, alpha):
    """{record: Pi}, the same for every record with a score of at least alpha, 0 for others  [1A]."""
    least = alpha - EQUAL
    matching = sum(score >= least for score in scores.values())
    return {record: 1 / matching if score >= least else 0.0 for record, score in scores.items()}


def entropy(chances, record):
    """-log2 Pi(r): the bits still missing; log2 N if nothing points to the record."""
    return -math.log2(chances[record]) if chances.get(record) else math.log2(max(len(chances), 1))


def rank(scores, score):
    """1 + how many have a higher score than this one."""
    return 1 + sum(other > score + EQUAL for other in scores.values())


def order(scores):
    """The records with a score above 0, the highest first, equals in the order of a release."""
    found, equals, most = [], [], highest(scores)
    for record in sorted(scores, key=lambda record: -scores[record]):
        if scores[record] <= EQUAL:
            break
        if scores[record] < most - EQUAL:
            found += shortlex(equals)
            equals, most = [], scores[record]
        equals.append(record)
    return found + shortlex(equals)


# Records beside records, and a record beside a history. Times are in days since 1970.


def alike(entries, one, other, similarity, over="union"):
    """Sim(r1, r2): how alike the items are that both have, over the items of either, or of the first."""
    mine, theirs = ({item: cells for (who, item), cells in entries.items() if who == r} for r in (one, other))
    total = math.fsum(similarity(mine[item], theirs[item]) for item in mine if item in theirs)
    return total / len(mine if over == "first" else {*mine, *theirs})


def nearest(entries, record, similarity, over="union"):
    """How similar the most similar of the others is."""
    others = [other for other in lengths(entries) if other != record]
    return max((alike(entries, record, other, similarity, over) for other in others), default=0.0)


def singled_out(entries, record, items, value=0, days=None):
    """Whether nobody else has all these items of a record, with values no further apart than `value`, and
    times in the same bin of so many days; None: not known."""
    for other in lengths(entries):
        pairs = [(entries[record, item], entries.get((other, item))) for item in items]
        if other != record and all(theirs and _agree(mine, theirs, value, days) for mine, theirs in pairs):
            return False
    return True


def _agree(known, entry, value, days):
    values = None if value is None else lambda one, other: float(apart(one, other) <= value)
    agreed = math.prod(terms((known[0], None), (entry[0], None), values, None))
    if days is None or known[1] is None:
        return bool(agreed)
    return bool(agreed) and entry[1] is not None and known[1] // days == entry[1] // days


def altered(history, record, value=0, time=0):
    """(shared, values that differ, times that differ, either, missing, extra) of {item: (value, time)}."""
    both = [(history[item], record[item]) for item in history if item in record]
    values = [within((mine[0], None), theirs, value, None) == 0 for mine, theirs in both]
    times = [within((None, mine[1]), theirs, None, time) == 0 for mine, theirs in both]
    either = sum(a or b for a, b in zip(values, times, strict=True))
    return (
        len(both),
        sum(values),
        sum(times),
        either,
        len({*history} - {*record}),
        len({*record} - {*history}),
    )


def nearest_neighbours(entries, similarity, over="union"):
    """{record: (how similar its nearest neighbour is, who that is)}: the first of equals in the order of a
    release, nobody if none has anything similar."""
    found = {}
    for record in shortlex(lengths(entries)):
        others = [other for other in shortlex(lengths(entries)) if other != record]
        near = [alike(entries, record, other, similarity, over) for other in others]
        best = max(near, default=0.0)
        found[record] = (best, others[near.index(best)] if best else None)
    return found


def step_of(entries):
    """A quarter of the range of most values, at least the distance of two levels."""
    values = sorted(value for value, _ in entries.values() if value is not None)
    low, high = (values[max(math.ceil(share * len(values)) - 1, 0)] for share in (0.1, 0.9))
    return max((high - low) / 4, min(b - a for a, b in pairwise(sorted(set(values)))))


def days_apart(one, other):
    """The same day 0; up to 2, 7, 30, 120 days 2 to 5; more 6. (1 is for less than a day.)"""
    off = abs(one - other)
    return next((at for most, at in ((0, 0), (2, 2), (7, 3), (30, 4), (120, 5)) if off <= most), 6)


def common(entries, facts, record):
    """What facts {item: (value, time)} and a record have in common: −Σ ln of the chance of that, items that
    are shared and that are not, how far apart values are (4 columns) and days (7; one day counts once)."""
    chance = shared = 0.0
    values, days, counts, step = [0.0] * 4, [0.0] * 7, support(entries), step_of(entries)
    length = sum(one == record for one, _ in entries)
    told = [time for _, time in facts.values() if time is not None]
    for item, (value, time) in facts.items():
        p = min(max(counts[item], 1) * length / len(entries), 0.9)
        if (record, item) not in entries:
            chance -= math.log(1 - p)
            continue
        chance -= math.log(p)
        shared += 1
        its, when = entries[record, item]
        if value is not None and its is not None:
            off = abs(value - its)
            values[0 if off == 0 else 1 if off <= step else 2 if off <= 2 * step else 3] += 1
        if time is not None and when is not None:
            days[days_apart(time, when)] += 1 / told.count(time)
    return [chance, shared, len(facts) - shared, *values, *days]


def evidence(row, covered, values, times, dated=True):
    """ln of how many times likelier a row of `common` is for one person than for two."""
    chance, shared, missing, *rest = row
    total = chance + shared * math.log(covered) + missing * math.log(1 - covered)
    total += sum(a * b for a, b in zip(rest[:4], values, strict=True))
    return total + dated * sum(a * b for a, b in zip(rest[4:], times, strict=True))


# Linking


def edit_distance(one, other):
    """Optimal string alignment: letters inserted, deleted, changed, or two neighbours swapped."""
    table = {(i, -1): i + 1 for i in range(-1, len(one))} | {(-1, j): j + 1 for j in range(-1, len(other))}
    for i in range(len(one)):
        for j in range(len(other)):
            edits = [table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (one[i] != other[j])]
            if i and j and one[i] == other[j - 1] and one[i - 1] == other[j]:
                edits.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(edits)
    return table[len(one) - 1, len(other) - 1]


def title_score(one, other, release_words, public_words):
    """The score of two parsed titles without brackets, by the rules of docs/linking-alignment.md."""
    (name,), (other_name,), years = one.names, other.names, (one.year, other.year)
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
    elif (
        len(words) == len(others) and any(u in release_words and v in public_words for u, v in changed)
    ) or edits > 3:
        score = min(score, 80)
    if score < 75:
        return 0
    if apart is None:
        score -= 10 if any(years) else 0 if score == 100 else 5
    elif apart == 1:
        score = min(score - 5, 100 if one.article == other.article else 80)
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
    """For each level of `theirs`, the level of `ours` with the same share below, half of its own included."""

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


# Sanitizing


def period_start(day, name, count=1):
    """First day of the period that contains a date."""
    if name == "week":
        return day - timedelta(days=day.weekday())
    if name == "day":
        return day - timedelta(days=(day - EPOCH.date()).days % count)
    size = {"month": 1, "quarter": 3, "year": 12}[name]
    return day.replace(month=(day.month - 1) // size * size + 1, day=1)


def bin_means(values, edges):
    """{value: mean of its bin} for bins that begin at these edges."""
    bins = {}
    for value in values:
        bins.setdefault(sum(value >= edge for edge in edges), []).append(value)
    return {value: math.fsum(group) / len(group) for group in bins.values() for value in group}


def equal_edges(values, bins):
    """Edges of bins of about equally many values: cut where the share below is nearest to i / bins."""
    levels = sorted(set(values))
    cuts = set()
    for i in range(1, bins):
        goal = len(values) * i / bins
        cuts.add(min(levels[1:], key=lambda cut: abs(sum(v < cut for v in values) - goal), default=None))
    return sorted(cuts - {None})


def item_sets(entries):
    """{record: set of its items}."""
    sets = {}
    for record, item in entries:
        sets.setdefault(record, set()).add(item)
    return sets


def jaccard(one, other):
    """Items in common / items of either."""
    return len(one & other) / len(one | other)


def km_pass(entries, k, m):
    """One pass of km-suppress over the items, the most popular first: entries (record, item) that stay."""
    having, counts = item_sets(entries), Counter(item for _, item in entries)
    kept = {record: set() for record in having}
    for item in sorted(counts, key=lambda item: (-counts[item], len(item), item)):
        people = {record for record, items in having.items() if item in items}
        while bad := _records_with_rare_combinations(people, kept, k, m):
            people -= bad
        for record in people:
            kept[record].add(item)
    return {(record, item) for record, items in kept.items() for item in items}


def _records_with_rare_combinations(people, kept, k, m):
    sets = {
        record: [one for size in range(m) for one in combinations(sorted(kept[record]), size)]
        for record in people
    }
    counts = Counter(one for some in sets.values() for one in some)
    return {record for record, some in sets.items() if any(counts[one] < k for one in some)}


def km_suppress(entries, k, m):
    """The entries (record, item) that km-suppress keeps."""
    kept = km_pass(entries, k, min(m, 2))
    return km_pass(kept, k, 3) if m == 3 and kept else kept


def fewest_records(entries, m):
    """Smallest number of records that share a combination of up to m items which some record has."""
    counts = Counter()
    for items in item_sets(entries).values():
        for size in range(1, m + 1):
            counts.update(combinations(sorted(items), size))
    return min(counts.values())


# Utility


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
        own_values = [value for value in history.values() if value is not None]
        if mean is None:
            guesses = [sum(own_values) / len(own_values)] * len(questions)
        else:
            vector, own_bias = _residuals(history, items, mean, bias, damping)
            fits = [float(value_factors.T[code[item]] @ (value_factors @ vector)) for item in questions]
            raw = [mean + bias[code[i]] + own_bias + fit for i, fit in zip(questions, fits, strict=True)]
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
    own_bias = sum(rest.values()) / (len(rest) + damping)
    vector = np.zeros(len(items))
    for index, value in rest.items():
        vector[index] = value - own_bias
    return vector, own_bias


def probability_in_top(scores, candidates, item, top=10):
    """Probability that an item is among the first `top` candidates, with ties in random order."""
    if item not in candidates:
        return 0.0
    higher = sum(scores[index] > scores[item] + 1e-9 for index in candidates)
    tied = sum(abs(scores[index] - scores[item]) <= 1e-9 for index in candidates)
    return min(max((top - higher) / tied, 0), 1)


def cosine(histories, one, other):
    """Cosine of two items: records with both / √(records with one · records with the other)."""
    a, b = ({person for person, history in histories.items() if item in history} for item in (one, other))
    return len(a & b) / math.sqrt(len(a) * len(b)) if a and b else 0.0


# Outcomes of an attack, by the paper's formulas.

NO_CLAIM = -1.0
"""Instead of an eccentricity where no claim is possible."""


def record_of(entries, record):
    """{item: (value, day)} of one record."""
    return {item: cell for (other, item), cell in entries.items() if other == record}


def similarity_of_histories(one, other):
    """Sim of two {item: (value, day)}, over the union."""
    shared = [within(one[item], other[item]) for item in one if item in other]
    return math.fsum(shared) / len({*one, *other})


def claim_eccentricity(scores):
    """The eccentricity, or NO_CLAIM in a tie, without spread, or without candidates."""
    return eccentricity(scores) if scores and match(scores, 0) else NO_CLAIM


def lineup_size(chances, mass):
    """How many of the most probable records hold this share of the probability."""
    ordered = sorted(chances.values(), reverse=True)
    held = [math.fsum(ordered[: n + 1]) for n in range(len(ordered))]
    return next(n + 1 for n, total in enumerate(held) if total >= mass - 1e-9)


def attack_outcome(entries, facts, person, right_record, top, theta):
    """Every outcome of one attack on a release.

    person = the true {item: (value, day)} in terms of the release; right_record = the record that represents
    the person, or None.
    """
    scores = sums(entries, facts)
    chances, best, n = probabilities(scores), tied(scores), len(scores)
    near = [one for one in scores if similarity_of_histories(person, record_of(entries, one)) >= theta]
    revealed, correct = [], []
    for guess in best if highest(scores) > EQUAL else []:
        new = {item: cell for item, cell in record_of(entries, guess).items() if item not in facts}
        revealed.append(len(new))
        correct.append(sum(within(person[item], cell) for item, cell in new.items() if item in person))
    outcome = {
        "identified": 0.0,
        "in_top": 0.0,
        "similar": sum(guess in near for guess in best) / len(best),
        "eccentricity": claim_eccentricity(scores),
        "bits_left": math.log2(n),
        "similar_bits_left": min((-math.log2(chances[one]) for one in near), default=math.log2(n)),
        "best_probability": max(chances.values()),
        "candidates": n,
        "revealed": math.fsum(revealed) / max(len(revealed), 1),
        "revealed_correct": math.fsum(correct) / max(len(correct), 1),
        "absent_eccentricity": claim_eccentricity(scores),
    }
    outcome |= {f"lineup_{share}": lineup_size(chances, share / 100) for share in (50, 90, 99)}
    if right_record is None:
        return outcome
    others = without(entries, right_record)
    higher = rank(scores, scores[right_record]) - 1
    equal = sum(abs(score - scores[right_record]) <= EQUAL for score in scores.values())
    return outcome | {
        "identified": (right_record in best) / len(best),
        "in_top": min(1.0, max(0.0, (top - higher) / equal)),
        "bits_left": -math.log2(chances[right_record]),
        "absent_eccentricity": claim_eccentricity(sums(others, facts) if others else {}),
    }


# Readings of the paper's text, and bits of a known value.


def bits_of_nearness(values, reach):
    """Mean over values of −log2 of the share of the others within `reach`, as harmonic numbers."""
    return _mean_bits_of_nearness(values, lambda one, other: abs(one - other) <= reach)


def _mean_bits_of_nearness(values, is_near):
    """(H(n − 1) − H(k)) / ln 2, averaged over n values, where k of the n − 1 others are near."""
    total = 0.0
    for i, value in enumerate(values):
        near = sum(is_near(value, other) for j, other in enumerate(values) if j != i)
        total += sum(1 / k for k in range(near + 1, len(values))) / math.log(2)
    return total / max(len(values), 1)


def bits_left_in_readings(entries, facts, target, right, value, time, lineup_size):
    """Bits left in the eight readings that need the scores of all records."""
    scores = sums(entries, facts)
    log2_n = math.log2(len(scores))
    chances = probabilities(scores)
    near = sums(entries, facts, lambda known, entry: within(known, entry, value, time))
    has = {record: [item for item in facts if (record, item) in entries] for record in scores}
    agrees = {
        record: sum(within(facts[item], entries[record, item], value, time) for item in has[record])
        for record in scores
    }
    any_known = {record: scores[record] for record in scores if has[record]}
    all_known = {record: scores[record] for record in scores if len(has[record]) == len(facts)}
    matches = [record for record in scores if agrees[record] == len(facts)]
    enough = [record for record in scores if agrees[record] >= right]
    best = sorted(any_known, key=lambda record: -scores[record])[:lineup_size]
    lineup = {record: chances[record] for record in best}
    higher = sum(score > scores[target] + EQUAL for score in scores.values())
    ties = sum(abs(score - scores[target]) <= EQUAL for score in scores.values())
    return [
        math.fsum(-p * math.log2(p) for p in chances.values()),
        entropy(probabilities(near), target),
        entropy(probabilities(any_known), target),
        entropy(probabilities(all_known), target),
        math.log2(len(matches)) if target in matches else log2_n,
        math.log2(len(enough)) if target in enough else log2_n,
        -math.log2(lineup[target] / math.fsum(lineup.values())) if target in lineup else log2_n,
        math.log2(1 + higher + (ties - 1) / 2),
    ]


# The published statistics of the Netflix Prize data.


class NetflixStatistics:
    """Every statistic by loops and dicts: {group: {statistic: number}}.

    entries            {(record, item): (value, date)}
    published_support  the published support of each rank
    scale              number of people, relative to the Netflix Prize data
    last_day           the last day of the Netflix Prize data
    rare               the first and last rank of rare films
    """

    def __init__(self, entries, published_support, scale, last_day, rare):
        self.entries, self.published_support, self.scale = entries, published_support, scale
        self.last_day, self.rare = last_day, rare
        self.people, self.films = {}, {}
        for (record, item), cell in entries.items():
            self.people.setdefault(record, []).append(cell)
            self.films.setdefault(item, []).append(cell)
        self.n, self.rank = len(self.people), ranks(entries)
        self.values = [value for value, _ in entries.values() if value is not None]
        self.times = [time for _, time in entries.values() if time is not None]
        falling = sorted(map(len, self.films.values()), reverse=True)
        self.support = falling + [0] * (len(published_support) - len(falling))
        self.is_full = scale >= 0.99

    def groups(self):
        groups = {
            "ratings of a person": self.lengths(),
            "ratings of a film": self.supports(),
            "support by rank": self.supports_by_rank(),
        }
        if len(self.films) > 100:
            groups["films outside the most rated"] = self.films_outside_top()
        if self.is_full:
            groups["sizes"] = {"people": self.n, "films": len(self.films), "ratings": len(self.entries)}
        if self.values:
            groups["ratings"] = self.ratings()
            groups["a person's mean rating"] = self.person_means()
            groups["a film's mean rating"] = self.film_means()
        if self.times:
            groups["dates of ratings"] = self.dates()
            groups["two ratings of a person"] = self.bursts()
            groups |= self.first_and_last_days()
        if self.values or self.times:
            groups["bits added to those of a film"] = self.added_bits()
        return groups

    def lengths(self):
        n = sorted(map(len, self.people.values()))
        numbers = {"mean": fmean(n), "standard deviation": pstdev(n)}
        numbers |= {_quantile_name(percent): quantile(n, percent / 100) for percent in (25, 50, 75, 90, 99)}
        numbers["share of people with 1"] = n.count(1) / len(n)
        numbers["share of people with fewer than 10"] = sum(x < 10 for x in n) / len(n)
        for percent in (1, 5, 10):
            top = n[-max(round(len(n) * percent / 100), 1) :]
            numbers[f"share of the most active {percent} %"] = sum(top) / sum(n)
        return numbers | ({"fewest": n[0], "most": n[-1]} if self.is_full else {})

    def ratings(self):
        counts = Counter(self.values)
        numbers = {f"share of {star}": counts[star] / len(self.values) for star in range(1, 6)}
        return numbers | {"mean": fmean(self.values), "standard deviation": pstdev(self.values)}

    def person_means(self):
        rated = [[value for value, _ in cells if value is not None] for cells in self.people.values()]
        means = [fmean(values) for values in rated if values]
        within = [stdev(values) for values in rated if len(values) > 1]
        return {
            "mean": fmean(means),
            "standard deviation": pstdev(means),
            "deviation within a person, mean": fmean(within),
        }

    def supports(self):
        numbers = {
            f"{_quantile_name(percent)}, share of people": quantile(self.support, percent / 100) / self.n
            for percent in (25, 50, 75, 90, 99)
        }
        numbers["most, share of people"] = self.support[0] / self.n
        numbers["standard deviation ÷ mean"] = pstdev(self.support) / fmean(self.support)
        for top in (100, 500, 1000, 2000, 5000):
            numbers[f"share of the {top:,} most rated"] = sum(self.support[:top]) / sum(self.support)
        least = min(support for support in self.support if support)
        return numbers | ({"fewest": least} if self.is_full else {})

    def supports_by_rank(self):
        support = [max(support, 0.5) for support in self.support]
        numbers = {
            f"bits of the film of rank {rank:,}": -math.log2(support[rank - 1] / self.n)
            for rank in (1, 10, 100, 500, 1000, 5000, 10_000)
        }
        ratios = [
            abs(math.log(ours / (theirs * self.scale)))
            for ours, theirs in zip(support, self.published_support, strict=True)
        ]
        all_ranks = f"|ln ratio|, ranks 1 to {len(ratios):,}"
        return numbers | {f"mean {all_ranks}": fmean(ratios), f"largest {all_ranks}": max(ratios)}

    def film_means(self):
        rated = {
            film: [value for value, _ in cells if value is not None] for film, cells in self.films.items()
        }
        rated = {film: values for film, values in rated.items() if values}
        means = [fmean(values) for values in rated.values()]
        squares = sum((value - fmean(values)) ** 2 for values in rated.values() for value in values)
        within = squares / (sum(map(len, rated.values())) - len(rated))
        noise = within * fmean(1 / len(values) for values in rated.values()) * (1 - self.scale)
        sd = math.sqrt(max(pstdev(means) ** 2 - noise, 0))
        supports = [len(self.films[film]) for film in rated]
        spearman = correlation(shared_ranks([round(mean, 12) for mean in means]), shared_ranks(supports))
        return {
            "mean": fmean(means),
            "standard deviation": sd,
            "Spearman with popularity": spearman * pstdev(means) / sd if sd else 0,
        }

    def films_outside_top(self):
        return {
            f"≥ {least} films outside the top {top:,}": share
            for top, shares in outside_top(self.entries).items()
            for least, share in shares.items()
        }

    def dates(self):
        n, numbers = len(self.times), {}
        if self.is_full:
            numbers[f"first, days before {self.last_day}"] = (self.last_day - min(self.times)).days
            numbers[f"last, days before {self.last_day}"] = (self.last_day - max(self.times)).days
        years = Counter(time.year for time in self.times)
        quarters = Counter((time.year, (time.month + 2) // 3) for time in self.times)
        weekdays = Counter(time.strftime("%A") for time in self.times)
        numbers |= {str(year): years[year] / n for year in range(2000, 2006)}
        for year in (2004, 2005):
            for quarter in (1, 2, 3, 4):
                numbers[f"{year}, quarter {quarter}"] = quarters[year, quarter] / n
        for name in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"):
            numbers[name] = weekdays[name] / n
        days = Counter(self.times)
        for reach in (14, 3):
            near = {
                day: sum(count for other, count in days.items() if abs((other - day).days) <= reach)
                for day in days
            }
            bits = [-math.log2(near[time] / n) for time in self.times]
            numbers[f"bits of a date ± {reach} days"] = fmean(bits)
        return numbers

    def first_and_last_days(self):
        times = [[time for _, time in cells if time is not None] for cells in self.people.values()]
        ends = [
            ((self.last_day - min(days)).days, (self.last_day - max(days)).days) for days in times if days
        ]
        first, last = zip(*ends, strict=True)
        span = [before - after for before, after in ends]
        return {
            f"first, last: days before {self.last_day}": {
                "first, median": quantile(first, 0.5),
                "first, 90 % quantile": quantile(first, 0.1),
                "last, median": quantile(last, 0.5),
            },
            "days from first to last rating": {
                "mean": fmean(span),
                **{_quantile_name(percent): quantile(span, percent / 100) for percent in (50, 90, 99)},
            },
        }

    def bursts(self):
        numbers = {"on the same day": self._share_of_pairs(0, 2, math.inf)}
        for reach in (14, 30, 90, 365):
            numbers[f"within {reach} days"] = self._share_of_pairs(reach, 2, math.inf)
        for low, high in ((2, 30), (30, 100), (100, 300), (300, 1000)):
            numbers[f"within 6 days, people with {low} to {high - 1}"] = self._share_of_pairs(6, low, high)
        numbers["within 6 days, people with ≥ 1,000"] = self._share_of_pairs(6, 1000, math.inf)
        return {name: number for name, number in numbers.items() if number is not None}

    def _share_of_pairs(self, reach, low, high):
        """Mean share of pairs within reach, over people with low … high - 1 dates; None if there is one."""
        times = [[time for _, time in cells if time is not None] for cells in self.people.values()]
        shares = [
            fmean(abs((one - other).days) <= reach for one, other in combinations(days, 2))
            for days in times
            if low <= len(days) < high
        ]
        return fmean(shares) if len(shares) > 1 else None

    def added_bits(self):
        numbers = {}
        for low, high in ((1, 100), self.rare):
            films = [cells for film, cells in self.films.items() if low <= self.rank[film] <= high]
            values = [[value for value, _ in cells if value is not None] for cells in films]
            days = [[time.toordinal() for _, time in cells if time is not None] for cells in films]
            for name, reach, known, is_there in (
                ("rating ± 1", 1, values, self.values),
                ("date ± 14 days", 14, days, self.times),
            ):
                if is_there:
                    bits = fmean(bits_of_nearness(numbers_of_film, reach) for numbers_of_film in known)
                    numbers[f"{name}, ranks {low:,} to {high:,}"] = bits
        return numbers


def quantile(numbers, share):
    """A quantile, interpolated linearly."""
    ordered, position = sorted(numbers), share * (len(numbers) - 1)
    low, high = ordered[math.floor(position)], ordered[math.ceil(position)]
    return low + (high - low) * (position - math.floor(position))


def shared_ranks(numbers):
    """Ranks from the smallest up; equal numbers share their mean rank."""
    return [sum(x < number for x in numbers) + (numbers.count(number) + 1) / 2 for number in numbers]


def _quantile_name(percent):
    return "median" if percent == 50 else f"{percent} % quantile"
