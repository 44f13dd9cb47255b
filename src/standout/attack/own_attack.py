"""Attacks of the user's own: scores of all records in, verdicts out."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from standout.attack.own_queries import batch_attack, guard_overrides, nested_with_attacks, own_columns, own_queries
from standout.attack.queries import excluded_records
from standout.attack.scoreboard import Exclude, check_top
from standout.attack.verdict import Verdict
from standout.attack.verdicts import Verdicts
from standout.core.arrays import Ints
from standout.core.progress import Progress, no_progress
from standout.data.release import Release
from standout.know.facts import Aux, KnownFacts, encode_auxes

__all__ = ["Attack"]


class Attack:
    """Base class of attacks of your own: subclass it and override `scores`.

    The best guess is the record with the highest score, its eccentricity is (max − max2)/σ, and
    Π ∝ e^(score/σ), as in Algorithm 1B. `simulate`, `compare`, `audit`, `advise` and the risk table take
    such an attack. docs/extending.md has examples.

    Attributes
    ----------
    log_likelihood : bool
        Set it in a subclass whose scores are logarithms of likelihoods: then Π ∝ e^score, `Verdict.sigma` is
        1, and the eccentricity is the logarithm of the odds of the best record against the second.

    Examples
    --------
    >>> import numpy as np
    >>> import standout as so
    >>> class MostItems(so.Attack):
    ...     def scores(self, release, known):
    ...         scores = np.zeros((len(known), release.n_records))
    ...         for fact in so.fact_entries(release, known):
    ...             scores[fact.target, fact.record] += 1
    ...         return scores
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> aux = so.Adversary(knows=6).observe(release, "42", seed=1)
    >>> verdict = MostItems().attack(release, aux)
    >>> "42" in verdict.tied, verdict.ties
    (True, 39)
    """

    log_likelihood: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        guard_overrides(cls)

    def scores(self, release: Release, known: KnownFacts) -> Any:
        """Score all records for each target.

        If `release.has_repeats`, a record may have an item several times, and `FactEntries.highest` gives one
        number for each record.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        known : KnownFacts
            What the adversary knows about each target.

        Returns
        -------
        array of float, targets × records
            Higher is better; −∞ rules a record out. A row must not depend on the other targets.
        """
        raise NotImplementedError(f"{type(self).__name__} must have a method scores(release, known)")

    def scores_without(self, release: Release, known: KnownFacts, exclude: Ints) -> Any:
        """Score all records if a record is removed from the release for each target.

        Override it for an attack whose scores of the other records depend on the removed one, as by the
        support of items. Default: `scores`; the removed records are ruled out afterwards.

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
            As in `scores`.
        """
        return self.scores(release, known)

    def key(self) -> str:
        """Text that identifies this attack and its parameters in checkpoints: override it to use them.

        Returns
        -------
        str
            Another text for each version of the attack; empty: no checkpoints.
        """
        return ""

    def attack(self, release: Release, aux: Aux, *, exclude: str | None = None, top: int = 10) -> Verdict:
        """Attack one target.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        aux : Aux
            What the adversary knows about the target.
        exclude : str, optional
            Id of a record to remove from the release first.
        top : int
            Number of best records to have ready, from 2 to 1,000.

        Returns
        -------
        Verdict
            The best guess, its eccentricity, and the lineup. Scores are relative to the lowest.
        """
        verdicts: Verdicts = batch_attack(type(self))(self, release, [aux], exclude=exclude, top=top)
        return verdicts[0]

    def attacks(
        self,
        release: Release,
        auxes: Iterable[Aux] | KnownFacts,
        *,
        exclude: Exclude = None,
        top: int = 10,
        with_z: bool = True,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> Verdicts:
        """Attack many targets.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        auxes : iterable of Aux, or KnownFacts
            What the adversary knows about each target.
        exclude : str, or sequence of str or None, optional
            Id of a record to remove first: one for all targets, or one for each.
        top : int
            Number of best records to have ready, from 2 to 1,000.
        with_z, threads
            Have no effect; the other attacks have these parameters.
        progress : callable, optional
            Called as progress(stage, done, total).

        Returns
        -------
        Verdicts
            One verdict for each aux, in the same order.
        """
        known = auxes if isinstance(auxes, KnownFacts) else encode_auxes(release, auxes)
        excluded = excluded_records(release, exclude, len(known))
        queries = own_queries(release, known, excluded, self._scores, f"{type(self).__name__}.scores()")
        return Verdicts(queries, own_columns(queries, check_top(top), progress, self.log_likelihood))

    def nested(
        self,
        release: Release,
        auxes: Iterable[Aux] | KnownFacts,
        sizes: Sequence[int],
        *,
        exclude: Exclude = None,
        top: int = 2,
        with_z: bool = True,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> Verdicts:
        """Attack with only the first facts of each aux, for several sizes at once.

        Parameters
        ----------
        release : Release
            The data set that would be published.
        auxes : iterable of Aux, or KnownFacts
            What the adversary knows about each target.
        sizes : sequence of int
            Numbers of facts.
        exclude, top, with_z, threads, progress
            As in `attacks`.

        Returns
        -------
        Verdicts
            The verdict on aux q with sizes[s] facts has the number q · len(sizes) + s.
        """
        return nested_with_attacks(
            self, release, auxes, sizes, exclude=exclude, top=top, threads=threads, progress=progress
        )

    def _scores(self, release: Release, known: KnownFacts, exclude: Ints) -> Any:
        if (exclude >= 0).any():
            return self.scores_without(release, known, exclude)
        return self.scores(release, known)
