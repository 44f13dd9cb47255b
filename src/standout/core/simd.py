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

from collections.abc import Callable
from typing import Any

from numba.core import config

from standout.core import simd_fallback
from standout.core.jit import PLAIN_KERNELS
from standout.core.simd_fallback import CARRY, LANES, LOW_PLANES, PLANE_BITS, PLANE_WORDS, ROW_GROUP, ROWS_AHEAD

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

try:
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    from standout.core.simd_writer import plane_writer, score_writer, whole
except ImportError:  # a later Numba than those tested: use the fallbacks
    intrinsic = None  # type: ignore[assignment]


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


def _count_rows(typing: Any, bits: Any, row: Any, begin: Any, end: Any, column: Any, planes: Any, digits: Any) -> Any:
    return types.void(bits, row, *[types.int64] * 3, planes, types.int64), _write_count_rows


def _counters_reaching(typing: Any, planes: Any, digits: Any, needed: Any, limit: Any, out: Any) -> Any:
    return types.boolean(planes, types.int64, types.int64, limit, out), _write_counters_reaching


def _any_counter_reaches(typing: Any, counter: Any, begin: Any, needed: Any, limit: Any) -> Any:
    return types.boolean(counter, types.int64, types.int64, limit), _write_any_counter_reaches


def _prefetch(typing: Any, array: Any, at: Any) -> Any:
    return types.void(array, types.int64), _write_prefetch


def _write_add_fact(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = score_writer(context, builder, signature, given)
    doubles = ir.VectorType(ir.DoubleType(), LANES)
    word, sums = write.pointer(0, write.element(0)), write.pointer(10, doubles)
    a, b, c, scores = (write.pointer(i) for i in range(6, 10))
    low, high, value_bits, time_bits, position_bits = given[1:6]
    time_mask, kind_mask, position_mask = (
        builder.sub(builder.shl(whole(1), bits), whole(1)) for bits in (time_bits, value_bits, position_bits)
    )
    position_shift = builder.add(time_bits, value_bits)
    is_sized = len(signature.args) > 13
    code, gain = (write.pointer(i, write.element(i)) if is_sized else None for i in (13, 14))
    added, grown, highest = (write.variable() for _ in range(3))
    with write.loop(low, high, CARRY) as begin:
        stop = builder.add(begin, whole(CARRY))
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
            total = builder.fadd(write.load(sums, whole(i)), builder.fpext(builder.load(single), doubles))
            write.store(total, sums, whole(i))
    write.store(builder.load(highest), write.pointer(12), whole(0))
    reached = write.reaching(builder.load(highest), write.load(write.pointer(11), whole(0)))
    return builder.icmp_unsigned("!=", reached, whole(0, LANES))


def _write_multiply_add(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    return score_writer(context, builder, signature, given).multiply_add(*given)


def _write_lane_peaks(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = score_writer(context, builder, signature, given)
    scores, out, group = write.pointer(0), write.pointer(2), given[1]
    records = builder.sdiv(write.array(0).nitems, whole(LANES))
    highest = write.variable()
    with write.loop(whole(0), builder.sdiv(records, group)) as g:
        begin = builder.mul(g, group)
        builder.store(write.nothing, highest)
        with write.loop(begin, builder.add(begin, group)) as i:
            builder.store(write.higher(write.load(scores, i), builder.load(highest)), highest)
        write.store(builder.load(highest), out, g)
    return context.get_dummy_value()


def _write_count_rows(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = plane_writer(context, builder, signature, given)
    planes = write.pointer(5)
    begin, end, column, _, digits = given[2:]
    low = [write.variable() for _ in range(LOW_PLANES)]
    with write.loop(whole(LOW_PLANES), digits) as p:
        write.store(write.nothing, planes, p)
    with write.loop(begin, end, ROW_GROUP) as at:
        state = [builder.load(plane) for plane in low]
        carry = write.variable()
        builder.store(write.add_tree(state, write.next_rows(at, column)), carry)
        for plane, value in zip(low, state, strict=True):
            builder.store(value, plane)
        with write.loop(whole(LOW_PLANES), digits) as p:
            old, carried = write.load(planes, p), builder.load(carry)
            write.store(builder.xor(old, carried), planes, p)
            builder.store(builder.and_(old, carried), carry)
    for p, plane in enumerate(low):
        write.store(builder.load(plane), planes, whole(p))
    return context.get_dummy_value()


def _write_counters_reaching(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = plane_writer(context, builder, signature, given)
    planes, limit, out = (write.pointer(i) for i in (0, 3, 4))
    _, digits, needed, _, _ = given
    below_limit, below_needed = write.variable(), write.variable()
    with write.loop(whole(0), digits) as p:
        plane = write.load(planes, p)
        common = write.broadcast(builder.neg(builder.and_(builder.lshr(needed, p), whole(1))))
        builder.store(write.less(plane, write.load(limit, p), builder.load(below_limit)), below_limit)
        builder.store(write.less(plane, common, builder.load(below_needed)), below_needed)
    reached = builder.not_(builder.and_(builder.load(below_limit), builder.load(below_needed)))
    write.store(reached, out, whole(0))
    return write.is_any(reached)


def _write_any_counter_reaches(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = plane_writer(context, builder, signature, given)
    _, begin, least, _ = given
    element = write.element(0)
    kind = ir.VectorType(element, PLANE_BITS // element.width)
    counter, limit = (
        builder.bitcast(builder.gep(write.pointer(i, element), [begin]), kind.as_pointer()) for i in (0, 3)
    )
    needed = write.broadcast(builder.trunc(least, element), kind)
    reached = write.variable(ir.VectorType(ir.IntType(1), kind.count))
    with write.loop(whole(0), whole(PLANE_BITS // kind.count)) as i:
        counts, limits = write.load(counter, i), write.load(limit, i)
        lower = builder.select(builder.icmp_unsigned("<", limits, needed), limits, needed)
        reaches = builder.icmp_unsigned(">=", counts, lower)
        builder.store(builder.or_(builder.load(reached), reaches), reached)
    return write.is_any(builder.load(reached), kind.count)


def _write_prefetch(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = plane_writer(context, builder, signature, given)
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
