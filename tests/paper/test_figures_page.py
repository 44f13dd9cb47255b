"""The page: it runs nothing, loads nothing, escapes the data, and says which data it shows."""

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import standout as so
from standout.data.labels import Provenance
from standout.paper.reproduce import Reproduction

pytestmark = pytest.mark.once

SMALL = {"targets": 3, "seed": 1, "threads": 1}


class Page(HTMLParser):
    """The tags, ids, policy and requested resources of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.requests, self.ids, self.policy = Counter(), [], Counter(), ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags[tag] += 1
        self.ids.update([values["id"]] if "id" in values else [])
        self.requests += [values[name] for name in ("src", "srcset", "data", "poster", "action") if name in values]
        self.requests += [values["href"]] if tag == "link" else []
        assert not any(name.startswith("on") or name == "style" for name in values)
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]


def test_the_page_requests_nothing_runs_nothing_and_its_links_work(release, tmp_path):
    text = so.reproduce(release, tmp_path, only="3,7,10,table", **SMALL).page.read_text()
    page = Page(text)
    assert not page.requests
    assert not page.tags.keys() & {"script", "iframe", "object", "embed", "img", "link"}
    assert "default-src 'none'" in page.policy and "unsafe" not in page.policy
    assert page.tags["svg"] == 4 and page.tags["table"] >= 4 and max(page.ids.values()) == 1
    assert set(re.findall(r"(?:url\(|https?://)[^\s\"')]*", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    for link in re.findall(r'href="#([^"]*)"', text):
        assert link in page.ids
    for link in re.findall(r'href="([^#"][^"]*)"', text):
        assert (tmp_path / link).is_file()


def test_text_from_the_data_is_escaped_on_the_page(put, tmp_path):
    path = put("record,item,value\n1,a,1\n2,b,2\n", "<script>alert(1)</script>.csv".replace("/", "_"))
    text = so.reproduce(so.read(path), tmp_path, only="table", **SMALL).page.read_text()
    assert "<script>" not in text and "&lt;script&gt;" in text


def test_the_page_says_which_data_it_shows(release, prize):
    standin = Provenance("synthetic", settings={"like": "netflix", "seed": "1"})
    for shown, text in (
        (release, "not calibrated on any real data"),
        (so.read(prize), "user's own"),
        (replace(release, provenance=standin), "not used to tune"),
    ):
        assert text in Reproduction(prize, shown, 1, 0, {}, True).notes[0]
