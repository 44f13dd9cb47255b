"""The advice: the least change of a release that brings the risk below a limit, or that none does."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import polars as pl

from standout._version import __version__
from standout.adversary import Adversary
from standout.advising import sentences as words
from standout.advising.candidate import Point
from standout.advising.composition import Composition, composition
from standout.advising.frontier import Steps, frontier
from standout.advising.runner import Lab
from standout.advising.search import Found, searched
from standout.advising.strongest_attack import Among
from standout.auditing.ladder import describe_adversary, fit_ladder, resolve_ladder
from standout.core.atomic_files import make_folder, write_atomically
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed
from standout.core.threads import thread_count
from standout.evaluate.estimate_json import estimate_json
from standout.evaluate.estimates import Estimate
from standout.evaluate.result_table import TableResult
from standout.release.catalogue import printable
from standout.release.model import Release
from standout.sanitized import Sanitized
from standout.sanitizing.sanitize import sanitize
from standout.sanitizing.step import Step
from standout.sanitizing.step_parser import parse_step

__all__ = ["Advice", "advise"]

SCHEMA = "standout-advice"
MEASURES = ("kept", "hit_rate", "hit_rate_loss", "rmse", "rmse_increase")


@dataclass(frozen=True, eq=False)
class Advice(TableResult):
    """What came of the search: every way that was tried, the frontier, and what is recommended.

    recommended   measured afresh, with the upper end of its risk below the limit; None where nothing reaches
                  it, or the search was cut short
    composition   what two such releases give away together; None where nothing is recommended
    """

    release: Release = field(repr=False)
    found: Found = field(repr=False)
    adversary: Adversary
    limit: float
    composition: Composition | None
    among: Among
    seed: int
    name: str = ""

    @property
    def complete(self) -> bool:
        return self.found.complete

    @property
    def recommended(self) -> Point | None:
        return self.found.recommended

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Every way that was tried, the untouched release first, then from the lowest risk on."""
        every = sorted(self.found.points.values(), key=lambda point: point.share.value)
        return tuple(sorted(every, key=lambda point: bool(point.steps)))

    @cached_property
    def frontier(self) -> tuple[Point, ...]:
        """Those beside which no other finds fewer people and leaves more."""
        return tuple(frontier(self.points))

    @property
    def summary(self) -> str:
        """The answer in words."""
        return " ".join(self._sentences)

    @property
    def _sentences(self) -> list[str]:
        return words.summary(self.found, describe_adversary(self.adversary, self.release), self.limit)

    def command(self, data: str | Sequence[str] = "DATA", output: str = "OUT") -> str:
        """The `standout sanitize` command of what is recommended; empty where nothing is."""
        return words.command(self.recommended, [data] if isinstance(data, str) else data, output)

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row for each way that was tried."""
        edge = {point.steps for point in self.frontier}
        best = None if self.recommended is None else self.recommended.steps
        rows = []
        for point in self.points:
            measured = dict(point.utility.measures())
            numbers: dict[str, Estimate | None] = {"risk": point.risk.everybody}
            numbers["risk_released"] = point.risk.released
            numbers |= {name: measured.get(name) for name in MEASURES}
            row: dict[str, Any] = {
                "steps": point.name, "stage": point.stage, "frontier": point.steps in edge,
                "recommended": point.steps == best and bool(point.steps), "attack": point.risk.attack,
            }  # fmt: skip
            for name, one in numbers.items():
                row |= _columns(name, one)
            rows.append(row | self._made)
        return pl.DataFrame(rows, infer_schema_length=None)

    @property
    def _made(self) -> dict[str, Any]:
        return {"seed": self.seed, "fingerprint": self.release.fingerprint, "version": __version__}

    def to_json(self, path: str | Path) -> None:
        """Everything as a JSON file."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        write_atomically(Path(path), lambda file: file.write(text.encode()))

    def to_html(self, path: str | Path) -> None:
        """The report as one file."""
        from standout.report.advice_page import page

        write_atomically(Path(path), lambda file: file.write(page(self.to_dict()).encode()))

    def to_dict(self) -> dict[str, Any]:
        """In plain values; neither ids nor anything else of a person is in it, and no seed of noise."""
        both, edge = self.composition, {point.steps for point in self.frontier}
        return {
            "schema": SCHEMA, "complete": self.complete, "limit": self.limit, "among": self.among,
            "adversary": describe_adversary(self.adversary, self.release),
            "data": {
                "name": self.name, "records": self.release.n_records, "items": self.release.n_items,
                "entries": self.release.n_entries, "fingerprint": self.release.fingerprint,
            },
            "summary": self.summary, "sentences": self._sentences,
            "command": self.command(self.name or "DATA", "OUT"),
            "recommended": None if self.recommended is None else _plain(self.recommended),
            "points": [_plain(point) | {"frontier": point.steps in edge} for point in self.points],
            "impossible": self.found.impossible,
            "composition": None if both is None else {
                name: None if (one := getattr(both, name)) is None else estimate_json(one)
                for name in ("right", "claimed", "wrong", "shown_once", "shown")
            } | {"words": words.composed(both)},
            "limits": words.limits(self.found, self.release.span > 0), "version": __version__,
        }  # fmt: skip

    def __repr__(self) -> str:
        best = "nothing recommended" if self.recommended is None else self.recommended.name
        return f"<Advice: {len(self.points)} ways tried; {best}>"


