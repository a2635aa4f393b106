"""Pages from disk in Chromium: what they ask for, what they complain of, how texts stand out."""

from pathlib import Path
from typing import Any

CHROMIUM = Path("/usr/bin/chromium")

CONTRAST = """() => {
  const part = value => { const c = value / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const of = text => text.match(/[\\d.]+/g).map(Number);
  const behind = one => { for (; one; one = one.parentElement) {
    const c = of(getComputedStyle(one).backgroundColor); if (c.length < 4 || c[3] === 1) return c; }
    return [255, 255, 255]; };
  const found = {};
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!own || !one.checkVisibility() || one.closest("script, svg, button:disabled")) continue;
    const a = light(of(getComputedStyle(one).color)), b = light(behind(one));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const name = one.tagName + "." + one.className;
    found[name] = Math.min(found[name] ?? 99, ratio);
  }
  return found;
}"""


class Opened:
    """A page opened from disk, with all that it asked for and complained of."""

    def __init__(self, browser: Any, path: Path, fragment: str = "", **options: Any) -> None:
        self.page = browser.new_page(**options)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri() + fragment)
        self.path = path

    def is_quiet(self) -> bool:
        assert self.said == []
        # A worker of a page is a part of it.
        asked = [url.partition("#")[0] for url in self.asked if not url.startswith("blob:")]
        assert set(asked) == {self.path.as_uri()}
        return self.page.evaluate("document.documentElement.dataset.ready") is not None
