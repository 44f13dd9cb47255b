"""Versions of the software that findings name."""

import platform
from importlib.metadata import PackageNotFoundError, version

from standout._version import __version__

__all__ = ["software_versions"]


def software_versions() -> dict[str, str]:
    """Versions by name."""
    versions = {"standout": __version__, "python": platform.python_version()}
    for name in ("numpy", "numba", "polars"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "unknown"
    return versions
