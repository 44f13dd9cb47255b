"""The notebooks run, and show what they compute."""

import nbformat
import pytest
from tools.docs_site.notebook_pages import notebook_page
from tools.notebooks import paths, run, texts

pytestmark = pytest.mark.once


@pytest.mark.slow
@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_a_notebook_prints_what_is_committed(path):
    assert texts(run(path)) == texts(nbformat.read(path, as_version=4)), "run make notebooks"


def test_there_are_notebooks_without_traces_of_a_machine():
    assert len(paths()) >= 3
    for path in paths():
        notebook = nbformat.read(path, as_version=4)
        assert notebook.metadata.language_info == {"name": "python"}
        assert all(not cell.metadata for cell in notebook.cells)
        assert all(cell.outputs for cell in notebook.cells if cell.cell_type == "code"), path.name


def test_a_page_of_a_notebook_has_its_code_and_its_outputs():
    for path in paths():
        text = notebook_page(path)
        assert text.startswith("# ") and "```python" in text and 'class="standout-view"' in text
        assert "data:image/svg+xml;base64," in text and "<script" not in text
