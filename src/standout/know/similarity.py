"""Sim: the similarity of a known fact and an entry, of two places, and of two records  [section 3].

A similarity is a small frozen object. It says how similar two values are, how similar two dates are, and how
both are combined. Before an attack it is tabulated over the release's value levels and time distances
(`lookup_tables`), so that neither it nor a user's own function is called while records are scored.

A value or date that the fact does not give is not compared; with neither, having the item counts 1. A value
or date that the fact gives but the entry lacks counts 0.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError, StandoutError, finite_number
from standout.data.labels import SECONDS, Entry
from standout.data.release import Levels, Release
from standout.ingest.places import places_of

Value = float | str
Over = Literal["union", "first"]
ROUNDING = 1e-9
"""Tolerance of distances: levels 0.3 and 0.4 are 0.1 apart, in spite of binary fractions."""
ENDED_SCALES = 70
"""Number of scales after which a decay is below 1e-30, which counts as 0."""
FUNCTION = "the similarity's function"
MOST_KEPT = 1 << 21
"""Largest number of results of a user's function that are kept."""


def call_user_code(call: Callable[..., Any], source: str, *arguments: Any) -> Any:
    """Call a user's code; an error says which code failed."""
    try:
        return call(*arguments)
    except StandoutError:
        raise
    except Exception as error:
        raise ParameterError(f"{source} failed: {type(error).__name__}: {error}") from error


def check_numbers(given: Any, count: int, source: str) -> Floats:
    """Return the result of a user's code as `count` numbers; an error says which code is at fault."""
    try:
        array = np.asarray(given)
    except ValueError:  # lists of different lengths
        array = np.asarray(None)
    numbers = array.astype(np.float64) if array.dtype.kind in "biuf" else None
    if numbers is None or numbers.shape != (count,) or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ParameterError(f"{source} must return {count:,} finite number{'s' * (count != 1)} ≥ 0")
    return numbers


class Similarity:
    """Base class of similarities: Sim = value part × time part, or their sum if `adds` is set.

    Subclass it and override `values`, `times` or both for a similarity of your own.

    Attributes
    ----------
    adds : bool
        Whether the parts are added; default: they are multiplied.

    Examples
    --------
    >>> from dataclasses import dataclass, field
    >>> @dataclass(frozen=True)
    ... class SameWeekday(Similarity):
    ...     def times(self, days):
    ...         return (days % 7 == 0).astype(float)
    >>> SameWeekday().times(np.array([-7.0, 0.0, 3.0]))
    array([1., 1., 0.])
    """

    adds: ClassVar[bool] = False

    def values(self, known: Value, levels: Levels) -> Floats | None:
        """Similarity of a known value and each level, from 0 to 1; None: values are not compared.

        Parameters
        ----------
        known : float or str
            The value of the fact.
        levels : array of float, or tuple of str
            The distinct values of the release, ascending.
        """
        return None

    def times(self, days: Floats) -> Floats | None:
        """Similarity of dates by their distance, from 0 to 1; None: dates are not compared.

        Parameters
        ----------
        days : array of float
            Date of the entry minus date of the fact, in days.
        """
        return None


