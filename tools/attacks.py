"""Write docs/lab/attacks.md: Likelihood and other attacks on the same targets with the same facts.

python -m tools.attacks FOLDER [INDEX]    (the folder of the data sets; a stand-in at full size, optional)
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import standout as so
from standout.attack.any_attack import AnyAttack
from standout.evaluate.simulate import success_rates
from standout.evaluate.targets import Population
from tools.results import CASES

PAGE = Path(__file__).parent.parent / "docs" / "lab" / "attacks.md"
SEED, MANY_RECORDS, TARGETS, FEW_TARGETS = 2016, 100_000, 400, 200
VALUE_ERRORS = {"Online Retail": 24.0, "Bitcoin OTC": 2.0}
DETAILED = ("Stand-in at full size",)
"""Data sets with a table of all adversaries; of the others the page has the summary."""
HEAD = """# Likelihood and other attacks

`python -m tools.attacks FOLDER [INDEX]` writes this page. Every row is one adversary on one data set. All
attacks get the same {targets} targets ({few} at full size) and the same facts; a cell is the share of targets
whose record is the best guess. Nothing was fitted on these targets: parameters of Likelihood come from the
release and the adversary. The table of all adversaries is shown for the largest data set.

| attack | what it is |
|---|---|
| paper | Algorithm 1B with ρ0 = 1.5 and d0 = 30 (`so.ScoreboardRH()`) |
| thresholds | Algorithm 1B, similarity 1 within the adversary's errors, else 0 (`so.Within`) |
| items | Algorithm 1B, items alone (`so.Present`) |
| fitted | Algorithm 1B, ρ0 and d0 equal to the adversary's errors |
| most items | the record with most of the known items, the shortest of those |
| **likelihood** | `so.Likelihood()` |

*said* is the mean probability that Likelihood gives its best guesses, *bias* is said − right with its 95 %
interval, and *absent* the share of absent targets about whom Likelihood makes a claim at a posterior of 0.95.
"""


class MostItems(so.Attack):
    """The record with most of the known items; among those the shortest."""

    def scores(self, release: so.Release, known: so.KnownFacts) -> Any:
        """Number of known items, less a fraction that grows with the length of the record."""
        scores = np.tile(-release.lengths / (release.lengths.max() + 1.0), (len(known), 1))
        for fact in so.fact_entries(release, known):
            scores[fact.target, fact.record] += 1.0
        return scores


@dataclass(frozen=True)
class Row:
    """The numbers of one adversary."""

    adversary: str
    rates: dict[str, float]
    said: float
    bias: so.Estimate
    absent: so.Estimate

    @property
    def is_best(self) -> bool:
        """Whether no other attack is more than 0.01 better."""
        return self.rates["likelihood"] >= max(self.rates.values()) - 0.01

    def text(self) -> str:
        """The row as Markdown."""
        cells = [f"{self.rates[name]:.3f}" for name in self.rates]
        cells[-1] = f"**{cells[-1]}**"
        bias = f"{self.bias.value:+.3f} ({self.bias.low:+.3f} to {self.bias.high:+.3f})"
        return f"| {self.adversary} | {' | '.join(cells)} | {self.said:.3f} | {bias} | {self.absent.value:.3f} |"


def adversaries(release: so.Release, error: float) -> list[so.Adversary]:
    """Adversaries that the release allows."""
    exact, about = so.Adversary(knows=4), so.Adversary(knows=4, wrong=1, value_error=error, time_error=14)
    several = [
        replace(exact, knows=2, time_error=14),
        replace(exact, knows=2, value_error=error, time_error=30),
        replace(exact, time_error=None),
        replace(exact, wrong=1, time_error=None),
        replace(exact, value_error=error, time_error=None),
        about,
        replace(about, knows=8, wrong=2),
        replace(about, knows=8, wrong=2, time_error=None),
        replace(about, knows=8, wrong=2, wrong_facts="items"),
        replace(about, knows=6, wrong=0, value_error=None),
        replace(about, knows=8, wrong=0, value_error=None, time_error=None),
        replace(about, knows=8, wrong=2, time_error=None, items="popular"),
        replace(about, items="rarest", time_error=None),
        replace(about, items="recent"),
        replace(about, items="burst"),
        replace(about, items=so.outside_top(500), time_error=None),
    ]
    everybody = np.arange(release.n_records)
    return [each for each in several if each.eligible(release, everybody).mean() > 0.05]


def attacks(adversary: so.Adversary) -> dict[str, AnyAttack]:
    """The attacks that Likelihood is compared with."""
    value, time = adversary.value_error, adversary.time_error
    return {
        "paper": so.ScoreboardRH(),
        "thresholds": so.ScoreboardRH(so.Within(value, time)),
        "items": so.ScoreboardRH(so.Present()),
        "fitted": so.ScoreboardRH(value_scale=max(value or 0.0, 0.5), time_scale=max(time or 0.0, 1.0)),
        "most items": MostItems(),
    }


def rows(release: so.Release, error: float, targets: int) -> Iterator[Row]:
    """The rows of one data set."""
    for adversary in adversaries(release, error):
        simulation = so.simulate(release, adversary, attack=so.Likelihood(), targets=targets, seed=SEED)
        cell = simulation.cells[0]
        known = Population.of(release).known_facts(adversary, cell.targets, SEED)
        rates = {
            name: float(success_rates(release, known, cell.targets, [adversary.knows], None, attack).mean())
            for name, attack in attacks(adversary).items()
        }
        yield Row(
            adversary=str(adversary),
            rates=rates | {"likelihood": simulation.estimate("identified").value},
            said=float(cell.outcomes.best_probability.mean()),
            bias=simulation.estimate("calibration_bias"),
            absent=simulation.estimate("absent_claims"),
        )


def section(name: str, release: so.Release, error: float) -> str:
    """The section of one data set."""
    targets = FEW_TARGETS if release.n_records > MANY_RECORDS else TARGETS
    several = list(rows(release, error, targets))
    names = list(several[0].rates)
    behind = sum(not row.is_best for row in several)
    off = sum(abs(row.bias.value) > 0.03 for row in several)
    lines = [
        f"## {name}",
        "",
        f"{release.n_records:,} records, {release.n_entries:,} entries. Likelihood is at most 0.01 behind",
        f"the best other attack in {len(several) - behind} of {len(several)} rows. Its bias is at most 0.03",
        f"in {len(several) - off}.",
        "",
    ]
    if name in DETAILED:
        lines += [
            f"| adversary | {' | '.join(names)} | said | bias | absent |",
            "|---|" + "---|" * (len(names) + 3),
            *(row.text() for row in several),
            "",
        ]
    print("\n".join(lines), flush=True)
    return "\n".join(lines)


def main(folder: str, index: str | None = None) -> None:
    """Write the page."""
    parts = [HEAD.format(targets=TARGETS, few=FEW_TARGETS)]
    for case in CASES:
        release = so.read(Path(folder) / case.path, **case.reading)
        parts.append(section(case.name, release, VALUE_ERRORS.get(case.name, 1.0)))
    standin = so.synthesize(like="netflix", records=20_000, seed=1)
    parts.append(section("Stand-in of 20,000 people", standin, 1.0))
    if index is not None:
        parts.append(section("Stand-in at full size", so.open(index), 1.0))
    PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
