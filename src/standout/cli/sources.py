"""The options that say how to read a source, shared by every command that reads one."""

import csv
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from standout.core.errors import ParameterError, StandoutError

if TYPE_CHECKING:
    from standout.core.progress import Progress
    from standout.ingest.rejects import RejectLog
    from standout.release.model import Release

__all__ = ["Settings", "source_options"]

option = functools.partial(click.option, show_default=True)

OPTIONS = [
    option("--record", metavar="COLUMN", help="Column of the person: its name, or its place from 1."),
    option("--item", metavar="COLUMN", multiple=True, help="Column of the item; repeat to join several."),
    option("--value", metavar="COLUMN", help="Column of the value."),
    option("--no-value", is_flag=True, help="Leave values out."),
    option("--time", metavar="COLUMN", help="Column of the time."),
    option("--no-time", is_flag=True, help="Leave times out."),
    option("--titles", metavar="FILE", help="Titles of the items: CSV, or MovieLens's or Netflix's."),
    option("--separator", metavar="TEXT", help="Separator, one or more characters; \\t is a tab."),
    option("--header/--no-header", default=None, help="Whether the first line names the columns."),
    option("--quote", default='"', help="Quote character, '' for none."),
    option("--encoding", default="utf-8", help="Encoding of the text."),
    option("--member", metavar="NAME", help="Which file of a zip."),
    option(
        "--value-type",
        type=click.Choice(["auto", "number", "text"]),
        default="auto",
        help="Numbers, or categories.",
    ),
    option("--value-bin", type=float, metavar="WIDTH", help="Round numbers down to multiples of WIDTH."),
    option("--time-format", metavar="FORMAT", help="s, ms, us, ns (since 1970), iso, or like %d.%m.%Y."),
    option(
        "--time-unit",
        type=click.Choice(["day", "hour", "minute"]),
        default="day",
        help="Resolution of times.",
    ),
    option(
        "--zone",
        default="UTC",
        help="Zone that Unix times and times with a zone are moved to; others are taken as written.",
    ),
    option(
        "--repeats",
        type=click.Choice(["last", "first", "max", "error"]),
        default="last",
        help="Which entry of the same record and item stays: by time, then by row; or by value.",
    ),
    option(
        "--max-rejects",
        default="0",
        metavar="N|SHARE",
        help="How many rows may be unusable: a number, or a share like 5%.",
    ),
    option(
        "--rejects",
        "rejects_to",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write source, line and reason of every unusable row to this CSV file.",
    ),
]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user said about the source; `said` names the options that were given."""

    options: dict[str, Any]
    said: tuple[str, ...]
    titles: str | None
    rejects_to: Path | None

    def read(self, sources: list[str], progress: "Progress") -> "Release":
        """The release in the sources; an index is opened without loading what reads raw files."""
        from standout.release.index_writer import is_index
        from standout.release.store import open_index

        if len(sources) == 1 and is_index(Path(sources[0])):
            if self.said:
                raise ParameterError(f"{sources[0]} is an index: --{self.said[0]} is for reading a source")
            return open_index(sources[0])
        if self.rejects_to is not None and (self.rejects_to.is_dir() or not self.rejects_to.parent.is_dir()):
            raise ParameterError(
                f"{self.rejects_to} cannot be written: name a file in a folder that is there"
            )
        if self.rejects_to is not None and any(_same(self.rejects_to, source) for source in sources):
            raise ParameterError(f"{self.rejects_to} is the source: name another file for --rejects")
        from standout.ingest.options import Options
        from standout.ingest.read import SourceReader

        ingest = SourceReader(Options(**self.options), progress)
        try:
            return ingest.read(sources, self.titles)
        finally:
            if self.rejects_to is not None and ingest.rejects.rows:
                _write_rejects(ingest.rejects, self.rejects_to)


def source_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options to a command, which gets them as `settings`."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        context = click.get_current_context()
        chosen = {name: given.pop(name) for name in list(given) if name in NAMES}
        said = [name for name in chosen if context.get_parameter_source(name) is not ParameterSource.DEFAULT]
        command(settings=_settings({name: chosen[name] for name in said}), **given)

    for option in reversed(OPTIONS):
        run = option(run)
    return run


def _names() -> set[str]:
    """The parameters that the options add to a command."""

    def probe() -> None: ...

    for option in OPTIONS:
        option(probe)
    return {parameter.name for parameter in probe.__click_params__}  # type: ignore[attr-defined]


NAMES = _names()


def _settings(given: dict[str, Any]) -> Settings:
    """The options that were given, as `standout.read` takes them."""
    said = tuple(name.replace("_", "-") for name in given)
    titles, rejects_to = given.pop("titles", None), given.pop("rejects_to", None)
    for role in ("value", "time"):
        if given.pop(f"no_{role}", False):
            given[role] = False
    if "separator" in given:
        given["separator"] = given["separator"].replace("\\t", "\t")
    return Settings(given, said, titles, rejects_to)


def _same(path: Path, source: str) -> bool:
    return path.exists() and Path(source).exists() and path.samefile(source)


def _write_rejects(rejects: "RejectLog", path: Path) -> None:
    """Writes the list beside its place first, then puts it there: it is whole or not there."""
    from standout.core.private_files import open_private

    building = path.with_name(f".{path.name}.building")
    try:
        with (
            open_private(building) as made,
            os.fdopen(os.dup(made), "w", encoding="utf-8", newline="") as file,
        ):
            os.ftruncate(made, 0)
            table = csv.writer(file, lineterminator="\n")
            table.writerow(("source", "line", "reason"))
            table.writerows((source, line, reason.words) for source, line, reason in rejects)
        building.replace(path)
    except OSError as error:
        building.unlink(missing_ok=True)
        raise StandoutError(f"{path} cannot be written: {error.strerror}") from error
