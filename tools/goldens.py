"""Numbers that must not change when the code does: audits, links, advice and sanitized data of small releases.

python -m tools.goldens check [NAME …]      compare with tests/goldens; exits with 1 if a number differs
python -m tools.goldens freeze [NAME …]     write tests/goldens; only for a change of the numbers that is meant

All data is generated here. A golden is a flat mapping from names of our own to numbers, so that the interface and
the findings schema may change: then the adapters of this file change, never the frozen numbers. Draws, best
guesses, ties, ranks, counts and identified rates are compared exactly, other floats to 1e-6 of themselves, and bits to
1e-6: near 0 their last digits are those of a posterior near 1. Names that are not frozen are ignored.
"""

import argparse
import hashlib
import json
import math
import multiprocessing
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import standout as so
from standout.attack.any_attack import attack_columns, attack_named
from standout.know.sanitized import original_of

FOLDER = Path(__file__).parent.parent / "tests" / "goldens"
RELATIVE, ABSOLUTE, BITS = 1e-6, 1e-9, 1e-6
Numbers = dict[str, Any]

# Adapters: the only part that knows the interface.


def read_history(path: Path, **options: Any) -> Any:
    return so.read(path, **options)


def read_people(path: Path, **options: Any) -> Any:
    return so.read(path, kind="table", **options)


def known_columns(**knowledge: Any) -> Any:
    """The adversary who knows attributes of a table."""
    return so.Adversary(**knowledge)


def people_and_entries(known: Any, entries: so.Adversary) -> Any:
    """The adversary who knows attributes and entries."""
    return so.Adversary(knows=known.knows, wrong=known.wrong, entries=entries)


def history_audit(release: Any, **settings: Any) -> Numbers:
    return audit_numbers(so.audit(release, targets=40, facts=[2, 4], seed=3, threads=1, **settings).findings)


def people_audit(table: Any, **settings: Any) -> Numbers:
    return audit_numbers(so.audit(table, targets=60, facts=[1, 3], seed=3, threads=1, **settings).findings)


RENAMED = {"facts": "knows", "too_few_items": "too_few_cells"}
"""The name of a measure in the findings about tables."""
WITH_INTERVAL = ("identified", "correct_claims", "bits_gained")
MEASURES = (
    "targets",
    "in_top",
    "wrong_claims",
    "correct_claims_at_budget",
    "absent_claims",
    "threshold_at_budget",
    "bits_left",
    "lineup_size",
    "revealed_correct",
    "stated_probability",
    "calibration_bias",
)
CURVE = ("identified", "bits_gained")
BEFORE_AFTER = ("before", "after", "difference", "before_in_release", "after_in_release", "difference_in_release")


def field(part: Any, name: str) -> Any:
    """A field by our name; None if there is none."""
    return getattr(part, name, getattr(part, RENAMED.get(name, name), None))


