"""The page in a browser: a server of its own, Chromium where there is one, and what tests ask of a page."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATIENCE = 20_000  # milliseconds: a machine may be busy, and compiles for the first time


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """The address of ``mercer play`` with arguments, in a process of its own that is ended afterwards."""
    run = "from mercer.app.cli import main; main()"
    command = [sys.executable, "-c", run, "play", "--no-browser", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), address
            yield address
        finally:
            process.terminate()


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; the tests are skipped where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        pytest.skip("there is no Chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(_ARGUMENTS))
        yield browser
        browser.close()


class Page:
    """A page that is open; ``faults`` are what its scripts have complained of."""

    def __init__(self, browser: Any, address: str, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light",
            permissions=["clipboard-read", "clipboard-write"],
        )  # fmt: skip
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(error.stack or str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.faults.append(said.text))
        self.open(address)

    def open(self, address: str) -> None:
        self.page.goto("about:blank")
        self.page.goto(address)
        self.rest()

    def close(self) -> None:
        self.context.close()
        assert self.faults == [], "\n".join(self.faults)

    def rest(self) -> None:
        """Wait until all is answered."""
        self.page.wait_for_selector('#frame[data-busy="false"]')

    def enter(self, mode: str) -> None:
        choice = self.page.locator("#modes select")
        if choice.is_visible():
            choice.select_option(mode)
        else:
            self.page.click(f'button[data-mode="{mode}"]')
        self.rest()

    @property
    def kernel(self) -> str:
        return self.page.input_value("#expression")

    def type_kernel(self, text: str) -> None:
        """Write a kernel as a hand does, and mean it."""
        self.page.fill("#expression", text)
        self.page.press("#expression", "Enter")
        self.rest()

    def numbers(self) -> dict[str, float]:
        """The numbers under the picture, in full."""
        rows = self.page.locator("#card-numbers dl > div").all()
        return {row.locator("dt").inner_text(): float(row.locator("dd").get_attribute("data-value")) for row in rows}

    def pictures(self) -> int:
        """How many pictures were drawn."""
        return int(self.page.locator("#rate").get_attribute("data-pictures") or 0)

    def picture(self) -> str:
        """What is seen of the large canvas."""
        return str(self.page.locator("#plane").evaluate("canvas => canvas.toDataURL()"))

    def python(self) -> str:
        """The program that was copied."""
        self.page.click("#python")
        self.page.click("#copy")
        self.page.wait_for_selector("#copy:has-text('Copied')")
        self.page.click("#close")
        return str(self.page.evaluate("navigator.clipboard.readText()"))


def printed(program: str) -> dict[str, float]:
    """What a program prints: words, and a number at the end of each line."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(program, "the page's program", "exec"), {"__name__": "__main__"})
    lines = said.getvalue().splitlines()
    return {words: float(number) for words, _, number in (line.rpartition(" ") for line in lines)}


def save(path: Path, rows: list[str]) -> Path:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path
