"""The files of the page: data can become text only, nothing is inline, and nothing comes from elsewhere."""

import re
from importlib.resources import files

import pytest

pytestmark = pytest.mark.once
PACKAGE = files("standout.explore")
SCRIPTS = sorted(path.name for path in (PACKAGE / "static").iterdir() if path.name.endswith(".js"))
STYLES = sorted(path.name for path in (PACKAGE / "static").iterdir() if path.name.endswith(".css"))
TEMPLATES = sorted(path.name for path in (PACKAGE / "templates").iterdir() if path.name.endswith(".html"))
MARKUP_FROM_TEXT = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|setHTML"


def source(folder, name):
    return (PACKAGE / folder / name).read_text(encoding="utf-8")


def test_scripts_make_text_of_data_and_keep_nothing():
    for name in SCRIPTS:
        text = source("static", name)
        assert not re.search(MARKUP_FROM_TEXT, text)
        assert not re.search(r"localStorage|sessionStorage|indexedDB|document\.cookie", text)
        assert set(re.findall(r"https?://[^\"'`\s]+", text)) <= {"http://www.w3.org/2000/svg"}
        assert len(text.splitlines()) < 400


@pytest.mark.parametrize("name", STYLES)
def test_styles_load_nothing(name):
    assert not re.search(r"@import|url\(|@font-face", source("static", name))


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_have_no_inline_code_and_trust_no_text(name):
    text = source("templates", name)
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|\|\s*safe|autoescape false", text)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))
    assert not re.search(r"(?:src|href)=\"(?!/|data:,)", text)


def test_every_name_that_the_script_looks_up_is_on_the_page():
    page = source("templates", "index.html") + source("templates", "top.html")
    names = {name for script in SCRIPTS for name in re.findall(r'byId\("([\w-]+)"\)', source("static", script))}
    assert {name for name in names if f'id="{name}"' not in page} <= {"adversary"}
