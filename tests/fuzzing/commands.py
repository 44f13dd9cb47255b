"""Command lines: options and files changed, run as `standout` runs them."""

import contextlib
import io
import os
import re
import sys
import warnings
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from unittest import mock

import click
import polars as pl
from tests.fuzzing.case import Case
from tests.fuzzing.mutations import mutated_text, odd_number
from tests.fuzzing.outcomes import READ, SECRET, check_text
from tests.fuzzing.readers import index_files
from tests.fuzzing.tables import HIERARCHY, SCHEMA
from tests.fuzzing.texts import AUX, ITEM_MAP, REVIEW, SENSITIVE, TRUTH, sanitized_files, small_release

from standout.cli.command_group import cli, run
from standout.core.files import remove_empty_folders

__all__ = ["COMMANDS"]

DOCS = Path(__file__).parents[2] / "docs"
LINES = {
    "advise": [
        "h.csv -o out --targets 5 --people 5 --try drop-rare-items=2 --threads 1",
        "t.csv --table -o out --targets 5 --people 5 --try top-code=age=..60 --threads 1",
        "h.csv -o out --limit 0.2 --among released --ladder ladder.toml --targets 5 --people 5 --threads 1",
    ],
    "audit": [
        "h.csv -o out --quick --targets 5 --threads 1",
        "t.csv --table -o out --quick --targets 5 --threads 1",
        "index -o out --quick --targets 5 --ladder ladder.toml --risk-table risk.csv --threads 1",
        "safer.csv --original original.csv --key key.csv -o out --quick --targets 5 --threads 1",
        "h.csv -o out --quick --sensitive sensitive.txt --fail-above 0.1 --targets 5 --attack paper",
        "t.csv --table --schema s.toml -o out --quick --targets 5 --population 99 --sensitive age",
    ],
    "bounds": [
        "h.csv --epsilon 0.4 --delta 0.4 -k 3 --targets 5 --threads 1",
        "--records 500000 --epsilon 0.1",
        "h.csv --wrong 1 --value-error 1 --time-error 14 --targets 5 -o bounds.json",
    ],
    "demo": ["-o out --records 100 --quick --threads 1"],
    "describe": [
        "h.csv",
        "t.csv --table",
        "index",
        "h.csv --record record --item item --time time --read time_unit=hour",
        "p.csv --read latitude=lat --read longitude=lon --read grid=0.01",
        "t.csv --table --read history=h.csv --record id --json",
    ],
    "index": [
        "h.csv -o out",
        "h.csv h.csv -o out.index --read repeats=last",
        "p.csv --read latitude=lat --read longitude=lon --read geohash=5 -o out",
    ],
    "lineup": [
        "h.csv --knows 1=4@2005-03-01 --knows 2",
        "h.csv --aux aux.csv --length 10-30 --joined 2005-03-01±30",
        "t.csv --table --knows age=34 --knows sex=f",
        "index --aux aux.csv --attack paper --top 3 --json",
    ],
    "link": [
        "h.csv original.csv -o out --threads 1",
        "h.csv h.csv --items map.csv --review review.csv -o out",
        "h.csv original.csv --truth truth.csv --by evidence --decoys 9 --budget 0.1 -o out --threads 1",
    ],
    "paper": ["--data h.csv -o out --only table --targets 5 --threads 1"],
    "sanitize": [
        "h.csv -o safe.csv --step round-time=month --seed 1",
        "t.csv --table -o safe.csv --step top-code=age=..60",
        "h.csv -o safe.index --step drop-rare-items=2 --renumber --key k.csv",
        "--list-steps",
    ],
    "schema": ["t.csv -o schema.toml", "t.csv --schema s.toml -o new.toml --overwrite"],
    "simulate": [
        "h.csv --knows 3 --targets 5 --threads 1",
        "h.csv --knows 4 --wrong 1 --save state --targets 5 -o s.csv",
        "safer.csv --original original.csv --key key.csv --knows 2 --targets 5 --facts 1,2 --threads 1",
        "h.csv --value-error 1 --time-error 14 --items rarest --attack paper --phi 1.5 --targets 5",
    ],
    "sparsity": ["h.csv --threads 1", "h.csv --within-value 1 --within-days 14 -o s.csv", "index --sample 5 --json"],
    "synthesize": ["--records 20 --items 10 --entries 60 --seed 1 -o out", "--like netflix --records 100 -o out"],
    "unicity": [
        "h.csv --points 1,2,3 --targets 5 --threads 1",
        "h.csv --points 2 --within-value 1 --bin-days 7",
        "p.csv --read latitude=lat --read longitude=lon --grid 0.01 --time-bin 1h --points 2 --chart c.svg",
    ],
    "verify": ["index", "index --json"],
}
ODD_WORDS = [
    "", " ", "x", "é", "🙂", "\x1b[31m", "a" * 300, "a" * 5000, "-", "--", "-x", "--no-such", "=", "none",
    "all", "any", "nan", "inf", "1e400", "9" * 5000, "h.csv", "t.csv", "index", "missing.csv", "aux.csv",
    "out", ".", "..", "\udcff", "a,b", "1,2", "1:2", "%", "50%", "101%", "2005-13-01", "auto", "day", "UTC",
    "Europe/Berlin", "@aux.csv", "NUL",
]  # fmt: skip
COSTLY = {
    "--records",
    "--items",
    "--entries",
    "--targets",
    "--draws",
    "--points",
    "--decoys",
    "--people",
    "--sample",
    "--facts",
    "--nearest",
    "--precision",
    "--top",
    "--threads",
    "--knows",
    "-k",
}
SMALL_NUMBERS = ["0", "-1", "1", "2", "3", "5", "x", "", "nan", "1e400", "0.5", "9" * 5000, "9" * 19, "1e3x"]
NO_WORKERS = ["0", "-1", "1025", "x", "", "nan", "1e3", "0.5", "9" * 5000]
"""Numbers of workers that are refused: no round may start processes."""
NAMES_MAY_BE_CELLS = {"--read"}
EXIT_CODES = (0, 1, 2, 3, 4, 5)
UNSAFE = re.compile(r"[/\\]|\.\.")


