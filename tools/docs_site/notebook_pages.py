"""Notebooks as pages of the site: text, code and outputs. The site needs no plug-in and runs no notebook."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FRAME = '<table border="1" class="dataframe">'
"""The beginning of a Polars frame. The theme styles only tables without a class."""


def notebook_page(notebook: Path) -> str:
    """The notebook as Markdown, with a line on how to run it after the title."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    title, *parts = (part for cell in cells for part in _parts(cell))
    heading, _, rest = title.partition("\n")
    how = f"This page shows `notebooks/{notebook.name}` as it was run. Open that file in Jupyter to change it."
    return "\n\n".join([heading, f"*{how}*", rest.strip(), *parts]) + "\n"


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    source = _text(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    yield from map(_output, cell["outputs"])


def _output(output: dict[str, Any]) -> str:
    """An output: HTML as it is but without empty lines, which would end it; a picture; or text."""
    data = output.get("data", {})
    if "text/html" in data:
        html = _text(data["text/html"]).replace(FRAME, "<table>")
        return "\n".join(line for line in html.splitlines() if line.strip())
    if "image/svg+xml" in data:
        picture = base64.b64encode(_text(data["image/svg+xml"]).encode()).decode()
        return f'<img alt="Chart" src="data:image/svg+xml;base64,{picture}">'
    return f"```text\n{_text(output.get('text') or data.get('text/plain', '')).rstrip()}\n```"


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)
