"""Tables with one row per person: the attack, the classes and reading, compared with NumPy, Polars, pyCANON.

python -m benchmarks.tables [--rows 1000000] [--columns 50] [--rounds 3] [--python-pycanon PATH]

The first part compares CPU time on one thread, interleaved in one process. The limits are NumPy looking up
and adding the same codes (take and add), and NumPy summing the same columns of codes, which reads them from
memory and does nothing else. The second part measures CPU time, wall time and peak memory of complete jobs,
each in a separate process with all cores. The answers of both sides are compared.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import standout as so
from benchmarks.harness import Cost, best_of, interleaved, restart_single_threaded, run_job
from benchmarks.other_table_tools import JOBS as TOOL_JOBS
from benchmarks.ratio_table import HEADER, RatioRow
from standout.attack.any_attack import attack_columns
from standout.attack.column_evidence import CellTabulation
from standout.core.arrays import Floats
from standout.data.column import Column, code_dtype
from standout.data.release import Release
from standout.know.facts import KnownFacts
from standout.measure.equivalence import identity_risk

MODULE = "benchmarks.tables"
UNIT = 1 << 20
LEVELS = (2, 3, 5, 8, 13, 21, 40, 90, 200, 2_000)
"""Numbers of levels of the columns, in turn: nine of ten columns have codes of one byte."""
KNOWN, TARGETS, CLASS_COLUMNS, PEOPLE = 6, 64, 8, 1_000
PYCANON_ROWS = 50_000
"""pyCANON takes a Python call for each class."""


def frame_of(rows: int, columns: int) -> pl.DataFrame:
    """Columns of whole numbers and of texts, in turn; the first level is the most frequent."""
    draw = np.random.default_rng(2008)
    made = {}
    for number in range(columns):
        levels = LEVELS[number % len(LEVELS)]
        share = 1.0 / np.arange(1, levels + 1)
        codes = draw.choice(levels, rows, p=share / share.sum()).astype(np.uint32)
        values = np.arange(levels) if number % 2 else np.array([f"v{level}" for level in range(levels)])
        made[f"c{number:02}"] = pl.Series(values).gather(codes)
    return pl.DataFrame(made)


def table_of(frame: pl.DataFrame) -> Release:
    """The same as a table, without reading a file."""
    columns = []
    for series in frame:
        levels, codes = np.unique(series.to_numpy(), return_inverse=True)
        is_number = series.dtype.is_numeric()
        known = levels.astype(np.float64) if is_number else tuple(map(str, levels))
        narrow = codes.astype(code_dtype(len(levels)))
        columns.append(
            Column(series.name, "number" if is_number else "category", known, narrow, error=float(is_number))
        )
    return Release.of_columns(tuple(columns))


def csv_file(folder: Path, rows: int, columns: int) -> Path:
    """The table as CSV."""
    path = folder / f"table-{rows}x{columns}.csv"
    if not path.exists():
        frame_of(rows, columns).write_csv(path)
    return path


def numpy_best(table: Release, facts: KnownFacts, attack: so.Likelihood) -> Floats:
    """The best score of each target: NumPy looks up each fact's numbers and adds them."""
    evidence = CellTabulation(table, attack).evidence
    best = np.zeros(len(facts))
    tables: dict[tuple[int, int], NDArray[np.int32]] = {}
    score = np.empty(table.n_records, np.int32)
    addend = np.empty(table.n_records, np.int32)
    for query in range(len(facts)):
        score[:] = 0
        for fact in range(int(facts.cells.first[query]), int(facts.cells.first[query + 1])):
            column, code = int(facts.cells.column[fact]), int(facts.cells.code[fact])
            if (column, code) not in tables:
                window = evidence[column].likelihood(code, None)
                numbers = np.full(table.columns[column].n_levels + 1, window.outside)
                numbers[window.low : window.low + len(window.numbers)] = window.numbers
                numbers[-1] = window.empty
                tables[column, code] = np.rint(numbers * UNIT).astype(np.int32)
            np.take(tables[column, code], table.columns[column].codes, out=addend, mode="clip")
            score += addend
        best[query] = score.max()
    return best / UNIT


