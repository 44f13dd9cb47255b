"""One step of eight scores a record, beside each other in one vector register: compiled by hand.

Numba does not vectorise a loop over eight neighbours inside a loop over postings, so the few vector
instructions are written down here. `_step` in plain Python says what they do, and is what runs when the
compiler is off.
"""

from importlib import import_module
from typing import Any

from llvmlite import ir
from numba.core import config, types
from numba.extending import intrinsic

from standout.jit import Array, Flag, Int
from standout.release.postings import BLOCK_BITS

cgutils: Any = import_module("numba.core.cgutils")  # untyped

__all__ = ["LANES", "step"]

LANES = 8
F32, I64 = ir.FloatType(), ir.IntType(64)
VECTOR = ir.VectorType(F32, LANES)
DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
FEW = 8
EASY = ["contract"]


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


@intrinsic
def _compiled(
    typing: Any, word: Any, low: Any, high: Any, value_bits: Any, time_bits: Any, a: Any, b: Any, c: Any,
    scores: Any, sums: Any, least: Any, highest: Any,
) -> Any:  # fmt: skip
    """The same, for Numba: called with types, it returns a signature and what writes the instructions."""
    whole = types.int64
    return types.boolean(
        word, whole, whole, whole, whole, a, b, c, scores, sums, least, highest
    ), _instructions


def _instructions(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    word_type = context.get_value_type(signature.args[0].dtype)

    def pointer(i: int, kind: Any) -> Any:
        data = context.make_array(signature.args[i])(context, builder, given[i]).data
        return builder.bitcast(data, kind.as_pointer())

    def load(base: Any, at: Any) -> Any:
        return builder.load(builder.gep(base, [at]), align=4)

    word, sums = pointer(0, word_type), pointer(9, DOUBLES)
    a, b, c, scores = (pointer(i, VECTOR) for i in range(5, 9))
    low, high, value_bits, time_bits = given[1:5]
    one, nothing = ir.Constant(I64, 1), ir.Constant(VECTOR, [0.0] * LANES)
    least = load(pointer(10, VECTOR), ir.Constant(I64, 0))
    time_mask = builder.sub(builder.shl(one, time_bits), one)
    kind_mask = builder.sub(builder.shl(one, value_bits), one)
    place_mask, of_place = ir.Constant(I64, (1 << BLOCK_BITS) - 1), builder.add(time_bits, value_bits)
    added, grown, highest = (cgutils.alloca_once_value(builder, nothing) for _ in range(3))
    builder.store(nothing, highest)
    few = ir.Constant(I64, FEW)
    with cgutils.for_range_slice(builder, low, high, few, intp=I64) as (begin, _):
        stop = builder.add(begin, few)
        stop = builder.select(builder.icmp_signed("<", stop, high), stop, high)
        builder.store(nothing, added)
        builder.store(nothing, grown)
        with cgutils.for_range_slice(builder, begin, stop, one, intp=I64) as (p, _):
            x = builder.load(builder.gep(word, [p]))
            x = builder.zext(x, I64) if word_type.width < 64 else x
            kind = builder.and_(builder.lshr(x, time_bits), kind_mask)
            place = builder.and_(builder.lshr(x, of_place), place_mask)
            scaled = builder.fmul(load(b, kind), load(c, builder.and_(x, time_mask)), flags=EASY)
            part = builder.fadd(load(a, kind), scaled, flags=EASY)
            old = load(scores, place)
            new = builder.fadd(old, part)
            builder.store(new, builder.gep(scores, [place]), align=4)
            builder.store(builder.fadd(builder.load(added), part), added)
            growth = builder.fmul(part, builder.fadd(old, new), flags=EASY)
            builder.store(builder.fadd(builder.load(grown), growth, flags=EASY), grown)
            most = builder.load(highest)
            builder.store(builder.select(builder.fcmp_ordered(">", new, most), new, most), highest)
        for i, some in enumerate((added, grown)):
            place = builder.gep(sums, [ir.Constant(I64, i)])
            total = builder.fadd(builder.load(place, align=8), builder.fpext(builder.load(some), DOUBLES))
            builder.store(total, place, align=8)
    builder.store(builder.load(highest), pointer(11, VECTOR), align=4)
    risen = builder.bitcast(builder.fcmp_ordered(">=", builder.load(highest), least), ir.IntType(LANES))
    return builder.icmp_unsigned("!=", risen, ir.Constant(ir.IntType(LANES), 0))


step: Any = _step if config.DISABLE_JIT else _compiled  # type: ignore[attr-defined]
