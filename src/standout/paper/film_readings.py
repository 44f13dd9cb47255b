"""Readings of wrong films: drawn by popularity, all alike, or none that the data has  [Figure 10 of 2008]."""

from collections.abc import Iterator

from standout.paper.attack_runner import Lab
from standout.paper.paper_results import Setting, bars
from standout.paper.readings import DEFINED, Reading

__all__ = ["COST", "FILMS", "readings_of_films"]

COST = 40.0
FILMS = (DEFINED, "all films alike", "films that the data does not have")
"""By popularity; and what is read differently. A film that the data does not have adds to nobody's score:
only the right facts are left."""


def readings_of_films(lab: Lab) -> tuple[Reading, ...]:
    """The bars of wrong films in all readings."""
    found = [one for bar in bars("sp10") for one in _readings(lab, bar.setting, bar.paper)]
    order = {reading: at for at, reading in enumerate(FILMS)}
    return tuple(sorted(found, key=lambda one: order[one.reading]))


def _readings(lab: Lab, setting: Setting, paper: float) -> Iterator[Reading]:
    by_popularity = setting.wrong_facts == "items"
    asked = [(FILMS[0] if by_popularity else FILMS[1], setting)]
    if by_popularity:
        asked.append((FILMS[2], setting._replace(known=setting.right, wrong_facts="values")))
    for reading, one in asked:
        cell = lab.cell(one)
        if cell is not None:
            label, right = f"{setting.right} of {setting.known}", cell.outcomes.identified
            yield Reading("sp10", reading, "found", label, paper, float(right.mean()), len(right))
