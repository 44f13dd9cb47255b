"""How data is read: options for what people need most, and --read NAME=VALUE for everything else.

A command that reads data receives a `Source`. Its settings are parameters of `standout.read`, whatever the data:
a history, a table with one row per person, or both.
"""

import csv
import functools
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from standout.cli.console import VERBOSE_OPTION, print_line, print_warning, show_reading, show_table
from standout.cli.error_lines import READ_SETTINGS, as_options, naming_next_command, options_of_context
from standout.cli.option_groups import ORIGINAL, READING, option
from standout.cli.options import output_file
from standout.core.errors import ColumnError, ParameterError, RejectedRows, SourceError, did_you_mean
from standout.core.files import check_csv_name
from standout.ingest.remote import public_url

if TYPE_CHECKING:
    from standout.core.progress import Progress
    from standout.data.release import Release
    from standout.ingest.options import Options
    from standout.ingest.read import SourceReader
    from standout.ingest.rejects import RejectLog
    from standout.ingest.schema import Schema

__all__ = [
    "SANITIZED",
    "Command",
    "Original",
    "Source",
    "original_options",
    "read_setting",
    "reading_options",
    "second_source",
]

Command = Callable[..., None]
SHORTCUTS = ("record", "item", "value", "time", "ignore", "id", "schema", "history")
"""Settings with an option of their own; the others are given with --read."""
SEVERAL = ("item", "ignore", "missing")
SWITCHES = {"yes": True, "true": True, "no": False, "false": False}
OF_TABLES = ("table", "schema", "id", "history", "missing")
"""Settings that only a table with one row per person has."""
OF_FILES = ("separator", "header", "quote", "encoding", "member", "sql_table", "skip_lines")
"""Settings about files: of the table, if there is one."""
NOT_OPTIONS = ("table", "id", "history", "schema", "titles", "rejects")
"""Settings that are not fields of the reader's options under the same name."""
SANITIZED = (
    "standout: warning: {} was sanitized, but --original is missing. Known facts are therefore taken from "
    "the sanitized data itself. This usually overstates how many people can be identified, and it ignores "
    "people who were removed."
)


def read_setting(text: str) -> tuple[str, Any]:
    """A setting of --read, NAME=VALUE, as a parameter of `standout.read`.

    >>> read_setting("skip_lines=2"), read_setting("value=none"), read_setting("header=no")
    (('skip_lines', 2), ('value', False), ('header', False))
    """
    written, sign, value = text.partition("=")
    name = written.strip().replace("-", "_")
    if not sign or name not in READ_SETTINGS:
        near = did_you_mean(name, READ_SETTINGS) if sign else ""
        raise ParameterError(f"--read takes NAME=VALUE, such as time_unit=hour, got {text!r}{near}")

    try:
        return name, _parsed(name, value)
    except (ValueError, KeyError):
        raise ParameterError(f"--read {written}=… cannot have the value {value!r:.100}") from None


def _parsed(name: str, value: str) -> Any:
    if name in ("value", "time", "id") and value == "none":
        return False
    if name in ("header", "table"):
        return SWITCHES[value.lower()]
    if name == "separator":
        return value.replace("\\t", "\t")
    return int(value) if name == "skip_lines" else float(value) if name == "value_bin" else value


