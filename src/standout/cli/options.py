"""The options of the commands: their headings in the help, those that several commands share, and their values."""

import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

import click

from standout.cli.error_lines import as_options, option_names, options_of, with_option_name
from standout.core.errors import ParameterError, StandoutError
from standout.core.files import check_output_file, check_output_files, make_folder

OPTIONS = "Options"
ADVERSARY = "What the adversary knows"
ATTACK = "Attack and claims"
GATE = "Checking a limit"
ALIGNMENT = "How PUBLIC and DATA are aligned"
SERVER = "Server"
ORIGINAL = "The original of a sanitized release"
READING = "Reading the data"
GENERAL = "General options"
"""Heading of what many commands share; always the last one."""
MOST_COLUMNS = 30
"""Widest column of option names; a longer name has its help on the next line."""
MOST_DIGITS, MOST_WORKERS = 18, 1024
TABLE_SUFFIXES = (".csv", ".parquet", ".json")
PATH = click.Path(path_type=Path)
DATA = click.Path(readable=False)
"""A text, because it may also be a URL; shells complete names of files."""
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
COUNT, SHARES = click.IntRange(1), click.FloatRange(0, 1)
INSECURE = "insecure+"
CONVERSIONS = "conversions"
"""Where the function of a command keeps how its options become what it receives."""
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Parsed(click.ParamType[Any]):
    """What a function makes of a text; its error is a line about the option."""

    def __init__(self, parse: Callable[[str], Any], form: str) -> None:
        self.name, self.parse, self.form = parse.__name__, parse, form

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value of a text; a default may be a value already."""
        try:
            return self.parse(value) if isinstance(value, str) else value
        except ValueError:
            assert param is not None
            raise ParameterError(f"{max(param.opts, key=len)} must be {self.form}, got {value!r}") from None


def _number_or_none(text: str) -> float | None:
    return None if text.lower() == "none" else float(text)


def _counts(text: str) -> list[int]:
    ends = re.fullmatch(r"(\d{1,6})-(\d{1,6})", text.strip())
    return list(range(int(ends[1]), int(ends[2]) + 1) if ends else map(int, text.split(",")))


def _number_or_all(text: str) -> int | str:
    if text != "all" and not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
        raise ValueError
    return text if text == "all" else int(text)


TYPES: dict[str, Any] = {"N": COUNT, **dict.fromkeys(("SHARE", "FLOAT", "E", "DAYS", "X"), float)}
TYPES |= dict.fromkeys(("FILE", "FOLDER", "FOLDER|FILE", "PATH", "OUT"), PATH)
TYPES |= dict.fromkeys(("E|none", "DAYS|none"), Parsed(_number_or_none, "a number or none"))
TYPES |= dict.fromkeys(("N,…", "K,…"), Parsed(_counts, "like 4, 2,4,8 or 2-10"))
TYPES |= {"N|all": Parsed(_number_or_all, f"a whole number of at most {MOST_DIGITS} digits or all")}
"""Types of what an option takes."""


class GroupedOption(click.Option):
    """An option under a heading of the help."""

    def __init__(self, *names: Any, group: str = OPTIONS, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.group = group


class GroupedCommand(click.Command):
    """A command that receives what its options mean, and whose errors name them.

    Its help shows options by heading: its own first, those of many commands last.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, with workers if they are wanted."""
        workers = ctx.params.pop("workers", None)
        try:
            with nullcontext() if workers is None else _workers(workers, ctx.params):
                for convert in getattr(self.callback, CONVERSIONS, ()):
                    convert(ctx.params)
                return super().invoke(ctx)
        except KeyboardInterrupt as error:  # click would print an empty line
            raise click.Abort from error
        except EOFError as error:  # click would take it for Ctrl-D
            raise StandoutError("a file ends too early: check that it is complete") from error
        except StandoutError as error:
            named = with_option_name(error, option_names(self)) if isinstance(error, ParameterError) else error
            named.args = (as_options(str(named), options_of(self)), *named.args[1:])
            raise named from error.__cause__ if named is error else error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by heading, with one width for all names, so that the texts are below one another."""
        groups: dict[str, list[tuple[str, str]]] = {OPTIONS: []}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None and row[1]:  # an argument without a text of its own is in the description
                heading = GENERAL if "--help" in parameter.opts else getattr(parameter, "group", OPTIONS)
                groups.setdefault(heading, []).append(row)
        groups[GENERAL] = groups.pop(GENERAL)
        width = min(max(len(name) for rows in groups.values() for name, _ in rows), MOST_COLUMNS)
        for heading, rows in groups.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl([(name.ljust(width), text) for name, text in rows], col_max=MOST_COLUMNS)


def option(
    names: str, metavar: str, text: str, group: str = OPTIONS, **settings: Any
) -> Callable[[Decorated], Decorated]:
    """`click.option` for an option under a heading: its names, what it takes ("" for a flag), and its help.

    What it takes says its type, unless a type or a number as the default does; words like a|b are choices.
    """
    if "|" in metavar and metavar.islower():
        metavar, settings["type"] = "", click.Choice(metavar.split("|"))
    elif "type" not in settings and isinstance(settings.get("default", ""), str):
        settings |= {"type": TYPES[metavar]} if metavar in TYPES else {} if metavar else {"is_flag": True}
    settings.setdefault("show_default", settings.get("default") not in (None, "", ()))
    named: dict[str, Any] = {"cls": GroupedOption, "group": group, "metavar": metavar or None, "help": text}
    return click.option(*names.split(" "), **named, **settings)


