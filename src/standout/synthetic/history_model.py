"""The traits of people and films, and the calendar, on which the histories of the stand-in depend."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints

__all__ = ["Calendar", "FilmTraits", "Model", "PersonTraits"]


class PersonTraits(NamedTuple):
    """Traits of each person."""

    start: Ints  # offsets of the entries
    first: Ints  # first day
    last: Ints  # last day
    new_session: Floats  # weight of starting a new session
    head: Floats  # taste for popular films
    mood: Floats  # how high the ratings are
    spread: Floats  # how much the ratings differ


class FilmTraits(NamedTuple):
    """Traits of each film by popularity rank, and alias tables to draw ranks (see `popularity`)."""

    item: NDArray[np.uint32]
    released: Ints  # day on which it came out
    delay: Floats  # mean days until it is rated
    appeal: Floats  # how high its ratings are
    spread: Floats  # how much its ratings differ
    weight: Floats
    damped: Floats
    keep: Floats
    other: Ints
    damped_keep: Floats
    damped_other: Ints


class Calendar(NamedTuple):
    """When people are active."""

    quarter: Ints  # days on which quarters begin
    activity: Floats  # activity up to these days
    weekday: Floats  # cumulative shares of weekdays


class Model(NamedTuple):
    """Everything that a history depends on; `cuts` are the thresholds between ratings."""

    people: PersonTraits
    films: FilmTraits
    calendar: Calendar
    cuts: Floats
