"""Run the notebooks and write them with their outputs.

The outputs are committed, so that the notebooks can be read on the web without being run. They contain no
times, no paths and no version of Python. Tests run the notebooks and compare what they print.

    python -m tools.notebooks              all of them
    python -m tools.notebooks notebooks/link-two-data-sets.ipynb
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "notebooks"
SECONDS = 600
"""Limit for one cell, on a machine that has to compile first."""


def paths() -> list[Path]:
    """All notebooks."""
    return sorted(FOLDER.glob("*.ipynb"))


def run(path: Path) -> Any:
    """The notebook with fresh outputs; it runs in an empty folder."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            record_timing=False,
        )
        client.execute()
    return tidy(notebook)


def tidy(notebook: Any) -> Any:
    """Remove what differs between two runs: finished progress bars, metadata, random ids of cells."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number}", {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _is_bar(output)]
            for output in cell.outputs:
                if "metadata" in output:
                    output.metadata = {}
    return notebook


def _is_bar(output: Any) -> bool:
    """Whether an output is the empty place of a progress bar, or one that was not removed yet."""
    html = output.get("data", {}).get("text/html")
    return html is not None and (not html or html.startswith("<progress"))


def texts(notebook: Any) -> list[str]:
    """What the cells print, as text."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]


def main() -> None:
    """Run and write the notebooks that are named; default: all."""
    for path in [Path(name) for name in sys.argv[1:]] or paths():
        notebook = run(path)
        nbformat.validate(notebook)
        nbformat.write(notebook, path)
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
