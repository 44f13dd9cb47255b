"""Options that several commands share, and the parsing of their values."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from standout.cli.option_groups import ADVERSARY, GENERAL, option
from standout.core.errors import ParameterError
from standout.core.files import check_output_file, check_output_files, make_folder

__all__ = [
    "check_table_path",
    "data_stem",
    "json_option",
    "ladder_option",
    "output_file",
    "output_folder",
    "parse_counts",
    "parse_number_or_none",
    "parse_targets",
    "path_argument",
    "seed_option",
    "table_option",
    "threads_option",
]

# Arguments that are paths or URLs: shells complete the names of files for them.


Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def path_argument(name: str, **settings: Any) -> Callable[[Decorated], Decorated]:
    """`click.argument` for data, which is a text because it may also be a URL."""
    return click.argument(name, shell_complete=_files, **settings)


def _files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete names of files and folders."""
    return [CompletionItem(incomplete, type="file")]


# Folders and files that a command writes, tried before the long work.


def output_file(path: Path, option: str, inputs: Iterable[str | Path | None] = ()) -> Path:
    """Return the path of an output file; raises an error if it cannot be written or is an input."""
    for source in inputs:
        if source is not None and _is_same(path, Path(source)):
            raise ParameterError(f"{option} {str(path)!r} is an input: choose another path")
    check_output_file(path, option)
    return path


def output_folder(path: Path, *files: str) -> Path:
    """Create a folder for these files unless it exists; raises an error if they cannot be written there."""
    from standout.data.store import is_index

    if is_index(path):
        raise ParameterError(f"--output must be a folder for the results, {path} is an index")
    make_folder(path)
    check_output_files(path, *files)
    return path


def _is_same(path: Path, source: Path) -> bool:
    try:
        return path.exists() and source.exists() and path.samefile(source)
    except (OSError, ValueError):
        return False


MOST_DIGITS = 18
TABLE_SUFFIXES = (".csv", ".parquet", ".json")

json_option = option("--json as_json", "", "Print JSON instead of text.", group=GENERAL, is_flag=True)
threads_option = option(
    "--threads", "N", "Number of threads.", group=GENERAL, type=click.IntRange(1), show_default="all cores"
)
seed_option = option("--seed", "N", "Random seed; the same seed gives the same numbers.", group=GENERAL, default=0)
ladder_option = option(
    "--ladder",
    "FILE",
    "TOML file with your own adversaries (see docs/ladder.toml). "
    'Errors are numbers or shares of the data, such as "33 %".',
    group=ADVERSARY,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    show_default="the built-in ladder, whose errors fit the data",
)
table_option = option(
    "-o --output",
    "FILE",
    "Also write the table to NAME.csv, NAME.parquet or NAME.json.",
    type=click.Path(path_type=Path),
)


def check_table_path(path: Path | None, *inputs: str | Path | None) -> None:
    """Reject an output table that cannot be written or is an input, before any work is done."""
    if path is None:
        return
    if path.suffix not in TABLE_SUFFIXES:
        raise ParameterError(f"--output must end in {', '.join(TABLE_SUFFIXES)}, got {path.name!r}")
    output_file(path, "--output", inputs)


def data_stem(data: str) -> str:
    """Return the name of a source without folder and suffixes, for default output names."""
    return Path(data.rstrip("/")).name.split(".")[0] or "data"


def parse_number_or_none(option: str, text: str) -> float | None:
    """Parse a number, or None for the word none."""
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{option} must be a number or none, got {text!r}") from None


def parse_counts(option: str, text: str) -> list[int]:
    """Parse whole numbers: 4, or 2,4,8, or 2-10."""
    ends = re.fullmatch(r"(\d{1,6})-(\d{1,6})", text.strip())
    try:
        return list(range(int(ends[1]), int(ends[2]) + 1) if ends else map(int, text.split(",")))
    except ValueError:
        raise ParameterError(f"{option} must be like 4, 2,4,8 or 2-10, got {text!r}") from None


def parse_targets(text: str) -> int | str:
    """Parse a number of targets, or the word all."""
    if text == "all":
        return text
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
        raise ParameterError(f"--targets must be a whole number of at most {MOST_DIGITS} digits or all, got {text!r}")
    return int(text)
