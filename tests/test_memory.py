"""What would take too much memory is refused beforehand; Ctrl-C is answered at once."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import command
import pytest

import clift

PHY = clift.channel.bernoulli(slots=200_000, p=0.1, seed=1)
CHANNEL = '[channel]\nmodel = "bernoulli"\nerasures = "2 %"\nrate = "1 Gbit/s"\n'


@pytest.fixture(autouse=True)
def _limit() -> Iterator[None]:
    yield
    clift.memory_limit(None)


def runs(folder: Path, text: str = "1000000000 5\n") -> Path:
    path = folder / "big.runs"
    path.write_text(text)
    return path


def test_a_limit_is_set_read_and_reset() -> None:
    assert clift.memory_limit("2 GiB") == 2**31 == clift.memory_limit()
    assert clift.memory_limit(10**6) == 10**6
    assert clift.memory_limit("unlimited") is None
    free = clift.memory_limit(None)
    assert free is None or free > 2**20
    for wrong in (0, -1, 0.5, True, "much", "1 kbit/s", [], float("nan"), 2**64, b"1 GB"):
        with pytest.raises(clift.ScenarioError, match=r"limit = .*: give bytes, text such as"):
            clift.memory_limit(wrong)  # type: ignore[arg-type]


CALLS: dict[str, Callable[[Path], object]] = {
    "runs": lambda folder: clift.read_trace(runs(folder), slot_ns=1000, decode_ns=1000),
    "bernoulli": lambda _: clift.channel.bernoulli(slots=2**31, p=0.1),
    "gilbert": lambda _: clift.channel.gilbert_elliott(slots=2**31),
    "lms": lambda _: clift.channel.lms(duration_s=10**6),
    "on a trace": lambda _: clift.channel.bernoulli(on=PHY, p=0.1),
    "apply": lambda _: clift.tmt.apply(PHY, "HARQ(10/12)"),
    "scenario": lambda _: clift.simulate(clift.Scenario.parse(CHANNEL, "x.toml")),
    "many": lambda _: clift.run_many([clift.Scenario.parse(CHANNEL, "x.toml")] * 3),
    "adaptive HARQ": lambda _: clift.simulate(
        clift.Scenario({"adaptive_harq": {"length": "800 h"}})
    ),
    "segments": lambda _: clift.simulate(clift.HybridLink(), duration_s=60).events(),
}


@pytest.mark.parametrize("name", CALLS)
def test_too_large_work_is_refused_with_its_size(name: str, tmp_path: Path) -> None:
    clift.memory_limit(100_000)
    with pytest.raises(clift.OutOfMemory) as error:
        CALLS[name](tmp_path)
    line = str(error.value)
    assert "of memory in total, but the limit is 100 kB; use less, or raise it: " in line
    assert line.endswith('")')
    assert "\n" not in line
    assert isinstance(error.value, MemoryError)


def test_the_limit_in_the_message_is_enough() -> None:
    clift.memory_limit(100_000)
    for _ in range(5):
        try:
            clift.channel.lms(duration_s=60, seed=1)
            break
        except clift.OutOfMemory as error:
            clift.memory_limit(str(error).split('"')[-2])
    else:
        pytest.fail("what the messages allow is never enough")


def clift_command(*words: Any) -> subprocess.CompletedProcess[str]:
    return command.clift(*words)


def test_the_command_line_names_the_option_for_more_memory(tmp_path: Path) -> None:
    words = ["trace", "info", runs(tmp_path), "--slot", "1 us", "--decode", "1 us"]
    done = clift_command(*words, "--memory", "1 GB")
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.search(r"the limit is 1 GB; use less, or raise it: --memory \d+[MG]B\n$", done.stderr)
    path = runs(tmp_path, "1000 5\n" * 5)
    assert clift_command(*words, "--memory", "1GB").returncode == 0, path
    wrong = clift_command(*words, "--memory", "lots")
    assert wrong.returncode == 2
    assert "--memory" in wrong.stderr
    assert 'give a size such as "16 GB"' in wrong.stderr


def interrupted_after(call: Callable[[], object]) -> float:
    """Seconds from Ctrl-C until it is raised."""
    sent: list[float] = []

    def press() -> None:
        time.sleep(0.3)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    try:
        with pytest.raises((KeyboardInterrupt, clift.Interrupted)):
            call()
        return time.perf_counter() - sent[0]
    finally:
        thread.join()


SLOW: dict[str, Callable[[Path], object]] = {
    "pipe": lambda path: clift.read_trace(path, format="text"),
    "pipe of delays": lambda path: clift.simulate(clift.HybridLink(), path_ms=path),
    "closed form": lambda _: clift.model.fec(30_000, 65_535, 0.99, 0.5),
    "land mobile": lambda _: clift.channel.lms(duration_s=20_000),
    "run": lambda _: clift.simulate(clift.HybridLink(), duration_s=10**6),
    "log": lambda _: clift.simulate(clift.HybridLink(), duration_s=600).series(interval_ms=0.02),
    "many": lambda _: clift.run_many([clift.Scenario(clift.HybridLink(), duration_s=10**6)] * 3),
}


@pytest.mark.parametrize("name", SLOW)
def test_ctrl_c_is_answered_at_once(name: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Half a second is what is promised (validation/interrupts.py); a busy machine takes longer.
    assert interrupted_after(lambda: SLOW[name](pipe)) < 2.5
    # A reader of the pipe is let go.
    if name.startswith("pipe"):
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))


COLUMNS = """
import re
from pathlib import Path
import clift

def free_for_the_kernel():
    counts = Path("/proc/self/smaps_rollup").read_text()
    return sum(int(kb) << 10 for kb in re.findall(r"LazyFree: *(\\d+) kB", counts))

phy = clift.channel.bernoulli(slots=2_000_000, p=0.01, seed=1)
for _ in range(2):
    link = clift.tmt.apply(phy, clift.Arq())
    print(free_for_the_kernel())
    del link
    print(free_for_the_kernel())
"""


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="Linux counts such pages")
def test_the_kernel_may_take_the_columns_of_a_freed_trace_until_the_next_one() -> None:
    done = subprocess.run([sys.executable, "-c", COLUMNS], capture_output=True, check=True)
    first, freed, second, freed_again = map(int, done.stdout.split())
    columns = 2 * (8 * 2_000_000 - 2 * 2**21)  # without the huge pages at their ends
    assert min(freed, freed_again) >= max(first, second) + columns
