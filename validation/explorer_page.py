"""The explorer's page: its size, how soon it shows a result, how smoothly it follows a slider.

    python validation/explorer_page.py [PAGE.html ...]

Pages that are given (`clift explore --save`) are opened in turns, so that a busy machine slows all
of them alike. Each is opened from disk in headless Chromium (Debian's, by Playwright): as it is
(`carried`), and with a link to a setting whose result it does not carry (`asked`). Then a slider
moves for three seconds, a step in each frame. Times are medians, in ms since the page has loaded
(`loadEventEnd`), or where the name says so from the start of the navigation. The processor time of
the page's thread stands beside: on a busy machine only that says something of the page.
"""

from __future__ import annotations

import gzip
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from report_page import CHROMIUM, busy_ms

from clift.cli.main import run

ROUNDS = 7
MOST_BYTES, MOST_PAINT_MS, MOST_FIRST_MS, FEWEST_DRAWS = 600_000, 1000, 100, 30
# The demo's page cell, with another share of erasures than any that the page carries.
ASKED = "#stop=5&A.channel.erasures=1.3+%25"

TIMES = """() => {
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  const at = name => Number(document.documentElement.dataset[name]);
  return { paint: paint.startTime, first: at("first"),
    load: performance.getEntriesByType("navigation")[0].loadEventEnd };
}"""

# Moves a slider to and fro, a step before each frame, as a hand's events come.
DRAG = """async () => {
  const slider = document.getElementById("A-erasures"), root = document.documentElement;
  const draws = () => Number(root.dataset.draws), before = draws(), begin = performance.now();
  for (let n = 0; performance.now() - begin < 3000; n++) {
    slider.value = String(n % 8 < 4 ? n % 4 : 4 - n % 4);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise(requestAnimationFrame);
  }
  const found = { draws: draws() - before, seconds: (performance.now() - begin) / 1000 };
  slider.dispatchEvent(new Event("change", { bubbles: true }));
  return found;
}"""


def opened(browser: Any, page: Path, fragment: str = "") -> Any:
    """The page with its first result, and a session that tells the time of its thread."""
    shown = browser.new_page(viewport={"width": 1280, "height": 900})
    protocol = shown.context.new_cdp_session(shown)
    protocol.send("Performance.enable", {"timeDomain": "threadTicks"})
    shown.goto(page.as_uri() + fragment)
    shown.wait_for_selector("html[data-first]", timeout=60_000)
    return shown, protocol


def measure(browser: Any, page: Path) -> dict[str, float]:
    """One round: both ways to open the page, and a drag."""
    found: dict[str, float] = {}
    for name, fragment in (("carried", ""), ("asked", ASKED)):
        shown, protocol = opened(browser, page, fragment)
        busy = busy_ms(protocol)
        # The first paint may come after the first result.
        shown.wait_for_selector('html[data-done="true"]', timeout=60_000)
        times = shown.evaluate(TIMES) | {"done": shown.evaluate("performance.now()")}
        found[f"{name}_paint_from_start"] = times["paint"]
        found[f"{name}_load_from_start"] = times["load"]
        found[f"{name}_first"] = times["first"] - times["load"]
        found[f"{name}_done"] = times["done"] - times["load"]
        found[f"{name}_busy_ms"] = busy
        if name == "carried":
            before = busy_ms(protocol)
            drag = shown.evaluate(DRAG)
            found["draws_a_second"] = drag["draws"] / drag["seconds"]
            found["busy_ms_a_draw"] = (busy_ms(protocol) - before) / drag["draws"]
        shown.close()
    return found


def main() -> int:
    """Measures the pages, and says whether the first one keeps the bounds."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as made, sync_playwright() as tools:
        pages = [Path(name).absolute() for name in sys.argv[1:]]
        if not pages:
            pages = [Path(made) / "explorer.html"]
            if run(["explore", "--save", str(pages[0])]):
                return 1
        sizes = [len(gzip.compress(page.read_bytes(), 9)) for page in pages]
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        rounds: list[list[dict[str, float]]] = [[] for _ in pages]
        for _ in range(ROUNDS):
            for page, kept in zip(pages, rounds, strict=True):
                kept.append(measure(browser, page))
        browser.close()
    table = {
        name: [statistics.median(one[name] for one in kept) for kept in rounds]
        for name in rounds[0][0]
    }
    print(f"{'bytes_gzipped':26}", *(f"{size:10}" for size in sizes))
    for name, values in table.items():
        print(f"{name:26}", *(f"{value:10.1f}" for value in values))
    holds = {
        "size": sizes[0] < MOST_BYTES,
        "paint": table["carried_paint_from_start"][0] < MOST_PAINT_MS,
        "first result": table["carried_first"][0] < MOST_FIRST_MS,
        "first computed result": table["asked_first"][0] < MOST_FIRST_MS,
        "redraws": table["draws_a_second"][0] >= FEWEST_DRAWS,
    }
    for name, kept in holds.items():
        print(f"{name}: {'holds' if kept else 'does not hold'}")
    return 0 if all(holds.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
