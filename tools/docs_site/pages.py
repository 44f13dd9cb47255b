"""The source of the site: the pages of docs/, with what is generated and what is in other folders.

Nothing in the pages of docs/ is for the site only: links lead to files, so they work in the repository too.
"""

import os
import re
import shutil
from pathlib import Path

from tools.docs_site.api_pages import api_links, api_pages
from tools.docs_site.links import CODE, LINK, outside_blocks
from tools.docs_site.notebook_pages import notebook_page
from tools.docs_site.schema_pages import SCHEMAS, schema_page

ROOT = Path(__file__).parents[2]
SOURCE, SITE = ROOT / "build/site-source", ROOT / "build/site"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
OTHER_PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "vulnerabilities.md",
    "README.md": "index.md",
}
"""Where pages outside docs/ are in the site. The README is not copied: its links lead to the first page."""


def stage() -> None:
    """Write the source of the site to build/site-source."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE, ignore=shutil.ignore_patterns("*.md", "campaign"))
    shutil.copytree(ROOT / "tools/docs_site/assets", SOURCE / "assets")
    pages = {page: page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")}
    pages |= {ROOT / name: Path(path) for name, path in OTHER_PAGES.items() if name != "README.md"}
    links = api_links((ROOT / "docs/api.md").read_text(encoding="utf-8"))
    for page, path in pages.items():
        _write(path, for_site(page.read_text(encoding="utf-8"), page, path, links))
    for path, text in api_pages((ROOT / "docs/api.md").read_text(encoding="utf-8")).items():
        _write(Path(path), text)
    for notebook in NOTEBOOKS:
        path = Path(f"notebooks/{notebook.stem}.md")
        _write(path, for_site(notebook_page(notebook), notebook, path, links))
    for name, title in SCHEMAS.items():
        _write(Path(f"{name}-schema.md"), schema_page(ROOT / f"docs/{name}.schema.json", title))


def for_site(text: str, page: Path, path: Path, names: dict[str, str]) -> str:
    """The text of a page of the repository as a page of the site at `path`."""

    def link(match: re.Match[str]) -> str:
        label, target = match.groups()
        moved = _moved(target, page, path)
        if label.endswith(".md"):
            label = _title(page.parent / target.partition("#")[0])
        return label if moved is None else f"[{label}]({moved})"

    def name(match: re.Match[str]) -> str:
        target = names.get(match[2])
        return match[0] if target is None else f"[{match[0]}]({os.path.relpath(target, path.parent)})"

    def prose(part: str) -> str:
        pieces, end = [], 0
        for match in LINK.finditer(part):  # no links in links
            pieces += [CODE.sub(name, part[end : match.start()]), link(match)]
            end = match.end()
        return "".join([*pieces, CODE.sub(name, part[end:])])

    text = re.sub(r"^```python\n(?=>>> )", "```pycon\n", text, flags=re.MULTILINE)
    return outside_blocks(text, prose)


def _title(page: Path) -> str:
    """The title of a page: in the site, links show it instead of the name of the file."""
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _moved(target: str, page: Path, path: Path) -> str | None:
    """A link of a page, seen from its place in the site; None if the site does not have its target."""
    if re.match(r"[a-z]+:|#", target):
        return target
    name, hash_, anchor = target.partition("#")
    file = (page.parent / name).resolve()
    if file in NOTEBOOKS:
        place = Path("notebooks", file.stem + ".md")
    elif file.is_relative_to(ROOT / "docs") and "campaign" not in file.parts:
        place = file.relative_to(ROOT / "docs")
    elif str(file.relative_to(ROOT)) in OTHER_PAGES:
        place = Path(OTHER_PAGES[str(file.relative_to(ROOT))])
        hash_, anchor = ("", "") if file.name == "README.md" else (hash_, anchor)
    else:
        return None
    return os.path.relpath(place, path.parent) + hash_ + anchor


def _write(path: Path, text: str) -> None:
    (SOURCE / path).parent.mkdir(parents=True, exist_ok=True)
    (SOURCE / path).write_text(text, encoding="utf-8")
