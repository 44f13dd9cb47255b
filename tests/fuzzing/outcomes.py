"""What may happen in a round: a result, or one line that shows no cell."""

import warnings

import standout as so

__all__ = ["READ", "SECRET", "LeakError", "attempt", "check_text", "one_line"]

SECRET = "Zq7Jx"
"""Part of ids and values in the good files. No message may contain it."""
READ = "read"


class LeakError(AssertionError):
    """A message shows the content of a cell."""


def attempt(use, secret=True, expected=so.ReadingWarning):
    """Call a function: "read", or the error's name and line. Warnings of other classes are failures."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", expected)
        try:
            use()
            outcome = READ
        except so.StandoutError as error:
            outcome = f"{type(error).__name__}: {one_line(error)}"
    if secret:
        for text in (outcome, *[str(warning.message) for warning in caught]):
            check_text(text)
    return outcome


def one_line(error):
    """The message of an error, which must be one printable line."""
    text = str(error)
    if not text or "\n" in text or "\x1b" in text:
        raise AssertionError(f"not one printable line: {text!r}")
    return text


def check_text(text):
    """Raise if a text that a user sees shows a cell."""
    if SECRET in text:
        raise LeakError(f"shows the content of a cell: {text!r}")
