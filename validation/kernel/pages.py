"""Pages and requests behind proxies on a real kernel, over a live link, beside the engine.

    python -m validation.kernel.pages                             # what is kept, beside ours
    python -m validation.kernel.pages --measure 7.2 [NUMBER ...]  # again, in virtual time

The server stands 10 ms before the link of `clift live`, the client at its other end. `gateway` is a
proxy before the link; `pair` is one more behind it, at no distance from the client, as `pep` in
`[link]` has it. Server and client (`web.py`) speak in the sizes of a page. The proxies (`relay.py`)
open their connections when a SYN comes, as the engine's do; one that waits for room in its send
buffer looks again each millisecond. Behind a proxy the server's 10 ms are a wire of `forwarder.py`;
without one they are a leg of the live path.

A page is compared by its load time, requests by the mean of their response times. The link's clock
begins with the client's first SYN, live and in the engine, so that a seed gives both the same draw
of the channel. Where it loses nothing one run tells all. Over ARQ and HARQ a packet in another slot
makes another run: there a cell is the median, over the draws, of the engine's time over the
kernel's. Rules of the kernel's host are on in the engine, as in `ours.py`. `pages.csv` keeps each
run; exit code 1 if fewer than nine cells in ten are within 10 %.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import TYPE_CHECKING

from validation.kernel import kept, virtual
from validation.kernel.forwarder import Wire
from validation.kernel.relay import Relay, hearing, listening, prepared
from validation.kernel.web import (
    Browser,
    Manner,
    Object,
    Server,
    desktop,
    dialogue,
    read,
    three_gpp,
)
from validation.kernel.wired import neighbour, own_namespace, tun

if TYPE_CHECKING:
    import clift

HERE = Path(__file__).parent
FILE = HERE / "pages.csv"
PAGE = HERE / "page.csv"
MODULE = "validation.kernel.pages"
# Draws of a channel.
SEEDS = 10
AT_ONCE = 2
# A kernel sometimes hangs as it starts: it is started again, after this many s.
PATIENCE_S, TRIES = 600, 3
BOUND = 0.10
PORT = 5001
NEAR_BPS, NEAR_MS = 100_000_000, 10
THINK_MS = 20
# Far faster than anything else.
_NO_RATE = 10**12
_AT_SERVER = ("10.99.0.1", "10.99.0.2")
_AT_CLIENT = ("10.99.1.1", "10.99.1.2")
_LONGEST_S = 200
_COUNT, _REQUEST, _ANSWER = _SIZES = 12, 300, 30_000
# Between an answer and the next request, ms.
_PAUSES = {"requests": 0, "requests with pauses": 400}

LINKS = {
    "GEO": ("none", "10 Mbit/s", "560 ms"),
    "LEO": ("none", "20 Mbit/s", "60 ms"),
    "GEO, ARQ": ("ARQ", "10 Mbit/s", "560 ms"),
    "GEO, HARQ(10/12)": ("HARQ(10/12)", "10 Mbit/s", "560 ms"),
    "LEO, ARQ": ("ARQ", "20 Mbit/s", "60 ms"),
    "LEO, HARQ(10/12)": ("HARQ(10/12)", "20 Mbit/s", "60 ms"),
}
USES: dict[str, Callable[[], list[Object]]] = {
    # A page by hand whose objects name one another.
    "small": lambda: read(PAGE.read_text(), THINK_MS),
    "3gpp": lambda: three_gpp(THINK_MS),
    "desktop-2024": lambda: desktop(THINK_MS),
    **{use: partial(dialogue, *_SIZES, THINK_MS, pause) for use, pause in _PAUSES.items()},
}


@dataclass(frozen=True)
class Cell:
    """A cell: the page, the link and the proxies."""

    link: str
    use: str
    http: str
    congestion: str
    proxies: str
    pep: str = ""
    """Congestion control of the proxy before the link, if it differs."""
    buffer_kb: int = 8000

    @property
    def manner(self) -> Manner:
        """As the client has it."""
        return Manner(self.http, 6 if self.http == "1.1" and self.use not in _PAUSES else 1, 1)

    @property
    def label(self) -> str:
        """The cell in a line.

        >>> Cell("GEO", "3gpp", "1.1", "reno", "gateway").label
        'GEO | 3gpp | 1.1 | reno | gateway'
        """
        proxies = self.proxies
        if self.pep:
            proxies += f", {self.pep}"
        if self.buffer_kb < 1000:
            proxies += f", {self.buffer_kb} kB"
        http = "" if self.use in _PAUSES else self.http
        return f"{self.link} | {self.use} | {http} | {self.congestion} | {proxies}"

    def seeds(self) -> int:
        """Number of draws; one if the link draws nothing."""
        return 1 if LINKS[self.link][0] == "none" else SEEDS

    def _path(self, near: str, *, proxies: bool) -> str:
        scheme, rate, rtt = LINKS[self.link]
        lossy = 'model = "gilbert-elliott"\nerasures = "0.5 %"\nburst = 4'
        if scheme == "none":
            lossy = 'model = "bernoulli"\nerasures = 0'
        named = f'congestion = "{_engines(self.pep)}", ' if self.pep else ""
        buffers = f'buffer = "{self.buffer_kb} kB", receive_buffer = "8 MB"'
        pep = f"[[path]]\npep = {{ {named}{buffers} }}"
        first = pep if proxies and self.proxies != "none" else ""
        last = pep if proxies and self.proxies == "pair" else ""
        return f"""
