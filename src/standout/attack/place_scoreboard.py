"""Algorithm 1B for places that are known imprecisely: a fact about a place also matches places nearby."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from standout.attack.own_attack import Attack
from standout.attack.queries import weight_function
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.data.entries import unpack_item
from standout.data.release import Release
from standout.ingest.places import places_of
from standout.know.facts import KnownFacts
from standout.know.similarity import (
    NearbyPlaces,
    PlaceDecay,
    PlaceSimilarity,
    Similarity,
    Within,
    check_similarity,
    days_per_unit,
)

__all__ = ["PlaceScoreboard"]


@dataclass(frozen=True)
class PlaceScoreboard(Attack):
    """Algorithm 1B on traces: a known place also matches the places nearby.

    score(aux, r′) = Σ wt(i) · max Sim_place(i, j) · Sim(aux_i, r′_j) over the facts. The maximum is over the
    entries r′_j of the record in the places j within reach of i. wt(i) = 1 / ln max(n, 2), where n is the
    number of records with an entry within reach. With a reach of 0 metres this is `ScoreboardRH`.

    It is plain NumPy, for releases of moderate size: its work grows with the entries within reach of a fact.

    Parameters
    ----------
    places : PlaceSimilarity
        Sim_place: `PlacesWithin` or `PlaceDecay`.
    similarity : Similarity
        Sim of value and time; default: `Within(None, 0.5)`, the same half day before or after.

    Raises
    ------
    ParameterError
        If a parameter has the wrong type. In an attack: if the items of the release are not places.

    Examples
    --------
    >>> import polars as pl
    >>> import standout as so
    >>> frame = pl.DataFrame({
    ...     "user": ["ann", "ann", "bob", "cem"],
    ...     "lat": [37.751, 37.764, 37.799, 37.721],
    ...     "lon": [-122.401, -122.411, -122.499, -122.455],
    ... })
    >>> release = so.read(frame, grid=0.01)
    >>> aux = so.Aux([so.Fact("37.75,-122.42"), so.Fact("37.76,-122.43")])
    >>> so.PlaceScoreboard(so.PlacesWithin(2_000)).attack(release, aux).best
    'ann'
    """

    places: PlaceSimilarity = field(default_factory=PlaceDecay)
    similarity: Similarity = field(default_factory=lambda: Within(None, 0.5))

    def __post_init__(self) -> None:
        if not isinstance(self.places, PlaceSimilarity):
            raise ParameterError("places must be a PlaceSimilarity such as PlacesWithin(500)")
        check_similarity(self.similarity)

    def key(self) -> str:
        """Text that identifies this attack and its parameters in checkpoints.

        Returns
        -------
        str
            The parameters, with their values.
        """
        return repr(self)

    def scores(self, release: Release, known: KnownFacts) -> Floats:
        """Score all records for each target.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        known : KnownFacts
            What the adversary knows about each target.

        Returns
        -------
        array of float, targets × records
            The scores.
        """
        return self.scores_without(release, known, np.full(len(known), -1))

    def scores_without(self, release: Release, known: KnownFacts, exclude: Ints) -> Floats:
        """Score all records if a record is removed for each target: it counts in no weight.

        Parameters
        ----------
        release : Release
            The data set, with all records.
        known : KnownFacts
            What the adversary knows about each target.
        exclude : array of int
            Position of the removed record of each target; -1: none.

        Returns
        -------
        array of float, targets × records
            The scores.
        """
        nearby, weight = NearbyPlaces.of(release), weight_function("rarity")
        scores = np.zeros((len(known), release.n_records))
        for target in range(len(known)):
            for fact in range(known.first[target], known.first[target + 1]):
                best, present = self._best(release, nearby, known, fact)
                if exclude[target] >= 0:
                    present[exclude[target]] = False
                support = np.array([np.count_nonzero(present)])
                scores[target] += weight(support)[0] * best if support[0] else 0.0
        return scores

    def _best(self, release: Release, nearby: NearbyPlaces, known: KnownFacts, fact: int) -> tuple[Floats, Any]:
        """For each record its best entry within reach of a fact, and whether it has an entry there."""
        best, present = np.zeros(release.n_records), np.zeros(release.n_records, bool)
        centre = _centre(release, known, fact)
        if centre is None:
            return best, present
        items, metres = nearby.within(*centre, self.places.reach)
        for item, closeness in zip(items.tolist(), self.places.places(metres).tolist(), strict=True):
            record, value, time = unpack_item(release.by_item, item, release.n_levels, release.span)
            np.maximum.at(best, record, closeness * self._similarity(release, known, fact, value, time))
            present[record] = True
        return best, present

    def _similarity(self, release: Release, known: KnownFacts, fact: int, value: Ints, time: Ints) -> Floats:
        """Sim of value and time of each entry; what the fact does not give is not compared."""
        parts = []
        if known.value[fact] >= 0 and release.levels is not None:
            by_level = self.similarity.values(known.values[known.value[fact]], release.levels)
            parts += [] if by_level is None else [np.append(by_level, 0.0)[value]]
        if known.timed[fact]:
            by_entry = self.similarity.times((time - known.time[fact]) * days_per_unit(release))
            parts += [] if by_entry is None else [np.where(time < release.span, by_entry, 0.0)]
        if not parts:
            return np.ones(len(time))
        return np.asarray(np.sum(parts, axis=0) if self.similarity.adds else np.prod(parts, axis=0))


def _centre(release: Release, known: KnownFacts, fact: int) -> tuple[float, float] | None:
    """Centre of the place of a fact, also if the release has no such place; None if it is no place."""
    places, item = places_of(release.provenance.settings), int(known.item[fact])
    name = release.items[item] if item >= 0 else known.names.get(fact, "")
    assert places is not None
    try:
        latitude, longitude = places.centres([name])[0].tolist()
    except ValueError:
        return None
    return latitude, longitude
