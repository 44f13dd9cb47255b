"""`standout index`: read a data set and write it as an index."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from standout.cli.console import print_json, print_line, reading_json
from standout.cli.option_groups import command, option
from standout.cli.options import json_option, path_argument
from standout.cli.reading import Source, reading_options
from standout.cli.worker_options import reading_worker_options
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from standout.data.release import Release

__all__ = ["index"]


@command()
@path_argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@option("-o --output", "FOLDER", "Index to write.", required=True, type=click.Path(path_type=Path))
@option(
    "--memory",
    "SIZE",
    "Memory that the build may use, like 500MB, 4GB or 2GiB. All ids are held in memory.",
    show_default="60 % of what is available",
)
@reading_worker_options
@reading_options
@json_option
def index(sources: tuple[str, ...], output: Path, memory: str | None, source: Source, as_json: bool) -> None:
    """Read a data set once and write an index that opens quickly.

    SOURCE is a file, a folder or a glob: CSV or TSV (plain, gzip, zstd, zip),
    Parquet, MovieLens or the Netflix Prize files. An existing index at the output
    is replaced once the new one is complete.

    Entries that memory does not hold are in files next to the index while it is
    built.

    \b
    Example:
      standout index ratings.csv -o ratings.index
      standout index sales.csv.gz -o sales.index --record Customer --item SKU
      standout index calls/*.csv -o calls.index --memory 4GB --workers 4

    \b
    JSON output:
      index, bytes             the folder and its size
      records, items, entries  sizes of the release
      read                     how the source was read and what was rejected
      fingerprint
    """
    from standout.core.threads import memory_limit
    from standout.data.store import is_index, open_index, save

    memory_limit(memory)  # refuses what is no size before anything is read
    with progress() as report:
        if len(sources) == 1 and is_index(Path(sources[0])):
            release = source.open_index(Path(sources[0])).check()
            save(release, output, progress=report)
        else:
            from standout.ingest.index_source import write_index

            with source.reader(list(sources), report, kind="history") as reader:
                write_index(
                    reader,
                    list(sources),
                    output,
                    memory,
                    source.settings.get("titles"),
                    lambda: source.list_rejects(reader),
                )
            release = replace(open_index(output), stored_fingerprint=None)  # what was read is no index
        source.report(release, list(sources), strict=False)
    _show(open_index(output), output, as_json)


def _show(release: "Release", output: Path, as_json: bool) -> None:
    size = sum(file.stat().st_size for file in output.iterdir())
    if as_json:
        sizes = {"records": release.n_records, "items": release.n_items, "entries": release.n_entries}
        location = {"index": str(output), "bytes": size, "fingerprint": release.fingerprint}
        print_json({**location, **sizes, "read": reading_json(release)})
        return
    values = "no values" if release.levels is None else f"{len(release.levels):,} values"
    ends = release.time_range
    times = "no times" if ends is None else f"{ends[0]} to {ends[1]}"
    print_line(
        f"{release.n_entries:,} entries: {release.n_records:,} records × {release.n_items:,} items, {values}, {times}"
    )
    print_line(f"index {output} ({size / 1e6:,.1f} MB), fingerprint {release.fingerprint}")
