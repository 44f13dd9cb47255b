"""The audit: how many people stand out, by whom, what is learned, who is exposed, and how sure that is."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from standout.adversary import Adversary
from standout.attack.eccentricity import check_phi
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.attacks import Attacked, Plan, attacked, strongest
from standout.auditing.findings import Asked, Worked, findings
from standout.auditing.ladder import Fitted, fitted, ladder_of
from standout.auditing.result_frames import tables
from standout.auditing.risk_table import risk_table
from standout.auditing.selfcheck import Check, SelfCheck
from standout.auditing.sensitive import listed
from standout.auditing.theory_section import measured_sparsity
from standout.core.atomic_files import make_folder, write_atomically
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.progress import Progress, ProgressMeter, no_progress
from standout.core.rng import check_seed
from standout.core.threads import thread_count
from standout.evaluate.population import Population
from standout.release.catalogue import printable
from standout.release.model import Release
from standout.report.safe_tables import inert
from standout.theory.sparsity import Sparsity

__all__ = ["Audit", "audit"]

FACTS, QUICK_FACTS = (1, 2, 3, 4, 6, 8, 12, 16), (1, 2, 4, 8)
QUICK_TARGETS, TOP = 200, 10
MOST_FACTS = 1000
CHECKS, NEAREST, ATTACK = 0.3, 0.3, 1.0
"""What the parts of the work cost beside each other, about."""


@dataclass(frozen=True, eq=False)
class Audit:
    """What came of it. `findings` is plain data, as docs/findings.schema.json describes it."""

    release: Release = field(repr=False)
    findings: dict[str, Any] = field(repr=False)
    adversaries: Mapping[str, Adversary]
    complete: bool
    seed: int = 0
    threads: int | None = None
    attack: ScoreboardRH | None = field(default=None, repr=False)

    @property
    def trusted(self) -> bool:
        """Whether the audit passed its own checks."""
        return bool(self.findings["trust"]["trusted"])

    @property
    def exceeded(self) -> bool | None:
        """Whether the threshold may be exceeded; None where none was set."""
        found = self.findings["threshold"]["exceeded"]
        return None if found is None else bool(found)

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The findings as frames: adversaries, curves, exposure, sensitive, theory, checks."""
        return tables(self.findings)

    def to_json(self, path: str | Path) -> None:
        """findings.json."""
        text = json.dumps(self.findings, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        write_atomically(Path(path), lambda file: file.write(text.encode()))

    def to_html(self, path: str | Path) -> None:
        """The report, one file."""
        from standout.report.audit_page import page

        write_atomically(Path(path), lambda file: file.write(page(self.findings).encode()))

    def to_csv(self, folder: str | Path) -> None:
        """Every table as a file of its name in a folder."""
        place = make_folder(Path(folder))
        for name, table in self.tables.items():
            write_atomically(place / f"{name}.csv", inert(table).write_csv)

    def risk_table(
        self,
        path: str | Path | None = None,
        *,
        adversary: str | None = None,
        records: str | int = "all",
        draws: int = 8,
        facts: Sequence[int] | None = None,
        progress: Progress = no_progress,
    ) -> pl.DataFrame:
        """How likely each person is to be identified by an adversary of the ladder: see `risk_table`."""
        name = self.findings["settings"]["headline"] if adversary is None else adversary
        if name not in self.adversaries:
            raise ParameterError(f"adversary must be one of {', '.join(self.adversaries)}, got {name!r}")
        return risk_table(
            self.release, self.adversaries[name], records=records, draws=draws, facts=facts, seed=self.seed,
            threads=self.threads, progress=progress, path=path, attack=self.attack,
        )  # fmt: skip


def audit(
    release: Release,
    *,
    ladder: Any = None,
    headline: str | None = None,
    targets: int = 1000,
    facts: Sequence[int] | None = None,
    phi: float = 1.5,
    budget: float = 0.01,
    fail_above: float | None = None,
    sensitive: str | Path | None = None,
    quick: bool = False,
    name: str = "",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
    work: str | Path | None = None,
) -> Audit:
    """How many people could be picked out of a release, by whom, what would be learned, and how sure that is.

    ladder      the adversaries: the usual five, a TOML file (docs/ladder.toml), or adversaries by name
    headline    which of them the answer is about
    targets     how many people are tried by each
    facts       numbers of facts of the curves, as far as half of the records have so many items
    phi         the eccentricity from which on a record is claimed  [Algorithm 1B]
    budget      the share of absent people that may be claimed: which φ keeps to it
    fail_above  the share of people found that must not be exceeded, by any adversary that counts
    sensitive   a file of sensitive items: who would have one revealed
    quick       fewer people and facts
    name        what the data is called in the findings
    work        a folder that keeps what is done; an audit that was cut short goes on from there

    The same seed gives the same findings. Ctrl-C ends an audit with what it has, `complete` False.

    Where the release was made from another (`standout.sanitize`), everything is about the people of the
    original and what is known of them there; sparsity and the theorems are about the release itself.

    >>> import standout as so
    >>> release = so.synthesize(records=30, items=40, entries=400, seed=7)
    >>> done = audit(release, targets=6, facts=[2])
    >>> done.findings["answer"]["sentence"]
    'An acquaintance who knows 8 things about a person, 2 of them wrongly, picks the right record for ...'
    >>> done.trusted, done.exceeded
    (True, None)
    """
    meant = ladder_of(ladder, headline)
    if fail_above is not None and not _is_share(fail_above):
        raise ParameterError(f"fail_above must be a number from 0 to 1, got {fail_above!r}")
    if not _is_share(budget) or not 0 < budget < 1:
        raise ParameterError(f"budget must be above 0 and below 1, got {budget!r}")
    wanted = whole_number("targets", targets, 1)
    truth = Population.of(release.check()).original.check()
    fit = fitted(meant, truth)
    plan = Plan(
        release, min(wanted, QUICK_TARGETS) if quick else wanted, _facts(facts, quick), check_phi(phi),
        float(budget), TOP, check_seed(seed), thread_count(threads),
        None if work is None else make_folder(Path(work), private=True),
    )  # fmt: skip
    plan = strongest(plan, next(rung.adversary for rung in fit.rungs if rung.name == fit.headline))
    asked = Asked(
        plan, fit.headline, meant.source, bool(quick), None if fail_above is None else float(fail_above),
        printable(str(name)), fit.limits, None if sensitive is None else listed(sensitive, truth),
    )  # fmt: skip
    worked = _worked(asked, fit, progress)
    known = {rung.name: rung.adversary for rung in fit.rungs}
    return Audit(
        release, findings(asked, worked), known, worked.complete, plan.seed, plan.threads, plan.attack
    )


def _worked(asked: Asked, fit: Fitted, progress: Progress) -> Worked:
    """The checks first, then the headline, the other adversaries, and the nearest neighbours.

    Whoever cuts it short before the headline has been tried on anybody gets nothing.
    """
    plan = asked.plan
    order = sorted(fit.rungs, key=lambda rung: rung.name != asked.headline)
    meter = ProgressMeter("auditing", CHECKS + ATTACK * len(order) + NEAREST, progress)
    checks: list[Check] = []
    tried: dict[str, Attacked] = {}
    near: Sparsity | None = None
    try:
        with meter.part(CHECKS):
            own = SelfCheck.of(plan.release, order[0], plan.budget, plan.seed, plan.threads)
            checks = own.run(meter)
        for rung in order:
            with meter.part(ATTACK):
                tried[rung.name] = attacked(plan, rung, meter)
            if not tried[rung.name].complete:
                raise KeyboardInterrupt
        with meter.part(NEAREST):
            similarity = _named(tried[asked.headline]).criteria.similarity
            near = measured_sparsity(plan.release, similarity, asked.quick, plan.seed, plan.threads, meter)
    except KeyboardInterrupt:
        if asked.headline not in tried or tried[asked.headline].at is None:
            raise
    done = [tried[rung.name] for rung in fit.rungs if rung.name in tried]
    return Worked(done, checks, near, near is not None)


def _named(one: Attacked) -> Any:
    assert one.named is not None
    return one.named


def _facts(facts: Sequence[int] | None, quick: bool) -> tuple[int, ...]:
    if facts is None:
        return QUICK_FACTS if quick else FACTS
    if isinstance(facts, str) or not isinstance(facts, Sequence) or not facts:
        raise ParameterError("facts are numbers of facts, like [1, 2, 4, 8]")
    found = tuple(sorted({whole_number("facts", size, 1) for size in facts}))
    if found[-1] > MOST_FACTS:
        raise ParameterError(f"facts must be at most {MOST_FACTS:,}, got {found[-1]:,}")
    return found


def _is_share(number: Any) -> bool:
    fits = isinstance(number, (int, float)) and not isinstance(number, bool)
    return fits and math.isfinite(number) and 0 <= number <= 1