@dataclass(frozen=True, slots=True)
class Within(Similarity):
    """1 if value and date are both within a threshold of the known ones, else 0  [section 5].

    Parameters
    ----------
    value : float, optional
        Largest distance of values; None: not compared.
    time : float, optional
        Largest distance of dates in days; None: not compared.

    Examples
    --------
    >>> Within(value=1, time=14).values(4, np.array([1.0, 3.0, 5.0]))
    array([0., 1., 1.])
    """

    value: float | None = 1
    time: float | None = 14

    def __post_init__(self) -> None:
        finite_number("value", self.value, optional=True)
        finite_number("time", self.time, optional=True)

    def values(self, known: Value, levels: Levels) -> Floats | None:
        """1 if a level is within the threshold of the known value, else 0."""
        return None if self.value is None else (_distances(known, levels) <= self.value + ROUNDING).astype(np.float64)

    def times(self, days: Floats) -> Floats | None:
        """1 if a distance is within the threshold, else 0."""
        return None if self.time is None else (np.abs(days) <= self.time + ROUNDING).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Decay(Similarity):
    """e^(−|Δvalue| / value_scale) + e^(−|Δdays| / time_scale)  [section 5, ρ0 = 1.5 and d0 = 30].

    Each term is at most 1, so Sim is at most 2 if value and date are known. Where Sim must lie between 0
    and 1 (Algorithm 1A, record similarity) it is the mean of the terms.

    Parameters
    ----------
    value_scale : float, optional
        ρ0; None: values are not compared.
    time_scale : float, optional
        d0, in days; None: dates are not compared.

    Examples
    --------
    >>> Decay().values(4, np.array([4.0, 5.5])).round(3)
    array([1.   , 0.368])
    """

    value_scale: float | None = 1.5
    time_scale: float | None = 30
    adds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        finite_number("value_scale", self.value_scale, zero=False, optional=True)
        finite_number("time_scale", self.time_scale, zero=False, optional=True)

    def values(self, known: Value, levels: Levels) -> Floats | None:
        """e^(−|Δvalue| / value_scale) for each level."""
        if self.value_scale is None:
            return None
        with np.errstate(over="ignore"):  # 0 where the quotient exceeds all numbers
            return elementary.exp(-_distances(known, levels) / self.value_scale)

    def times(self, days: Floats) -> Floats | None:
        """e^(−|Δdays| / time_scale) for each distance."""
        if self.time_scale is None:
            return None
        with np.errstate(over="ignore"):
            return elementary.exp(-np.abs(days) / self.time_scale)


@dataclass(frozen=True, slots=True)
class Present(Similarity):
    """1 if the record has the item, with any value and date  [section 3].

    Examples
    --------
    >>> Present().values(4, np.array([4.0])) is None
    True
    """


@dataclass(frozen=True, slots=True)
class Equal(Similarity):
    """1 if the values are equal, else 0: for categories, or for exact numbers  [section 3].

    Examples
    --------
    >>> Equal().values("rented", ("bought", "rented"))
    array([0., 1.])
    """

    def values(self, known: Value, levels: Levels) -> Floats | None:
        """1 for the level that equals the known value, 0 for others."""
        return np.asarray(_distances(known, levels) == 0, np.float64)


@dataclass(frozen=True, slots=True)
class Custom(Similarity):
    """Your own function: Sim = function(known value, entry's value, days from the fact to the entry).

    An argument is None if it is not known or not in the release. The function is called for the known values,
    levels and distances before the attack begins, and its results are kept, so it must always return the
    same for the same arguments. If value and date can be judged separately, a subclass of `Similarity` is
    tabulated faster and has no limit of size.

    Parameters
    ----------
    function : callable
        Takes (known value, value, days) and returns a finite number ≥ 0.

    Examples
    --------
    >>> late = Custom(lambda known, value, days: float(known == value and 0 <= (days or 0) <= 30))
    >>> late.function(4, 4, 12)
    1.0
    """

    function: Callable[[Any, Any, Any], Any]
    kept: dict[tuple[Any, Any, Any], float] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __call__(self, known: Value | None, value: Value | None, days: float | None) -> float:
        """Return the result of the function after a check."""
        return self.results([(known, value, days)])[0]

    def results(self, arguments: list[tuple[Any, Any, Any]]) -> list[float]:
        """The results for several arguments; those of earlier calls are kept."""
        kept, function = self.kept, self.function
        if len(kept) > MOST_KEPT:
            kept.clear()
        new = [given for given in arguments if given not in kept]
        found = call_user_code(lambda: [function(*given) for given in new], FUNCTION)
        if not all(type(each) in (float, int, bool) and 0 <= each < math.inf for each in found):
            found = [check_numbers([each], 1, FUNCTION)[0] for each in found]
        kept.update(zip(new, map(float, found), strict=True))
        return [kept[given] for given in arguments]


