"""Types of parsed JSON."""

from typing import TYPE_CHECKING, TypeAlias

__all__ = ["Json", "JsonObject"]

if TYPE_CHECKING:
    Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
else:  # a recursive alias cannot be evaluated when a schema is generated from annotations
    Json = object
JsonObject: TypeAlias = dict[str, Json]
