"""Every key of every table of a scenario file has an effect somewhere."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import clift
from clift import _clift

SCHEMA = json.loads(_clift.scenario_schema())
TABLES = SCHEMA["$defs"]

CHANNEL = '[channel]\nmodel = "bernoulli"\nerasures = "5 %"\nrate = "2 Mbit/s"\n'
LEG = 'leg = { rate = "2 Mbit/s", delay = "20 ms", queue = "9 packets", loss = "1 %" }\n'
ENDS = '[[flow]]\nfrom = "a"\nto = "b"\n[network]\n'
LINK = '[network.links.{0}]\nfrom = "a"\nto = "b"\nduplex = true\n'
NTN = '[ntn]\npreset = "nr-ntn-leo600"\n'


def within(table: str) -> str:
    """The channel in another table."""
    return CHANNEL.replace("[channel]", f"[{table}.channel]")


APPLICATIONS = {
    "tcp": [
        'type = "file"\nsize = "300 kB"',
        'type = "page"\nshape = "3gpp"\nhttp = "1.1"\ndeadline = "1 s"',
        'type = "request"\nrequest = "200 B"\nresponse = "90 kB"\npause = "1 s"\ndeadline = "1 s"',
        'type = "video"\nladder = ["100 kbit/s", "300 kbit/s", "900 kbit/s"]\nsegment = "500 ms"',
        'type = "video"\nladder = ["500 kbit/s", "1 Mbit/s"]\nsegment = "1 s"\nbuffer = "2 s"',
    ],
    "udp": [
        'type = "constant rate"\nrate = "500 kbit/s"\ndeadline = "1 s"',
        'type = "voice"\ndeadline = "1 s"',
        'type = "conference"\nstart_rate = "2 Mbit/s"\nmin_rate = "900 kbit/s"',
        'type = "conference"\ndeadline = "1 s"',
    ],
}
BASES = [
    'scheme = "ARQ"\n' + CHANNEL,
    'scheme = "HARQ(5/6)"\nlink = { live = true, feedback_loss = "20 %" }\n' + CHANNEL,
    'scheme = "ARQ"\nlink.reorder = { packets = 5 }\n' + CHANNEL,
    'scheme = "ARQ(max 1)"\nlink.reorder = { packets = 50 }\n' + CHANNEL,
    'scheme = "HARQ(5/6)"\nlink.overlap = "free"\n' + CHANNEL,
    'scheme = "ARQ"\n[link]\nlive = true\nfeedback_channel = { model = "gilbert-elliott", '
    'erasures = "20 %", burst = 3, slot = "1 ms" }\n' + CHANNEL,
    CHANNEL.replace("bernoulli", "gilbert-elliott") + "burst = 3\n",
    CHANNEL.replace("bernoulli", "gilbert-elliott").replace('erasures = "5 %"', "alpha = 0.9")
    + "beta = 0.5\n",
    'scheme = "ARQ"\n'
    + CHANNEL.replace('"2 Mbit/s"', '"2 Mbit/s"\nlength = "9 s"')
    + "[link]\ndelays = 'delays.csv'\n",
    'application = { type = "file", size = "30 kB" }\n' + CHANNEL,
    'coding = { on_demand = true, adapt = 2.0, header = "2 B" }\n[channel]\nmodel = "bernoulli"\n'
    'erasures = "5 %"\nrate = "2 Mbit/s"\nlldu = "1600 B"\n',
    'coding = { code = "block", window = 20 }\n' + CHANNEL,
    '[hybrid]\ndelay = "50 ms"\nloss = "5 %"\n',
    NTN,
    NTN + 'rlc = "um"\nbler = "60 %"\nmax_transmissions = 1\n',
    NTN + 'bler = "60 %"\nmax_transmissions = 1\nstatus_loss = "50 %"\nmax_retx = 2\n',
    NTN + 'missed_grant = "20 %"\ndelay = "5 ms"\ndiscard = "300 ms"\n',
    NTN + 'handover_every = "1 s"\ninterruption = "100 ms"\n',
    NTN + 'delays = "delays.csv"\nreturn_delays = "delays.csv"\n',
    NTN + 'grants = "requested"\n',
    NTN + 'grants = "configured"\n',
    'flows = 3\n[ntn]\npreset = "nr-ntn-leo600"\nterminals = 3\nscheduler = '
    '{ type = "proportional fair" }\nbler = "40 %"\n',
    '[adaptive_harq]\nsnr = "6 dB"\n',
    '[adaptive_harq]\nsnr = "6 dB"\ndelays = "delays.csv"\nattempt_sigma = 0.1\n',
    'flows = 3\n[carrier]\nterminals = 3\nrate = "2 Mbit/s"\nloss = "5 %"\n',
    'flows = 3\n[carrier]\nterminals = 3\nrate = "2 Mbit/s"\n'
    'scheduler = { type = "demand", rate = "500 kbit/s" }\n',
    'flows = 3\n[carrier]\nterminals = 3\nrate = "2 Mbit/s"\nscheduler = { type = '
    '"proportional fair" }\nfades = { share = "30 %", mean = "200 ms", bytes = "50 %" }\n',
    '[[path]]\nleg = { rate = "5 Mbit/s", delay = "5 ms", queue = "30 packets" }\n'
    f"[[path]]\n{LEG}",
    '[[path]]\nleg = { rate = "2 Mbit/s", delays = "delays.csv" }\n',
    f"[[path]]\n{LEG}coding = {{ window = 20, hops = 2 }}\n[[path]]\n{LEG}",
    f"[[path]]\n{LEG}[[path]]\npep = {{}}\n[[path]]\n{LEG}",
    f"[return]\nscheme = 'ARQ'\nlink.rtt = '50 ms'\n{within('return')}{CHANNEL}",
    f'return.delay = "30 ms"\n{CHANNEL}',
    f"{CHANNEL}[[return.path]]\n{LEG}",
    f"{ENDS}{LINK.format('x')}{LEG}",
    f"{ENDS}routing = 'delay'\n{LINK.format('x')}leg = {{ rate = '1 Mbit/s', delay = '27 ms' }}\n"
    f"{LINK.format('y')}leg = {{ rate = '2 Mbit/s', delays = 'delays.csv' }}\n",
    f"{ENDS}{LINK.format('x')}scheme = 'ARQ'\n{within('network.links.x')}",
    f"[[path]]\nscheme = 'ARQ'\n{within('path')}",
    "[[path]]\nleg.rate = '2 Mbit/s'\n",
    "[[path]]\nleg = { rate = '9 Mbit/s', delay = '40 ms' }\n[application]\ntype = 'request'\n"
    "request = '90 B'\nresponse = '200 kB'\npause = '1 s'\n",
    f"transport.profile = 'linux'\n{CHANNEL}",
    "transport.protocol = 'quic'\n[[path]]\nleg = { rate = '2 Mbit/s', delay = '20 ms', "
    "outages = [['300 ms', '2500 ms']] }\n",
    f"{ENDS}{LINK.format('x')}{LEG}{LINK.format('y')}{LEG}".replace(
        "[network]", 'paths = [["x"], ["y"]]\n[network]'
    ),
    f'access = {{ rate = "3 Mbit/s", delay = "4 ms" }}\n{CHANNEL}',
    f"transport = {{ profile = 'papers', cwnd_max = '40 packets' }}\n{CHANNEL}",
    f"transport.quic = {{}}\ntransport.protocol = 'quic'\n{CHANNEL}",
    f"transport.protocol = 'quic'\napplication = {{ type = 'file', size = '90 kB' }}\n{CHANNEL}",
    f"{CHANNEL}[[flow]]\nstart = '1 s'\n[[flow]]\narrivals = {{ type = 'poisson', gap = '1 s' }}\n"
    "application = { type = 'file', size = '20 kB' }\n",
    *(
        f"transport.protocol = '{protocol}'\n{CHANNEL}[application]\n{text}\n"
        for protocol, texts in APPLICATIONS.items()
        for text in texts
    ),
]

#: Values to try, by the type of the schema.
VALUES: dict[str, list[Any]] = {
    "Time": ["30 ms", "3 s", "400 ms", "4 ms"],
    "Timer": ["30 ms", "2 s"],
    "Start": ["1 s"],
    "Bytes": ["600 B", "1300 B", "40 B", "3000 B"],
    "Size": ["20 kB", "70 kB"],
    "Rate": ["1 Mbit/s", "300 kbit/s"],
    "Probability": [0.2, 0.9],
    "Burst": [4.0],
    "Queue": ["3 packets"],
    "Aqm": ["codel"],
    "Packets": ["3 packets", "30 packets"],
    "Delays": ["delays.csv"],
    "Limit": [1, 2, 5],
    "Scheme": ["ARQ", "FEC(5/6)"],
    "Congestion": ["newreno", "hybla"],
    "Level": ["2 dB", "15 dB"],
    "Angle": ["60 deg"],
    "Frequency": ["1.5 GHz"],
    "Speed": ["20 km/h"],
    "Length": ["5 m"],
    "DelayedAck": ["100 ms"],
}
LISTS: dict[str, list[Any]] = {
    "lost_data": [[3, 17]],
    "held_data": [[[5, "35 ms"]]],
    "outages": [[["1 s", "1.4 s"]]],
    "targets": [[0.5, 0.9, 0.99, 0.999]],
    "ladder": [["300 kbit/s"]],
    "per_table": [[[0.2, 0.9], [0.9, 0.01]]],
}


def candidates(name: str, node: dict[str, Any]) -> list[Any] | str:
    """Values of a key to try; the name of the table if it holds one."""
    if "$ref" in node:
        table = node["$ref"].rsplit("/", 1)[-1].removesuffix("Varied")
        if table in VALUES:
            return VALUES[table]
        if TABLES[table].get("type") == "object" or table in CHOICES:
            return CHOICES.get(table, table)
        return candidates(name, TABLES[table])
    if "enum" in node or "const" in node:
        return [one for one in node.get("enum", [node.get("const")]) if one is not None]
    found: list[Any] = []
    for option in (*node.get("anyOf", ()), *node.get("oneOf", ())):
        values = candidates(name, option)
        if isinstance(values, str):
            return values
        found += values
    kind = node.get("type", "null")
    plain = PLAIN.get(kind if isinstance(kind, str) else kind[0], [])
    return found or LISTS.get(name, plain)


def properties(table: str, given: dict[str, Any]) -> dict[str, Any]:
    """The keys of a table, with those of the kinds that it has."""
    schema = TABLES[table] if table else SCHEMA
    found = dict(schema.get("properties", {}))
    for choice in schema.get("oneOf", ()):
        tags = {k: v["const"] for k, v in choice.get("properties", {}).items() if "const" in v}
        if "$ref" in choice and all(given.get(tag) == value for tag, value in tags.items()):
            found |= TABLES[choice["$ref"].rsplit("/", 1)[-1]].get("properties", {})
    return found


def inner(key: str, node: dict[str, Any], own: Any) -> list[tuple[str, tuple[Any, ...], Any]]:
    """The tables that a key holds: name, path from here, and what is given."""
    table = candidates(key, node)
    if isinstance(table, str):
        there = isinstance(own, dict) or (own is None and table in EMPTY)
        return [(table, (key,), own or {})] if there else []
    if key == "links":
        return [("NetworkLink", (key, name), one) for name, one in (own or {}).items()]
    if isinstance(own, list) and own and isinstance(own[0], dict):
        item = node["items"]["$ref"].rsplit("/", 1)[-1].removesuffix("Varied")
        return [(item, (key, n), one) for n, one in enumerate(own)]
    return []


def keys(table: str, given: dict[str, Any]) -> Iterator[tuple[str, tuple[Any, ...], list[Any]]]:
    """Table, path and values of the keys of a table, and of the tables in it that are given."""
    for key, node in properties(table, given).items():
        for name, path, own in inner(key, node, given.get(key)):
            for owner, rest, tried in keys(name, own):
                yield owner, (*path, *rest), tried
        values = [True] if key == "pep" else candidates(key, node)
        if isinstance(values, list) and values:
            yield table, (key,), values


PLAIN: dict[str, list[Any]] = {
    "boolean": [True, False],
    "integer": [1, 2, 7, 11, 3],
    "number": [0.4, 2.0, 0.05],
}
#: Tables of which one key chooses the others, and what a proxy is.
CHOICES = {"Application": "Application", "Arrivals": "Arrivals", "Scheduler": "Scheduler"}
CHOICES |= {"Pep": "Proxy"}
#: Keys without an effect on these runs, and why.
INERT = {
    "AdaptiveHarq.length": "how much of the channel there is",
    "AdaptiveHarq.redraw": "of several runs",
    "Channel.redraw": "of several runs",
    "runs": "of several runs",
    "Hybrid.frames": "bounds the packets",
    "Link.handover_every": "told to a congestion control that asks",
    "Hop.pep": "takes the place of a hop",
    "NetworkLink.pep": "refused",
    "Quic.persistent_congestion_threshold": "of losses that last for several probe timeouts",
    "Ntn.combining": "needs a land mobile channel, which takes seconds to draw",
    "Papers.cube_root": "differs by rounding",
    "Link.wrap": "lets a run go on behind the end of its trace",
}

#: Tables that may be given without a key.
EMPTY = ("Link", "Transport", "Linux", "Papers", "Quic")


REFUSED = {
    "transport.quic": f"transport.quic = {{}}\n{CHANNEL}",
    "transport.linux": f"transport = {{ protocol = 'quic', linux = {{}} }}\n{CHANNEL}",
    "transport.sack": f"transport = {{ protocol = 'quic', sack = false }}\n{CHANNEL}",
    "flow.0.transport.ecn": f"flow = [{{ application.type = 'voice', transport = "
    f"{{ protocol = 'udp', ecn = true }} }}, {{}}]\n{CHANNEL}",
    "transport.congestion": "transport.protocol = 'udp'\napplication.type = 'voice'\n"
    f"vary.transport.congestion = ['cubic', 'bbr']\n{CHANNEL}",
    "return.scheme": f"{CHANNEL}[return]\nscheme = 'ARQ'\n[[return.path]]\n{LEG}",
    "return.link": f"{CHANNEL}[return]\nlink.queue = '3 packets'\n[[return.path]]\n{LEG}",
    "hybrid.seed": f"hybrid.seed = 3\n{CHANNEL}",
    "channel.decoding": f"hybrid = {{}}\n{CHANNEL}decoding = '9 ms'\n",
    "link.feedback_channel.decoding": "scheme = 'ARQ'\nlink = { live = true, feedback_channel = "
    "{ model = 'bernoulli', erasures = 0.1, slot = '1 ms', decoding = '3 ms' } }\n" + CHANNEL,
    "link.feedback_repeat": f"scheme = 'ARQ'\nlink = {{ live = true, feedback_repeat = '9 ms' }}\n"
    f"{CHANNEL}",
    "link.reorder": "link.reorder = {}\nntn = {}\n",
    "ntn.k_offset": "ntn = { harq_feedback = false, k_offset = '600 ms' }\n",
}


@pytest.mark.parametrize("key", REFUSED)
def test_a_key_without_effect_is_refused_by_name(key: str) -> None:
    with pytest.raises(clift.ScenarioError) as error:
        clift.Scenario.parse(REFUSED[key]).cells()
    assert f": {key}: " in str(error.value)


def test_a_preset_stands_beside_any_protocol() -> None:
    text = f"application.type = 'voice'\ntransport = {{ protocol = 'udp' }}\n{CHANNEL}"
    for preset in ("geo-mobile-2014", "leo-2017"):
        assert clift.Scenario.parse(f"preset = '{preset}'\n{text}").cells()


def test_a_campaign_may_vary_the_protocol_beside_its_options() -> None:
    text = f"transport.quic = {{}}\nvary.transport.protocol = ['tcp', 'quic']\n{CHANNEL}"
    assert len(clift.Scenario.parse(text).cells()) == 2


def put(base: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The scenario with another value."""
    changed = copy.deepcopy(base)
    at: Any = changed
    for step in path[:-1]:
        at = at[step] if isinstance(at, list) else at.setdefault(step, {})
    at[path[-1]] = value
    return changed


def result(scenario: dict[str, Any]) -> str | None:
    """What a run of it says; `None` if it is refused."""
    try:
        return json.dumps(clift.simulate(clift.Scenario(scenario)).summary(), sort_keys=True)
    except clift.CliftError:
        return None


def without_effect() -> list[str]:
    """The keys that change no run of any base."""
    left: dict[str, bool] = {}
    for text in BASES:
        base = tomllib.loads(f'duration = "4 s"\n{text}')
        plain = result(base)
        assert plain, text
        for table, path, values in keys("", base):
            name = f"{table}.{path[-1]}".lstrip(".")
            if left.setdefault(name, True):
                runs = (result(put(base, path, value)) for value in values)
                left[name] = all(run in (None, plain) for run in runs)
    return sorted(name for name, nothing in left.items() if nothing)


@pytest.mark.filterwarnings("ignore:flow 0")
@pytest.mark.filterwarnings("ignore:return link")
def test_every_key_has_an_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = (f"{n / 2},{20 + 15 * (n % 2)}\n" for n in range(40))
    Path("delays.csv").write_text("time_s,delay_ms\n" + "".join(rows))
    assert without_effect() == sorted(INERT)
