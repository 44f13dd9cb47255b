"""How a release came about, told in the release itself and in the manifest of its index."""

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Provenance"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """What was read, how it was understood, and what was left out. Counts and names of columns only."""

    format: str
    files: tuple[str, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    repeats: int = 0
    without_value: int = 0
    without_time: int = 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, told: dict[str, Any]) -> "Provenance":
        return cls(**{**told, "files": tuple(told["files"])})
