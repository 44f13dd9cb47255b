"""Links lead somewhere; the site has every page and public name, and loads nothing from other hosts."""

import json
import re
from pathlib import Path

import pytest
import yaml
from tools.docs_site.api_pages import api_links, api_pages, sections
from tools.docs_site.links import CODE_BLOCK, anchors, broken_links, targets
from tools.docs_site.other_hosts import other_hosts
from tools.docs_site.pages import NOTEBOOKS, OTHER_PAGES, for_site
from tools.docs_site.schema_pages import SCHEMAS, schema_page

import standout as so
from standout.cli.command_group import cli

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
API = (DOCS / "api.md").read_text(encoding="utf-8")
PAGES = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]


def in_navigation(part):
    """Yield the pages of a part of the navigation."""
    for entry in part.values() if isinstance(part, dict) else part:
        yield from [entry] if isinstance(entry, str) else in_navigation(entry)


def test_every_link_of_the_repository_leads_to_a_file_and_a_heading():
    assert sum(len(list(targets(page.read_text(encoding="utf-8")))) for page in PAGES) > 100
    assert broken_links(PAGES, ROOT) == []


def test_every_page_that_the_code_mentions_exists():
    code = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    mentioned = {name for text in code for name in re.findall(r"docs/([\w-]+\.md)", text)}
    assert mentioned and not [name for name in mentioned if not (DOCS / name).exists()]


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "other.md").write_text("# A heading: `code`, twice\n\n## Same\n\n## Same\n")
    page = tmp_path / "page.md"
    right = "[a](other.md#a-heading-code-twice) [b](other.md#same-1) [`c`](other.md) [d](https://example.org/x)"
    page.write_text(f"{right}\n\n`[no](link.md)`\n\n    [no](link.md)\n\n```\n[no](link.md)\n```\n")
    assert broken_links([page], tmp_path) == []
    for wrong in ("gone.md", "other.md#same-2", "#gone", "../outside.md"):
        page.write_text(f"{right}\n[text `with code`]({wrong})\n")
        assert broken_links([page], tmp_path) == [f"page.md: {wrong}"]
    page.write_text('<img src="gone.png" alt="">')
    assert broken_links([page], tmp_path) == ["page.md: gone.png"]


def test_headings_in_code_are_no_anchors():
    assert anchors("# One\n\n```\n# Two\n```\n") == {"one"}


def test_the_api_reference_has_every_public_name_once():
    listed = [name for names in sections(API).values() for name in names]
    assert sorted(listed) == sorted(set(so.__all__) - {"__version__"})


def test_the_navigation_has_every_page_once():
    pages = [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")]
    pages += [*api_pages(API), *(f"{name}-schema.md" for name in SCHEMAS)]
    pages += [path for name, path in OTHER_PAGES.items() if name != "README.md"]
    pages += [f"notebooks/{path.stem}.md" for path in NOTEBOOKS]
    navigation = list(in_navigation(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    assert sorted(navigation) == sorted(pages)


def test_links_of_a_page_lead_to_the_same_place_in_the_site():
    def shown(text, page="docs/audit.md", path="audit.md"):
        return for_site(text, ROOT / page, Path(path), api_links(API))

    assert (
        shown("[a](tables.md#x) [b](#c) [d](https://example.org)")
        == "[a](tables.md#x) [b](#c) [d](https://example.org)"
    )
    assert shown("[a](docs/audit.md)", "CHANGELOG.md", "changelog.md") == "[a](audit.md)"
    assert shown("[a](../CONTRIBUTING.md#b)") == "[a](contributing.md#b)"
    assert shown("[a](../README.md#one-audit-for-every-kind-of-data)") == "[a](index.md)"
    assert shown("[a](../notebooks/audit-your-csv.ipynb)") == "[a](notebooks/audit-your-csv.md)"
    assert shown("[tables.md](tables.md#x)") == "[Tables: one row per person](tables.md#x)"
    assert shown("[the code](../src/standout/fact.py)") == "the code"
    assert (
        shown("`so.read` [`so.read`](audit.md)") == "[`so.read`](api/read-data.md#standout.read) [`so.read`](audit.md)"
    )
    assert shown("```python\n>>> `so.read`\n```\n") == "```pycon\n>>> `so.read`\n```\n"


def test_every_key_of_a_schema_is_on_its_page():
    for name, title in SCHEMAS.items():
        schema = json.loads((DOCS / f"{name}.schema.json").read_text())
        page = schema_page(DOCS / f"{name}.schema.json", title)
        for part in [schema, *schema["$defs"].values()]:
            assert all(f"| `{key}`" in page for key in part.get("properties", {}))
        assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= anchors(page)


@pytest.mark.parametrize(
    "part",
    [
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<link rel="preconnect" href="https://example.org">',
        '<img src="http://example.org/a.png">',
        "<style>@import url(https://example.org/a.css)</style>",
    ],
)
def test_what_a_page_loads_from_another_host_is_found(tmp_path, part):
    page = tmp_path / "page.html"
    page.write_text('<a href="https://example.org">a link</a><script src="a.js"></script><img src="data:image/png,">')
    assert other_hosts(tmp_path) == []
    page.write_text(part)
    assert len(other_hosts(tmp_path)) == 1


def test_pictures_of_the_documentation_have_a_script_and_a_text():
    scripts = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tools").rglob("*.py"))
    pictures = [*DOCS.rglob("*.png"), *DOCS.rglob("*.svg")]
    assert pictures and all(re.search(rf"\b{picture.stem.split('-')[0]}\b", scripts) for picture in pictures)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"!\[\]\(|<img (?![^>]*alt=\"[^\"]+)", text), page.name


def shown_commands(text):
    """Yield the words of each command of Standout that a page shows in a block of code."""
    joined = re.sub(r" *\\\n *", " ", text)
    for line in re.findall(r"^(?: {4}|\$ |)+(standout [a-z].*)$", joined, re.M):
        words = re.split(r"\s{2,}|\s#", line)[0].split()
        yield [word.strip("'\"") for word in words]


def test_commands_that_the_documentation_shows_have_these_options():
    seen = 0
    for page in PAGES:
        blocks = "\n\n".join(block[0] for block in CODE_BLOCK.finditer(page.read_text(encoding="utf-8")))
        for _, name, *words in shown_commands(blocks if page.name != "cli.md" else ""):
            assert name in cli.commands, f"{page.name}: standout {name}"
            options = {text for parameter in cli.commands[name].params for text in parameter.opts}
            used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
            assert used <= options | {"--help"}, f"{page.name}: standout {name} {used - options}"
            seen += 1
    assert seen > 50
