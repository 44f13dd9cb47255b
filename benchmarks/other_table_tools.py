"""Compare pyCANON, privattacks and Anonymeter with Standout on UCI Adult.

python -m benchmarks.other_table_tools FOLDER [--install] [-o build/table-tools.json]
python -m benchmarks.other_table_tools FOLDER --python-pycanon PATH --python-anonymeter PATH

FOLDER has the files of `python -m tools.adult FOLDER`; they are fetched if they are missing. The pins of the
tools exclude each other and ours, so each runs in an environment of its own. --install makes them in
build/bench with pip; otherwise name the interpreters. A tool without an interpreter is skipped.

All tools get the same three tables with the eight quasi-identifiers and income: the raw one, a sanitized one
(age in bands of 10, country dropped), and a small-domain one whose l and t say something. `python -m
tools.table_results` writes the tables of the documentation from the result.
"""

import argparse
import json
import subprocess
import sys
import time
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from tools.adult import QUASI_IDENTIFIERS, SENSITIVE, adult_files, adult_table

import standout as so

__all__ = ["COARSE", "HALVES", "STEPS", "Released", "coarse_frame", "main"]

JOBS = Path(__file__).parent / "table_tool_jobs.py"
PACKAGES = {"pycanon": "pycanon==1.3.6", "privattacks": "privattacks==1.4", "anonymeter": "anonymeter==1.1.0"}
HALVES = (["age", "education", "marital-status", "race"], ["occupation", "relationship", "sex", "native-country"])
STEPS = ("generalize age 10", "drop-column native-country")
COARSE = ("age", "sex", "race")
SMALLEST_CLASS = 20
SEED = 2008


@dataclass(frozen=True)
class Released:
    """A table as files: what is released, and the original."""

    name: str
    released: Path
    original: Path
    known: list[str]
    sensitive: str

    def settings(self) -> str:
        """The settings of a job."""
        return json.dumps(
            {
                "released": str(self.released),
                "original": str(self.original),
                "known": self.known,
                "sensitive": self.sensitive,
                "halves": HALVES,
            }
        )


def coarse_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Age in bands of 20, three races, and no rows in classes below 20: l and t are then not trivial."""
    race = pl.when(pl.col("race").is_in(["White", "Black"])).then("race").otherwise(pl.lit("Other"))
    coarse = frame.with_columns(age=pl.format("from {}", pl.col("age") // 20 * 20), race=race)
    return coarse.filter(pl.len().over(COARSE) >= SMALLEST_CLASS)


def tables(folder: Path, scratch: Path) -> list[Released]:
    """Write the tables that all tools get."""
    frame = pl.read_csv(adult_files(folder)["adult.csv"]).select(*QUASI_IDENTIFIERS, SENSITIVE)
    released = so.sanitize(adult_table(folder), STEPS, seed=SEED)
    band = pl.col("age").str.extract(r"(\d+)").cast(pl.Int64)  # Anonymeter needs the type of the original
    names = [name for name in QUASI_IDENTIFIERS if name in released.column_names]
    sanitized = released.to_frame().select(*names, SENSITIVE).with_columns(age=band).fill_null("?")
    parts = {"raw": frame, "sanitized": sanitized, "coarse": coarse_frame(frame)}
    paths = {name: scratch / f"adult-{name}.csv" for name in parts}
    for name, part in parts.items():
        part.write_csv(paths[name])
    raw = paths["raw"]
    return [
        Released("raw", raw, raw, QUASI_IDENTIFIERS, SENSITIVE),
        Released("sanitized", paths["sanitized"], raw, names, SENSITIVE),
        Released("coarse", paths["coarse"], paths["coarse"], list(COARSE), "marital-status"),
    ]


def interpreters(given: argparse.Namespace) -> dict[str, Path]:
    """The interpreter of each tool that can run."""
    found = {}
    for tool, package in PACKAGES.items():
        path = getattr(given, f"python_{tool}")
        if path is None and given.install:
            path = _environment(given.scratch / f"venv-{tool}", package)
        if path is None:
            print(f"{tool}: skipped; name its interpreter with --python-{tool}, or use --install")
        else:
            found[tool] = path
    return found


def _environment(folder: Path, package: str) -> Path:
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", package, "pandas"], check=True)
    return python


def run(tool: str, python: Path, table: Released) -> dict[str, Any]:
    """What a tool says about a table."""
    begun = time.perf_counter()
    command = [python, "-I", JOBS, tool, table.settings()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{tool} failed on the {table.name} table:\n{done.stderr[-2000:]}")
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"{tool} {said['version']}, {table.name}: {time.perf_counter() - begun:.1f} s", flush=True)
    for name, result in said["results"].items():
        print(f"    {name:<28}{result['value']}    {result['seconds']:.2f} s")
    return said


def main() -> None:
    """Run the other tools and write what they say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for tool in PACKAGES:
        parser.add_argument(f"--python-{tool}", type=Path, metavar="PATH")
    parser.add_argument("--install", action="store_true", help="make environments with pip")
    parser.add_argument("--scratch", type=Path, default=Path("build/bench"))
    parser.add_argument("-o", "--output", type=Path, default=Path("build/table-tools.json"))
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    several, pythons = tables(given.folder, given.scratch), interpreters(given)
    said = {
        table.name: {tool: run(tool, python, table) for tool, python in pythons.items() if _fits(tool, table)}
        for table in several
    }
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(json.dumps(said, indent=1), encoding="utf-8")
    print(f"wrote {given.output}", file=sys.stderr)


def _fits(tool: str, table: Released) -> bool:
    """Anonymeter has nothing to say about l and t."""
    return tool != "anonymeter" or table.name != "coarse"


if __name__ == "__main__":
    main()
