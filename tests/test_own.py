"""Custom parts in Python give the same results as the core's parts, bit for bit."""

import json
import pickle
import subprocess
import sys
import traceback
from collections import deque
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clift
import clift.own as own
from clift.campaign import cluster
from clift.campaign.identity import cell_keys
from clift.cli.main import run as command

ROOT = Path(__file__).parent.parent
PHY = clift.channel.gilbert_elliott(
    slots=60_000, slot_ns=1_000_000, alpha=0.99, beta=0.6, lldu_bytes=500, seed=3
)
LINK = clift.tmt.apply(PHY, "none", rtt_ms=100)


# The core's own, once more in Python.


@clift.register_scheme("py-fec")
def py_fec(phy: clift.PhyTrace, decode_ns: int, k: int, n: int) -> dict[str, Any]:
    """As FEC(k/n)."""
    blocks = len(phy) // n
    t = phy.t_ns[: blocks * n].reshape(blocks, n)
    d = phy.d_ns[: blocks * n].reshape(blocks, n)
    never = np.iinfo(np.int64).max
    at = np.sort(np.where(d > 0, t + d, never), axis=1)[:, k - 1 : k]
    data, erased = t[:, :k], d[:, :k] == 0
    rebuilt = erased & (at < never)
    return {
        "t_ns": data.ravel(),
        "d_ns": np.where(rebuilt, np.where(rebuilt, at, 0) - data, d[:, :k]).ravel()
        * ~(erased & ~rebuilt).ravel(),
        "lost_ns": np.where(erased & ~rebuilt, t[:, -1:] + decode_ns - data, 0).ravel(),
        "slots_used": blocks * n,
    }


@clift.register_scheme("py-arq")
class PyArq:
    """As ARQ(max R)."""

    def __init__(self, most: int = 1_000_000) -> None:
        self.most = most
        self.again: list[tuple[int, int, int]] = []

    def wants(self, data_waits: bool) -> int | None:
        if data_waits:
            return 0
        return self.again[0][0] if self.again else None

    def carry(self, slot: Any) -> None:
        if self.again and self.again[0][0] <= slot.t_ns:
            _, unit, times = heappop(self.again)
            slot.send_again(unit, times)
        elif slot.data_waits:
            unit, times = slot.send_new(), 0
        else:
            return
        if slot.d_ns > 0:
            slot.arrived(unit)
        elif times < self.most:
            heappush(self.again, (slot.report_ns(), unit, times + 1))
        else:
            slot.give_up(unit)


