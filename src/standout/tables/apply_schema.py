"""Apply what the user says about a column to the column that was read."""

from dataclasses import replace
from pathlib import Path

from standout.core.errors import ColumnError, ParameterError
from standout.tables.column import Column
from standout.tables.column_defaults import default_error, default_similarity
from standout.tables.column_similarity import ColumnSimilarity
from standout.tables.hierarchy_sources import with_hierarchy
from standout.tables.schema import ColumnSchema

__all__ = ["apply_schema"]


def apply_schema(column: Column, schema: ColumnSchema, folder: Path) -> Column:
    """Set the hierarchy, similarity, error, role and attribute of a column."""
    if schema.hierarchy is not None:
        column = with_hierarchy(column, schema.hierarchy, folder)
        column = replace(column, similarity=default_similarity(column), error=default_error(column))
    similarity = _similarity(column, schema)
    return replace(
        column,
        similarity=similarity,
        error=_error(column, schema),
        role=column.role if schema.role is None else schema.role,
        attribute=column.attribute if schema.attribute is None else schema.attribute,
    )


def _similarity(column: Column, schema: ColumnSchema) -> ColumnSimilarity:
    """The similarity that the user names; its scale is the usual one unless the user says otherwise."""
    usual = column.similarity
    name = usual.name if schema.similarity is None else schema.similarity
    where = f"schema, column {column.name!r}"
    if name not in ("within", "decay"):
        if schema.scale is not None:
            raise ParameterError(f"{where}: scale is for within and decay, and the similarity is {name}")
        if name == "hierarchy" and column.hierarchy is None:
            raise ParameterError(f"{where}: similarity hierarchy needs a hierarchy: set it")
        if name == "ordered" and column.kind not in ("ordered", "number", "date"):
            raise ParameterError(
                f'{where}: similarity ordered needs an order: set kind = "ordered" and levels'
            )
        return ColumnSimilarity(name)
    if column.kind not in ("number", "date"):
        raise ColumnError(
            f"{where}: similarity {name} needs numbers or dates, and the column is {column.kind}"
        )
    scale = schema.scale if schema.scale is not None else usual.scale or max(column.error, 1.0)
    if not scale > 0:
        raise ParameterError(f"{where}: scale must be a number > 0, got {scale!r}")
    return ColumnSimilarity(name, float(scale))


def _error(column: Column, schema: ColumnSchema) -> float:
    if schema.error is None:
        return column.error
    where = f"schema, column {column.name!r}"
    if not 0 <= schema.error < float("inf"):
        raise ParameterError(f"{where}: error must be a number from 0, got {schema.error!r}")
    if schema.error and not column.has_distances:
        raise ParameterError(
            f"{where}: error must be 0, because its values have no distances; set a hierarchy"
        )
    return float(schema.error)
