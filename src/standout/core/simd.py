"""Vector instructions that Numba does not generate by itself, each with a fallback in plain Numba.

The only kernels below Numba: LLVM instructions, written through llvmlite. Each function exists twice:
here as an intrinsic, and in `simd_fallback` in plain Numba, which also says what it computes. Both give the
same bits, with one exception: about one `multiply_add` in 2^29 may differ by one unit in the last place. The
intrinsics are used unless

- the environment variable STANDOUT_PLAIN_KERNELS is 1,
- llvmlite or Numba no longer has what they are written with, or
- the compiler is off (NUMBA_DISABLE_JIT=1).

Measured gain of each intrinsic: time with its fallback over time with it, on one thread. Each time is the
minimum of four or five separate runs, on 3 million entries for attacks and 1 million for nearest neighbours.

    add_fact               4.3   several draws of the same facts (`ScoreboardRH.nested`)
    multiply_add           2.0   attacks with probabilities, 1.5 without, 1.6 nested
    lane_peaks             1.05  several draws of the same facts
    count_rows             1.8   nearest neighbours (`sparsity`)
    any_counter_reaches    1.4   nearest neighbours by values and dates
    prefetch               1.16  nearest neighbours by values and dates
    counters_reaching      1.06  nearest neighbours
    all of them            4.6   several draws, 1.4 to 2.1 other attacks, 1.7 to 2.3 nearest neighbours

The first group adds a fact to eight scores of a record at once. The scores are the "lanes" of one vector
register, one for each draw of the adversary's noise. The second group counts by bits: one vector holds one
binary digit, a "plane", of 256 counters. A row of a bitmap says which of 256 neighbours have an item. A full
adder on whole vectors turns three rows of the same weight into one row of that weight and one of twice the
weight. Sixteen rows pass through a tree of such adders, and only the carry moves up to the higher planes. A
row therefore costs five instructions for 256 records.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import config

from standout.core import simd_fallback
from standout.core.jit import PLAIN_KERNELS
from standout.core.simd_fallback import (
    CARRY,
    LANES,
    LOW_PLANES,
    PLANE_BITS,
    PLANE_WORDS,
    ROW_GROUP,
    ROWS_AHEAD,
)

try:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic
except ImportError:  # a later Numba than those tested: use the fallbacks
    intrinsic = None  # type: ignore[assignment]

__all__ = [
    "LANES",
    "LOW_PLANES",
    "PLANE_BITS",
    "PLANE_WORDS",
    "ROWS_AHEAD",
    "ROW_GROUP",
    "USES_INTRINSICS",
    "add_fact",
    "add_sized_fact",
    "any_counter_reaches",
    "count_rows",
    "counters_reaching",
    "lane_peaks",
    "multiply_add",
    "prefetch",
]

USES_INTRINSICS = not (PLAIN_KERNELS or config.DISABLE_JIT or intrinsic is None)  # type: ignore[attr-defined]


# Intrinsics: called with types, each returns a signature and a function that writes the instructions.


def _add_fact(
    typing: Any,
    word: Any,
    low: Any,
    high: Any,
    value_bits: Any,
    time_bits: Any,
    position_bits: Any,
    a: Any,
    b: Any,
    c: Any,
    scores: Any,
    sums: Any,
    least: Any,
    highest: Any,
) -> Any:
    numbers = [types.int64] * 5
    return types.boolean(word, *numbers, a, b, c, scores, sums, least, highest), _write_add_fact


def _add_sized_fact(
    typing: Any,
    word: Any,
    low: Any,
    high: Any,
    value_bits: Any,
    time_bits: Any,
    position_bits: Any,
    a: Any,
    b: Any,
    c: Any,
    scores: Any,
    sums: Any,
    least: Any,
    highest: Any,
    code: Any,
    gain: Any,
) -> Any:
    numbers = [types.int64] * 5
    return types.boolean(word, *numbers, a, b, c, scores, sums, least, highest, code, gain), _write_add_fact


def _multiply_add(typing: Any, a: Any, b: Any, c: Any) -> Any:
    return types.float32(*[types.float32] * 3), _write_multiply_add


def _lane_peaks(typing: Any, scores: Any, group: Any, out: Any) -> Any:
    return types.void(scores, types.int64, out), _write_lane_peaks


def _count_rows(
    typing: Any, bits: Any, row: Any, begin: Any, end: Any, column: Any, planes: Any, digits: Any
) -> Any:
    return types.void(bits, row, *[types.int64] * 3, planes, types.int64), _write_count_rows


def _counters_reaching(typing: Any, planes: Any, digits: Any, needed: Any, limit: Any, out: Any) -> Any:
    return types.boolean(planes, types.int64, types.int64, limit, out), _write_counters_reaching


def _any_counter_reaches(typing: Any, counter: Any, begin: Any, needed: Any, limit: Any) -> Any:
    return types.boolean(counter, types.int64, types.int64, limit), _write_any_counter_reaches


def _prefetch(typing: Any, array: Any, at: Any) -> Any:
    return types.void(array, types.int64), _write_prefetch


class _Writer:
    """Writes instructions on vectors: `kind` is the type of vector, `align` the alignment of its elements."""

    def __init__(self, kind: Any, align: int, context: Any, builder: Any, signature: Any, given: Any) -> None:
        self.kind, self.align, self.nothing = kind, align, ir.Constant(kind, [0] * kind.count)
        self.context, self.builder, self.signature, self.given = context, builder, signature, given

    def element(self, i: int) -> Any:
        """The type of an element of the i-th array."""
        return self.context.get_value_type(self.signature.args[i].dtype)

    def array(self, i: int) -> Any:
        return self.context.make_array(self.signature.args[i])(self.context, self.builder, self.given[i])

    def pointer(self, i: int, kind: Any = None) -> Any:
        """The i-th array, as elements of a kind one after another; default: vectors."""
        return self.builder.bitcast(self.array(i).data, (kind or self.kind).as_pointer())

    def load(self, base: Any, at: Any) -> Any:
        return self.builder.load(self.builder.gep(base, [at]), align=self.align)

    def store(self, value: Any, base: Any, at: Any) -> None:
        self.builder.store(value, self.builder.gep(base, [at]), align=self.align)

    def variable(self, kind: Any = None) -> Any:
        """A new variable, set to 0 here (and not only where the function begins)."""
        slot = cgutils.alloca_once(self.builder, kind or self.kind)  # type: ignore[no-untyped-call]
        self.builder.store(ir.Constant(kind or self.kind, [0] * (kind or self.kind).count), slot)
        return slot

    @contextmanager
    def loop(self, begin: Any, end: Any, step: int = 1) -> Iterator[Any]:
        with cgutils.for_range_slice(self.builder, begin, end, _whole(step), intp=ir.IntType(64)) as (i, _):
            yield i

    def multiply_add(self, a: Any, b: Any, c: Any) -> Any:
        """Compute a · b + c with one rounding, of float32 numbers or vectors of them.

        x86 processors before 2013 lack the instruction. There the product (then exact) and the sum are
        computed in double precision; about one result in 2^29 is rounded twice and may be off by one unit.
        """
        triple, _, features = self.context.codegen().magic_tuple()
        build, single, double = self.builder, a.type, ir.DoubleType()
        lanes = getattr(single, "count", 0)
        if "+fma" in features.split(",") or not triple.startswith(("x86", "i386", "i686")):
            name = f"llvm.fma.v{lanes}f32" if lanes else "llvm.fma.f32"
            kind = ir.FunctionType(single, [single] * 3)
            fma = cgutils.get_or_insert_function(build.module, kind, name)  # type: ignore[no-untyped-call]
            return build.call(fma, [a, b, c])
        wide = ir.VectorType(double, lanes) if lanes else double
        a, b, c = (build.fpext(x, wide) for x in (a, b, c))
        return build.fptrunc(build.fadd(build.fmul(a, b), c), single)

    def higher(self, a: Any, b: Any) -> Any:
        return self.builder.select(self.builder.fcmp_ordered(">", a, b), a, b)

    def reaching(self, scores: Any, least: Any) -> Any:
        """A bit for each lane whose score has reached its bound."""
        return self.builder.bitcast(self.builder.fcmp_ordered(">=", scores, least), ir.IntType(LANES))

    def broadcast(self, number: Any, kind: Any = None) -> Any:
        """A vector with this number in every element."""
        kind = kind or self.kind
        first = self.builder.insert_element(ir.Constant(kind, ir.Undefined), number, _whole(0, 32))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
        return self.builder.shuffle_vector(first, first, zeros)

    def next_rows(self, begin: Any, column: Any) -> list[Any]:
        """The next ROW_GROUP rows of a column. Prefetches those that come ROWS_AHEAD later."""
        build, bits, row = self.builder, self.pointer(0), self.pointer(1, self.element(1))

        def position(j: int) -> Any:
            number = build.load(build.gep(row, [build.add(begin, _whole(j))]))
            return build.add(build.zext(number, ir.IntType(64)), column)

        for j in range(ROW_GROUP):
            self.prefetch(build.gep(bits, [position(j + ROWS_AHEAD)]))
        return [self.load(bits, position(j)) for j in range(ROW_GROUP)]

    def prefetch(self, address: Any) -> None:
        pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
        function = self.builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        read, keep, data = (_whole(number, 32) for number in (0, 3, 1))
        self.builder.call(function, [self.builder.bitcast(address, pointer), read, keep, data])

    def full_adder(self, a: Any, b: Any, c: Any) -> tuple[Any, Any]:
        """(sum, carry) of three rows."""
        build = self.builder
        either = build.xor(a, b)
        return build.xor(either, c), build.or_(build.and_(a, b), build.and_(either, c))

    def add_tree(self, low: list[Any], rows: list[Any]) -> Any:
        """Add rows to the low planes, two at a time; return the carry beyond them."""
        for p, plane in enumerate(low):
            carries = []
            for a, b in zip(rows[::2], rows[1::2], strict=True):
                plane, carry = self.full_adder(a, b, plane)
                carries.append(carry)
            low[p], rows = plane, carries
        return rows[0]

    def less(self, plane: Any, other: Any, so_far: Any) -> Any:
        """Which counters are less than others, given which are less by the digits below."""
        build = self.builder
        differ = build.xor(plane, other)
        return build.or_(build.and_(differ, other), build.and_(build.not_(differ), so_far))

    def is_any(self, bits: Any, width: int = PLANE_BITS) -> Any:
        number = ir.IntType(width)
        return self.builder.icmp_unsigned("!=", self.builder.bitcast(bits, number), ir.Constant(number, 0))


def _whole(number: int, bits: int = 64) -> Any:
    return ir.Constant(ir.IntType(bits), number)


def _score_writer(*given: Any) -> _Writer:
    return _Writer(ir.VectorType(ir.FloatType(), LANES), 4, *given)


def _plane_writer(*given: Any) -> _Writer:
    return _Writer(ir.VectorType(ir.IntType(64), PLANE_WORDS), 8, *given)


def _write_add_fact(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = _score_writer(context, builder, signature, given)
    doubles = ir.VectorType(ir.DoubleType(), LANES)
    word, sums = write.pointer(0, write.element(0)), write.pointer(10, doubles)
    a, b, c, scores = (write.pointer(i) for i in range(6, 10))
    low, high, value_bits, time_bits, position_bits = given[1:6]
    time_mask, kind_mask, position_mask = (
        builder.sub(builder.shl(_whole(1), bits), _whole(1))
        for bits in (time_bits, value_bits, position_bits)
    )
    position_shift = builder.add(time_bits, value_bits)
    is_sized = len(signature.args) > 13
    code, gain = (write.pointer(i, write.element(i)) if is_sized else None for i in (13, 14))
    added, grown, highest = (write.variable() for _ in range(3))
    with write.loop(low, high, CARRY) as begin:
        stop = builder.add(begin, _whole(CARRY))
        stop = builder.select(builder.icmp_signed("<", stop, high), stop, high)
        builder.store(write.nothing, added)
        builder.store(write.nothing, grown)
        with write.loop(begin, stop) as p:
            x = builder.load(builder.gep(word, [p]))
            x = builder.zext(x, ir.IntType(64)) if x.type.width < 64 else x
            kind = builder.and_(builder.lshr(x, time_bits), kind_mask)
            position = builder.and_(builder.lshr(x, position_shift), position_mask)
            time = write.load(c, builder.and_(x, time_mask))
            part = write.multiply_add(write.load(b, kind), time, write.load(a, kind))
            if is_sized:
                size = builder.load(builder.gep(code, [position]))
                size = builder.zext(size, ir.IntType(64))
                part = builder.fadd(part, write.broadcast(builder.load(builder.gep(gain, [size]))))
                part = write.higher(part, write.nothing)
            old = write.load(scores, position)
            new = builder.fadd(old, part)
            write.store(new, scores, position)
            builder.store(builder.fadd(builder.load(added), part), added)
            growth = write.multiply_add(part, builder.fadd(old, new), builder.load(grown))
            builder.store(growth, grown)
            builder.store(write.higher(new, builder.load(highest)), highest)
        for i, single in enumerate((added, grown)):
            total = builder.fadd(write.load(sums, _whole(i)), builder.fpext(builder.load(single), doubles))
            write.store(total, sums, _whole(i))
    write.store(builder.load(highest), write.pointer(12), _whole(0))
    reached = write.reaching(builder.load(highest), write.load(write.pointer(11), _whole(0)))
    return builder.icmp_unsigned("!=", reached, _whole(0, LANES))


def _write_multiply_add(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    return _score_writer(context, builder, signature, given).multiply_add(*given)


def _write_lane_peaks(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = _score_writer(context, builder, signature, given)
    scores, out, group = write.pointer(0), write.pointer(2), given[1]
    records = builder.sdiv(write.array(0).nitems, _whole(LANES))
    highest = write.variable()
    with write.loop(_whole(0), builder.sdiv(records, group)) as g:
        begin = builder.mul(g, group)
        builder.store(write.nothing, highest)
        with write.loop(begin, builder.add(begin, group)) as i:
            builder.store(write.higher(write.load(scores, i), builder.load(highest)), highest)
        write.store(builder.load(highest), out, g)
    return context.get_dummy_value()


def _write_count_rows(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = _plane_writer(context, builder, signature, given)
    planes = write.pointer(5)
    begin, end, column, _, digits = given[2:]
    low = [write.variable() for _ in range(LOW_PLANES)]
    with write.loop(_whole(LOW_PLANES), digits) as p:
        write.store(write.nothing, planes, p)
    with write.loop(begin, end, ROW_GROUP) as at:
        state = [builder.load(plane) for plane in low]
        carry = write.variable()
        builder.store(write.add_tree(state, write.next_rows(at, column)), carry)
        for plane, value in zip(low, state, strict=True):
            builder.store(value, plane)
        with write.loop(_whole(LOW_PLANES), digits) as p:
            old, carried = write.load(planes, p), builder.load(carry)
            write.store(builder.xor(old, carried), planes, p)
            builder.store(builder.and_(old, carried), carry)
    for p, plane in enumerate(low):
        write.store(builder.load(plane), planes, _whole(p))
    return context.get_dummy_value()


def _write_counters_reaching(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = _plane_writer(context, builder, signature, given)
    planes, limit, out = (write.pointer(i) for i in (0, 3, 4))
    _, digits, needed, _, _ = given
    below_limit, below_needed = write.variable(), write.variable()
    with write.loop(_whole(0), digits) as p:
        plane = write.load(planes, p)
        common = write.broadcast(builder.neg(builder.and_(builder.lshr(needed, p), _whole(1))))
        builder.store(write.less(plane, write.load(limit, p), builder.load(below_limit)), below_limit)
        builder.store(write.less(plane, common, builder.load(below_needed)), below_needed)
    reached = builder.not_(builder.and_(builder.load(below_limit), builder.load(below_needed)))
    write.store(reached, out, _whole(0))
    return write.is_any(reached)


def _write_any_counter_reaches(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = _plane_writer(context, builder, signature, given)
    _, begin, least, _ = given
    element = write.element(0)
    kind = ir.VectorType(element, PLANE_BITS // element.width)
    counter, limit = (
        builder.bitcast(builder.gep(write.pointer(i, element), [begin]), kind.as_pointer()) for i in (0, 3)
    )
    needed = write.broadcast(builder.trunc(least, element), kind)
    reached = write.variable(ir.VectorType(ir.IntType(1), kind.count))
    with write.loop(_whole(0), _whole(PLANE_BITS // kind.count)) as i:
        counts, limits = write.load(counter, i), write.load(limit, i)
        lower = builder.select(builder.icmp_unsigned("<", limits, needed), limits, needed)
        reaches = builder.icmp_unsigned(">=", counts, lower)
        builder.store(builder.or_(builder.load(reached), reaches), reached)
    return write.is_any(builder.load(reached), kind.count)


def _write_prefetch(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = _plane_writer(context, builder, signature, given)
    write.prefetch(builder.gep(write.pointer(0, write.element(0)), [given[1]]))
    return context.get_dummy_value()


def _choose(plain: Any, typed: Callable[..., Any]) -> Any:
    return intrinsic(typed) if USES_INTRINSICS else plain


add_fact = _choose(simd_fallback.add_fact, _add_fact)
add_sized_fact = _choose(simd_fallback.add_sized_fact, _add_sized_fact)
multiply_add = _choose(simd_fallback.multiply_add, _multiply_add)
lane_peaks = _choose(simd_fallback.lane_peaks, _lane_peaks)
count_rows = _choose(simd_fallback.count_rows, _count_rows)
counters_reaching = _choose(simd_fallback.counters_reaching, _counters_reaching)
any_counter_reaches = _choose(simd_fallback.any_counter_reaches, _any_counter_reaches)
prefetch = _choose(simd_fallback.prefetch, _prefetch)
