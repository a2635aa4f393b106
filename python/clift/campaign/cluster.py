"""Batches of a study on the workers of a Dask scheduler."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any

import clift.own as own
from clift.campaign.identity import files_of
from clift.campaign.parts import Span
from clift.campaign.work import Batch, Worker
from clift.errors import ScenarioError
from clift.scenario import Scenario

# Scenarios that a worker keeps, with the traces that they have read.
_KEPT = 4


class Cluster:
    """Workers elsewhere that do batches of one study. `connect` makes it.

    Args:
        client: Dask's.
        scenario: The study, which every worker gets once, with the files that it names.
    """

    def __init__(self, client: Any, scenario: Scenario) -> None:
        self._client = client
        load = Load(scenario)
        self._load = client.scatter(load, broadcast=True, hash=False)

    @property
    def slots(self) -> int:
        """Maximum number of batches in progress: two per thread, so that no thread is idle."""
        threads = self._client.scheduler_info(n_workers=-1)["workers"].values()
        count: int = sum(worker["nthreads"] for worker in threads)
        return 2 * max(1, count)

    def run(self, spans: Sequence[Span], stop: threading.Event) -> tuple[Batch, float]:
        """Has the runs at some places done.

        Args:
            spans: Their places.
            stop: Ends the wait for them.

        Returns:
            The batch, and the seconds that it took there.

        Raises:
            CliftError: As if it were done here.
        """
        future = self._client.submit(_run, self._load, tuple(spans), pure=False)
        over = threading.Event()
        future.add_done_callback(lambda _: over.set())
        while not over.wait(0.1):
            if stop.is_set():
                future.cancel()
                return Batch([], []), 0.0
        done: tuple[Batch, float] = future.result()
        return done


class Load:
    """A study as it goes to a worker: the scenario, the files that it names, its plugins.

    Args:
        scenario: The study.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.plugins = own.plugins_of(cell.config_text for cell in scenario.cells())
        self.files = {name: path.read_bytes() for name, path in files_of(scenario).items()}
        found = hashlib.sha256(repr((scenario.source, scenario.file)).encode())
        for name, content in sorted(self.files.items()):
            found.update(repr((name, len(content))).encode() + content)
        for plugin in self.plugins:
            found.update(plugin.content)
        self.key = found.hexdigest()

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Load) and other.key == self.key


def _run(load: Load, spans: tuple[Span, ...]) -> tuple[Batch, float]:
    """Main loop of a worker."""
    begun = monotonic()
    batch = Worker(_cells(load), threading.Event()).run(spans)
    batch.firsts.clear()  # they are done again where they are drawn
    return batch, monotonic() - begun


@lru_cache(maxsize=_KEPT)
def _cells(load: Load) -> Sequence[Scenario]:
    """The cells, over the files of their sender.

    They are read by the first run that wants them, so that the folder stays as long as the worker.
    """
    for plugin in load.plugins:
        own.load_content(plugin.path, plugin.content)
    if not load.files:
        return load.scenario.cells()
    folder = tempfile.TemporaryDirectory(prefix="clift-")
    _FOLDERS.append(folder)
    for name, content in load.files.items():
        path = Path(folder.name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    file = Path(load.scenario.file).name or "scenario"
    return load.scenario.moved(str(Path(folder.name, file))).cells()


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


@contextmanager
def connect(address: str, scenario: Scenario) -> Iterator[Cluster]:
    """The workers of a scheduler, ready for a study.

    Args:
        address: Where it listens, e.g. `tcp://host:8786`.
        scenario: The study.

    Raises:
        ScenarioError: If Dask is not installed, or nobody answers there.
    """
    try:
        import distributed
    except ImportError:
        raise ScenarioError("scheduler: needs Dask; pip install 'clift[cluster]'") from None
    try:
        client: Any = distributed.Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        what = " ".join(str(error).split())[:120]
        cure = "give the address of a Dask scheduler, e.g. tcp://host:8786"
        raise ScenarioError(f"scheduler = {address!r}: {what}; {cure}") from None
    try:
        yield Cluster(client, scenario)
    finally:
        client.close()
