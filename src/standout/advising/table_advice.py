"""The result of a search for advice on a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from standout._version import __version__
from standout.advising.advice import AdviceResult
from standout.advising.candidate import Candidate
from standout.advising.search import SearchResult
from standout.advising.sentences import (
    RISK_LIMITATION,
    Wording,
    sanitize_command,
    search_limitations,
    summary_sentences,
)
from standout.advising.table_candidates import TableCandidateUtility
from standout.core.text import count
from standout.data.release import Release
from standout.evaluate.estimates import percent
from standout.findings.advice import AdviceFindings, Among, CandidateFindings, UtilityFindings
from standout.findings.links import ReleaseSize
from standout.know.adversary import Adversary

__all__ = ["TABLES", "TableAdvice", "known_attributes", "table_limitations"]

# What the advice on a table says in words.


IMPOSSIBLE = "their steps do not fit the table, or nothing would be left of it"


def known_attributes(adversary: Adversary, table: Release) -> str:
    """What an adversary knows, in one line: 6 of 14 attributes, imprecise, 1 wrong."""
    named = adversary.columns
    total = len(table.attributes) if named is None else len(named)
    if named is not None and adversary.knows == total:
        known = ", ".join(named)
    elif adversary.knows == total:
        known = count(total, "attribute", "attributes")
    else:
        known = f"{adversary.knows} of {total} attributes"
    parts = [known]
    if str(adversary.items) == "rarest":
        parts.append("those whose value fewest people share")
    errors = (adversary.error_of(column) for column in table.columns if column.has_distances)
    parts.append("imprecise" if any(errors) else "exact")
    if adversary.wrong:
        parts.append(f"{adversary.wrong} wrong")
    if adversary.entries is not None:
        parts.append(f"{adversary.entries.knows} entries of the history")
    return ", ".join(parts)


def _utility_left(candidate: Candidate[TableCandidateUtility]) -> str:
    utility = candidate.utility
    parts = [f"{percent(utility.information.value)} of the information in its cells"]
    if utility.associations is not None:
        parts.append(f"{percent(utility.associations.value)} of the associations between its columns")
    parts.append(f"{percent(utility.rows_kept.value)} of its rows")
    return f"The sanitized table keeps {percent(utility.kept.value)} of the utility: {', '.join(parts)}."


TABLES = Wording(
    "table",
    "attributes",
    _utility_left,
    "A larger limit, fewer columns or a hierarchy in the schema gives more choices.",
)


def table_limitations(result: SearchResult[Any], table: Release, adversary: Adversary) -> list[str]:
    """What the numbers do not say."""
    sentences = [
        RISK_LIMITATION,
        "Utility is the information in the cells, mean over the columns, or the associations of pairs of "
        "columns, whichever is smaller. Every column counts the same. Other uses are not measured: "
        "so.utility also runs a prediction task.",
        "The risk is that of finding a person's row. It does not say what rows with equal values have in "
        "common: standout audit shows what they disclose.",
    ]
    if table.n_items:
        known = "is part of what the adversary knows" if adversary.entries else "was not attacked"
        sentences.append(f"The steps do not change the history of the people, which {known}.")
    return [*sentences, *search_limitations(result, IMPOSSIBLE)]


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

    original: Release
    search: SearchResult[TableCandidateUtility]
    adversary: Adversary
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
        return int(self.adversary.eligible(self.original, np.arange(self.original.n_records)).sum())

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
    def findings(self) -> AdviceFindings:
        """The content of advice.json. It has no ids and no seed."""
        table, best = self.original, self.recommended
        return AdviceFindings(
            complete=self.complete,
            limit=self.limit,
            among=self.among,
            adversary=known_attributes(self.adversary, table),
            data=ReleaseSize(
                self.name, table.fingerprint, table.n_records, table.n_items, table.n_entries, table.n_columns
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

    def _candidate_findings(self, candidate: Candidate[TableCandidateUtility]) -> CandidateFindings:
        utility = candidate.utility
        return CandidateFindings(
            steps=tuple(map(str, candidate.steps)),
            name=candidate.name,
            stage=candidate.stage,
            attack=candidate.risk.attack,
            identified=candidate.risk.everybody,
            identified_in_release=candidate.risk.released,
            frontier=candidate.steps in self._frontier_steps,
            utility=UtilityFindings(
                kept=utility.kept,
                information=utility.information,
                associations=utility.associations,
                rows_kept=utility.rows_kept,
            ),
        )
