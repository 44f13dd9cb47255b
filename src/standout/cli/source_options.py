"""Options that say how to read a source, shared by every command that reads one."""

import csv
import functools
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click
from click.core import ParameterSource

from standout.cli.console import VERBOSE_OPTION, print_line, print_warning, show_reading
from standout.cli.error_lines import as_options, naming_next_command, options_of_context
from standout.cli.option_groups import COLUMNS, FILES, ORIGINAL, PLACES, VALUES_AND_TIMES, grouped_option
from standout.cli.options import output_file
from standout.core.errors import ParameterError, RejectedRows, SourceError
from standout.core.files import check_csv_name
from standout.ingest.remote import public_url

if TYPE_CHECKING:
    from standout.core.progress import Progress
    from standout.data.labels import TimeUnit
    from standout.data.release import Release
    from standout.data.repeats import Repeats
    from standout.ingest.options import Options
    from standout.ingest.read import SourceReader
    from standout.ingest.rejects import RejectLog
    from standout.ingest.value_levels import ValueType

__all__ = [
    "RESOLUTIONS",
    "WARNING",
    "Command",
    "OriginalOptions",
    "SourceOptions",
    "original_options",
    "prefixed_source_options",
    "source_options",
    "text_options",
]

Command = Callable[..., None]
ClickParameters: TypeAlias = dict[str, Any]  # click passes keywords without types
column, place, refine, file = (
    functools.partial(grouped_option, group, show_default=True) for group in (COLUMNS, PLACES, VALUES_AND_TIMES, FILES)
)

GRID = place("--grid", metavar="DEGREES", help="Items are places: squares of a grid, such as 0.01 degrees.")
GEOHASH = place("--geohash", metavar="N", help="Items are places: geohashes of N letters, 1 to 12.")
TIME_BIN = refine(
    "--time-bin",
    metavar="WIDTH",
    help="Round times down to minute, hour, day, week or month, or to a width like 15min, 6h or 2d.",
)
RESOLUTIONS = (GRID, GEOHASH, TIME_BIN)
IGNORE = column(
    "--ignore",
    metavar="COLUMN",
    multiple=True,
    help="Column to leave out on purpose; repeat for several. It causes no warning, and no error with --fail-above.",
)
TEXT_FILES = [
    file("--separator", metavar="TEXT", help="Separator, one or more characters; \\t is a tab."),
    file("--header/--no-header", default=None, help="Whether the first line names the columns."),
    file("--quote", metavar="CHAR", default='"', help="Quote character, '' for none."),
    file("--encoding", metavar="NAME", default="utf-8", help="Text encoding."),
    file("--member", metavar="NAME", help="File to read from a zip archive."),
    file("--sql-table", metavar="NAME", help="Table to read from a SQLite or DuckDB file."),
    file(
        "--skip-lines",
        type=click.IntRange(min=0),
        metavar="N",
        default=0,
        help="Skip the first N lines of a text file.",
    ),
]
"""Options about text files, archives and databases."""
OPTIONS = [
    column("--record", metavar="COLUMN", help="Column of the record id: its name, or its number from 1."),
    column("--item", metavar="COLUMN", multiple=True, help="Column of the item; repeat to join several."),
    column("--value", metavar="COLUMN", help="Column of the value."),
    column("--no-value", is_flag=True, help="Ignore values."),
    column("--time", metavar="COLUMN", help="Column of the time."),
    column("--no-time", is_flag=True, help="Ignore times."),
    IGNORE,
    place("--latitude", metavar="COLUMN", help="Column of the latitude, with --grid or --geohash."),
    place("--longitude", metavar="COLUMN", help="Column of the longitude, with --grid or --geohash."),
    GRID,
    GEOHASH,
    column("--titles", metavar="FILE", help="Titles of the items: CSV, or a MovieLens or Netflix file."),
    column(
        "--record-from-name",
        metavar="REGEX",
        help="Each file is one record; its id is the first group of REGEX in the file's path.",
    ),
    refine(
        "--value-type",
        type=click.Choice(["auto", "number", "text"]),
        default="auto",
        help="Whether values are numbers or categories.",
    ),
    refine("--value-bin", type=float, metavar="WIDTH", help="Round numbers down to multiples of WIDTH."),
    refine(
        "--time-format",
        metavar="FORMAT",
        help="Format of times: s, ms, us or ns since 1970, iso, or a pattern like %d.%m.%Y.",
    ),
    refine(
        "--time-unit",
        type=click.Choice(["day", "hour", "minute"]),
        help="Resolution of times (default: day, or the unit of --time-bin).",
    ),
    TIME_BIN,
    refine(
        "--zone",
        metavar="NAME",
        default="UTC",
        help="Time zone to convert Unix times and times with a zone to. Other times are kept as written.",
    ),
    refine(
        "--repeats",
        type=click.Choice(["auto", "keep", "last", "first", "max", "error"]),
        default="auto",
        help="Entries to keep when a record has the same item several times: all (keep), one (by time and "
        "then row, or the largest value), or all if more than 1 % of the rows repeat, else the last (auto).",
    ),
    *TEXT_FILES,
    file(
        "--max-rejects",
        default="0",
        metavar="N|SHARE",
        help="Maximum number of unusable rows, or their share, like 5%.",
    ),
    file(
        "--rejects",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write source, line and reason of each unusable row to this CSV file.",
    ),
]


