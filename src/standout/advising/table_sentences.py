"""What the advice on a table says in words."""

from typing import Any

from standout.advising.candidate import Candidate
from standout.advising.search import SearchResult
from standout.advising.sentences import RISK_LIMITATION, Wording, search_limitations
from standout.advising.table_candidate_utility import TableCandidateUtility
from standout.core.formatting import count
from standout.evaluate.estimate_text import percent
from standout.table_attack.table_adversary import TableAdversary
from standout.tables.model import Table

__all__ = ["TABLES", "known_attributes", "table_limitations"]

IMPOSSIBLE = "their steps do not fit the table, or nothing would be left of it"


def known_attributes(adversary: TableAdversary, table: Table) -> str:
    """What an adversary knows, in one line: 6 of 14 attributes, imprecise, 1 wrong."""
    named = adversary.columns
    total = len(table.attributes) if named is None else len(named)
    if named is not None and adversary.most == total:
        known = ", ".join(named)
    elif adversary.most == total:
        known = count(total, "attribute", "attributes")
    else:
        known = f"{adversary.most} of {total} attributes"
    parts = [known]
    if adversary.choose == "rarest":
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


def table_limitations(result: SearchResult[Any], table: Table, adversary: TableAdversary) -> list[str]:
    """What the numbers do not say."""
    sentences = [
        RISK_LIMITATION,
        "Utility is the information in the cells, mean over the columns, or the associations of pairs of "
        "columns, whichever is smaller. Every column counts the same. Other uses are not measured: "
        "so.utility also runs a prediction task.",
        "The risk is that of finding a person's row. It does not say what rows with equal values have in "
        "common: standout audit shows what they disclose.",
    ]
    if table.history is not None:
        known = "is part of what the adversary knows" if adversary.entries else "was not attacked"
        sentences.append(f"The steps do not change the history of the people, which {known}.")
    return [*sentences, *search_limitations(result, IMPOSSIBLE)]
