"""The attack beside the machine's limit, other tools and itself: one table of ratios from one run.

python -m benchmarks.attack [--entries 10000000] [--rounds 5] [--folder build/bench]

CPU time in one process with every library on one thread, interleaved, the least of several rounds; both
sides of a ratio answer the same queries, and their answers are compared. What must be reached is meant for
Netflix's size (--entries 100480507) and an idle machine. A miss is told; it is no error.
"""

import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numba
import numpy as np
from numpy.typing import NDArray

import standout as so
from benchmarks import baselines, cold
from benchmarks.files import index_file, release_of, with_levels, with_times
from benchmarks.harness import alone, interleaved, settings
from benchmarks.queries import SIZES, first_of, mixed, observed, one_by_one, redrawn, repeated, targets
from standout.attack.batches import run_1b
from standout.facts import KnownFacts

MODULE = "benchmarks.attack"
LIBRARIES = ("numpy", "numba", "scipy", "duckdb", "pandas", "polars")
QUERIES, PEOPLE = 198, 36
TINY, WIDE, LEVELS, TIMES = 20_000, 10_000_000, 4_000, 8
TOP = 10

Job = Callable[[], Any]


@dataclass(frozen=True)
class Row:
    """A line of the table: a ratio or another number, what it must reach, seconds per query of both sides."""

    what: str
    number: float
    must: str = ""
    ours: float = math.nan
    other: float = math.nan
    unit: str = "×"

    @property
    def verdict(self) -> str:
        """Whether it was reached, and by how much of the limit it was missed."""
        if self.must[:1] not in ("≤", "≥"):
            return ""
        limit = float(self.must[1:].replace(",", ""))
        off = self.number / limit - 1 if self.must[0] == "≤" else 1 - self.number / limit
        return "met" if off <= 0 else f"missed by {math.ceil(100 * off)} %"

    def __str__(self) -> str:
        number = f"{_short(self.number)} {self.unit}"
        times = "".join("" if math.isnan(x) else f"{_short(1e6 * x):>10}" for x in (self.ours, self.other))
        return f"{self.what:<64}{number:>10}{self.must:>10}  {self.verdict:<15}{times}"


HEADER = f"{'':<64}{'':>10}{'must be':>10}  {'':<15}{'ours µs':>10}{'other µs':>10}"


@dataclass(frozen=True)
class Bench:
    """What a row starts from: a release and queries of 2 to 10 facts."""

    release: so.Release
    known: KnownFacts
    rounds: int
    folder: Path
    entries: int

    def attacks(
        self,
        known: KnownFacts | list[so.Aux] | None = None,
        similarity: so.Similarity | None = None,
        **said: Any,
    ) -> Job:
        """A job: these queries in one call, without Z and on one thread unless said otherwise."""
        attack, asked = so.ScoreboardRH(similarity), self.known if known is None else known
        options = {"with_z": False, "threads": 1, "top": TOP, **said}
        return lambda: attack.attacks(self.release, asked, **options)

    def prepared(self, similarity: so.Similarity) -> tuple[Job, float]:
        """The same job with tables and weights made beforehand, and the seconds that those took."""
        begun = time.process_time()
        queries = so.ScoreboardRH(similarity)._queries(self.release, self.known, None)
        assert queries.kernel_tables
        return lambda: run_1b(queries, TOP, False, 1), time.process_time() - begun

    def compare(
        self, ours: Job, other: Job, count: int, clock: Any = time.process_time
    ) -> tuple[float, float]:
        """Seconds per query of two jobs that answer `count` of them."""
        took = interleaved(self.rounds, {"ours": ours, "other": other}, clock)
        return took["ours"] / count, took["other"] / count


def limit(bench: Bench) -> Iterator[Row]:
    """Beside looking once at every packed word that a query touches, in vectors and a word at a time."""
    word, start, item = bench.release.by_item.word, bench.release.by_item.start, bench.known.item
    for what, with_z, must in (("without Z", False, "≤ 4"), ("with Z", True, "≤ 5")):
        for how, look, limit in (("in vectors", stream, must), ("a word at a time", stream_plainly, "")):
            jobs = bench.attacks(with_z=with_z), lambda look=look: look(word, start, item)
            jobs[1]()
            ours, other = bench.compare(*jobs, len(bench.known))
            yield Row(f"one query {what} ÷ streaming its postings {how}", ours / other, limit, ours, other)


