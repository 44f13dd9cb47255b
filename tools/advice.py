"""Writes the measured part of docs/advice.md: the frontiers of movielens-latest-small.

python -m tools.advice FOLDER     (the folder that holds the data sets)
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import standout as so

PAGE = Path(__file__).parent.parent / "docs" / "advice.md"
BEGIN, END = "<!-- measured: python -m tools.advice FOLDER -->", "<!-- end of what is measured -->"
ASKED: tuple[tuple[float, Literal["released", "everybody"]], ...] = (
    (0.05, "released"),
    (0.2, "released"),
    (0.05, "everybody"),
)


def measured(release: so.Release) -> Iterator[str]:
    for limit, among in ASKED:
        advice = so.advise(release, limit=limit, among=among, name="movielens-latest-small")
        whom = "those in the release" if among == "released" else "everybody"
        yield f"### A limit of {100 * limit:g} %, of {whom}\n"
        yield f"{advice.summary}\n"
        if among == "released" and limit < 0.1:
            yield "| way | found | of those in it | use left |"
            yield "|---|---|---|---|"
            for point in advice.frontier:
                shares = point.risk.everybody.value, point.risk.released.value, max(point.kept, 0.0)
                yield f"| {point.name} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |"
            yield ""


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    head, tail = page.split(BEGIN)[0], page.split(END)[1]
    found = "\n".join(measured(so.read(Path(sys.argv[1]) / "movielens-latest-small")))
    PAGE.write_text(f"{head}{BEGIN}\n\n{found}\n{END}{tail}", encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
