"""Compiled code with its array bounds checked, on small random data, compared with its slow twins."""

import math
import random
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

import polars as pl
from tests.fuzzing.case import Case
from tests.fuzzing.outcomes import attempt

import naive
import standout as so
from random_releases import random_rows, read_rows

__all__ = ["KERNELS"]

FIRST = date(2005, 1, 1)
SIMILAR = 1e-9
TWINS = [
    (so.Present(), naive.present),
    (so.Equal(), naive.equal),
    (so.Within(1, None), partial(naive.within, value=1, time=None)),
    (so.Within(None, 2), partial(naive.within, value=None, time=2)),
    (so.Within(1, 3.5), partial(naive.within, value=1, time=3.5)),
]


@dataclass(frozen=True)
class Kernel:
    """A check on random rows; a case is the size of the data and a seed."""

    check: object

    def case(self, draw):
        """Few or many records and items, some cells missing."""
        records, items = draw.choice([1, 2, 5, 20, 33, 64]), draw.choice([1, 2, 7, 31, 32, 33, 70])
        options = {
            "records": records,
            "items": items,
            "seed": draw.randrange(1 << 30),
            "length": draw.choice([1, 3, 6]),
        }
        options |= {"missing": draw.choice([0.0, 0.0, 0.3]), "levels": draw.choice([1, 2, 5, 40])}
        return Case({}, {"rows": {**options, "days": draw.choice([1, 20, 400])}, "choice": draw.randrange(1000)})

    def run(self, case, folder):
        """Compute both ways."""
        rows = random_rows(**case.options["rows"])
        return attempt(lambda: self.check(rows, random.Random(case.options["choice"])))


def _day(number):
    return None if number is None else FIRST + timedelta(days=number)


def _build(rows, draw):
    """The entries of a release are those of the rows, whatever their order."""
    repeats = draw.choice(["last", "first", "max", "keep"])
    rows = rows + draw.sample(rows, min(len(rows), draw.choice([0, 3])))
    release = read_rows(rows, repeats)
    draw.shuffle(shuffled := list(rows))
    if repeats == "keep" and read_rows(shuffled, repeats).fingerprint != release.fingerprint:
        raise AssertionError("the order of the rows matters")
    entries = naive.entries(rows, repeats)
    expected = sum(len(naive.cells_of(cells)) for cells in entries.values())
    if release.n_entries != expected:
        raise AssertionError(f"{release.n_entries} entries instead of {expected}")
    for index in range(release.n_records):
        release.record_at(index)


def _attack(rows, draw):
    """The highest score of Algorithm 1B is that of the slow twin."""
    release, entries = read_rows(rows), naive.entries(rows)
    known = draw.sample(sorted({row[1] for row in rows}), min(len({row[1] for row in rows}), draw.choice([1, 3, 8])))
    facts = {item: draw.choice([cell for (_, other), cell in entries.items() if other == item]) for item in known}
    aux = so.Aux([so.Fact(item, value, _day(day)) for item, (value, day) in facts.items()])
    verdict = so.ScoreboardRH().attack(release, aux)
    highest = naive.highest(naive.sums(entries, facts))
    if not math.isclose(verdict.highest, highest, rel_tol=SIMILAR, abs_tol=SIMILAR):
        raise AssertionError(f"the highest score is {verdict.highest} instead of {highest}")
    so.Scoreboard().attack(release, aux)
    so.Likelihood(so.Adversary(knows=len(known), value_error=1, time_error=3)).attack(release, aux)


def _simulate(rows, draw):
    """Many attacks at once; a person is found at most as often as tried."""
    adversary = so.Adversary(knows=draw.choice([1, 2]), wrong=draw.choice([0, 1]), value_error=1, time_error=2)
    so.simulate(read_rows(rows), adversary, targets=5, threads=1, seed=1, attack=draw.choice([None, so.Scoreboard()]))


def _neighbours(rows, draw):
    """Nearest neighbours are as similar as the slow twin says."""
    (similarity, twin), release = draw.choice(TWINS), read_rows(rows)
    if release.n_records < 2:
        return
    result = so.sparsity(release, similarity, threads=1)
    expected = [score for score, _ in naive.nearest_neighbours(naive.entries(rows), twin).values()]
    found = sorted(result.nearest.tolist())
    if len(found) != len(expected) or any(
        not math.isclose(a, b, abs_tol=1e-6) for a, b in zip(found, sorted(expected), strict=True)
    ):
        raise AssertionError("nearest neighbours differ")


def _table(rows, draw):
    """Classes of rows, their smallest sets, and attacks on rows."""
    columns = ["record", "item", "value", "day"]
    frame = pl.DataFrame(rows, schema=columns, orient="row").with_columns(pl.col("record").str.slice(0, 1))
    table = so.read(frame.drop("value") if frame["value"].null_count() == len(frame) else frame, record=False)
    names = [column.name for column in table.columns]
    risk = so.classes(table, names, threads=1)
    cells = list(frame.select(names).iter_rows())
    sizes = naive.class_sizes(cells, range(len(names)))
    if risk.identity.k != min(sizes):
        raise AssertionError(f"k is {risk.identity.k} instead of {min(sizes)}")
    so.simulate(table, so.Adversary(knows=1), targets=5, threads=1)


KERNELS = {
    "kernels: build": Kernel(_build),
    "kernels: attack": Kernel(_attack),
    "kernels: simulate": Kernel(_simulate),
    "kernels: neighbours": Kernel(_neighbours),
    "kernels: tables": Kernel(_table),
}
