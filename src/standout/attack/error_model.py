"""How a known fact may differ from the entry that it is about: the adversary's errors as probabilities.

    P(v, t | x, y) = (1 − w) · right(v | x) · H(t − y) + w · wrong(v | x) · G(t | y)

x and y are the entry's value and time, v and t the known ones. A share w of the facts is wrong. Where dates
are off by at most a number of units, H is 1/(2 · reach + 1) within reach and 0 beyond; a wrong date lies
beyond. Otherwise H is any distribution, and value and date count as independent. In a sanitized release, x
and y are the released value and time, and the noise of the steps is part of all four probabilities.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from standout.attack.error_tables import ValueChannel, ValueErrors, add_shifts, round_errors, whole_days
from standout.attack.release_counts import ReleaseCounts
from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints, occurrence, offsets
from standout.data.labels import SECONDS
from standout.data.release import Release
from standout.know.adversary import Adversary
from standout.know.facts import AS_ASSUMED, FactErrors, KnownFacts
from standout.know.lookup_tables import COLUMN_BITS, FactShape, Tables, Tabulation
from standout.know.sanitized import Period, ReleaseNoise, Sanitized, TimeSpread
from standout.know.similarity import ROUNDING, Present

COVERAGE = 0.98
"""Highest coverage c: even an adversary who knows only items of the record allows for a surprise."""
GUESSED_WRONG = 0.1
"""Share of wrong facts where the adversary's errors are not known."""
GUESSED_VALUE_SCALE, GUESSED_DAYS = 0.5, 30.0
"""There, errors decay as in the paper: with half of the spread of values (1.5 stars), and with 30 days."""
MOST_MODELS = 64
SETTINGS = ("knows", "wrong", "wrong_facts", "value_error", "time_error")
TAIL = 10.0
"""Number of scales after which a decay counts as 0."""
MOST_REACH = 1 << 40
"""Units of time, longer than the calendar: larger errors make no difference."""


@dataclass(frozen=True)
class TimeErrors:
    """The distribution of t − y in units of the release's clock: shares[reach + d] is H(d), −reach ≤ d ≤ reach.

    `elsewhere` is G, the probability of a wrong time. `is_flat` says that H is the same everywhere within reach.
    """

    shares: Floats
    elsewhere: float
    is_flat: bool = False

    @property
    def reach(self) -> int:
        """The largest |t − y| of a right time."""
        return len(self.shares) // 2

    @cached_property
    def highest(self) -> float:
        """The highest H."""
        return float(self.shares[0] if self.is_flat else self.shares.max())


@dataclass(frozen=True, eq=False)
class ErrorModel:
    """The errors of known facts about one release.

    `wrong` is the share of facts whose value and date are not those of the entry, `coverage` the chance that
    the record which represents the target has a known item, `present` that there is such a record. `channel`
    is what the publisher did to values. A share `stray` of the facts is about another person's entry of the
    same item, because a record represents several people.
    """

    values: ValueErrors
    times: TimeErrors | None
    wrong: float
    coverage: float
    present: float = 1.0
    stray: float = 0.0
    channel: ValueChannel | None = None
    shares: Floats | None = None

    @property
    def has_noise(self) -> bool:
        """Whether more than the adversary's own errors is in values and times."""
        flat = self.times is None or self.times.is_flat
        return self.channel is not None or self.stray > 0 or not flat

    def by_level(self, known: float | str) -> tuple[Floats, Floats]:
        """right(v | x) and wrong(v | x) of a known value v, for each level x of the release."""
        right, wrong = self.values.right_and_wrong(known)
        if self.channel is not None:
            right, wrong = self.channel.average(right), self.channel.average(wrong)
        if self.stray and self.shares is not None:
            own = 1.0 - (1.0 - self.wrong) / (1.0 - self.stray)  # the adversary's share of wrong facts
            anybody = float(self.shares @ ((1.0 - own) * right + own * wrong))
            wrong = ((1.0 - self.stray) * own * wrong + self.stray * anybody) / self.wrong
        return right, wrong


