"""The result of a search for advice on a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from standout._version import __version__
from standout.advising.advice_result import AdviceResult
from standout.advising.candidate import Candidate
from standout.advising.search import SearchResult
from standout.advising.sentences import sanitize_command, summary_sentences
from standout.advising.table_candidate_utility import TableCandidateUtility
from standout.advising.table_sentences import TABLES, known_attributes, table_limitations
from standout.findings.advice import Among
from standout.findings.table_advice import (
    TableAdviceFindings,
    TableCandidateFindings,
    TableSize,
    TableUtilityFindings,
)
from standout.table_attack.table_adversary import TableAdversary
from standout.tables.model import Table

__all__ = ["TableAdvice"]

TABLE_OPTION = "--table"


@dataclass(frozen=True, eq=False, repr=False)
class TableAdvice(AdviceResult[TableCandidateUtility]):
    """The result of `standout.advise` on a table.

    Attributes
    ----------
    original
        The original table.
    search
        Everything that the search measured.
    adversary
        The adversary to protect against.
    limit
        Largest acceptable share of identified people.
    among
        Whom the limit applies to: "everybody" or "released".
    seed
        Seed of all random draws.
    name
        Name of the data in the report.
    """

    measures: ClassVar[tuple[str, ...]] = ("kept", "information", "associations", "rows_kept")

    original: Table
    search: SearchResult[TableCandidateUtility]
    adversary: TableAdversary
    limit: float
    among: Among
    seed: int
    name: str = ""

    @property
    def _sentences(self) -> list[str]:
        known = known_attributes(self.adversary, self.original)
        return summary_sentences(self.search, self.unproven, known, self.limit, TABLES)

    @property
    def _possible_targets(self) -> int:
        return int(self.adversary.eligible(self.original, np.arange(self.original.n_rows)).sum())

    @property
    def _fingerprint(self) -> str:
        return self.original.fingerprint

    def command(self, data: str | Sequence[str] = "DATA", output: str = "OUT.csv") -> str:
        """Command that makes the recommended table.

        Parameters
        ----------
        data
            The source, or the source and options for reading it.
        output
            The file to write.

        Returns
        -------
        str
            A `standout sanitize` command without a seed; empty if nothing is recommended or has to be
            changed.
        """
        words = [data] if isinstance(data, str) else list(data)
        if TABLE_OPTION not in words:
            words.append(TABLE_OPTION)
        return sanitize_command(self.recommended, words, output, renumber=False)

    @cached_property
    def findings(self) -> TableAdviceFindings:
        """The content of advice.json. It has no ids and no seed."""
        table, best = self.original, self.recommended
        return TableAdviceFindings(
            complete=self.complete,
            limit=self.limit,
            among=self.among,
            adversary=known_attributes(self.adversary, table),
            data=TableSize(
                name=self.name, fingerprint=table.fingerprint, rows=table.n_rows, columns=table.n_columns
            ),
            summary=self.summary,
            sentences=tuple(self._sentences),
            command=self.command(self.name or "DATA"),
            recommended=None if best is None else self._candidate_findings(best),
            candidates=tuple(map(self._candidate_findings, self.candidates)),
            step_descriptions=self._step_descriptions(),
            impossible=self.search.impossible,
            limits=tuple(table_limitations(self.search, table, self.adversary)),
            version=__version__,
            unproven=self._unproven_findings(),
        )

    def _candidate_findings(self, candidate: Candidate[TableCandidateUtility]) -> TableCandidateFindings:
        utility = candidate.utility
        return TableCandidateFindings(
            steps=tuple(map(str, candidate.steps)),
            name=candidate.name,
            stage=candidate.stage,
            attack=candidate.risk.attack,
            identified=candidate.risk.everybody,
            identified_in_release=candidate.risk.released,
            frontier=candidate.steps in self._frontier_steps,
            utility=TableUtilityFindings(
                kept=utility.kept,
                information=utility.information,
                associations=utility.associations,
                rows_kept=utility.rows_kept,
            ),
        )
