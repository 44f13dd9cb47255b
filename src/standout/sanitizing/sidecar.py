"""The sidecar of a sanitized output: what was done to it, in a file beside it that can be published with it.

It names neither a person nor the original, and not the seed: with that, noise and new ids could be undone.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from standout._version import __version__
from standout.core.errors import SourceError, StandoutError
from standout.sanitized import Bins, Sanitized, StepReport

__all__ = ["Sidecar", "is_sidecar", "sidecar_path"]

FORMAT, VERSION = "standout sanitized", 1
NOTE = {
    True: "records have new ids: the original's ids are not in it",
    False: "records have the original's ids",
}


def sidecar_path(output: Path) -> Path:
    """Where the sidecar of an output lies."""
    return output.with_name(f"{output.name}.sanitized.json")


def is_sidecar(path: Path) -> bool:
    """Whether a file is a sidecar of ours, as a killed run may have left it without its output."""
    try:
        with path.open("rb") as file:
            return f'"{FORMAT}"'.encode() in file.read(1 << 10)
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Sidecar:
    """What was done, how large the original was, and how to read the output.

    `value` is what its values are: number, text or None where it has none; `time_unit` and `zone` likewise.
    """

    fingerprint: str
    renumbered: bool
    original: dict[str, int]
    value: str | None
    time_unit: str | None
    zone: str | None
    step_reports: tuple[StepReport, ...]

    @classmethod
    def of(cls, safer: Sanitized) -> "Sidecar":
        sizes = safer.original.n_records, safer.original.n_items, safer.original.n_entries
        return cls(
            safer.fingerprint,
            safer.renumbered,
            dict(zip(("records", "items", "entries"), sizes, strict=True)),
            None if safer.levels is None else "text" if isinstance(safer.levels, tuple) else "number",
            None if safer.clock is None else safer.clock.unit,
            None if safer.clock is None else safer.clock.zone,
            safer.step_reports,
        )

    def to_json(self) -> bytes:
        head = {"format": FORMAT, "version": VERSION, "written by": f"standout {__version__}"}
        content = head | {"ids": NOTE[self.renumbered], **asdict(self)}
        del content["step_reports"]
        content["done"] = [_report_to_json(report) for report in self.step_reports]
        return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()

    @classmethod
    def read(cls, path: Path) -> "Sidecar":
        """The sidecar in a file, or an error that says why it cannot be used."""
        try:
            told = json.loads(path.read_bytes())
            if told["format"] != FORMAT or told["version"] != VERSION:
                raise SourceError(f"{path} is not a sidecar that this Standout reads")
            return cls._checked(told)
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, StandoutError):
                raise
            raise SourceError(f"{path} is damaged: it makes no sense") from error

    @classmethod
    def _checked(cls, told: dict[str, Any]) -> "Sidecar":
        sizes = {name: int(told["original"][name]) for name in ("records", "items", "entries")}
        texts = [told[name] for name in ("fingerprint", "value", "time_unit", "zone")]
        if type(told["renumbered"]) is not bool or not all(
            isinstance(one, (str, type(None))) for one in texts
        ):
            raise ValueError("kinds")
        fingerprint, value, unit, zone = texts
        return cls(
            str(fingerprint),
            told["renumbered"],
            sizes,
            value,
            unit,
            zone,
            tuple(map(_report_from_json, told["done"])),
        )


def _report_to_json(report: StepReport) -> dict[str, Any]:
    content: dict[str, Any] = {"step": report.step, "counts": report.counts}
    if report.bins is not None:
        content["bins"] = {"edges": report.bins.edges, "tells": report.bins.values}
    return content


def _report_from_json(content: dict[str, Any]) -> StepReport:
    bins = content.get("bins")
    counts = {str(name): count for name, count in content["counts"].items()}
    if bins is None:
        return StepReport(str(content["step"]), counts)
    edges, values = (tuple(map(float, bins[name])) for name in ("edges", "tells"))
    if len(values) != len(edges) + 1:
        raise ValueError("bins")
    return StepReport(str(content["step"]), counts, Bins(edges, values))
