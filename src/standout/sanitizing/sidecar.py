"""The sidecar of a sanitized output: a file next to it that lists the steps and can be published with it.

It names neither people nor the original, and does not contain the seed, which would allow others to undo
noise and new ids.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from standout._version import __version__
from standout.core.checked_json import dump_with_checksum, is_intact
from standout.core.errors import SourceError, StandoutError
from standout.core.json_values import JsonObject
from standout.release.model import Release
from standout.sanitized import Bins, Sanitized, StepReport

__all__ = ["OriginalSize", "Sidecar", "is_sidecar", "sidecar_path"]

FORMAT, VERSION = "standout sanitized", 2
"""Its own keys: "done" for the step reports, and "tells" for the values of bins."""
NOTE = {
    True: "records have new ids: the original's ids are not in it",
    False: "records have the original's ids",
}


def sidecar_path(output: Path) -> Path:
    """Path of the sidecar of an output."""
    named = output if output.name else output.absolute()  # the folder "." has a name
    return named.parent / f"{named.name}.sanitized.json"


def is_sidecar(path: Path) -> bool:
    """Whether a file is a sidecar; an interrupted run may have left it without its output."""
    try:
        with path.open("rb") as file:
            return f'"{FORMAT}"'.encode() in file.read(1 << 10)
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class OriginalSize:
    """Size of an original, and what reading it did to repeated rows: `repeats` says how, "" if unknown.

    `merged_rows` is the number of rows that were dropped because an earlier row has the same record and item.
    Neither is compared.
    """

    records: int
    items: int
    entries: int
    repeats: str = field(default="", compare=False)
    merged_rows: int = field(default=0, compare=False)

    @classmethod
    def of(cls, release: Release) -> "OriginalSize":
        """Size of a release."""
        provenance = release.provenance
        return cls(
            records=release.n_records,
            items=release.n_items,
            entries=release.n_entries,
            repeats=provenance.settings.get("repeats", ""),
            merged_rows=provenance.merged,
        )


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Steps of an output, the size of its original, and how to read the output.

    `value` is the type of its values: number, text, or None without values. `time_unit` and `zone` are None
    without times. `inert` says whether texts that a spreadsheet would execute have an apostrophe.
    """

    fingerprint: str
    renumbered: bool
    original: OriginalSize
    value: str | None
    time_unit: str | None
    zone: str | None
    step_reports: tuple[StepReport, ...]
    inert: bool = False

    @classmethod
    def of(cls, safer: Sanitized, inert: bool = False) -> "Sidecar":
        """Sidecar of a sanitized release."""
        return cls(
            fingerprint=safer.fingerprint,
            renumbered=safer.renumbered,
            original=OriginalSize.of(safer.original),
            value=None if safer.levels is None else "text" if isinstance(safer.levels, tuple) else "number",
            time_unit=None if safer.clock is None else safer.clock.unit,
            zone=None if safer.clock is None else safer.clock.zone,
            step_reports=safer.step_reports,
            inert=inert,
        )

    def to_json(self) -> bytes:
        """Content of the file."""
        size = self.original
        content = {
            "format": FORMAT,
            "version": VERSION,
            "written by": f"standout {__version__}",
            "ids": NOTE[self.renumbered],
            "fingerprint": self.fingerprint,
            "renumbered": self.renumbered,
            "original": {
                "records": size.records,
                "items": size.items,
                "entries": size.entries,
                "repeats": size.repeats,
                "merged rows": size.merged_rows,
            },
            "value": self.value,
            "time_unit": self.time_unit,
            "zone": self.zone,
            **({"inert": True} if self.inert else {}),
            "done": [_report_to_json(report) for report in self.step_reports],
        }
        return dump_with_checksum(content)

    @classmethod
    def read(cls, path: Path) -> "Sidecar":
        """Read a sidecar; raises a SourceError that says why it cannot be used."""
        try:
            content = json.loads(path.read_bytes())
            if content["format"] != FORMAT or content["version"] != VERSION:
                raise SourceError(
                    f"{path} is not a sidecar that this version of Standout can read: sanitize again"
                )
            if content.get("content") == "table":
                raise SourceError(f"{path} is the sidecar of a table: read its original with so.read_table")
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
    def _from_json(cls, content: Any) -> "Sidecar":
        """Make a sidecar of parsed JSON, whose shape nothing has checked yet."""
        texts = [content[name] for name in ("fingerprint", "value", "time_unit", "zone")]
        if type(content["renumbered"]) is not bool:
            raise ValueError("renumbered")
        if not all(isinstance(text, (str, type(None))) for text in texts):
            raise ValueError("a text")
        fingerprint, value, unit, zone = texts
        original = content["original"]
        reports = tuple(map(_report_from_json, content["done"]))
        _check_entries(int(original["entries"]), reports)
        return cls(
            fingerprint=str(fingerprint),
            renumbered=content["renumbered"],
            original=OriginalSize(
                records=int(original["records"]),
                items=int(original["items"]),
                entries=int(original["entries"]),
                repeats=str(original["repeats"]),
                merged_rows=int(original["merged rows"]),
            ),
            value=value,
            time_unit=unit,
            zone=zone,
            step_reports=reports,
            inert=inert_flag(content),
        )


def inert_flag(content: dict[str, Any]) -> bool:
    """Whether the output has an apostrophe before texts that a spreadsheet would execute."""
    flag = content.get("inert", False)
    if type(flag) is not bool:
        raise ValueError("inert")
    return flag


def _check_entries(entries: int, reports: tuple[StepReport, ...]) -> None:
    """Check that the steps account for every entry: before = after + removed + merged - added."""
    for report in reports:
        counts = report.counts
        gone = counts["entries removed"] + counts["entries merged"] - counts["entries added"]
        if counts["entries before"] != entries or counts["entries"] + gone != entries:
            raise ValueError("entries")
        entries = int(counts["entries"])


def _report_to_json(report: StepReport) -> JsonObject:
    content: JsonObject = {"step": report.step, "counts": {**report.counts}}
    if report.bins is not None:
        content["bins"] = {"edges": [*report.bins.edges], "tells": [*report.bins.values]}
    return content


def _report_from_json(content: Any) -> StepReport:
    bins = content.get("bins")
    counts = {str(name): count for name, count in content["counts"].items()}
    if bins is None:
        return StepReport(str(content["step"]), counts)
    edges, values = (tuple(map(float, bins[name])) for name in ("edges", "tells"))
    if len(values) != len(edges) + 1:
        raise ValueError("bins")
    return StepReport(str(content["step"]), counts, Bins(edges, values))
