"""The result of linking two data sets: the record each profile points to, and what claims are worth."""

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl

from standout.core.arrays import Bools, Floats, Ints
from standout.core.atomic_files import write_atomically
from standout.core.errors import ParameterError
from standout.core.frame_export import FrameExport
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.result_views import ResultView
from standout.core.suggestions import not_one_of
from standout.evaluate.estimates import Estimate, rate
from standout.findings.json_types import JsonObject
from standout.findings.links import ClaimMeasure, LinkFindings, LinkSettings
from standout.findings.serialize import json_text, to_json_object
from standout.linking import sentences
from standout.linking.alignment import Alignment
from standout.linking.assignment import one_to_one, rival_claims
from standout.linking.best_records import BestRecords
from standout.linking.claim_curves import JudgedProfiles
from standout.linking.claims import DecoyStrengths, absent_share
from standout.linking.evidence import EvidenceModel
from standout.linking.link_findings import link_findings, summary_of
from standout.linking.link_tables import decoy_table, facts_table, histogram, profile_table
from standout.linking.profiles import Profiles
from standout.linking.truth import Truth
from standout.report.safe_tables import inert

__all__ = ["Links"]


@dataclass(frozen=True, eq=False, repr=False)
class Links(ResultView, FrameExport):
    """The record that each profile was linked to, and what the claims are worth.

    Attributes
    ----------
    profiles : Profiles
        The public profiles, aligned with the release.
    settings : LinkSettings
        The parameters of `link`.
    model : EvidenceModel
        The parameters of evidence that were learned.
    best : BestRecords
        The best record of each profile.
    best_of_decoys : BestRecords or None
        The best record of each decoy; None without decoys.
    decoy_strengths : DecoyStrengths
        How strongly the decoys match.
    truth : Truth or None
        The known truth.
    complete : bool
        False if linking was interrupted; the first `len(links)` profiles were then linked.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=60, items=40, entries=900, seed=7)
    >>> links = so.link(release, release, budget=0.1, decoys=60)
    >>> len(links), links.by
    (60, 'evidence')
    >>> links.table.filter("claimed").height == links.claims
    True
    """

    profiles: Profiles
    settings: LinkSettings
    model: EvidenceModel
    best: BestRecords
    best_of_decoys: BestRecords | None
    decoy_strengths: DecoyStrengths
    truth: Truth | None
    complete: bool

    def __repr__(self) -> str:
        interrupted = "" if self.complete else ", interrupted"
        false = self.likely_false_claims
        about = "less than 0.1" if false < 0.05 else f"about {false:.1f}"
        worth = f", {about} of them likely false" if self.claims and math.isfinite(false) else ""
        return f"<Links: {len(self):,} profiles, {self.claims:,} claims{worth}{interrupted}>"

    def __len__(self) -> int:
        return len(self.best)

    @property
    def alignment(self) -> Alignment:
        """How items and values were aligned."""
        return self.profiles.alignment

    @property
    def facts(self) -> Ints:
        """How many facts of each profile were used."""
        return self.profiles.used[: len(self)]

    @property
    def budget(self) -> float:
        """The largest share of absent people that may be claimed."""
        return self.settings.budget

    @property
    def by(self) -> ClaimMeasure:
        """The measure that decides about claims: evidence or eccentricity."""
        return self.settings.by

    @cached_property
    def phi(self) -> float:
        """The minimum strength of a claim: as given, or from the decoys; ∞ if they are too few."""
        given = self.settings.phi
        return self.decoy_strengths.phi(self.budget) if given is None else given

    @property
    def claimed(self) -> Bools:
        """Which profiles claim a record."""
        return self._assigned[0]

    @property
    def claims(self) -> int:
        """How many profiles claim a record."""
        return int(np.count_nonzero(self.claimed))

    @property
    def tied_claims(self) -> int:
        """How many claims were dropped because another claim on the record is equally strong (`assign`)."""
        return int(np.count_nonzero(self._assigned[1]))

    @property
    def contested(self) -> Ints:
        """How many other profiles claim the same record, before `assign` drops any claim."""
        return rival_claims(self.best.record, self._wanted)

    @property
    def _wanted(self) -> Bools:
        """Claims before `assign` drops any of them."""
        return np.asarray(self.best.claimable & (self.best.strength >= self.phi))

    @cached_property
    def _assigned(self) -> tuple[Bools, Bools]:
        """Which claims are made, and which are dropped as ties."""
        if not self.settings.assign:
            return self._wanted, np.zeros(len(self), np.bool_)
        return one_to_one(self.best.record, self.best.strength, self._wanted)

    @cached_property
    def false_claim(self) -> Floats:
        """How likely an absent person would match as strongly as each profile; NaN without decoys."""
        if not len(self.decoy_strengths):
            return np.full(len(self), math.nan)
        return np.where(self.best.record >= 0, self.decoy_strengths.false_claim(self.best.strength), 1.0)

    @property
    def absent_share(self) -> float:
        """The estimated share of profiles whose people are absent from the release; NaN without decoys."""
        return absent_share(self.false_claim[self.facts > 0]) if len(self.decoy_strengths) else math.nan

    @property
    def expected_false_claims(self) -> float:
        """How many claims there would be if all profiles were absent: an upper limit for false claims."""
        tried = int(np.count_nonzero(self.facts))
        return (
            self.decoy_strengths.expected_claims(self.phi, tried) if len(self.decoy_strengths) else math.nan
        )

    @property
    def likely_false_claims(self) -> float:
        """The same for the estimated share of absent profiles only, and at most the number of claims."""
        if not len(self.decoy_strengths):
            return math.nan
        return min(self.expected_false_claims * self.absent_share, float(self.claims))

    @property
    def is_present(self) -> Bools | None:
        """Which profiles belong to a person of the release; None without truth."""
        return None if self.truth is None else self.truth.is_present[: len(self)]

    @cached_property
    def identified(self) -> Bools | None:
        """Which profiles' best record is the right one; None without truth."""
        if self.truth is None:
            return None
        own_record = self.truth.record[: len(self)]
        return np.asarray((own_record >= 0) & (self.best.record == own_record) & (self.best.ties == 1))

    @property
    def precision(self) -> Estimate | None:
        """The share of claims that are correct; None without truth."""
        return None if self.identified is None else rate(self._correct_claims, self.claims)

    @property
    def recall(self) -> Estimate | None:
        """The share of present profiles that are claimed correctly; None without truth."""
        present = self.is_present
        return None if present is None else rate(self._correct_claims, int(present.sum()))

    @property
    def absent_claims(self) -> Estimate | None:
        """The share of absent profiles that are claimed; None without truth."""
        present = self.is_present
        return None if present is None else rate(int((~present & self.claimed).sum()), int((~present).sum()))

    @property
    def _correct_claims(self) -> int:
        return 0 if self.identified is None else int((self.identified & self.claimed).sum())

    @cached_property
    def curve(self) -> pl.DataFrame:
        """With truth: phi, claims, correct_claims, precision, recall, absent_claims."""
        return self._judged.by_phi()

    @cached_property
    def by_budget(self) -> pl.DataFrame:
        """With truth: budget, claims, correct_claims, precision, recall, absent_claims."""
        return self._judged.by_budget(self.decoy_strengths.phi)

    @property
    def _judged(self) -> JudgedProfiles:
        if self.is_present is None or self.identified is None:
            raise ParameterError("precision and recall need the truth: call link(…, truth=…)")
        record, strength, claimable = self.best.record, self.best.strength, self.best.claimable
        if self.settings.assign:
            claimable = one_to_one(record, strength, claimable)[0]
        return JudgedProfiles(strength, claimable, self.identified, self.is_present)

    @cached_property
    def by_facts_used(self) -> pl.DataFrame:
        """By number of facts used (1, 2–3, 4–7 …): min_facts, max_facts, profiles, claims.

        With truth also present, correct_claims.
        """
        groups = {"profiles": self.facts > 0, "claims": self.claimed}
        if self.is_present is not None and self.identified is not None:
            groups |= {"present": self.is_present, "correct_claims": self.claimed & self.identified}
        return facts_table(self.facts, groups)

    @cached_property
    def decoys(self) -> pl.DataFrame:
        """The decoys: kind, evidence, eccentricity."""
        return decoy_table(self)

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row for each profile, in the order of `public`.

        profile, record (best guess), runner_up, evidence, eccentricity, score, runner_up_score, ties,
        bits_left, facts_used, facts_unknown, claimed, false_claim, contested (number of rival claims),
        by_values, by_dates, by_items (the lead over the runner-up: evidence in bits, or σ), strongest_part,
        dates; with truth also identified.
        """
        return profile_table(self)

    def histogram(self, measure: ClaimMeasure = "eccentricity") -> pl.DataFrame:
        """Count profiles and decoys by the strength of their best match.

        Parameters
        ----------
        measure : {"eccentricity", "evidence"}
            The measure of strength.

        Returns
        -------
        polars.DataFrame
            bin_start, bin_end, claims, others, recombined, withheld. The bins grow by half; the first one
            holds everything below 0.
        """
        if measure not in get_args(ClaimMeasure):
            raise ParameterError(not_one_of("measure", measure, get_args(ClaimMeasure)))
        return histogram(self, measure)

    @property
    def summary(self) -> str:
        """What was found, in a few sentences that name nobody."""
        return summary_of(self)

    def to_csv(self, path: str | Path) -> None:
        """Write the table as a CSV file that only its owner can read: it names records.

        Parameters
        ----------
        path : path-like
            The file to write.
        """
        write_atomically(Path(path), lambda file: inert(self.table).write_csv(file), private=True)

    def to_parquet(self, path: str | Path) -> None:
        """Write the table as a Parquet file that only its owner can read: it names records.

        Parameters
        ----------
        path : path-like
            The file to write.
        """
        write_atomically(Path(path), lambda file: self.table.write_parquet(file), private=True)

    def to_json(self, path: str | Path) -> None:
        """Write findings and table as a JSON file that only its owner can read: it names records.

        Parameters
        ----------
        path : path-like
            The file to write.
        """
        text = json_text(self.to_dict())
        write_atomically(Path(path), lambda file: file.write(text.encode()), private=True)

    @with_progress
    def to_html(
        self,
        path: str | Path,
        data: str = "",
        public: str = "",
        *,
        progress: ProgressOption = no_progress,
    ) -> None:
        """Write a short report as one HTML file. It names nobody.

        Parameters
        ----------
        path : path-like
            The file to write.
        data, public : str, optional
            Names of the two data sets for the report.
        progress : bool or callable, optional
            True shows a bar while the charts are drawn.
        """
        from standout.report.linking_page import page  # loads Altair

        findings = self.findings(data, public)
        text = page(findings, sentences.report_text(findings))
        write_atomically(Path(path), lambda file: file.write(text.encode()))

    def to_dict(self) -> JsonObject:
        """Return the findings and the table as a JSON object.

        Returns
        -------
        dict
            The fields of `LinkFindings`, and `table` with a row for each profile.
        """
        rows: list[Any] = self.table.to_dicts()
        return to_json_object(self.findings()) | {"table": rows}

    def _frame(self) -> pl.DataFrame:
        return self.table

    def _shown(self) -> LinkFindings:
        return self.findings()

    def findings(self, data: str = "", public: str = "") -> LinkFindings:
        """Return what was found, without the table: it names nobody.

        Parameters
        ----------
        data, public : str, optional
            Names of the two data sets.

        Returns
        -------
        LinkFindings
            The numbers of links.json.
        """
        return link_findings(self, data, public)
