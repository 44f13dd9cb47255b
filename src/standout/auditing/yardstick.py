"""The yardstick of an audit: the same adversary on a stand-in of the Netflix Prize data.

The numbers are in yardstick.json. `python -m tools.yardstick` measures them in the way of an audit.
"""

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from standout.adversary import Adversary
from standout.attack.any_attack import AnyAttack, fit_attack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.adversary_text import describe_precision
from standout.auditing.ladder import eligible_share
from standout.core.formatting import interval_text, percent
from standout.evaluate.candidate_attacks import LIKELIHOOD, PAPER, choose_strongest
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.simulation_runner import random_targets
from standout.evaluate.target_success import TargetSuccess
from standout.findings.yardstick import Yardstick
from standout.release.model import Release

__all__ = ["FILE", "YardstickRow", "measure_row", "without", "yardstick"]

FILE = "yardstick.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class YardstickRow:
    """One adversary on the data of the yardstick, with or without values and dates."""

    adversary: str
    values: bool
    dates: bool
    knows: int
    wrong: int
    precision: str
    attack: str
    identified: Estimate


def yardstick(name: str, adversary: Adversary, original: Release) -> Yardstick | None:
    """The yardstick of an adversary of the default ladder; None if it knows other facts there."""
    content = _content()
    wanted = (name, bool(original.n_levels), bool(original.span), adversary.knows, adversary.wrong)
    rows = (
        row
        for row in content["rows"]
        if (row["adversary"], row["values"], row["dates"], row["knows"], row["wrong"]) == wanted
    )
    row = next(rows, None)
    if row is None:
        return None
    identified = Estimate(**row["identified"])
    ends = interval_text(identified)
    return Yardstick(
        data=content["data"],
        records=content["records"],
        entries=content["entries"],
        precision=row["precision"],
        identified=identified,
        command="; ".join(content["commands"]),
        sentence=(
            f"On {content['data']} ({content['records']:,} people, {content['entries']:,} entries), attacked "
            f"in the same way ({row['precision']}), this adversary identifies {percent(identified.value)} of "
            f"people{f' ({ends})' if ends else ''}."
        ),
    )


@cache
def _content() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        files("standout.auditing").joinpath(FILE).read_text(encoding="utf-8")
    )
    return content


def without(adversary: Adversary, release: Release, *, values: bool, dates: bool) -> Adversary:
    """The adversary on data without values or dates, as the ladder would adapt it."""
    fewer = adversary if values else replace(adversary, value_error=None)
    fewer = fewer if dates else replace(fewer, time_error=None, joined_error=None)
    return fewer if eligible_share(fewer, release) else replace(fewer, wrong_facts="items")


def measure_row(
    release: Release, name: str, adversary: Adversary, *, targets: int, seed: int, threads: int | None
) -> YardstickRow:
    """What an audit reports as `identified` of this adversary, without its other measures."""
    chosen = random_targets(release, adversary, seed)[:targets]
    attacks: dict[str, AnyAttack] = {
        title: fit_attack(attack, adversary)
        for title, attack in ((PAPER, ScoreboardRH()), (LIKELIHOOD, Likelihood()))
    }
    strongest = choose_strongest(release, adversary, attacks, chosen, seed=seed, threads=threads)
    attack = TargetSuccess(attacks[strongest], adversary, (adversary.knows,), seed)
    success = attack.of(release, chosen, threads)
    identified = min(float(np.sum(success)), len(chosen))
    return YardstickRow(
        adversary=name,
        values=adversary.value_error is not None,
        dates=adversary.time_error is not None,
        knows=adversary.knows,
        wrong=adversary.wrong,
        precision=describe_precision(adversary, release),
        attack=strongest,
        identified=rate(identified, len(chosen), 1 / release.n_records),
    )
