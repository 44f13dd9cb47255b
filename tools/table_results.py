"""Write the parts of docs/lab/results.md and docs/lab/performance.md on tables.

python -m tools.table_results FOLDER [--tools build/table-tools.json] [--speed build/tables.json …]

FOLDER has the files of `python -m tools.adult FOLDER`; they are fetched if they are missing. The other two
files are written by `python -m benchmarks.other_table_tools` and `python -m benchmarks.tables`. Without one
of them the text that it would give stays as it is.
"""

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.other_table_tools import STEPS

import standout as so
from tools.adult import adult_files, adult_table
from tools.table_attack_results import attack_part
from tools.table_calibration import calibration_part
from tools.table_tool_results import tools_part

DOCS = Path(__file__).parent.parent / "docs"
END = "<!-- end of the measured part -->"


def marker(part: str) -> str:
    """Where a measured part begins."""
    return f"<!-- measured: python -m tools.table_results FOLDER, {part} -->"


def replaced(page: str, part: str, text: str) -> str:
    r"""The page with a measured part replaced.

    >>> replaced(f"a {marker('x')} old {END} b", "x", "new").replace(marker("x"), "BEGIN").replace(END, "END")
    'a BEGIN\n\nnew\n\nEND b'
    """
    head, rest = page.split(marker(part))
    return f"{head}{marker(part)}\n\n{text}\n\n{END}{rest.split(END, 1)[1]}"


def speed_part(files: list[Path]) -> Iterator[str]:
    """The tables of docs/lab/performance.md, one run after the other."""
    for path in files:
        speed = json.loads(path.read_text(encoding="utf-8"))
        yield f"### {speed['rows']:,} rows × {speed['columns']} columns\n"
        command = f"python -m benchmarks.tables --rows {speed['rows']} --columns {speed['columns']}"
        yield f"`{command}`; jobs and ratios ran once each.\n"
        yield "| job | CPU s | wall s | peak MB |"
        yield "|---|---|---|---|"
        for name, (cpu, wall, memory) in speed["jobs"].items():
            yield f"| {name} | {cpu:.2f} | {wall:.2f} | {memory:,.0f} |"
        yield "\n| comparison, one thread | ratio | ours µs | other µs |"
        yield "|---|---|---|---|"
        yield from map(_ratio, speed["ratios"])
        yield ""


def _ratio(row: dict[str, Any]) -> str:
    number = f"{row['number']:,.3g}" if row["number"] < 1000 else f"{row['number']:,.0f}"
    unit = "" if row["unit"] == "×" else f" {row['unit']}"
    times = ["" if math.isnan(t) else f"{1e6 * t:,.0f}" for t in (row["ours"], row["other"])]
    return f"| {row['name']} | {number}{unit} | {' | '.join(times)} |"


def main() -> None:
    """Replace the measured parts of both pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tools", type=Path, default=Path("build/table-tools.json"))
    parser.add_argument("--speed", type=Path, nargs="+", default=[Path("build/tables.json")])
    parser.add_argument("--part", choices=("tools", "attacks", "calibration", "speed"))
    given = parser.parse_args()
    files, table = adult_files(given.folder), adult_table(given.folder)

    def write(page: str, part: str, lines: Iterator[str]) -> None:
        if given.part in (None, part):
            path = DOCS / page
            text = "\n".join(lines).strip()
            path.write_text(replaced(path.read_text(encoding="utf-8"), part, text), encoding="utf-8")
            print(f"wrote the {part} part of {page}", flush=True)

    if given.tools.exists():
        said = json.loads(given.tools.read_text(encoding="utf-8"))
        released = so.sanitize(table, STEPS, seed=2008)
        write("lab/results.md", "tools", tools_part(files["adult.csv"], table, released, said))
    write("lab/results.md", "attacks", attack_part(table))
    write("lab/results.md", "calibration", calibration_part(table))
    if all(path.exists() for path in given.speed):
        write("lab/performance.md", "speed", speed_part(given.speed))


if __name__ == "__main__":
    main()
