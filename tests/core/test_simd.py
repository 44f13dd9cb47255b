"""Vector instructions: intrinsics give the bits of their fallbacks, and fallbacks give what they say."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from standout.attack.neighbour_kernels import aligned_words
from standout.core import simd, simd_fallback
from standout.core.jit import PLAIN_KERNELS, kernel

VALUE_BITS, TIME_BITS, PLACE_BITS, RECORDS = 3, 5, 13, 8_192
WORDS = simd.PLANE_WORDS


@kernel
def add_fact(word, low, high, a, b, c, scores, sums, least, highest):
    return simd.add_fact(word, low, high, VALUE_BITS, TIME_BITS, PLACE_BITS, a, b, c, scores, sums, least, highest)


@kernel
def plain_add_fact(word, low, high, a, b, c, scores, sums, least, highest):
    return simd_fallback.add_fact(
        word, low, high, VALUE_BITS, TIME_BITS, PLACE_BITS, a, b, c, scores, sums, least, highest
    )


@kernel
def add_sized_fact(word, low, high, a, b, c, scores, sums, least, highest, code, gain):
    return simd.add_sized_fact(
        word, low, high, VALUE_BITS, TIME_BITS, PLACE_BITS, a, b, c, scores, sums, least, highest, code, gain
    )


@kernel
def plain_add_sized_fact(word, low, high, a, b, c, scores, sums, least, highest, code, gain):
    return simd_fallback.add_sized_fact(
        word, low, high, VALUE_BITS, TIME_BITS, PLACE_BITS, a, b, c, scores, sums, least, highest, code, gain
    )


@kernel
def lane_peaks(scores, group, out, plain_out):
    simd.lane_peaks(scores, group, out)
    simd_fallback.lane_peaks(scores, group, plain_out)


@kernel
def multiply_add(a, b, c, out, plain_out):
    for i in range(len(a)):
        out[i] = simd.multiply_add(a[i], b[i], c[i])
        plain_out[i] = simd_fallback.multiply_add(a[i], b[i], c[i])


@kernel
def count_rows(bits, row, end, column, planes, plain_planes, digits):
    simd.count_rows(bits, row, 0, end, column, planes, digits)
    simd_fallback.count_rows(bits, row, 0, end, column, plain_planes, digits)


@kernel
def counters_reaching(planes, digits, needed, limit, out, plain_out):
    reached = simd.counters_reaching(planes, digits, needed, limit, out)
    return reached, simd_fallback.counters_reaching(planes, digits, needed, limit, plain_out)


@kernel
def any_counter_reaches(counter, begin, needed, limit):
    simd.prefetch(counter, begin)
    simd_fallback.prefetch(counter, begin)
    reached = simd.any_counter_reaches(counter, begin, needed, limit)
    return reached, simd_fallback.any_counter_reaches(counter, begin, needed, limit)


def block(seed, word_type):
    """Random words, tables for them, the scores so far, sums, bounds and room for the highest."""
    rng = np.random.default_rng(seed)
    offsets = np.sort(rng.choice(RECORDS, 100, replace=False))
    low_bits = rng.integers(0, 2 ** (VALUE_BITS + TIME_BITS), 100)
    return (
        ((offsets << (VALUE_BITS + TIME_BITS)) + low_bits).astype(word_type),
        rng.random(2**VALUE_BITS * 8, np.float32),
        rng.random(2**VALUE_BITS * 8, np.float32),
        rng.random(2**TIME_BITS * 8, np.float32),
        rng.random(RECORDS * 8, np.float32),
        rng.random((2, 8)) * 10,
        (2.2 + 0.8 * rng.random(8)).astype(np.float32),
        np.full(8, 9, np.float32),
    )


def test_adding_a_fact_gives_the_same_bits_with_and_without_intrinsics():
    outcomes = set()
    for seed in range(24):
        low, high = sorted(np.random.default_rng(seed).integers(0, 101, 2).tolist())
        (word, *arrays), (_, *plain_arrays) = (block(seed, np.uint64 if seed % 2 else np.uint32) for _ in range(2))
        reached = add_fact(word, low, high, *arrays)
        assert plain_add_fact(word, low, high, *plain_arrays) == reached
        for array, plain in zip(arrays, plain_arrays, strict=True):
            np.testing.assert_array_equal(array, plain)
        outcomes.add(bool(reached))
    assert outcomes == {True, False}


def sizes(seed):
    """The class of each record's size, and the gain of each class; with some, a part is below 0."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 40, RECORDS).astype(np.uint16), (2 * rng.random(40) - 1.5).astype(np.float32)


