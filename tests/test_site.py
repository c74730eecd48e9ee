"""The site is of this library: every public name has its page, every kernel its picture, and what scripts wrote into
pages is what they would write now. The build itself, and its links, are `make docs`.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mercer as mc

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def script(path: Path) -> ModuleType:
    """A script of the site as a module."""
    spec = importlib.util.spec_from_file_location(f"site_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look for their types
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site() -> Iterator[Any]:
    """The parts of the site's extension that need no Sphinx."""
    sys.path.insert(0, str(DOCS / "_ext"))
    from mercer_site import facts, samples, table

    yield SimpleNamespace(table=table, samples=samples, facts=facts)
    sys.path.remove(str(DOCS / "_ext"))


def test_every_public_name_is_in_the_reference_once(site: Any) -> None:
    listed = Counter(name for task in site.table.tasks() for name in task.names)
    assert [name for name, times in listed.items() if times > 1] == []
    assert set(listed) == set(site.table.public_names())


def test_every_name_of_the_reference_says_what_it_is(site: Any) -> None:
    assert [name for name in site.table.documents() if not site.table.summary(_thing(site, name))] == []


def _thing(site: Any, full: str) -> Any:
    return site.table.thing(full.removeprefix("mercer."))


def test_every_kernel_is_shown_on_samples_with_its_facts(site: Any) -> None:
    """Those of domains that have samples there; a kind of data without is described in words."""
    kernels = {name for name in mc.__all__ if site.table.is_kernel(getattr(mc, name))}
    shown = set(site.samples.names())
    assert set(site.samples.SHOWN) <= shown <= kernels
    seen = {type(site.samples.kernel_of(name).domain).__name__ for name in shown}
    assert {type(getattr(mc, name)().domain).__name__ for name in kernels - shown}.isdisjoint(seen)
    without_cost = [name for name in shown if not dict(site.facts.rows(name))["Cost"]]
    assert without_cost == []


def test_the_chart_is_of_this_library_and_written_anew() -> None:
    assert script(DOCS / "ways" / "chart.py").problems() == []


def test_every_benchmark_has_a_subject() -> None:
    speed = script(DOCS / "speed.py")
    assert Counter(" ".join(speed.SUBJECTS.values()).split()) == Counter(list(speed.benchmarks()))


def test_pictures_of_pages_are_there() -> None:
    for path in (ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("guide/*.md"), *DOCS.glob("ways/*.md")):
        for file in re.findall(r"!\[[^]]*\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
            assert (path.parent / file).is_file(), f"{path.name} shows {file}"


PAGE = '<html><body><a href="{link}">there</a><a id="here"></a><img src="{image}"></body></html>'


@pytest.mark.parametrize(
    ("link", "image", "said"),
    [
        ("#here", "a.png", "no troubles"),
        ("other.html#here", "a.png", "no troubles"),
        ("nowhere.html", "a.png", "nowhere.html leads nowhere"),
        ("other.html#there", "a.png", "other.html#there has no such place"),
        ("#here", "b.png", "b.png is not there"),
        ("#here", "https://example.org/a.png", "is fetched from elsewhere"),
        ("#here", "heavy.png", "weighs 1.10 MB"),
    ],
)
def test_what_is_wrong_with_a_built_site_is_found(tmp_path: Path, link: str, image: str, said: str) -> None:
    (tmp_path / "index.html").write_text(PAGE.format(link=link, image=image))
    (tmp_path / "other.html").write_text(PAGE.format(link="index.html", image="a.png"))
    (tmp_path / "a.png").write_bytes(b"")
    (tmp_path / "heavy.png").write_bytes(np.zeros(1_100_000, np.uint8).tobytes())
    done = subprocess.run([sys.executable, DOCS / "check_site.py", tmp_path], capture_output=True, text=True)
    assert said in done.stdout
    assert done.returncode == (said != "no troubles")


def test_a_kernel_that_nobody_has_listed_is_in_the_reference_and_shown(site: Any, monkeypatch: Any) -> None:
    before = next(task for task in site.table.tasks() if "Matern" in task.names)
    for made in (site.table.tasks, site.table.documents):
        monkeypatch.setattr(site.table, made.__name__, made.__wrapped__)
    listed = (site.table.FILE).read_text(encoding="utf-8").replace('"Matern", ', "")
    monkeypatch.setattr(site.table, "FILE", SimpleNamespace(read_text=lambda encoding: listed))
    monkeypatch.delitem(site.samples.SHOWN, "Matern")
    found = next(task for task in site.table.tasks() if "Matern" in task.names)
    assert (found.title, found.names[-1]) == (before.title, "Matern")
    assert site.samples.how("Matern") == ("mc.Matern()", "line", site.samples.PRODUCT)
    assert dict(site.facts.rows("Matern"))["Cost"] == site.samples.PRODUCT