def check_similarity(similarity: Any) -> Similarity:
    """Return `similarity` if it is one."""
    if not isinstance(similarity, Similarity):
        raise ParameterError(f"similarity must be a Similarity, got {type(similarity).__name__}")
    return similarity


def days_per_unit(release: Release) -> float:
    """Length of a unit of the release's clock, in days."""
    return 1.0 if release.clock is None else SECONDS[release.clock.unit] / SECONDS["day"]


def time_reach(similarity: Similarity) -> float | None:
    """Number of days beyond which Sim of times is 0, or in a decay below 1e-30; None if that is not known.

    >>> time_reach(Within(time=14)), time_reach(Decay(time_scale=30)), time_reach(Similarity()) is None
    (14, 2100, True)
    """
    if type(similarity) is Within:
        return similarity.time or 0
    if type(similarity) is Decay:
        return ENDED_SCALES * (similarity.time_scale or 0)
    return 0 if type(similarity) in (Present, Equal) else None


def _distances(known: Value, levels: Levels) -> Floats:
    """Distance of a value from each level. Two categories are equal (0) or infinitely far apart."""
    if isinstance(levels, tuple):
        return np.array([0.0 if level == known else math.inf for level in levels])
    if isinstance(known, str):
        raise ParameterError("the value of a fact must be a number, because the release's values are numbers")
    return np.abs(levels - float(known))


# Similarity of places: 1 within some metres, or a decay with the distance between their centres.
#
# Distances are great-circle distances on a sphere, rounded to millimetres, so that they are the same on every
# machine.


RADIUS = 6_371_008.8
"""Mean radius of the earth in metres."""
FAR = 7.0
"""A decay ends at this many times its scale, where it is below 0.001."""
MARGIN = 1.0
"""Metres by which a search reaches further than the similarity."""


class PlaceSimilarity:
    """Base class of similarities of places: `places` by distance, which is 0 beyond `reach` metres."""

    reach: float

    def places(self, metres: Floats) -> Floats:
        """Similarity of places by their distance, from 0 to 1."""
        raise NotImplementedError


@dataclass(frozen=True)
class PlacesWithin(PlaceSimilarity):
    """1 if the centres of two places are at most some metres apart, else 0.

    Parameters
    ----------
    metres : float
        Largest distance.

    Examples
    --------
    >>> PlacesWithin(500).places(np.array([0.0, 500.0, 501.0]))
    array([1., 1., 0.])
    """

    metres: float = 500

    def __post_init__(self) -> None:
        finite_number("metres", self.metres)
        object.__setattr__(self, "reach", self.metres)

    def places(self, metres: Floats) -> Floats:
        """1 if a distance is within the threshold, else 0."""
        return np.asarray(metres <= self.metres + ROUNDING, np.float64)


@dataclass(frozen=True)
class PlaceDecay(PlaceSimilarity):
    """e^(−distance / metres), and 0 beyond seven times this scale, where it is below 0.001.

    Parameters
    ----------
    metres : float
        Scale of the decay.

    Examples
    --------
    >>> PlaceDecay(500).places(np.array([0.0, 500.0, 9_000.0])).round(3)
    array([1.   , 0.368, 0.   ])
    """

    metres: float = 500

    def __post_init__(self) -> None:
        finite_number("metres", self.metres, zero=False)
        object.__setattr__(self, "reach", FAR * self.metres)

    def places(self, metres: Floats) -> Floats:
        """Similarity by distance."""
        return np.where(metres <= self.reach + ROUNDING, elementary.exp(-metres / self.metres), 0.0)


def distances(latitude: float, longitude: float, latitudes: Floats, longitudes: Floats) -> Floats:
    """Metres from a place to others, in degrees: the haversine formula.

    >>> distances(0.0, 179.5, np.array([0.0, 90.0]), np.array([-179.5, 0.0])).tolist()
    [111195.08, 10007557.22...]
    """
    north, norths = math.radians(latitude), np.radians(latitudes)
    half_north, half_east = (norths - north) / 2, np.radians(longitudes - longitude) / 2
    square = np.sin(half_north) ** 2 + math.cos(north) * np.cos(norths) * np.sin(half_east) ** 2
    return np.asarray(np.round(2 * RADIUS * np.arcsin(np.sqrt(np.clip(square, 0, 1))), 3))