def test_adding_a_fact_by_size_gives_the_same_bits_with_and_without_intrinsics():
    outcomes = set()
    for seed in range(24):
        low, high = sorted(np.random.default_rng(seed).integers(0, 101, 2).tolist())
        (word, *arrays), (_, *plain_arrays) = (block(seed, np.uint64 if seed % 2 else np.uint32) for _ in range(2))
        arrays[5] -= np.float32(0.8)
        plain_arrays[5] -= np.float32(0.8)
        reached = add_sized_fact(word, low, high, *arrays, *sizes(seed))
        assert plain_add_sized_fact(word, low, high, *plain_arrays, *sizes(seed)) == reached
        for array, plain in zip(arrays, plain_arrays, strict=True):
            np.testing.assert_array_equal(array, plain)
        outcomes.add(bool(reached))
    assert outcomes == {True, False}


def test_adding_a_fact_by_size_never_lowers_a_score():
    word, a, b, c, scores, sums, least, highest = block(3, np.uint32)
    code, gain = sizes(3)
    before, total = scores.reshape(-1, 8).astype(float), sums[0].copy()
    add_sized_fact(word, 0, 100, a, b, c, scores, sums, least, highest, code, gain)
    time, kind, offset = word & 31, (word >> 5) & 7, word >> 8
    alike = a.reshape(-1, 8)[kind] + b.reshape(-1, 8)[kind] * c.reshape(-1, 8)[time].astype(float)
    part = np.maximum(alike + gain[code[offset]][:, None], 0)
    after = before.copy()
    np.add.at(after, offset, part)
    assert (part == 0).any() and (part > 0).any()
    np.testing.assert_allclose(scores.reshape(-1, 8), after, rtol=1e-6)
    np.testing.assert_allclose(sums[0], total + part.sum(axis=0), rtol=1e-6)
    np.testing.assert_allclose(highest, after[offset].max(axis=0), rtol=1e-6)


def test_adding_a_fact_changes_scores_and_sums_as_the_formula_says():
    word, a, b, c, scores, sums, least, highest = block(3, np.uint32)
    before, total, squares = scores.reshape(-1, 8).astype(float), sums[0].copy(), sums[1].copy()
    add_fact(word, 0, 100, a, b, c, scores, sums, least, highest)
    time, kind, offset = word & 31, (word >> 5) & 7, word >> 8
    part = a.reshape(-1, 8)[kind] + b.reshape(-1, 8)[kind] * c.reshape(-1, 8)[time].astype(float)
    after = before.copy()
    np.add.at(after, offset, part)
    np.testing.assert_allclose(scores.reshape(-1, 8), after, rtol=1e-6)
    np.testing.assert_allclose(sums[0], total + part.sum(axis=0), rtol=1e-6)
    np.testing.assert_allclose(sums[1], squares + (after**2 - before**2).sum(axis=0), rtol=1e-6)
    np.testing.assert_allclose(highest, after[offset].max(axis=0), rtol=1e-6)


def test_peaks_are_the_highest_scores_of_each_lane_and_group():
    scores = block(7, np.uint32)[4]
    for group in (1, 32, RECORDS):
        out, plain_out = (np.full(RECORDS * 8, -1, np.float32) for _ in range(2))
        lane_peaks(scores, group, out, plain_out)
        expected = scores.reshape(-1, group, 8).max(axis=1).ravel()
        for peaks in (out, plain_out):
            np.testing.assert_array_equal(peaks[: len(expected)], expected)
            assert (peaks[len(expected) :] == -1).all()


def test_a_product_and_a_sum_are_rounded_once():
    rng = np.random.default_rng(1)
    a, b, c = rng.random((3, 2_000), np.float32)
    out, plain_out = np.empty((2, 2_000), np.float32)
    multiply_add(a, b, c, out, plain_out)
    np.testing.assert_array_equal(out, plain_out)
    np.testing.assert_array_equal(out, (a.astype(float) * b + c).astype(np.float32))
    assert (out != a * b + c).any()


def numbers(planes, digits):
    """The 256 counters of these planes."""
    bits = np.unpackbits(planes.reshape(-1, WORDS)[:digits].view(np.uint8), axis=1, bitorder="little")
    return (bits.astype(np.int64) << np.arange(digits)[:, None]).sum(axis=0)


