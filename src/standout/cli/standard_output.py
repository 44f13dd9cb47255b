"""Standard output that cannot take every character, is full, or is closed."""

import codecs
import errno
import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["CLOSED", "printing_error", "set_up_output"]

CLOSED = "standard output is closed: redirect it to a file or to /dev/null"
PLAIN = {
    "–": "-", "—": "-", "−": "-", "‑": "-", "…": "...", "×": "x", "≤": "<=", "≥": ">=", "≈": "~", "±": "+-",
    "≠": "!=", "→": "->", "φ": "phi", "θ": "theta", "ε": "epsilon", "σ": "sigma", "’": "'", "‘": "'",
    "“": '"', "”": '"', "·": "-", "•": "-", "√": "sqrt", "\u00a0": " ", "\u202f": " ", "\u2009": " ",
}  # fmt: skip
"""How characters that Standout prints are written where the encoding lacks them."""


class _Output(io.FileIO):
    """Standard output that remembers why it could not be written, and takes nothing more then."""

    failure: OSError | None = None

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data) or 0
        except BlockingIOError:
            raise
        except OSError as error:
            _Output.failure = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            raise


def set_up_output() -> None:
    """Print characters that the encoding of a stream lacks in another way instead of failing.

    Names of files that are not valid text are shown with escapes.
    """
    codecs.register_error("standout", _replaced)
    real = sys.__stdout__
    if real is not None and sys.stdout is real:
        raw = io.BufferedWriter(_Output(real.fileno(), "wb", closefd=False))
        sys.stdout = io.TextIOWrapper(raw, real.encoding, line_buffering=real.line_buffering)
    if sys.stderr is None:  # it is closed: errors have no reader, and the exit code says enough
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  (it stays open)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="standout")


def printing_error() -> str | None:
    """Write what is still to be printed; return why something could not be printed, None if all was.

    The reason is empty if the reader has closed a pipe: it wants no more.
    """
    with suppress(OSError):
        sys.stdout.flush()
    error = _Output.failure
    if error is None:
        return None
    return "" if error.errno == errno.EPIPE else f"standard output cannot be written: {error.strerror}"


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    """Text in place of the characters that cannot be written."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    texts = (PLAIN.get(letter) or letter.encode("ascii", "backslashreplace").decode() for letter in lacking)
    return "".join(texts), error.end
