"""Reading CSV and Netflix Prize text into an index, compared with Polars on the same files.

python -m benchmarks.ingest [--entries 10000000] [--rounds 3] [--folder build/bench]
"""

import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.data_files import csv_file, netflix_file
from benchmarks.harness import best_of, options, run_job

MODULE = "benchmarks.ingest"
TINY = 20_000


def csv_to_index(path: str, folder: str) -> Callable[[], object]:
    """CSV to an index on disk."""
    return _to_index(csv_file(Path(folder), TINY), path, folder)


def netflix_to_index(path: str, folder: str) -> Callable[[], object]:
    """Netflix Prize text to an index on disk."""
    return _to_index(netflix_file(Path(folder), TINY), path, folder)


def _to_index(tiny: Path, path: str, folder: str) -> Callable[[], object]:
    import standout as so

    def work(source: str = path) -> object:
        release = so.read(source)
        so.save(release, f"{folder}/bench.index")
        return release.n_entries

    work(str(tiny))  # loads the compiled kernels
    return work


def netflix_to_columns(path: str, folder: str) -> Callable[[], object]:
    """Text to columns of codes, as far as Polars goes when it reads: no orientation is built."""
    from standout.core.progress import no_progress
    from standout.ingest.collector import Collector
    from standout.ingest.delimited import netflix_roles, read_netflix
    from standout.ingest.formats import Options
    from standout.ingest.report import RejectLog
    from standout.ingest.sources import open_stream

    def work(source: str = path) -> object:
        collector = Collector(Options(), RejectLog(), netflix_roles(Options()))
        with open_stream(Path(source)) as stream:
            read_netflix(stream, collector, no_progress)
        return sum(map(len, collector.blocks))

    work(str(netflix_file(Path(folder), TINY)))
    return work


def csv_bytes(path: str, folder: str) -> Callable[[], object]:
    """The limit of the machine: read every byte of the file and look at it once."""
    import numpy as np

    def work() -> object:
        buffer, lines = np.empty(1 << 19, np.uint8), 0
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123
            while got := file.readinto(buffer.data):
                lines += int(np.count_nonzero(buffer[:got] == 10))
        return lines - 1  # the header

    return work


def polars_csv(path: str, folder: str) -> Callable[[], object]:
    """Polars at its best: ids as 32-bit numbers, days from Unix seconds, sorted by record and item."""
    import polars as pl

    types = {"userId": pl.UInt32, "movieId": pl.UInt32, "rating": pl.Float32, "timestamp": pl.Int64}

    def work() -> object:
        frame = pl.scan_csv(path, schema=types).with_columns((pl.col("timestamp") // 86_400).cast(pl.UInt16))
        return frame.sort("userId", "movieId").collect().height

    return work


def polars_csv_both(path: str, folder: str) -> Callable[[], object]:
    """The same with a second copy sorted by item and record, like an index."""
    import polars as pl

    types = {"userId": pl.UInt32, "movieId": pl.UInt32, "rating": pl.Float32, "timestamp": pl.Int64}

    def work() -> object:
        frame = pl.scan_csv(path, schema=types).with_columns((pl.col("timestamp") // 86_400).cast(pl.UInt16))
        by_record = frame.sort("userId", "movieId").collect()
        return by_record.sort("movieId", "userId").height

    return work


def polars_netflix(path: str, folder: str) -> Callable[[], object]:
    """Short rows are padded with nulls; the line of a film has no rating and is filled forward."""
    import polars as pl

    def work() -> object:
        return _polars_netflix(pl, path).height

    return work


def polars_netflix_both(path: str, folder: str) -> Callable[[], object]:
    """The same with both orientations: sorted by customer and film, and by film and customer."""
    import polars as pl

    def work() -> object:
        frame = _polars_netflix(pl, path)
        by_record, by_item = frame.sort("customer", "film"), frame.sort("film", "customer")
        assert by_record.height == by_item.height
        return by_record.height

    return work


def _polars_netflix(pl, path: str):  # type: ignore[no-untyped-def]
    lines = pl.scan_csv(
        path,
        has_header=False,
        schema={"customer": pl.String, "rating": pl.UInt8, "date": pl.Date},
        truncate_ragged_lines=True,
        missing_columns="insert",  # the first line is that of a film
    )
    film = pl.when(pl.col("rating").is_null()).then(pl.col("customer").str.strip_suffix(":"))
    return (
        lines.with_columns(film=film.cast(pl.UInt16).forward_fill())
        .filter(pl.col("rating").is_not_null())
        .with_columns(pl.col("customer").cast(pl.UInt32))
        .collect()
    )


JOBS = {
    job.__name__: job
    for job in (
        csv_bytes,
        csv_to_index,
        polars_csv,
        polars_csv_both,
        netflix_to_index,
        netflix_to_columns,
        polars_netflix,
        polars_netflix_both,
    )
}


def main() -> None:
    """Print the table."""
    if sys.argv[1:2] == ["--job"]:
        name, *arguments = sys.argv[2:]
        run_job(JOBS[name](*arguments))
        return
    given = options(__doc__, rounds=3)
    csv, text = csv_file(given.folder, given.entries), netflix_file(given.folder, given.entries)
    arguments = {name: [str(text if "netflix" in name else csv), str(given.folder)] for name in JOBS}
    costs = best_of(given.rounds, MODULE, arguments)
    print(f"{given.entries:,} entries, best of {given.rounds}, each in a separate process")
    print(f"{'':24}{'CPU s':>8}{'wall s':>8}{'peak MB':>9}")
    for name, cost in costs.items():
        assert cost.result == given.entries, f"{name} read {cost.result} entries"
        print(f"{name:24}{cost.cpu:8.2f}{cost.wall:8.2f}{cost.memory:9.0f}")
    for ours, theirs in (
        ("csv_bytes", "csv_to_index"),
        ("csv_to_index", "polars_csv"),
        ("csv_to_index", "polars_csv_both"),
        ("netflix_to_columns", "polars_netflix"),
        ("netflix_to_index", "polars_netflix_both"),
    ):
        our_cost, other = costs[ours], costs[theirs]
        ratios = f"{other.cpu / our_cost.cpu:.2f} × CPU, {other.wall / our_cost.wall:.2f} × wall"
        print(f"{theirs} ÷ {ours}: {ratios}")


if __name__ == "__main__":
    main()
