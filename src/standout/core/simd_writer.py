"""Writes LLVM instructions on vectors, for the intrinsics in `simd`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from standout.core.simd_fallback import LANES, PLANE_BITS, PLANE_WORDS, ROW_GROUP, ROWS_AHEAD

__all__ = ["VectorWriter", "plane_writer", "score_writer", "whole"]


class VectorWriter:
    """Writes instructions on vectors: `kind` is the type of vector, `align` the alignment of its elements."""

    def __init__(self, kind: Any, align: int, context: Any, builder: Any, signature: Any, given: Any) -> None:
        self.kind, self.align, self.nothing = kind, align, ir.Constant(kind, [0] * kind.count)
        self.context, self.builder, self.signature, self.given = context, builder, signature, given

    def element(self, i: int) -> Any:
        """The type of an element of the i-th array."""
        return self.context.get_value_type(self.signature.args[i].dtype)

    def array(self, i: int) -> Any:
        """The i-th array."""
        return self.context.make_array(self.signature.args[i])(self.context, self.builder, self.given[i])

    def pointer(self, i: int, kind: Any = None) -> Any:
        """The i-th array, as elements of a kind one after another; default: vectors."""
        return self.builder.bitcast(self.array(i).data, (kind or self.kind).as_pointer())

    def load(self, base: Any, at: Any) -> Any:
        """Load the vector at a position."""
        return self.builder.load(self.builder.gep(base, [at]), align=self.align)

    def store(self, value: Any, base: Any, at: Any) -> None:
        """Store a vector at a position."""
        self.builder.store(value, self.builder.gep(base, [at]), align=self.align)

    def variable(self, kind: Any = None) -> Any:
        """A new variable, set to 0 here (and not only where the function begins)."""
        slot = cgutils.alloca_once(self.builder, kind or self.kind)  # type: ignore[no-untyped-call]
        self.builder.store(ir.Constant(kind or self.kind, [0] * (kind or self.kind).count), slot)
        return slot

    @contextmanager
    def loop(self, begin: Any, end: Any, step: int = 1) -> Iterator[Any]:
        """Write a loop; yields its counter."""
        with cgutils.for_range_slice(self.builder, begin, end, whole(step), intp=ir.IntType(64)) as (i, _):
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
        """The higher of each two scores."""
        return self.builder.select(self.builder.fcmp_ordered(">", a, b), a, b)

    def reaching(self, scores: Any, least: Any) -> Any:
        """A bit for each lane whose score has reached its bound."""
        return self.builder.bitcast(self.builder.fcmp_ordered(">=", scores, least), ir.IntType(LANES))

    def broadcast(self, number: Any, kind: Any = None) -> Any:
        """A vector with this number in every element."""
        kind = kind or self.kind
        first = self.builder.insert_element(ir.Constant(kind, ir.Undefined), number, whole(0, 32))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
        return self.builder.shuffle_vector(first, first, zeros)

    def next_rows(self, begin: Any, column: Any) -> list[Any]:
        """The next ROW_GROUP rows of a column. Prefetches those that come ROWS_AHEAD later."""
        build, bits, row = self.builder, self.pointer(0), self.pointer(1, self.element(1))

        def position(j: int) -> Any:
            number = build.load(build.gep(row, [build.add(begin, whole(j))]))
            return build.add(build.zext(number, ir.IntType(64)), column)

        for j in range(ROW_GROUP):
            self.prefetch(build.gep(bits, [position(j + ROWS_AHEAD)]))
        return [self.load(bits, position(j)) for j in range(ROW_GROUP)]

    def prefetch(self, address: Any) -> None:
        """Ask for an address that will be read soon."""
        pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
        function = self.builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        read, keep, data = (whole(number, 32) for number in (0, 3, 1))
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
        """Whether any bit is set."""
        number = ir.IntType(width)
        return self.builder.icmp_unsigned("!=", self.builder.bitcast(bits, number), ir.Constant(number, 0))


def whole(number: int, bits: int = 64) -> Any:
    """A constant."""
    return ir.Constant(ir.IntType(bits), number)


def score_writer(*given: Any) -> VectorWriter:
    """A writer of vectors of LANES scores."""
    return VectorWriter(ir.VectorType(ir.FloatType(), LANES), 4, *given)


def plane_writer(*given: Any) -> VectorWriter:
    """A writer of vectors of PLANE_BITS bits."""
    return VectorWriter(ir.VectorType(ir.IntType(64), PLANE_WORDS), 8, *given)
