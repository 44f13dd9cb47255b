"""Writes the calibration table of the full stand-in into docs/standin.md, between its markers.

python -m tools.standin_table [RECORDS]
"""

import re
import sys
from itertools import groupby
from pathlib import Path

import standout as so

PAGE = Path(__file__).parent.parent / "docs" / "standin.md"
PLACE = re.compile("<!-- calibration -->.*?<!-- /calibration -->", re.DOTALL)
NEAREST = 5_000


def main(records: int | None = None) -> None:
    release = so.synthesize(like="netflix", records=records)
    found = so.calibration(release, nearest=NEAREST)
    lines = [f"{found} ({release!r}, seed 0).".replace("<Release: ", "").replace(">", ""), ""]
    lines += ["| statistic | published | stand-in | ± | |", "|---|---|---|---|---|"]
    for group, rows in groupby(found.statistics, key=lambda one: one.group):
        lines.append(f"| **{group}** | | | | |")
        for one in rows:
            numbers = number(one.target), number(one.achieved), number(one.tolerance, 2)
            lines.append(f"| {one.statistic} | {' | '.join(numbers)} | {one.verdict} |")
    text = PAGE.read_text(encoding="utf-8")
    block = "<!-- calibration -->\n\n" + "\n".join(lines) + "\n\n<!-- /calibration -->"
    PAGE.write_text(PLACE.sub(lambda _: block, text), encoding="utf-8")


def number(value: float, digits: int = 4) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.{digits}g}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