def error_model(
    release: Release, adversary: Adversary | None, coverage: float | None, errors: FactErrors = AS_ASSUMED
) -> ErrorModel:
    """The error model of an adversary's facts about a release; None: a guess, for facts typed by hand.

    For a sanitized release, facts are about the original, and the noise of its steps is added. `errors` are
    those of some facts, where they are known. The latest models are kept with the release.
    """
    kept: dict[object, ErrorModel] = vars(release).setdefault("_error_models", {})
    settings = () if adversary is None else tuple(getattr(adversary, name) for name in SETTINGS)
    key = settings, coverage, errors
    if key in kept:
        return kept[key]
    noise = release.noise if isinstance(release, Sanitized) else ReleaseNoise()
    if errors != AS_ASSUMED:
        model = error_model(release, adversary, coverage)
        values, times, wrong = model.values, model.times, model.wrong
        if errors.value_error is not None and isinstance(values.levels, np.ndarray):
            values = ValueErrors(values.levels, float(errors.value_error))
        if errors.time_error is not None:
            times = _time_errors(release, float(errors.time_error))
        if errors.doubt is not None:
            wrong = 1.0 - (1.0 - errors.doubt) * noise.own
        model = replace(model, values=values, times=times, wrong=wrong)
    else:
        counts, wrong, covered = ReleaseCounts.of(release), GUESSED_WRONG, COVERAGE
        has_channel = isinstance(release, Sanitized) and noise.values
        levels = release.original.levels if isinstance(release, Sanitized) and has_channel else release.levels
        if adversary is None:
            values = ValueErrors(levels, None, GUESSED_VALUE_SCALE * counts.value_spread())
            times = _time_errors(release, None)
        else:
            wrong, by_items = adversary.wrong / adversary.knows, adversary.wrong_facts != "values"
            wrong, covered = (0.0, min(COVERAGE, 1.0 - wrong)) if by_items else (wrong, COVERAGE)
            values = ValueErrors(levels, 0.0 if adversary.value_error is None else adversary.value_error)
            times = None if adversary.time_error is None else _time_errors(release, adversary.time_error)
        channel: ValueChannel | None = vars(release).get("_channel")
        if channel is None and has_channel and release.n_levels:
            assert levels is not None and release.levels is not None
            shares = counts.level_shares(np.array([-1]))[0]
            channel = vars(release)["_channel"] = ValueChannel.of(noise.values, levels, release.levels, shares)
        model = ErrorModel(
            values=values,
            times=times,
            wrong=1.0 - (1.0 - wrong) * noise.own,
            coverage=covered * noise.kept if coverage is None else coverage,
            present=noise.present,
            stray=1.0 - noise.own,
            channel=channel,
            shares=counts.level_shares(np.array([-1]))[0] if noise.own < 1.0 and release.n_levels else None,
        )
    for oldest in list(kept)[: max(len(kept) + 1 - MOST_MODELS, 0)]:
        kept.pop(oldest, None)
    kept[key] = model
    return model


