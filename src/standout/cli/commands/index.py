"""`standout index`: read a data set and write it as an index."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from standout.cli.console import print_json, print_line, reading_json
from standout.cli.option_groups import command
from standout.cli.options import json_option, path_argument
from standout.cli.source_options import SourceOptions, source_options
from standout.cli.worker_options import reading_worker_options
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from standout.core.progress import Progress
    from standout.data.release import Release
    from standout.data.sharded_index import BuildSettings

__all__ = ["index"]


@command()
@path_argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FOLDER", help="Index to write."
)
@click.option(
    "--shards",
    type=int,
    metavar="N",
    help="Number of shards.",
    show_default="none if memory suffices, otherwise as few as fit",
)
@click.option(
    "--memory",
    metavar="SIZE",
    help="Memory that the build may use, like 500MB, 4GB or 2GiB. All ids are held in memory.",
    show_default="60 % of what is available",
)
@reading_worker_options
@source_options
@json_option
def index(
    sources: tuple[str, ...], output: Path, shards: int | None, memory: str | None, source: SourceOptions, as_json: bool
) -> None:
    """Read a data set once and write an index that opens quickly.

    SOURCE is a file, a folder or a glob: CSV or TSV (plain, gzip, zstd, zip),
    Parquet, MovieLens or the Netflix Prize files. An existing index at the output
    is replaced once the new one is complete.

    An index that memory does not suffice for is built in shards. It is used like any
    other. If the build is killed, the same command resumes it.

    \b
    Example:
      standout index ratings.csv -o ratings.index
      standout index sales.csv.gz -o sales.index --record Customer --item SKU
      standout index calls/*.csv -o calls.index --memory 4GB --workers 4

    \b
    JSON output:
      index, bytes, shards     the folder, its size and number of shards (0: none)
      records, items, entries  sizes of the release
      read                     how the source was read and what was rejected
      fingerprint
    """
    from standout.data.sharded_index import BuildSettings
    from standout.data.store import open_index

    settings = BuildSettings(shards, memory)
    with progress() as report:
        _write(list(sources), output, settings, source, report)
    _show(open_index(output), output, shards, as_json)


def _write(
    sources: list[str], output: Path, settings: "BuildSettings", source: SourceOptions, report: "Progress"
) -> None:
    """Read the sources, or open an index, and write them as an index; say how they were read."""
    from standout.data.index_files import is_index
    from standout.data.sharded_index import copy_index
    from standout.data.store import open_index

    if len(sources) == 1 and is_index(Path(sources[0])):
        release = source.open_or_read(sources, report).check()
        copy_index(release, output, settings, report)
    else:
        from standout.ingest.index_source import write_index

        with source.reader(sources, report) as reader:
            write_index(reader, sources, output, settings, source.titles, lambda: source.list_rejects(reader))
        release = replace(open_index(output), stored_fingerprint=None)  # what was read is no index
    source.report(release, sources, strict=False)


def _show(release: "Release", output: Path, wanted: int | None, as_json: bool) -> None:
    from standout.data.postings import BLOCK_BITS

    size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
    shards = len(list(output.glob("shard-*")))
    if as_json:
        sizes = {"records": release.n_records, "items": release.n_items, "entries": release.n_entries}
        location = {"index": str(output), "bytes": size, "shards": shards, "fingerprint": release.fingerprint}
        print_json({**location, **sizes, "read": reading_json(release)})
        return
    print_line(
        f"{release.n_entries:,} entries: {release.n_records:,} records × {release.n_items:,} items, "
        f"{_values(release)}, {_times(release)}"
    )
    parts = f", {shards:,} shard{'s' if shards > 1 else ''}" if shards else ""
    if wanted is not None and shards < wanted:
        parts += f" instead of {wanted:,}, because a shard has at least {1 << BLOCK_BITS:,} records"
    print_line(f"index {output} ({size / 1e6:,.1f} MB{parts}), fingerprint {release.fingerprint}")


def _values(release: "Release") -> str:
    return "no values" if release.levels is None else f"{len(release.levels):,} values"


def _times(release: "Release") -> str:
    ends = release.time_range
    return "no times" if ends is None else f"{ends[0]} to {ends[1]}"