@clift.register_congestion("py-newreno")
class PyNewReno:
    """As newreno of the profile linux."""

    def on_ack(self, ack: Any, window: Any) -> None:
        if not ack.fills_window:
            return
        left = window.slow_start(ack.segments) if window.in_slow_start else ack.segments
        if left > 0:
            window.increase(window.cwnd, left)

    def on_loss(self, window: Any) -> int:
        return max(window.cwnd // 2, 2)

    def on_timeout(self, window: Any) -> int:
        return max(window.cwnd // 2, 2)


@clift.register_path_scheduler("py-least-rtt")
class PyLeastRtt:
    """As "least rtt"."""

    def choose(self, paths: list[Any], segments: int | None, window: int) -> Any:  # noqa: ARG002
        free = [path for path in paths if path.room > 0]
        return min(free, key=lambda path: path.srtt_ns, default=None)


@clift.register_queue("py-droptail")
class PyDropTail:
    """First in, first out."""

    def __init__(self) -> None:
        self.waiting: deque[Any] = deque()

    def enqueue(self, packet: Any) -> None:
        self.waiting.append(packet)

    def dequeue(self, now_ns: int) -> Any:  # noqa: ARG002
        return self.waiting.popleft() if self.waiting else None


@clift.register_application("py-rate")
class PyConstantRate:
    """As "constant rate"."""

    def __init__(self, start_ns: int, rate_bps: int, message: int, deadline_ns: int = 10**18):
        self.start, self.rate, self.message = start_ns, rate_bps, message
        self.deadline, self.sent, self.delays = deadline_ns, 0, []

    def due(self, number: int) -> int:
        return self.start + number * self.message * 8 * 10**9 // self.rate

    def send(self, now_ns: int) -> tuple[int, int]:  # noqa: ARG002
        self.sent += 1
        return self.message, self.due(self.sent)

    def arrived(self, now_ns: int, start: int, end: int) -> None:  # noqa: ARG002
        while (len(self.delays) + 1) * self.message <= end:
            self.delays.append(now_ns - self.due(len(self.delays)))

    def report(self) -> tuple[int, int, int, list[int]]:
        in_time = sum(delay <= self.deadline for delay in self.delays)
        return self.sent, len(self.delays), in_time, self.delays


@clift.register_application("py-draws")
def py_draws(start_ns: int, rng: np.random.Generator, mean_ms: float = 20) -> Any:
    at = start_ns
    while True:
        at += 1 + int(rng.exponential(1e6 * mean_ms))
        yield int(rng.integers(1, 2000)), at


class BoomError(Exception):
    pass


@clift.register_congestion("boom")
class Boom(PyNewReno):
    """Ends badly."""

    def on_ack(self, ack: Any, window: Any) -> None:
        if ack.now_ns > 2_000_000_000:
            raise BoomError("after two seconds")
        super().on_ack(ack, window)


@pytest.mark.parametrize(("k", "n"), [(10, 12), (3, 5), (1, 1)])
def test_a_function_over_arrays_gives_the_link_trace_of_fec(k: int, n: int) -> None:
    mine = clift.tmt.apply(PHY, f"py-fec({k}, {n})", rtt_ms=100)
    assert mine == clift.tmt.apply(PHY, clift.Fec(k, n), rtt_ms=100)
    assert mine == clift.tmt.apply(PHY, f"PY-FEC(n {n}, k {k})", rtt_ms=100)


@pytest.mark.parametrize("most", [None, 0, 2])
def test_a_class_slot_by_slot_gives_the_link_trace_of_arq(most: int | None) -> None:
    text = "py-arq" if most is None else f"py-arq({most})"
    phy = clift.channel.bernoulli(slots=4_000, slot_ns=1_000_000, p=0.2, seed=2)
    assert clift.tmt.apply(phy, text) == clift.tmt.apply(phy, clift.Arq(most))


def live(scheme: str, **more: Any) -> clift.Scenario:
    trace = clift.PhyTrace(PHY.t_ns, PHY.d_ns, lldu_bytes=500)
    tree = {"trace": {"file": trace}, "link": {"live": True, "rtt": "100 ms"}, "scheme": scheme}
    tree["link"] |= more.pop("link", {})
    return clift.Scenario(tree, duration_s=20, transport="newreno", **more)


@pytest.mark.parametrize("loss", [0, 0.2])
def test_a_class_serves_live_links_as_arq_does(loss: float) -> None:
    link = {"feedback_loss": loss} if loss else {}
    mine, theirs = (
        clift.simulate(live(scheme, link=link)) for scheme in ("py-arq(3)", "ARQ(max 3)")
    )
    assert mine.summary() == theirs.summary()
    assert mine.units().equals(theirs.units())


@pytest.mark.parametrize("profile", ["linux", "papers"])
def test_a_congestion_control_gives_the_run_of_newreno(profile: str) -> None:
    mine, theirs = (
        clift.simulate(LINK, transport=name, profile=profile, duration_s=50)
        for name in ("py-newreno", "newreno")
    )
    assert mine.summary()["window_reductions"] > 10
    if profile == "linux":
        assert mine.summary() == theirs.summary()
        assert mine.events().equals(theirs.events())
    else:
        assert mine.goodput_kbps == pytest.approx(theirs.goodput_kbps, rel=0.2)


TWO_WAYS = """
duration = "30 s"
[network.links.leo]
from = "x"
to = "y"
leg = { rate = "8 Mbit/s", delay = "20 ms", queue = "60 packets", outages = [["10 s", "12 s"]] }
return.leg = { delay = "20 ms" }
[network.links.geo]
from = "x"
to = "y"
leg = { rate = "4 Mbit/s", delay = "280 ms", queue = "200 packets", loss = "0.1 %" }
return.leg = { delay = "280 ms" }
[[flow]]
name = "f"
from = "x"
to = "y"
paths = [["leo"], ["geo"]]
"""


def over_two_ways(scheduler: str, **changes: Any) -> clift.Run:
    changes |= {"flow.f.path_scheduler": scheduler}
    return clift.simulate(clift.Scenario.parse(TWO_WAYS, changes=changes))


@pytest.mark.parametrize("application", ["bulk", "file"])
def test_a_path_scheduler_gives_the_run_of_least_rtt(application: str) -> None:
    changes: dict[str, Any] = {"transport.receive_window": "1 MB", "application.type": application}
    if application == "file":
        changes["application.size"] = "12 MB"
    mine, theirs = (over_two_ways(one, **changes) for one in ("py-least-rtt", "least rtt"))
    assert mine.summary()["flows"] == theirs.summary()["flows"]
    assert mine.summary()["links"] == theirs.summary()["links"]
    assert mine.events().equals(theirs.events())
    other = over_two_ways("round robin", **changes)
    assert other.summary()["flows"] != theirs.summary()["flows"]


def test_a_path_scheduler_draws_by_the_seed_of_the_run() -> None:
    @clift.register_path_scheduler("py-dice")
    class Dice:
        def __init__(self, rng: np.random.Generator) -> None:
            self.rng = rng

        def choose(self, paths: list[Any], segments: int | None, window: int) -> Any:  # noqa: ARG002
            free = [path for path in paths if path.room > 0]
            return free[self.rng.integers(len(free))] if free else None

    flows = [over_two_ways("py-dice", seed=seed).summary()["flows"] for seed in (1, 1, 2)]
    assert flows[0] == flows[1] != flows[2]


def test_what_a_path_scheduler_may_not_do_is_said() -> None:
    says = {
        "py-seven": (lambda *_: 7, "path scheduler `py-seven`: choose returned 7; give one of"),
        "py-full": (
            lambda _, paths, *more: next((one for one in paths if one.room == 0), paths[0]),  # noqa: ARG005
            "choose returned Path\\(0: room for 0 of",
        ),
    }
    for name, (choose, message) in says.items():
        clift.register_path_scheduler(name)(type("Part", (), {"choose": choose}))
        with pytest.raises(clift.SimulationError, match=message):
            over_two_ways(name)
    with pytest.raises(
        clift.ScenarioError, match="the method choose of a path scheduler is missing"
    ):
        clift.register_path_scheduler("py-empty")(type("Part", (), {}))


def test_a_path_scheduler_may_send_a_segment_over_several_paths() -> None:
    @clift.register_path_scheduler("py-both")
    class Both:
        def choose(self, paths: list[Any], segments: int | None, window: int) -> Any:  # noqa: ARG002
            free = [path for path in paths if path.room > 0]
            return free if len(free) == len(paths) else None

    def carried(loss: str, flow: str) -> dict[str, Any]:
        text = 'duration = "60 s"\n'
        for name, lost in (("a", loss), ("b", "0 %")):
            text += f"""
[network.links.{name}]
from = "x"
to = "y"
leg = {{ rate = "8 Mbit/s", delay = "20 ms", queue = "500 packets", loss = "{lost}" }}
return.leg.delay = "20 ms"
"""
        text += f"""
[[flow]]
from = "x"
to = "y"
application = {{ type = "file", size = "1 MB" }}
{flow}
"""
        [found] = clift.simulate(clift.Scenario.parse(text)).summary()["flows"]
        assert found["bytes_in_order"] == 10**6
        return dict(found)

    both = 'paths = [["a"], ["b"]]\npath_scheduler = "py-both"'
    # Until the second path has joined, the first one carries the data alone.
    first, second = (path["path_bytes"] for path in carried("0 %", both)["paths"])
    assert first == 10**6
    assert 0.9e6 < second < 1e6
    # What one path loses comes over the other: data wait for few retransmissions.
    flows = [carried("10 %", flow) for flow in (both, 'route = ["a"]')]
    assert all(flow["retransmissions"] > 20 for flow in flows)
    waits = [flow["in_order_delay_ms"]["p95"] for flow in flows]
    assert waits[0] < 40
    assert waits[1] > 80


CARRIER = """
duration = "6 s"
flows = 5
link.queue = "40 packets"
[carrier]
terminals = 5
rate = "4 Mbit/s"
slot = "700 B"
delay = "30 ms"
loss = "2 %"
retransmissions = 1
fades = { share = "30 %", mean = "300 ms", bytes = "40 %" }
"""


def over_a_carrier(scheduler: str | dict[str, Any], **changes: Any) -> clift.Run:
    own = {"type": scheduler} if isinstance(scheduler, str) else scheduler
    changes |= {f"carrier.scheduler.{key}": value for key, value in own.items()}
    return clift.simulate(clift.Scenario.parse(CARRIER, changes=changes))


def equal(mine: clift.Run, theirs: clift.Run) -> bool:
    keys = ("flows", "links")
    same = all(mine.summary()[key] == theirs.summary()[key] for key in keys)
    return same and mine.events().equals(theirs.events())


@pytest.mark.parametrize("application", ["bulk", "file"])
def test_a_carrier_scheduler_gives_the_run_of_round_robin(application: str) -> None:
    @clift.register_carrier_scheduler(f"py-turns-{application}")
    class Turns:
        def __init__(self, terminals: int) -> None:
            self.next, self.terminals = 0, terminals

        def assign(self, frame: int, waiting: np.ndarray, room: np.ndarray) -> list[int]:  # noqa: ARG002
            [ready] = np.nonzero(np.roll(waiting, -self.next))
            turn = (self.next + int(ready[0])) % self.terminals
            self.next = turn + 1
            return [turn]

    changes: dict[str, Any] = {"application.type": application}
    if application == "file":
        changes["application.size"] = "100 kB"
    mine = over_a_carrier(f"py-turns-{application}", **changes)
    assert equal(mine, over_a_carrier("round robin", **changes))
    assert not equal(mine, over_a_carrier("proportional fair", **changes))


def test_a_carrier_scheduler_in_frames_gives_the_run_of_free_capacity() -> None:
    """All slots in turn, whether bytes wait or not: demand assignment without requests."""

    @clift.register_carrier_scheduler("py-free")
    class Free:
        def __init__(self, terminals: int, slot_ns: int, delay_ns: int, frame_ms: int) -> None:
            assert (slot_ns, delay_ns) == (1_400_000, 30_000_000)
            self.frame_slots, self.terminals = frame_ms * 10**6 // slot_ns, terminals

        def assign(self, frame: int, waiting: np.ndarray, room: np.ndarray) -> Any:  # noqa: ARG002
            return (frame * self.frame_slots + np.arange(self.frame_slots)) % self.terminals

    theirs = {"type": "demand", "frame": "12 ms", "volume": False}
    assert equal(over_a_carrier({"type": "py-free", "frame_ms": 12}), over_a_carrier(theirs))


def test_a_busy_carrier_scheduler_is_called_without_data() -> None:
    frames: list[int] = []

    @clift.register_carrier_scheduler("py-busy")
    class Busy:
        is_busy = False

        def __init__(self, rng: np.random.Generator) -> None:
            self.rng, self.bytes = rng, 0

        def assign(self, frame: int, waiting: np.ndarray, room: np.ndarray) -> list[int]:  # noqa: ARG002
            frames.append(frame)
            self.is_busy = frame < 40
            return [int(self.rng.integers(len(waiting)))]

        def served(self, terminal: int, size: int) -> None:
            assert 0 <= terminal < 5
            self.bytes += size

    small = {"application.type": "file", "application.size": "2 kB"}
    first = over_a_carrier("py-busy", **small)
    # The first answers come after a round trip of 60 ms, 42 slots.
    assert frames[:41] == list(range(41))
    assert equal(first, over_a_carrier("py-busy", **small))
    assert not equal(first, over_a_carrier("py-busy", seed=2, **small))


def test_what_a_carrier_scheduler_may_not_do_is_said() -> None:
    says = {
        "py-sixth": ([5], r"carrier scheduler `py-sixth`: assign returned \[5\]; give a list with"),
        "py-number": (1, "assign returned 1; give a list with the terminal of each slot"),
        "py-long": ([1, 2], "for at most 1 slot"),
    }
    for name, (returned, message) in says.items():
        methods = {"assign": lambda *_, returned=returned: returned}
        clift.register_carrier_scheduler(name)(type("Part", (), methods))
        with pytest.raises(clift.SimulationError, match=message):
            over_a_carrier(name)
    frames = {"assign": lambda *_: [], "frame_slots": 0}
    clift.register_carrier_scheduler("py-none")(type("Part", (), frames))
    with pytest.raises(clift.SimulationError, match="frame_slots is 0; give a whole number from 1"):
        over_a_carrier("py-none")
    with pytest.raises(clift.ScenarioError, match=r"carrier.scheduler.weight: unknown key"):
        over_a_carrier({"type": "py-none", "weight": 1})
    with pytest.raises(clift.ScenarioError, match="the method assign of a carrier scheduler"):
        clift.register_carrier_scheduler("py-empty-carrier")(type("Part", (), {}))
    with pytest.raises(clift.ScenarioError, match="named `demand` is already registered"):
        clift.register_carrier_scheduler("demand")(type("Part", (), {"assign": print}))


@pytest.mark.parametrize("limit", [2, 20, 200])
def test_a_queue_gives_the_run_of_a_drop_tail_queue(limit: int) -> None:
    link = clift.tmt.apply(clift.channel.bernoulli(slots=40_000, slot_ns=10**6, p=0.0), "none")
    options: dict[str, Any] = {"duration_s": 30, "flows": 3, "packet_bytes": 600, "seed": 4}
    theirs = clift.simulate(link, queue_packets=limit, **options).summary()
    # A link with a managed queue holds the packet that is sent next, so it has one place.
    options |= {"link.aqm": "py-droptail", "queue_packets": limit - 1}
    mine = clift.simulate(link, **options).summary()
    assert theirs["links"][0]["packets_dropped"] > 0
    assert mine["flows"] == theirs["flows"]
    for key in ("packets_dropped", "packets_delivered", "packets_lost", "queueing_delay_ms"):
        assert mine["links"][0][key] == theirs["links"][0][key], key


@pytest.mark.parametrize("transport", ["cubic", "udp"])
def test_an_application_gives_the_run_of_constant_rate(transport: str) -> None:
    keys = {"rate_bps": 800_000, "message": 700, "deadline_ns": 150_000_000}
    mine = clift.simulate(
        LINK,
        transport=transport,
        duration_s=40,
        **{"application.type": "py-rate"},
        **{f"application.{key}": value for key, value in keys.items()},
    )
    theirs = clift.simulate(
        LINK,
        transport=transport,
        duration_s=40,
        message_kbps=800,
        message_bytes=700,
        deadline_ms=150,
    )
    summaries = mine.summary(), theirs.summary()
    if transport == "udp":  # datagrams come in any order, which the Python one does not sort
        for summary in summaries:
            summary["flows"][0].pop("messages")
    else:  # the Python one does not know what is under way when the run ends
        for summary in summaries:
            summary["flows"][0]["messages"].pop("share_in_time")
    assert summaries[0] == summaries[1]
    assert mine.events().equals(theirs.events())


def test_draws_follow_the_seed_on_any_threads() -> None:
    scenarios = [
        clift.Scenario(
            LINK,
            duration_s=10,
            seed=seed,
            transport="py-newreno",
            **{"application.type": "py-draws"},
        )
        for seed in (1, 2, 1, 3)
    ]
    alone = [clift.simulate(one).summary() for one in scenarios]
    assert alone[0] == alone[2]
    assert alone[0]["flows"] != alone[1]["flows"]
    for threads in (1, 4):
        runs = clift.run_many(scenarios, progress=False, threads=threads)
        assert [run.summary() for run in runs] == alone


def test_an_exception_of_a_part_reaches_the_caller() -> None:
    for call in (
        lambda: clift.simulate(LINK, transport="boom", duration_s=20),
        lambda: clift.run_many(
            [clift.Scenario(LINK, transport=one, duration_s=20) for one in ("cubic", "boom")] * 3,
            progress=False,
            threads=3,
        ),
    ):
        with pytest.raises(BoomError, match="after two seconds") as caught:
            call()
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert any(frame.name == "on_ack" and frame.filename == __file__ for frame in frames)
    # The next run does not know it.
    assert clift.simulate(LINK, transport="py-newreno", duration_s=5).goodput_kbps > 0


def test_every_exception_of_a_scheme_reaches_the_caller() -> None:
    @clift.register_scheme("bad-scheme")
    def bad(phy: clift.PhyTrace, what: str) -> Any:
        if what == "raise":
            raise BoomError(what)
        t, d = phy.t_ns, phy.d_ns
        return {
            "list": [1, 2],
            "nan": {"t_ns": t, "d_ns": np.full(len(t), np.nan)},
            "short": {"t_ns": t, "d_ns": d[1:]},
            "backward": {"t_ns": t[::-1], "d_ns": d},
            "between": {"t_ns": t + 1, "d_ns": d},
            "negative": {"t_ns": t, "d_ns": d - 10**12},
            "both": {"t_ns": t, "d_ns": d + 1, "lost_ns": d + 1},
            "unknown": {"t_ns": t, "d_ns": d, "lost": d},
            "none": {"t_ns": t},
            "square": {"t_ns": t.reshape(2, -1), "d_ns": d},
            "used": {"t_ns": t, "d_ns": d, "slots_used": 3},
        }[what]

    def scenario(what: str) -> clift.Scenario:
        return clift.Scenario(
            {"trace": {"file": PHY}, "scheme": f"bad-scheme({what})"}, duration_s=1
        )

    for _ in range(2):
        with pytest.raises(BoomError):
            clift.tmt.apply(PHY, "bad-scheme(raise)")
        broken = scenario("raise")
        for _ in range(2):
            with pytest.raises(BoomError):
                clift.simulate(broken)
        with pytest.raises(BoomError):
            clift.run_many([broken, broken], progress=False)
    for what, line in {
        "list": "returned list; give a dict with t_ns and d_ns",
        "nan": "d_ns holds float64, not integers",
        "short": "d_ns has 59999 values, t_ns has 60000",
        "backward": "data LLDU 1: t_ns = 59998000000 is not the start of a later slot",
        "between": "data LLDU 0: t_ns = 1 is not the start",
        "negative": "data LLDU 0: d_ns or lost_ns is below zero",
        "both": "data LLDU 0: it has d_ns and lost_ns; keep one",
        "unknown": "returned 'lost'; give t_ns, d_ns, lost_ns, transmissions, slots_used",
        "none": "d_ns is missing; return t_ns",
        "square": "t_ns must have one dimension",
        "used": "slots_used = 3: give 60000 to 60000",
    }.items():
        with pytest.raises(clift.SimulationError) as caught:
            clift.simulate(scenario(what))
        assert str(caught.value).startswith("scheme `bad-scheme`: ")
        assert line in str(caught.value)


def one_way(**methods: Any) -> type:
    return type("Part", (), methods)


@pytest.mark.parametrize(
    ("returned", "line"),
    [
        (-3, "on_loss returned -3; give a whole number of segments, 1 or more"),
        (0, "on_loss returned 0; give"),
        (float("nan"), "on_loss returned nan; give"),
        (2.5, "on_loss returned 2.5; give"),
        (None, "on_loss returned None; give"),
        (10**30, "give a whole number of segments"),
    ],
)
def test_wrong_windows_are_refused(returned: Any, line: str) -> None:
    name = f"wrong-{returned}".replace("-", "_").replace(".", "_")
    part = one_way(on_ack=PyNewReno.on_ack, on_loss=lambda _self, _window: returned)
    clift.register_congestion(name)(part)
    with pytest.raises(clift.SimulationError, match="congestion control `wrong") as caught:
        clift.simulate(LINK, transport=name, duration_s=50)
    assert line in str(caught.value)


@pytest.mark.parametrize("call", [(-1, 1), (1.5, 1), (float("nan"), 1), (1, "x"), (10**30, 1)])
def test_a_window_grows_by_whole_segments(call: Any) -> None:
    part = one_way(on_ack=lambda *given: given[2].increase(*call), on_loss=PyNewReno.on_loss)
    clift.register_congestion(f"grows-{id(call)}")(part)
    with pytest.raises(clift.SimulationError, match="give a whole number of segments, 0 or more"):
        clift.simulate(LINK, transport=f"grows-{id(call)}", duration_s=30)


@pytest.mark.parametrize("counts", [(1, 2, 0, []), (3, 2, 3, [])])
def test_no_more_messages_arrive_than_are_sent(counts: Any) -> None:
    own = {"send": lambda *_: (9, None), "report": lambda *_: counts}
    clift.register_application(f"reports-{id(counts)}")(one_way(**own))
    with pytest.raises(clift.SimulationError, match="no more can be received than sent"):
        clift.simulate(LINK, duration_s=30, **{"application.type": f"reports-{id(counts)}"})


def test_other_wrong_answers_are_refused() -> None:
    def set_window(_self: Any, _ack: Any, window: Any) -> None:
        window.cwnd = -1

    def refused(line: str, **options: Any) -> None:
        with pytest.raises(clift.SimulationError) as caught:
            clift.simulate(LINK, duration_s=30, **options)
        assert line in str(caught.value)

    loss = PyNewReno.on_loss
    clift.register_congestion("sets")(one_way(on_ack=set_window, on_loss=loss))
    refused("window.cwnd = -1: give a whole number of segments", transport="sets")
    clift.register_congestion("returns")(one_way(on_ack=lambda *_: 7, on_loss=loss))
    refused("on_ack returned 7; set window.cwnd instead", transport="returns")

    answers = {
        "sleepy": (lambda _self, _packet: None, lambda _self, _now: None),
        "odd": (lambda _self, _packet: None, lambda _self, _now: 7),
        "nay": (lambda _self, _packet: "no", lambda _self, _now: None),
    }
    for name, (enqueue, dequeue) in answers.items():
        clift.register_queue(name)(one_way(enqueue=enqueue, dequeue=dequeue))
    refused("dequeue returned None while 1 packet waits", **{"link.aqm": "sleepy"})
    refused("dequeue returned 7; give a packet that enqueue was given", **{"link.aqm": "odd"})
    refused("enqueue returned no; give False to drop", **{"link.aqm": "nay"})

    for name, answer, line in (
        ("minus", (-1, None), "bytes are a whole number"),
        ("notnumber", (float("nan"), None), "bytes are a whole number"),
        ("past", (5, 0), "a whole number of ns after now (0)"),
        ("single", 5, "give bytes to hand over, and the time"),
    ):
        clift.register_application(name)(one_way(send=lambda _self, _now, answer=answer: answer))
        refused(line, **{"application.type": name})

    clift.register_application("endless")(one_way(send=lambda _self, _now: (float("inf"), None)))
    refused("which have no flow control", transport="udp", **{"application.type": "endless"})
    assert (
        clift.simulate(LINK, duration_s=30, **{"application.type": "endless"}).summary()
        == clift.simulate(LINK, duration_s=30).summary()
    )

    def carry(how: str) -> Any:
        def decide(_self: Any, slot: Any) -> None:
            if how == "twice":
                slot.send_new()
                slot.send_new()
            elif how == "ends":
                unit = slot.send_new()
                slot.give_up(unit)
                slot.give_up(unit)

        return decide

    for name, line in (
        ("twice", "a slot carries one unit"),
        ("ends", "data unit 0 was not sent, or has arrived or been given up already"),
        ("stands", "requests the slot at 0 ns but sends nothing in it"),
    ):
        part = one_way(wants=lambda _self, _waits: 0, carry=carry(name))
        clift.register_scheme(f"live-{name}")(part)
        with pytest.raises(clift.SimulationError) as caught:
            clift.simulate(live(f"live-{name}"))
        assert line in str(caught.value)
        with pytest.raises(clift.SimulationError) as caught:
            clift.tmt.apply(PHY, f"live-{name}")
        assert line in str(caught.value)


def test_names_are_known_and_given_once() -> None:
    for register, taken in (
        (clift.register_scheme, "ARQ"),
        (clift.register_scheme, "py-fec"),
        (clift.register_congestion, "cubic"),
        (clift.register_congestion, "py-newreno"),
        (clift.register_queue, "CoDel"),
        (clift.register_queue, "dualpi2"),
        (clift.register_application, "bulk"),
    ):
        part = one_way(
            **dict.fromkeys(
                ("wants", "carry", "on_ack", "on_loss", "enqueue", "dequeue", "send"), id
            )
        )
        with pytest.raises(clift.ScenarioError, match=f"`{taken}`.*choose another name"):
            register(taken)(part)
    listed = {
        "scheme": "py-fec(k, n)",
        "link.aqm": "py-droptail",
        "transport.congestion": "py-newreno",
        "application.type": "py-rate",
    }
    for key, name in listed.items():
        with pytest.raises(clift.ScenarioError) as caught:
            clift.Scenario(
                {"channel": {"model": "bernoulli", "erasures": 0.1}}, **{key: "py-nothing"}
            ).cells()
        assert name in str(caught.value)
    for wrong in ("py-fec", "py-fec(1)", "py-fec(1, 2, 3)", "py-fec(k 1, k 2)", "py-fec(x 3, 1)"):
        with pytest.raises(clift.ScenarioError, match=r"py-fec.*(missing|nothing|twice)"):
            clift.tmt.apply(PHY, wrong)
    with pytest.raises(clift.ScenarioError, match="rate_bps"):
        clift.simulate(LINK, duration_s=1, **{"application.type": "py-rate"})
    with pytest.raises(clift.ScenarioError, match="unknown key"):
        clift.simulate(LINK, **{"application.type": "py-draws", "application.mean": 1})
    with pytest.raises(clift.ScenarioError, match="function over arrays"):
        clift.simulate(live("py-fec(1, 2)"))


PLUGIN = """
import clift

@clift.register_scheme("plugged{n}")
def plugged(phy):
    lost = (phy.d_ns == 0) * 5_000_000  # {version}
    return {{"t_ns": phy.t_ns, "d_ns": phy.d_ns, "lost_ns": lost}}
"""
STUDY = """
duration = "5 s"
channel = { model = "bernoulli", erasures = 0.1, slot = "1 ms", lldu = "500 B", decoding = "5 ms" }
link = { rtt = "100 ms" }
vary.scheme = ["none", "plugged1"]
"""


def test_a_study_belongs_to_the_content_of_its_plugins(tmp_path: Path) -> None:
    keys = []
    for version in ("one", "two"):
        path = tmp_path / f"{version}.py"
        path.write_text(PLUGIN.format(n=9, version=version))
        script = (
            "import clift; from clift.campaign.identity import cell_keys\n"
            f"clift.load_plugin({str(path)!r}); clift.load_plugin({str(path)!r})\n"
            f"s = clift.Scenario.parse({STUDY.replace('plugged1', 'plugged9')!r})\n"
            "print(*cell_keys(s))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        keys.append(done.stdout.split())
    assert keys[0][0] == keys[1][0], "what does not name it stays"
    assert keys[0][1] != keys[1][1]
    assert len(cell_keys(clift.Scenario(LINK, transport="py-newreno", duration_s=1))) == 1


def test_the_command_line_loads_plugins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.toml").write_text(STUDY)
    (tmp_path / "own.py").write_text(PLUGIN.format(n=1, version=1))
    scenario, plugin = str(tmp_path / "x.toml"), str(tmp_path / "own.py")
    assert command(["run", scenario]) == 2
    assert "plugged1: unknown scheme" in capsys.readouterr().err
    arguments = ["run", scenario, "--plugin", plugin, "--json", "-o", str(tmp_path / "out")]
    assert command([*arguments, "--no-plots", "--quiet"]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert cells[0]["metrics"] == cells[1]["metrics"]

    (tmp_path / "empty.py").write_text("x = 1\n")
    (tmp_path / "bad.py").write_text("x = 1\ny = x / 0\n")
    (tmp_path / "late.py").write_text(
        PLUGIN.format(n=2, version=1).replace("lost = ", "phy.nothing\n    lost = ")
    )
    (tmp_path / "syntax.py").write_text("def f(:\n")
    for name, line in (
        ("empty.py", "registers nothing"),
        ("bad.py", "line 2: ZeroDivisionError: division by zero"),
        ("syntax.py", "line 1: SyntaxError"),
        ("missing.py", "No such file or directory"),
    ):
        assert command(["run", scenario, "--plugin", str(tmp_path / name)]) == 2
        assert line in capsys.readouterr().err
    late = ["--plugin", str(tmp_path / "late.py"), "--set", "scheme=plugged2"]
    assert command(["run", scenario, *late]) == 2
    error = capsys.readouterr().err
    assert "late.py: line 6: AttributeError" in error
    assert error.count("\n") == 1


def test_workers_get_plugins_and_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(clift.ScenarioError, match="py-fec`: known in this process only"):
        own.plugins_of(['{"scheme": "py-fec(1, 2)"}'])
    assert own.plugins_of(['{"scheme": "ARQ"}']) == []
    (tmp_path / "own.py").write_text(PLUGIN.format(n=5, version=1))
    clift.load_plugin(tmp_path / "own.py")
    scenario = clift.Scenario.parse(STUDY.replace("plugged1", "plugged5"))
    (tmp_path / "load").write_bytes(pickle.dumps(cluster.Load(scenario)))
    # Another process, which sees only what is sent.
    (tmp_path / "own.py").unlink()
    script = (
        "import pickle, sys, clift.campaign.cluster as cluster\n"
        "load = pickle.load(open(sys.argv[1], 'rb'))\n"
        "batch, _ = cluster._run(load, ((0, 2),))\n"
        "print(batch.failure, *(row.values['goodput_kbps'] for row in batch.rows))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "load"],
        capture_output=True,
        text=True,
        check=True,
    )
    here = [clift.simulate(cell).goodput_kbps for cell in scenario.cells()]
    assert done.stdout.split() == ["None", *map(str, here)]


STOPPED = """
import os, signal, threading, time
import clift

@clift.register_congestion("slow")
class Slow:
    def on_ack(self, ack, window):
        time.sleep(0.3)

    def on_loss(self, window):
        return 2

phy = clift.channel.bernoulli(slots=200_000, p=0.01, seed=1)
link = clift.tmt.apply(phy, "ARQ")
runs = [clift.Scenario(link, duration_s=20, seed=seed, transport="slow") for seed in range(1, 9)]
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    clift.run_many(runs, progress=False, threads=4)
except clift.Interrupted:
    print("interrupted")
"""


def test_the_interpreter_ends_after_runs_that_were_left_in_a_part() -> None:
    for _ in range(2):  # without a wait it crashed half of the times
        done = subprocess.run(
            [sys.executable, "-c", STOPPED], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


@pytest.mark.parametrize(
    ("name", "guide"),
    [
        ("scheme", "extend-in-python"),
        ("congestion", "extend-in-python"),
        ("handover_control", "extend-in-python"),
        ("path_scheduler", "extend-in-python"),
        ("carrier_scheduler", "extend-in-python"),
        ("queue", "queue-in-python"),
        ("application", "queue-in-python"),
    ],
)
def test_the_guides_quote_the_examples_and_their_output(name: str, guide: str) -> None:
    path = ROOT / "examples" / f"own_{name}.py"
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (ROOT / "docs" / "guides" / f"{guide}.md").read_text()
    assert path.read_text() in page
    assert done.stdout in page