@dataclass(frozen=True, slots=True)
class Source:
    """How to read one source: parameters of `standout.read`; the options of a second source have a prefix."""

    settings: dict[str, Any]
    prefix: str = ""

    @property
    def given(self) -> list[str]:
        """The options that the user set, as they are typed."""
        return [self._typed(name) for name in self.settings]

    def _typed(self, name: str) -> str:
        own = name in (*SHORTCUTS, "table") and not self.prefix
        return f"--{name}" if own else f"--{self.prefix}read {name}"

    def with_settings(self, **settings: Any) -> "Source":
        """The same source with other settings."""
        return Source(self.settings | settings, self.prefix)

    def arguments(self) -> list[str]:
        """The options that were given, as the words of a command line."""
        words: list[str] = []
        for name, value in self.settings.items():
            for part in value if isinstance(value, tuple) else (value,):
                text = {True: "yes", False: "none" if name in ("value", "time", "id") else "no"}.get(part, str(part))
                option, _, setting = self._typed(name).partition(" ")
                text = text.replace("\t", "\\t")
                words += [option] if name == "table" else [option, f"{setting}={text}" if setting else text]
        return words

    def read_entries(self, sources: list[str], progress: "Progress", purpose: str) -> "Release":
        """Read data for a purpose that needs entries; a table without a history is refused in one sentence."""
        release = self.read(sources, progress)
        if not release.n_items:
            raise ParameterError(
                f"{purpose} needs entries (who, what, when), and the data is a table with one row per person"
            )
        return release

    def read(self, sources: list[str], progress: "Progress", strict: bool = False, check: bool = True) -> "Release":
        """Read the data, say how, and warn about what may be wrong; it is an error if `strict`.

        An index is checked for damage; without `check`, the caller does that before it shows anything.
        """
        from standout.data.store import is_index

        if len(sources) == 1 and is_index(Path(sources[0])):
            release = self.open_index(Path(sources[0]))
            if check:
                release.check()
            self.report(release, sources, strict)
            return release
        return self.read_with_schema(sources, progress, strict)[0]

    def open_index(self, path: Path) -> "Release":
        """Open an index without loading the readers of raw files."""
        from standout.data.store import open_index
        from standout.ingest.diagnosis import waive_columns

        if others := [self._typed(name) for name in self.settings if name != "ignore"]:
            raise ParameterError(f"{path} is an index: {others[0]} is for reading a source")
        return waive_columns(open_index(path), self.settings.get("ignore", ()))

    def read_with_schema(
        self, sources: list[str], progress: "Progress", strict: bool = False
    ) -> tuple["Release", "Schema | None"]:
        """Read the data; also return a schema that reads a table in the same way."""
        from standout.ingest.diagnosis import Wording

        history = self.settings.get("history")
        not_entries = (*OF_TABLES, *OF_FILES, "ignore", "rejects")
        of_history = None if history is None else self._settings(lambda name: name not in not_entries)
        titles = self.settings.get("titles") if history is None else None
        with self.reader(sources, progress) as reader:
            try:
                release = reader.read(sources, titles, history, of_history)
            finally:
                self.list_rejects(reader)
        if reader.table is None:
            self.report(release, sources, strict)
            return release, None
        if reader.reason and "table" not in self.settings:
            print_line(f"standout: read as a table with one row per person: {reader.reason} (--table)", err=True)
        show_table(release, sources)
        if strict:
            _require_certain_columns(release, reader.table.refusals)
        for message in reader.messages(release, Wording(options=True, prefix=self.prefix)):
            print_warning(message)
        return release, reader.table.schema_read

    def report(self, release: "Release", sources: list[str], strict: bool = False) -> None:
        """Say how entries were read, and warn about overlooked columns; they are an error if `strict`."""
        from standout.ingest.diagnosis import Wording, reading_warnings, require_no_overlooked

        show_reading(release, sources)
        wording = Wording(options=True, prefix=self.prefix)
        if strict:
            require_no_overlooked(release.provenance, wording)
        for message in reading_warnings(release, wording):
            print_warning(message)

    @contextmanager
    def reader(self, sources: list[str], progress: "Progress", **settings: Any) -> Iterator["SourceReader"]:
        """Yield a reader; errors name the options of this source."""
        from standout.ingest.read import SourceReader

        if (path := self.settings.get("rejects")) is not None:
            check_csv_name(Path(path), "--read rejects")
            output_file(Path(path), "--read rejects", sources)
        with naming_next_command(self.prefix), self._naming_options():
            yield SourceReader(self._options(**settings), progress)

    def _options(self, **settings: Any) -> "Options":
        """The options of the reader; of the table, if there is a history as well."""
        from standout.ingest.options import Options
        from standout.ingest.read import as_schema

        has_history = "history" in self.settings
        own = (*OF_TABLES, *OF_FILES, "ignore") if has_history else READ_SETTINGS
        chosen = self._settings(lambda name: name in own and name not in NOT_OPTIONS)
        if "id" in self.settings:
            chosen["record"] = self.settings["id"]
        if has_history or any(name in self.settings for name in OF_TABLES):
            chosen["kind"] = "table"
        if "schema" in self.settings:
            chosen["schema"] = as_schema(self.settings["schema"])
        if "missing" in chosen:
            chosen["missing"] = tuple(dict.fromkeys(chosen["missing"]))
        return Options(**chosen | settings)

    def _settings(self, wanted: Callable[[str], bool]) -> dict[str, Any]:
        return {name: value for name, value in self.settings.items() if wanted(name)}

    def list_rejects(self, reader: "SourceReader") -> None:
        """Write the file of unusable rows, if the user wants one."""
        if (path := self.settings.get("rejects")) is not None and reader.rejects.rows:
            _write_rejects(reader.rejects, Path(path))

    @contextmanager
    def _naming_options(self) -> Iterator[None]:
        """Name the options of this source in errors, and where unusable rows can be listed."""
        try:
            yield
        except SourceError as error:
            problem = as_options(error.problem, options_of_context(), self.prefix)
            if isinstance(error, RejectedRows) and "rejects" not in self.settings and not self.prefix:
                problem += " List them all with --read rejects=FILE."
            raise type(error)(problem, error.next_steps) from error