def audit_numbers(findings: Any) -> Numbers:
    """All numbers of an audit's findings."""
    numbers: Numbers = {
        "headline": findings.answer.adversary,
        "answer/identified": estimate(findings.answer.rate),
        "answer/people identified": findings.answer.people_identified,
        "trusted": findings.trust.trusted,
    }
    for part in ("singling_out", "linkability", "inference"):
        verdict = getattr(findings.verdict, part)
        numbers |= {f"verdict/{part}": verdict.answer, f"verdict/{part}/rate": estimate(verdict.rate)}
    for adversary in findings.adversaries:
        numbers |= {
            f"{adversary.name}/attack": adversary.attack,
            f"{adversary.name}/knows": adversary.knows,
            f"{adversary.name}/too few": field(adversary, "too_few_items"),
        }
        if control := field(adversary, "control"):
            numbers |= {f"{adversary.name}/control/{m}": estimate(field(control, m)) for m in ("main", "control")}
        for attack in adversary.attacks:
            key = f"{adversary.name}/{attack.name}"
            numbers |= {f"{key}/{m}": estimate(field(attack.as_named, m)) for m in WITH_INTERVAL}
            numbers |= {f"{key}/{m}": value(field(attack.as_named, m)) for m in MEASURES}
            for point in attack.curve:
                numbers |= {f"{key}/{field(point, 'facts')} facts/{m}": value(field(point, m)) for m in CURVE}
    for adversary in findings.before_after.adversaries if findings.before_after else ():
        numbers |= {f"{adversary.name}/original/{m}": estimate(field(adversary, m)) for m in BEFORE_AFTER}
    for grid in findings.error_grids.grids if field(findings, "error_grids") else ():
        for row in grid.rows:
            for cell in row.cells:
                key = f"grid/{grid.varies}/{row.label}/{cell.facts} facts"
                numbers[f"{key}/identified"] = value(cell.identified)
    if theory := field(findings, "theory"):
        numbers |= {f"sparsity/{p.epsilon}": value(p.share) for p in theory.sparsity.curve}
        numbers |= {f"bounds/{b.theorem}/{b.setting}": b.bound for b in theory.bounds}
    if exposure := field(findings, "exposure"):
        numbers |= {f"exposure/needs {p.facts} facts": value(p.share) for p in exposure.facts_needed}
        for section in ("by_length", "by_popularity", "by_first_date"):
            for group in getattr(exposure, section):
                numbers |= {f"exposure/{section}/{group.label}/people": group.people}
                numbers |= {f"exposure/{section}/{group.label}/identified": value(group.identified)}
    if identity := findings.classes:
        numbers |= {f"classes/{m}": getattr(identity, m) for m in ("k", "classes", "unique", "highest", "mean")}
        numbers |= {f"classes/{m}": getattr(identity, m) for m in ("k_with_gaps", "unique_with_gaps")}
        numbers |= {f"classes/smaller than {part.size}": part.share for part in identity.smaller}
        numbers["classes/sizes"] = [part.rows for part in identity.sizes]
    for found in field(findings, "column_sets") or ():
        key = f"column sets/{len(found.columns)}"
        numbers |= {f"{key}/columns": ", ".join(found.columns), f"{key}/unique": found.unique}
    for part in field(findings, "disclosure") or ():
        key = f"disclosure/{part.column}"
        numbers |= {f"{key}/{m}": estimate(getattr(part, m)) for m in ("guessed", "control", "baseline")}
        if part.diversity:
            for measure in ("distinct", "entropy", "same_value", "t_closeness"):
                numbers[f"{key}/{measure}"] = getattr(part.diversity, measure)
    if learned := field(findings, "learned"):
        numbers |= {"learned/columns": estimate(learned.columns), "learned/bits": estimate(learned.bits)}
    if population := field(findings, "population"):
        numbers |= {f"population/{m}": estimate(getattr(population, m)) for m in ("unique", "journalist")}
    return numbers


def simulation_numbers(release: Any, adversary: so.Adversary, facts: Sequence[int] = (2, 5)) -> Numbers:
    """Outcomes of simulated attacks on a history, target by target."""
    numbers: Numbers = {}
    for name, attack in (("paper", so.ScoreboardRH()), ("likelihood", so.Likelihood(adversary))):
        result = so.simulate(release, adversary, attack=attack, facts=list(facts), targets=50, seed=5, threads=1)
        for cell in result.cells:
            key, outcomes = f"simulate/{name}/{cell.facts} facts", cell.outcomes
            numbers |= {
                f"{key}/targets": digest(cell.targets),
                f"{key}/too few": cell.too_few_items,
                f"{key}/identified": estimate(cell.identified),
                f"{key}/identified by target": digest(outcomes.identified.ravel()),
                f"{key}/candidates": digest(outcomes.candidates.ravel().astype(int)),
                f"{key}/claim strength": spread(outcomes.claim_strength),
                f"{key}/absent claim strength": spread(outcomes.absent_claim_strength),
                f"{key}/bits left": spread(outcomes.bits_left),
                f"{key}/posterior": spread(outcomes.best_probability),
                f"{key}/revealed correct": spread(outcomes.revealed_correct),
            }
    return numbers


def verdict_numbers(release: Any, adversary: so.Adversary, people: int = 12) -> Numbers:
    """Best guesses, ties, ranks, σ, eccentricity, posteriors and bits of single attacks on a history."""
    numbers: Numbers = {}
    eligible = adversary.eligible(release, np.arange(release.n_records))
    targets = [release.records[r] for r in np.flatnonzero(eligible)[:people].tolist()]
    auxes = [adversary.observe(release, target, seed=9) for target in targets]
    numbers["verdicts/facts"] = digest((text(f.item), text(f.value), text(f.time)) for aux in auxes for f in aux.facts)
    attacks = {"paper": so.ScoreboardRH(), "algorithm 1A": so.Scoreboard(), "likelihood": so.Likelihood(adversary)}
    for name, attack in attacks.items():
        verdicts = [attack.attack(release, aux) for aux in auxes]
        pairs = list(zip(verdicts, targets, strict=True))
        key = f"verdicts/{name}"
        numbers |= {
            f"{key}/best guesses": digest(str(v.best) for v in verdicts),
            f"{key}/ties": [int(v.ties) for v in verdicts],
            f"{key}/ranks": [int(v.rank(target)) for v, target in pairs],
            f"{key}/sigma": [v.sigma for v in verdicts],
            f"{key}/eccentricity": [v.eccentricity for v in verdicts],
            f"{key}/posterior": [v.probability(target) for v, target in pairs],
            f"{key}/bits": [v.entropy(target) for v, target in pairs],
        }
    answer = so.lineup(release, auxes[0], so.Likelihood(adversary), top=5)
    numbers |= {
        "lineup/candidates": [str(c.record) for c in answer.lineup.candidates],
        "lineup/probabilities": [c.probability for c in answer.lineup.candidates],
        "lineup/nobody": answer.nobody,
        "lineup/bits left": answer.bits_left,
        "lineup/parts": [part.score for part in answer.parts],
    }
    return numbers


