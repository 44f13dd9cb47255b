"""Exit codes of the commands. 0 is success, 2 wrong usage."""

__all__ = ["BUG", "ERROR", "INTERRUPTED", "LIMIT_EXCEEDED", "NOT_TRUSTED"]

ERROR = 1
"""An error that is explained in one line."""
INTERRUPTED = 3
"""The run was interrupted; running the same command again resumes it where a checkpoint exists."""
LIMIT_EXCEEDED = 4
"""The risk may exceed `--fail-above`, or no candidate meets the limit of `advise --fail`."""
NOT_TRUSTED = 5
"""The audit failed its own checks: its numbers must not be used."""
BUG = 70
"""An error of Standout itself (EX_SOFTWARE of sysexits.h)."""
