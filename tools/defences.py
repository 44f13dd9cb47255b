"""Writes the tables of docs/defences.md: each step, the attack after it, and what the release is good for.

python -m tools.defences FOLDER     (the folder that holds the data sets)
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import standout as so
from standout.advising.strongest_attack import risk
from standout.sanitizing.step import Step

PAGE = Path(__file__).parent.parent / "docs" / "defences.md"
BEGIN, END = "<!-- measured: python -m tools.defences FOLDER -->", "<!-- end of what is measured -->"
PEOPLE, TARGETS, SEED = 20_000, 1000, 2008
ADVERSARY = so.Adversary(knows=8, wrong=2, value_error=1, time_error=14)
STEPS = (
    (),
    ("perturb-value 1",),
    ("perturb-value 4",),
    ("perturb-time 14",),
    ("perturb-time 365",),
    ("perturb-value 4", "perturb-time 365"),
    ("round-time month",),
    ("round-time year",),
    ("round-time none",),
    ("round-value liked 4",),
    ("round-value none",),
    ("round-time none", "round-value none"),
    ("drop-rare-items 10",),
    ("drop-rare-items 100",),
    ("drop-top-items 100",),
    ("drop-entries 0.5",),
    ("drop-entries 0.9",),
    ("cap-records 50",),
    ("sample-records 0.1",),
    ("cluster-records 2",),
    ("cluster-records 5",),
    ("cluster-records 50",),
    ("km-suppress 5 2",),
    ("randomized-response 1",),
    ("randomized-response 0.1",),
    ("round-time none", "round-value none", "drop-entries 0.5"),
)


def measured(folder: Path) -> Iterator[str]:
    yield from _table("movielens-latest-small", so.read(folder / "movielens-latest-small"))
    like = so.synthesize(like="netflix", records=PEOPLE, seed=SEED)
    yield from _table(f"A stand-in for the Netflix data with {PEOPLE:,} people", like)


def _table(name: str, release: so.Release) -> Iterator[str]:
    yield f"### {name}\n"
    yield (
        f"{release.n_entries:,} entries, {release.n_records:,} people, {release.n_items:,} items; up to "
        f"{TARGETS:,} people are tried. Chance finds {1 / release.n_records:.2%}.\n"
    )
    heads = "steps", "found", "95 %", "of those in the release", "strongest attack", "entries left"
    yield f"| {' | '.join((*heads, 'hit rate', 'RMSE', 'left'))} |"
    yield "|---" * 9 + "|"
    for steps in STEPS:
        print(name, " + ".join(steps), file=sys.stderr, flush=True)
        yield _row(release, [so.step(one) for one in steps])
    yield ""


def _row(release: so.Release, steps: list[Step]) -> str:
    words = " + ".join(f"`{step}`" for step in steps) or "none"
    try:
        safer = so.sanitize(release, *steps, seed=SEED)
    except so.ParameterError as error:
        return f"| {words} | refused: {error} |" + " |" * 7
    found = risk(safer, steps, ADVERSARY, TARGETS, SEED)
    good = so.utility(release, *steps, seed=SEED)
    rmse = "–" if good.rmse is None else f"{good.rmse.value:.3f}"
    kept = "–" if good.kept is None else f"{good.kept.value:.0%}"
    whole, entries = found.everybody, safer.n_entries / release.n_entries
    return (
        f"| {words} | {whole.value:.1%} | {whole.low:.1%} to {whole.high:.1%} | {found.released.value:.1%} "
        f"| {found.attack or 'as it is'} | {entries:.0%} | {good.hit_rate.value:.3f} | {rmse} | {kept} |"
    )


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    head, tail = page.split(BEGIN)[0], page.split(END)[1]
    found = re.sub(r"(\d)%", r"\1 %", "\n".join(measured(Path(sys.argv[1]))))
    PAGE.write_text(f"{head}{BEGIN}\n\n{found}\n\n{END}{tail}", encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
