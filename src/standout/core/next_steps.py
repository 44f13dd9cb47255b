"""What to do after an error: the parameters that the next try needs."""

from typing import NamedTuple

__all__ = ["NextStep", "next_step_text"]


class NextStep(NamedTuple):
    """Parameters with which a source can be read, and what they mean if there is a choice."""

    meaning: str
    parameters: dict[str, str]

    def __str__(self) -> str:
        """Parameters as they are written in Python."""
        return ", ".join(
            f"{name}={value if value.isdecimal() else repr(value)}" for name, value in self.parameters.items()
        )


def next_step_text(texts: list[str], steps: tuple[NextStep, ...]) -> str:
    """Return the last sentence of an error: what to run next, or a choice."""
    parts = [
        f"{step.meaning}: {text}" if step.meaning else text for step, text in zip(steps, texts, strict=True)
    ]
    return f" Read it with {' — or '.join(parts)}" if parts else ""
