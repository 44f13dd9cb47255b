"""How the source of a release was read; kept in the release and in the manifest of its index."""

from dataclasses import asdict, dataclass, field, replace
from typing import TypedDict

__all__ = ["Provenance", "ProvenanceFields"]


class ProvenanceFields(TypedDict):
    """JSON form of a provenance; JSON turns the tuple of files into a list."""

    format: str
    files: tuple[str, ...]
    columns: dict[str, str]
    settings: dict[str, str]
    rows: int
    rejected: dict[str, int]
    repeats: int
    without_value: int
    without_time: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """What was read, how it was interpreted, and what was left out: counts and column names only.

    `rejected` maps each reason to a number of rows. `repeats` is the number of rows dropped because another
    row has the same record and item.
    """

    format: str
    files: tuple[str, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    repeats: int = 0
    without_value: int = 0
    without_time: int = 0

    def to_dict(self) -> ProvenanceFields:
        """Return the fields as a dictionary for JSON."""
        fields: ProvenanceFields = asdict(self)  # type: ignore[assignment]
        return fields

    @classmethod
    def from_dict(cls, fields: ProvenanceFields) -> "Provenance":
        """Make a provenance from the dictionary of a manifest."""
        return replace(cls(**fields), files=tuple(fields["files"]))
