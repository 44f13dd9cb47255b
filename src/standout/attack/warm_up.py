"""Do in advance what the first query on a release would have to wait for."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

import numpy as np

from standout.attack.any_attack import AnyAttack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.data.release import Release
from standout.data.search import Catalogue, suggest_items
from standout.know.fact import Fact
from standout.know.facts import Aux, level_values

__all__ = ["warm_up"]

TOP = 20


def warm_up(release: Release, attacks: Sequence[AnyAttack] | None = None) -> None:
    """Prepare a release for many single queries, such as those of a web page.

    Counts over the release, the index of `suggest_items` and compiled code are otherwise made by the first
    query that needs them, which takes seconds for a hundred million entries. They are kept with the release.
    Results do not change.

    Parameters
    ----------
    release : Release
        The data set.
    attacks : sequence of attacks, optional
        The attacks that will be used. Default: `Likelihood()` and `ScoreboardRH()`.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> so.warm_up(release)
    >>> so.Likelihood().attack(release, so.Aux([so.Fact("7")])).candidates
    100
    """
    if not release.n_items:
        return
    suggest_items(release, release.items[0])
    Catalogue.of(release).items_with_title("")
    for attack in (Likelihood(), ScoreboardRH()) if attacks is None else attacks:
        for aux in _examples(release):
            verdict = attack.attack(release, aux, top=TOP)
            best = verdict.lineup(TOP)
            if len(best) and verdict.queries.prepare is not None:  # an attack of the user's own has no parts
                verdict.explain(best[0].record)


def _examples(release: Release) -> Iterator[Aux]:
    """Yield what may be known about the most popular item: it alone, value and date, errors, limits."""
    fact = Fact(release.items[int(np.argmax(release.support))])
    yield Aux([fact])
    values, first = level_values(release), _first_day(release)
    known = replace(fact, value=values[0] if values else None, time=first)
    yield Aux([known])
    yield Aux([replace(known, value_error=0, time_error=0, doubt=0)])
    yield Aux([known], length=(0, release.n_entries), joined=None if first is None else (first, first))


def _first_day(release: Release) -> date | None:
    return release.clock.moment(0) if release.clock is not None and release.span else None
