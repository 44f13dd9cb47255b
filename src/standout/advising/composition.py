"""What two sanitized releases of the same people reveal together: one is linked to the other."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError, whole_number
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed, generator
from standout.data.build import subset
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, mean, rate
from standout.know.sanitized import Sanitized
from standout.linking.links import Links, link

__all__ = ["Composition", "composition", "have_people_in_common"]

PEOPLE, DECOYS = 300, 300


@dataclass(frozen=True, slots=True)
class Composition:
    """What linking the second release's records to the first release revealed; see `standout.composition`.

    Attributes
    ----------
    identified
        Share of people in both releases whose second record's best guess is their first record. An adversary
        who knows that the same people are in both releases needs no more.
    correct_claims
        Share of people for whom the right record is claimed. It is smaller than `identified`, because the
        adversary must also be sure that the person is in both releases.
    wrong_claims
        Share of people for whom somebody else's record is claimed.
    entries_shown_by_one
        Share of the original entries of identified people that the first release shows. None if nobody is
        identified. Repeated entries of an item are counted: 2 of 3 if the release has two of them.
    entries_shown_together
        Largest share that the two releases can show together. None if nobody is identified. Two releases that
        show one of three repeated entries each may show two of them.
    """

    identified: Estimate
    correct_claims: Estimate
    wrong_claims: Estimate
    entries_shown_by_one: Estimate | None
    entries_shown_together: Estimate | None

    def __str__(self) -> str:
        return f"{self.identified.value:.0%} identified, {self.correct_claims.value:.0%} correct claims"


@with_progress
def composition(
    first: Sanitized,
    second: Sanitized,
    *,
    people: int = PEOPLE,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
) -> Composition:
    """Measure what two releases that were made from the same original reveal together.

    Records of people in the second release are linked to the first by `standout.link`, which knows neither
    the original nor which record represents whom. The result is then compared with the truth.

    Parameters
    ----------
    first, second
        Releases that `standout.sanitize` made from one original, with different seeds and `renumber=True`.
    people
        Number of people whose records are linked; fewer if fewer are in both releases.
    seed
        Seed of the choice of people and of the decoys.
    threads
        Number of threads; default: all cores.
    progress
        True shows a bar; a function is called with (stage, done, total).

    Returns
    -------
    Composition
        Shares of identified people, of correct and wrong claims, and of the entries that are shown.

    Raises
    ------
    ParameterError
        If the releases are not sanitized, have different originals, or share nobody.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=30, items=40, entries=400, seed=7)
    >>> one, two = (so.sanitize(release, so.steps.DropEntries(0.2), seed=s, renumber=True) for s in (1, 2))
    >>> composition(one, two, people=5).identified.n
    5
    """
    if not (isinstance(first, Sanitized) and isinstance(second, Sanitized)):
        raise ParameterError("first and second must be releases that so.sanitize made")
    if first.original.fingerprint != second.original.fingerprint:
        raise ParameterError("first and second were made from different originals: give two of the same one")
    drawn = _people_in_both(first, second, whole_number("people", people, 1), check_seed(seed))
    if not len(drawn):
        raise ParameterError("first and second have nobody in common")
    is_public = np.zeros(second.n_records, np.bool_)
    is_public[second.mapping.representatives[drawn]] = True
    public = subset(second, is_public)
    links = link(first, public, decoys=DECOYS, seed=seed, threads=threads, progress=progress)
    position = np.cumsum(is_public) - 1
    profiles = [public.records[int(at)] for at in position[second.mapping.representatives[drawn]]]
    records = [first.records[int(at)] for at in first.mapping.representatives[drawn]]
    return _composition(first, second, drawn, _compare(links, profiles, records))


class _Outcome(NamedTuple):
    """For each person, whether the best guess is right, and whether it is claimed."""

    is_right: Bools
    is_claimed: Bools


def _compare(links: Links, profiles: list[str], records: list[str]) -> _Outcome:
    """Compare the links of profiles with the records that represent the same people."""
    table = links.table
    rows = {profile: row for row, profile in enumerate(table["profile"])}
    order = [rows[profile] for profile in profiles]
    guesses = table["record"].to_list()
    is_right = np.array([guesses[row] == record for row, record in zip(order, records, strict=True)])
    return _Outcome(is_right, table["claimed"].to_numpy()[order].astype(np.bool_))


def _composition(first: Sanitized, second: Sanitized, people: Ints, outcome: _Outcome) -> Composition:
    right, claimed = outcome
    identified, n = people[right], len(people)
    return Composition(
        identified=rate(int(right.sum()), n, 1 / first.n_records),
        correct_claims=rate(int((right & claimed).sum()), n),
        wrong_claims=rate(int((~right & claimed).sum()), n),
        entries_shown_by_one=mean(_shown_shares([first], identified)) if len(identified) else None,
        entries_shown_together=mean(_shown_shares([first, second], identified)) if len(identified) else None,
    )


def have_people_in_common(first: Sanitized, second: Sanitized) -> bool:
    """Whether anybody is represented in both releases."""
    return len(_represented_in_both(first, second)) > 0


def _represented_in_both(first: Sanitized, second: Sanitized) -> Ints:
    """People, as positions in the original, whom a record represents in each release."""
    return np.flatnonzero((first.mapping.representatives >= 0) & (second.mapping.representatives >= 0))


def _people_in_both(first: Sanitized, second: Sanitized, people: int, seed: int) -> Ints:
    """Random people whom both releases represent, no two by the same record of the second."""
    both = _represented_in_both(first, second)
    order = generator(seed, "composition").permutation(both)
    _, first_of_record = np.unique(second.mapping.representatives[order], return_index=True)
    return order[np.sort(first_of_record)][:people]


def _shown_shares(releases: list[Sanitized], people: Ints) -> Floats:
    """Share of each person's original entries that the releases show: Σ min(entries, shown entries) by item.

    Two releases may show different entries of an item or the same: the larger share counts.
    """
    shares = []
    for person in people.tolist():
        items, entries = np.unique(_items(releases[0].original, person), return_counts=True)
        shown = np.zeros(len(items), np.int64)
        for release in releases:
            record = int(release.mapping.representatives[person])
            released = np.bincount(_items(release, record), minlength=release.n_items)
            codes = release.mapping.item_codes[items]
            shown += np.where(codes >= 0, released[codes], 0)
        shares.append(float(np.minimum(entries, shown).sum() / entries.sum()))
    return np.array(shares)


def _items(release: Release, record: int) -> Ints:
    start = release.by_record.start
    return release.by_record.item[start[record] : start[record + 1]].astype(np.int64)
