"""Write which published statistics the full stand-in misses into docs/lab/standin.md, between its markers.

python -m tools.standin_table [RECORDS]
"""

import re
import sys
from itertools import groupby
from pathlib import Path

import standout as so
from standout.paper.calibration import Calibration

PAGE = Path(__file__).parent.parent / "docs" / "lab" / "standin.md"
MARKED = re.compile("<!-- calibration -->.*?<!-- /calibration -->", re.DOTALL)
NEAREST = 5_000


def main(records: int | None = None) -> None:
    """Make the stand-in, compare it with the published statistics, and update the page."""
    release = so.synthesize(like="netflix", records=records)
    lines = table(release, so.calibration(release, nearest=NEAREST))
    block = "<!-- calibration -->\n\n" + "\n".join(lines) + "\n\n<!-- /calibration -->"
    PAGE.write_text(MARKED.sub(lambda _: block, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def table(release: so.Release, calibration: Calibration) -> list[str]:
    """The lines of the table."""
    lines = [f"{calibration} ({release!r}, seed 0).".replace("<Release: ", "").replace(">", ""), ""]
    lines += ["Those that are not met:", ""]
    lines += ["| statistic | published | stand-in | tolerance | verdict |", "|---|---|---|---|---|"]
    missed = [statistic for statistic in calibration.statistics if statistic.verdict != "met"]
    for group, statistics in groupby(missed, key=lambda statistic: statistic.group):
        lines.append(f"| **{group}** | | | | |")
        for statistic in statistics:
            cells = (
                statistic.statistic.replace("|", "\\|"),
                number(statistic.published),
                number(statistic.measured),
                number(statistic.tolerance, 2),
                statistic.verdict,
            )
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def number(value: float, digits: int = 4) -> str:
    """A number with this many significant digits; whole if it is large."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.{digits}g}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
