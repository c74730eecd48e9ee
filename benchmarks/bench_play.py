"""Promise: while a slider of ``mercer play`` is dragged, the page draws ≥ 20 new pictures a second with 300 points and
≥ 5 with 3000, and never keeps the hand waiting for more than 100 ms.

Measured in Chromium: the slider of γ is dragged to and fro for some seconds, each picture is one that the server has
computed from a new kernel. What the hand waits is the time between a movement of the pointer and the page's hearing of
it. The page's own count of pictures is read (``data-pictures``).
"""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from measure import QUICK, judged, promise, skipped

SECONDS = 1.0 if QUICK else 8.0
MODES = {"classify": (300, 3000), "regress": (300,), "cluster": (300,), "components": (300,), "novelty": (300,)}
PROMISED = {("classify", 300): 20.0, ("classify", 3000): 5.0}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LISTEN = """() => {
  window.waited = [];
  addEventListener("pointermove", (event) => window.waited.push(performance.now() - event.timeStamp), true);
}"""


@contextlib.contextmanager
def served() -> Iterator[str]:
    """The address of a page whose server is a process of its own."""
    run = "from mercer.app.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", run, "play", "--no-browser"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def dragged(page: Any, seconds: float) -> tuple[float, float, float]:
    """Pictures a second while the first slider goes to and fro, and the middle and longest waits of the hand in ms."""
    box = page.locator("#blocks input[type=range]").first.bounding_box()
    y, left, width = box["y"] + box["height"] / 2, box["x"] + 0.35 * box["width"], 0.3 * box["width"]
    page.mouse.move(left, y)
    page.mouse.down()
    before, start, step = _pictures(page), time.perf_counter(), 0
    page.evaluate("() => { window.waited = []; }")
    while (elapsed := time.perf_counter() - start) < seconds:
        step += 1
        page.mouse.move(left + width * abs((step * 0.01) % 2 - 1), y)
    drawn = _pictures(page) - before
    page.mouse.up()
    waited = sorted(page.evaluate("() => window.waited"))
    page.wait_for_selector('#frame[data-busy="false"]')
    return drawn / elapsed, waited[len(waited) // 2], waited[-1]


def _pictures(page: Any) -> int:
    return int(page.locator("#rate").get_attribute("data-pictures") or 0)


def main() -> None:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    for absent in ("playwright", "starlette", "uvicorn"):
        if importlib.util.find_spec(absent) is None:
            return skipped(absent)
    if program is None:
        return skipped("Chromium")
    from playwright.sync_api import sync_playwright

    print(f"  {'mode':<12} {'points':>6} {'pictures/s':>11} {'wait, ms: middle':>17} {'longest':>8}")
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(address)
        page.wait_for_selector('#frame[data-busy="false"]')
        page.evaluate(LISTEN)
        longest = 0.0
        for mode, sizes in MODES.items():
            page.click(f'button[data-mode="{mode}"]')
            for n in sizes:
                page.fill("#samples .number", str(n))
                page.press("#samples .number", "Enter")
                page.wait_for_selector('#frame[data-busy="false"]')
                dragged(page, SECONDS / 4)  # what has to be compiled is
                rate, middle, most = dragged(page, SECONDS)
                print(f"  {mode:<12} {n:6d} {rate:11.1f} {middle:17.1f} {most:8.1f}", flush=True)
                longest = max(longest, most)
                if (mode, n) in PROMISED:
                    promise(f"pictures a second with {n} points", rate, at_least=PROMISED[mode, n], unit="")
        promise("the longest wait of the hand", longest, at_most=100.0, unit="ms")
        browser.close()
    return None


if __name__ == "__main__":
    judged(main)
