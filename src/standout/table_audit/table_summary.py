"""How a table was read, and the original of a sanitized one, as findings."""

from typing import Literal

import numpy as np

from standout.findings.table_reading import ColumnReading, TableOriginal, TableReading, TableSummary
from standout.table_attack.prepare import representing_rows
from standout.table_audit.adversary_sentences import error_text, listed
from standout.tables.column import Column
from standout.tables.model import SanitizedTable, Table

__all__ = ["original_findings", "readings", "summary"]


def summary(table: Table, name: str) -> TableSummary:
    """Name and size of a table."""
    return TableSummary(
        name=name,
        fingerprint=table.fingerprint,
        rows=table.n_rows,
        columns=table.n_columns,
        attributes=len(table.attributes),
        missing_cells=sum(int(column.counts[-1]) for column in table.columns),
        history_entries=0 if table.history is None else table.history.n_entries,
    )


def readings(table: Table) -> tuple[TableReading, ...]:
    """How the table was read, and its original."""
    if isinstance(table, SanitizedTable):
        return _reading(table, "table"), _reading(table.original, "original")
    return (_reading(table, "table"),)


def _reading(table: Table, of: Literal["table", "original"]) -> TableReading:
    source = table.provenance
    return TableReading(
        of=of,
        format=source.format,
        files=tuple(source.files),
        id=source.columns.get("record"),
        id_reason=source.reasons.get("record", ""),
        columns=tuple(_column(column, source.column_notes.get(column.name, "")) for column in table.columns),
        ignored=tuple(column.name for column in source.unused),
        settings=dict(source.settings),
    )


def _column(column: Column, note: str) -> ColumnReading:
    scale = column.similarity.scale
    return ColumnReading(
        name=column.name,
        kind=column.kind,
        levels=column.n_levels,
        missing=int(column.counts[-1]),
        similarity=column.similarity.name + ("" if scale is None else f" {scale:g}"),
        error=error_text(column, column.error),
        role=column.role,
        attribute=column.attribute,
        note=note,
    )


def original_findings(table: Table) -> TableOriginal | None:
    """The original of a sanitized table."""
    if not isinstance(table, SanitizedTable):
        return None
    original = table.original
    gone = int(np.count_nonzero(representing_rows(table) < 0))
    dropped = tuple(name for name in original.names if name not in table.names)
    steps = tuple(report.step for report in table.step_reports)
    return TableOriginal(
        fingerprint=original.fingerprint,
        rows=original.n_rows,
        columns=original.n_columns,
        not_in_table=gone,
        dropped=dropped,
        steps=steps,
        changes=tuple(
            {name: float(number) for name, number in report.counts.items()} for report in table.step_reports
        ),
        explanation=_explanation(original.n_rows, gone, dropped, steps),
    )


def _explanation(people: int, gone: int, dropped: tuple[str, ...], steps: tuple[str, ...]) -> str:
    sentences = [
        f"This table was made from an original with {people:,} people. Targets and the values that "
        "adversaries know come from the original. Adversaries know which steps were applied."
    ]
    if gone:
        sentences.append(
            f"{gone:,} people are missing from the table. They cannot be identified, but they count among "
            "the targets."
        )
    if dropped:
        sentences.append(f"The table lacks {listed(list(dropped))}: knowing these does not help.")
    return " ".join([*sentences, f"Steps that were applied: {'; '.join(steps) or 'none'}."])