def people_simulation_numbers(table: Any, adversary: Any) -> Numbers:
    """Outcomes of simulated attacks on a table, target by target."""
    numbers: Numbers = {}
    for name in ("likelihood", "paper", "exact match", "threshold"):
        cell = so.simulate(table, adversary, attack=name, targets=50, seed=5, threads=1).cell()  # type: ignore[arg-type]
        facts = adversary.observe_all(original_of(table), cell.targets, 5)
        verdicts, absent = (
            attack_columns(table, facts, attack_named(name, adversary), absent=gone, threads=1)  # type: ignore[arg-type]
            for gone in (False, True)
        )
        key, claims = f"simulate/{name}", cell.claims
        numbers |= {
            f"{key}/targets": digest(cell.targets),
            f"{key}/too few": cell.too_few_items,
            f"{key}/identified": estimate(cell.identified),
            f"{key}/best guesses": digest(verdicts.guess),
            f"{key}/ties": digest(verdicts.ties),
            f"{key}/above": digest(verdicts.above),
            f"{key}/absent best guesses": digest(absent.guess),
            f"{key}/eccentricity": spread(verdicts.eccentricity),
            f"{key}/posterior": spread(verdicts.posterior),
            f"{key}/bits left": spread(verdicts.bits_left),
        } | {f"{key}/{m}": estimate(getattr(claims, m)) for m in ("correct_claims", "wrong_claims", "absent_claims")}
    return numbers


def people_lineup_numbers(table: Any, known: Mapping[str, Any], adversary: Any) -> Numbers:
    aux = so.Aux([so.Fact(name, value) for name, value in known.items()])
    answer = so.lineup(table, aux, so.Likelihood(adversary), top=5)
    return {
        "lineup/candidates": [table.records.find(candidate.record) for candidate in answer.lineup],
        "lineup/probabilities": [candidate.probability for candidate in answer.lineup],
        "lineup/scores": [candidate.score for candidate in answer.lineup],
        "lineup/ties": answer.verdict.ties,
        "lineup/nobody": answer.nobody,
        "lineup/bits left": answer.bits_left,
    }


def class_numbers(table: Any, population: int) -> Numbers:
    """k, classes, smallest column sets and what they reveal."""
    risk = so.classes(table, population=population, seed=4, threads=1)
    numbers: Numbers = {
        "classes/k": risk.identity.k,
        "classes/unique": estimate(risk.identity.unique),
        "classes/mean": estimate(risk.identity.mean),
        "classes/quasi-identifiers": ", ".join(risk.columns.quasi_identifiers),
        "keys": [", ".join(found.columns) for found in risk.keys.sets],
        "keys/all columns": estimate(risk.keys.all_columns),
    }
    assert risk.population is not None
    numbers |= {
        "population/unique": estimate(risk.population.unique),
        "population/mean": estimate(risk.population.mean),
    }
    numbers |= {f"minimal sets/{part.size}": estimate(part.share) for part in risk.minimal_sets}
    for part in risk.disclosures:
        key = f"disclosure/{part.column}"
        numbers |= {f"{key}/l": part.distinct_l, f"{key}/entropy l": part.entropy_l, f"{key}/t": part.t}
        numbers |= {f"{key}/guess": estimate(part.guess)}
    return numbers


def sparsity_numbers(release: Any) -> Numbers:
    numbers: Numbers = {}
    for name, similarity in (("items", so.Present()), ("values", so.Within(value=0.5, time=30))):
        result = so.sparsity(release, similarity, sample=150, seed=6, threads=1)
        numbers |= {
            f"sparsity/{name}/records": digest(result.records),
            f"sparsity/{name}/nearest": spread(result.nearest),
            f"sparsity/{name}/delta": estimate(result.delta(0.3)),
        }
    for part in so.unicity(release, [1, 2, 4], value=None, targets=150, seed=6, threads=1):
        numbers |= {
            f"unicity/{part.k}/identified": estimate(part.share),
            f"unicity/{part.k}/too few": part.too_few_entries,
        }
    return numbers