def shared(
    convert: Callable[[dict[str, Any]], None] | None, *options: Callable[[Decorated], Decorated]
) -> Callable[[Decorated], Decorated]:
    """Options that several commands share, in the order of the help; `convert` changes what a command receives."""

    def decorate(command: Decorated) -> Decorated:
        if convert is not None:
            command.__dict__.setdefault(CONVERSIONS, []).insert(0, convert)
        for add_option in reversed(options):
            command = add_option(command)
        return command

    return decorate


data_argument = click.argument("data", type=DATA)
json_option = option("--json as_json", "", "Print JSON instead of text (see docs/json.md).", GENERAL)
threads_option = option("--threads", "N", "Number of threads.", GENERAL, show_default="all cores")
seed_option = option("--seed", "N", "Random seed; the same seed gives the same numbers.", GENERAL, default=0)
quick_option = option("--quick", "", "Fewer targets and shorter curves; wider intervals.")
MEMORY_HELP = "Memory that building an index may use, like 500MB, 4GB or 2GiB. All ids are held in memory."
memory_option = option("--memory", "SIZE", MEMORY_HELP, show_default="60 % of what is available")
BUDGET_HELP = "False claim budget: largest share of absent people who may be claimed."
budget_option = option("--budget", "SHARE", BUDGET_HELP, ATTACK, default=0.01)
population_option = option("--population", "N", "Size of the population, if a table is a sample of it.", ADVERSARY)
LADDER_HELP = (
    "TOML file with your own adversaries (see docs/ladder.toml). "
    'Errors are numbers or shares of the data, such as "33 %".'
)
BUILT_IN = "the built-in ladder, whose errors fit the data"
ladder_option = option("--ladder", "FILE", LADDER_HELP, ADVERSARY, type=FILE, show_default=BUILT_IN)
WORKERS_HELP = (
    "Number of worker processes on this machine, or a Dask scheduler such as tls://host:8786. They open an index, or "
    "read the files for one (see docs/lab/scale.md)."
)
workers_option = option("--workers", "N|ADDRESS", WORKERS_HELP, GENERAL, show_default="threads of one process")
worker_options = shared(None, threads_option, workers_option)


command = functools.partial(click.command, cls=GroupedCommand)


# Folders and files that a command writes, tried before the long work.


def output_file(path: Path, option: str, inputs: Iterable[str | Path | None] = ()) -> Path:
    """Return the path of an output file; raises an error if it cannot be written or is an input."""
    for source in (each for each in inputs if each is not None):
        is_input = False
        with suppress(OSError, ValueError):  # one of them does not exist, or its name is impossible
            is_input = path.samefile(source)
        if is_input:
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


def _check_table(parameters: dict[str, Any]) -> None:
    """Reject an output table that cannot be written or is an input, before any work is done."""
    if (path := parameters["output"]) is not None:
        if path.suffix not in TABLE_SUFFIXES:
            raise ParameterError(f"--output must end in {', '.join(TABLE_SUFFIXES)}, got {path.name!r}")
        output_file(path, "--output", [parameters["data"]])


TABLE_HELP = "Also write the table to NAME.csv, NAME.parquet or NAME.json."
table_option = shared(_check_table, option("-o --output", "FILE", TABLE_HELP))


def data_stem(data: str) -> str:
    """Return the name of a source without folder and suffixes, for default output names."""
    return Path(data.rstrip("/")).name.split(".")[0] or "data"


# Workers: processes of this machine, or a Dask cluster.


@contextmanager
def _workers(text: str, parameters: dict[str, Any]) -> Iterator[None]:
    from standout.data.store import is_index

    for name, words in (("original", "--original"), ("grids", "places"), ("geohashes", "places")):
        if parameters.get(name):
            raise ParameterError(f"--workers cannot be used with {words}: use --threads")
    data = parameters.get("data")
    is_count = text.isascii() and text.isdecimal()
    if is_count and not 1 <= int(text[:9]) <= MOST_WORKERS:
        raise ParameterError(f"--workers must be from 1 to {MOST_WORKERS}, or an address such as tls://host:8786")
    if data is not None and not is_index(Path(data)):
        raise ParameterError(
            "--workers needs an index, which all workers open: run standout index DATA -o NAME.index first, "
            "then use NAME.index"
        )
    from standout.cluster.workers import check_address, import_distributed, local_workers, scheduler_workers, use_lazily

    debug, insecure = "--debug" in sys.argv[1:], text.startswith(INSECURE)
    address = text.removeprefix(INSECURE)
    if not is_count:
        try:
            check_address("--workers", address, insecure)
        except ParameterError as error:
            allowed = f"write {INSECURE}{address}"
            raise ParameterError(str(error).replace("add insecure=True", allowed)) from None
    import_distributed()
    pool = local_workers(int(text), debug) if is_count else scheduler_workers(address, insecure, debug)
    with use_lazily(pool):
        yield
