"""Small releases for the tests of the audit, and slow versions of what an audit computes on them."""

import json
from datetime import date, datetime, timedelta
from functools import cache, partial
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl

import naive
import standout as so
from conftest import content
from standout.core.rng import generator

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "findings.schema.json").read_text())
TARGETS, FACTS, SEED = 12, [1, 2, 4], 3

DEFAULTS = {
    "colleague": so.Adversary(knows=4, wrong=1, value_error=1, time_error=30, items="popular"),
    "acquaintance": so.Adversary(knows=8, wrong=2, value_error=1, time_error=14),
    "profile": so.Adversary(knows=8, time_error=3),
    "undated": so.Adversary(knows=8, wrong=2, value_error=1, time_error=None),
    "worst": so.Adversary(knows=8, items="rarest"),
}
"""The default ladder on five stars over several years."""
ACQUAINTANCE = DEFAULTS["acquaintance"]

small_audit = partial(so.audit, targets=TARGETS, facts=FACTS, name="people.csv", seed=SEED)


def random_day(draw):
    return date(2004, 1, 1) + timedelta(days=int(draw.integers(900)))


def random_hour(draw, days=375):
    return datetime(2004, 1, 1) + timedelta(hours=int(draw.integers(24 * days)))


def people(n=40, items=30, length=lambda r: 9 + r % 4, value=True, time=True, seed=1):
    """A release of n people. `value` and `time` may be functions of the random generator."""
    draw, rows = np.random.default_rng(seed), []
    random_value = value if callable(value) else lambda draw: float(draw.integers(1, 6))
    random_time = time if callable(time) else random_day
    for r in range(n):
        for i in draw.permutation(items)[: length(r)].tolist():
            row = {"record": f"person {r}", "item": f"thing {i}"}
            row |= {"value": random_value(draw)} if value else {}
            rows.append(row | ({"time": random_time(draw)} if time else {}))
    unit = "hour" if time and callable(time) else "day"
    return so.read(pl.DataFrame(rows, infer_schema_length=None), time_unit=unit)


CASES = {
    "one record": lambda: people(n=1),
    "one record of one item": lambda: people(n=1, items=1, length=lambda r: 1, value=False, time=False),
    "two records": lambda: people(n=2),
    "no values": lambda: people(value=False),
    "no times": lambda: people(time=False),
    "neither": lambda: people(value=False, time=False),
    "categories": lambda: people(value=lambda draw: str(draw.choice(["rented", "bought", "seen"]))),
    "hourly": lambda: people(time=random_hour),
    "fewer items than facts": lambda: people(items=5, length=lambda r: 1 + r % 5),
    "everybody has everything": lambda: people(items=6, length=lambda r: 6, value=False, time=False),
    "one item each": lambda: people(length=lambda r: 1),
    "one value, one day": lambda: people(value=lambda draw: 3.0, time=lambda draw: datetime(2004, 1, 1)),
    "gaps": lambda: people(value=lambda draw: None if draw.random() < 0.5 else 4.0 + draw.integers(2)),
}


@cache
def audited_case(case):
    """The release of a case and its audit, which several tests share."""
    release = CASES[case]()
    return release, so.audit(release, targets=6, facts=[1, 2, 3, 4, 6], fail_above=0.5, seed=1)


def valid(result):
    """The findings of an audit as JSON values, which keep to the schema."""
    plain = result.to_dict()
    jsonschema.Draft202012Validator(SCHEMA).validate(plain)
    json.dumps(plain, allow_nan=False)
    return plain


def targets_of(release, adversary, seed=SEED):
    """Rows of the targets that an audit draws."""
    order = generator(seed, "targets").permutation(release.n_records)
    return order[adversary.eligible(release, order)][:TARGETS]


def identified(release, adversary, rows, size, seed=SEED):
    """For each target 1/ties if it is among the best records by the paper's formula, else 0."""
    cells, known = content(release), adversary.observe_all(release, rows, seed)
    shares = []
    for q, row in enumerate(rows):
        facts = {}
        for fact in list(known.aux(release, q))[:size]:
            time = None if fact.time is None else (fact.time - date(1970, 1, 1)).days
            facts[fact.item] = (fact.value, time)
        tied = naive.tied(naive.sums(cells, facts))
        shares.append((release.records[row] in tied) / len(tied))
    return shares
