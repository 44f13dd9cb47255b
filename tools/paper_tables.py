"""Writes the numbers of docs/paper.md from a folder that `standout paper` made, between its markers.

python -m tools.paper_tables FOLDER
"""

import csv
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from standout.paper.figures_page import difference, interval, judgement, number, signed
from standout.paper.readings import Reading, fits, unit_of
from standout.paper.rows import Row, Unit

PAGE = Path(__file__).parent.parent / "docs" / "paper.md"
NAMES = {"sp10": "10 of 2008", "imdb": "profiles"}
Told = dict[str, str]


def main(folder: Path, page: Path = PAGE) -> None:
    text = page.read_text(encoding="utf-8")
    for name, written in parts(folder).items():
        marks = f"<!-- {name} -->", f"<!-- /{name} -->"
        pattern = re.compile(f"{re.escape(marks[0])}.*?{re.escape(marks[1])}", re.DOTALL)
        if not pattern.search(text):
            sys.exit(f"{page.name} has no place for {name}: {marks[0]} … {marks[1]}")
        block = f"{marks[0]}\n\n{written}\n\n{marks[1]}"
        text = pattern.sub(lambda _, block=block: block, text)
    page.write_text(text, encoding="utf-8")


def parts(folder: Path) -> dict[str, str]:
    """What is written, by the name of its place."""
    told = rows(folder / "validation.csv")
    read = [_reading(one) for one in rows(folder / "readings.csv")]
    return {
        "run": about(folder),
        "validation": table([one for one in told if one["about"] == "attack"]),
        "missed": missed([one for one in told if one["about"] == "attack"]),
        "data": table([one for one in told if one["about"] == "data"]),
        "readings": "\n\n".join(readings(read, key) for key in dict.fromkeys(one.figure for one in read)),
    }


def rows(path: Path) -> list[Told]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def about(folder: Path) -> str:
    """What was run on what, and the summary."""
    told = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    facts = "; ".join(
        (told["size"], told["dates"], f"targets: {told['targets']}", f"fingerprint {told['fingerprint']}")
    )
    return f"{told['summary']}\n\n{facts}; {told['made by']}."


def table(told: list[Told]) -> str:
    """Every number beside the paper's."""
    lines = ["| figure | | paper | ours | 95 % interval | difference | |", "|---" * 7 + "|"]
    lines += [_line(_figure(one), _row(one)) for one in told]
    return "\n".join(lines)


def missed(told: list[Told]) -> str:
    """The numbers further from the paper's than is aimed at."""
    far = [one for one in told if one["within_goal"] == "false"]
    if not far:
        return "Every number is within 0.10 or 1 bit of the paper's."
    named = [f"{_figure(one)} {_what(_row(one))} ({difference(_row(one))})" for one in far]
    return f"Further than 0.10 or 1 bit from the paper's are {len(far)} of {len(told)}: {'; '.join(named)}."


def readings(own: list[Reading], key: str) -> str:
    """How well each reading of a figure fits."""
    goal, name = ("1 bit" if unit_of(key) == "bits" else "0.10"), "10 of 2008" if key == "sp10" else key
    lines = [
        f"| Figure {name} | mean \\|difference\\| | largest | mean difference | within {goal} |",
        "|---" * 5 + "|",
    ]
    found = fits(tuple(one for one in own if one.figure == key))
    for fit in found:
        off = f"{fit.mean:.2f} | {fit.worst:.2f} | {signed(fit.bias)}"
        lines.append(f"| {fit.reading} | {off} | {fit.within} of {fit.cells} |")
    return "\n".join(lines)


def _line(figure: str, row: Row) -> str:
    cells = (
        figure, _what(row), number(row.paper, row.unit), number(row.ours, row.unit), interval(row),
        difference(row), judgement(row),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _what(row: Row) -> str:
    return ", ".join(_some(row.panel, row.label))


def _some(*words: str) -> Iterable[str]:
    return (word for word in words if word)


def _figure(told: Told) -> str:
    if told["figure"] in NAMES:
        return NAMES[told["figure"]]
    return told["figure"] + (f" ({told['figure_2008']})" if told["figure_2008"] else "")


def _row(told: Told) -> Row:
    unit: Unit = told["unit"]  # type: ignore[assignment]
    ends = ("paper", "ours", "low", "high")
    paper, ours, low, high = (float(told[name]) if told[name] else None for name in ends)
    return Row(
        told["panel"], told["label"], told["measure"], unit, paper, ours, low, high, int(told["n"]),
        float(told["spread"]), int(told["tries"]), int(told["left_out"]), told["note"],
    )  # fmt: skip


def _reading(told: Told) -> Reading:
    numbers = float(told["paper"]), float(told["ours"]), int(told["n"])
    return Reading(told["figure"], told["reading"], told["panel"], told["label"], *numbers)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    print(f"wrote {PAGE.name}")
