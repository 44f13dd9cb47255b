"""Take a release, or read one, so that functions accept a path or a frame directly."""

from pathlib import Path
from typing import Any

from standout.core.errors import ParameterError
from standout.core.frame_export import FrameExport
from standout.release.model import Release

__all__ = ["as_release"]


def as_release(source: Any, name: str = "release") -> Release:
    """Return a release as it is; read anything else that `standout.read` reads, with its default options.

    Parameters
    ----------
    source
        A release, a path or URL, a list of them, or a frame.
    name
        Name of the parameter in messages.

    Returns
    -------
    Release
        The release.

    Raises
    ------
    ParameterError
        If it is none of these.

    Examples
    --------
    >>> import polars as pl
    >>> as_release(pl.DataFrame({"user": ["7"], "film": ["Brazil"]})).n_records
    1
    """
    if isinstance(source, Release):
        return source
    is_path = isinstance(source, (str, Path, list, tuple))
    is_frame = type(source).__module__.startswith(("polars", "pandas"))
    is_stream = hasattr(source, "__arrow_c_stream__") and not isinstance(source, FrameExport)
    if not (is_path or is_frame or is_stream):  # a FrameExport is a result of Standout, such as a table
        raise ParameterError(
            f"{name} must be a Release, a path or a frame, got {type(source).__name__}: "
            "read it with so.read(…)"
        )
    from standout.ingest.read import read

    return read(source)
