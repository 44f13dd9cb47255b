"""Similarity of places: 1 within some metres, or a decay with the distance between their centres.

Distances are great-circle distances on a sphere of 6,371,008.8 m, rounded to millimetres, so that they are
the same on every machine.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.data.release import Release
from standout.ingest.places import places_of
from standout.know.similarity import ROUNDING

__all__ = ["NearbyPlaces", "PlaceDecay", "PlaceSimilarity", "PlacesWithin", "distances", "nearby_places"]

RADIUS = 6_371_008.8
"""Mean radius of the earth in metres."""
FAR = 7.0
"""A decay ends at this many times its scale, where it is below 0.001."""
MARGIN = 1.0
"""Metres by which a search reaches further than the similarity."""


class PlaceSimilarity:
    """Base class of similarities of places: override `places` and `reach`.

    Attributes
    ----------
    metres : float
        Scale of the distances.

    Examples
    --------
    >>> isinstance(PlacesWithin(500), PlaceSimilarity)
    True
    """

    metres: float

    @property
    def reach(self) -> float:
        """Largest distance in metres with a similarity above 0."""
        raise NotImplementedError

    def places(self, metres: Floats) -> Floats:
        """Similarity of places by their distance, from 0 to 1."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class PlacesWithin(PlaceSimilarity):
    """1 if the centres of two places are at most some metres apart, else 0.

    Parameters
    ----------
    metres : float
        Largest distance.

    Raises
    ------
    ParameterError
        If it is not a finite number ≥ 0.

    Examples
    --------
    >>> PlacesWithin(500).places(np.array([0.0, 500.0, 501.0]))
    array([1., 1., 0.])
    """

    metres: float = 500

    def __post_init__(self) -> None:
        _check_metres(self.metres, zero=True)

    @property
    def reach(self) -> float:
        """Largest distance in metres with a similarity above 0."""
        return self.metres

    def places(self, metres: Floats) -> Floats:
        """1 if a distance is within the threshold, else 0."""
        return np.asarray(metres <= self.metres + ROUNDING, np.float64)


@dataclass(frozen=True, slots=True)
class PlaceDecay(PlaceSimilarity):
    """e^(−distance / metres), and 0 beyond seven times this scale, where it is below 0.001.

    Parameters
    ----------
    metres : float
        Scale of the decay.

    Raises
    ------
    ParameterError
        If it is not a finite number above 0.

    Examples
    --------
    >>> PlaceDecay(500).places(np.array([0.0, 500.0, 9_000.0])).round(3)
    array([1.   , 0.368, 0.   ])
    """

    metres: float = 500

    def __post_init__(self) -> None:
        _check_metres(self.metres, zero=False)

    @property
    def reach(self) -> float:
        """Largest distance in metres with a similarity above 0."""
        return FAR * self.metres

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

    def within(self, latitude: float, longitude: float, metres: float) -> tuple[Ints, Floats]:
        """Items at most some metres away in ascending order, and their distances."""
        band = math.degrees((metres + MARGIN) / RADIUS)
        low, high = np.searchsorted(self.latitude, [latitude - band, latitude + band])
        distance = distances(latitude, longitude, self.latitude[low:high], self.longitude[low:high])
        near = distance <= metres + ROUNDING
        order = np.argsort(self.item[low:high][near], kind="stable")
        return self.item[low:high][near][order], distance[near][order]


def nearby_places(release: Release) -> NearbyPlaces:
    """Centres of the places of a release; an error if its items are not places."""
    places = places_of(release.provenance.settings)
    if places is None:
        raise ParameterError("release must have places as items: read it with grid or geohash")
    centres = places.centres(release.items)
    order = np.argsort(centres[:, 0], kind="stable")
    return NearbyPlaces(order, centres[order, 0], centres[order, 1])


def _check_metres(metres: float, zero: bool) -> None:
    allowed = "≥ 0" if zero else "> 0"
    is_number = isinstance(metres, (int, float)) and not isinstance(metres, bool) and math.isfinite(metres)
    if not is_number or metres < 0 or (metres == 0 and not zero):
        raise ParameterError(f"metres must be a finite number {allowed}, got {metres!r}")
