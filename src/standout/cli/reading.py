"""How data is read: options for what people need most, and --read NAME=VALUE for everything else.

A command that reads data receives a `Source`. Its settings are parameters of `standout.read`, whatever the data:
a history, a table with one row per person, or both.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from standout.cli.console import print_line, print_warning, show_reading
from standout.cli.error_lines import (
    READ_SETTINGS,
    SHORTCUTS,
    SWITCHED_OFF,
    as_options,
    next_commands,
    options_of,
    typed_words,
)
from standout.cli.options import ORIGINAL, READING, command, data_argument, json_option, option, output_file, shared
from standout.core.errors import ColumnError, ParameterError, RejectedRows, SourceError, did_you_mean
from standout.core.files import check_csv_name
from standout.ingest.sources import public_url

if TYPE_CHECKING:
    from standout.core.progress import Progress
    from standout.data.release import Release
    from standout.ingest.read import SourceReader
    from standout.ingest.schema import Schema

SEVERAL = ("item", "ignore", "missing")
SWITCHES = {"yes": True, "true": True, "no": False, "false": False}
OF_TABLES = ("schema", "missing", "history")
"""Settings that only a table with one row per person has."""
OF_TABLE_FILE = (
    "record", "schema", "missing", "ignore", "separator", "header", "quote", "encoding", "member", "sql_table",
    "skip_lines"
)  # fmt: skip
"""Settings that are about the table if there is a history as well; the others are about the history."""
NOT_OPTIONS = ("history", "history_record", "titles", "rejects")
"""Settings that are not fields of the reader's options."""
SANITIZED = (
    "standout: warning: {} was sanitized, but --original is missing. Known facts are therefore taken from "
    "the sanitized data itself. This usually overstates how many people can be identified, and it ignores "
    "people who were removed."
)
READ_HELP = (
    "Any other parameter of so.read; repeat for several. Columns: ignore, latitude, longitude, grid, geohash, titles, "
    "record_from_name, kind. Values and times: value_type, value_bin, time_format, time_unit, time_bin, zone, repeats. "
    "Files: separator, header, quote, encoding, member, sql_table, skip_lines, missing, max_rejects, rejects. "
    "Of a table: history=FILE adds entries of its people, history_record=COLUMN. See docs/reading.md."
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
    parsers: dict[str, Callable[[str], Any]] = {
        "header": lambda word: SWITCHES[word.lower()],
        "separator": lambda word: word.replace("\\t", "\t"),
        "skip_lines": int,
        "value_bin": float,
    }
    if name in SWITCHED_OFF and value == "none":
        return name, False
    try:
        return name, parsers.get(name, str)(value)
    except (ValueError, KeyError):
        raise ParameterError(f"--read {written}=… cannot have the value {value!r:.100}") from None


def _collected(texts: Sequence[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}  # the last of two equal settings counts
    for name, value in map(read_setting, texts):
        settings[name] = (*settings.get(name, ()), value) if name in SEVERAL else value
    return settings


@dataclass(frozen=True, slots=True)
class Source:
    """How to read one source: parameters of `standout.read`; the options of a second source have a prefix."""

    settings: dict[str, Any]
    prefix: str = ""

    def with_settings(self, **settings: Any) -> "Source":
        """The same source with other settings."""
        return Source(self.settings | settings, self.prefix)

    def arguments(self) -> list[str]:
        """The options that were given, as the words of a command line."""
        known = [f"--{self.prefix}read", *(f"--{name}" for name in SHORTCUTS)]
        words: list[str] = []
        for name, value in self.settings.items():
            for part in value if isinstance(value, tuple) else (value,):
                text = part.replace("\t", "\\t") if isinstance(part, str) else part
                is_table = (name, value) == ("kind", "table")
                words += ["--table"] if is_table else typed_words(name, text, known, self.prefix)
        return words

    def read(
        self, sources: list[str], progress: "Progress", strict: bool = False, check: bool = True, purpose: str = ""
    ) -> "Release":
        """Read the data, say how, and warn about what may be wrong; it is an error if `strict`.

        An index is checked for damage; without `check`, the caller does that before it shows anything. A purpose
        needs entries: a table without a history is then refused in one sentence.
        """
        from standout.data.store import is_index

        if len(sources) == 1 and is_index(Path(sources[0])):
            release = self.open_index(Path(sources[0]))
            if check:
                release.check()
            self.report(release, sources, strict)
        else:
            release, _ = self.read_with_schema(sources, progress, strict)
        if purpose and not release.n_items:
            needs = "needs entries (who, what, when), and the data is a table with one row per person"
            raise ParameterError(f"{purpose} {needs}")
        return release

    def open_index(self, path: Path) -> "Release":
        """Open an index without loading the readers of raw files."""
        from standout.data.store import open_index
        from standout.ingest.report import waive_columns

        if others := [name for name in self.settings if name != "ignore"]:
            is_option = others[0] in SHORTCUTS and not self.prefix
            typed = f"--{others[0]}" if is_option else f"--{self.prefix}read {others[0]}"
            raise ParameterError(f"{path} is an index: {typed} is for reading a source")
        return waive_columns(open_index(path), self.settings.get("ignore", ()))

    def read_with_schema(
        self, sources: list[str], progress: "Progress", strict: bool = False
    ) -> tuple["Release", "Schema | None"]:
        """Read the data; also return a schema that reads a table in the same way."""
        history, of_history = self.settings.get("history"), None
        if history is not None:
            others = {*OF_TABLE_FILE, *NOT_OPTIONS, "kind"}
            of_history = {name: value for name, value in self.settings.items() if name not in others}
            names = {"history_record": "record", "titles": "titles"}
            of_history |= {new: self.settings[name] for name, new in names.items() if name in self.settings}
        titles = self.settings.get("titles") if history is None else None
        with self.reader(sources, progress) as reader:
            try:
                release = reader.read(sources, titles, history, of_history)
            finally:
                self.write_rejects(reader)
        if reader.table is None:
            self.report(release, sources, strict)
            return release, None
        if reader.table.reason and "kind" not in self.settings:
            print_line(f"standout: read as a table with one row per person: {reader.table.reason} (--table)", err=True)
        show_reading(release, sources)
        if strict:  # the risk may be understated while a column is not what its owner means
            from standout.ingest.tables import NOT_IN_SCHEMA

            if lacking := release.provenance.settings.get(NOT_IN_SCHEMA):
                raise ColumnError(
                    f"the threshold cannot be checked while the schema lacks columns: {lacking}. Add a section for "
                    "each of them, with ignore = true for those that are not published"
                )
            if refusals := [doubt.text for doubt in reader.table.doubts if doubt.blocks]:
                raise ColumnError(
                    f"the threshold cannot be checked: {refusals[0]}. Say what the column is in a schema (--schema), "
                    "or leave it out with --read ignore=COLUMN"
                )
        for message in reader.messages(release):
            print_warning(as_options(message, options_of(), self.prefix))
        return release, reader.table.schema_read

    def report(self, release: "Release", sources: list[str], strict: bool = False) -> None:
        """Say how entries were read, and warn about overlooked columns; they are an error if `strict`."""
        from standout.ingest.report import reading_warnings, require_no_overlooked

        show_reading(release, sources)
        if strict:
            require_no_overlooked(release.provenance)
        for message in reading_warnings(release):
            print_warning(as_options(message, options_of(), self.prefix))

    @contextmanager
    def reader(self, sources: list[str], progress: "Progress", **settings: Any) -> Iterator["SourceReader"]:
        """Yield a reader; errors name the options of this source, and where unusable rows can be listed."""
        from standout.ingest.formats import Options
        from standout.ingest.read import SourceReader, as_schema

        if (path := self.settings.get("rejects")) is not None:
            check_csv_name(Path(path), "--read rejects")
            output_file(Path(path), "--read rejects", sources)
        own = OF_TABLE_FILE if "history" in self.settings else READ_SETTINGS
        chosen = {name: value for name, value in self.settings.items() if name in own and name not in NOT_OPTIONS}
        if any(name in self.settings for name in OF_TABLES):
            chosen["kind"] = "table"
        try:
            if "schema" in chosen:
                chosen["schema"] = as_schema(chosen["schema"])
            if "missing" in chosen:
                chosen["missing"] = tuple(dict.fromkeys(chosen["missing"]))
            yield SourceReader(Options(**chosen | settings), progress)
        except SourceError as error:
            problem = as_options(next_commands(error, self.prefix), options_of(), self.prefix)
            if isinstance(error, RejectedRows) and path is None and not self.prefix:
                problem += " List them all with --read rejects=FILE."
            raise type(error)(problem) from error

    def write_rejects(self, reader: "SourceReader") -> None:
        """Write the file of unusable rows, if the user wants one: where they are and why, never their content."""
        from standout.core.files import write_atomically

        def write(file: IO[bytes]) -> None:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
            table, known = csv.writer(text, lineterminator="\n"), options_of()
            table.writerow(("source", "line", "reason"))
            rows = ((source, line, as_options(reason.description, known)) for source, line, reason in reader.rejects)
            table.writerows(rows)
            text.detach()

        if (path := self.settings.get("rejects")) is not None and reader.rejects.rows:
            write_atomically(Path(path), write, private=True)


def _convert(parameters: dict[str, Any]) -> None:
    given = [f"item={value}" for value in parameters.pop("item")]
    typed = {name: parameters.pop(name) for name in SHORTCUTS if name != "item"}
    given += [f"{name}={value}" for name, value in typed.items() if value is not None]
    kind = ["kind=table"] if parameters.pop("table") else []
    parameters["source"] = Source(_collected([*given, *parameters.pop("read"), *kind]))


reading_options = shared(
    _convert,
    option("--record", "COLUMN", "Column of the record id: its name, or its number from 1.", READING),
    option("--item", "COLUMN", "Column of the item; repeat to join several.", READING, multiple=True),
    option("--value", "COLUMN|none", "Column of the value; none: ignore values.", READING),
    option("--time", "COLUMN|none", "Column of the time; none: ignore times.", READING),
    option("--table", "", "DATA is a table: one row per person, not one per entry.", READING),
    option("--schema", "FILE", "Schema of a table: a TOML file that `standout schema` writes.", READING),
    option("--read read", "NAME=VALUE", READ_HELP, READING, multiple=True),
)
"""How to read DATA; a command receives it as `source`."""


def data_command(function: Callable[..., Any]) -> click.Command:
    """Make a command that reads DATA: it receives `data`, `source` and `as_json`; its own options come first."""
    made: click.Command = command()(data_argument(reading_options(json_option(function))))
    made.params.sort(key=lambda each: each.name == "as_json" or getattr(each, "group", "") == READING)
    return made


def _convert_public(parameters: dict[str, Any]) -> None:
    parameters["public_source"] = Source(_collected(parameters.pop("public_read")), "public-")


PUBLIC_HELP = "How to read PUBLIC: record=COLUMN, item=COLUMN and all that --read takes."
public_option = shared(_convert_public, option("--public-read", "NAME=VALUE", PUBLIC_HELP, READING, multiple=True))
"""How to read a second source; a command receives it as `public_source`."""


@dataclass(frozen=True, slots=True)
class Original:
    """The data that DATA was made from, if given, and its key file."""

    data: str | None
    key: Path | None

    def read(self, data: str, source: Source, progress: "Progress", strict: bool = False) -> "Release":
        """Read DATA; with its original, `source` is about the original, and DATA is read as its sidecar says."""
        from standout.know.sanitized import sidecar_path

        if self.data is None:
            if self.key is not None:
                raise ParameterError(f"--key needs --original, the data that {public_url(data)} was made from")
            if sidecar_path(Path(data)).is_file():
                print_line(SANITIZED.format(Path(public_url(data)).name), err=True)
            return source.read([data], progress, strict)
        from standout.ingest.report import require_no_overlooked
        from standout.sanitizing.files import open_sanitized

        before = source.read([self.data], progress, strict)
        sanitized = open_sanitized(data, before, self.key, progress)
        if not sanitized.columns:
            show_reading(sanitized, [data])
            if strict:
                require_no_overlooked(sanitized.provenance)
        return sanitized


def _convert_original(parameters: dict[str, Any]) -> None:
    parameters["original"] = Original(parameters["original"], parameters.pop("key"))


ORIGINAL_HELP = (
    "Data that `standout sanitize` made DATA from. Known facts are taken from it, and --record, --read … say how."
)
KEY_HELP = "Its key file. Needed for a table, if ids are new, or if one record represents several people."
original_options = shared(
    _convert_original, option("--original", "IN", ORIGINAL_HELP, ORIGINAL), option("--key", "FILE", KEY_HELP, ORIGINAL)
)
"""The data that DATA was made from; a command receives it as `original`."""