[[path]]
leg = {{ {near} }}
{first}
[[path]]
scheme = "{scheme}"
[path.link]
rtt = "{rtt}"
queue = "500 packets"
[path.channel]
{lossy}
rate = "{rate}"
lldu = "125 B"
decoding = "1 ms"
{last.replace(named, "")}
"""

    def live(self, seed: int) -> str:
        """The scenario of the live path; the wire to a server behind a proxy is beside it."""
        near = _near() if self.proxies == "none" else ""
        head = f'duration = "{_LONGEST_S} s"\nruns = 1\nseed = {seed}\n'
        return head + self._path(near, proxies=False)

    def engine(self, seed: int) -> str:
        """The scenario of all.

        >>> "pep = {" in CELLS[1].engine(1), "pep = {" in CELLS[1].live(1)
        (True, False)
        """
        application = f'type = "page"\nhttp = "{self.http}"'
        if self.use in _PAUSES:
            sizes = f'request = "{_REQUEST} B"\nresponse = "{_ANSWER} B"\ncount = {_COUNT}'
            application = f'type = "request"\n{sizes}\npause = "{_PAUSES[self.use]} ms"'
        elif self.use == "small":
            application += f"\npage = {json.dumps(str(PAGE))}"
        else:
            application += f'\nshape = "{self.use}"'
        from validation.kernel.ours import HOST

        host = "".join(f"{name} = true\n" for name in HOST)
        return f"""