def _time_errors(release: Release, days: float | None) -> TimeErrors | None:
    """The errors of dates that are off by at most `days`, or of a guess; None if there are no dates.

    They are kept with a sanitized release whose dates are noisy.
    """
    if release.clock is None or not release.span:
        return None
    span, clock = release.span, release.clock
    steps: tuple[TimeSpread | Period, ...] = ()
    if isinstance(release, Sanitized) and release.noise.times and release.original.clock is not None:
        steps, clock = release.noise.times, release.original.clock
    kept: dict[float | None, TimeErrors] = vars(release).setdefault("_time_errors", {}) if steps else {}
    if days in kept:
        return kept[days]
    per_day = SECONDS["day"] // SECONDS[clock.unit]
    shifts = [step for step in steps if isinstance(step, TimeSpread)]
    is_rounded = len(shifts) < len(steps)
    reach = min(math.floor((days or 0.0) * per_day + ROUNDING), MOST_REACH)
    if days is None:  # a probability that decays as e^(−distance/scale)
        scale = GUESSED_DAYS * (1 if is_rounded else per_day)
        tail = min(math.ceil(TAIL * scale), span)
        shares = elementary.exp(-np.abs(np.arange(-tail, tail + 1)) / scale)
        errors = TimeErrors(shares / shares.sum(), 1.0 / max(span, 1))
    elif is_rounded:
        errors = TimeErrors(whole_days(reach, per_day), 1.0)
    else:
        width = 2 * reach + 1
        shares = np.broadcast_to(np.float64(1.0 / width), width)  # one number in memory, for any width
        errors = TimeErrors(shares, 1.0 / (span - width if span > width else span), is_flat=True)
    if is_rounded:
        errors = TimeErrors(*round_errors(errors.shares, steps, clock))
    elif shifts:
        errors = TimeErrors(add_shifts(errors.shares, shifts, per_day), errors.elsewhere)
    if len(kept) >= MOST_MODELS:
        kept.clear()
    kept[days] = errors
    return errors


# Classes of distances between a fact and an entry, by which error models are learned.


STEPS = (1, 2)
"""Limits of the classes of values: equal, up to these numbers of steps apart, more."""
DAYS = (1.0, 2.0, 7.0, 30.0, 120.0)
"""Limits of the classes of times: equal, less than a day apart, up to these numbers of days apart, more."""
N_VALUES, N_TIMES = len(STEPS) + 2, len(DAYS) + 2
MOST_PER_DAY = 128
"""Facts of one day share the weight of one date, down to 1/128."""


@dataclass(frozen=True, eq=False)
class DistanceClasses:
    """The classes of distances in one release."""

    release: Release

    @cached_property
    def levels(self) -> Floats:
        """The levels as numbers; a category is its index."""
        levels = self.release.levels
        if isinstance(levels, np.ndarray):
            return levels
        return np.arange(self.release.n_levels, dtype=np.float64)

    def numbers(self, values: tuple[float | str, ...]) -> Floats:
        """Known values as numbers, like `levels`; the last one is for -1, an unknown value."""
        levels = self.release.levels
        if isinstance(levels, tuple):
            index = {level: float(code) for code, level in enumerate(levels)}
            return np.array([*(index.get(str(value), -1.0) for value in values), np.nan])
        return np.array([*values, np.nan], np.float64)

    @cached_property
    def step(self) -> float:
        """The unit of value distances: a quarter of the range from the 10 % to the 90 % quantile.

        It is at least the smallest distance of two levels, and 0 for categories.
        """
        release, is_number = self.release, isinstance(self.release.levels, np.ndarray)
        if not is_number or release.by_record.value is None or release.n_levels < 2:
            return 0.0
        return ReleaseCounts.of(release).value_spread(parts=4)

    def of_values(self, value: Floats, code: Ints) -> Ints:
        """The class of the distance between a value and a level; -1 where one is missing."""
        distance = np.abs(value - np.append(self.levels, np.nan)[code])
        limits = np.concatenate([[0.0], self.step * np.array(STEPS)]) * (1 + ROUNDING) + ROUNDING
        return np.where(np.isnan(distance), -1, np.searchsorted(limits, distance))

    def of_times(self, distance: Ints) -> Ints:
        """The class of a distance in units of the clock; -1 for a negative one: a time is missing."""
        first, *others = (int(days * self.day) for days in DAYS)
        return np.where(distance < 0, -1, np.searchsorted([0, first - 1, *others], distance))

    @property
    def day(self) -> int:
        """A day in units of the clock."""
        clock = self.release.clock
        assert clock is not None
        return SECONDS["day"] // SECONDS[clock.unit]

    @property
    def farthest(self) -> int:
        """The smallest distance of times that belongs to the last class."""
        return int(DAYS[-1] * self.day) + 1

    @property
    def possible_values(self) -> Bools:
        """Which classes of values can occur: few levels are never far apart."""
        if not len(self.levels):
            return np.ones(N_VALUES, np.bool_)
        index, last = np.arange(N_VALUES), self.of_values(self.levels[-1:], np.zeros(1, np.int64))[0]
        return np.asarray((index <= last) if self.step else (index == 0) | (index == last))

    @property
    def possible_times(self) -> Bools:
        """Which classes of times can occur: whole days are never less than a day apart."""
        clock = self.release.clock
        return np.asarray((np.arange(N_TIMES) != 1) | (clock is not None and clock.unit != "day"))

    def day_shares(self, known: KnownFacts) -> Ints:
        """By fact, n such that its date counts 1/2^n: entries of one session are not independent.

        2^n is the number of a target's facts of that day, rounded to a power of two.
        """
        if self.release.clock is None:
            return np.zeros(len(known.item), np.int64)
        session = _sessions(self.release, known)
        counts = np.bincount(session, known.timed, minlength=1)[session]
        mantissa, exponent = np.frexp(np.clip(counts, 1, MOST_PER_DAY))
        return np.asarray(exponent.astype(np.int64) - (mantissa < np.sqrt(0.5)))


