"""The page: one file, nothing from elsewhere, every text of a user escaped."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mercer.data import DataError
from mercer.reports.blocks import (
    Drawn,
    Fact,
    Facts,
    Formula,
    Letter,
    Page,
    Picture,
    Pictures,
    Section,
    Share,
    Table,
    Words,
)
from mercer.reports.page import Report, html

HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(1)> & {{ 7 * 7 }}"
SVG = Drawn(
    '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="4" height="4"/></svg>', HOSTILE
)
VOID = {"meta", "br", "img", "link", "hr", "input"}


class Outline(HTMLParser):
    """Tags that are open, and all that were met with their attributes and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.met: list[tuple[str, dict[str, Any]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.met.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.met.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def outline(text: str) -> Outline:
    found = Outline()
    found.feed(text)
    assert not found.open
    return found


def page(word: str = "word") -> Page:
    blocks: list[Any] = [
        Facts([Fact(word, word, word)]),
        Words(word),
        Formula(word, word),
        Table(word, [word, "n"], [[word, Share(word, 0.5)], [SVG, [Letter("<", 1.0), Letter("A", -0.5)]]], (1,)),
        Pictures([Picture(SVG, word, wide=True)]),
    ]
    return Page(word, word, [Fact(word, word, word)], [Section("Some words", word, blocks)], word, [word])


def test_every_text_is_escaped() -> None:
    found = outline(html(page(HOSTILE)))
    assert {tag for tag, _ in found.met} & {"script", "img", "iframe"} == set()
    assert not any(name.startswith("on") for _, attributes in found.met for name in attributes)
    assert sum(HOSTILE in text for text in found.texts) >= 12  # as they are, and not computed


def test_nothing_comes_from_elsewhere() -> None:
    found = outline(html(page()))
    names = [(name, value) for _, attributes in found.met for name, value in attributes.items()]
    assert not [value for name, value in names if name in ("src", "xlink:href", "srcset")]
    assert all(value.startswith("#") for name, value in names if name == "href")
    policy = next(a["content"] for tag, a in found.met if tag == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'")


def test_what_a_reader_of_screens_needs() -> None:
    found = outline(html(page()))
    assert ("html", {"lang": "en"}) in found.met
    drawings = [a for _, a in found.met if a.get("role") == "img"]
    assert len(drawings) == 2
    assert all(a["aria-label"] for a in drawings)
    assert all(a.get("scope") == "col" for tag, a in found.met if tag == "th")
    anchors = {a["id"] for tag, a in found.met if tag == "h2"}
    assert anchors == {a["href"][1:] for tag, a in found.met if tag == "a"}


@pytest.mark.parametrize(
    "svg", ["<svg><script>1</script></svg>", '<svg onload="f()"></svg>', '<svg><a href="javascript:f()"/></svg>']
)
def test_a_drawing_with_a_script_is_refused(svg: str) -> None:
    with pytest.raises(ValueError, match="script"):
        html(Page("a", "b", [], [Section("c", "d", [Pictures([Picture(Drawn(svg, "e"), "f")])])], "g"))


def test_words_in_a_drawing_are_no_attributes() -> None:
    svg = "<svg><text>one = 1 &lt; two</text></svg>"
    assert svg in html(Page("a", "b", [], [Section("c", "d", [Pictures([Picture(Drawn(svg, "e"), "f")])])], "g"))


def test_saved_shown_and_told(tmp_path: Path) -> None:
    report = Report(page(), "in short")
    path = report.save(tmp_path / "page.html")
    assert path.read_text("utf-8") == report.html
    assert str(report) == "in short"
    assert repr(report) == "<Report: word>"
    frame = outline(report._repr_html_())
    assert frame.met[0][0] == "iframe"
    assert frame.met[0][1]["srcdoc"] == report.html
    with pytest.raises((DataError, OSError)):
        report.save(tmp_path / "nowhere" / "page.html")