def _require_certain_columns(table: "Release", refusals: Sequence[str]) -> None:
    """A limit must not be checked while a column is not what its owner means, or the risk may be understated."""
    from standout.ingest.tables import NOT_IN_SCHEMA

    if lacking := table.provenance.settings.get(NOT_IN_SCHEMA):
        raise ColumnError(
            f"the threshold cannot be checked while the schema lacks columns: {lacking}. Add a section for "
            "each of them, with ignore = true for those that are not published"
        )
    if refusals:
        raise ColumnError(
            f"the threshold cannot be checked: {refusals[0]}. Say what the column is in a schema (--schema), "
            "or leave it out with --ignore"
        )


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


READ_HELP = (
    "Any other parameter of so.read; repeat for several. Columns: latitude, longitude, grid, geohash, titles, "
    "record_from_name, kind. Values and times: value_type, value_bin, time_format, time_unit, time_bin, zone, repeats. "
    "Files: separator, header, quote, encoding, member, sql_table, skip_lines, missing, max_rejects, rejects. "
    "See docs/reading.md."
)
OPTIONS = [
    option("--record", "COLUMN", "Column of the record id: its name, or its number from 1.", group=READING),
    option("--item", "COLUMN", "Column of the item; repeat to join several.", group=READING, multiple=True),
    option("--value", "COLUMN|none", "Column of the value; none: ignore values.", group=READING),
    option("--time", "COLUMN|none", "Column of the time; none: ignore times.", group=READING),
    option("--table", "", "DATA is a table: one row per person, not one per entry.", group=READING, is_flag=True),
    option("--id", "COLUMN|none", "Column of a table with the ids of its rows.", group=READING),
    option("--schema", "FILE", "Schema of a table: a TOML file that `standout schema` writes.", group=READING),
    option(
        "--history",
        "FILE",
        "Entries of the people of a table, such as ratings; --record, --item, … then describe this file.",
        group=READING,
    ),
    option(
        "--ignore",
        "COLUMN",
        "Column to leave out on purpose; repeat for several. It causes no warning and does not block a gate.",
        group=READING,
        multiple=True,
    ),
    option("--read read", "NAME=VALUE", READ_HELP, group=READING, multiple=True),
]