def grid_numbers(path: Path, **options: Any) -> Numbers:
    """Unicity of places by the size of the cells."""
    grid = so.unicity_grid(path, geohashes=[4, 6], points=[1, 3], targets=80, seed=6, threads=1, **options)
    return {f"unicity grid/{cell.places}/{cell.points} points/identified": estimate(cell.share) for cell in grid.cells}


COLUMN_STEPS = {
    "generalize", "round", "top-code", "swap", "suppress-cells", "suppress-to-k", "drop-rows", "drop-column",
}  # fmt: skip


def step_names(steps: Iterable[Any]) -> list[str]:
    """The steps as they were written when they were frozen: round age 5 was round:age=5."""
    names = []
    for step in steps:
        name, *words = str(step).split(" ")
        names.append(f"{name}:{','.join(words[:-1])}={words[-1]}" if name in COLUMN_STEPS else str(step))
    return [name.replace("drop-column:=", "drop-column:") for name in names]


def sanitize(release: Any, *steps: str) -> Any:
    return so.sanitize(release, *steps, seed=11, threads=1)


def content_numbers(release: Any) -> Numbers:
    """A digest of all cells, whatever their order."""
    frame = release.to_frame()
    rows = sorted(tuple(map(text, row)) for row in frame.rows())
    return {"content/rows": frame.height, "content/columns": frame.columns, "content/cells": digest(rows)}


def utility_numbers(release: Any, *steps: str) -> Numbers:
    result = so.utility(release, *steps, people=80, seed=8, threads=1)
    return {f"utility/{name}": estimate(number) for name, number in result.measures()}


def link_numbers(release: Any, public: Any, truth: Mapping[str, str], **settings: Any) -> Numbers:
    links = so.link(release, public, truth=truth, decoys=100, budget=0.1, seed=12, threads=1, **settings)
    table = links.table
    return {
        "link/claims": links.claims,
        "link/tied claims": links.tied_claims,
        "link/best guesses": digest(map(str, table["record"])),
        "link/runners up": digest(map(str, table["runner_up"])),
        "link/claimed": digest(table["claimed"].to_numpy()),
        "link/ties": digest(table["ties"].to_numpy()),
        "link/facts": digest(table["facts_used"].to_numpy()),
        "link/evidence": spread(table["evidence"].to_numpy()),
        "link/eccentricity": spread(table["eccentricity"].to_numpy()),
        "link/bits left": spread(table["bits_left"].to_numpy()),
        "link/false claim": spread(links.false_claim),
        "link/expected false claims": links.expected_false_claims,
        "link/precision": estimate(links.precision),
        "link/recall": estimate(links.recall),
        "link/identified": None if links.identified is None else digest(links.identified),
        "link/budget": [json.dumps(row) for row in links.by_budget.select("budget", "claims", "correct_claims").rows()],
    }


def advice_numbers(release: Any, limit: float, candidates: Sequence[Any] | None, **settings: Any) -> Numbers:
    advice = so.advise(
        release, limit=limit, candidates=candidates, targets=150, people=60, seed=13, threads=1, **settings
    )
    numbers: Numbers = {"advice/candidates": len(advice.candidates)}
    numbers["advice/tried"] = digest(step_names(c.steps) for c in advice.candidates)
    numbers["advice/frontier"] = [step_names(c.steps) for c in advice.frontier]
    if advice.recommended:
        numbers["advice/recommended"] = step_names(advice.recommended.steps)
        numbers["advice/recommended/identified"] = estimate(advice.recommended.rate)
    for candidate in advice.candidates:
        key = f"advice/{' + '.join(step_names(candidate.steps)) or 'untouched'}"
        numbers |= {f"{key}/identified": value(candidate.rate), f"{key}/kept": value(candidate.utility.kept)}
    return numbers


def description_numbers(release: Any) -> Numbers:
    return {
        "records": release.n_records,
        "items": release.n_items,
        "entries": release.n_entries,
        "levels": release.n_levels,
        "span": release.span,
        "support": digest(release.support),
        "lengths": digest(release.lengths),
    }


# Numbers.


def estimate(rate: Any) -> list[float] | float | None:
    """[value, low, high, n] of an estimate; a number as it is."""
    return [rate.value, rate.low, rate.high, rate.n] if hasattr(rate, "low") else rate


def value(rate: Any) -> float | None:
    """An estimate without its interval; a number as it is."""
    return getattr(rate, "value", rate)


