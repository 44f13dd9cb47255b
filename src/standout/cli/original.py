"""The options for what sanitized data was made from, and the two read together."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from standout.cli.second import Command, second_options
from standout.cli.sources import Settings
from standout.core.errors import ParameterError

if TYPE_CHECKING:
    from standout.core.progress import Progress
    from standout.release.model import Release

__all__ = ["Original", "original_options"]

WARNING = (
    "{} was sanitized, and without --original it is taken for the truth itself: as if people were known "
    "exactly as it tells of them. That usually finds more of them than what is true of them would, and says "
    "nothing of those who are not in it any more."
)


@dataclass(frozen=True, slots=True)
class Original:
    """What DATA was made from, if that is said: where it lies, who stands for whom, and how it is read."""

    source: str | None
    key: Path | None
    settings: Settings

    def read(self, data: str, settings: Settings, progress: "Progress") -> "Release":
        """DATA, together with the original if there is one; a warning where it has one that is not said."""
        from standout.sanitizing.sidecar import sidecar_path

        if self.source is None:
            given = ["key"] if self.key is not None else self.settings.said
            if given:
                raise ParameterError(f"--{given[0]} is for --original, which says what {data} was made from")
            if sidecar_path(Path(data)).is_file():
                click.echo(f"standout: {WARNING.format(Path(data).name)}", err=True)
            return settings.read([data], progress)
        if settings.said:
            raise ParameterError(
                f"with --original {data} is read as its sidecar says: --{settings.said[0]} is for other data"
            )
        from standout.sanitizing.open_sanitized import open_sanitized

        return open_sanitized(data, self.settings.read([self.source], progress), self.key, progress)


def original_options(command: Command) -> Command:
    """Adds --original, --key, and how the original is read; the command gets them as `original`."""

    @functools.wraps(command)
    def run(original: str | None, key: Path | None, original_settings: Settings, **given: Any) -> None:
        command(original=Original(original, key, original_settings), **given)

    added = second_options("original", "the original", run)
    added = click.option(
        "--key", type=click.Path(path_type=Path), metavar="FILE",
        help="Who stands for whom: the key of DATA, where ids are new or one record stands for several.",
    )(added)  # fmt: skip
    return click.option(
        "--original", metavar="IN",
        help="What DATA was made from by `standout sanitize`; what is known of people is then taken from it.",
    )(added)  # fmt: skip
