"""Write the tables of docs/lab/defences.md: each step, the attack after it, and the utility of the release.

python -m tools.defences FOLDER     (the folder with the data sets)
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import standout as so
from standout.advising.search import identification_risk
from standout.sanitizing.step import Step

PAGE = Path(__file__).parent.parent / "docs" / "lab" / "defences.md"
BEGIN, END = "<!-- measured: python -m tools.defences FOLDER -->", "<!-- end of what is measured -->"
PEOPLE, TARGETS, SEED = 20_000, 1000, 2008
COLUMNS = ("steps", "identified", "identified in release", "by the paper's attack", "utility kept")
ADVERSARY = so.Adversary(knows=8, wrong=2, value_error=1, time_error=14)
STEPS = (
    (),
    ("perturb-value 4", "perturb-time 365"),
    ("round-time month",),
    ("round-time none",),
    ("round-time none", "round-value none"),
    ("drop-rare-items 100",),
    ("drop-top-items 100",),
    ("drop-entries 0.5",),
    ("drop-entries 0.9",),
    ("cap-records 50",),
    ("sample-records 0.1",),
    ("cluster-records 5",),
    ("cluster-records 50",),
    ("km-suppress 5 2",),
    ("randomized-response 0.1",),
    ("round-time none", "round-value none", "drop-entries 0.5"),
)


def tables(folder: Path) -> Iterator[str]:
    """Yield the lines of both tables."""
    yield from _table("movielens-latest-small", so.read(folder / "movielens-latest-small"))
    standin = so.synthesize(like="netflix", records=PEOPLE, seed=SEED)
    yield from _table(f"A stand-in for the Netflix data with {PEOPLE:,} people", standin)


def _table(name: str, release: so.Release) -> Iterator[str]:
    yield f"### {name}\n"
    yield (
        f"{release.n_entries:,} entries, {release.n_records:,} people, {release.n_items:,} items; up to "
        f"{TARGETS:,} targets. Baseline of a random guess: {1 / release.n_records:.2%}.\n"
    )
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|---" * len(COLUMNS) + "|"
    for steps in STEPS:
        print(name, " + ".join(steps), file=sys.stderr, flush=True)
        yield _row(release, [so.step(step) for step in steps])
    yield ""


def _row(release: so.Release, steps: list[Step]) -> str:
    text = " + ".join(f"`{step}`" for step in steps) or "none"
    try:
        safer = so.sanitize(release, *steps, seed=SEED)
    except so.ParameterError as error:
        return f"| {text} | refused: {error} |" + " |" * (len(COLUMNS) - 2)
    risk = identification_risk(safer, ADVERSARY, TARGETS, SEED)
    papers = so.simulate(safer, ADVERSARY, attack=so.ScoreboardRH(), targets=TARGETS, seed=SEED, absent=False).estimate(
        "identified"
    )
    utility = so.utility(release, *steps, seed=SEED)
    identified = risk.everybody
    cells = (
        text,
        f"{identified.value:.1%}",
        f"{risk.released.value:.1%}",
        f"{papers.value:.1%}",
        "–" if utility.kept is None else f"{utility.kept.value:.0%}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Replace the tables of the page."""
    page = PAGE.read_text(encoding="utf-8")
    head, tail = page.split(BEGIN)[0], page.split(END)[1]
    text = re.sub(r"(\d)%", r"\1 %", "\n".join(tables(Path(sys.argv[1]))))
    PAGE.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}", encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