def _sessions(release: Release, known: KnownFacts) -> Ints:
    """The same number for facts about one target and of one day."""
    clock, person = release.clock, np.repeat(np.arange(len(known)), np.diff(known.first))
    assert clock is not None
    day = (known.time + clock.origin) // (SECONDS["day"] // SECONDS[clock.unit])
    day -= day.min(initial=0)
    return np.unique(person * (day.max(initial=0) + 1) + day, return_inverse=True)[1].reshape(-1)


# P(v, t) of known facts: how likely each would be about any entry of the release.


PRIOR_ENTRIES = 10.0
PIECES = 640
"""Number of pieces in which a distribution of errors that is not flat is averaged over the release."""


@dataclass(frozen=True, eq=False)
class AverageProbabilities:
    """An error model averaged over a release, for known facts.

    Values are averaged over the entries of the same item and PRIOR_ENTRIES more, spread like all entries.
    """

    counts: ReleaseCounts
    model: ErrorModel
    known: KnownFacts

    def probabilities(self, fact: Ints, exclude: Ints) -> Floats:
        """Return P(v, t) of these facts, averaged over the release without the excluded record of each."""
        right_value, wrong_value = self._values(fact, exclude)
        right_time, wrong_time = self._times(fact, exclude)
        w, times = self.model.wrong, self.model.times
        either = (1.0 - w) * right_value + w * wrong_value
        if times is None or times.is_flat:
            average = (1.0 - w) * right_value * right_time + w * wrong_value * wrong_time
        else:
            average = either * ((1.0 - w) * right_time + w * wrong_time)
        if times is not None:
            release = self.counts.release
            entries = release.n_entries - np.where(exclude >= 0, release.lengths[exclude], 0)
            untimed = 1.0 - self.counts.timed(exclude) / np.maximum(entries, 1)
            untimed = np.where(self.known.timed[fact], untimed, 0.0)
            any_time = 1.0 / release.span if times.is_flat else times.elsewhere
            average = (1.0 - untimed) * average + untimed * either * any_time
        return average

    def _values(self, fact: Ints, exclude: Ints) -> tuple[Floats, Floats]:
        """right(v) and wrong(v), averaged over the levels of each fact's item; 1 where no value is known."""
        known, release = self.known, self.counts.release
        right, wrong = np.ones(len(fact)), np.ones(len(fact))
        at = np.flatnonzero(known.value[fact] >= 0) if release.n_levels else fact[:0]
        if not len(at):
            return right, wrong
        people, person = np.unique(exclude[at], return_inverse=True)
        shares = self.counts.level_shares(people)
        weight, own = shares[person.reshape(-1)], self.counts.item_levels(known.item[fact[at]], exclude[at])
        if own is not None:
            weight = own[:, :-1] + (PRIOR_ENTRIES + own[:, -1:]) * weight
        weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
        used, index = np.unique(known.value[fact[at]], return_inverse=True)
        for number, value in enumerate(used.tolist()):
            row = index.reshape(-1) == number
            by_level = self.model.by_level(known.values[value])
            right[at[row]], wrong[at[row]] = (weight[row] @ chances for chances in by_level)
        return right, wrong

    def _times(self, fact: Ints, exclude: Ints) -> tuple[Floats, Floats]:
        """H(t) and G(t), averaged over all times of the release; 1 where no time is known."""
        known, times = self.known, self.model.times
        right, wrong = np.ones(len(fact)), np.ones(len(fact))
        at = np.flatnonzero(known.timed[fact]) if times is not None else fact[:0]
        if not len(at) or times is None:
            return right, wrong
        time, without = known.time[fact[at]], exclude[at]
        timed = np.maximum(self.counts.timed(without), 1.0)
        if times.is_flat:
            share = self.counts.within(time - times.reach, time + times.reach, without) / timed
        else:
            share = self._weighted(time, without, times) / timed
        session, timed_facts = self.counts.session_shares(without), np.flatnonzero(known.timed)
        is_repeated = np.zeros(len(known.timed), np.bool_)  # an earlier fact about the target is of the same day
        is_repeated[timed_facts] = occurrence(_sessions(self.counts.release, known)[timed_facts]) > 0
        share = np.where(is_repeated[fact[at]], session + (1.0 - session) * share, share)
        right[at] = times.highest * share
        wrong[at] = times.elsewhere * (1.0 - share if times.is_flat else 1.0)
        return right, wrong

    def _weighted(self, time: Ints, exclude: Ints, times: TimeErrors) -> Floats:
        """Number of entries, each counted with H of its distance relative to the highest H."""
        used = np.flatnonzero(times.shares)
        edge = np.unique(np.linspace(0, len(times.shares), PIECES + 1).astype(np.int64))
        low, high = edge[:-1], edge[1:]
        if len(used) <= PIECES or len(used) < len(times.shares) // 2:  # dates are rounded
            low, high = used, used + 1
        cumulative = np.append(0.0, np.cumsum(times.shares))
        height = (cumulative[high] - cumulative[low]) / (high - low) / times.highest
        nearest, farthest = times.reach + 1 - high, times.reach - low
        total = np.zeros(len(time))
        for at in range(len(time)):
            without = np.full(len(height), exclude[at])
            total[at] = height @ self.counts.within(time[at] + nearest, time[at] + farthest, without)
        return total