class NearbyPlaces(NamedTuple):
    """Centres of the places of a release, sorted by latitude, so that a search reads a band of them."""

    item: Ints
    latitude: Floats
    longitude: Floats

    @classmethod
    def of(cls, release: Release) -> "NearbyPlaces":
        """The places of a release; an error if its items are not places."""
        places = places_of(release.provenance.settings)
        if places is None:
            raise ParameterError("release must have places as items: read it with grid or geohash")
        centres = places.centres(release.items)
        order = np.argsort(centres[:, 0], kind="stable")
        return cls(order, centres[order, 0], centres[order, 1])

    def within(self, latitude: float, longitude: float, metres: float) -> tuple[Ints, Floats]:
        """Items at most some metres away in ascending order, and their distances."""
        band = math.degrees((metres + MARGIN) / RADIUS)
        low, high = np.searchsorted(self.latitude, [latitude - band, latitude + band])
        distance = distances(latitude, longitude, self.latitude[low:high], self.longitude[low:high])
        near = distance <= metres + ROUNDING
        order = np.argsort(self.item[low:high][near], kind="stable")
        return self.item[low:high][near][order], distance[near][order]


# Similarity of records.


def record_similarity(release: Release, first: str, second: str, similarity: Similarity, over: Over = "union") -> float:
    """Similarity of two records: Σ Sim(r1i, r2i) / |supp(r1) ∪ supp(r2)|  [section 3].

    The entries of the first record are taken as known facts. If a record has an item several times,
    Sim(r1i, r2i) is the highest Sim of an entry of r1 and an entry of r2 about item i; supp counts each item
    once.

    Parameters
    ----------
    release : Release
        The data set that has both records.
    first, second : str
        Ids of the records.
    similarity : Similarity
        Sim on attributes. A sum of terms counts as their mean.
    over : {"union", "first"}
        The denominator: |supp(r1) ∪ supp(r2)| or |supp(r1)|. Lemma 1 needs the second: a superset of r1
        agrees with r1 on every attribute, and the union would still make it less similar the longer it is.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> record_similarity(release, "17", "17", so.Within())
    1.0
    """
    if over not in ("union", "first"):
        raise ParameterError(f"over must be union or first, got {over!r}")
    check_similarity(similarity)
    known, entries = (
        {item: list(group) for item, group in groupby(release.record(record).entries, lambda entry: entry.item)}
        for record in (first, second)
    )
    shared = [item for item in known if item in entries]
    best = [
        max(_entry_similarity(release, similarity, *pair) for pair in product(known[item], entries[item]))
        for item in shared
    ]
    return math.fsum(best) / (len(known) if over == "first" else len(known) + len(entries) - len(shared))


def _entry_similarity(release: Release, similarity: Similarity, known: Entry, entry: Entry) -> float:
    """Sim of two entries, between 0 and 1: a sum of terms counts as their mean."""
    days = None
    if known.time is not None and entry.time is not None and release.clock is not None:
        days = (release.clock.encode(entry.time) - release.clock.encode(known.time)) * days_per_unit(release)
    if isinstance(similarity, Custom):
        return similarity(known.value, entry.value, days)
    calls: list[tuple[str, bool, Any]] = []
    if known.value is not None:
        value = known.value if entry.value is None else entry.value
        levels: Levels = (str(value),) if isinstance(known.value, str) else np.array([value], np.float64)
        calls.append(("values", entry.value is None, (known.value, levels)))
    if known.time is not None:
        calls.append(("times", days is None, (np.array([days or 0.0]),)))
    parts = []
    for method, is_missing, given in calls:
        source = f"a similarity's {method}()"
        numbers = call_user_code(getattr(similarity, method), source, *given)
        if numbers is not None:
            parts.append(0.0 if is_missing else float(check_numbers(numbers, 1, source)[0]))
    if not parts:
        return 1.0
    return math.fsum(parts) / len(parts) if similarity.adds else math.prod(parts)
