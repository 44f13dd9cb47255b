"""Open a sanitized table together with its original."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from standout.core.errors import ParameterError, SourceError
from standout.sanitized import StepReport
from standout.table_sanitizing.cell_steps import DropColumn, SwapColumn, moved_columns
from standout.table_sanitizing.sanitize_table import assemble, level_draft
from standout.table_sanitizing.table_draft import TableDraft
from standout.table_sanitizing.table_files import read_cells, read_table_key
from standout.table_sanitizing.table_sidecar import TableSidecar, released_fingerprint
from standout.table_sanitizing.table_step import TableStep
from standout.table_sanitizing.table_step_parser import parse_table_step
from standout.tables.column import Column
from standout.tables.model import SanitizedTable, Table

__all__ = ["open_table"]


def open_table(path: Path, sidecar_path: Path, original: Table, key: Path | None) -> SanitizedTable:
    """Open an output of `standout.write_sanitized` together with its original; see `open_sanitized`.

    What the steps did to the levels is worked out again from the original: the sidecar has no values.
    """
    sidecar = TableSidecar.read(sidecar_path)
    if key is None:
        raise ParameterError(f"key is needed, the key file of {path.name}: its rows are in a random order")
    size = original.n_rows, original.n_columns
    if size != (sidecar.original_rows, sidecar.original_columns):
        raise _wrong_original(path)
    steps = [parse_table_step(report.step) for report in sidecar.step_reports]
    try:
        levels = level_draft(original, steps)
        columns = [levels.column(name) for name in sidecar.kinds]
    except ParameterError:
        raise _wrong_original(path) from None
    if [column.kind for column in columns] != list(sidecar.kinds.values()):
        raise _wrong_original(path)
    draft = replace(
        levels,
        columns=tuple(read_cells(path, columns, sidecar.inert)),
        rows=read_table_key(key, original, sidecar.rows),
    )
    if draft.columns[0].n_rows != sidecar.rows:
        raise _changed(path)
    safer = assemble(_with_noise(draft, steps, sidecar.step_reports), sidecar.step_reports)
    if released_fingerprint(safer) != sidecar.fingerprint:
        raise _changed(path)
    if not all(_agrees(column, safer) for column in safer.columns):
        raise _wrong_original(path)
    return safer


def _with_noise(draft: TableDraft, steps: list[TableStep], reports: tuple[StepReport, ...]) -> TableDraft:
    """The draft with the probabilities that cells were replaced or emptied, by the reports of the steps."""
    for step, report in zip(steps, reports, strict=True):
        for name, replaced, suppressed in _noise(step, report, draft):
            draft = draft.with_cells(draft.column(name), replaced, suppressed)
    return draft


def _noise(step: TableStep, report: StepReport, draft: TableDraft) -> Iterator[tuple[str, float, float]]:
    """Columns of the output, and the probabilities that the step replaced or emptied their cells."""
    counts = report.counts
    if isinstance(step, SwapColumn):
        named = [draft.original.column(name) for name in step.columns]
        for name in moved_columns(named, draft.columns):
            yield name, counts["rows swapped"] / counts["rows before"], 0.0
    for name in draft.names:
        if f"emptied in {name}" in counts and not isinstance(step, DropColumn):
            yield name, 0.0, counts[f"emptied in {name}"] / counts[f"of cells in {name}"]


def _agrees(column: Column, safer: SanitizedTable) -> bool:
    """Whether the cells are what the steps make of the original's; not known if some are random."""
    old, channel = safer.original.column(column.name), safer.channels.get(column.name)
    if column.starts is not None or (channel is not None and (channel.replaced or channel.suppressed)):
        return True
    released = np.arange(old.n_levels) if channel is None else channel.released
    return bool((np.append(released, column.missing)[old.codes[safer.original_row]] == column.codes).all())


def _wrong_original(path: Path) -> SourceError:
    return SourceError(
        f"{path.name} was not made from this original as it was read, or the key belongs to another output"
    )


def _changed(path: Path) -> SourceError:
    return SourceError(f"{path} does not match its sidecar: one of the two was changed or replaced")
