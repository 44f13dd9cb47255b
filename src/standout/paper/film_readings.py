"""Readings of wrong films: by popularity, all equally likely, missing from the data  [Figure 10 of 2008]."""

from collections.abc import Iterator

from standout.paper.attack_runner import AttackRunner
from standout.paper.paper_results import Setting, bars
from standout.paper.readings import AS_DEFINED, Reading, in_order

__all__ = ["FILM_READINGS", "SECONDS", "readings_of_films"]

SECONDS = 40.0
FILM_READINGS = (AS_DEFINED, "all films equally likely", "films missing from the data")
"""By default, wrong films are drawn by popularity. A film that is missing from the data adds to no score, so
only the right facts remain."""


def readings_of_films(runner: AttackRunner) -> tuple[Reading, ...]:
    """The bars of wrong films in all readings."""
    readings = [reading for bar in bars("sp10") for reading in _readings(runner, bar.setting, bar.paper)]
    return in_order(readings, FILM_READINGS)


def _readings(runner: AttackRunner, setting: Setting, paper: float) -> Iterator[Reading]:
    label = f"{setting.right} of {setting.known}"
    for name, attack in _attacks(setting):
        cell = runner.cell(attack)
        if cell is not None:
            identified = cell.outcomes.identified
            yield Reading(
                figure="sp10",
                reading=name,
                panel="identified",
                label=label,
                paper=paper,
                measured=float(identified.mean()),
                n=len(identified),
            )


def _attacks(setting: Setting) -> Iterator[tuple[str, Setting]]:
    """(reading, attack) for a bar of the paper."""
    by_popularity = setting.wrong_facts == "items"
    yield FILM_READINGS[0 if by_popularity else 1], setting
    if by_popularity:
        yield FILM_READINGS[2], setting._replace(known=setting.right, wrong_facts="values")