@cache
def _files():
    """Good files for all commands."""
    history = small_release().to_frame().write_csv().encode()
    rows = [
        (f"{SECRET}{i}", 20 + i * 7 % 50, sex, f"1{i % 7:04d}", f"19{50 + i}-0{1 + i % 9}-11", ill, rank)
        for i, sex, ill, rank in zip(range(24), cycle("fm"), cycle(["flu", "flu;cold"]), cycle(["low", "high"]))
    ]
    table = (
        pl.DataFrame(rows, schema=["id", "age", "sex", "zip", "born", "diagnoses", "rank"], orient="row")
        .write_csv()
        .encode()
    )
    places = b"user,lat,lon,time\n" + b"".join(
        b"Zq%d,52.%d,13.%d,2010-05-%02dT08:15:00Z\n" % (i % 6, i * 37 % 97, i * 53 % 97, 1 + i % 28) for i in range(40)
    )
    sanitized = {
        "original.csv" if name == "original.csv" else name: content
        for name, content in sanitized_files("release").items()
    }
    return {
        "h.csv": history,
        "t.csv": table,
        "p.csv": places,
        "original.csv": history,
        **sanitized,
        **index_files(True),
        "ladder.toml": (DOCS / "ladder.toml").read_bytes(),
        "s.toml": SCHEMA,
        "ranks.csv": HIERARCHY,
        "aux.csv": AUX,
        "map.csv": ITEM_MAP,
        "review.csv": REVIEW,
        "truth.csv": TRUTH,
        "sensitive.txt": SENSITIVE,
    }


@cache
def _options(command):
    """Options of a command: its names, and whether it takes a value."""
    return [
        (name, not parameter.is_flag, parameter.type)
        for parameter in cli.commands[command].params
        if isinstance(parameter, click.Option)
        for name in parameter.opts
    ]


@dataclass(frozen=True)
class Command:
    """A good command line with some arguments changed; in some rounds a file is changed, too."""

    name: str

    def case(self, draw):
        """A mutated command line, and the files that it names."""
        words = _words(draw.choice(LINES[self.name]))
        for _ in range(draw.choice([1, 1, 2, 3])):
            words = draw.choice([_more, _more, _more, _other_value, _other_value, _other_value, _shorter])(
                draw, self.name, words
            )
        words = _without_workers([self._safe(word) for word in words])
        if self.name == "synthesize" and "--records" not in words:
            words += ["--records", "100"]  # the stand-in for Netflix has 100 million entries otherwise
        named = _named(words)
        if named and draw.random() < 0.2:
            name = draw.choice(sorted(named))
            named[name] = mutated_text(draw, named[name])
        return Case(named, {"words": [self.name, *words]})

    def good_cases(self):
        """All command lines unchanged."""
        return [Case(_named(words), {"words": [self.name, *words]}) for words in map(_words, LINES[self.name])]

    def _safe(self, word):
        """A word that cannot lead out of the folder of the round."""
        return word if word in ODD_WORDS else UNSAFE.sub("_", word.replace("\0", ""))

    def run(self, case, folder):
        """Run the command in the folder: its exit code is documented, and an error is one line."""
        os.chdir(folder)
        words = case.options["words"]
        code, errors = _run(words)
        if code == 1 and self.name != "verify" and not re.search(r"(?m)^standout: (?!warning)", errors):
            raise AssertionError(f"exit code 1 without an error: {errors}")
        if "\x1b" in errors:
            raise AssertionError(f"an escape reaches the terminal: {errors!r}")
        if case.files.items() <= _files().items() and not NAMES_MAY_BE_CELLS & set(words):
            for line in errors.splitlines():
                if line.startswith("standout:"):
                    check_text(line)
        _check_left(folder)
        return READ if code in (0, 3, 4, 5) else f"exit {code}: {errors[-300:]}"


