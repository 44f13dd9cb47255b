"""The result of an audit: findings, report, tables, and the risk of each person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from standout.adversary import Adversary
from standout.attack.any_attack import AnyAttack
from standout.auditing.result_frames import result_frames
from standout.auditing.risk_table import risk_table
from standout.core.errors import ParameterError
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.suggestions import not_one_of
from standout.findings.advice import AdviceFindings
from standout.findings.audit import AuditFindings
from standout.release.model import Release
from standout.report.audit_output import AuditOutput

__all__ = ["Audit"]


@dataclass(frozen=True, eq=False, repr=False)
class Audit(AuditOutput):
    """Result of an audit.

    Attributes
    ----------
    release : Release
        The release that was audited.
    findings : AuditFindings
        Everything that was found; docs/findings.schema.json describes its JSON form.
    adversaries : Mapping[str, Adversary]
        The adversaries by name, as they were adapted to the release.
    complete : bool
        Whether the audit finished. False if it was interrupted.
    seed : int
        Seed of all random draws.
    threads : int or None
        Number of threads; None for all.
    attacks : mapping
        The strongest attack by adversary, chosen on other targets than those reported.
    """

    release: Release
    findings: AuditFindings
    adversaries: Mapping[str, Adversary]
    complete: bool
    seed: int = 0
    threads: int | None = None
    attacks: Mapping[str, AnyAttack] = field(default_factory=dict)

    def _make_tables(self) -> dict[str, pl.DataFrame]:
        return result_frames(self.findings)

    def _page(self) -> str:
        from standout.report.audit_page import audit_page

        return audit_page(self.findings)

    def with_advice(self, advice: AdviceFindings) -> "Audit":
        """The audit with advice on what would help, which the report then shows.

        Parameters
        ----------
        advice : AdviceFindings
            The findings of `standout.advise`, see `Advice.findings`.

        Returns
        -------
        Audit
            A copy with `findings.advice` set. It is complete if the search is complete too.
        """
        complete = self.complete and advice.complete
        findings = replace(self.findings, advice=advice, complete=complete)
        return replace(self, findings=findings, complete=complete)

    @with_progress
    def risk_table(
        self,
        path: str | Path | None = None,
        *,
        adversary: str | None = None,
        records: str | int = "all",
        draws: int = 8,
        facts: Sequence[int] | None = None,
        progress: ProgressOption = no_progress,
    ) -> pl.DataFrame:
        """Risk of each person: the probability of being identified by one adversary.

        Parameters
        ----------
        path : str or Path, optional
            A .csv or .parquet file to write, readable only by its owner.
        adversary : str, optional
            Name of an adversary of the audit. Default: the headline adversary.
        records : "all" or int
            All records, or a random sample of this size.
        draws : int
            Number of random draws of known facts for each person.
        facts : sequence of int, optional
            Numbers of facts that are tried.
        progress : bool or callable, optional
            True shows a bar; a function is called with (stage, done, total).

        Returns
        -------
        polars.DataFrame
            Columns record, length, facts_needed, probability, low and high.

        Raises
        ------
        ParameterError
            If there is no adversary of this name.
        """
        name = self.findings.settings.headline if adversary is None else adversary
        if name not in self.adversaries:
            raise ParameterError(not_one_of("adversary", name, self.adversaries))
        return risk_table(
            self.release,
            self.adversaries[name],
            records=records,
            draws=draws,
            facts=facts,
            seed=self.seed,
            threads=self.threads,
            progress=progress,
            path=path,
            attack=self.attacks.get(name),
        )