def text(cell: Any) -> str:
    """A cell, whatever type holds it."""
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return f"{cell:.12g}"
    if isinstance(cell, (list, tuple, frozenset, set, pl.Series)):
        return ";".join(sorted(map(text, cell)))
    return str(cell)


def digest(values: Iterable[Any]) -> str:
    """The first 12 digits of the SHA-256 of values that are exact: integers, texts, 1 / ties."""
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    plain = [text(value) if isinstance(value, (bool, int, float)) else value for value in listed]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()[:12]


SPREAD = 6


def spread(values: Any) -> list[float]:
    """Sum, mean square, extremes and median of the finite values, and how many these are."""
    numbers = np.asarray(values, np.float64).ravel()
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return [0]
    quantiles = np.quantile(numbers, [0, 0.5, 1]).tolist()
    return [math.fsum(numbers), math.fsum(numbers**2) / len(numbers), *quantiles, len(numbers)]


# Data.


def purchases(folder: Path, people: int = 200, repeats: bool = True) -> Path:
    """Purchases with quantities and days; people buy the same again."""
    draw, path = np.random.default_rng(20), folder / "purchases.csv"
    favourite = draw.integers(0, 120, (people, 6))
    with path.open("w", encoding="utf-8") as file:
        file.write("customer,product,quantity,day\n")
        for person in range(people):
            for _ in range(int(draw.integers(8, 30))):
                often = draw.random() < 0.5 and repeats
                product = favourite[person, draw.integers(6)] if often else int(120 * draw.random() ** 2)
                day = date(2020, 1, 1) + timedelta(days=int(draw.integers(0, 400)))
                file.write(f"c{person},p{product},{1 + int(draw.exponential(2))},{day}\n")
    return path


def visits(folder: Path) -> Path:
    """Visits of places near a few homes, with hours."""
    draw, path = np.random.default_rng(21), folder / "visits.csv"
    homes = draw.normal([48.2, 16.4], 0.2, (60, 2))
    with path.open("w", encoding="utf-8") as file:
        file.write("user,lat,lon,time\n")
        for person in range(180):
            for _ in range(int(draw.integers(10, 25))):
                lat, lon = homes[(person + int(draw.integers(0, 3))) % 60] + draw.normal(0, 0.01, 2)
                moment = (
                    f"2021-03-{1 + draw.integers(0, 28):02d} {draw.integers(0, 24):02d}:{draw.integers(0, 60):02d}:00"
                )
                file.write(f"u{person},{lat:.5f},{lon:.5f},{moment}\n")
    return path


def words(folder: Path) -> Path:
    """A history whose values are texts."""
    draw, path = np.random.default_rng(22), folder / "words.csv"
    kinds = ("viewed", "bought", "returned", "wished")
    with path.open("w", encoding="utf-8") as file:
        file.write("user,item,action,date\n")
        for person in range(200):
            for item in np.unique((90 * draw.random(int(draw.integers(6, 25))) ** 2).astype(int)).tolist():
                day = date(2019, 5, 1) + timedelta(days=int(draw.integers(0, 200)))
                file.write(f"{person},i{item},{kinds[min(3, int(draw.exponential(1)))]},{day}\n")
    return path


def survey(folder: Path, rows: int = 400) -> Path:
    """One row per person: numbers, categories, an ordered scale, a boolean, and gaps."""
    draw, path = np.random.default_rng(23), folder / "survey.csv"
    age = draw.integers(18, 90, rows)
    pl.DataFrame(
        {
            "id": [f"r{row}" for row in range(rows)],
            "age": age,
            "sex": draw.choice(["f", "m"], rows),
            "zip": [f"1{z:03d}" for z in draw.integers(0, 40, rows) * 7],
            "education": draw.choice(["primary", "secondary", "bachelor", "master"], rows, p=[0.2, 0.4, 0.25, 0.15]),
            "children": np.minimum(draw.poisson(1.2, rows), 5),
            "income": (age * 300 + draw.normal(20_000, 6_000, rows)).round(-2).astype(int),
            "smoker": draw.choice(["yes", "no"], rows, p=[0.25, 0.75]),
            "disease": draw.choice(["none", "flu", "asthma", "diabetes"], rows, p=[0.7, 0.15, 0.1, 0.05]),
        }
    ).write_csv(path)
    return path


