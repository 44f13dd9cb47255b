"""What the audits of releases and of tables have in common: the answer, and the files that show it."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from standout.core.files import make_folder, write_atomically
from standout.core.json_files import JsonObject
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.results import FrameExport, ResultView
from standout.data.export import inert
from standout.findings.gate import answer_line
from standout.findings.json_types import json_text, to_json_object

if TYPE_CHECKING:
    import polars as pl

__all__ = ["AuditOutput"]


class AuditOutput(ResultView, FrameExport):
    """A dataclass with findings; `_make_tables` and `_page` show them as frames and as a page."""

    findings: Any

    def _make_tables(self) -> "dict[str, pl.DataFrame]":
        raise NotImplementedError

    def _page(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {answer_line(self.findings)}>"

    @property
    def trusted(self) -> bool:
        """Whether the audit passed its self-check."""
        return bool(self.findings.trust.trusted)

    @property
    def exceeded(self) -> bool | None:
        """Whether the share of identified people may be above `fail_above`; None without a threshold."""
        exceeded: bool | None = self.findings.threshold.exceeded
        return exceeded

    @cached_property
    def tables(self) -> "dict[str, pl.DataFrame]":
        """The findings as frames by name: `adversaries`, `curves`, `checks` and others."""
        return self._make_tables()

    def _frame(self) -> "pl.DataFrame":
        return self.tables["adversaries"]

    def _shown(self) -> Any:
        return self.findings

    def finished_at(self, time: str) -> Self:
        """The audit with the time at which its report is written.

        Parameters
        ----------
        time : str
            A time in ISO 8601.

        Returns
        -------
        Audit or TableAudit
            A copy with `findings.run.finished_at` set.
        """
        return replace(self, findings=self.findings.finished_at(time))  # type: ignore[type-var]

    def to_dict(self) -> JsonObject:
        """The findings as plain JSON values.

        Returns
        -------
        dict
            The content of findings.json.
        """
        return to_json_object(self.findings)

    def to_json(self, path: str | Path) -> None:
        """Write findings.json.

        Parameters
        ----------
        path : str or Path
            The file; an existing file is replaced.
        """
        text = json_text(self.findings)
        write_atomically(Path(path), lambda file: file.write(text.encode()))

    @with_progress
    def to_html(self, path: str | Path, *, progress: ProgressOption = no_progress) -> None:
        """Write the report as one HTML file.

        Parameters
        ----------
        path : str or Path
            The file; an existing file is replaced.
        progress : bool or callable, optional
            True shows a bar while the charts are drawn.
        """
        text = self._page()
        write_atomically(Path(path), lambda file: file.write(text.encode()))

    def to_csv(self, folder: str | Path) -> None:
        """Write every frame of `tables` as a CSV file of the same name.

        Parameters
        ----------
        folder : str or Path
            The folder; it is created if it is missing.
        """
        target = make_folder(Path(folder))
        for name, frame in self.tables.items():
            write_atomically(target / f"{name}.csv", inert(frame).write_csv)