class SecondSourceOption(NamedTuple):
    """An option of the second source; its help names the source at {}."""

    help: str
    metavar: str | None = None
    multiple: bool = False
    is_flag: bool = False


SECOND_SOURCE_OPTIONS: dict[str, SecondSourceOption] = {
    "record": SecondSourceOption("Column of the record id in {}.", "COLUMN"),
    "item": SecondSourceOption("Column of the item in {}.", "COLUMN", multiple=True),
    "value": SecondSourceOption("Column of the value in {}.", "COLUMN"),
    "no-value": SecondSourceOption("Ignore the values of {}.", is_flag=True),
    "time": SecondSourceOption("Column of the time in {}.", "COLUMN"),
    "no-time": SecondSourceOption("Ignore the times of {}.", is_flag=True),
    "ignore": SecondSourceOption("Column of {} to leave out on purpose.", "COLUMN", multiple=True),
    "titles": SecondSourceOption("Titles of the items of {}.", "FILE"),
    "separator": SecondSourceOption("Separator of {}; \\t is a tab.", "TEXT"),
    "encoding": SecondSourceOption("Text encoding of {}.", "NAME"),
    "sql-table": SecondSourceOption("Table of {}, if it is a SQLite or DuckDB file.", "NAME"),
    "time-format": SecondSourceOption("Time format of {}.", "FORMAT"),
    "max-rejects": SecondSourceOption("Maximum number or share of unusable rows of {}.", "N|SHARE"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """How to read one source. `given` names the options that the user set, as they are typed."""

    record: str | None = None
    item: tuple[str, ...] = ()
    value: str | None = None
    no_value: bool = False
    time: str | None = None
    no_time: bool = False
    ignore: tuple[str, ...] = ()
    latitude: str | None = None
    longitude: str | None = None
    grid: str | None = None
    geohash: str | None = None
    separator: str | None = None
    header: bool | None = None
    quote: str = '"'
    encoding: str = "utf-8"
    member: str | None = None
    sql_table: str | None = None
    skip_lines: int = 0
    record_from_name: str | None = None
    value_type: "ValueType" = "auto"
    value_bin: float | None = None
    time_format: str | None = None
    time_unit: "TimeUnit | None" = None
    time_bin: str | None = None
    zone: str = "UTC"
    repeats: "Repeats" = "auto"
    max_rejects: str = "0"
    titles: str | None = None
    rejects: Path | None = None
    given: tuple[str, ...] = ()
    prefix: str = ""

    def read(self, sources: list[str], progress: "Progress", strict: bool = False, check: bool = True) -> "Release":
        """Read the sources, say how, and warn about overlooked columns; they are an error if `strict`.

        An index is checked for damage; without `check`, the caller does that before it shows anything.
        """
        release = self.open_or_read(sources, progress)
        if check:
            release.check()
        self.report(release, sources, strict)
        return release

    def report(self, release: "Release", sources: list[str], strict: bool) -> None:
        """Say how a source was read, and warn about overlooked columns; they are an error if `strict`."""
        from standout.ingest.diagnosis import Wording, reading_warnings, require_no_overlooked

        show_reading(release, sources)
        wording = Wording(options=True, prefix=self.prefix)
        if strict:
            require_no_overlooked(release.provenance, wording)
        for message in reading_warnings(release, wording):
            print_warning(message)

    def open_or_read(self, sources: list[str], progress: "Progress") -> "Release":
        """Read the sources, or open an index without loading the readers of raw files."""
        from standout.data.store import is_index, open_index
        from standout.ingest.diagnosis import waive_columns

        if len(sources) == 1 and is_index(Path(sources[0])):
            if given := [name for name in self.given if name != f"--{self.prefix}ignore"]:
                raise ParameterError(f"{sources[0]} is an index: {given[0]} is for reading a source")
            return waive_columns(open_index(sources[0]), self.ignore)
        with self.reader(sources, progress) as reader:
            try:
                return reader.read(sources, self.titles)
            finally:
                self.list_rejects(reader)

    @contextmanager
    def reader(self, sources: list[str], progress: "Progress") -> Iterator["SourceReader"]:
        """Yield a reader of sources; errors name the options of this source."""
        from standout.ingest.read import SourceReader

        self._check_rejects_path(sources)
        with naming_next_command(self.prefix), self._naming_options():
            yield SourceReader(replace(self.reader_options(), kind="history"), progress)

    def list_rejects(self, reader: "SourceReader") -> None:
        """Write the file of unusable rows, if the user wants one."""
        if self.rejects is not None and reader.rejects.rows:
            _write_rejects(reader.rejects, self.rejects)

    @contextmanager
    def _naming_options(self) -> Iterator[None]:
        """Name the options of this source in errors, and where unusable rows can be listed."""
        try:
            yield
        except SourceError as error:
            known = options_of_context()
            problem = as_options(error.problem, known, self.prefix)
            if isinstance(error, RejectedRows) and self.rejects is None and not self.prefix:
                problem += " List them all with --rejects FILE."
            raise type(error)(problem, error.next_steps) from error

    def arguments(self) -> list[str]:
        """Return the options that were given, as they are typed on a command line."""
        return [argument for field in fields(self) for argument in self._argument(field.name)]

    def _argument(self, name: str) -> Iterator[str]:
        value, typed = getattr(self, name), f"--{name.replace('_', '-')}"
        if name in ("given", "prefix", "rejects") or value == _DEFAULTS[name]:
            return
        if isinstance(value, bool):
            yield typed if value else typed.replace("--", "--no-")
            return
        for part in value if isinstance(value, tuple) else (value,):
            yield from (typed, str(part).replace("\t", "\\t"))

    def reader_options(self) -> "Options":
        """Return the options for the reader of sources."""
        from standout.ingest.options import Options

        return Options(
            record=self.record,
            item=self.item or None,
            value=False if self.no_value else self.value,
            time=False if self.no_time else self.time,
            ignore=self.ignore or None,
            latitude=self.latitude,
            longitude=self.longitude,
            grid=self.grid,
            geohash=self.geohash,
            separator=None if self.separator is None else self.separator.replace("\\t", "\t"),
            header=self.header,
            quote=self.quote,
            encoding=self.encoding,
            member=self.member,
            sql_table=self.sql_table,
            skip_lines=self.skip_lines,
            record_from_name=self.record_from_name,
            value_type=self.value_type,
            value_bin=self.value_bin,
            time_format=self.time_format,
            time_unit=self.time_unit,
            time_bin=self.time_bin,
            zone=self.zone,
            repeats=self.repeats,
            max_rejects=self.max_rejects,
        )

    def _check_rejects_path(self, sources: list[str]) -> None:
        path = self.rejects
        if path is None:
            return
        check_csv_name(path, "--rejects")
        output_file(path, "--rejects", sources)


_DEFAULTS = {field.name: field.default for field in fields(SourceOptions)}


def source_options(command: Command, without: Sequence[Any] = ()) -> Command:
    """Add the options to a command, which receives them as `source`; `without` leaves some out."""

    @functools.wraps(command)
    def run(**parameters: Any) -> None:
        command(source=_collect(parameters, list(_DEFAULTS), ""), **parameters)

    for add_option in reversed([*OPTIONS, VERBOSE_OPTION]):
        run = run if add_option in without else add_option(run)
    return run


def text_options(command: Command) -> Command:
    """Add the options about text files, archives, databases and ignored columns only."""
    return source_options(command, [add for add in OPTIONS if add not in (IGNORE, *TEXT_FILES)])


def prefixed_source_options(prefix: str, name: str, group: str, command: Command) -> Command:
    """Add --PREFIX-… options for a second source; the command receives them as `PREFIX_source`."""

    @functools.wraps(command)
    def run(**parameters: Any) -> None:
        names = [option.replace("-", "_") for option in SECOND_SOURCE_OPTIONS]
        second = _collect(parameters, names, f"{prefix}_")
        command(**{f"{prefix}_source": second}, **parameters)

    for option_name, option in reversed(SECOND_SOURCE_OPTIONS.items()):
        settings = option._replace(help=option.help.format(name))._asdict()
        run = grouped_option(group, f"--{prefix}-{option_name}", **settings)(run)
    return run


def _collect(parameters: ClickParameters, names: list[str], prefix: str) -> SourceOptions:
    """Take the options out of click's parameters; those that were not given keep their defaults."""
    context = click.get_current_context()
    values = {name: parameters.pop(prefix + name) for name in names if prefix + name in parameters}
    given = [name for name in values if context.get_parameter_source(prefix + name) is not ParameterSource.DEFAULT]
    typed = tuple(f"--{prefix}{name}".replace("_", "-") for name in given)
    settings = {name: values[name] for name in given}
    return SourceOptions(**settings, given=typed, prefix=prefix.replace("_", "-"))


def _write_rejects(rejects: "RejectLog", path: Path) -> None:
    """Write the list of rejected rows: where they are and why, never what they contain."""
    from standout.core.files import write_atomically

    def write(file: IO[bytes]) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        table = csv.writer(text, lineterminator="\n")
        table.writerow(("source", "line", "reason"))
        known = options_of_context()
        table.writerows((source, line, as_options(reason.description, known)) for source, line, reason in rejects)
        text.detach()

    write_atomically(path, write, private=True)


# Options for the original of a sanitized release, and reading both together.


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
        from standout.sanitizing.output_files import sidecar_path

        if self.data is None:
            given = ["--key"] if self.key is not None else self.source.given
            if given:
                raise ParameterError(f"{given[0]} needs --original, the data that {public_url(data)} was made from")
            if sidecar_path(Path(data)).is_file():
                print_line(WARNING.format(Path(public_url(data)).name), err=True)
            return source.read([data], progress, strict)
        if source.given:
            raise ParameterError(
                f"{source.given[0]} cannot be used with --original: {public_url(data)} is read as its sidecar file says"
            )
        from standout.ingest.diagnosis import Wording, require_no_overlooked
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
