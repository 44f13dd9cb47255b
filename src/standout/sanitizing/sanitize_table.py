"""Apply steps to a table, and keep the link to the original."""

import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from standout.core.errors import ParameterError, did_you_mean
from standout.core.progress import Progress, no_progress
from standout.core.rng import check_seed, generator
from standout.data.column import Column
from standout.data.labels import Provenance, StepReport
from standout.data.release import Release, read_only
from standout.know.sanitized import Channel, Sanitized, sanitized_rows
from standout.sanitizing.cell_steps import DropColumn, DropRows, SuppressCells, SuppressToK, SwapColumn, stacked_cells
from standout.sanitizing.level_change import compact, same_values, with_levels_of
from standout.sanitizing.level_steps import GeneralizeColumn, RoundColumn, TopCode
from standout.sanitizing.table_step import TableDraft, TableStep

__all__ = ["TABLE_STEPS", "assemble", "is_table_step", "level_draft", "parse_table_step", "sanitize_table"]

# All steps on tables, and how a step is read from text such as "round:age=5".


TABLE_STEPS: tuple[type[TableStep], ...] = (
    GeneralizeColumn,
    RoundColumn,
    TopCode,
    SwapColumn,
    SuppressCells,
    SuppressToK,
    DropColumn,
    DropRows,
)
NAME = re.compile(r"([a-z-]+):(.*)", re.DOTALL)


def is_table_step(text: str) -> bool:
    """Whether this text is written like a step on a table: a name, a colon, and a column.

    >>> is_table_step("round:age=5"), is_table_step("round-time month")
    (True, False)
    """
    return NAME.fullmatch(text) is not None


def parse_table_step(text: str) -> TableStep:
    """Read a step on a table from text; it is the inverse of `str(step)`.

    >>> parse_table_step("round:age=5")
    RoundColumn(column='age', to=5)
    """
    match = NAME.fullmatch(text)
    kinds = {kind.name: kind for kind in TABLE_STEPS}
    if match is None:
        raise ParameterError(
            f"a step on a table is a name, a colon and a column, such as 'round:age=5'; got {text!r:.100}"
        )
    name, rest = match.groups()
    if name not in kinds:
        raise ParameterError(
            f"there is no step {name!r:.100} on tables: choose one of {', '.join(kinds)}{did_you_mean(name, kinds)}"
        )
    try:
        return kinds[name].from_text(rest)
    except ParameterError as error:
        raise ParameterError(f"step {text!r:.200}: {error}") from None


def sanitize_table(
    table: Release, steps: Iterable[TableStep | str], seed: int | None = None, progress: Progress = no_progress
) -> Sanitized:
    """Apply steps to a table; see `standout.sanitize`.

    The rows of the result are in a random order and have new ids, 1 … N, if the table has ids: neither links
    a row to its person.
    """
    parsed = [parse_table_step(step) if isinstance(step, str) else step for step in steps]
    if not all(isinstance(step, TableStep) for step in parsed):
        raise ParameterError("a step on a table must be one such as RoundColumn('age', 5), or 'round:age=5'")
    seed = secrets.randbits(63) if seed is None else check_seed(seed)
    draft, reports = _start(table)
    _check_order([*map(parse_table_step, (report.step for report in reports)), *parsed])
    for number, step in enumerate(parsed):
        progress("sanitizing", number, len(parsed))
        before = draft
        draft, counts = step.apply(before, generator(seed, "table step", len(reports)))
        reports.append(StepReport(str(step), _counts(before, draft) | counts))
    order = generator(seed, "table rows").permutation(draft.n_rows)
    columns = tuple(column.rows(order) for column in draft.columns)
    return assemble(replace(draft, columns=columns, rows=draft.rows[order]), tuple(reports))


def _check_order(steps: Sequence[TableStep]) -> None:
    """Refuse to merge values of a column after rare ones were emptied.

    Merged values are less rare, so fewer need to be emptied. It also keeps what happened to a value a matter
    of the steps alone.
    """
    suppressed: dict[str, SuppressCells] = {}
    for step in steps:
        if isinstance(step, SuppressCells):
            suppressed[step.column] = step
        name = getattr(step, "column", None)
        if name in suppressed and type(step).level_change is not TableStep.level_change:
            raise ParameterError(
                f"{suppressed[name]} comes before {step}: put it after, because merged values are less rare"
            )


