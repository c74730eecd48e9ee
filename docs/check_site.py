"""What a built site promises: every link leads somewhere, no page is heavy, nothing is fetched from elsewhere.

``python docs/check_site.py docs/_build/html`` prints what is wrong and ends with 1; ``make docs`` runs it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HEAVIEST = 1_000_000  # bytes of a page with all that it loads, its pictures too
_LOADED = {"script": "src", "img": "src", "link": "href", "source": "src", "object": "data", "iframe": "src"}
_LATER = ("search.html", "genindex.html")  # which load the index of the search


class Page(HTMLParser):
    """Where a page leads, what it loads, and the places in it that can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag in ("a", "area") and given.get("href"):
            self.links.append(given["href"])
        if (loaded := given.get(_LOADED.get(tag, ""))) and given.get("rel") in (None, "stylesheet", "icon", "preload"):
            self.loads.append(loaded)


def troubles(site: Path) -> Iterator[str]:
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts
    }
    places = {path: page.places for path, page in pages.items()}
    for svg in site.rglob("*.svg"):  # charts have links too
        text = svg.read_text(encoding="utf-8")
        copied = {"_static", "_downloads", "_sources"} & set(svg.parts)
        pages |= {svg: Page(text)} if "href=" in text and not copied else {}
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        for link in page.links:
            if said := _broken(site, path, link, places):
                yield f"{name}: {link} {said}"
        weight = path.stat().st_size
        for loaded in dict.fromkeys(page.loads):
            parts = urlsplit(loaded)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                yield f"{name}: {loaded} is fetched from elsewhere"
                continue
            file = _file(site, path, parts.path)
            if not file.is_file():
                yield f"{name}: {loaded} is not there"
            elif not (file.name == "searchindex.js" and name in _LATER):
                weight += file.stat().st_size
        if path.suffix == ".html" and weight > HEAVIEST and name not in _LATER:
            yield f"{name}: weighs {weight / 1e6:.2f} MB with all that it loads; {HEAVIEST / 1e6:g} MB is the most"


def _broken(site: Path, path: Path, link: str, places: dict[Path, set[str]]) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    file = _file(site, path, parts.path) if parts.path else path
    file = file / "index.html" if file.is_dir() else file
    if not file.is_file():
        return "leads nowhere"
    if parts.fragment and file in places and unquote(parts.fragment) not in places[file]:
        return "has no such place"
    return ""


def _file(site: Path, path: Path, link: str) -> Path:
    return (site / link.lstrip("/") if link.startswith("/") else path.parent / unquote(link)).resolve()


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    found = list(troubles(site))
    print("\n".join(found))
    pages = len(list(site.rglob("*.html")))
    print(f"{pages} pages: {len(found) or 'no'} troubles" if pages else f"{site} has no pages")
    sys.exit(bool(found) or not pages)


if __name__ == "__main__":
    main()
