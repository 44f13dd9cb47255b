"""Eight scores a record, beside each other in one vector register: compiled by hand.

Numba does not vectorise a loop over eight neighbours inside a loop over postings, so the few vector
instructions are written down here. Plain Python says what they do, and is what runs when the compiler is off.

    step    adds a fact to the scores, and to their sums
    above   which lanes of a record have reached a bound
    peaks   the highest score of each lane among neighbours
"""

from importlib import import_module
from typing import Any

from llvmlite import ir
from numba.core import config, types
from numba.extending import intrinsic

from standout.core.jit import Array, Flag, Int, write_multiply_add
from standout.release.postings import BLOCK_BITS

cgutils: Any = import_module("numba.core.cgutils")  # untyped

__all__ = ["LANES", "above", "peaks", "step"]

LANES = 8
F32, I64 = ir.FloatType(), ir.IntType(64)
VECTOR = ir.VectorType(F32, LANES)
DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
FEW = 16
FIRST, ONE, NOTHING = ir.Constant(I64, 0), ir.Constant(I64, 1), ir.Constant(VECTOR, [0.0] * LANES)


def _step(
    word: Array, low: Int, high: Int, value_bits: Int, time_bits: Int, a: Array, b: Array, c: Array,
    scores: Array, sums: Array, least: Array, highest: Array,
) -> Flag:  # fmt: skip
    """Adds a[kind] + b[kind] · c[time] of words low … high - 1 to their records' scores, in every lane.

    sums[0] grows by what was added, sums[1] by what that does to the squares, added · (old + new). Returns
    whether a score has reached `least` of its lane; `highest` are the highest new scores. Sums are carried
    over into double precision every few words: parts repeat exactly, so that the errors of a long sum in
    single precision would all go one way.
    """
    highest[:] = 0
    for p in range(low, high):
        x = int(word[p])
        time, kind = x & ((1 << time_bits) - 1), (x >> time_bits) & ((1 << value_bits) - 1)
        place = (x >> (value_bits + time_bits)) & ((1 << BLOCK_BITS) - 1)
        for lane in range(LANES):
            at = place * LANES + lane
            part = a[kind * LANES + lane] + b[kind * LANES + lane] * c[time * LANES + lane]
            old, scores[at] = scores[at], scores[at] + part
            sums[0, lane] += part
            sums[1, lane] += part * (old + scores[at])
            highest[lane] = max(highest[lane], scores[at])
    return bool((highest >= least).any())


def _above(scores: Array, place: Int, least: Array) -> Int:
    """Bit i says whether the score of a record in lane i has reached its bound."""
    return sum(1 << lane for lane in range(LANES) if scores[int(place) * LANES + lane] >= least[lane])


