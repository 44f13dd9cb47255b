"""Building an index in memory and in bounded memory: time, peak memory, and bytes read and written.

python -m benchmarks.scale_build [--entries 10000000] [--memory 1GB] [--rounds 1] [--folder build/bench]
python -m benchmarks.scale_build --scale 10 --memory 5GB --folder build/bench     the stand-in, times ten

The first form indexes a CSV file with Netflix's shape: at once, and with arrays in files. The second makes the
stand-in for the Netflix Prize data; it keeps its index, which other benchmarks use.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.data_files import csv_file
from benchmarks.harness import Cost, best_of, run_job

MODULE = "benchmarks.scale_build"
TINY = 20_000
ENOUGH = "1TB"
"""Memory that suffices for a build at once."""


def csv_to_index(path: str, folder: str, memory: str) -> Callable[[], object]:
    """CSV to an index on disk, with at most this much memory."""
    import standout as so

    def work(source: str = path) -> dict[str, int]:
        before = _traffic()
        index = Path(folder) / "scale.index"
        so.index(source, index, memory=memory)
        return _result(index, before)

    work(str(csv_file(Path(folder), TINY)))  # loads the compiled kernels
    return work


def standin_to_index(scale: str, folder: str, memory: str) -> Callable[[], object]:
    """The stand-in with this many times the people of the Netflix Prize data, to an index on disk."""
    from standout.paper.synthesize import scaled_records, synthesize_index

    def work() -> dict[str, int]:
        before = _traffic()
        index = Path(folder) / f"standin-{scale}.index"
        synthesize_index(index, records=scaled_records(float(scale)), memory=memory)
        return _result(index, before)

    return work


def make_csv(folder: str, entries: str) -> Callable[[], object]:
    """The CSV file; in a process of its own, because the memory of a parent counts for its children."""
    return lambda: str(csv_file(Path(folder), int(entries)))


JOBS = {"make_csv": make_csv, "csv_to_index": csv_to_index, "standin_to_index": standin_to_index}


def _traffic() -> tuple[int, int]:
    """Bytes that this process has read and written so far, files in the cache included."""
    lines = Path("/proc/self/io").read_text().splitlines()
    counts = dict(line.split(": ") for line in lines)
    return int(counts["rchar"]), int(counts["wchar"])


def _result(index: Path, before: tuple[int, int]) -> dict[str, int]:
    import standout as so

    read, written = (now - then for now, then in zip(_traffic(), before, strict=True))
    size = sum(file.stat().st_size for file in index.rglob("*") if file.is_file())
    entries = so.open(index).n_entries
    return {"entries": entries, "size": size, "read": read, "written": written}


def _row(job: str, cost: Cost) -> str:
    result = cost.result
    assert isinstance(result, dict)
    entries = result["entries"]
    per_entry = [f"{result[name] / entries:.1f}" for name in ("read", "written", "size")]
    times = [f"{cost.cpu:.1f}", f"{cost.wall:.1f}", f"{cost.memory:,.0f}"]
    return f"| {' | '.join([job, f'{entries:,}', *times, *per_entry])} |"


def main() -> None:
    """Measure, and print the table of docs/lab/scale.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--scale")
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("build/bench"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    print("| job | entries | CPU s | wall s | peak MB | read, bytes/entry | written | index |")
    print("|---|---|---|---|---|---|---|---|")
    if given.scale is not None:
        arguments = [given.scale, str(given.folder), given.memory]
        costs = best_of(1, MODULE, {"standin_to_index": arguments})
        print(_row(f"stand-in × {given.scale}, {given.memory}", costs["standin_to_index"]))
        return
    made = best_of(1, MODULE, {"make_csv": [str(given.folder), str(given.entries)]})
    path = str(made["make_csv"].result)
    for name, memory in (("at once", ENOUGH), (given.memory, given.memory)):
        costs = best_of(given.rounds, MODULE, {"csv_to_index": [path, str(given.folder), memory]})
        print(_row(f"CSV → index, {name}", costs["csv_to_index"]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        run_job(JOBS[sys.argv[2]](*sys.argv[3:]))
    else:
        main()
