"""Options for the original of a sanitized release, and reading both together."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from standout.cli.console import print_line
from standout.cli.option_groups import ORIGINAL, grouped_option
from standout.cli.reading_report import show_reading
from standout.cli.source_options import Command, SourceOptions, prefixed_source_options
from standout.core.errors import ParameterError
from standout.ingest.remote import public_url

if TYPE_CHECKING:
    from standout.core.progress import Progress
    from standout.release.model import Release

__all__ = ["WARNING", "OriginalOptions", "original_options"]

WARNING = (
    "standout: warning: {} was sanitized, but --original is missing. Known facts are therefore taken from "
    "the sanitized data itself. This usually overstates how many people can be identified, and it ignores "
    "people who were removed."
)


@dataclass(frozen=True, slots=True)
class OriginalOptions:
    """The data that DATA was made from, if given: its source, its key file, and how to read it."""

    data: str | None
    key: Path | None
    source: SourceOptions

    def read(self, data: str, source: SourceOptions, progress: "Progress", strict: bool = False) -> "Release":
        """Read DATA with its original; warn if DATA was sanitized and no original is given.

        If `strict`, an overlooked column of DATA is an error.
        """
        from standout.sanitizing.sidecar import sidecar_path

        if self.data is None:
            given = ["--key"] if self.key is not None else self.source.given
            if given:
                raise ParameterError(
                    f"{given[0]} needs --original, the data that {public_url(data)} was made from"
                )
            if sidecar_path(Path(data)).is_file():
                print_line(WARNING.format(Path(public_url(data)).name), err=True)
            return source.read([data], progress, strict)
        if source.given:
            raise ParameterError(
                f"{source.given[0]} cannot be used with --original: "
                f"{public_url(data)} is read as its sidecar file says"
            )
        from standout.ingest.unused_columns import Wording, require_no_overlooked
        from standout.sanitizing.open_sanitized import open_sanitized

        sanitized = open_sanitized(data, self.source.read([self.data], progress), self.key, progress)
        show_reading(sanitized, [data])
        if strict:
            require_no_overlooked(sanitized.provenance, Wording(options=True))
        return sanitized


def original_options(command: Command) -> Command:
    """Add --original, --key and the options for reading the original; passed on as `original`."""

    @functools.wraps(command)
    def run(original: str | None, key: Path | None, original_source: SourceOptions, **others: Any) -> None:
        command(original=OriginalOptions(original, key, original_source), **others)

    decorated = prefixed_source_options("original", "the original", ORIGINAL, run)
    decorated = grouped_option(
        ORIGINAL,
        "--key",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Key file written by `standout sanitize --key`. Needed if ids are new or one record "
        "represents several people.",
    )(decorated)
    return grouped_option(
        ORIGINAL,
        "--original",
        metavar="IN",
        help="Data that `standout sanitize` made DATA from. Known facts are taken from it.",
    )(decorated)
