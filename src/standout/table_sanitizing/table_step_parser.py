"""All steps on tables, and how a step is read from text such as "round:age=5"."""

import re

from standout.core.errors import ParameterError
from standout.core.suggestions import did_you_mean
from standout.table_sanitizing.cell_steps import DropColumn, SuppressCells, SwapColumn
from standout.table_sanitizing.class_steps import DropRows, SuppressToK
from standout.table_sanitizing.level_steps import GeneralizeColumn, RoundColumn, TopCode
from standout.table_sanitizing.table_step import TableStep

__all__ = ["TABLE_STEPS", "is_table_step", "parse_table_step"]

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
            f"there is no step {name!r:.100} on tables: choose one of {', '.join(kinds)}"
            f"{did_you_mean(name, kinds)}"
        )
    try:
        return kinds[name].from_text(rest)
    except ParameterError as error:
        raise ParameterError(f"step {text!r:.200}: {error}") from None
