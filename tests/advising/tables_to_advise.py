"""A small table, an adversary who knows much about its people, and a few candidates."""

import numpy as np

import standout as so
from standout.data.column import Column
from standout.data.release import Release

__all__ = ["ADVERSARY", "MENU", "people_table"]

ADVERSARY = so.Adversary(knows=3, error=0.0)
MENU = ("round age 10", "round age 40", "drop-column zip", "swap zip 0.5", "suppress-to-k age zip 4")


def people_table(n_rows=300, seed=0):
    """Ages, places, and two columns that hardly identify anybody; jobs depend on ages."""
    draw = np.random.default_rng(seed)
    age = draw.integers(0, 60, n_rows)
    columns = (
        Column("age", "number", np.arange(20.0, 80.0), age.astype(np.uint8), role="quasi-identifier"),
        Column(
            "zip",
            "category",
            tuple(f"{1000 + code}" for code in range(12)),
            np.minimum(draw.geometric(0.3, n_rows) - 1, 11).astype(np.uint8),
            role="quasi-identifier",
        ),
        Column("sex", "category", ("f", "m"), draw.integers(0, 2, n_rows).astype(np.uint8)),
        Column("job", "category", ("a", "b", "c"), (age // 20).astype(np.uint8), role="sensitive"),
    )
    return Release.of_columns(columns)