SURVEY_SCHEMA: dict[str, Any] = {
    "education": {"kind": "ordered", "levels": ["primary", "secondary", "bachelor", "master"]},
    "zip": {"kind": "category", "hierarchy": "prefix"},
    "age": {"error": 2},
    "disease": {"role": "sensitive"},
}
MIXED_SCHEMA: dict[str, Any] = {
    "tags": {"kind": "set", "separator": ";"},
    "born": {"kind": "date", "error": 30},
    "region": {"kind": "category", "hierarchy": "prefix", "similarity": "hierarchy"},
    "grade": {"kind": "ordered", "levels": ["low", "middle", "high"]},
    "income": {"similarity": "decay", "scale": 5000, "error": 1000},
    "illness": {"role": "sensitive"},
}


def odd_table(folder: Path, rows: int = 300) -> Path:
    """Sets, dates, a hierarchy and missing cells."""
    draw, path = np.random.default_rng(24), folder / "odd.csv"
    tags = [";".join(sorted({f"t{t}" for t in draw.integers(0, 9, draw.integers(0, 4))})) for _ in range(rows)]
    born = [date(1950, 1, 1) + timedelta(days=int(d)) for d in draw.integers(0, 18_000, rows)]
    frame = pl.DataFrame(
        {
            "tags": tags,
            "born": [day.isoformat() for day in born],
            "region": [f"{a}{b}{c}" for a, b, c in draw.integers(1, 4, (rows, 3))],
            "grade": draw.choice(["low", "middle", "high"], rows),
            "income": [str(int(v)) for v in draw.normal(30_000, 9_000, rows).round(-2)],
            "illness": draw.choice(["none", "cold", "ulcer"], rows, p=[0.6, 0.3, 0.1]),
        }
    )
    gaps = [
        pl.when(pl.Series(draw.random(rows) < 0.08)).then(pl.lit("")).otherwise(pl.col(name)).alias(name)
        for name in frame.columns[1:]
    ]
    frame.with_columns(gaps).write_csv(path)
    return path


def ratings(records: int = 250, seed: int = 7) -> so.Release:
    return so.synthesize(records=records, items=120, entries=records * 20, seed=seed, threads=1)


def public_profiles(folder: Path, release: so.Release) -> tuple[Path, dict[str, str]]:
    """What some people of the release said in public: some of their entries, roughly; and who they are."""
    draw, path = np.random.default_rng(25), folder / "public.csv"
    frame = release.to_frame()
    people = sorted(set(map(str, frame["record"])), key=lambda record: (len(record), record))
    truth = {f"p{place}": record for place, record in enumerate(draw.permutation(people)[:60].tolist())}
    with path.open("w", encoding="utf-8") as file:
        file.write("user,item,rating,date\n")
        for profile, record in truth.items():
            rows = sorted(frame.filter(pl.col("record").cast(pl.String) == record).rows(), key=lambda row: int(row[1]))
            for _, item, value, day in [rows[r] for r in sorted(draw.permutation(len(rows))[:8].tolist())]:
                near = min(5, max(1, int(value) + int(draw.integers(-1, 2))))
                file.write(f"{profile},{item},{near},{day + timedelta(days=int(draw.integers(-5, 6)))}\n")
    return path, dict(list(truth.items())[:45])


# Goldens.

WHO = so.Adversary(knows=5, wrong=1, value_error=1, time_error=14)


def history(_: Path) -> Numbers:
    release = ratings()
    return (
        description_numbers(release)
        | history_audit(release, quick=True)
        | simulation_numbers(release, WHO)
        | verdict_numbers(release, WHO)
        | sparsity_numbers(release)
    )


def history_choices(_: Path) -> Numbers:
    """Other choices of items, wrong items, known lengths."""
    release, numbers = ratings(seed=8), {}
    adversaries = {
        "popular": so.Adversary(knows=4, items="popular", value_error=0, time_error=3),
        "rarest": so.Adversary(knows=4, items="rarest", value_error=1, time_error=None),
        "recent": so.Adversary(knows=4, items="recent", value_error=None, time_error=7),
        "wrong items": so.Adversary(knows=5, wrong=2, wrong_facts="items", value_error=1, time_error=14),
        "length": so.Adversary(knows=3, value_error=1, time_error=30, length_error=0.5),
        "outside top": so.Adversary(knows=4, value_error=1, time_error=14, items=so.outside_top(20)),
    }
    for name, adversary in adversaries.items():
        for key, number in (
            simulation_numbers(release, adversary, [3]) | verdict_numbers(release, adversary, 6)
        ).items():
            numbers[f"{name}/{key}"] = number
    return numbers


def repeats(folder: Path) -> Numbers:
    release = read_history(purchases(folder))
    return (
        description_numbers(release)
        | history_audit(release, quick=True)
        | simulation_numbers(release, WHO)
        | verdict_numbers(release, WHO)
        | sparsity_numbers(release)
    )


