"""Makes a table of invented people: correlated columns of every kind, for benchmarks and trials.

    python -m tools.make_table people.csv --rows 1000000 --columns 50 --seed 1

Each person has four hidden traits (age, wealth, health, region). A column shows one of them with noise, as a
number, ordered steps, a category, a date, yes or no, or a set; some cells are empty. The same seed gives the
same file.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

Traits = dict[str, np.ndarray]
GRADES = ("very low", "low", "medium", "high", "very high")
FEW_EMPTY = 0.02


def made_table(rows: int, columns: int, seed: int) -> pl.DataFrame:
    """The table: an id, age, sex and zip, then columns of each kind in turn.

    >>> made_table(3, 6, seed=1).columns
    ['id', 'age', 'sex', 'zip', 'number_1', 'grade_2', 'kind_3']
    """
    draw = np.random.default_rng(seed)
    traits = {name: draw.normal(size=rows) for name in ("age", "wealth", "health", "region")}
    traits["wealth"] = 0.5 * traits["age"] + 0.85 * traits["wealth"]
    traits["health"] = -0.6 * traits["age"] + 0.8 * traits["health"]
    series = [
        pl.Series("id", [f"P{number:07d}" for number in draw.permutation(rows)]),
        pl.Series("age", np.clip(np.rint(45 + 17 * traits["age"]), 0, 104).astype(np.int64)),
        pl.Series("sex", np.where(draw.random(rows) < 0.51, "f", "m")),
        pl.Series("zip", _zip_codes(traits["region"])),
    ]
    makers: list[Callable[[str, np.ndarray, np.random.Generator], pl.Series]] = [
        _number, _grade, _kind, _date, _flag, _set, _amount,
    ]  # fmt: skip
    for number in range(1, columns - 2):
        trait = traits[("wealth", "health", "age", "region")[number % 4]]
        noisy = 0.7 * trait + 0.7 * draw.normal(size=rows)
        series.append(makers[(number - 1) % len(makers)](str(number), noisy, draw))
    return pl.DataFrame(series)


def _zip_codes(region: np.ndarray) -> list[str]:
    codes = np.clip(np.rint(5000 + 1500 * region), 0, 9999).astype(np.int64) // 10 * 10
    return [f"{code:05d}" for code in codes]


def _emptied(series: pl.Series, draw: np.random.Generator) -> pl.Series:
    empty = pl.Series(draw.random(len(series)) < FEW_EMPTY)
    return pl.select(pl.when(empty).then(None).otherwise(series).alias(series.name)).to_series()


def _number(name: str, trait: np.ndarray, draw: np.random.Generator) -> pl.Series:
    return _emptied(pl.Series(f"number_{name}", np.rint(50 + 15 * trait).astype(np.int64)), draw)


def _grade(name: str, trait: np.ndarray, draw: np.random.Generator) -> pl.Series:
    steps = np.digitize(trait, [-1.2, -0.4, 0.4, 1.2])
    return _emptied(pl.Series(f"grade_{name}", np.array(GRADES)[steps]), draw)


def _kind(name: str, trait: np.ndarray, draw: np.random.Generator) -> pl.Series:
    kinds = (np.abs(np.rint(4 * trait)).astype(np.int64) + draw.geometric(0.5, len(trait))) % 24
    return pl.Series(f"kind_{name}", np.array([f"kind {chr(97 + kind)}" for kind in range(24)])[kinds])


def _date(name: str, trait: np.ndarray, draw: np.random.Generator) -> pl.Series:
    days = np.clip(np.rint(15_000 + 900 * trait), 0, 20_000).astype(np.int32)
    return _emptied(pl.Series(f"date_{name}", days).cast(pl.Date), draw)


def _flag(name: str, trait: np.ndarray, draw: np.random.Generator) -> pl.Series:
    return pl.Series(f"flag_{name}", np.where(trait + draw.normal(size=len(trait)) > 0.8, "yes", "no"))


def _set(name: str, trait: np.ndarray, draw: np.random.Generator) -> pl.Series:
    members = np.array(["asthma", "diabetes", "allergy", "migraine", "gout", "none"])
    first = np.digitize(trait, [-1.0, -0.3, 0.3, 1.0, 1.8])
    second = draw.integers(0, 6, len(trait))
    both = draw.random(len(trait)) < 0.3
    low, high = np.minimum(first, second), np.maximum(first, second)
    pairs = np.char.add(np.char.add(members[low], ";"), members[high])
    return pl.Series(f"set_{name}", np.where(both & (low < high), pairs, members[first]))


def _amount(name: str, trait: np.ndarray, draw: np.random.Generator) -> pl.Series:
    """Amounts in cents: nearly every one is different."""
    return _emptied(pl.Series(f"amount_{name}", np.round(np.exp(7 + 0.8 * trait), 2)), draw)


def main() -> None:
    """Write the table to a CSV file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    made_table(options.rows, options.columns, options.seed).write_csv(options.path)


if __name__ == "__main__":
    main()
