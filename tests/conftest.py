"""What all tests need of the process that they run in."""

import signal
from collections.abc import Iterator
from typing import Any

import pytest
from browser import CHROMIUM
from hypothesis import settings

# A busy machine may take any time for an example.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A job started in the background of a script ignores Ctrl-C, and so would the commands under test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests take minutes of processor time, on a busy machine hours."""
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.timeout(4 * 3600))


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A study's pictures get their names and first bytes, but are not drawn.

    Drawing takes most of the time of a small study; tests of folders need only the files.
    """
    from clift.advise import page
    from clift.design import record
    from clift.report import drawing

    for module, name, start in (
        (drawing, "png", b"\x89PNG"),
        (page, "png", b"\x89PNG"),
        (record, "png", b"\x89PNG"),
        (record, "_svg", b"<svg"),
    ):
        monkeypatch.setattr(module, name, lambda _figure, start=start: start)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    tools = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not there: make browser-deps")
    with tools.sync_playwright() as started:
        # Root has no sandbox; and the smaller shared memory of containers should not fail a test.
        words = ["--no-sandbox", "--disable-dev-shm-usage"]
        found = started.chromium.launch(executable_path=str(CHROMIUM), args=words)
        yield found
        found.close()
