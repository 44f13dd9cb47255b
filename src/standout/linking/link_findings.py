"""Links as findings: the typed numbers of links.json and of the report."""

import math
from typing import TYPE_CHECKING

import numpy as np

from standout._version import __version__
from standout.findings.links import (
    AlignmentFindings,
    BudgetPoint,
    FactsGroup,
    HistogramBin,
    Histograms,
    LinkFindings,
    PhiPoint,
    PublicSize,
    ReleaseSize,
    StrongestParts,
    TruthFindings,
)
from standout.linking import sentences
from standout.linking.decoys import FEW_DONORS
from standout.linking.evidence import PARTS
from standout.linking.profiles import MAX_FACTS

if TYPE_CHECKING:
    from standout.linking.links import Links

__all__ = ["link_findings", "summary_of"]


def link_findings(links: "Links", data: str, public: str) -> LinkFindings:
    """Return the findings, with names for the two data sets."""
    has_truth, has_decoys = links.truth is not None, len(links.decoy_strengths) > 0
    return LinkFindings(
        summary=links.summary,
        complete=links.complete,
        release=_release_size(links, data),
        public=_public_size(links, public),
        alignment=AlignmentFindings(links.alignment.explanation, links.alignment.counts),
        settings=links.settings,
        phi=_finite(links.phi),
        profiles=len(links),
        profiles_with_facts=int((links.facts > 0).sum()),
        claims=links.claims,
        expected_false_claims=_finite(links.expected_false_claims),
        likely_false_claims=_finite(links.likely_false_claims),
        tied_claims=links.tied_claims,
        contested_claims=int((links.contested > 0).sum()),
        strongest_parts=_strongest_parts(links),
        by_facts_used=tuple(FactsGroup(**row) for row in links.by_facts_used.to_dicts()),
        histograms=Histograms(
            evidence=tuple(HistogramBin(**row) for row in links.histogram("evidence").to_dicts()),
            eccentricity=tuple(HistogramBin(**row) for row in links.histogram("eccentricity").to_dicts()),
        ),
        truth=_truth_findings(links),
        curve=tuple(PhiPoint(**row) for row in links.curve.to_dicts()) if has_truth else None,
        by_budget=tuple(BudgetPoint(**row) for row in links.by_budget.to_dicts())
        if has_truth and has_decoys
        else None,
        limits=sentences.LIMITS,
        version=__version__,
    )


def _release_size(links: "Links", name: str) -> ReleaseSize:
    release = links.profiles.release
    return ReleaseSize(name, release.fingerprint, release.n_records, release.n_items, release.n_entries)


def _public_size(links: "Links", name: str) -> PublicSize:
    public = links.profiles.public
    return PublicSize(name, public.fingerprint, public.n_records, public.n_items, public.n_entries)


def _strongest_parts(links: "Links") -> StrongestParts:
    margin = links.best.margin[links.claimed & links.best.margin.any(axis=1)]
    strongest = np.argmax(margin, axis=1)
    return StrongestParts(**{name: int((strongest == part).sum()) for part, name in enumerate(PARTS)})


def _truth_findings(links: "Links") -> TruthFindings | None:
    truth, precision, recall, absent_claims = links.truth, links.precision, links.recall, links.absent_claims
    if truth is None or precision is None or recall is None or absent_claims is None:
        return None
    return TruthFindings(
        precision=precision,
        recall=recall,
        absent_claims=absent_claims,
        pairs=truth.pairs,
        unknown_profiles=truth.unknown_profiles,
        unknown_records=truth.unknown_records,
        present=truth.present,
    )


def summary_of(links: "Links") -> str:
    """Return the summary."""
    profiles, has_decoys = links.profiles, len(links.decoy_strengths) > 0
    numbers = sentences.SummaryNumbers(
        settings=links.settings,
        claims=links.claims,
        profiles=len(links),
        all_profiles=len(profiles),
        profiles_with_facts=int((links.facts > 0).sum()),
        phi=links.phi,
        absent_share=links.absent_share if has_decoys else None,
        expected_false_claims=links.expected_false_claims,
        likely_false_claims=links.likely_false_claims,
        contested_claims=int((links.contested > 0).sum()),
        tied_claims=links.tied_claims,
        max_facts=MAX_FACTS,
        shortened=bool((profiles.shared > MAX_FACTS).any()),
        few_donors=has_decoys and int((profiles.used > 0).sum()) < FEW_DONORS,
        truth=_truth_findings(links),
    )
    return sentences.summary(numbers)


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