duration = "{_LONGEST_S} s"
runs = 1
seed = {seed}
[application]
{application}
think = "{THINK_MS} ms"
[transport]
congestion = "{_engines(self.congestion)}"
profile = "linux"
[transport.linux]
{host}{self._path(_near(), proxies=True)}"""


def _near() -> str:
    return f'rate = "{NEAR_BPS} bit/s", delay = "{NEAR_MS} ms"'


def _engines(congestion: str) -> str:
    return "newreno" if congestion == "reno" else congestion


CELLS = (
    Cell("GEO", "small", "1.1", "cubic", "none"),
    Cell("GEO", "small", "1.1", "cubic", "pair"),
    Cell("GEO", "small", "2", "cubic", "none"),
    Cell("GEO", "small", "2", "cubic", "pair"),
    Cell("GEO", "desktop-2024", "2", "cubic", "none"),
    Cell("GEO", "desktop-2024", "2", "cubic", "pair"),
    Cell("GEO", "desktop-2024", "1.1", "reno", "pair"),
    Cell("GEO", "desktop-2024", "2", "bbr", "gateway"),
    Cell("GEO", "desktop-2024", "2", "cubic", "pair", pep="bbr"),
    Cell("GEO", "desktop-2024", "2", "reno", "gateway", buffer_kb=128),
    Cell("GEO", "3gpp", "1.1", "reno", "gateway"),
    Cell("GEO", "requests", "1.1", "cubic", "pair"),
    Cell("GEO", "requests with pauses", "1.1", "cubic", "none"),
    Cell("GEO", "requests with pauses", "1.1", "cubic", "pair"),
    Cell("LEO", "desktop-2024", "2", "cubic", "none"),
    Cell("LEO", "desktop-2024", "2", "cubic", "pair"),
    Cell("LEO", "desktop-2024", "1.1", "bbr", "gateway"),
    Cell("LEO", "requests with pauses", "1.1", "reno", "none"),
    Cell("LEO", "requests with pauses", "1.1", "reno", "gateway"),
    Cell("GEO, ARQ", "small", "2", "cubic", "pair"),
    Cell("GEO, ARQ", "desktop-2024", "2", "cubic", "none"),
    Cell("GEO, ARQ", "desktop-2024", "2", "cubic", "gateway"),
    Cell("GEO, ARQ", "desktop-2024", "1.1", "reno", "pair"),
    Cell("GEO, ARQ", "requests", "1.1", "reno", "pair"),
    Cell("GEO, HARQ(10/12)", "3gpp", "2", "bbr", "pair"),
    Cell("GEO, HARQ(10/12)", "desktop-2024", "2", "cubic", "pair"),
    Cell("LEO, ARQ", "desktop-2024", "2", "bbr", "pair"),
    Cell("LEO, ARQ", "requests", "1.1", "cubic", "gateway"),
    Cell("LEO, HARQ(10/12)", "small", "1.1", "reno", "pair"),
)


def live(cell: Cell, seed: int) -> float | None:
    """Load time of the page, or the mean response time, on this kernel, s; None: it was late.

    Raises:
        OSError: If the run failed.
    """
    import clift  # the hosts' processes have one thread without: they take namespaces
    from clift.hosts.live import run_live

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        me = [sys.executable, "-m", MODULE, "--role"]
        number = str(CELLS.index(cell))
        scenario = clift.Scenario.parse(cell.live(seed))
        client = [*me, "client", number, folder, "{peer}"]
        ran = run_live(scenario, [*me, "server", number, folder], client)
        if not (place / "loaded").exists():
            raise OSError(f"{cell}, seed {seed}: nothing was loaded")
        return None if ran.faults() else float((place / "loaded").read_text())


def figure(run: clift.Run) -> float:
    """Compared time in s; infinite if the load did not end."""
    summary = run.summary()
    asked = summary["flows"][0].get("requests")
    if asked is None:
        return summary.get("page_load_s") or float("inf")
    times = asked["response_time_ms"]
    return times["mean"] / 1000 if times and times["count"] == _COUNT else float("inf")


# --- the hosts: what runs in the namespaces of `clift live` ---


def at_server(cell: Cell, place: Path) -> None:
    """The host before the link: the server, or a proxy and the server behind a wire."""
    page = USES[cell.use]()
    crossing = cell.pep or cell.congestion
    if cell.proxies == "none":
        work = Server(page, cell.manner, listening(PORT, cell.congestion)).run
        children = [_forked(work)]
    else:
        listener, heard = listening(PORT, crossing), hearing()
        own_namespace()
        near = tun("near0", *_AT_SERVER[::-1])
        delay = NEAR_MS * 1_000_000
        wires = (Wire(NEAR_BPS, delay), Wire(_NO_RATE, delay))
        server = neighbour(near, _AT_SERVER, wires, lambda: _serve(cell, page))
        buffer = cell.buffer_kb * 1000
        to = (_AT_SERVER[0], PORT)
        relay = Relay(listener, heard, lambda: prepared(cell.congestion), to, buffer)
        children = [server, _forked(relay.run)]
    (place / "there").touch()
    _await(place / "loaded")
    for child in children:
        os.kill(child, signal.SIGTERM)


def _serve(cell: Cell, page: list[Object]) -> None:
    Server(page, cell.manner, listening(PORT, cell.congestion)).run()


def at_client(cell: Cell, place: Path, server: str) -> None:
    """The host behind the link: the client, or a proxy and the client beside it."""
    if cell.proxies != "pair":
        _load(cell, place, server)
        return
    crossing = [prepared(cell.pep or cell.congestion) for _ in range(cell.manner.connections)]
    own_namespace()
    near = tun("near0", *_AT_CLIENT[::-1])
    wires = (Wire(_NO_RATE, 0), Wire(_NO_RATE, 0))
    listener, heard = listening(PORT, cell.congestion), hearing()
    neighbour(near, _AT_CLIENT, wires, lambda: _load(cell, place, _AT_CLIENT[1]))
    buffer = cell.buffer_kb * 1000
    Relay(listener, heard, iter(crossing).__next__, (server, PORT), buffer).run()


def _load(cell: Cell, place: Path, server: str) -> None:
    _await(place / "there")
    sockets = [prepared(cell.congestion) for _ in range(cell.manner.connections)]
    browser = Browser(USES[cell.use](), cell.manner, sockets)
    took = browser.load((server, PORT))
    found = fmean(browser.took()) if cell.use in _PAUSES else took
    (place / "loading").write_text(str(found / 1e9))
    (place / "loading").rename(place / "loaded")
    signal.pause()


def _forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    return child


def _await(file: Path) -> None:
    deadline = time.monotonic() + _LONGEST_S
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.01)


# --- measuring and comparing ---


@dataclass(frozen=True)
class Measured:
    """Times of a kernel in a cell: s by seed."""

    kernel: str
    seconds: dict[int, float]


def recorded() -> dict[Cell, Measured]:
    """The measurements, in the order of the cells."""
    found: dict[Cell, Measured] = {}
    for row in kept.read(FILE):
        names = ("link", "use", "http", "congestion", "proxies", "pep")
        words = {name: row[name] for name in names}
        cell = Cell(**words, buffer_kb=int(row["buffer_kb"]))
        own = found.setdefault(cell, Measured(row["kernel"], {}))
        own.seconds[int(row["seed"])] = float(row["seconds"])
    return {cell: found[cell] for cell in CELLS if cell in found}


def measure_in(kernel: str, numbers: list[int]) -> None:
    """Measures cells, by their numbers, in the kernel of that name, and keeps what it did."""
    have = recorded()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        probes = pool.map(lambda number: _probe(kernel, number), numbers)
        for number, found in zip(numbers, probes, strict=True):
            if isinstance(found, Measured):
                have[CELLS[number]] = found
                _write(have)
            else:
                print(f"{CELLS[number].label}: {found}", file=sys.stderr)


def _probe(kernel: str, number: int) -> Measured | str:
    """A cell in a kernel in virtual time; or why not."""
    why = ""
    for _ in range(TRIES):
        command = [sys.executable, "-m", MODULE, "--here", str(number)]
        try:
            done = virtual.run(kernel, command, PATIENCE_S)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            why = str(error)
            continue
        if done.returncode == 0:
            found = json.loads(done.stdout.splitlines()[-1])
            seconds = {int(seed): time for seed, time in found["seconds"].items()}
            return Measured(found["kernel"], seconds)
        why = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
    return why


def measure_here(cell: Cell) -> Measured:
    """A cell in this kernel; a run whose link was late is left out."""
    found = {seed: live(cell, seed) for seed in range(1, cell.seeds() + 1)}
    return Measured(
        kept.release(), {seed: took for seed, took in found.items() if took is not None}
    )


def _write(have: dict[Cell, Measured]) -> None:
    rows = [
        asdict(cell) | {"seed": seed, "seconds": f"{took:.6f}", "kernel": have[cell].kernel}
        for cell in (cell for cell in CELLS if cell in have)
        for seed, took in have[cell].seconds.items()
    ]
    kept.write(FILE, rows)


def compare() -> tuple[int, int]:
    """Prints every cell; how many are within the bound, of how many."""
    import clift

    near, have = 0, recorded()
    print(
        "| link | use | HTTP | TCP | proxies | draws | kernel, s | engine, s | apart | quarters |"
    )
    print("|---" * 10 + "|")
    for cell, measured in have.items():
        scenarios = [clift.Scenario.parse(cell.engine(seed)) for seed in measured.seconds]
        own = [figure(run) for run in clift.run_many(scenarios, progress=False)]
        kernel = list(measured.seconds.values())
        ratios = [ours / theirs for ours, theirs in zip(own, kernel, strict=True)]
        apart = median(ratios) - 1
        near += abs(apart) <= BOUND
        low, high = quantiles(ratios, n=4)[::2] if ratios[1:] else ratios * 2
        print(
            f"| {cell.label} | {len(kernel)} | {median(kernel):.3f} | {median(own):.3f} "
            f"| {apart:+.1%} | {low - 1:+.0%} to {high - 1:+.0%} |"
        )
    print(f"\nwithin {BOUND:.0%}: {near} of {len(have)}")
    return near, len(have)


def main() -> int:
    """Measures if that is asked for, and compares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--measure", nargs="+", metavar="KERNEL [NUMBER]", help="measure cells again"
    )
    parser.add_argument("--here", type=int, metavar="NUMBER", help="measure one in this kernel")
    parser.add_argument("--role", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    match given.role:
        case ["server", number, place]:
            at_server(CELLS[int(number)], Path(place))
            return 0
        case ["client", number, place, server]:
            at_client(CELLS[int(number)], Path(place), server)
            return 0
    if given.here is not None:
        print(json.dumps(asdict(measure_here(CELLS[given.here]))))
        return 0
    if given.measure:
        kernel, *numbers = given.measure
        measure_in(kernel, list(map(int, numbers)) or list(range(len(CELLS))))
    near, count = compare()
    return int(near < 0.9 * count)


if __name__ == "__main__":
    sys.exit(main())