# ln P(v, t | x, y) as tables, for facts of one error model or of several.


LOWEST = -60.0
"""Instead of ln 0: low enough that no record gains from such a fact."""
LEAST = math.exp(LOWEST)


def tabulate_logarithms(
    release: Release, known: KnownFacts, models: Sequence[ErrorModel], group: Ints | None
) -> Tables:
    """Tabulate the error model of each fact: models[group[fact]], or the only one."""
    if group is None:
        return _LogTabulation(release, known, models[0]).tabulate()
    facts = [np.flatnonzero(group == number) for number in range(len(models))]
    tabulations = []
    for fact, model in zip(facts, models, strict=True):  # a tabulation does not look at what facts are about
        only = replace(known, value=known.value[fact], time=known.time[fact], timed=known.timed[fact])
        tabulations.append(_LogTabulation(release, only, model))
    if any(tabulation.is_bounded for tabulation in tabulations):  # all rows of c have the same length
        farthest = max(tabulation.reach for tabulation in tabulations)
        for tabulation in tabulations:
            vars(tabulation).update(reach=farthest, is_bounded=True)
    return _join([tabulation.tabulate() for tabulation in tabulations], facts)


def log(probability: Floats) -> Floats:
    """Logarithms of probabilities, at least LOWEST."""
    logarithm = elementary.log(np.maximum(probability, LEAST))  # ln 0 would cost an exception each
    return np.where(probability > LEAST, logarithm, LOWEST)


