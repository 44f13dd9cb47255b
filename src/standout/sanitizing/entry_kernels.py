"""What steps do to every entry: compiled.

Entry i of record r has the stream mix(records[r], items[item]): what is drawn for it depends on neither its
place nor on what else is in the release.
"""

import numpy as np

from standout.core.jit import Array, Int, Real, kernel
from standout.core.rng import mix, uniform

__all__ = ["cap", "flip", "perturb", "shift", "uniforms"]

ZERO, ONE = np.uint64(0), np.uint64(1)


@kernel
def uniforms(
    start: Array, item: Array, records: Array, items: Array, low: Int, high: Int, out: Array
) -> None:
    """out[i] = a number in [0, 1) for each entry of records low … high - 1."""
    for record in range(low, high):
        for i in range(start[record], start[record + 1]):
            out[i] = uniform(mix(records[record], items[item[i]]), ZERO)


@kernel
def perturb(
    start: Array, item: Array, records: Array, items: Array, low: Int, high: Int,
    value: Array, first: Array, last: Array, probability: Real, out: Array,
) -> None:  # fmt: skip
    """out[i] = another level of first[v] … last[v] with this probability, each as likely; else v = value[i].

    A level that has no other there stays, and so does what is missing.
    """
    for record in range(low, high):
        for i in range(start[record], start[record + 1]):
            v = np.int64(value[i])
            out[i] = v
            if v >= len(first) or last[v] == first[v]:
                continue
            stream = mix(records[record], items[item[i]])
            if uniform(stream, ZERO) < probability:
                other = first[v] + np.int64(uniform(stream, ONE) * (last[v] - first[v]))
                out[i] = other + (other >= v)


@kernel
def shift(
    start: Array, item: Array, records: Array, items: Array, low: Int, high: Int,
    time: Array, span: Int, most: Int, probability: Real, out: Array,
) -> None:  # fmt: skip
    """out[i] = time[i] + most, moved by -most … most with this probability; span + 2 most for none."""
    for record in range(low, high):
        for i in range(start[record], start[record + 1]):
            t = np.int64(time[i])
            if t == span:
                out[i] = span + 2 * most
                continue
            stream = mix(records[record], items[item[i]])
            out[i] = t + most
            if uniform(stream, ZERO) < probability:
                out[i] = t + np.int64(uniform(stream, ONE) * (2 * most + 1))


@kernel
def cap(start: Array, draws: Array, low: Int, high: Int, most: Int, keep: Array) -> None:
    """keep[i] = whether entry i has one of the `most` lowest draws of its record, one of low … high - 1."""
    for record in range(low, high):
        begin, end = start[record], start[record + 1]
        if end - begin <= most:
            keep[begin:end] = True
            continue
        order = np.argsort(draws[begin:end], kind="mergesort")
        for i in range(most):
            keep[begin + order[i]] = True


@kernel
def flip(
    start: Array, item: Array, records: Array, items: Array, low: Int, high: Int, probability: Real,
    ends: Array, out: Array,
) -> tuple[Int, Int]:  # fmt: skip
    """Every cell of records low … high - 1 flips with this probability; out = the items that they have then.

    ends[r - low] = where record r ends in out, which has room for every cell. Returns how many entries there
    are, and how many of them are false.
    """
    n, false = 0, 0
    for record in range(low, high):
        i = start[record]
        for cell in range(len(items)):
            there = i < start[record + 1] and item[i] == cell
            i += there
            if (uniform(mix(records[record], items[cell]), ZERO) < probability) != there:
                out[n] = cell
                n += 1
                false += not there
        ends[record - low] = n
    return n, false