def sum_words(words: list[NDArray[np.uint64]]) -> int:
    """Read columns of codes from memory, eight bytes at a time."""
    return sum(int(column.sum()) for column in words)


def _words(column: Column) -> NDArray[np.uint64]:
    """The codes of a column as words, without those that do not fill a word."""
    codes = column.codes.view(np.uint8)
    return codes[: len(codes) // 8 * 8].view(np.uint64)


def attack_ratios(table: Release, rounds: int) -> Iterator[RatioRow]:
    """The attack relative to NumPy and to reading memory, per target, fact and row."""
    for wrong in (0, 1):
        who = so.Adversary(knows=KNOWN, wrong=wrong)
        attack = so.Likelihood(who)
        targets = np.random.default_rng(1).permutation(table.n_records)[:TARGETS]
        facts = who.observe_all(table, targets, 1)
        best = attack_columns(table, facts, attack, threads=1).best_likelihood
        assert best is not None
        assert np.allclose(-np.log(best), numpy_best(table, facts, attack)), "different best scores"
        jobs: dict[str, Callable[[], object]] = {
            "ours": partial(attack_columns, table, facts, attack, threads=1),
            "NumPy": partial(numpy_best, table, facts, attack),
            "reading": partial(sum_words, [_words(table.columns[c]) for c in facts.cells.column.tolist()]),
        }
        per_target = {name: seconds / TARGETS for name, seconds in interleaved(rounds, jobs).items()}
        ours, numpy, reading = per_target.values()
        nanoseconds = 1e9 * ours / (KNOWN * table.n_records)
        label = f"likelihood, {KNOWN} facts, {wrong} wrong"
        yield RatioRow(f"NumPy take + add + max ÷ {label}", numpy / ours, "", ours, numpy)
        yield RatioRow(f"{label} ÷ reading its codes", ours / reading, "", ours, reading)
        yield RatioRow(f"{label}: per target, fact and row", nanoseconds, unit="ns")


def class_ratios(table: Release, frame: pl.DataFrame, rounds: int) -> Iterator[RatioRow]:
    """K and uniqueness relative to Polars on the same codes and on the original values."""
    names = list(table.column_names[:CLASS_COLUMNS])
    codes = pl.DataFrame({name: table.column(name).codes for name in names})
    jobs: dict[str, Callable[[], tuple[int, int]]] = {
        "ours": lambda: _ours(table, names),
        "Polars on codes": lambda: _polars(codes, names),
        "Polars on values": lambda: _polars(frame, names),
    }
    assert len({job() for job in jobs.values()}) == 1, "different k or number of unique rows"
    seconds = interleaved(rounds, jobs)
    for other in ("Polars on codes", "Polars on values"):
        label = f"{other} ÷ k and uniqueness of {CLASS_COLUMNS} columns"
        yield RatioRow(label, seconds[other] / seconds["ours"], "", seconds["ours"], seconds[other])


def _ours(table: Release, names: list[str]) -> tuple[int, int]:
    risk = identity_risk(table, names)
    return risk.k, round(risk.unique.value * table.n_records)


def _polars(frame: pl.DataFrame, names: list[str]) -> tuple[int, int]:
    sizes = frame.group_by(names).len()["len"]
    return int(sizes.min()), int((sizes == 1).sum())  # type: ignore[arg-type]


def pycanon_ratio(frame: pl.DataFrame, python: Path, folder: Path) -> RatioRow:
    """K by pyCANON, on fewer rows."""
    few = frame.head(PYCANON_ROWS)
    names, path = few.columns[:CLASS_COLUMNS], folder / "pycanon.csv"
    few.write_csv(path)
    settings = {"released": str(path), "known": names, "sensitive": few.columns[-1], "all": False}
    command = [python, "-I", TOOL_JOBS, "pycanon", json.dumps(settings)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    said = json.loads(done.stdout.splitlines()[-1])["results"]["k"]
    table = table_of(few)
    assert _ours(table, names)[0] == said["value"], "different k"
    ours = interleaved(3, {"ours": lambda: _ours(table, names)})["ours"]
    label = f"pyCANON's k ÷ k and uniqueness, {few.height:,} rows"
    return RatioRow(label, said["cpu"] / ours, "", ours, said["cpu"])


def read_job(path: str) -> Callable[[], object]:
    """Read the table from CSV."""
    so.read(frame_of(100, 10), kind="table")
    return lambda: so.read(path, kind="table").n_records


def polars_read_job(path: str) -> Callable[[], object]:
    """Polars reads the same file, and turns texts into categories."""
    return lambda: pl.read_csv(path).with_columns(pl.col(pl.String).cast(pl.Categorical)).height


def risk_job(path: str) -> Callable[[], object]:
    """All risk measures of 8 quasi-identifiers."""
    table = so.read(path, kind="table")
    so.classes(table.rows(np.arange(100)), list(table.column_names[:CLASS_COLUMNS]), ())
    return lambda: so.classes(table, list(table.column_names[:CLASS_COLUMNS]), ()).identity.n_rows


def simulate_job(path: str) -> Callable[[], object]:
    """1,000 targets, present and absent, 6 facts of which 1 is wrong."""
    table = so.read(path, kind="table")
    who = so.Adversary(knows=KNOWN, wrong=1)
    so.simulate(table.rows(np.arange(100)), who, targets=2)
    return lambda: len(so.simulate(table, who, targets=PEOPLE).cell().targets)


JOBS = {
    "polars_read": (polars_read_job, "Polars: CSV read, texts as categories"),
    "read": (read_job, "`so.read` of a table: types, levels, codes"),
    "risk": (risk_job, f"`so.classes`, {CLASS_COLUMNS} quasi-identifiers (memory with reading)"),
    "simulate": (simulate_job, f"`so.simulate`, {PEOPLE:,} targets present and absent (with reading)"),
}


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("build/bench"))
    parser.add_argument("--python-pycanon", type=Path, metavar="PATH")
    parser.add_argument("--part", choices=("ratios", "jobs"))
    parser.add_argument("-o", "--output", type=Path, default=Path("build/tables.json"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    return given


def ratios(given: argparse.Namespace) -> list[RatioRow]:
    """Print and return the ratios."""
    frame = frame_of(given.rows, given.columns)
    table = table_of(frame)
    print(f"{table}\n\n{HEADER}")
    found = []
    several = [*attack_ratios(table, given.rounds), *class_ratios(table, frame, given.rounds)]
    if given.python_pycanon is not None:
        several.append(pycanon_ratio(frame, given.python_pycanon, given.folder))
    for row in several:
        print(row, flush=True)
        found.append(row)
    return found


def costs(given: argparse.Namespace) -> dict[str, Cost]:
    """Print and return the costs of complete jobs."""
    path = str(csv_file(given.folder, given.rows, given.columns))
    found = best_of(given.rounds, MODULE, {name: [path] for name in JOBS})
    print(f"{'':56}{'CPU s':>8}{'wall s':>8}{'peak MB':>9}")
    for name, cost in found.items():
        print(f"{JOBS[name][1]:56}{cost.cpu:8.2f}{cost.wall:8.2f}{cost.memory:9.0f}")
    return found


def _keep(path: Path, part: dict[str, object]) -> None:
    """Add a part to the file of results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps(known | part, indent=1), encoding="utf-8")


def main() -> None:
    """Print the tables and keep them for `python -m tools.table_results`."""
    if sys.argv[1:2] == ["--job"]:
        run_job(JOBS[sys.argv[2]][0](sys.argv[3]))
        return
    given = _given()
    if given.part != "ratios":
        found = {JOBS[name][1]: [cost.cpu, cost.wall, cost.memory] for name, cost in costs(given).items()}
        _keep(given.output, {"rows": given.rows, "columns": given.columns, "jobs": found})
    if given.part != "jobs":
        if given.part is None:
            sys.argv += ["--part", "ratios"]
        restart_single_threaded(MODULE)
        _keep(given.output, {"ratios": [asdict(row) | {"verdict": row.verdict} for row in ratios(given)]})


if __name__ == "__main__":
    main()