def _start(table: Release) -> tuple[TableDraft, list[StepReport]]:
    """A draft of a table, and the reports of the steps that it was made with."""
    if not isinstance(table, Sanitized):
        return TableDraft.of(table), []
    steps = [parse_table_step(report.step) for report in table.step_reports]
    draft, order = level_draft(table.original, steps), np.argsort(table.original_row)
    columns = [with_levels_of(column.rows(order), draft.column(column.name)) for column in table.columns]
    channels = {
        column.name: _same_noise(draft.channel(column.name), table.channels.get(column.name)) for column in columns
    }
    rows = table.original_row[order]
    return replace(draft, columns=tuple(columns), rows=rows, channels=channels), list(table.step_reports)


def level_draft(original: Release, steps: Sequence[TableStep]) -> TableDraft:
    """What steps make of the levels of a table; its cells are not those of the result."""
    draft = TableDraft.of(original)
    for step in steps:
        for column in draft.columns:
            change = step.level_change(column)
            if change is not None:
                draft = draft.with_levels(column.name, change)
    return draft


def _same_noise(levels: Channel, noise: Channel | None) -> Channel:
    if noise is None:
        return levels
    return replace(levels, replaced=noise.replaced, suppressed=noise.suppressed)


def _counts(before: TableDraft, after: TableDraft) -> dict[str, float]:
    """Rows, columns and cells before and after a step."""
    kept = np.flatnonzero(np.isin(before.rows, after.rows, assume_unique=True))
    changed = emptied = 0
    old = {column.name: column for column in before.columns}
    for column in after.columns:
        if column is not old[column.name]:
            cells = _cell_changes(old[column.name].rows(kept), column)
            changed, emptied = changed + cells[0], emptied + cells[1]
    return {
        "rows before": before.n_rows,
        "rows": after.n_rows,
        "rows removed": before.n_rows - len(kept),
        "columns before": len(before.columns),
        "columns": len(after.columns),
        "cells changed": changed,
        "cells emptied": emptied,
    }


def _cell_changes(before: Column, after: Column) -> tuple[int, int]:
    """Number of cells with another value, and number of cells that were emptied."""
    if before.codes is after.codes:
        return 0, 0
    emptied = int(np.count_nonzero(after.is_missing & ~before.is_missing))
    if before.starts is not None:
        number = stacked_cells(before, after)
        is_same = number[: before.n_rows] == number[before.n_rows :]
    else:
        same = np.append(same_values(before, after), after.missing)
        is_same = same[before.codes] == after.codes
    return int(np.count_nonzero(~is_same & ~after.is_missing)), emptied


def assemble(draft: TableDraft, reports: tuple[StepReport, ...]) -> Sanitized:
    """Make the table that a draft describes.

    A released column has each level that a value of the original becomes, even if all its rows were removed.
    Only a column whose rare values were emptied has just the levels that occur: the others are the emptied
    ones.
    """
    steps = [parse_table_step(report.step) for report in reports]
    suppressed = {step.column for step in steps if isinstance(step, SuppressCells)}
    columns, channels = [], {}
    for column in draft.columns:
        channel = draft.channel(column.name)
        became = np.bincount(channel.released, minlength=column.n_levels + 1)[:-1] > 0
        smaller, change = compact(column, None if column.name in suppressed else became)
        channel = replace(channel, released=read_only(change.lookup[channel.released].astype(np.int64)))
        columns.append(smaller)
        if not _is_unchanged(channel):
            channels[column.name] = channel
    table, rows = draft.original, draft.rows
    record = table.provenance.columns.get("record")
    return sanitized_rows(
        table,
        rows,
        tuple(columns),
        provenance=Provenance("sanitized", columns={} if record is None else {"record": record}),
        channels=channels,
        step_reports=reports,
    )


def _is_unchanged(channel: Channel) -> bool:
    is_same = bool((channel.released == np.arange(len(channel.released))).all())
    return is_same and channel.replaced == channel.suppressed == 0
