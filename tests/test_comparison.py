"""The page that compares Standout with other tools."""

import re
from pathlib import Path

import pytest
from benchmarks.other_table_tools import PACKAGES

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "comparison.md").read_text()
TOOLS = dict(re.findall(r"^\| \*\*(.+?)\*\* \| (\S+) \|", PAGE, re.M))


def test_every_tool_has_a_version_and_says_what_it_does_that_standout_does_not():
    theirs = PAGE.partition("## What they do and Standout does not")[2].partition("## What Standout does")[0]
    for tool in ("ARX", "sdcMicro", "Anonymeter", "pyCANON", "scikit-mobility", "Splink"):
        assert re.fullmatch(r"\d+(\.\d+)+", TOOLS[tool]), tool
        assert f"- **{tool}** " in theirs, tool


@pytest.mark.parametrize("tool", ["pyCANON", "Anonymeter"])
def test_the_page_is_about_the_versions_that_were_measured(tool):
    assert PACKAGES[tool.lower()] == f"{tool.lower()}=={TOOLS[tool]}"


def test_the_page_is_about_the_version_of_splink_that_was_measured():
    assert f"| Splink {TOOLS['Splink']} |" in (DOCS / "linking.md").read_text()


def test_every_link_of_the_page_leads_to_a_page_and_a_heading():
    for name, anchor in re.findall(r"\]\((\S+?\.md)(?:#(\S+))?\)", PAGE):
        text = (DOCS / name).read_text()
        headings = re.findall(r"^#+ (.+)$", text, re.M)
        anchors = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
        assert not anchor or anchor in anchors, (name, anchor)
