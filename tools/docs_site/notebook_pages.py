"""Notebooks as pages of the site: text and code. Outputs are left out; running a notebook shows them."""

import json
from pathlib import Path


def notebook_page(notebook: Path) -> str:
    """The notebook as Markdown, with a line on how to run it after the title."""
    title, *parts = map(_cell, json.loads(notebook.read_text(encoding="utf-8"))["cells"])
    heading, _, rest = title.partition("\n")
    how = f"This page shows the code of `notebooks/{notebook.name}`. Open that file in Jupyter to run it."
    return "\n\n".join([heading, f"*{how}*", rest.strip(), *parts]) + "\n"


def _cell(cell: dict[str, object]) -> str:
    source = cell["source"]
    text = (
        source if isinstance(source, str) else "".join(map(str, source)) if isinstance(source, list) else ""
    )
    return text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```"