def advise(
    release: Release,
    adversary: Adversary | None = None,
    limit: float = 0.05,
    *,
    candidates: Iterable[Step | str | Sequence[Step | str]] | None = None,
    targets: int = 1000,
    people: int = 1000,
    among: Among = "released",
    name: str = "",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
    work: str | Path | None = None,
) -> Advice:
    """The least change of a release after which an adversary finds no more than a share of the people.

    adversary   the headline of the audit's ladder, unless another is given
    limit       the share of people who may be found: the upper end of the interval has to stay below it
    candidates  steps, or several in a row; single steps and combinations are tried by themselves otherwise
    targets     how many people the ways that are left in the end are tried on
    people      of how many people entries are held out, to see what a release is still good for
    among       whom the limit is for: "everybody" of the release, or only those who are "released" by it
    work        a folder that keeps what is done; a search that was cut short goes on from there

    Many ways are tried quickly, those on the frontier of risk and use fully, and what would be recommended
    once more with fresh people, facts and noise: the best of many looks better than it is. People for whom no
    record stands are not found; how it is for the others is told beside. Ctrl-C ends it with what it has.

    >>> import standout as so
    >>> release = so.synthesize(records=30, items=40, entries=400, seed=7)
    >>> done = advise(release, limit=0.1, candidates=["drop-entries 0.5"], targets=5, people=5)
    >>> [point.name for point in done.points], done.recommended
    (['untouched', 'drop-entries 0.5'], None)
    """
    if isinstance(release, Sanitized):
        raise ParameterError("advice is about an original: give it the release before it was sanitized")
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit < 1:
        raise ParameterError(f"limit must be above 0 and below 1, got {limit!r}")
    if adversary is not None and not isinstance(adversary, Adversary):
        raise ParameterError(f"adversary must be an Adversary, got {type(adversary).__name__}")
    if among not in get_args(Among):
        raise ParameterError(f"among must be everybody or released, got {among!r}")
    who = _headline(release.check()) if adversary is None else adversary
    tried = min(whole_number("targets", targets, 1), release.n_records)
    lab = Lab(
        release, who, tried, whole_number("people", people, 1), check_seed(seed), among,
        thread_count(threads), None if work is None else make_folder(Path(work), private=True),
    )  # fmt: skip
    found = searched(lab, float(limit), None if candidates is None else _ways(candidates), progress)
    both = _together(release, found, lab, progress)
    return Advice(release, found, who, float(limit), both, among, lab.seed, printable(str(name)))


def _headline(release: Release) -> Adversary:
    fit = fit_ladder(resolve_ladder(None), release)
    return next(rung.adversary for rung in fit.rungs if rung.name == fit.headline)


def _ways(candidates: Any) -> list[Steps]:
    """Candidates as tuples of steps, without repeats."""
    if isinstance(candidates, str) or not isinstance(candidates, Iterable):
        raise ParameterError("candidates are steps, or sequences of steps: ['round-time month', …]")
    found = []
    for one in candidates:
        several = [one] if isinstance(one, (str, Step)) else one
        if not isinstance(several, Iterable):
            raise ParameterError("a candidate is a step or a sequence of steps")
        steps = tuple(parse_step(step) if isinstance(step, str) else step for step in several)
        if not steps or not all(isinstance(step, Step) for step in steps):
            raise ParameterError("a candidate is a step or a sequence of steps")
        found.append(steps)
    if not found:
        raise ParameterError("at least one candidate is needed")
    return list(dict.fromkeys(found))


def _together(release: Release, found: Found, lab: Lab, progress: Progress) -> Composition | None:
    """What two releases of the recommended kind give away together."""
    if found.recommended is None or not found.recommended.steps:
        return None
    steps = found.recommended.steps
    try:
        progress("linking two of them", 0, 1)
        noises = [lab.seed + more for more in (3, 4)]
        one, two = (
            sanitize(release, *steps, seed=seed, renumber=True, threads=lab.threads) for seed in noises
        )
        return composition(one, two, seed=lab.seed, threads=lab.threads)
    except KeyboardInterrupt:
        found.complete = False
    except ParameterError:  # nobody is in both
        pass
    return None


def _plain(point: Point) -> dict[str, Any]:
    plain = point.to_dict()
    for name in ("risk", "risk_released"):
        plain[name] = estimate_json(Estimate(**plain[name]))
    plain["utility"] = {name: estimate_json(Estimate(**one)) for name, one in plain["utility"].items()}
    return plain


def _columns(name: str, one: Estimate | None) -> dict[str, float | None]:
    numbers = (None, None, None) if one is None else (one.value, one.low, one.high)
    ends = ("", "_low", "_high")
    return {
        name + end: number if number is not None and math.isfinite(number) else None
        for end, number in zip(ends, numbers, strict=True)
    }