@pytest.mark.parametrize("count", [0, 16, 64, 304])
def test_planes_count_rows_and_say_which_counters_have_reached_a_number(count):
    rng = np.random.default_rng(count)
    bits, planes, plain_planes = (aligned_words(50 * WORDS), aligned_words(12 * WORDS), aligned_words(12 * WORDS))
    bits[:] = rng.integers(0, 2**63, len(bits), np.uint64) << np.uint64(1)
    row = np.append(rng.integers(0, 40, count), np.zeros(simd.ROWS_AHEAD, int)).astype(np.uint32)
    digits = max(simd.LOW_PLANES, count.bit_length())
    count_rows(bits, row, count, 10, planes, plain_planes, digits)
    rows = np.unpackbits(bits.reshape(-1, WORDS).view(np.uint8), axis=1, bitorder="little")
    expected = rows[row[:count] + 10].sum(axis=0)
    assert numbers(planes, digits).tolist() == numbers(plain_planes, digits).tolist() == expected.tolist()
    limit, out, plain_out = aligned_words(12 * WORDS), aligned_words(WORDS), aligned_words(WORDS)
    limit[:] = rng.integers(0, 2**63, len(limit), np.uint64)
    limits = numbers(limit, digits)
    for needed in {0, 1, count // 2, max(count - 1, 0), 2**digits - 1}:
        reached = (expected >= needed) | (expected >= limits)
        assert counters_reaching(planes, digits, needed, limit, out, plain_out) == (reached.any(),) * 2
        assert numbers(out, 1).tolist() == numbers(plain_out, 1).tolist() == reached.tolist()


@pytest.mark.parametrize("kind", [np.uint16, np.uint32])
def test_a_look_at_the_counters_sees_one_column_only(kind):
    yes, no, most = (True, True), (False, False), np.iinfo(kind).max
    counter, limit = np.zeros(768, kind), np.full(768, most, kind)
    counter[[255, 512]] = 9
    assert any_counter_reaches(counter, 256, 1, limit) == no
    for lane in (256, 300, 511):
        counter[lane] = 5
        assert any_counter_reaches(counter, 256, 5, limit) == yes
        assert any_counter_reaches(counter, 256, 6, limit) == no
        limit[lane] = 5
        assert any_counter_reaches(counter, 256, 6, limit) == yes
        counter[lane], limit[lane] = 0, most


KERNELS = """
import json
import numpy as np
import standout as so
from standout.core import simd, simd_fallback

release = so.synthesize(records=9_000, items=200, entries=90_000, seed=3)
adversary = so.Adversary(knows=5, wrong=1, value_error=1, time_error=14)
targets = np.flatnonzero(adversary.eligible(release, np.arange(release.n_records)))[:6]
known = adversary.observe_all(release, targets, seed=1, draws=3)
attack = so.ScoreboardRH()
verdicts = [attack.attacks(release, known), attack.nested(release, known, [2, 5])]
numbers = [getattr(v.columns, name) for v in verdicts for name in ("record", "score", "mean", "sigma", "z")]
found = so.sparsity(so.synthesize(records=600, items=90, entries=9_000, seed=3), so.Within(value=1, time=14))
numbers.append(np.asarray(found.nearest))
plain = simd.add_fact is simd_fallback.add_fact
print(json.dumps([plain, [np.asarray(array).tobytes().hex() for array in numbers]]))
"""


def run_kernels(plain):
    env = {**os.environ, "STANDOUT_PLAIN_KERNELS": plain}
    return json.loads(subprocess.check_output([sys.executable, "-c", KERNELS], env=env, text=True))


@pytest.mark.slow
@pytest.mark.large
def test_whole_attacks_and_searches_give_the_same_bits_without_intrinsics():
    uses_plain, numbers = run_kernels("0")
    assert run_kernels("1") == [True, numbers] and not uses_plain


def test_the_environment_selects_the_fallbacks():
    """The switch is read when Standout is imported."""
    assert PLAIN_KERNELS == (os.environ.get("STANDOUT_PLAIN_KERNELS", "0") not in ("", "0"))
    code = "from standout.core import simd, simd_fallback; print(simd.count_rows is simd_fallback.count_rows)"
    env = {**os.environ, "STANDOUT_PLAIN_KERNELS": "1"}
    assert subprocess.check_output([sys.executable, "-c", code], env=env, text=True).strip() == "True"
