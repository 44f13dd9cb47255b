"""Counting by bits: 256 counters beside each other, a plane for each binary digit: compiled by hand.

A row of a bitmap says of 256 neighbours which of them have an item. How many items each of them shares with
a record is the sum of the record's rows, digit by digit: a full adder on whole vectors turns three rows of
one weight into one of the same and one of twice the weight. Sixteen rows go through a tree of such adders,
and only what they carry walks up the higher planes; so a row costs five instructions for 256 records.

    add_rows   counts
    reached    which counters have reached a number, or a limit of their own
    any_above  the same for plain counters
    fetch      asks the cache for something

Plain Python says what is done, and is what runs when the compiler is off.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.extending import intrinsic

from standout.core.jit import Array, Flag, Int

cgutils: Any = import_module("numba.core.cgutils")  # untyped

__all__ = [
    "AHEAD",
    "GROUP",
    "LANES",
    "LOW",
    "WORDS",
    "add_rows",
    "aligned",
    "any_above",
    "fetch",
    "reached",
    "roomy",
]

WORDS = 4
LANES = 64 * WORDS
GROUP = 16
PAGES = 1 << 22
"""Bytes: from here on NumPy asks for large pages."""
AHEAD = 128
"""So many rows before it is added the cache is asked for a row; otherwise it costs three times as much."""
LOW = 4
"""The planes of 1, 2, 4 and 8, which stay in registers while rows are added."""
ALL = np.uint64(2**64 - 1)
I32, I64 = ir.IntType(32), ir.IntType(64)
VECTOR = ir.VectorType(I64, WORDS)
FIRST, ONE, HIGH = ir.Constant(I64, 0), ir.Constant(I64, 1), ir.Constant(I64, LOW)
NOTHING, EVERY = ir.Constant(VECTOR, [0] * WORDS), ir.Constant(VECTOR, [-1] * WORDS)
WEIGHTS = [ir.Constant(I64, p) for p in range(LOW)]


def roomy(count: int, kind: Any) -> Array:
    """So many elements, in large pages where the system has them: small ones are looked up too often."""
    return np.empty(max(count, PAGES // np.dtype(kind).itemsize), kind)[:count]


def aligned(words: int) -> Array:
    """So many words, from a multiple of 64 bytes on: no vector lies in two lines of the cache."""
    found = np.empty(words + 8, np.uint64)
    first = -(found.ctypes.data // 8) % 8
    return found[first : first + words]


def _add_rows(bits: Array, row: Array, begin: Int, end: Int, column: Int, planes: Array, digits: Int) -> None:
    """Counts rows row[begin] … row[end - 1] of a column, by lane.

    bits and planes are vectors of four words: vector column + row of the bitmap holds the 256 bits of a row,
    vector p of planes becomes the p-th digit of all counters. There are so many rows as whole groups of
    sixteen have, so many digits as the counters need, and at least four. Up to AHEAD elements of `row` behind
    the last one are rows, too, that may be needed next.
    """
    planes[: int(digits) * WORDS] = 0
    for j in range(int(begin), int(end)):
        at = (int(row[j]) + int(column)) * WORDS
        carry = bits[at : at + WORDS].copy()
        for p in range(int(digits)):
            plane = planes[p * WORDS : (p + 1) * WORDS]
            carry, plane[:] = plane & carry, plane ^ carry


def _reached(planes: Array, digits: Int, needed: Int, limit: Array, out: Array) -> Flag:
    """Sets a bit of out for each counter that is at least `needed`, or its own limit; tells if there is one.

    limit has planes as the counters do; needed has no more digits than they.
    """
    below, under = np.full(WORDS, ALL), np.full(WORDS, ALL)
    below[:] = under[:] = 0
    for p in range(int(digits)):
        plane, own = planes[p * WORDS : (p + 1) * WORDS], limit[p * WORDS : (p + 1) * WORDS]
        of_all = ALL if (int(needed) >> p) & 1 else np.uint64(0)
        below = (~plane & own) | (~(plane ^ own) & below)
        under = (~plane & of_all) | (~(plane ^ of_all) & under)
    out[:WORDS] = ~(below & under)
    return bool(out[:WORDS].any())


def _any_above(counter: Array, begin: Int, needed: Int, limit: Array) -> Flag:
    """Whether some counter of a column is at least `needed`, or its own limit."""
    here = slice(int(begin), int(begin) + LANES)
    return bool((counter[here] >= np.minimum(limit[here], needed)).any())


def _fetch(array: Array, at: Int) -> None:
    """Asks the cache for an element that will be needed soon; it need not exist."""


@intrinsic
def _compiled_add_rows(
    typing: Any, bits: Any, row: Any, begin: Any, end: Any, column: Any, planes: Any, digits: Any
) -> Any:
    """The same for Numba: called with types, it returns a signature and what writes the instructions."""
    whole = types.int64
    return types.void(bits, row, whole, whole, whole, planes, whole), _write_add_rows


@intrinsic
def _compiled_reached(typing: Any, planes: Any, digits: Any, needed: Any, limit: Any, out: Any) -> Any:
    return types.boolean(planes, types.int64, types.int64, limit, out), _write_reached


@intrinsic
def _compiled_any_above(typing: Any, counter: Any, begin: Any, needed: Any, limit: Any) -> Any:
    return types.boolean(counter, types.int64, types.int64, limit), _write_any_above


@intrinsic
def _compiled_fetch(typing: Any, array: Any, at: Any) -> Any:
    return types.void(array, types.int64), _write_fetch


class _Writer:
    """Writes instructions on vectors of 256 bits."""

    def __init__(self, context: Any, builder: Any, signature: Any, given: Any) -> None:
        self.context, self.builder, self.signature, self.given = context, builder, signature, given

    def element(self, i: int) -> Any:
        """What the i-th array is made of."""
        return self.context.get_value_type(self.signature.args[i].dtype)

    def pointer(self, i: int, kind: Any = VECTOR) -> Any:
        """The i-th array, as elements of a kind one after another."""
        array = self.context.make_array(self.signature.args[i])(self.context, self.builder, self.given[i])
        return self.builder.bitcast(array.data, kind.as_pointer())

    def load(self, base: Any, at: Any) -> Any:
        return self.builder.load(self.builder.gep(base, [at]), align=8)

    def store(self, what: Any, base: Any, at: Any) -> None:
        self.builder.store(what, self.builder.gep(base, [at]), align=8)

    @contextmanager
    def loop(self, begin: Any, end: Any, step: int = 1) -> Iterator[Any]:
        with cgutils.for_range_slice(self.builder, begin, end, ir.Constant(I64, step), intp=I64) as (i, _):
            yield i

    def spread(self, number: Any, kind: Any = VECTOR) -> Any:
        """A vector with this number in every place."""
        build, count = self.builder, kind.count
        one = build.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(I32, 0))
        return build.shuffle_vector(one, one, ir.Constant(ir.VectorType(I32, count), [0] * count))

    def rows(self, begin: Any, column: Any) -> list[Any]:
        """The next sixteen rows of a column."""
        build, bits, row = self.builder, self.pointer(0), self.pointer(1, self.element(1))
        at = [build.gep(row, [build.add(begin, ir.Constant(I64, j))]) for j in range(GROUP)]
        for j in range(GROUP):
            later = build.load(build.gep(row, [build.add(begin, ir.Constant(I64, j + AHEAD))]))
            self.fetch(build.gep(bits, [build.add(build.zext(later, I64), column)]))
        return [self.load(bits, build.add(build.zext(build.load(one), I64), column)) for one in at]

    def fetch(self, address: Any) -> None:
        """Asks the cache for what will be needed soon."""
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, I32, I32, I32])
        ask = self.builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        how = [ir.Constant(I32, number) for number in (0, 3, 1)]
        self.builder.call(ask, [self.builder.bitcast(address, pointer), *how])

    def full(self, a: Any, b: Any, c: Any) -> tuple[Any, Any]:
        """(sum, carry) of three rows."""
        build = self.builder
        either = build.xor(a, b)
        return build.xor(either, c), build.or_(build.and_(a, b), build.and_(either, c))

    def tree(self, low: list[Any], rows: list[Any]) -> Any:
        """Adds rows to the low planes, two at a time; returns what is carried beyond them."""
        for p, plane in enumerate(low):
            carried = []
            for a, b in zip(rows[::2], rows[1::2], strict=True):
                plane, carry = self.full(a, b, plane)
                carried.append(carry)
            low[p], rows = plane, carried
        return rows[0]

    def less(self, plane: Any, other: Any, so_far: Any) -> Any:
        """Which counters are less than others, given which are by the digits below."""
        build = self.builder
        differ = build.xor(plane, other)
        return build.or_(build.and_(differ, other), build.and_(build.not_(differ), so_far))

    def is_any(self, bits: Any, width: int = LANES) -> Any:
        whole = ir.IntType(width)
        return self.builder.icmp_unsigned("!=", self.builder.bitcast(bits, whole), ir.Constant(whole, 0))


def _write_add_rows(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = _Writer(context, builder, signature, given)
    planes = write.pointer(5)
    begin, end, column, _, digits = given[2:]
    low = [cgutils.alloca_once_value(builder, NOTHING) for _ in WEIGHTS]
    for plane in low:
        builder.store(NOTHING, plane)
    with write.loop(HIGH, digits) as p:
        write.store(NOTHING, planes, p)
    with write.loop(begin, end, GROUP) as at:
        state = [builder.load(plane) for plane in low]
        carry = cgutils.alloca_once(builder, VECTOR)
        builder.store(write.tree(state, write.rows(at, column)), carry)
        for plane, value in zip(low, state, strict=True):
            builder.store(value, plane)
        with write.loop(HIGH, digits) as p:
            old, carried = write.load(planes, p), builder.load(carry)
            write.store(builder.xor(old, carried), planes, p)
            builder.store(builder.and_(old, carried), carry)
    for plane, p in zip(low, WEIGHTS, strict=True):
        write.store(builder.load(plane), planes, p)
    return context.get_dummy_value()


def _write_reached(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = _Writer(context, builder, signature, given)
    planes, digits, needed, limit, out = (
        write.pointer(0),
        given[1],
        given[2],
        write.pointer(3),
        write.pointer(4),
    )
    below, under = (cgutils.alloca_once(builder, VECTOR) for _ in range(2))
    for less in (below, under):
        builder.store(NOTHING, less)
    with write.loop(FIRST, digits) as p:
        plane = write.load(planes, p)
        of_all = write.spread(builder.neg(builder.and_(builder.lshr(needed, p), ONE)))
        builder.store(write.less(plane, write.load(limit, p), builder.load(below)), below)
        builder.store(write.less(plane, of_all, builder.load(under)), under)
    found = builder.xor(builder.and_(builder.load(below), builder.load(under)), EVERY)
    write.store(found, out, FIRST)
    return write.is_any(found)


def _write_any_above(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = _Writer(context, builder, signature, given)
    element = write.element(0)
    kind = ir.VectorType(element, LANES // element.width)
    begin, step = given[1], kind.count
    counter = builder.bitcast(builder.gep(write.pointer(0, element), [begin]), kind.as_pointer())
    limit = builder.bitcast(builder.gep(write.pointer(3, element), [begin]), kind.as_pointer())
    needed = write.spread(builder.trunc(given[2], element), kind)
    found = cgutils.alloca_once(builder, ir.VectorType(ir.IntType(1), step))
    builder.store(ir.Constant(ir.VectorType(ir.IntType(1), step), [0] * step), found)
    with write.loop(FIRST, ir.Constant(I64, LANES // step)) as i:
        here, own = write.load(counter, i), write.load(limit, i)
        least = builder.select(builder.icmp_unsigned("<", own, needed), own, needed)
        above = builder.icmp_unsigned(">=", here, least)
        builder.store(builder.or_(builder.load(found), above), found)
    return write.is_any(builder.load(found), step)


def _write_fetch(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = _Writer(context, builder, signature, given)
    write.fetch(builder.gep(write.pointer(0, write.element(0)), [given[1]]))
    return context.get_dummy_value()


INTERPRETED = config.DISABLE_JIT  # type: ignore[attr-defined]
add_rows: Any = _add_rows if INTERPRETED else _compiled_add_rows
reached: Any = _reached if INTERPRETED else _compiled_reached
any_above: Any = _any_above if INTERPRETED else _compiled_any_above
fetch: Any = _fetch if INTERPRETED else _compiled_fetch
