"""Noise of sanitizing steps as plain enumeration: what an adversary who knows the steps expects."""

from collections import defaultdict
from datetime import date, timedelta
from itertools import product

from naive import sanitizing

EPOCH = date(1970, 1, 1)


def spread_values(levels, error, probability):
    """P(x′ | x) as a dict of dicts: another level within the error, all equally likely, or no change."""
    channel = {}
    for x in levels:
        others = [y for y in levels if y != x and (error is None or abs(y - x) <= error + 1e-9)]
        row = defaultdict(float, {x: 1 - probability if others else 1.0})
        for y in others:
            row[y] += probability / len(others)
        channel[x] = dict(row)
    return channel


def merge_values(levels, edges, values):
    """P(x′ | x) of bins."""
    return {x: {values[sum(x >= edge for edge in edges)]: 1.0} for x in levels}


def compose(first, second):
    """P(x″ | x) of two channels."""
    result = {}
    for x, row in first.items():
        out = defaultdict(float)
        for y, share in row.items():
            for z, further in second[y].items():
                out[z] += share * further
        result[x] = dict(out)
    return result


def given_released(channel, prior, numbers):
    """Mean of numbers[x] given x′, for each x′: Bayes' rule."""
    above, below = defaultdict(float), defaultdict(float)
    for x, row in channel.items():
        for y, share in row.items():
            above[y] += prior[x] * share * numbers[x]
            below[y] += prior[x] * share
    return {y: above[y] / below[y] for y in below if below[y]}


def right_value(known, x, levels, error):
    """Probability that a right fact about an entry with value x says `known`."""
    near = [y for y in levels if abs(y - x) <= error + 1e-9]
    return (known in near) / len(near)


def date_differences(first, last, error, steps):
    """P(T = Y + d | Y, where Y + d is a possible date) of rounded dates, averaged over days first … last.

    `steps` are ("shift", days, probability) or ("round", name, count), in their order.
    """
    rounding = [step for step in steps if step[0] == "round"]
    joint, margin = defaultdict(float), defaultdict(float)
    for day in range(first, last + 1):
        released = {day: 1.0}
        for step in steps:
            after = defaultdict(float)
            for y, share in released.items():
                if step[0] == "round":
                    after[period_start(y, *step[1:])] += share
                else:
                    _, days, probability = step
                    after[y] += share * (1 - probability)
                    for shift in range(-days, days + 1):
                        after[y + shift] += share * probability / (2 * days + 1)
            released = after
        known = defaultdict(float)
        for shift in range(-error, error + 1):
            known[round_down(day + shift, rounding)] += 1 / (2 * error + 1)
        for (t, t_share), (y, y_share) in product(known.items(), released.items()):
            joint[t - y] += t_share * y_share
        for y, share in released.items():
            margin[y] += share
    dates = {round_down(day, rounding) for day in range(first - 1500, last + 1500)}
    return {d: share / sum(m for y, m in margin.items() if y + d in dates) for d, share in joint.items()}


def period_start(day, name, count=1):
    """First day of the period that contains a day, counted from 1970-01-01."""
    return (sanitizing.period_start(EPOCH + timedelta(days=day), name, count) - EPOCH).days


def round_down(day, rounding):
    """A day after these rounding steps."""
    for _, name, count in rounding:
        day = period_start(day, name, count)
    return day
