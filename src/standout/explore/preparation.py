"""What is computed before the first request: kernels are compiled, and tables and indexes are built."""

import standout as so
from standout.explore.exploration import Exploration
from standout.explore.lineups import answer_lineup, dealt_facts, reveal
from standout.explore.requests import ATTACKS, DealRequest, LineupRequest, RevealRequest, TypedFact


def prepare(exploration: Exploration) -> None:
    """Do what a page will ask for, so that its first answers are as fast as later ones."""
    try:
        release = exploration.release
        popular = release.items[int(release.support.argmax())]
        exploration.suggest(popular, 1)
        _lineup(exploration, TypedFact(popular))
        for name in list(exploration.adversaries)[:2]:
            play = DealRequest(name, seed=0, facts=2)
            _lineup(exploration, *dealt_facts(exploration, play)[:2])
            reveal(exploration, RevealRequest(play, ATTACKS[0], show_ids=False, entries=False))
    except so.StandoutError:  # the page will show the same error
        return


def _lineup(exploration: Exploration, *facts: TypedFact) -> None:
    answer_lineup(
        exploration,
        LineupRequest(
            facts=facts, length=None, joined=None, attacks=ATTACKS, top=20, chosen=0, show_ids=False, what_if=True
        ),
    )
