"""Optional parts of Standout: how to install what they need.

The packages themselves are named, not the extra: Standout is not in a package index yet, and a package of its
name there would be a stranger's.
"""

import re

__all__ = ["EXTRAS", "install_command", "pip_install"]

EXTRAS = {
    "cluster": ("cryptography>=42", "dask>=2026.8", "distributed>=2026.8"),
    "duckdb": ("duckdb>=1.4", "pyarrow"),
    "explore": ("starlette>=1", "uvicorn>=0.40"),
    "pandas": ("pandas", "pyarrow"),
    "prediction": ("scikit-learn>=1.4",),
    "remote": ("aiohttp", "fsspec>=2024.6"),
}
"""The extras of pyproject.toml that are for users."""


def install_command(extra: str) -> str:
    """The command that installs what an extra adds, for messages.

    >>> install_command("explore")
    "pip install 'starlette>=1' 'uvicorn>=0.40'"
    """
    return pip_install(*EXTRAS[extra])


def pip_install(*requirements: str) -> str:
    """The command that installs these packages, for messages."""
    return f"pip install {' '.join(map(_quoted, requirements))}"


def _quoted(requirement: str) -> str:
    return requirement if re.fullmatch(r"[\w.-]+", requirement) else f"'{requirement}'"
