"""The adversary: how much is known of a person, how imprecisely, and how much of it is wrong  [Aux(r)]."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.checks import whole_number
from standout.core.errors import NotFoundError, ParameterError
from standout.core.rng import key, uniforms
from standout.facts import ANY_LENGTH, ANY_TIME, Aux, KnownFacts, level_values, repeat_bounds
from standout.release.build_kernels import count_outside
from standout.release.clock import SECONDS
from standout.release.model import Release
from standout.similarity.attributes import ROUNDING

__all__ = ["Adversary", "Choice", "outside_top"]

WrongFacts = Literal["values", "items", "any items"]
WRONG = {"values": "", "items": " items", "any items": " items of any kind"}
CHOICES = ("any", "rarest", "popular", "recent", "burst")
ERRORS = ("value_error", "time_error", "length_error", "joined_error")
MOST_DAYS = 100_000
"""273 years: what lies further off has no date."""


class Choice(NamedTuple):
    """Which items are known: a name, and a number where it needs one."""

    name: str
    top: int = 0

    def __str__(self) -> str:
        return f"{self.name}({self.top})" if self.top else self.name


def outside_top(k: int) -> Choice:
    """Items that are not among the k most popular.

    >>> str(outside_top(500))
    'outside_top(500)'
    """
    return Choice("outside_top", whole_number("outside_top", k, 1))


class Entries(NamedTuple):
    """A record as the adversary's draws see it: codes of its items, values and times."""

    item: Ints
    value: Ints
    time: Ints


@dataclass(frozen=True, slots=True)
class Adversary:
    """Somebody who knows `knows` things about a person, `wrong` of them wrongly.

    wrong_facts    "values": the item is right, its value and date are not (the paper's "6 of 8"); "items":
                   the item is not in the person's record at all, drawn by popularity; "any items": nor is
                   it, and every other item is as likely
    value_error    the value is one of the levels within this of the right one; 0 exact, None not known
    time_error     the date is off by up to so many days either way; 0 exact, None not known
    items          "any"; outside_top(k); "rarest", the rarest first; "popular", drawn by popularity (what one
                   hears at the water cooler); "recent", the latest first; "burst", close in time
    length_error   the length of the record is known to within this share; None not known
    joined_error   the date of its first entry is known to within so many days; None not known

    Every draw depends on (seed, adversary, record) only: neither on who else is observed nor in what order.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> acquaintance = Adversary(knows=8, wrong=2, value_error=1, time_error=14)
    >>> aux = acquaintance.observe(release, "42", seed=2008)
    >>> len(aux), aux == acquaintance.observe(release, "42", seed=2008)
    (8, True)
    """

    knows: int = 8
    wrong: int = 0
    wrong_facts: WrongFacts = "values"
    value_error: float | None = 0
    time_error: float | None = 0
    items: Choice | str = "any"
    length_error: float | None = None
    joined_error: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "knows", whole_number("knows", self.knows, 1))
        object.__setattr__(self, "wrong", whole_number("wrong", self.wrong, 0))
        if self.wrong > self.knows:
            raise ParameterError(f"wrong must be at most knows, got {self.wrong} of {self.knows}")
        if self.wrong_facts not in tuple(WRONG):
            raise ParameterError(f"wrong_facts must be values, items or any items, got {self.wrong_facts!r}")
        for name in ERRORS:
            object.__setattr__(self, name, _error(name, getattr(self, name)))
        if isinstance(self.items, str):
            if self.items not in CHOICES:
                names = ", ".join(CHOICES)
                raise ParameterError(f"items must be {names} or outside_top(k), got {self.items!r}")
            object.__setattr__(self, "items", Choice(self.items))
        elif not isinstance(self.items, Choice):
            raise ParameterError(f"items must be a name or outside_top(k), got {type(self.items).__name__}")
        elif self.items.name == "outside_top":
            outside_top(self.items.top)
        elif self.items.name not in CHOICES:
            raise ParameterError(
                f"items must be {', '.join(CHOICES)} or outside_top(k), got {self.items.name!r}"
            )

    def __str__(self) -> str:
        """In few words: what is known, and how well."""
        told = [f"{self.knows} facts"]
        told += [f"{self.wrong} wrong" + WRONG[self.wrong_facts]] if self.wrong else []
        told += [] if str(self.items) == "any" else [str(self.items).replace("_", " ")]
        told += [_off("values", self.value_error, ""), _off("dates", self.time_error, " days")]
        told += [] if self.length_error is None else [f"length ± {self.length_error:.0%}"]
        told += [] if self.joined_error is None else [f"joined ± {self.joined_error:g} days"]
        return ", ".join(told)

    def observe(self, release: Release, record: str, seed: int = 0) -> Aux:
        """What the adversary knows of one person."""
        place = release.records.find(record) if isinstance(record, str) else None
        if place is None:
            raise NotFoundError("the release has no record of that id; ids are text, so 007 is not 7")
        return self.observe_all(release, [place], seed).aux(release, 0)

    def observe_all(
        self, release: Release, records: Sequence[int] | Ints, seed: int = 0, draws: int = 1
    ) -> KnownFacts:
        """What the adversary knows of many, given by their places in the release.

        With several `draws` each is observed so many times, one after the other: the same items of the record
        with other errors (and other wrong items), the first as if there were no more. A record with too few
        eligible items is an error: see `eligible`.
        """
        return _Observer(self, release, seed).observe(
            _places(release, records), whole_number("draws", draws, 1)
        )

    def eligible(self, release: Release, records: Sequence[int] | Ints) -> NDArray[np.bool_]:
        """Which of these records have as many items to know as the adversary knows of them."""
        return _Observer(self, release, 0).can_observe(_places(release, records))

    def key(self) -> str:
        """The adversary's name in the key of its draws."""
        return ",".join(f"{field.name}={getattr(self, field.name)}" for field in fields(self))


