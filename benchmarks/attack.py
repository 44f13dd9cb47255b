"""The attack compared with the limits of the machine, with other tools and with itself: one table of ratios.

python -m benchmarks.attack [--entries 10000000] [--rounds 5] [--folder build/bench] [--only nested filters]

It measures CPU time in one process with every library on one thread. Jobs are interleaved, and the minimum of
several rounds counts. Both sides of a ratio answer the same queries, and their answers are compared. The
goals are for the full size of the Netflix Prize data (--entries 100480507) and an idle machine. A missed goal
is reported; it is not an error.
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
from benchmarks import baselines, startup_cost
from benchmarks.data_files import index_file, release_of, with_levels, with_times
from benchmarks.harness import interleaved, options, restart_single_threaded
from benchmarks.queries import SIZES, draw_targets, first_of, mixed, observed, one_by_one, redrawn, repeated
from benchmarks.ratio_table import HEADER, RatioRow, check_same_verdicts
from standout.attack.engine import score
from standout.know.facts import KnownFacts

MODULE = "benchmarks.attack"
LIBRARIES = ("numpy", "numba", "scipy", "duckdb", "pandas", "polars")
QUERIES, PEOPLE = 198, 36
TINY, LARGEST_FINE, LEVELS, TIMES = 20_000, 10_000_000, 4_000, 8
TOP = 10

Job = Callable[[], Any]


@dataclass(frozen=True)
class Bench:
    """A release and queries of 2 to 10 facts."""

    release: so.Release
    known: KnownFacts
    rounds: int
    folder: Path
    entries: int

    def attacks(
        self, known: KnownFacts | list[so.Aux] | None = None, similarity: so.Similarity | None = None, **options: Any
    ) -> Job:
        """A job: these queries in one call; by default without Z and on one thread."""
        attack, queries = so.ScoreboardRH(similarity), self.known if known is None else known
        options = {"with_z": False, "threads": 1, "top": TOP, **options}
        return lambda: attack.attacks(self.release, queries, **options)

    def prepared(self, similarity: so.Similarity) -> tuple[Job, float]:
        """The same job with prepared tables and weights, and the seconds that preparing them took."""
        begun = time.process_time()
        queries = so.ScoreboardRH(similarity).attacks(self.release, self.known).queries
        assert queries.arrays
        return lambda: score(queries, TOP, with_z=False, threads=1), time.process_time() - begun

    def compare(self, ours: Job, other: Job, count: int, clock: Any = time.process_time) -> tuple[float, float]:
        """Seconds per query of two jobs that answer `count` queries."""
        seconds = interleaved(self.rounds, {"ours": ours, "other": other}, clock)
        return seconds["ours"] / count, seconds["other"] / count


def machine_limit(bench: Bench) -> Iterator[RatioRow]:
    """Compared with reading once every packed word that a query needs, in vectors and word by word."""
    word, start, item = bench.release.by_item.word, bench.release.by_item.start, bench.known.item
    for name, with_z, vector_goal in (("without Z", False, "≤ 4"), ("with Z", True, "≤ 5")):
        for order, read, goal in (("in vectors", stream, vector_goal), ("word by word", stream_by_word, "")):
            jobs = bench.attacks(with_z=with_z), lambda read=read: read(word, start, item)
            jobs[1]()
            ours, other = bench.compare(*jobs, len(bench.known))
            yield RatioRow(f"one query {name} ÷ streaming its postings {order}", ours / other, goal, ours, other)


@numba.njit
def stream(word: NDArray[Any], start: NDArray[np.int64], items: NDArray[np.int64]) -> Any:
    """Load each word of the postings of these items: the least that any attack must do."""
    total = word.dtype.type(0)
    for item in items:
        for i in range(np.uint64(start[item]), np.uint64(start[item + 1])):
            total ^= word[i]
    return total


@numba.njit
def stream_by_word(word: NDArray[Any], start: NDArray[np.int64], items: NDArray[np.int64]) -> Any:
    """The same with a signed index, which is tested at every word and prevents vector instructions."""
    total = word[0]
    for item in items:
        for i in range(start[item], start[item + 1]):
            total ^= word[i]
    return total


def other_tools(bench: Bench) -> Iterator[RatioRow]:
    """Compared with other tools, each with its best data structure prepared."""
    yield _compare_with(bench, "pandas: isin, merge, groupby", baselines.pandas_isin(bench.release), 18, "≥ 1,000")
    entries = baselines.by_item(bench.release)
    for name, prepare, count, goal in (
        ("np.add.at over slices", baselines.numpy_add_at, 99, "≥ 10"),
        ("np.add.at with tables instead of exp, best by threshold", baselines.numpy_tables, 99, ""),
        ("SciPy CSC columns", baselines.scipy_csc, 99, "≥ 25"),
        ("DuckDB, table sorted by item", baselines.duckdb_sql, 45, "≥ 80"),
        ("Polars on slices", baselines.polars_slices, 45, ""),
        ("pandas with an index of items, loc", baselines.pandas_loc, 45, ""),
    ):
        yield _compare_with(bench, name, prepare(entries), count, goal)


def _compare_with(bench: Bench, name: str, baseline: baselines.Baseline, count: int, goal: str) -> RatioRow:
    known = first_of(bench.known, count)
    queries, job = baselines.queries_of(bench.release, known), bench.attacks(known)
    _check_answers(job(), [baseline(query) for query in queries], name)
    if count < 45:  # the slow one
        bench = replace(bench, rounds=min(bench.rounds, 2))
    ours, other = bench.compare(job, lambda: [baseline(query) for query in queries], count)
    return RatioRow(f"{name} ÷ ours", other / ours, goal, ours, other)


def _check_answers(verdicts: so.Verdicts, answers: list[baselines.Answer], name: str) -> None:
    """Stop if a tool gives different records, scores, σ or eccentricity."""
    columns = verdicts.columns
    for q, answer in enumerate(answers):
        best = slice(columns.first[q], columns.first[q + 1])
        record, score = columns.record[best], columns.score[best][:TOP]
        tied = record[: columns.ties[q]]
        same = np.allclose(answer.score[: len(score)], score, rtol=1e-6) and answer.record[0] in tied
        same &= np.isclose(answer.sigma, columns.sigma[q], rtol=1e-5)
        same &= np.isclose(answer.mean, columns.mean[q], rtol=1e-5)
        same &= np.isclose(answer.eccentricity, columns.eccentricity[q], rtol=1e-4, atol=1e-4)
        assert same, f"{name} disagrees on query {q}"


def nested(bench: Bench) -> Iterator[RatioRow]:
    """The first 2, 3, … 10 facts about a person in one walk, compared with separate queries."""
    known = observed(bench.release, PEOPLE)
    yield _nested(bench, "nested m = 2…10, without Z", known, False, 2, "≥ 3.5")
    yield _nested(bench, "nested m = 2…10, without Z", known, False, TOP, "")
    yield _nested(bench, "nested m = 2…10, with Z", known, True, 2, "")


def noise_draws(bench: Bench) -> Iterator[RatioRow]:
    """The same with 8 draws of noise."""
    known = redrawn(bench.release, PEOPLE // 2)
    yield _nested(bench, "8 noise draws × nested, without Z", known, False, 2, "≥ 12")
    yield _nested(bench, "8 noise draws × nested, without Z", known, False, TOP, "")
    yield _nested(bench, "8 noise draws × nested, with Z", known, True, 2, "")


def _nested(bench: Bench, name: str, known: KnownFacts, with_z: bool, top: int, goal: str) -> RatioRow:
    attack, single = so.ScoreboardRH(), one_by_one(known)

    def together() -> so.Verdicts:
        return attack.nested(bench.release, known, SIZES, top=top, with_z=with_z, threads=1)

    separately = bench.attacks(single, with_z=with_z, top=top)
    check_same_verdicts(together(), separately(), name)
    ours, other = bench.compare(together, separately, len(single))
    return RatioRow(f"independent queries ÷ {name}, best {top}", other / ours, goal, ours, other)


def threads(bench: Bench) -> Iterator[RatioRow]:
    """Two threads compared with one, in wall time; needs an idle machine."""
    single, double = (bench.attacks(threads=count, with_z=True) for count in (1, 2))
    check_same_verdicts(single(), double(), "threads")
    ours, other = bench.compare(double, single, len(bench.known), time.perf_counter)
    yield RatioRow("1 thread ÷ 2 threads, wall time", other / ours, "≥ 1.8", ours, other)


def startup_costs(bench: Bench) -> Iterator[RatioRow]:
    """Compiling, loading compiled code, and memory, each in a separate process."""
    index, tiny = index_file(bench.folder, bench.entries), index_file(bench.folder, TINY)
    few = min(bench.rounds, 3)
    compiling = startup_cost.compiling(tiny, few - 1 or 1)
    yield RatioRow("compiling the attack with an empty cache", compiling, "≤ 5", unit="s")
    yield RatioRow("compiling the nested attack in addition", startup_cost.compiling_nested(tiny), unit="s")
    yield RatioRow("loading the compiled attack", 1e3 * startup_cost.loading(tiny, few), "≤ 50", unit="ms")
    yield RatioRow("Numba's late imports, once per process", 1e3 * startup_cost.late_imports(few), unit="ms")
    for count in (1, 2):
        memory = startup_cost.memory(index, tiny, count)
        yield RatioRow(f"memory beyond the index, per thread, with {count}", memory, "≤ 50", unit="MB")


def finer_codes(bench: Bench) -> Iterator[RatioRow]:
    """Finer times and values, which need longer words and larger tables, for the same entries."""
    release = release_of(min(bench.entries, LARGEST_FINE))
    narrow = replace(bench, release=release, known=mixed(release, QUERIES))
    days, _ = replace(narrow, known=repeated(narrow.known, TIMES)).prepared(so.Decay())
    for name, finer, goal in (
        ("hours", with_times(release, "hour"), ""),
        ("minutes", with_times(release, "minute"), "≤ 2"),
        (f"{LEVELS:,} levels", with_levels(release, LEVELS), "≤ 2"),
    ):
        other = replace(bench, release=finer, known=mixed(finer, QUERIES))
        assert np.array_equal(other.known.item, narrow.known.item)
        _check_with_double_precision(other, name)
        job, table_seconds = replace(other, known=repeated(other.known, TIMES)).prepared(so.Decay())
        ours, base = bench.compare(job, days, TIMES * QUERIES)
        width = 8 * finer.by_item.word.itemsize
        yield RatioRow(f"{name} ({width}-bit words) ÷ days and 5 levels, per posting", ours / base, goal, ours, base)
        yield RatioRow(f"{name}: making the tables, once per batch", 1e3 * table_seconds, unit="ms")


def _check_with_double_precision(bench: Bench, name: str) -> None:
    """Stop if the first verdicts differ from those in double precision; this also compiles the kernels."""
    for verdict in bench.attacks()()[: len(SIZES)]:
        scores = verdict.scores
        same = np.isclose(verdict.highest, scores.max(), rtol=1e-6)
        same &= np.isclose(verdict.sigma, scores.std(), rtol=1e-5)
        assert same, f"{name}: different scores"


class UserDecay(so.Similarity):
    """The decay as a user might write it."""

    adds: ClassVar[bool] = True

    def values(self, known: Any, levels: Any) -> Any:
        """Similarity of the known value to each level."""
        return np.exp(-np.abs(levels - known) / 1.5)

    def times(self, days: Any) -> Any:
        """Similarity of times that are this many days apart."""
        return np.exp(-np.abs(days) / 30)


def user_similarity(bench: Bench) -> Iterator[RatioRow]:
    """A similarity written by the user, compared with the built-in decay that it imitates."""
    check_same_verdicts(bench.attacks(similarity=UserDecay())(), bench.attacks()(), "user similarity")
    ours, other = bench.compare(bench.attacks(similarity=UserDecay()), bench.attacks(), len(bench.known))
    yield RatioRow("user-defined Similarity ÷ Decay", ours / other, "about 1", ours, other)

    def similarity(known: float, value: float | None, days: float | None) -> float:
        of_value = 0.0 if value is None else math.exp(-abs(value - known) / 1.5)
        return of_value + (0.0 if days is None else math.exp(-abs(days) / 30))

    custom, table_seconds = bench.prepared(so.Custom(similarity))
    decay, _ = bench.prepared(so.Decay())
    assert np.allclose(custom().highest, decay().highest, rtol=1e-6), "Custom disagrees"
    ours, other = bench.compare(custom, decay, len(bench.known))
    yield RatioRow("Custom function ÷ Decay, with prepared tables", ours / other, "about 1", ours, other)
    yield RatioRow("Custom function: making the tables, once per simulation", 1e3 * table_seconds, unit="ms")


def filters(bench: Bench) -> Iterator[RatioRow]:
    """The target is excluded, and candidates are filtered by the length of their record."""
    targets, lengths = draw_targets(bench.release, QUERIES), bench.release.lengths
    ends = np.stack([lengths[targets] // 2, lengths[targets] * 3 // 2], axis=1)
    by_length = replace(bench.known, length=ends, filtered=True)
    left = [np.count_nonzero((lengths >= low) & (lengths <= high)) for low, high in ends]
    for name, known, exclude in (
        ("target excluded", bench.known, targets),
        ("length known ± 50 %", by_length, None),
        ("both", by_length, targets),
    ):
        job, excluded = bench.attacks(known, exclude=exclude), exclude is not None
        expected = np.array(left if known.filtered else bench.release.n_records) - excluded
        assert (job().columns.candidates == expected).all(), f"{name}: different candidates"
        ours, other = bench.compare(job, bench.attacks(), QUERIES)
        yield RatioRow(f"{name} ÷ all records", ours / other, "about 1", ours, other)


def single_call(bench: Bench) -> Iterator[RatioRow]:
    """One aux in one call, compared with a batch."""
    aux, count = bench.known.aux(bench.release, 6), 100  # 8 facts
    single, batch = bench.attacks([aux], with_z=True), bench.attacks([aux] * count, with_z=True)
    seconds = interleaved(bench.rounds, {"single": single, "batch": batch})
    ours, other = seconds["single"], seconds["batch"] / count
    yield RatioRow(f"one aux of 8 facts alone ÷ in a batch of {count}", ours / other, "", ours, other)


BENCHMARKS = (
    machine_limit,
    other_tools,
    nested,
    noise_draws,
    threads,
    startup_costs,
    finer_codes,
    user_similarity,
    filters,
    single_call,
)


def main() -> None:
    """Print the table."""
    restart_single_threaded(MODULE)
    by_name = {rows.__name__: rows for rows in BENCHMARKS}
    given = options(__doc__, rounds=5, tables=list(by_name))
    release = so.open(index_file(given.folder, given.entries))
    bench = Bench(release, mixed(release, QUERIES), given.rounds, given.folder, given.entries)
    postings = int(release.support[bench.known.item].sum()) // QUERIES
    print(f"{release}\n{QUERIES} queries of 2 to 10 facts, {postings:,} postings each; best of {given.rounds}")
    print(", ".join(f"{name} {version(name)}" for name in LIBRARIES), f"; load {os.getloadavg()[0]:.1f}")
    print(f"\n{HEADER}")
    verdicts = []
    for name in given.only:
        for row in by_name[name](bench):
            print(row, flush=True)
            verdicts += [row.verdict] if row.verdict else []
    print(f"\n{verdicts.count('met')} of {len(verdicts)} goals met", end="")
    print("" if given.entries > 10**8 else "; the goals are for 100480507 entries")


if __name__ == "__main__":
    main()
