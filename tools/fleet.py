"""Generates a fleet of taxis in the format of the San Francisco cabs: `python -m tools.fleet FOLDER`.

Each file `new_NAME.txt` is the trace of one taxi: latitude, longitude, occupied (0 or 1) and Unix time,
with spaces between them, without a header, the latest point first. Taxis drive between hot spots of the city,
which they share, and a few places of their own, such as home. The same seed gives the same files.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl

SOUTH, WEST, NORTH, EAST = 37.60, -122.52, 37.82, -122.35
BEGIN = 1_211_000_000  # 17 May 2008
DAYS = 24
HOT_SPOTS, OWN_PLACES = 60, 4
OWN_SHARE = 0.12
SPEED = 0.0045
"""Degrees per minute, about 30 km/h."""
NOISE = 0.00015
LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def generate_fleet(folder: Path, taxis: int = 520, points: int = 20_000, seed: int = 0) -> None:
    """Write a file for each taxi."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(seed)
    spots = np.column_stack(_somewhere(draw, HOT_SPOTS))
    weights = 1 / np.arange(1, HOT_SPOTS + 1)
    names = _names(draw, taxis)
    for taxi, name in enumerate(names):
        trace = _trace(np.random.default_rng((seed, taxi)), spots, weights / weights.sum(), points)
        trace.write_csv(folder / f"new_{name}.txt", include_header=False, separator=" ", float_precision=5)


def _somewhere(draw: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    return draw.uniform(SOUTH, NORTH, count), draw.uniform(WEST, EAST, count)


def _names(draw: np.random.Generator, count: int) -> list[str]:
    names: dict[str, None] = {}
    while len(names) < count:
        names["".join(draw.choice(LETTERS, 6))] = None
    return list(names)


def _trace(draw: np.random.Generator, spots: np.ndarray, weights: np.ndarray, points: int) -> pl.DataFrame:
    """Trips between places at constant speed, with a point about every minute and a night at home."""
    own = np.column_stack(_somewhere(draw, OWN_PLACES))
    trips = points // 3
    goals = spots[draw.choice(len(spots), trips, p=weights)] + draw.normal(0, 0.004, (trips, 2))
    private = draw.random(trips) < OWN_SHARE
    goals[private] = own[draw.integers(0, OWN_PLACES, private.sum())]
    minutes = np.hypot(*np.diff(goals, axis=0, prepend=own[:1]).T) / SPEED + draw.exponential(6, trips)
    arrival = np.cumsum(minutes)
    clock = np.sort(draw.uniform(0, DAYS * 1_440, points))
    working = clock * min(arrival[-1] / clock[-1], 1)  # fewer trips than minutes: the taxi is then slower
    latitude = np.interp(working, arrival, goals[:, 0]) + draw.normal(0, NOISE, points)
    longitude = np.interp(working, arrival, goals[:, 1]) + draw.normal(0, NOISE, points)
    occupied = np.searchsorted(arrival, working) % 2
    columns = {"lat": latitude, "lon": longitude, "occupied": occupied, "time": BEGIN + (clock * 60).astype(np.int64)}
    return pl.DataFrame(columns).reverse()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--taxis", type=int, default=520)
    parser.add_argument("--points", type=int, default=20_000, help="points of each taxi")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    generate_fleet(given.folder, given.taxis, given.points, given.seed)
    print(f"wrote {given.taxis} files with {given.taxis * given.points:,} points to {given.folder}")