def places(folder: Path) -> Numbers:
    path = visits(folder)
    release = read_history(path, latitude="lat", longitude="lon", geohash=6, time_bin="day")
    who = so.Adversary(knows=4, time_error=2)
    return (
        description_numbers(release)
        | history_audit(release, quick=True)
        | simulation_numbers(release, who, [2, 4])
        | verdict_numbers(release, who)
        | grid_numbers(path, latitude="lat", longitude="lon", time_bins=["day"])
    )


def undated(folder: Path) -> Numbers:
    path = folder / "undated.csv"
    ratings(seed=9).to_frame().drop("time").write_csv(path)
    release = read_history(path)
    who = so.Adversary(knows=6, wrong=2, value_error=1)
    return description_numbers(release) | history_audit(release, quick=True) | verdict_numbers(release, who)


def text_values(folder: Path) -> Numbers:
    release = read_history(words(folder))
    who = so.Adversary(knows=5, wrong=1, value_error=0, time_error=10)
    return description_numbers(release) | history_audit(release, quick=True) | verdict_numbers(release, who)


def table(folder: Path) -> Numbers:
    people = read_people(survey(folder), schema=SURVEY_SCHEMA)
    who = known_columns(knows=4, wrong=1, error=1)
    known = {"age": 40, "sex": "f", "education": "master", "children": 2}
    return (
        people_audit(people, quick=True, population=5000)
        | people_simulation_numbers(people, who)
        | people_lineup_numbers(people, known, who)
        | class_numbers(people, 5000)
    )


def table_of_all_kinds(folder: Path) -> Numbers:
    people = read_people(odd_table(folder), schema=MIXED_SCHEMA, record=False)
    who = known_columns(knows=3, wrong=1, error=1, items="rarest")
    return (
        people_audit(people, quick=True)
        | people_simulation_numbers(people, who)
        | class_numbers(people, 2000)
        | content_numbers(people)
    )


def mix(folder: Path) -> Numbers:
    """People and their purchases, joined by id."""
    path = purchases(folder)
    draw, people = np.random.default_rng(26), folder / "people.csv"
    pl.DataFrame(
        {
            "customer": [f"c{person}" for person in range(190)],
            "age": draw.integers(18, 80, 190),
            "sex": draw.choice(["f", "m"], 190),
            "district": [f"d{d}" for d in draw.integers(0, 12, 190)],
        }
    ).write_csv(people)
    joined = read_people(people, record="customer", history=path)
    who = people_and_entries(known_columns(knows=2), so.Adversary(knows=3, wrong=1, value_error=1, time_error=14))
    return people_audit(joined, quick=True) | people_simulation_numbers(joined, who)


HISTORY_STEPS = ("round-time month", "drop-rare-items 5", "perturb-value 1 0.3", "sample-records 0.9")
TABLE_STEPS = ("round age 10", "generalize zip 2", "swap income 0.2", "drop-column children")


def sanitized_history(_: Path) -> Numbers:
    release = ratings(seed=10)
    safer = sanitize(release, *HISTORY_STEPS)
    numbers = content_numbers(safer) | history_audit(safer, quick=True) | simulation_numbers(safer, WHO)
    for steps in (
        ("cluster-records 4",),
        ("cap-records 10", "round-value bins 2"),
        ("km-suppress 5 2",),
        ("drop-entries 0.3",),
    ):
        for key, number in content_numbers(sanitize(release, *steps)).items():
            numbers[f"{' + '.join(step_names(steps))}/{key}"] = number
    return numbers | utility_numbers(release, *HISTORY_STEPS)


def sanitized_table(folder: Path) -> Numbers:
    people = read_people(survey(folder), schema=SURVEY_SCHEMA)
    safer = sanitize(people, *TABLE_STEPS)
    numbers = content_numbers(safer) | people_audit(safer, quick=True) | utility_numbers(people, *TABLE_STEPS)
    numbers |= people_simulation_numbers(safer, known_columns(knows=4, wrong=1, error=1))
    for steps in (
        ("suppress-to-k age sex 3",),
        ("top-code income ..45000",),
        ("suppress-cells zip 12",),
        ("drop-rows sex zip 3",),
    ):
        for key, number in content_numbers(sanitize(people, *steps)).items():
            numbers[f"{' + '.join(step_names(steps))}/{key}"] = number
    return numbers


def linked(folder: Path) -> Numbers:
    release = ratings(seed=14)
    path, truth = public_profiles(folder, release)
    public = read_history(path)
    numbers = link_numbers(release, public, truth)
    for key, number in link_numbers(release, public, truth, by="eccentricity", assign=True).items():
        numbers[f"by eccentricity, assigned/{key}"] = number
    return numbers