def reading_options(command: Command) -> Command:
    """Add the options to a command, which receives them as `source`."""

    @functools.wraps(command)
    def run(**parameters: Any) -> None:
        table, read = parameters.pop("table"), parameters.pop("read")
        typed = {name: parameters.pop(name) for name in SHORTCUTS}
        given = [f"{name}={value}" for name, value in typed.items() if isinstance(value, str)]
        given += [f"{name}={value}" for name, values in typed.items() if isinstance(values, tuple) for value in values]
        settings = _collected([*given, *read]) | ({"table": True} if table else {})
        command(source=Source(settings), **parameters)

    for add_option in reversed([*OPTIONS, VERBOSE_OPTION]):
        run = add_option(run)
    return run


def _collected(texts: Sequence[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}  # the last of two equal settings counts
    for name, value in map(read_setting, texts):
        settings[name] = (*settings.get(name, ()), value) if name in SEVERAL else value
    return settings


def second_source(prefix: str, data: str, group: str) -> Callable[[Command], Command]:
    """Add --PREFIX-read for a second source; the command receives it as `PREFIX_source`."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(**parameters: Any) -> None:
            settings = _collected(parameters.pop(f"{prefix}_read"))
            command(**{f"{prefix}_source": Source(settings, f"{prefix}-")}, **parameters)

        help_text = f"How to read {data}: record=COLUMN, item=COLUMN and all that --read takes."
        return option(f"--{prefix}-read", "NAME=VALUE", help_text, group=group, multiple=True)(run)

    return decorate


@dataclass(frozen=True, slots=True)
class Original:
    """The data that DATA was made from, if given: its source, its key file, and how to read it."""

    data: str | None
    key: Path | None
    source: Source

    def read(self, data: str, source: Source, progress: "Progress", strict: bool = False) -> "Release":
        """Read DATA with its original; warn if DATA was sanitized and no original is given."""
        from standout.sanitizing.output_files import sidecar_path

        if self.data is None:
            given = ["--key"] if self.key is not None else self.source.given
            if given:
                raise ParameterError(f"{given[0]} needs --original, the data that {public_url(data)} was made from")
            if sidecar_path(Path(data)).is_file():
                print_line(SANITIZED.format(Path(public_url(data)).name), err=True)
            return source.read([data], progress, strict)
        of_original = {name: value for name, value in source.settings.items() if name in OF_TABLES}
        if others := [name for name in source.settings if name not in of_original]:
            raise ParameterError(
                f"{source._typed(others[0])} cannot be used with --original: "
                f"{public_url(data)} is read as its sidecar file says"
            )
        from standout.ingest.diagnosis import Wording, require_no_overlooked
        from standout.sanitizing.open_sanitized import open_sanitized

        before = self.source.with_settings(**of_original).read([self.data], progress, strict)
        sanitized = open_sanitized(data, before, self.key, progress)
        if not sanitized.columns:
            show_reading(sanitized, [data])
            if strict:
                require_no_overlooked(sanitized.provenance, Wording(options=True))
        return sanitized


def original_options(command: Command) -> Command:
    """Add --original, --key and --original-read; the command receives them as `original`."""

    @functools.wraps(command)
    def run(original: str | None, key: Path | None, original_source: Source, **others: Any) -> None:
        command(original=Original(original, key, original_source), **others)

    decorated = second_source("original", "the original", ORIGINAL)(run)
    decorated = option(
        "--key",
        "FILE",
        "Key file written by `standout sanitize --key`. Needed for a table, if ids are new, or if one record "
        "represents several people.",
        group=ORIGINAL,
        type=click.Path(path_type=Path),
    )(decorated)
    return option(
        "--original",
        "IN",
        "Data that `standout sanitize` made DATA from. Known facts are taken from it.",
        group=ORIGINAL,
    )(decorated)
