"""Turns docs/NAME.md in a docstring into a link, where mkdocstrings shows it: see mkdocs.yml."""

import re
from typing import Any

import griffe

MENTION = re.compile(r"docs/([\w-]+)\.md(#[\w-]+)?")


class DocstringLinks(griffe.Extension):
    """Changes docstrings after they were collected."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Make links of the pages that a docstring mentions; pages of the API are one folder below."""
        if obj.docstring:
            obj.docstring.value = MENTION.sub(r"[docs/\1.md](../\1.md\2)", obj.docstring.value)
