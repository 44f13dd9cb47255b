"""The tables of a linking: profiles and their records, claims by number of facts, and histograms."""

from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import polars as pl

from standout.core.arrays import Bools, Floats, Ints
from standout.findings.links import ClaimMeasure
from standout.linking.decoys import KINDS
from standout.linking.evidence import PARTS
from standout.release.model import Release

if TYPE_CHECKING:
    from standout.linking.links import Links

__all__ = ["MEASURES", "decoy_table", "facts_table", "histogram", "profile_table"]

MEASURES: tuple[ClaimMeasure, ...] = get_args(ClaimMeasure)
EDGES = np.array([0.0, *(0.25 * 1.5**k for k in range(25))])
"""The bins of histograms grow by half; the first one holds everything below 0."""


def profile_table(links: "Links") -> pl.DataFrame:
    """Return a row for each profile, as `Links.table` describes it."""
    best, profiles, n = links.best, links.profiles, len(links)
    columns: dict[str, Any] = {
        "profile": [profiles.public.records[profile] for profile in range(n)],
        "record": _ids(profiles.release, best.record),
        "runner_up": _ids(profiles.release, best.runner_up),
        "evidence": best.evidence,
        "eccentricity": best.eccentricity,
        "score": best.score,
        "runner_up_score": best.runner_up_score,
        "ties": best.ties,
        "bits_left": best.bits,
        "facts_used": links.facts,
        "facts_unknown": profiles.unknown[:n],
        "claimed": links.claimed,
        "false_claim": pl.Series(links.false_claim).fill_nan(None),
        "contested": links.contested,
        **{f"by_{part}": best.margin[:, column] for column, part in enumerate(PARTS)},
        "strongest_part": _strongest_parts(best.margin, best.strength),
        "dates": pl.Series(np.where(best.dated, "used", "ignored").tolist(), dtype=pl.String),
    }
    if links.identified is not None:
        columns["identified"] = links.identified
    return pl.DataFrame(columns, schema_overrides={"strongest_part": pl.String})


def _strongest_parts(margin: Floats, strength: Floats) -> list[str | None]:
    """The part that contributes most to each lead; None where there is no lead, or scores have no parts."""
    largest, has_lead = np.argmax(margin, axis=1).tolist(), (strength > 0) & margin.any(axis=1)
    return [PARTS[part] if leads else None for part, leads in zip(largest, has_lead.tolist(), strict=True)]


def _ids(release: Release, positions: Ints) -> list[str | None]:
    return [release.records[position] if position >= 0 else None for position in positions.tolist()]


def facts_table(facts: Ints, groups: dict[str, Bools]) -> pl.DataFrame:
    """Return min_facts, max_facts and the size of each group, for 1, 2–3, 4–7 … facts.

    >>> facts_table(np.array([1, 3, 2, 6]), {"profiles": np.ones(4, bool)}).rows()
    [(1, 1, 1), (2, 3, 2), (4, 6, 1)]
    """
    used = facts[facts > 0]
    least = 2 ** np.unique(np.frexp(used)[1].astype(np.int64) - 1) if len(used) else np.ones(1, np.int64)
    row_of = np.searchsorted(least, facts, "right") - 1
    rows = [
        {"min_facts": int(low), "max_facts": int(facts[row_of == row].max(initial=low))}
        | {name: int((group & (row_of == row)).sum()) for name, group in groups.items()}
        for row, low in enumerate(least)
    ]
    return pl.DataFrame(rows)


def decoy_table(links: "Links") -> pl.DataFrame:
    """Return kind, evidence and eccentricity of each decoy."""
    kinds = pl.Series([KINDS[kind] for kind in links.decoy_strengths.kind.tolist()], dtype=pl.String)
    best = links.best_of_decoys
    measures = {name: np.empty(0) if best is None else getattr(best, name) for name in MEASURES}
    return pl.DataFrame({"kind": kinds} | measures)


def histogram(links: "Links", measure: ClaimMeasure) -> pl.DataFrame:
    """Return bin_start, bin_end and the counts of claims, other profiles, and decoys of each kind."""
    strength: Floats = getattr(links.best, measure)
    groups = {
        "claims": strength[links.claimed],
        "others": strength[~links.claimed & (links.best.record >= 0)],
        **{kind: links.decoys.filter(kind=kind)[measure].to_numpy() for kind in KINDS},
    }
    counts = {name: _bin_counts(numbers) for name, numbers in groups.items()}
    return pl.DataFrame({"bin_start": [None, *EDGES[:-1].tolist()], "bin_end": EDGES} | counts)


def _bin_counts(numbers: Floats) -> list[int]:
    positive = np.clip(numbers[numbers >= 0], 0, EDGES[-1])
    return [int((numbers < 0).sum()), *np.histogram(positive, EDGES)[0].tolist()]