@numba.njit
def stream(word: NDArray[Any], start: NDArray[np.int64], items: NDArray[np.int64]) -> Any:
    """The least that can be done with the postings of these items: each word is loaded."""
    found = word.dtype.type(0)
    for item in items:
        for at in range(np.uint64(start[item]), np.uint64(start[item + 1])):
            found ^= word[at]
    return found


@numba.njit
def stream_plainly(word: NDArray[Any], start: NDArray[np.int64], items: NDArray[np.int64]) -> Any:
    """The same as one would first write it: a signed index is tested at every word, which stops vectors."""
    found = word[0]
    for item in items:
        for at in range(start[item], start[item + 1]):
            found ^= word[at]
    return found


def others(bench: Bench) -> Iterator[Row]:
    """Beside other tools, each with what it likes best made ready."""
    yield _beside(bench, "pandas: isin, merge, groupby", baselines.pandas_isin(bench.release), 18, "≥ 1,000")
    entries = baselines.by_item(bench.release)
    for what, make, count, must in (
        ("np.add.at over slices", baselines.numpy_add_at, 99, "≥ 10"),
        ("np.add.at with tables instead of exp, best by threshold", baselines.numpy_tables, 99, ""),
        ("SciPy CSC columns", baselines.scipy_csc, 99, "≥ 25"),
        ("DuckDB, table sorted by item", baselines.duckdb_sql, 45, "≥ 80"),
        ("Polars on slices", baselines.polars_slices, 45, ""),
        ("pandas with an index of items, loc", baselines.pandas_loc, 45, ""),
    ):
        yield _beside(bench, what, make(entries), count, must)


def _beside(bench: Bench, what: str, baseline: baselines.Baseline, count: int, must: str) -> Row:
    known = first_of(bench.known, count)
    queries, job = baselines.asked(bench.release, known), bench.attacks(known)
    _check(job(), [baseline(query) for query in queries], what)
    if count < 45:  # the slow one
        bench = replace(bench, rounds=min(bench.rounds, 2))
    ours, other = bench.compare(job, lambda: [baseline(query) for query in queries], count)
    return Row(f"{what} ÷ ours", other / ours, must, ours, other)


def _check(verdicts: so.Verdicts, answers: list[baselines.Answer], what: str) -> None:
    """Stops if somebody else finds other records, scores, σ or eccentricity."""
    columns = verdicts.columns
    for q, answer in enumerate(answers):
        here = slice(columns.first[q], columns.first[q + 1])
        record, score = columns.record[here], columns.score[here][:TOP]
        tied = record[: columns.ties[q]]
        same = np.allclose(answer.score[: len(score)], score, rtol=1e-6) and answer.record[0] in tied
        same &= np.isclose(answer.sigma, columns.sigma[q], rtol=1e-5)
        same &= np.isclose(answer.mean, columns.mean[q], rtol=1e-5)
        same &= np.isclose(answer.eccentricity, columns.eccentricity[q], rtol=1e-4, atol=1e-4)
        assert same, f"{what} disagrees on query {q}"


def nested(bench: Bench) -> Iterator[Row]:
    """The first 2, 3, … 10 facts about one person, beside queries of their own."""
    known = observed(bench.release, PEOPLE)
    yield _nested(bench, "nested m = 2…10, without Z", known, False, 2, "≥ 3.5")
    yield _nested(bench, "nested m = 2…10, without Z", known, False, TOP, "")
    yield _nested(bench, "nested m = 2…10, with Z", known, True, 2, "")