class _Observer:
    """One adversary before one release, drawing."""

    def __init__(self, adversary: Adversary, release: Release, seed: int) -> None:
        self.adversary, self.release, self.seed = adversary, release, seed
        self.key = adversary.key()
        self.by_items = adversary.wrong if adversary.wrong_facts != "values" else 0
        self.by_values = adversary.wrong if adversary.wrong_facts == "values" else 0
        self.needs = adversary.knows - self.by_items
        assert isinstance(adversary.items, Choice)
        self.choice = adversary.items
        unit = SECONDS[release.clock.unit] if release.clock else SECONDS["day"]
        self.units = SECONDS["day"] // unit
        self._check()

    def _check(self) -> None:
        release, adversary = self.release, self.adversary
        for name in ("time_error", "joined_error"):
            if (getattr(adversary, name) or 0) > MOST_DAYS:
                raise ParameterError(f"{name} must be at most {MOST_DAYS:,} days")
        if self.choice.name in ("recent", "burst") and release.span == 0:
            raise ParameterError(f"items={str(self.choice)!r} needs times, and the release has none")
        if isinstance(release.levels, tuple) and adversary.value_error:
            raise ParameterError("values that are categories have no distance: value_error must be 0 or None")
        knows_values = adversary.value_error is not None and release.n_levels > 0
        knows_times = adversary.time_error is not None and release.span > 0
        if self.by_values and not (knows_values or knows_times):
            raise ParameterError("wrong values need values or dates that are known: use wrong_facts='items'")
        if self.by_values and not (
            (knows_values and self._values_apart()) or (knows_times and self._times_apart())
        ):
            raise ParameterError("no value and no date lies outside the error: none can be wrong")
        if self.by_items > 0 and release.n_items <= self.by_items:
            raise ParameterError("wrong items need items that the record does not have")

    def _values_apart(self) -> bool:
        """Whether any two levels lie further apart than the error."""
        levels, error = self.release.levels, self.adversary.value_error or 0.0
        if isinstance(levels, np.ndarray):
            return float(levels[-1] - levels[0]) > error + ROUNDING
        return self.release.n_levels > 1

    def _times_apart(self) -> bool:
        return self.release.span - 1 > math.floor((self.adversary.time_error or 0.0) * self.units + ROUNDING)

    def observe(self, records: Ints, draws: int) -> KnownFacts:
        """Codes of what is known. Value -1 and time NEVER: not known."""
        known = self._chosen_of(records)
        right = Entries(*(np.repeat(column, draws, axis=0) for column in known))
        chance = uniforms(self._streams("errors", records), 3 * draws * self.needs)
        for_values, for_times, for_wrong = chance.reshape(len(records) * draws, 3, self.needs).transpose(
            1, 0, 2
        )
        wrong = self._wrong(for_wrong, right)
        value, time = self._values(for_values, right.value, wrong), self._times(for_times, right.time, wrong)
        facts = Entries(right.item, value, time)
        records = np.repeat(records, draws)
        if self.by_items:
            facts = self._with_wrong_items(facts, records, draws)
        item, value, time = (column.ravel() for column in facts)
        timed = time != NEVER
        filtered = self.adversary.length_error is not None or self.adversary.joined_error is not None
        return KnownFacts(
            self.adversary.knows * np.arange(len(records) + 1), item, value, level_values(self.release),
            np.where(timed, time, 0),
            timed, self._lengths(records), self._joined(records), filtered,
        )  # fmt: skip

    def _streams(self, purpose: str, records: Ints) -> NDArray[np.uint64]:
        """A stream of random numbers for each record."""
        names = (self.release.records[record] for record in records)
        return np.array([key(self.seed, purpose, self.key, name) for name in names], np.uint64)

    def can_observe(self, records: Ints) -> NDArray[np.bool_]:
        """Which records have enough items to know, and lack enough of the others."""
        lengths = self.release.lengths[records]
        enough = self._choice_counts(records, lengths) >= self.needs
        return np.asarray(enough & (self.release.n_items - lengths >= self.by_items))

    def _choice_counts(self, records: Ints, lengths: Ints) -> Ints:
        """How many entries of each record can be known."""
        side, release = self.release.by_record, self.release
        if self.choice.name == "outside_top":
            counts = np.zeros((1, release.n_records), np.int64)
            count_outside(side.start, side.item, release.rank, np.array([self.choice.top]), counts)
            return np.asarray(counts[0, records])
        if self.choice.name in ("recent", "burst") and side.time is not None:
            timed = np.add.reduceat(side.time < release.span, side.start[:-1], dtype=np.int64)
            return np.asarray(timed[records])
        return lengths

    def _choices(self, entries: Entries) -> Ints:
        """Which of a record's entries can be known, by their place in it."""
        if self.choice.name == "outside_top":
            return np.flatnonzero(self.release.rank[entries.item] > self.choice.top)
        if self.choice.name in ("recent", "burst"):
            return np.flatnonzero(entries.time < self.release.span)
        return np.arange(len(entries.item))

    def _entries(self, record: int) -> Entries:
        side, release = self.release.by_record, self.release
        here = slice(int(side.start[record]), int(side.start[record + 1]))
        missing = np.zeros(here.stop - here.start, np.int64)
        return Entries(
            side.item[here].astype(np.int64),
            missing + release.n_levels if side.value is None else side.value[here].astype(np.int64),
            missing + release.span if side.time is None else side.time[here].astype(np.int64),
        )

    def _chosen_of(self, records: Ints) -> Entries:
        """The entries of each record that are known: a row of columns each."""
        chosen = np.empty((3, len(records), self.needs), np.int64)
        for at, (record, stream) in enumerate(zip(records, self._streams("observe", records), strict=True)):
            entries = self._entries(int(record))
            choices = self._choices(entries)
            if len(choices) < self.needs:
                raise ParameterError(
                    f"a record has {len(choices)} of the {self.needs} items to be known: ask `eligible` first"
                )
            chance = uniforms(np.array([stream]), 2 * len(choices)).reshape(2, -1)
            places = choices[self._chosen(chance, Entries(*(column[choices] for column in entries)))]
            for column, codes in zip(chosen, entries, strict=True):
                column[at] = codes[places]
        return Entries(*chosen)

    def _chosen(self, chance: Floats, entries: Entries) -> Ints:
        """Places of the known entries, in the order in which they become known."""
        n, count = len(entries.item), self.needs
        shuffled = np.argsort(chance[0])  # equals go by chance
        if self.choice.name == "rarest":
            return shuffled[np.argsort(self.release.support[entries.item][shuffled], kind="stable")][:count]
        if self.choice.name == "popular":
            return _by_weight(chance[1], self.release.support[entries.item], count)
        if self.choice.name == "recent":
            return shuffled[np.argsort(-entries.time[shuffled], kind="stable")][:count]
        if self.choice.name == "burst" and n:
            anchor = entries.time[shuffled[0]]
            return shuffled[np.argsort(np.abs(entries.time[shuffled] - anchor), kind="stable")][:count]
        return shuffled[:count]

    def _wrong(self, chance: Floats, known: Entries) -> NDArray[np.bool_]:
        """Which of the known entries are told wrongly: those with nothing to be told only if they must."""
        told = (known.value < self.release.n_levels) & (self.adversary.value_error is not None)
        told |= (known.time < self.release.span) & (self.adversary.time_error is not None)
        order = np.argsort(chance + ~told, axis=1)
        wrong = np.zeros(chance.shape, np.bool_)
        np.put_along_axis(wrong, order[:, : self.by_values], True, axis=1)
        return wrong

    def _values(self, chance: Floats, code: Ints, wrong: NDArray[np.bool_]) -> Ints:
        """Levels within the error of the right ones, or outside it; -1 where an entry has no value.

        If every level lies within the error none can be wrong, and any is drawn.
        """
        error, levels = self.adversary.value_error, self.release.n_levels
        if error is None or levels == 0:
            return np.full(code.shape, -1)
        lowest, past = self._near(np.minimum(code, levels - 1), error)
        found = _drawn(chance, lowest, past, np.zeros_like(code), np.full_like(code, levels), wrong)
        return np.where(code == levels, -1, found)

    def _near(self, code: Ints, error: float) -> tuple[Ints, Ints]:
        """The first level within the error of each of these, and the one after the last."""
        levels = self.release.levels
        if not isinstance(levels, np.ndarray):
            return code, code + 1
        reach = error + ROUNDING
        return np.searchsorted(levels, levels[code] - reach), np.searchsorted(
            levels, levels[code] + reach, "right"
        )

    def _times(self, chance: Floats, code: Ints, wrong: NDArray[np.bool_]) -> Ints:
        """Times within reach of the right ones, or any others of the release; NEVER where there is none."""
        error, span = self.adversary.time_error, self.release.span
        if error is None or span == 0:
            return np.full(code.shape, NEVER)
        reach = math.floor(error * self.units + ROUNDING)
        found = _drawn(
            chance, code - reach, code + reach + 1, np.zeros_like(code), np.full_like(code, span), wrong
        )
        return np.where(code == span, NEVER, found)

    def _with_wrong_items(self, facts: Entries, records: Ints, draws: int) -> Entries:
        """Facts about items that the records do not have, in among the right ones."""
        release, count, n = self.release, self.by_items, len(records)
        streams = np.repeat(self._streams("wrong items", records[::draws]), draws)
        streams += np.tile(np.arange(draws, dtype=np.uint64), n // draws) << np.uint64(32)
        item = np.stack(
            [self._others(int(record), stream) for record, stream in zip(records, streams, strict=True)]
        )
        chance = uniforms(streams ^ np.uint64(1), 2 * count + self.adversary.knows)
        knows_values = self.adversary.value_error is not None and release.n_levels > 0
        knows_times = self.adversary.time_error is not None and release.span > 0
        value = np.floor(chance[:, :count] * release.n_levels) if knows_values else np.full((n, count), -1)
        time = (
            np.floor(chance[:, count : 2 * count] * release.span)
            if knows_times
            else np.full((n, count), NEVER)
        )
        others = item, value.astype(np.int64), time.astype(np.int64)
        order = np.argsort(chance[:, 2 * count :], axis=1)
        both = (np.concatenate(pair, axis=1) for pair in zip(facts, others, strict=True))
        return Entries(*(np.take_along_axis(column, order, axis=1) for column in both))

    def _others(self, record: int, stream: np.uint64) -> Ints:
        """Items that a record does not have."""
        by_popularity = self.adversary.wrong_facts == "items"
        weight = self.release.support.copy() if by_popularity else np.ones(self.release.n_items, np.int64)
        weight[self._entries(record).item] = 0
        if np.count_nonzero(weight) < self.by_items:
            raise ParameterError("wrong items need items that the record does not have")
        return _by_weight(uniforms(np.array([stream]), len(weight))[0], weight, self.by_items)

    def _lengths(self, records: Ints) -> Ints:
        error = self.adversary.length_error
        if error is None:
            return repeat_bounds(len(records), ANY_LENGTH)
        length = self.release.lengths[records]
        low, high = np.ceil(length * (1 - error) - ROUNDING), np.floor(length * (1 + error) + ROUNDING)
        return np.stack([np.maximum(low, 0), np.minimum(high, 2.0**62)], axis=1).astype(np.int64)

    def _joined(self, records: Ints) -> Ints:
        error = self.adversary.joined_error
        found = repeat_bounds(len(records), ANY_TIME)
        if error is None or self.release.span == 0:
            return found
        reach = math.floor(error * self.units + ROUNDING)
        for at, record in enumerate(records):
            time = self._entries(int(record)).time
            first = int(time.min(initial=self.release.span))
            if first < self.release.span:
                found[at] = first - reach, first + reach
        return found


NEVER = np.iinfo(np.int64).min


def _drawn(chance: Floats, low: Ints, past: Ints, first: Ints, end: Ints, wrong: NDArray[np.bool_]) -> Ints:
    """Whole numbers from low … past - 1, or where `wrong` from the others of first … end - 1; all alike.

    Where there are no others, any of first … end - 1.
    """
    before, after = np.maximum(low - first, 0), np.maximum(end - past, 0)
    right = low + np.floor(chance * (past - low)).astype(np.int64)
    place = np.floor(chance * (before + after)).astype(np.int64)
    other = np.where(place < before, first + place, past + place - before)
    other = np.where(before + after > 0, other, first + np.floor(chance * (end - first)).astype(np.int64))
    return np.where(wrong, other, right)


def _by_weight(chance: Floats, weight: Ints, count: int) -> Ints:
    """`count` places without repeats, each drawn in proportion to its weight among those left."""
    with np.errstate(divide="ignore", invalid="ignore"):
        late = -elementary.log1p(-chance) / weight  # the first arrivals of so many Poisson processes
    first = np.argpartition(late, count)[:count] if count < len(late) else np.arange(len(late))
    return np.asarray(first[np.argsort(late[first])][:count])


def _error(name: str, error: Any) -> float | None:
    """The error as a number, so that 1 and 1.0 are the same adversary."""
    if error is None:
        return None
    number = isinstance(error, Real) and not isinstance(error, bool)
    if not (number and math.isfinite(error) and error >= 0):
        raise ParameterError(f"{name} must be a finite number ≥ 0, or None, got {error!r}")
    return float(error) + 0.0


def _off(what: str, error: float | None, unit: str) -> str:
    return f"no {what}" if error is None else f"{what} exact" if not error else f"{what} ± {error:g}{unit}"


def _places(release: Release, records: Sequence[int] | Ints) -> Ints:
    """Places of records in the release, or an error."""
    places = np.asarray(records)
    if places.size and places.dtype.kind not in "iu":
        raise ParameterError("records are given by their places in the release, as whole numbers")
    if places.size and not (0 <= places.min() and places.max() < release.n_records):
        raise NotFoundError(f"record positions run from 0 to {release.n_records - 1:,}")
    return places.astype(np.int64).reshape(-1)