def _words(line):
    """The words of a line; those of a step have a space."""
    words = line.split(" ")
    return [
        word.replace("=", " ") if before in ("--step", "--try") else word
        for before, word in zip(["", *words], words, strict=False)
    ]


def _without_workers(words):
    """The words with numbers of workers that are refused, wherever the option has come to be."""
    pairs = zip(["", *words], words, strict=False)
    return ["0" if before == "--workers" and word not in NO_WORKERS else word for before, word in pairs]


def _named(words):
    """The files that some words name."""
    named = {name: content for name, content in _files().items() if any(name.split("/")[0] in word for word in words)}
    if "key.csv" in words or "safer.csv" in words:
        named |= sanitized_files("release")
    if "s.toml" in words:
        named["ranks.csv"] = HIERARCHY
    return named


def _run(words):
    """Exit code and standard error of a command; a bug is a failure and shows its traceback."""
    out, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    argv = ["standout", "--debug", *words]
    with (
        warnings.catch_warnings(),
        mock.patch.object(sys, "argv", argv),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
    ):
        warnings.simplefilter("default")
        try:
            code = run()
        except SystemExit as end:
            code = end.code or 0
        if code:
            remove_empty_folders()
    text = errors.buffer.getvalue().decode("utf-8", "replace")
    if code not in EXIT_CODES:
        raise AssertionError(f"exit code {code}: {text}")
    return code, text


def _check_left(folder):
    """No unfinished file is left anywhere."""
    for _, _, names in os.walk(folder):
        if left := [name for name in names if name.startswith(".standout-") or name.endswith((".part", ".building"))]:
            raise AssertionError(f"left behind: {left}")


def _value(draw, name, kind, words):
    """A value for an option: fitting, odd, or one of the other words."""
    if name == "--workers":
        return draw.choice(NO_WORKERS)
    if name in COSTLY:
        return draw.choice(SMALL_NUMBERS)
    if isinstance(kind, click.Choice) and draw.random() < 0.7:
        return draw.choice(kind.choices)
    if draw.random() < 0.3:
        return draw.choice(words or ["x"])
    return odd_number(draw) if draw.random() < 0.5 else draw.choice(ODD_WORDS)


def _more(draw, command, words):
    """One more option of the command."""
    name, has_value, kind = draw.choice(_options(command))
    at = draw.choice([len(words), draw.randrange(len(words) + 1)])
    return [*words[:at], name, *([_value(draw, name, kind, words)] if has_value else []), *words[at:]]


def _other_value(draw, command, words):
    """Another value for an option, or another argument."""
    if not words:
        return _more(draw, command, words)
    at = draw.randrange(len(words))
    before = words[at - 1] if at else ""
    if words[at].startswith("-"):
        return words
    kinds = {name: kind for name, _, kind in _options(command)}
    if before in COSTLY or before == "--workers" or draw.random() < 0.6:
        value = _value(draw, before, kinds.get(before), words)
    else:
        value = (
            mutated_text(draw, words[at].encode("utf-8", "surrogateescape"))
            .replace(b"\0", b"")[:3000]
            .decode("utf-8", "replace")
        )
    return [*words[:at], value, *words[at + 1 :]]


def _shorter(draw, command, words):
    """Without a word, or with one twice."""
    if not words:
        return words
    at = draw.randrange(len(words))
    return words[:at] + words[at + 1 :] if draw.random() < 0.6 else [*words[: at + 1], *words[at:]]


COMMANDS = {f"command {name}": Command(name) for name in LINES}
SERVERS = {"explore"}
"""Commands that do not end."""
assert {*LINES} == {*cli.commands} - SERVERS