def advised_history(_: Path) -> Numbers:
    release = ratings(records=150, seed=15)
    candidates = [
        "round-time month",
        ["round-time month", "drop-top-items 20"],
        "drop-entries 0.8",
        ["cap-records 4", "round-time year"],
    ]
    return advice_numbers(
        release, 0.45, candidates, adversary=so.Adversary(knows=3, wrong=1, value_error=1, time_error=14)
    )


def advised_table(folder: Path) -> Numbers:
    people = read_people(survey(folder), schema=SURVEY_SCHEMA)
    return advice_numbers(people, 0.2, None, adversary=known_columns(knows=3, error=1))


GOLDENS: dict[str, Callable[[Path], Numbers]] = {
    function.__name__: function
    for function in (
        history,
        table,
        table_of_all_kinds,
        mix,
        sanitized_table,
        advised_table,
        repeats,
        sanitized_history,
        places,
        undated,
        text_values,
        history_choices,
        linked,
        advised_history,
    )
}
"""By name; in an order in which two processes do not compile the same kernels."""


def numbers_of(name: str) -> Numbers:
    """The numbers of a golden as JSON has them."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers = GOLDENS[name](Path(folder))
    kept = {key: number for key, number in numbers.items() if number is not None}
    loaded: Numbers = json.loads(json.dumps(kept, default=lambda number: number.item()))
    return {key: rounded(number, exact="identified" in key.rsplit("/", 1)[-1]) for key, number in loaded.items()}


def rounded(number: Any, exact: bool) -> Any:
    """Floats with 8 digits, which is more than is compared; the first number of an identified rate as it is."""
    if isinstance(number, list):
        return [rounded(part, exact and place == 0) for place, part in enumerate(number)]
    return float(f"{number:.8g}") if isinstance(number, float) and not exact else number


def differs(key: str, frozen: Any, now: Any) -> bool:
    """Whether a number changed: the value of an identified rate at all, another float by more than rounding."""
    name = key.rsplit("/", 1)[-1]
    if isinstance(frozen, list):
        if not isinstance(now, list) or len(frozen) != len(now):
            return True
        names = [name if place == 0 or "identified" not in name else "" for place in range(len(frozen))]
        if "bits" in name and len(frozen) == SPREAD:  # of a sum, the mean
            frozen, now = ([part[0] / max(part[-1], 1), *part[1:]] for part in (frozen, now))
        return any(differs(*part) for part in zip(names, frozen, now, strict=True))
    if isinstance(frozen, float) and isinstance(now, (int, float)) and "identified" not in name:
        absolute = BITS if "bits" in name else ABSOLUTE
        same = math.isclose(frozen, now, rel_tol=RELATIVE, abs_tol=absolute) or (math.isnan(frozen) and math.isnan(now))
        return not same
    return bool(frozen != now)


def compare(name: str, numbers: Numbers) -> list[str]:
    """A line for each frozen number that changed."""
    frozen: Numbers = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    changed = [key for key in frozen if key not in numbers or differs(key, frozen[key], numbers[key])]
    return [f"{name}/{key}: {frozen[key]} is now {numbers.get(key, 'missing')}" for key in changed]


def report(name: str, freeze: bool) -> tuple[str, list[str]]:
    """Freeze or check one golden: what was done, and a line for each number that changed."""
    begin = time.process_time()
    try:
        numbers = numbers_of(name)
    except Exception as error:
        if freeze:
            raise
        lines = [f"{name}: {type(error).__name__}: {error}"]
    else:
        if freeze:
            rows = ",\n".join(f"{json.dumps(key)}: {json.dumps(numbers[key])}" for key in sorted(numbers))
            (FOLDER / f"{name}.json").write_text("{\n" + rows + "\n}\n", encoding="utf-8")
        lines = compare(name, numbers)
    return f"{name}: {len(lines)} changed, {time.process_time() - begin:.1f} CPU s", lines


def main() -> None:
    """Freeze or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("check", "freeze"))
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(GOLDENS))
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    given = parser.parse_args()
    names = given.names or list(GOLDENS)
    context = multiprocessing.get_context("spawn")
    failed = False
    with ProcessPoolExecutor(given.jobs, context) if given.jobs > 1 else nullcontext() as pool:
        run = map if pool is None else pool.map
        for line, lines in run(report, names, [given.action == "freeze"] * len(names)):
            print(line, flush=True)
            print("".join(f"  {change[:300]}\n" for change in lines[:20]), end="", flush=True)
            failed |= bool(lines)
    sys.exit(failed)


if __name__ == "__main__":
    main()
