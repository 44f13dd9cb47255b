"""Writes the measured part of docs/advice.md: three searches on movielens-latest-small.

python -m tools.advice FOLDER     (the folder that holds the data sets)
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import standout as so
from standout.advising.advice import Advice

PAGE = Path(__file__).parent.parent / "docs" / "advice.md"
BEGIN, END = "<!-- measured: python -m tools.advice FOLDER -->", "<!-- end of the measured part -->"
LIMITS = (0.05, 0.2)


def measured_part(release: so.Release) -> Iterator[str]:
    """Yield the lines of the measured part: one search for each limit."""
    for limit in LIMITS:
        advice = so.advise(release, limit=limit, name="movielens-latest-small")
        yield f"### Limit: {100 * limit:g} % of people in the sanitized release\n"
        yield f"{advice.summary}\n"
        if limit < 0.1:
            yield from frontier_table(advice)


def frontier_table(advice: Advice) -> Iterator[str]:
    """Yield the release as it is and the frontier as a table in Markdown."""
    yield "| candidate | identified in the release | utility kept |"
    yield "|---|---|---|"
    untouched, *_ = advice.candidates
    for candidate in (untouched, *(each for each in advice.frontier if each.steps)):
        risk = candidate.risk
        shares = risk.released.value, max(candidate.utility_kept, 0.0)
        yield f"| {candidate.name} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |"
    yield ""


def main() -> None:
    """Replace the measured part of the page."""
    page = PAGE.read_text(encoding="utf-8")
    head, tail = page.split(BEGIN)[0], page.split(END)[1]
    measured = "\n".join(measured_part(so.read(Path(sys.argv[1]) / "movielens-latest-small")))
    PAGE.write_text(f"{head}{BEGIN}\n\n{measured}\n{END}{tail}", encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
