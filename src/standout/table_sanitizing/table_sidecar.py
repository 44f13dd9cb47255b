"""The sidecar of a sanitized table: a file next to it that lists the steps and can be published with it.

It has counts and names of columns, no cell of anybody, and not the seed, which could undo noise and order.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from standout._version import __version__
from standout.core.checked_json import dump_with_checksum, is_intact
from standout.core.errors import SourceError, StandoutError
from standout.sanitized import StepReport
from standout.table_sanitizing.level_change import compact
from standout.tables.model import SanitizedTable, Table

__all__ = ["TableSidecar", "released_fingerprint"]

FORMAT, CONTENT, VERSION = "standout sanitized", "table", 2


def released_fingerprint(table: Table) -> str:
    """Fingerprint of what is published: values that do not occur any more are no part of it."""
    return Table(tuple(compact(column)[0] for column in table.columns)).fingerprint


@dataclass(frozen=True, slots=True)
class TableSidecar:
    """Steps of a sanitized table, the size of its original, and the types of its columns.

    `inert` says whether texts that a spreadsheet would execute have an apostrophe.
    """

    fingerprint: str
    original_rows: int
    original_columns: int
    rows: int
    kinds: dict[str, str]
    step_reports: tuple[StepReport, ...]
    inert: bool = False

    @classmethod
    def of(cls, safer: SanitizedTable, inert: bool = False) -> "TableSidecar":
        """Sidecar of a sanitized table."""
        return cls(
            fingerprint=released_fingerprint(safer),
            original_rows=safer.original.n_rows,
            original_columns=safer.original.n_columns,
            rows=safer.n_rows,
            kinds={column.name: column.kind for column in safer.columns},
            step_reports=safer.step_reports,
            inert=inert,
        )

    def to_json(self) -> bytes:
        """Content of the file."""
        content = {
            "format": FORMAT,
            "content": CONTENT,
            "version": VERSION,
            "written by": f"standout {__version__}",
            "ids": "rows are in a random order: their numbers are not those of the original",
            "fingerprint": self.fingerprint,
            "original": {"rows": self.original_rows, "columns": self.original_columns},
            "rows": self.rows,
            **({"inert": True} if self.inert else {}),
            "columns": self.kinds,
            "done": [{"step": report.step, "counts": report.counts} for report in self.step_reports],
        }
        return dump_with_checksum(content)

    @classmethod
    def read(cls, path: Path) -> "TableSidecar":
        """Read a sidecar; raises a SourceError that says why it cannot be used."""
        try:
            content = json.loads(path.read_bytes())
            if [content["format"], content.get("content"), content["version"]] != [FORMAT, CONTENT, VERSION]:
                raise SourceError(
                    f"{path} is not a sidecar of a table that this version can read: sanitize again"
                )
            if not is_intact(content):
                raise ValueError("checksum")
            return cls._from_json(content)
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror}") from error
        except (ArithmeticError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, StandoutError):
                raise
            raise SourceError(f"{path} is damaged: write the output again with its sidecar") from error

    @classmethod
    def _from_json(cls, content: Any) -> "TableSidecar":
        """Make a sidecar of parsed JSON, whose shape nothing has checked yet."""
        sidecar = cls(
            fingerprint=str(content["fingerprint"]),
            original_rows=int(content["original"]["rows"]),
            original_columns=int(content["original"]["columns"]),
            rows=int(content["rows"]),
            kinds={str(name): str(kind) for name, kind in content["columns"].items()},
            step_reports=tuple(
                StepReport(str(report["step"]), {str(name): n for name, n in report["counts"].items()})
                for report in content["done"]
            ),
            inert=content.get("inert", False),
        )
        if type(sidecar.inert) is not bool:
            raise ValueError("inert")
        if not sidecar.kinds:
            raise ValueError("columns")
        sidecar._check_rows()
        return sidecar

    def _check_rows(self) -> None:
        """Check that the steps account for every row: before = after + removed."""
        rows = self.original_rows
        for report in self.step_reports:
            counts = report.counts
            if counts["rows before"] != rows or counts["rows"] + counts["rows removed"] != rows:
                raise ValueError("rows")
            rows = int(counts["rows"])
        if rows != self.rows:
            raise ValueError("rows")