def _peaks(scores: Array, group: Int, out: Array) -> None:
    """out[g · 8 + lane] = the highest score of the lane among the g-th `group` of records."""
    lanes = scores.reshape(-1, LANES)
    for g in range(len(lanes) // group):
        out[g * LANES : (g + 1) * LANES] = lanes[g * group : (g + 1) * group].max(axis=0)


@intrinsic
def _compiled_step(
    typing: Any, word: Any, low: Any, high: Any, value_bits: Any, time_bits: Any, a: Any, b: Any, c: Any,
    scores: Any, sums: Any, least: Any, highest: Any,
) -> Any:  # fmt: skip
    """The same for Numba: called with types, it returns a signature and what writes the instructions."""
    whole = types.int64
    given = word, whole, whole, whole, whole, a, b, c, scores, sums, least, highest
    return types.boolean(*given), _write_step


@intrinsic
def _compiled_above(typing: Any, scores: Any, place: Any, least: Any) -> Any:
    return types.int64(scores, types.int64, least), _write_above


@intrinsic
def _compiled_peaks(typing: Any, scores: Any, group: Any, out: Any) -> Any:
    return types.void(scores, types.int64, out), _write_peaks


class _Writer:
    """Writes instructions on vectors of eight."""

    def __init__(self, context: Any, builder: Any, signature: Any, given: Any) -> None:
        self.context, self.builder, self.signature, self.given = context, builder, signature, given

    def array(self, i: int) -> Any:
        return self.context.make_array(self.signature.args[i])(self.context, self.builder, self.given[i])

    def pointer(self, i: int, kind: Any = VECTOR) -> Any:
        """The i-th array, as so many vectors one after another."""
        return self.builder.bitcast(self.array(i).data, kind.as_pointer())

    def load(self, base: Any, at: Any) -> Any:
        return self.builder.load(self.builder.gep(base, [at]), align=4)

    def store(self, what: Any, base: Any, at: Any) -> None:
        self.builder.store(what, self.builder.gep(base, [at]), align=4)

    def higher(self, one: Any, other: Any) -> Any:
        return self.builder.select(self.builder.fcmp_ordered(">", one, other), one, other)

    def multiply_add(self, one: Any, other: Any, more: Any) -> Any:
        return write_multiply_add(self.context, self.builder, one, other, more)

    def reached(self, scores: Any, least: Any) -> Any:
        """A bit for each lane whose score has reached its bound."""
        return self.builder.bitcast(self.builder.fcmp_ordered(">=", scores, least), ir.IntType(LANES))


def _write_above(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = _Writer(context, builder, signature, given)
    bits = write.reached(write.load(write.pointer(0), given[1]), write.load(write.pointer(2), FIRST))
    return builder.zext(bits, I64)


def _write_peaks(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = _Writer(context, builder, signature, given)
    scores, out, group = write.pointer(0), write.pointer(2), given[1]
    records = builder.sdiv(write.array(0).nitems, ir.Constant(I64, LANES))
    highest = cgutils.alloca_once_value(builder, NOTHING)
    with cgutils.for_range_slice(builder, FIRST, builder.sdiv(records, group), ONE, intp=I64) as (g, _):
        begin = builder.mul(g, group)
        builder.store(NOTHING, highest)
        with cgutils.for_range_slice(builder, begin, builder.add(begin, group), ONE, intp=I64) as (i, _):
            builder.store(write.higher(write.load(scores, i), builder.load(highest)), highest)
        write.store(builder.load(highest), out, g)
    return context.get_dummy_value()


def _write_step(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    write = _Writer(context, builder, signature, given)
    word_type = context.get_value_type(signature.args[0].dtype)
    word, sums = write.pointer(0, word_type), write.pointer(9, DOUBLES)
    a, b, c, scores = (write.pointer(i) for i in range(5, 9))
    low, high, value_bits, time_bits = given[1:5]
    time_mask = builder.sub(builder.shl(ONE, time_bits), ONE)
    kind_mask = builder.sub(builder.shl(ONE, value_bits), ONE)
    place_mask, of_place = ir.Constant(I64, (1 << BLOCK_BITS) - 1), builder.add(time_bits, value_bits)
    added, grown, highest = (cgutils.alloca_once_value(builder, NOTHING) for _ in range(3))
    builder.store(NOTHING, highest)
    few = ir.Constant(I64, FEW)
    with cgutils.for_range_slice(builder, low, high, few, intp=I64) as (begin, _):
        stop = builder.add(begin, few)
        stop = builder.select(builder.icmp_signed("<", stop, high), stop, high)
        builder.store(NOTHING, added)
        builder.store(NOTHING, grown)
        with cgutils.for_range_slice(builder, begin, stop, ONE, intp=I64) as (p, _):
            x = builder.load(builder.gep(word, [p]))
            x = builder.zext(x, I64) if word_type.width < 64 else x
            kind = builder.and_(builder.lshr(x, time_bits), kind_mask)
            place = builder.and_(builder.lshr(x, of_place), place_mask)
            alike = write.load(c, builder.and_(x, time_mask))
            part = write.multiply_add(write.load(b, kind), alike, write.load(a, kind))
            old = write.load(scores, place)
            new = builder.fadd(old, part)
            write.store(new, scores, place)
            builder.store(builder.fadd(builder.load(added), part), added)
            growth = write.multiply_add(part, builder.fadd(old, new), builder.load(grown))
            builder.store(growth, grown)
            builder.store(write.higher(new, builder.load(highest)), highest)
        for i, some in enumerate((added, grown)):
            at = ir.Constant(I64, i)
            total = builder.fadd(write.load(sums, at), builder.fpext(builder.load(some), DOUBLES))
            write.store(total, sums, at)
    write.store(builder.load(highest), write.pointer(11), FIRST)
    risen = write.reached(builder.load(highest), write.load(write.pointer(10), FIRST))
    return builder.icmp_unsigned("!=", risen, ir.Constant(ir.IntType(LANES), 0))


INTERPRETED = config.DISABLE_JIT  # type: ignore[attr-defined]
step: Any = _step if INTERPRETED else _compiled_step
above: Any = _above if INTERPRETED else _compiled_above
peaks: Any = _peaks if INTERPRETED else _compiled_peaks
