"""TOML files that people write: schemas and ladders."""

import tomllib
from pathlib import Path
from typing import Any

from standout.core.errors import ParameterError, SourceError

__all__ = ["read_toml"]


def read_toml(path: Path) -> dict[str, Any]:
    """Content of a TOML file in UTF-8; one line says why it cannot be read."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ParameterError(f"{path} is not a TOML file: {error}") from error
    except ValueError as error:
        raise ParameterError(f"{path} has a number with more digits than a number can have") from error
    except RecursionError as error:
        raise ParameterError(f"{path} is nested too deeply for a TOML file of this kind") from error
