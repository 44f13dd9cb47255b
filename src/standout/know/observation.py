"""Draws of the facts that an adversary knows about the targets of a release  [section 5].

What is drawn is an entry of the target's record, not an item. If the record has an item several times, its
entries are drawn like any others: without replacement, and each as likely as an entry of another item. So the
adversary knows more about what people do often, and several facts may name the same item. A wrong fact is
wrong about the entry it was drawn from; by chance it may fit another entry of the item.

Of columns, attributes are drawn; one of several columns is known as a whole. Draws depend on (seed, record) only.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints, occurrence, offsets
from standout.core.errors import ParameterError
from standout.core.rng import generator, key, uniforms
from standout.data.column import Column, near_levels
from standout.data.labels import SECONDS
from standout.data.release import Release
from standout.know.facts import ANY_LENGTH, ANY_TIME, Aux, Cells, KnownFacts, encode_auxes, level_values, repeat_bounds
from standout.know.similarity import ROUNDING, call_user_code

if TYPE_CHECKING:
    from standout.know.adversary import Adversary


MOST_DAYS = 100_000
"""Largest error of a date: 273 years. Beyond it there may be no valid date."""
NEVER = np.iinfo(np.int64).min
"""Time of a fact whose date is not known."""


class Choice(NamedTuple):
    """Which entries are known: a name, and a number if it needs one."""

    name: str
    top: int = 0

    def __str__(self) -> str:
        return f"{self.name}({self.top})" if self.top else self.name


class Entries(NamedTuple):
    """Entries of a record as columns: codes of its items, values and times."""

    item: Ints
    value: Ints
    time: Ints


class Observer:
    """Draws the facts that one adversary knows about targets of one release."""

    def __init__(self, adversary: "Adversary", release: Release, seed: int) -> None:
        self.adversary, self.release, self.seed = adversary, release, seed
        self.key = adversary.key()
        self.by_items = adversary.wrong if adversary.wrong_facts != "values" else 0
        self.by_values = adversary.wrong if adversary.wrong_facts == "values" else 0
        self.needs = adversary.knows - self.by_items
        assert isinstance(adversary.items, Choice)
        self.choice = adversary.items
        unit = SECONDS[release.clock.unit] if release.clock else SECONDS["day"]
        self.units = SECONDS["day"] // unit
        self.knows_values = adversary.value_error is not None and release.n_levels > 0
        self.knows_times = adversary.time_error is not None and release.span > 0
        for name in ("time_error", "joined_error"):
            if (getattr(adversary, name) or 0) > MOST_DAYS:
                raise ParameterError(f"{name} must be at most {MOST_DAYS:,} days")
        if self.choice.name in ("recent", "burst") and release.span == 0:
            raise ParameterError(f"items={str(self.choice)!r} needs dates, and the release has none")
        if isinstance(release.levels, tuple) and adversary.value_error:
            raise ParameterError("value_error must be 0 or None, because categories have no distance")
        if self.by_values and not (self.knows_values or self.knows_times):
            raise ParameterError("wrong_facts='values' needs known values or dates: use wrong_facts='items'")
        levels, apart = release.levels, release.n_levels > 1
        if isinstance(levels, np.ndarray) and len(levels):
            apart = float(levels[-1] - levels[0]) > (adversary.value_error or 0.0) + ROUNDING
        reach = math.floor((adversary.time_error or 0.0) * self.units + ROUNDING)
        if self.by_values and not ((self.knows_values and apart) or (self.knows_times and release.span - 1 > reach)):
            raise ParameterError(
                "wrong_facts='values' needs smaller errors: every value and every date lies within them"
            )
        if self.by_items > 0 and release.n_items <= self.by_items:
            raise ParameterError("wrong items must come from outside the record, and there are too few")

    def observe(self, records: Ints, draws: int) -> KnownFacts:
        """The known facts of each record, `draws` times."""
        right = Entries(*(np.repeat(column, draws, axis=0) for column in self._chosen_entries(records)))
        uniform = uniforms(self._streams("errors", records), 3 * draws * self.needs)
        uniform = uniform.reshape(len(records) * draws, 3, self.needs)
        facts = self._with_errors(right, uniform, self.by_values)
        records = np.repeat(records, draws)
        if self.by_items:
            facts = self._with_wrong_items(facts, records, draws)
        first = self.adversary.knows * np.arange(len(records) + 1)
        return self._known_facts(records, Entries(*(column.ravel() for column in facts)), first)

    def _known_facts(self, records: Ints, facts: Entries, first: Ints) -> KnownFacts:
        """These facts, and what else is known about the records."""
        item, value, time = facts
        timed, release = time != NEVER, self.release
        by_length, by_first = self.adversary.length_error, self.adversary.joined_error
        length, joined = repeat_bounds(len(records), ANY_LENGTH), repeat_bounds(len(records), ANY_TIME)
        if by_length is not None:
            ends = release.lengths[records]
            low, high = np.ceil(ends * (1 - by_length) - ROUNDING), np.floor(ends * (1 + by_length) + ROUNDING)
            length = np.stack([np.maximum(low, 0), np.minimum(high, 2.0**62)], axis=1).astype(np.int64)
        if by_first is not None and release.span:
            reach = math.floor(by_first * self.units + ROUNDING)
            for at, record in enumerate(records):
                first_time = int(self._entries(int(record)).time.min(initial=release.span))
                if first_time < release.span:
                    joined[at] = first_time - reach, first_time + reach
        return KnownFacts(
            first=first,
            item=item,
            value=value,
            values=level_values(self.release),
            time=np.where(timed, time, 0),
            timed=timed,
            length=length,
            joined=joined,
            filtered=by_length is not None or by_first is not None,
        )

    def _streams(self, purpose: str, records: Ints) -> NDArray[np.uint64]:
        """A stream of random numbers for each record."""
        names = (self.release.records[record] for record in records)
        return np.array([key(self.seed, purpose, self.key, name) for name in names], np.uint64)

    def can_observe(self, records: Ints) -> Bools:
        """Whether each record has enough eligible entries, and lacks enough items."""
        by_record, release, holds = self.release.by_record, self.release, None
        lengths, lacking = release.lengths, release.n_items - release.distinct_items[records]
        if self.choice.name == "outside_top":
            holds = (release.rank > self.choice.top)[by_record.item]
        elif self.choice.name in ("recent", "burst") and by_record.time is not None:
            holds = np.asarray(by_record.time < release.span)
        if holds is not None and len(holds):
            used = np.flatnonzero(lengths > 0)
            lengths = np.zeros_like(lengths)
            lengths[used] = np.add.reduceat(holds, by_record.start[used], dtype=np.int64)
        return np.asarray((lengths[records] >= self.needs) & (lacking >= self.by_items))

    def _entries(self, record: int) -> Entries:
        by_record, release = self.release.by_record, self.release
        positions = slice(int(by_record.start[record]), int(by_record.start[record + 1]))
        missing = np.zeros(positions.stop - positions.start, np.int64)
        return Entries(
            by_record.item[positions].astype(np.int64),
            missing + release.n_levels if by_record.value is None else by_record.value[positions].astype(np.int64),
            missing + release.span if by_record.time is None else by_record.time[positions].astype(np.int64),
        )

    def _chosen_entries(self, records: Ints) -> Entries:
        """The known entries of each record, one row per record."""
        lengths = self.release.by_record.start[records + 1] - self.release.by_record.start[records]
        needs = min(self.needs, int(lengths.max())) if len(records) else self.needs  # refused below if fewer
        chosen = np.empty((3, len(records), needs), np.int64)
        for at, (record, stream) in enumerate(zip(records, self._streams("observe", records), strict=True)):
            entries = self._entries(int(record))
            eligible = np.arange(len(entries.item))
            if self.choice.name == "outside_top":
                eligible = np.flatnonzero(self.release.rank[entries.item] > self.choice.top)
            elif self.choice.name in ("recent", "burst"):
                eligible = np.flatnonzero(entries.time < self.release.span)
            if len(eligible) < self.needs:
                raise ParameterError(
                    f"a record has only {len(eligible)} of the {self.needs} entries that are to be known: "
                    "choose records with Adversary.eligible()"
                )
            uniform = uniforms(np.array([stream]), 2 * len(eligible)).reshape(2, -1)
            known = eligible[self._chosen(uniform, Entries(*(column[eligible] for column in entries)))]
            for column, codes in zip(chosen, entries, strict=True):
                column[at] = codes[known]
        return Entries(*chosen)

    def _chosen(self, uniform: Floats, entries: Entries) -> Ints:
        """Positions of the known entries, in the order in which they become known."""
        n, count = len(entries.item), self.needs
        shuffled = np.argsort(uniform[0])  # equal ones are in random order
        if self.choice.name == "rarest":
            item = entries.item[shuffled]
            return shuffled[np.lexsort((self.release.support[item], occurrence(item)))][:count]
        if self.choice.name == "popular":
            return _by_weight(uniform[1], self.release.support[entries.item], count)
        if self.choice.name == "recent":
            return shuffled[np.argsort(-entries.time[shuffled], kind="stable")][:count]
        if self.choice.name == "burst" and n:
            anchor = entries.time[shuffled[0]]
            return shuffled[np.argsort(np.abs(entries.time[shuffled] - anchor), kind="stable")][:count]
        return shuffled[:count]

    def _with_errors(self, right: Entries, uniform: Floats, n_wrong: int) -> Entries:
        """These entries as they are believed, one row per draw; `n_wrong` of each row are wrong."""
        for_values, for_times, for_wrong = uniform.transpose(1, 0, 2)
        wrong = self._wrong(for_wrong, right, n_wrong)
        value, time = self._values(for_values, right.value, wrong), self._times(for_times, right.time, wrong)
        return Entries(right.item, value, time)

    def _wrong(self, uniform: Floats, known: Entries, count: int) -> Bools:
        """Which `count` of the known entries are wrong. Those without a known value or date come last."""
        has_content = (known.value < self.release.n_levels) & (self.adversary.value_error is not None)
        has_content |= (known.time < self.release.span) & (self.adversary.time_error is not None)
        order = np.argsort(uniform + ~has_content, axis=1)
        wrong = np.zeros(uniform.shape, np.bool_)
        np.put_along_axis(wrong, order[:, :count], True, axis=1)
        return wrong

    def _values(self, uniform: Floats, code: Ints, wrong: Bools) -> Ints:
        """Levels within the error of the right ones, or outside it (any if none is); -1 where there is no value."""
        error, levels, count = self.adversary.value_error, self.release.levels, self.release.n_levels
        if error is None or count == 0:
            return np.full(code.shape, -1)
        known = np.minimum(code, count - 1)
        low, past = known, known + 1
        if isinstance(levels, np.ndarray):
            reach = error + ROUNDING
            low = np.searchsorted(levels, levels[known] - reach)
            past = np.searchsorted(levels, levels[known] + reach, "right")
        return np.where(code == count, -1, _draw(uniform, low, past, count, wrong))

    def _times(self, uniform: Floats, code: Ints, wrong: Bools) -> Ints:
        """Times within reach of the right ones, or any others of the release; NEVER where there is none."""
        error, span = self.adversary.time_error, self.release.span
        if error is None or span == 0:
            return np.full(code.shape, NEVER)
        reach = math.floor(error * self.units + ROUNDING)
        return np.where(code == span, NEVER, _draw(uniform, code - reach, code + reach + 1, span, wrong))

    def _with_wrong_items(self, facts: Entries, records: Ints, draws: int) -> Entries:
        """The facts, with those about items outside the records mixed in."""
        release, count, n = self.release, self.by_items, len(records)
        streams = np.repeat(self._streams("wrong items", records[::draws]), draws)
        streams += np.tile(np.arange(draws, dtype=np.uint64), n // draws) << np.uint64(32)
        item = np.stack([self._others(int(record), stream) for record, stream in zip(records, streams, strict=True)])
        uniform = uniforms(streams ^ np.uint64(1), 2 * count + self.adversary.knows)
        value = np.floor(uniform[:, :count] * release.n_levels) if self.knows_values else np.full((n, count), -1)
        time = np.full((n, count), NEVER)
        if self.knows_times:
            time = np.floor(uniform[:, count : 2 * count] * release.span).astype(np.int64)
        others = item, value.astype(np.int64), time
        order = np.argsort(uniform[:, 2 * count :], axis=1)
        both = (np.concatenate(pair, axis=1) for pair in zip(facts, others, strict=True))
        return Entries(*(np.take_along_axis(column, order, axis=1) for column in both))

    def _others(self, record: int, stream: np.uint64) -> Ints:
        """Items outside a record."""
        by_popularity = self.adversary.wrong_facts == "items"
        weight = self.release.support.copy() if by_popularity else np.ones(self.release.n_items, np.int64)
        weight[self._entries(record).item] = 0
        if np.count_nonzero(weight) < self.by_items:
            raise ParameterError("wrong items must come from outside the record, and there are too few")
        return _by_weight(uniforms(np.array([stream]), len(weight))[0], weight, self.by_items)


def _draw(uniform: Floats, low: Ints, past: Ints, count: int, wrong: Bools) -> Ints:
    """Draw from low … past − 1 or, where `wrong`, from the rest of 0 … count − 1 (if any, else all of it)."""
    before, after = np.maximum(low, 0), np.maximum(count - past, 0)
    right = low + np.floor(uniform * (past - low)).astype(np.int64)
    index = np.floor(uniform * (before + after)).astype(np.int64)
    other = np.where(index < before, index, past + index - before)
    any_valid = np.floor(uniform * count).astype(np.int64)
    return np.where(wrong, np.where(before + after > 0, other, any_valid), right)


def _by_weight(uniform: Floats, weight: Ints, count: int) -> Ints:
    """`count` positions without repeats, each drawn in proportion to its weight among those left."""
    with np.errstate(divide="ignore", invalid="ignore"):
        arrival = -elementary.log1p(-uniform) / weight  # first arrivals of Poisson processes with these rates
    first = np.argpartition(arrival, count)[:count] if count < len(arrival) else np.arange(len(arrival))
    return np.asarray(first[np.argsort(arrival[first])][:count])


# Draws of an adversary of the user's own: which entries are known, or all facts about a target.


@dataclass(frozen=True, slots=True)
class TargetEntries:
    """The entries of a target's record for `Adversary.choose`: codes of item, value and time; see docs/extending.md.

    `day` counts calendar days since the first of the release, -1 if there is none; `support` is that of each item.
    """

    release: Release
    item: Ints
    value: Ints
    time: Ints
    day: Ints
    support: Ints

    def __len__(self) -> int:
        return len(self.item)


class ChosenObserver(Observer):
    """Draws facts from the entries that an adversary of the user's own chooses; their number may differ."""

    def __init__(self, adversary: "Adversary", release: Release, seed: int) -> None:
        super().__init__(adversary, release, seed)
        self.name = type(adversary).__name__
        if self.by_items:
            raise ParameterError(
                f"wrong_facts must be 'values' for {self.name}, which chooses entries of the record: "
                "override observe to add facts about other items"
            )

    def can_observe(self, records: Ints) -> Bools:
        """Whether each record has an entry."""
        return np.asarray(self.release.lengths[records] > 0)

    def observe(self, records: Ints, draws: int) -> KnownFacts:
        """The known facts of each record, `draws` times."""
        streams = self._streams("errors", records)
        facts, counts = [], []
        for record, stream in zip(records.tolist(), streams, strict=True):
            known = self._chosen_of(record)
            n = len(known.item)
            uniform = uniforms(np.array([stream]), 3 * draws * n).reshape(draws, 3, n)
            known = Entries(*(np.tile(column, (draws, 1)) for column in known))
            knows = self.adversary.knows  # the share of wrong facts in n facts (half a fact is right)
            n_wrong = max(0, -(-(2 * n * self.by_values - knows) // (2 * knows)))
            facts.append(Entries(*(column.ravel() for column in self._with_errors(known, uniform, n_wrong))))
            counts += [n] * draws
        nothing = Entries(*(np.empty(0, np.int64) for _ in range(3)))
        columns = Entries(*(np.concatenate(parts) for parts in zip(nothing, *facts, strict=True)))
        return self._known_facts(np.repeat(records, draws), columns, offsets(counts))

    def _chosen_of(self, record: int) -> Entries:
        """The known entries of a record, in the order in which they become known."""
        entries, release = self._entries(record), self.release
        origin = 0 if release.clock is None else release.clock.origin
        day = (origin + entries.time) // self.units - origin // self.units
        day = np.where(entries.time < release.span, day, -1)
        target = TargetEntries(release, *entries, day=day, support=release.support[entries.item])
        rng = generator(self.seed, "choose", self.key, release.records[record])
        source = f"{self.name}.choose()"
        chosen = _positions(call_user_code(lambda: self.adversary.choose(target, rng), source), len(target), source)
        return Entries(*(column[chosen[: self.adversary.knows]] for column in entries))


def _positions(given: Any, count: int, source: str) -> Ints:
    array = np.asarray(given)
    array = array.astype(np.int64) if array.size == 0 else array
    fits = array.ndim == 1 and array.dtype.kind in "iu" and len(np.unique(array)) == len(array)
    if not fits or (len(array) and not (0 <= array.min() and array.max() < count)):
        raise ParameterError(f"{source} must return positions of entries of the record, each at most once")
    return array.astype(np.int64)


def observe_each(adversary: "Adversary", release: Release, records: Ints, seeds: list[int]) -> KnownFacts:
    """What the adversary's own `observe` gives for each record, with each of these seeds."""
    source = f"{type(adversary).__name__}.observe()"
    auxes = []
    for record in records.tolist():
        for seed in seeds:
            aux = call_user_code(partial(adversary.observe, release, release.records[record], seed), source)
            if not isinstance(aux, Aux):
                raise ParameterError(f"{source} must return an Aux, got {type(aux).__name__}")
            auxes.append(aux)
    return encode_auxes(release, auxes)


def check_known_facts(known: Any, name: str, release: Release, targets: int, knows: int) -> KnownFacts:
    """Return what an adversary of the user's own says if it fits; too many facts would be cut off unseen."""
    if not isinstance(known, KnownFacts):
        raise ParameterError(f"{name}.observe_all() must return KnownFacts, got {type(known).__name__}")
    if len(known) != targets:
        raise ParameterError(f"{name} gives facts about {len(known):,} targets instead of {targets:,}")
    most = int(np.diff(known.first).max(initial=0))
    if most > knows:
        raise ParameterError(f"{name} gives {most} facts about a target: knows must be at least {most}, got {knows}")
    columns = (known.item, release.n_items), (known.value, len(known.values))
    n = int(known.first[-1])
    sizes = {len(column) for column in (known.item, known.value, known.time, known.timed)}
    if sizes != {n} or not all(column.min(initial=0) >= -1 and column.max(initial=-1) < end for column, end in columns):
        raise ParameterError(f"{name} gives facts that do not fit the release: see docs/extending.md")
    return known


# Draws of the cells that an adversary knows about people of a release with columns.


def possible_attributes(adversary: "Adversary", release: Release) -> tuple[str, ...]:
    """The attributes that may be known; a name of a column stands for its attribute."""
    if adversary.columns is None:
        return tuple(release.attributes)
    names = (name if name in release.attributes else release.column(name).attribute for name in adversary.columns)
    return tuple(dict.fromkeys(names))


def cells_known(adversary: "Adversary", release: Release, records: Ints) -> Bools:
    """For each record, which attributes have a cell that is not missing."""
    if str(adversary.items) not in ("any", "rarest"):
        raise ParameterError(f'items must be "any" or "rarest" for columns, got {str(adversary.items)!r}')
    return np.column_stack([
        np.any([~release.columns[i].is_missing[records] for i in release.attributes[name]], axis=0)
        for name in possible_attributes(adversary, release)
    ])  # fmt: skip


def observe_cells(adversary: "Adversary", release: Release, records: Ints, seed: int, draws: int = 1) -> Cells:
    """The known cells of each record, attribute by attribute as they are learned; later draws have other errors."""
    order = np.repeat(_order(adversary, release, records, seed)[:, : adversary.knows], draws, axis=0)
    seeds, target = draw_seeds(seed, draws), np.repeat(records, draws)
    uniform = _uniforms(seeds, "wrong", target, adversary.knows)
    wrong = np.argsort(np.argsort(uniform, axis=1), axis=1) < adversary.wrong  # random attributes of each target
    uniform = _uniforms(seeds, "known cells", target, 2 * release.n_columns)
    cells = [np.empty((4, 0), np.int64)]  # target, rank of its attribute among those it is known for, column, code
    for number, name in enumerate(possible_attributes(adversary, release)):
        known, rank = np.nonzero(order == number)
        for position in release.attributes[name]:
            column = release.columns[position]
            has = ~column.is_missing[target[known]]
            q, r = known[has], rank[has]
            code = _believed(adversary, column, target[q], wrong[q, r], uniform[q, 2 * position])
            cells.append(np.stack([q, r, np.full(len(q), position), code]))
    query, rank, position_of, code = np.concatenate(cells, axis=1)
    by_target = np.lexsort((rank, query))
    first = offsets(np.bincount(query, minlength=len(target)))
    return Cells(first, position_of[by_target], code[by_target], np.asarray(target, np.int64))


def draw_seeds(seed: int, draws: int) -> list[int]:
    """The seed of each draw for a target: the first one does not depend on how many there are."""
    return [seed, *(int(key(seed, "draw", draw) >> np.uint64(1)) for draw in range(1, draws))]


def _uniforms(seeds: list[int], purpose: str, target: Ints, count: int) -> Floats:
    """Random numbers for each target, whose draws follow one another."""
    streams = [key(seeds[i % len(seeds)], purpose, record) for i, record in enumerate(target.tolist())]
    return uniforms(np.array(streams, np.uint64), count)


def _order(adversary: "Adversary", release: Release, records: Ints, seed: int) -> Ints:
    """For each record, its attributes in the order in which they become known."""
    known = cells_known(adversary, release, records)
    rank = _uniforms([seed], "attributes", records, known.shape[1])
    if str(adversary.items) == "rarest":
        names = possible_attributes(adversary, release)
        shares = [
            np.min([_value_shares(release.columns[i], records) for i in release.attributes[name]], axis=0)
            for name in names
        ]
        rank = rank * 1e-9 + np.column_stack(shares)
    return np.argsort(np.where(known, rank, np.inf), axis=1, kind="stable")


def _value_shares(column: Column, records: Ints) -> Floats:
    """The share of records that have the same value as each of these; of a set, as its rarest member."""
    shares = column.counts / column.n_rows
    if column.starts is None:
        return np.where(column.is_missing[records], np.inf, shares[column.codes[records]])
    return np.array([shares[members].min(initial=np.inf) for members in _members(column, records)])


def _members(column: Column, records: Ints) -> list[Ints]:
    assert column.starts is not None
    ends = zip(column.starts[records].tolist(), column.starts[records + 1].tolist(), strict=True)
    return [column.codes[begin:end].astype(np.int64) for begin, end in ends]


def _believed(adversary: "Adversary", column: Column, records: Ints, wrong: Bools, uniform: Floats) -> Ints:
    """The level that the adversary believes each cell to have; of a set, one member or a category outside it."""
    if column.starts is not None:
        believed = np.empty(len(records), np.int64)
        for i, members in enumerate(_members(column, records)):
            outside = wrong[i] and len(members) < column.n_levels
            chosen = np.setdiff1d(np.arange(column.n_levels), members) if outside else members
            believed[i] = chosen[min(int(uniform[i] * len(chosen)), len(chosen) - 1)]
        return believed
    true: Ints = column.codes[records].astype(np.int64)
    near = near_levels(column, adversary.error_of(column))
    return _draw(uniform, near.low[true], near.high[true], column.n_levels, wrong)
