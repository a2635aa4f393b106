"""Reaction times to Ctrl-C and SIGTERM, step by step.

    python validation/interrupts.py     # prints the table; 1 if a step takes over half a second

Each step runs in a separate process, is left to work for a second, and gets the signal. What
counts is the time until the exception is raised (a library's user) or the process is gone (the
command line's). A step that ended otherwise, as one that was done before, has shown nothing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST_S = 0.5
WORKED_S = 1.0
# Endings of an interrupted call or command.
_ENDS = ("KeyboardInterrupt", "Interrupted", "exit code 130", f"exit code {-signal.SIGTERM}")

# Calls of the library; each takes far longer than a second.
CALLS = {
    "bernoulli": "clift.channel.bernoulli(slots=4 * 10**8, p=0.5)",
    "gilbert_elliott": "clift.channel.gilbert_elliott(slots=4 * 10**8, alpha=0.5, beta=0.5)",
    "lms": "clift.channel.lms(duration_s=400_000)",
    "erasures on a trace": "clift.channel.bernoulli(on=PHY, p=0.9)",
    "FIFO without a writer": "clift.read_trace(FIFO, format='text')",
    "FIFO of delays": "clift.simulate('hybrid.toml', path_ms=FIFO)",
    "large file": "clift.read_trace(LARGE)",
    "import of two days": "clift.import_series(DAYS, time='1:s', rate='20 Mbit/s')",
    "tmt.apply": "[clift.tmt.apply(PHY, 'HARQ(10/12)') for _ in range(99)]",
    "simulate": "clift.simulate(clift.HybridLink(), duration_s=10**7)",
    "series": "clift.simulate(clift.HybridLink(), duration_s=2000).series(interval_ms=0.01)",
    "run_many": "clift.run_many([clift.Scenario(clift.HybridLink(), duration_s=10**6)] * 4)",
    "run_many, channels": "clift.run_many([clift.Scenario(LONG, seed=n) for n in range(9)])",
    "model.fec": "clift.model.fec(30000, 65535, .99, .5)",
    "adaptive HARQ": "clift.simulate(clift.AdaptiveHarqLink(duration_s=5 * 10**5))",
    "plotting": "[draw() for _ in range(999)]",
}
SET_UP = """
import signal, sys, time, warnings
warnings.simplefilter("ignore")
import clift
from pathlib import Path
FIFO, LARGE = sys.argv[1:3]
if "PHY" in sys.argv[3]:
    PHY = clift.channel.bernoulli(slots=3 * 10**7, p=0.3)
if "DAYS" in sys.argv[3]:
    DAYS = Path(FIFO).with_name("days.csv")
    DAYS.write_text("0\\n86400\\n")
LONG = {"adaptive_harq": {"length": "20 h"}}
def draw():
    from clift.report.trace_figure import figure, save
    phy = clift.channel.bernoulli(slots=20_000, p=0.1)
    save(figure(phy, "x"), Path(FIFO).with_name("x.png"))
if "draw" in sys.argv[3]:
    draw()
print("ready", flush=True)
try:
    eval(sys.argv[3])
except BaseException as error:
    print(type(error).__name__, time.clock_gettime(time.CLOCK_MONOTONIC), flush=True)
    import os
    os._exit(0)
print("done")
"""
# What stderr has when a command gets the signal (nothing: it works for a while), and the command.
COMMANDS = {
    "clift run, long channel": ("", ["run", "{long}", "--quiet"]),
    "clift trace info FIFO": ("", ["trace", "info", "{fifo}", "--format", "text"]),
    "clift run -o, runs": ("", ["run", "{many}", "--quiet", "-o", "{out}"]),
    "clift run -o, demo": ("", ["run", "{cells}", "--quiet", "-o", "{demo}"]),
    "clift run -o, tables": ("runs.parquet", ["run", "{cells}", "--quiet", "-o", "{tables}"]),
    "clift run -o, plots": ("comparison", ["run", "{cells}", "--quiet", "-o", "{plots}"]),
}


def call(name: str, folder: Path) -> tuple[float, str]:
    """Seconds until a call of the library was interrupted, and by what."""
    command = [sys.executable, "-c", SET_UP, folder / "fifo", folder / "large.csv", CALLS[name]]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(WORKED_S)
    began = time.clock_gettime(time.CLOCK_MONOTONIC)
    process.send_signal(signal.SIGINT)
    try:
        said = process.communicate(timeout=60)[0].split()
    except subprocess.TimeoutExpired:
        process.kill()
        return 60, "never"
    if said[:1] == ["done"] or len(said) < 2:
        return 0, "was done before"
    return float(said[1]) - began, said[0]


def command(name: str, folder: Path, what: signal.Signals) -> tuple[float, str]:
    """Seconds until a command was gone, and its exit code."""
    names = {key: folder / f"{key}.toml" for key in ("long", "many")}
    names["cells"] = Path(__file__).parent.parent / "examples" / "geo_mobile.toml"
    names |= {"fifo": folder / "fifo"}
    names |= {key: folder / f"{key}-{what.name}" for key in ("out", "demo", "tables", "plots")}
    told, words = COMMANDS[name]
    process = subprocess.Popen(
        [sys.executable, "-m", "clift", *(word.format(**names) for word in words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    if told:
        assert any(told in line for line in process.stderr)
    else:
        time.sleep(WORKED_S + 1)
    began = time.perf_counter()
    process.send_signal(what)
    try:
        code = process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        return 60, "never"
    finally:
        process.stderr.close()
    return time.perf_counter() - began, f"exit code {code}"


def main() -> int:
    """Prints every step; 1 if one takes too long or was not interrupted."""
    slow = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.mkfifo(folder / "fifo")
        rows = "".join(f"{slot * 1000},36000000\n" for slot in range(1_000_000))
        with (folder / "large.csv").open("w") as file:
            file.write("t_ns,d_ns\n" + rows)
            for part in range(1, 40):
                base = part * 1_000_000
                file.writelines(f"{(base + slot) * 1000},5\n" for slot in range(1_000_000))
        (folder / "hybrid.toml").write_text('duration = "1 s"\n[hybrid]\n')
        (folder / "long.toml").write_text('duration = "1 s"\n[adaptive_harq]\nlength = "20 h"\n')
        (folder / "many.toml").write_text('duration = "2000 s"\nruns = 999\n[hybrid]\n')
        steps = [(one, lambda one=one: call(one, folder)) for one in CALLS]
        for one in COMMANDS:
            for what in (signal.SIGINT, signal.SIGTERM):
                steps.append((f"{one}, {what.name}", lambda o=one, w=what: command(o, folder, w)))
        for title, step in steps:
            took, ended = step()
            slow += took > MOST_S or ended not in _ENDS
            print(f"{title:40} {took:6.3f} s  {ended}", flush=True)
    print(f"{slow} of {len(steps)} steps take over {MOST_S} s, or were not interrupted")
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
