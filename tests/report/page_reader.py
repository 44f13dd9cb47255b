"""Reads an HTML page for tests: its tags, ids, links, headings, drawings and text."""

from collections import Counter
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}
HEADINGS = ("h1", "h2", "h3", "h4")
LOADING = {"src", "srcset", "data", "poster", "action", "background", "xlink:href"}
"""Attributes that would load something."""


class Page(HTMLParser):
    """The parts of a page; fails if tags are not closed in order or an attribute loads something."""

    def __init__(self, text):
        super().__init__()
        self.open, self.links = [], []
        self.tags, self.ids = Counter(), Counter()
        self.policy = self.style = ""
        self.headings, self.between, self.drawings, self.words = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        attributes_by_name = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        self.tags[tag] += 1
        self.ids.update([attributes_by_name["id"]] if "id" in attributes_by_name else [])
        assert not any(name.startswith("on") or name == "style" for name in attributes_by_name)
        assert not attributes_by_name.keys() & LOADING
        for name, value in attributes_by_name.items():
            assert "://" not in (value or "") or name.startswith("xmlns")
        if "href" in attributes_by_name:
            self.links.append(attributes_by_name["href"])
        if attributes_by_name.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes_by_name["content"]
        if tag in HEADINGS:
            self.headings.append((int(tag[1]), ""))
            self.between.append("")
        if tag == "svg":
            assert attributes_by_name["role"] == "img"
            self.drawings.append({})

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data):
        if "style" in self.open:
            self.style += data
            return
        self.words.append(data)
        if "svg" in self.open:
            self.drawings[-1][self.open[-1]] = self.drawings[-1].get(self.open[-1], "") + data
        elif self.headings and self.open and set(self.open) & set(HEADINGS):
            level, words = self.headings[-1]
            self.headings[-1] = level, words + data
        elif self.between:
            self.between[-1] += data

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())
