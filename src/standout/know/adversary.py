"""The adversary: how many facts are known, how imprecise they are, and how many are wrong  [Aux(r)]."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from standout.core.arrays import Bools, Ints
from standout.core.errors import NotFoundError, ParameterError, did_you_mean, finite_number, whole_number
from standout.data.column import Column
from standout.data.labels import position_of_id
from standout.data.release import Release
from standout.know.facts import Aux, KnownFacts, cell_facts
from standout.know.observation import (
    Choice,
    ChosenObserver,
    Observer,
    TargetEntries,
    cells_known,
    check_known_facts,
    draw_seeds,
    observe_cells,
    observe_each,
)

WrongFacts = Literal["values", "items", "any items"]
WRONG = {"values": "", "items": " items", "any items": " items of any kind"}
CHOICES = ("any", "rarest", "popular", "recent", "burst")
ERRORS = ("value_error", "time_error", "length_error", "joined_error")
OF_COLUMNS = ("columns", "error", "errors", "entries")
"""Parameters about columns. They are in the key of an adversary only if they are given."""
USUAL: Any = None
"""Default of `knows`: all of `columns`, or 8."""
DRAWS = ("choose", "observe", "observe_all", "eligible")
"""Methods that decide what a subclass knows."""


def outside_top(k: int) -> Choice:
    """Choice of items that are not among the k most popular  [section 5].

    Parameters
    ----------
    k : int
        Number of most popular items that the adversary does not know, at least 1.

    Examples
    --------
    >>> str(outside_top(500))
    'outside_top(500)'
    """
    return Choice("outside_top", whole_number("outside_top", k, 1))


@dataclass(frozen=True, slots=True)
class Adversary:
    """Somebody who knows a few facts about a target, some of them wrong  [section 5: "m movies out of m′"].

    "6 of 8" is `knows=8, wrong=2`. Every draw depends only on (seed, adversary, record), not on the other
    targets or their order. In a release with columns, a known fact is an attribute of the person; what is
    also known of the history is another adversary, `entries`.

    For an adversary of your own, subclass it as a frozen dataclass and override `choose`, which says which
    entries are known; or `observe`, which gives any facts about one target; or `observe_all`, which gives
    those about many. See docs/extending.md.

    Parameters
    ----------
    knows : int
        Number of known facts, m′; the largest number in an adversary of your own. Default: all of `columns`
        if these are given, otherwise 8.
    wrong : int
        Number of wrong facts among them, m′ − m.
    wrong_facts : {"values", "items", "any items"}
        "values": the item is right, its value and date are wrong. "items": the item is not in the target's
        record; it is drawn by popularity. "any items": the same, but every such item is equally likely.
    value_error : float, optional
        Values are drawn uniformly from the levels within this distance of the right one. 0: exact; None: not
        known.
    time_error : float, optional
        Dates are off by up to this many days either way, uniformly. 0: exact; None: not known.
    items : str or Choice
        Which entries of the record are known. "any": equally likely; `outside_top(k)`: of items not among
        the k most popular; "rarest": of the rarest items first; "popular": drawn by popularity of the item;
        "recent": the latest first; "burst": close in time. If an item repeats, several entries of it may be
        known. Of columns: "any", or "rarest" for the attributes whose value fewest people share.
    length_error : float, optional
        The number of entries of the record is known to within this share; None: not known.
    joined_error : float, optional
        The date of its first entry is known to within this many days; None: not known.
    columns : sequence of str, optional
        Columns or attributes that may be known, such as quasi-identifiers. Default: all.
    error : float
        How inaccurate right facts about columns are, as a multiple of each column's own error: 0 is exact.
    errors : mapping, optional
        Errors of single columns, in their units, instead.
    entries : Adversary, optional
        What is also known of the person's history, in a release with columns.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> acquaintance = Adversary(knows=8, wrong=2, value_error=1, time_error=14)
    >>> aux = acquaintance.observe(release, "42", seed=2008)
    >>> len(aux), aux == acquaintance.observe(release, "42", seed=2008)
    (8, True)
    """

    knows: int = USUAL
    wrong: int = 0
    wrong_facts: WrongFacts = "values"
    value_error: float | None = 0
    time_error: float | None = 0
    items: Choice | str = "any"
    length_error: float | None = None
    joined_error: float | None = None
    columns: tuple[str, ...] | None = None
    error: float = 1.0
    errors: Mapping[str, float] = field(default_factory=dict, hash=False)
    entries: "Adversary | None" = None

    def __init_subclass__(cls, **options: Any) -> None:
        super(Adversary, cls).__init_subclass__(**options)
        own = vars(cls)
        if "observe" in own and "observe_all" not in own:
            cls.observe_all = _observe_all_with_observe  # type: ignore[method-assign]
        elif "choose" in own and "observe_all" not in own and cls.observe_all is not Adversary.observe_all:
            raise ParameterError(f"{cls.__name__}.choose() would have no effect: a base class has draws of its own")

    def __post_init__(self) -> None:
        kinds = type(self).__mro__
        for base in kinds[: kinds.index(Adversary)]:  # a parameter set in a class that is no dataclass has no effect
            if {*vars(base)} & {*Adversary.__dataclass_fields__} and "__dataclass_fields__" not in vars(base):
                raise ParameterError(f"{base.__name__} must be a dataclass: write @dataclass(frozen=True) above it")
        if self.columns is not None:
            object.__setattr__(self, "columns", tuple(self.columns))
        knows = self.knows if self.knows is not None else len(self.columns) if self.columns else 8
        object.__setattr__(self, "knows", whole_number("knows", knows, 1))
        object.__setattr__(self, "wrong", whole_number("wrong", self.wrong, 0))
        if self.wrong > self.knows:
            raise ParameterError(f"wrong must be at most knows ({self.knows}), got {self.wrong}")
        if self.wrong_facts not in tuple(WRONG):
            raise ParameterError(f"wrong_facts must be values, items or any items, got {self.wrong_facts!r}")
        for name in ERRORS:
            object.__setattr__(self, name, finite_number(name, getattr(self, name), optional=True))
        for name, error in (("error", self.error), *self.errors.items()):
            finite_number(f"the error of {name}", error)
        if self.entries is not None and not isinstance(self.entries, Adversary):
            raise ParameterError(f"entries must be an Adversary, got {type(self.entries).__name__}")
        items = Choice(self.items) if isinstance(self.items, str) else self.items
        if not isinstance(items, Choice):
            raise ParameterError(f"items must be a name or outside_top(k), got {type(items).__name__}")
        if items.name == "outside_top" and isinstance(self.items, Choice):
            outside_top(items.top)
        elif items.name not in CHOICES:
            names, near = ", ".join(CHOICES), did_you_mean(items.name, CHOICES)
            raise ParameterError(f"items must be {names} or outside_top(k), got {items.name!r}{near}")
        object.__setattr__(self, "items", items)

    def __str__(self) -> str:
        """Short description: what is known, and how precisely."""
        parts = [f"{self.knows} facts"]
        parts += [f"{self.wrong} wrong" + WRONG[self.wrong_facts]] if self.wrong else []
        parts += [] if str(self.items) == "any" else [str(self.items).replace("_", " ")]
        parts += [_describe_error("values", self.value_error, ""), _describe_error("dates", self.time_error, " days")]
        parts += [] if self.length_error is None else [f"length ± {self.length_error:.0%}"]
        parts += [] if self.joined_error is None else [f"joined ± {self.joined_error:g} days"]
        parts += [] if self.columns is None else [f"of {' and '.join(self.columns)}"]
        parts += [] if self.error == 1 else ["columns exact" if not self.error else f"columns ± {self.error:g} × error"]
        parts += [f"{name} ± {error:g}" for name, error in self.errors.items()]
        parts += [] if self.entries is None else [f"and of the history {self.entries}"]
        return ", ".join(parts)

    def observe(self, release: Release, record: str, seed: int = 0) -> Aux:
        """Draw what the adversary knows about one target.

        Parameters
        ----------
        release : Release
            The data set that has the target's record.
        record : str
            Id of the record.
        seed : int
            Seed of the draws.
        """
        position = position_of_id(release.records, record)
        known: KnownFacts = _batch_draws(type(self))(self, release, [position], seed)
        return known.aux(release, 0)

    def choose(self, entries: TargetEntries, rng: np.random.Generator) -> Ints:
        """Positions of a target's known entries, in the order in which they become known; the first `knows` count.

        Override it for an adversary of your own.

        Parameters
        ----------
        entries : TargetEntries
            The entries of the record.
        rng : numpy.random.Generator
            Random numbers that depend only on (seed, adversary, record).
        """
        raise NotImplementedError

    def observe_all(self, release: Release, records: Sequence[int] | Ints, seed: int = 0, draws: int = 1) -> KnownFacts:
        """Draw what the adversary knows about many targets.

        Parameters
        ----------
        release : Release
            The data set that has the records.
        records : sequence of int
            Positions of the records in the release.
        seed : int
            Seed of the draws.
        draws : int
            Number of draws for each target, one after the other: the same items of the record with other
            errors (and other wrong items). The first draw does not depend on this number.
        """
        positions, draws = _positions(release, records), whole_number("draws", draws, 1)
        if not release.columns:
            return self._observer(release, seed).observe(positions, draws)
        cells = observe_cells(self, release, positions, seed, draws)
        if self.entries is None:
            return cell_facts(release, cells)
        return replace(self.entries.observe_all(release.history, positions, seed, draws), cells=cells)

    def eligible(self, release: Release, records: Sequence[int] | Ints) -> Bools:
        """Whether each record has enough entries for this adversary."""
        positions = _positions(release, records)
        if not release.columns:
            return self._observer(release, 0).can_observe(positions)
        enough = np.asarray(cells_known(self, release, positions).sum(axis=1) >= self.knows)
        if self.entries is None:
            return enough
        if not release.n_items:
            raise ParameterError("entries must be None, because the release has no history")
        return np.asarray(enough & (release.lengths[positions] > 0) & self.entries.eligible(release.history, positions))

    def error_of(self, column: Column) -> float:
        """The largest error of a right fact about a column."""
        return float(self.errors.get(column.name, self.error * column.error))

    def _observer(self, release: Release, seed: int) -> Observer:
        own = type(self).choose is not Adversary.choose
        return ChosenObserver(self, release, seed) if own else Observer(self, release, seed)

    def key(self) -> str:
        """Text that names this adversary in the keys of random draws."""
        parameters = []
        for each in fields(self):
            given, usual = getattr(self, each.name), {} if each.name == "errors" else each.default
            if each.name not in OF_COLUMNS or given != usual:
                parameters.append(f"{each.name}={f'({given.key()})' if isinstance(given, Adversary) else given}")
        kind, text = type(self), ",".join(parameters)
        return text if kind is Adversary else f"{kind.__module__}.{kind.__qualname__}({text})"


def known_facts(adversary: Adversary, release: Release, records: Ints, seed: int, draws: int = 1) -> KnownFacts:
    """What an adversary knows about these records; the facts of a subclass are checked."""
    known = adversary.observe_all(release, records, seed, draws)
    if type(adversary) is Adversary:
        return known
    return check_known_facts(known, type(adversary).__name__, release, len(records) * draws, adversary.knows)


def check_checkpoint_key(adversary: Adversary, option: str) -> None:
    """Refuse a checkpoint if key() cannot identify the draws, as in a subclass without a key() of its own."""
    if has_own_draws(adversary) and type(adversary).key is Adversary.key:
        raise ParameterError(
            f"{option} needs a method key() of {type(adversary).__name__}: a checkpoint cannot tell one "
            "version of an adversary of your own from another"
        )


def has_own_draws(adversary: Adversary) -> bool:
    """Whether a subclass decides what is known."""
    return any(getattr(type(adversary), name) is not getattr(Adversary, name) for name in DRAWS)


def _observe_all_with_observe(
    self: Adversary, release: Release, records: Sequence[int] | Ints, seed: int = 0, draws: int = 1
) -> KnownFacts:
    """`observe_all` of a subclass that overrides `observe` only: the same facts, one target at a time."""
    seeds = draw_seeds(seed, whole_number("draws", draws, 1))
    return observe_each(self, release, _positions(release, records), seeds)


def _batch_draws(kind: type[Adversary]) -> Any:
    """The `observe_all` of a class that does not call `observe`, for an `observe` that calls its super()."""
    own = (vars(base).get("observe_all") for base in kind.__mro__)
    return next(draws for draws in own if draws is not None and draws is not _observe_all_with_observe)


def _describe_error(what: str, error: float | None, unit: str) -> str:
    return f"no {what}" if error is None else f"{what} exact" if not error else f"{what} ± {error:g}{unit}"


def _positions(release: Release, records: Sequence[int] | Ints) -> Ints:
    """Return positions of records in the release if they are valid."""
    positions = np.asarray(records)
    if positions.size and positions.dtype.kind not in "iu":
        raise ParameterError("records must be positions in the release, as whole numbers")
    if positions.size and not (0 <= positions.min() and positions.max() < release.n_records):
        raise NotFoundError(f"record positions run from 0 to {release.n_records - 1:,}")
    return positions.astype(np.int64).reshape(-1)
