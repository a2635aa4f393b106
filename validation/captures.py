"""Captures of random scenarios as tshark decodes them: no malformed frame, length or checksum.

Draws 20 scenarios (TCP of both profiles, QUIC, datagrams, pages over HTTP/1.1, HTTP/2 and HTTP/3,
with and without ECN, over links and legs), captures whole packets, and prints a line for each with
what tshark finds. QUIC is dissected by the package's script, every byte of every frame. Needs
tshark. Ends with 0 if it finds no fault.

    python validation/captures.py [COUNT [SEED]]
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import clift
import clift.hosts

SCRIPT = Path(clift.hosts.__file__).parent / "quic.lua"
FIELDS = [
    "frame.len",
    "ip.len",
    "ip.checksum.status",
    "tcp.checksum.status",
    "udp.checksum.status",
    "udp.length",
    "_ws.malformed",
    "_ws.expert.severity",
    "clift_quic.type",
    "frame.comment",
]
ERROR = 0x800000
"""Severity of an error in Wireshark; `tcp.analysis` has warnings and notes."""


def drawn(rng: random.Random) -> str:
    """The text of a random scenario."""
    kind = rng.choice(["tcp", "tcp", "quic", "quic", "udp", "page", "page"])
    rate = rng.choice(["500 kbit/s", "2 Mbit/s", "10 Mbit/s"])
    lines = [f"seed = {rng.randrange(1000)}", f'duration = "{rng.choice([3, 8, 20])} s"']
    if rng.random() < 0.7:
        scheme = rng.choice(["none", "ARQ", "ARQ(max 1)", "HARQ(10/12)", "FEC(10/12)"])
        lines.append(f'link.queue = "{rng.choice([20, 100])} packets"')
        lines += rng.choice([[], [], ['link.aqm = "codel"']])
        lines += [f'scheme = "{scheme}"', f'link.rtt = "{rng.choice([30, 120, 500])} ms"']
        lines.append(
            f'channel = {{ model = "gilbert-elliott", erasures = "{rng.choice([0, 1, 5])} %", '
            f'burst = 4, rate = "{rate}", lldu = "250 B" }}'
        )
    else:
        lines.append(
            f'path = [{{ leg = {{ rate = "{rate}", delay = "{rng.choice([10, 80])} ms", '
            f'queue = "30 packets", loss = "{rng.choice([0, 1])} %" }} }}]'
        )
    lines.append("[transport]")
    if kind == "udp":
        lines.append('protocol = "udp"\n[application]\ntype = "constant rate"\nrate = "300 kbit/s"')
        return "\n".join(lines) + "\n"
    http = rng.choice(["1.1", "2", "3"])
    quic = kind == "quic" or (kind == "page" and http == "3")
    lines.append(f'protocol = "{"quic" if quic else "tcp"}"')
    lines.append(f'congestion = "{rng.choice(["newreno", "cubic", "bbr"])}"')
    if not quic and kind == "tcp":
        lines.append(f'profile = "{rng.choice(["papers", "linux"])}"')
    if rng.random() < 0.3 and 'profile = "papers"' not in lines:
        lines.append("ecn = true")
    if kind == "page":
        shape = rng.choice(["3gpp", "mobile-2024"])
        lines.append(f'[application]\ntype = "page"\nshape = "{shape}"\nhttp = "{http}"')
    return "\n".join(lines) + "\n"


def faults(path: Path) -> tuple[int, Counter[str]]:
    """Number of frames, and the faults that tshark finds in them."""
    command = ["tshark", "-X", f"lua_script:{SCRIPT}", "-r", str(path), "-T", "fields"]
    for layer in ("ip", "tcp", "udp"):
        command += ["-o", f"{layer}.check_checksum:TRUE"]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: Counter[str] = Counter()
    rows = [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]
    for row in rows:
        found["length of IP"] += row["frame.len"] != row["ip.len"]
        if row["udp.length"]:
            found["length of UDP"] += int(row["udp.length"]) != int(row["ip.len"]) - 20
        for layer in ("ip", "tcp", "udp"):
            found[f"checksum of {layer}"] += row[f"{layer}.checksum.status"] not in ("1", "")
        found["no checksum"] += not (row["tcp.checksum.status"] or row["udp.checksum.status"])
        found["malformed"] += row["_ws.malformed"] != ""
        severities = [int(one) for one in row["_ws.expert.severity"].split(",") if one]
        found["error"] += any(one >= ERROR for one in severities)
        found["no comment"] += row["frame.comment"] == ""
    if "Lua" in done.stderr:
        found["the script"] += 1
    return len(rows), +found


def main() -> None:
    """Prints a line for each scenario."""
    if shutil.which("tshark") is None:
        print("skipped: there is no tshark", file=sys.stderr)
        return
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    bad = frames = 0
    for number in range(1, count + 1):
        text = drawn(rng)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            path = Path(folder, "x.pcapng")
            written = clift.simulate(clift.Scenario.parse(text)).capture(path, 65_535)
            seen, found = faults(path)
            if seen != written:
                found["frames missing"] += written - seen
        told = ", ".join(f"{name}: {times}" for name, times in found.items()) or "no fault"
        protocol = next(line for line in text.splitlines() if line.startswith("protocol"))
        print(f"{number:3}  {protocol.split()[-1]:7} {seen:7} frames  {told}", flush=True)
        frames += seen
        bad += bool(found)
    print(f"{count - bad} of {count} captures, {frames} frames, without a fault")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
