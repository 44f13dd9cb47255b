"""Notebooks as Markdown pages with their outputs, for the documentation site.

Python cells become code blocks, and outputs follow them: HTML as it is, pictures as images in the page,
other outputs as text. The site needs no plug-in for notebooks and runs none of them.

    python -m tools.notebook_pages FOLDER
"""

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "notebooks"


def notebook_pages() -> dict[str, str]:
    """The Markdown of each notebook by the name of its page."""
    return {f"{path.stem}.md": markdown(path) for path in sorted(FOLDER.glob("*.ipynb"))}


def markdown(path: Path) -> str:
    """One notebook as Markdown."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(block.strip("\n") for cell in cells for block in _blocks(cell, path.name)) + "\n"


def _blocks(cell: dict[str, Any], name: str) -> Iterator[str]:
    source = _text(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        if source.startswith("# "):
            yield f"*This page is the notebook `notebooks/{name}`, as it was run.*"
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        yield _output(output)


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return "\n".join(line for line in _text(data["text/html"]).splitlines() if line.strip())
    if "image/svg+xml" in data:
        picture = base64.b64encode(_text(data["image/svg+xml"]).encode()).decode()
        return f'<img alt="chart" src="data:image/svg+xml;base64,{picture}">'
    return f"```text\n{_text(output.get('text') or data.get('text/plain', '')).rstrip()}\n```"


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


def main() -> None:
    """Write the pages into a folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in notebook_pages().items():
        (folder / name).write_text(text, encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