def _join(tables: Sequence[Tables], facts: Sequence[Ints]) -> Tables:
    """Tables of the facts of several models in one."""
    shapes, starts = offsets([len(table.a) for table in tables]), offsets([len(table.c) for table in tables])
    fact = np.argsort(np.concatenate(facts))
    moved = starts[:-1] if tables[0].c.ndim == 1 else starts[:-1] << COLUMN_BITS
    return Tables(
        a=np.concatenate([table.a for table in tables]),
        b=np.concatenate([table.b for table in tables]),
        off=np.concatenate([table.off + start for table, start in zip(tables, moved, strict=True)]),
        c=np.concatenate([table.c for table in tables]),
        shape=np.concatenate([table.shape + u for table, u in zip(tables, shapes[:-1], strict=True)])[fact],
        time=np.concatenate([table.time for table in tables])[fact],
        terms=np.concatenate([table.terms for table in tables]),
        used=tables[0].used,
    )


class _LogTabulation(Tabulation):
    """ln P(v, t | x, y) as tables: a[kind] + b[kind] · c[distance of times]."""

    def __init__(self, release: Release, known: KnownFacts, model: ErrorModel) -> None:
        super().__init__(release, known, Present())
        self.model = model

    @cached_property
    def reach(self) -> int:
        """As in `Tabulation`."""
        return 0 if self.model.times is None else self.model.times.reach

    def _fill(self, shape: FactShape, a: Floats, b: Floats, off: Ints) -> tuple[int, bool]:
        w, times = self.model.wrong, self.model.times
        bank, second = slice(0, self.n_levels + 1), slice(self.n_levels + 1, 2 * self.n_levels + 2)
        right = wrong = np.ones(self.n_levels + 1)  # the last one is of an entry without a value
        if shape.value is not None and self.n_levels:
            shares = ReleaseCounts.of(self.release).level_shares(np.array([-1]))[0]
            right, wrong = (np.append(part, shares @ part) for part in self.model.by_level(shape.value))
        untimed = log((1.0 - w) * right + w * wrong)
        if not shape.timed or times is None or self.span == 0:
            a[bank] = untimed
            a[second] = untimed[: len(a[second])]
            return 1, False
        off[:] = self._time_row(shape, times)
        anywhere = math.log(self.span) if times.is_flat else -math.log(times.elsewhere)
        any_time = np.maximum(untimed - anywhere, LOWEST)  # if the entry has none
        a[second] = any_time[: len(a[second])]
        if times.is_flat:
            near, far = log((1.0 - w) * right * times.highest), log(w * wrong * times.elsewhere)
            a[bank], b[bank] = far, near - far
        else:
            a[bank], b[bank] = untimed, 1.0
        return 2, True

    def _time_row(self, shape: FactShape, times: TimeErrors) -> int:
        """Where the row of c begins, moved so that time − known time is added to it."""
        if shape.far is None and self.near is not None:
            return self.near
        distance = -self._steps(shape).astype(np.int64)  # t − y
        within = np.abs(distance) <= times.reach
        if times.is_flat:
            row = within.astype(np.float64)
        else:
            w, nearest = self.model.wrong, np.clip(distance, -times.reach, times.reach)
            right = np.where(within, times.shares[times.reach + nearest], 0.0)
            row = log((1.0 - w) * right + w * times.elsewhere)
        at = self._row(row) + self._zero(shape)
        self.near = at if shape.far is None else self.near
        return at