def lanes(bench: Bench) -> Iterator[Row]:
    """The same in 8 draws of noise."""
    known = redrawn(bench.release, PEOPLE // 2)
    yield _nested(bench, "8 noise draws × nested, without Z", known, False, 2, "≥ 12")
    yield _nested(bench, "8 noise draws × nested, without Z", known, False, TOP, "")
    yield _nested(bench, "8 noise draws × nested, with Z", known, True, 2, "")


def _nested(bench: Bench, what: str, known: KnownFacts, with_z: bool, top: int, must: str) -> Row:
    attack, single = so.ScoreboardRH(), one_by_one(known)

    def together() -> so.Verdicts:
        return attack.nested(bench.release, known, SIZES, top=top, with_z=with_z, threads=1)

    apart = bench.attacks(single, with_z=with_z, top=top)
    _check_same(together(), apart(), what)
    ours, other = bench.compare(together, apart, len(single))
    return Row(f"independent queries ÷ {what}, best {top}", other / ours, must, ours, other)


def _check_same(one: so.Verdicts, other: so.Verdicts, what: str) -> None:
    """Stops if two of our ways to the same verdicts differ."""
    a, b = one.columns, other.columns
    same = np.allclose(a.highest, b.highest, rtol=1e-6) and np.allclose(a.second, b.second, rtol=1e-6)
    asked = (a.z > 0) & (b.z > 0)
    same &= np.allclose(a.sigma, b.sigma, rtol=1e-5) and np.allclose(a.z[asked], b.z[asked], rtol=1e-4)
    same &= np.array_equal(a.ties, b.ties) and np.array_equal(a.record[a.first[:-1]], b.record[b.first[:-1]])
    assert same, f"{what}: not the same verdicts"


def threads(bench: Bench) -> Iterator[Row]:
    """Two threads beside one, by the clock on the wall: wants an idle machine."""
    one, two = (bench.attacks(threads=count, with_z=True) for count in (1, 2))
    _check_same(one(), two(), "threads")
    ours, other = bench.compare(two, one, len(bench.known), time.perf_counter)
    yield Row("1 thread ÷ 2 threads, wall time", other / ours, "≥ 1.8", ours, other)


def before_and_beside(bench: Bench) -> Iterator[Row]:
    """Compiling, loading what was compiled, memory: in processes of their own."""
    index, tiny = index_file(bench.folder, bench.entries), index_file(bench.folder, TINY)
    few = min(bench.rounds, 3)
    yield Row("compiling the attack from nothing", cold.compiling(tiny, few - 1 or 1), "≤ 5", unit="s")
    yield Row("compiling the nested attack on top", cold.compiling_nested(tiny), unit="s")
    yield Row("loading the compiled attack", 1e3 * cold.loading(tiny, few), "≤ 50", unit="ms")
    yield Row("Numba's own late imports, once a process", 1e3 * cold.starting(few), unit="ms")
    for count in (1, 2):
        taken = cold.memory(index, tiny, count)
        yield Row(f"memory beyond the index, per thread, with {count}", taken, "≤ 50", unit="MB")


def wide(bench: Bench) -> Iterator[Row]:
    """Times and values that want longer words and larger tables: the same entries, people and items."""
    release = release_of(min(bench.entries, WIDE))
    narrow = replace(bench, release=release, known=mixed(release, QUERIES))
    days, _ = replace(narrow, known=repeated(narrow.known, TIMES)).prepared(so.Decay())
    for what, finer, must in (
        ("hours", with_times(release, "hour"), ""),
        ("minutes", with_times(release, "minute"), "≤ 2"),
        (f"{LEVELS:,} levels", with_levels(release, LEVELS), "≤ 2"),
    ):
        other = replace(bench, release=finer, known=mixed(finer, QUERIES))
        assert np.array_equal(other.known.item, narrow.known.item)
        _check_slowly(other, what)
        often, tables = replace(other, known=repeated(other.known, TIMES)).prepared(so.Decay())
        ours, base = bench.compare(often, days, TIMES * QUERIES)
        width = 8 * finer.by_item.word.itemsize
        yield Row(
            f"{what} ({width}-bit words) ÷ days and 5 levels, by posting", ours / base, must, ours, base
        )
        yield Row(f"{what}: making the tables, once a batch", 1e3 * tables, unit="ms")


def _check_slowly(bench: Bench, what: str) -> None:
    """Stops if the first few verdicts are not those of the slow way in double precision; compiles, too."""
    for verdict in bench.attacks()()[: len(SIZES)]:
        scores = verdict.scores
        same = np.isclose(verdict.highest, scores.max(), rtol=1e-6)
        same &= np.isclose(verdict.sigma, scores.std(), rtol=1e-5)
        assert same, f"{what}: other scores"


class Own(so.Similarity):
    """The decay, as somebody might write it who does not know that it is there."""

    adds: ClassVar[bool] = True

    def values(self, known: Any, levels: Any) -> Any:
        return np.exp(-np.abs(levels - known) / 1.5)

    def times(self, days: Any) -> Any:
        return np.exp(-np.abs(days) / 30)


def own(bench: Bench) -> Iterator[Row]:
    """A similarity of one's own beside the decay that it imitates."""
    _check_same(bench.attacks(similarity=Own())(), bench.attacks()(), "own similarity")
    ours, other = bench.compare(bench.attacks(similarity=Own()), bench.attacks(), len(bench.known))
    yield Row("one's own Similarity ÷ Decay", ours / other, "about 1", ours, other)

    def alike(known: float, value: float | None, days: float | None) -> float:
        of_value = 0.0 if value is None else math.exp(-abs(value - known) / 1.5)
        return of_value + (0.0 if days is None else math.exp(-abs(days) / 30))

    (custom, tabulated), (decay, _) = bench.prepared(so.Custom(alike)), bench.prepared(so.Decay())
    assert np.allclose(custom().highest, decay().highest, rtol=1e-6), "Custom disagrees"
    ours, other = bench.compare(custom, decay, len(bench.known))
    yield Row("Custom function ÷ Decay, tables made", ours / other, "about 1", ours, other)
    yield Row("Custom function: making the tables, once a batch", 1e3 * tabulated, unit="ms")


def filters(bench: Bench) -> Iterator[Row]:
    """The target taken out, and candidates by the length of their record."""
    who, lengths = targets(bench.release, QUERIES), bench.release.lengths
    ends = np.stack([lengths[who] // 2, lengths[who] * 3 // 2], axis=1)
    by_length = replace(bench.known, length=ends, filtered=True)
    left = [np.count_nonzero((lengths >= low) & (lengths <= high)) for low, high in ends]
    for what, known, exclude in (
        ("target excluded", bench.known, who),
        ("length known ± 50 %", by_length, None),
        ("both", by_length, who),
    ):
        job, gone = bench.attacks(known, exclude=exclude), exclude is not None
        expected = np.array(left if known.filtered else bench.release.n_records) - gone
        assert (job().columns.candidates == expected).all(), f"{what}: other candidates"
        ours, other = bench.compare(job, bench.attacks(), QUERIES)
        yield Row(f"{what} ÷ all records", ours / other, "about 1", ours, other)


def keyboard(bench: Bench) -> Iterator[Row]:
    """One aux in one call, as a person asks."""
    aux, count = bench.known.aux(bench.release, 6), 100  # 8 facts
    single, batch = bench.attacks([aux], with_z=True), bench.attacks([aux] * count, with_z=True)
    took = interleaved(bench.rounds, {"single": single, "batch": batch})
    one, many = took["single"], took["batch"] / count
    yield Row(f"one aux of 8 facts alone ÷ in a batch of {count}", one / many, "", one, many)


def _short(number: float) -> str:
    """Three digits, or all before the point."""
    return f"{number:,.{max(0, 2 - max(0, math.floor(math.log10(abs(number) or 1))))}f}"


def main() -> None:
    alone(MODULE)
    given = settings(__doc__, rounds=5)
    release = so.open(index_file(given.folder, given.entries))
    bench = Bench(release, mixed(release, QUERIES), given.rounds, given.folder, given.entries)
    postings = int(release.support[bench.known.item].sum()) // QUERIES
    print(
        f"{release}\n{QUERIES} queries of 2 to 10 facts, {postings:,} postings each; least of {given.rounds}"
    )
    print(", ".join(f"{name} {version(name)}" for name in LIBRARIES), f"; load {os.getloadavg()[0]:.1f}")
    print(f"\n{HEADER}")
    verdicts = []
    for rows in (limit, others, nested, lanes, threads, before_and_beside, wide, own, filters, keyboard):
        for row in rows(bench):
            print(row, flush=True)
            verdicts += [row.verdict] if row.verdict else []
    print(f"\n{verdicts.count('met')} of {len(verdicts)} met", end="")
    print("" if given.entries > 10**8 else "; they are meant for 100480507 entries")


if __name__ == "__main__":
    main()
