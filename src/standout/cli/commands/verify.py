"""`standout verify`: check an index against its checksums."""

import sys
from pathlib import Path

import click

from standout.cli.console import print_json, print_line
from standout.cli.option_groups import command
from standout.cli.options import json_option
from standout.core.progress import progress_bar as progress

__all__ = ["verify"]


@command()
@click.argument("folder", metavar="INDEX", type=click.Path(path_type=Path))
@json_option
def verify(folder: Path, as_json: bool) -> None:
    """Check every file of an index against its checksum.

    \b
    Example:
      standout verify ratings.index

    \b
    Exit codes:
      0  all files are intact
      1  a file is damaged, or INDEX is not an index

    \b
    JSON output:
      index, files  the folder and the number of files
      damaged       names of the damaged files
    """
    from standout.data.store import verify as verify_index

    with progress() as report:
        checks = list(verify_index(folder, report))
    damaged = [file for file, intact in checks if not intact]
    _show(folder, len(checks), damaged, as_json)
    if damaged:
        sys.exit(1)


def _show(folder: Path, files: int, damaged: list[str], as_json: bool) -> None:
    if as_json:
        print_json({"index": str(folder), "files": files, "damaged": damaged})
        return
    for file in damaged:
        print_line(f"damaged: {file}")
    print_line(f"{folder}: {files - len(damaged)} of {files} files are intact")
