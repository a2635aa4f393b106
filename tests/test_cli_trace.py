"""`clift trace`: exit code, stdout and stderr."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

import clift
from clift.cli.main import run
from clift.cli.options import READABLE
from clift.report.style import Picture

DATA = Path(__file__).parent / "data"
CLIFT = [sys.executable, "-m", "clift"]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch, tmp_path: Path):
    """Runs `clift ...` in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_version_and_help(command):
    assert command("--version") == (0, f"clift, version {clift.__version__}\n", "")
    code, out, _ = command("trace", "--help")
    assert code == 0
    assert all(word in out for word in ("info", "convert", "plot"))


def test_info_describes_a_trace(command):
    code, out, err = command("trace", "info", DATA / "geo.csv")
    assert (code, err) == (0, "")
    assert out == (
        "geo.csv\n"
        "  slots          200 of 33 bytes\n"
        "  duration       200.7604 ms\n"
        "  rate           263 kbit/s\n"
        "  erased         15 slots, 7.5000%\n"
        "  bursts         7, mean 2.143, longest 4 slots\n"
        "  good runs      8, mean 23.12, longest 65 slots\n"
        "  slot gap       median 1.003802 ms, longest 1.003802 ms\n"
        "  decoding time  min 36 ms, median 36 ms, p99 36 ms, max 36 ms\n"
        "  d_nom          36 ms\n"
        "  Gilbert fit    alpha 0.96196 (stays received), beta 0.53333 (stays erased)\n"
        "  description    200 slots of a Gilbert-Elliott channel, alpha 0.95, beta 0.5, seed 5\n"
        "  source         clift.channel.gilbert_elliott\n"
        "  warning        the file has no checksum, so damage is not noticed; clift trace convert "
        "writes it\n                 with one\n"
    )


def test_info_of_a_folder_is_a_table(command):
    code, out, err = command("trace", "info", DATA)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[0][:3] == ["trace", "slots", "seconds"]
    assert [line[0] for line in lines[1:]] == ["cell.up", "geo.csv", "probes.csv", "probes.csv"]
    assert [line[1] for line in lines[3:]] == ["up", "down"]
    assert len({len(line) for line in out.splitlines()}) == 1


def test_info_for_machines(command):
    code, out, _ = command("trace", "info", "--json", DATA / "geo.csv")
    (said,) = json.loads(out)
    assert code == 0
    assert said["trace"] == "geo.csv"
    assert said["erased"] == 15
    assert sum(length * runs for length, runs in said["bursts"]["counts"]) == 15
    assert said["decoding_ns"]["p50"] == 36_000_000


def test_an_all_erased_trace_and_a_single_slot_are_described(command, tmp_path: Path):
    clift.PhyTrace([0, 9], [0, 0]).write(tmp_path / "dark.csv")
    clift.PhyTrace([4], [2]).write(tmp_path / "single.csv")
    code, out, err = command("trace", "info", "dark.csv", "single.csv")
    assert (code, err) == (0, "")
    assert "100.0000" in out
    code, _, err = command("trace", "plot", "dark.csv", "single.csv", "-o", ".")
    assert (code, err) == (0, "")


def test_convert_from_anything_to_anything(command, tmp_path: Path):
    assert command("trace", "convert", DATA / "geo.csv", "a.parquet") == (0, "", "")
    columns = ("--to-unit", "ms", "--to", "columns")
    assert command("trace", "convert", "a.parquet", "b.txt", *columns) == (0, "", "")
    assert (tmp_path / "b.txt").read_text().startswith("0 36\n1.003802 36\n")
    assert command("trace", "convert", "b.txt", "c.csv", "--unit", "ms", "--lldu", "40")[0] == 0
    before, after = clift.read_trace(DATA / "geo.csv"), clift.read_trace(tmp_path / "c.csv")
    assert (before.t_ns == after.t_ns).all()
    assert (before.d_ns == after.d_ns).all()
    assert after.lldu_bytes == 40
    cut = ("--offset", "10 ms", "--share", "10")
    assert command("trace", "convert", "a.parquet", "d.csv", *cut)[0] == 0
    assert clift.read_trace(tmp_path / "d.csv").t_ns[0] == 10 * 1_003_802 - 10_000_000
    netem = ("--model", "loss")
    assert command("trace", "convert", "a.parquet", "e.json", *netem)[0] == 0
    assert "RepeatedLossPatternConfig" in json.loads((tmp_path / "e.json").read_text())
    probes = ("--format", "probes", "--direction", "up", "--rate", "2.4 Mbit/s")
    assert command("trace", "convert", DATA / "probes.csv", "f.csv", *probes)[0] == 0
    assert len(clift.read_trace(tmp_path / "f.csv")) == 239
    assert command("trace", "convert", "f.csv", "g.up")[0] == 0


def test_delays_and_loss_flags_in_two_files(command, tmp_path: Path):
    (tmp_path / "up_delay.txt").write_text("7\r\n5\r\n9\r\n")
    (tmp_path / "up_loss.txt").write_text("0\r\n0\r\n1\r\n")
    pair = ("--format", "delay-loss", "--losses", "up_loss.txt", "--interval", "10 ms")
    assert command("trace", "convert", "up_delay.txt", "x.csv", *pair) == (0, "", "")
    assert clift.read_trace(tmp_path / "x.csv").d_ns.tolist() == [3, 1, 0]
    (tmp_path / "x.csv").unlink()
    code, out, _ = command("trace", "info", ".", "--interval", "10 ms")
    assert code == 0
    assert out.startswith("up_delay.txt\n")


def test_plot_draws_png(command, tmp_path: Path, monkeypatch):
    code, out, err = command("trace", "plot", DATA / "geo.csv")
    assert (code, out, err) == (0, "geo.csv.png\n", "")
    assert (tmp_path / "geo.csv.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "logs").mkdir()
    shutil.copy(DATA / "probes.csv", tmp_path / "logs")
    monkeypatch.setattr("clift.report.trace_figure.figure", lambda *_: Picture(figsize=(1, 1)))
    code, out, _ = command("trace", "plot", "logs", "-o", ".")
    assert (code, out.split()) == (0, ["probes.csv_up.png", "probes.csv_down.png"])
    code, _, err = command("trace", "plot", DATA, "-o", "one.png")
    assert (code, err) == (2, "error: one.png: 4 traces need an existing folder\n")


GOOD = "t_ns,d_ns\n0,5\n10,0\n"


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("x.csv", None, [], "x.csv: no such file or folder"),
        ("x.csv", "", [], "x.csv: the trace is empty; give at least one slot"),
        ("x.csv", "t_ns,d_ns\n", [], "x.csv: the trace is empty; give at least one slot"),
        (
            "x.csv",
            GOOD + "20,NaN\n",
            [],
            "x.csv: line 4: `NaN` is not a time; write integer nanoseconds",
        ),
        ("x.csv", GOOD + "20,-1\n", [], "x.csv: line 4: `-1` is negative; times start at 0"),
        (
            "x.csv",
            GOOD + "5,1\n",
            [],
            "x.csv: line 4: time `5` does not come after the one before it; "
            "sort the file and drop repeated times",
        ),
        (
            "x.csv",
            GOOD + "99999999999999999999,1\n",
            [],
            "x.csv: line 4: `99999999999999999999` is over 2^61 ns (73 years); check the unit",
        ),
        (
            "x.csv",
            "# lldu_bytes: 0\n" + GOOD,
            [],
            "x.csv: line 1: `0` is not valid for lldu_bytes; write an integer of at least 1",
        ),
        (
            "x.csv",
            "0 0.5\n",
            [],
            "x.csv: line 1: `0 0.5` instead of the header `t_ns,d_ns`; for a bare two-column file "
            "give the unit (s, ms, us, ns), for another kind of file its format (0 and 1: loss); "
            "logs of rates, delays or a modem are read by `clift trace import`",
        ),
        (
            "x.csv",
            "0 inf\n",
            ["--unit", "s"],
            "x.csv: line 1: `inf` is not a time; write a decimal number in seconds",
        ),
        (
            "x.dat",
            GOOD,
            [],
            "x.dat: the suffix `.dat` does not determine the format; give a format: "
            f"{', '.join(READABLE)}; "
            "logs are read by `clift trace import`",
        ),
        (
            "x.json",
            "{}",
            [],
            "x.json: clift writes the format netem but does not read it; known by their "
            "content are mahimahi, ping, irtt, iperf3, starlink, rinex",
        ),
        (
            "x.up",
            "3\n2\n5\n",
            [],
            "x.up: line 2: 2 ms comes before the 3 ms of the line before it; sort the file",
        ),
        (
            "x.up",
            "15\n16\n1",
            [],
            "x.up: line 3: the last line, 1 ms, comes before the 16 ms of the line before it: "
            "it looks cut off; remove it, or copy the file again",
        ),
        (
            "x.parquet",
            "PAR1 not really",
            [],
            "x.parquet: not a Parquet file, or its end is missing; copy it again or give another "
            "format",
        ),
        (
            "x.csv",
            "a,b\n1,2\n",
            ["--format", "probes", "--direction", "up"],
            "x.csv: line 1: `a,b` is not the header of a probe file; known are "
            "`timestamp,rtt,uplink,downlink` and "
            "`send_time_s,up_delay_ms,up_lost,down_delay_ms,down_lost` in any order; "
            "other logs are read by `clift trace import`",
        ),
        (
            "x.loss",
            "110",
            [],
            "x.loss: a loss pattern has no times; give --slot and --decode",
        ),
    ],
)
def test_a_bad_file_gives_one_line(command, tmp_path: Path, name, content, options, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    assert command("trace", "info", name, *options) == (2, "", f"error: {message}\n")
    before = sorted(tmp_path.iterdir())
    code, out, _ = command("trace", "convert", name, "out.csv", *options)
    assert (code, out) == (2, "")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "No such command 'nothing'; see `clift trace --help`"),
        (["info"], "Missing argument 'PATHS...'; see `clift trace info --help`"),
        (["convert", "a", "b", "--share", "0"], "Invalid value for '--share'"),
        (["convert", "a", "b", "--offset", "3"], "Invalid value for '--offset': `3` has no unit"),
        (["info", ".", "--rate", "5 apples"], "Invalid value for '--rate'"),
        (["info", "."], ".: no trace found in this folder; give a file, and its format"),
    ],
)
def test_bad_arguments_give_one_line(command, arguments: list[str], message: str):
    code, out, err = command("trace", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_files_without_permission_are_refused(command, tmp_path: Path):
    (tmp_path / "secret.csv").write_text(GOOD)
    (tmp_path / "secret.csv").chmod(0)
    code, _, err = command("trace", "info", "secret.csv")
    assert (code, err) == (2, "error: secret.csv: cannot be opened: Permission denied\n")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    for name in ("y.csv", "y.parquet"):
        code, _, err = command("trace", "convert", DATA / "geo.csv", closed / name)
        assert code == 2
        assert "cannot be written: Permission denied" in err


def test_a_missing_folder_is_refused(command, monkeypatch):
    monkeypatch.setattr("clift.report.trace_figure.figure", lambda *_: Picture(figsize=(1, 1)))
    for name in ("y.csv", "y.parquet"):
        code, _, err = command("trace", "convert", DATA / "geo.csv", f"gone/{name}")
        assert (code, err) == (
            2,
            f"error: gone/{name}: cannot be written: No such file or directory; "
            "nothing was changed\n",
        )
    code, _, err = command("trace", "plot", DATA / "geo.csv", "-o", "gone/y.png")
    assert code == 2
    assert "gone/y.png: folder gone does not exist" in err


@pytest.mark.parametrize("name", ["y.csv", "y.parquet", "y.up"])
def test_a_full_disk_leaves_the_old_file(command, tmp_path: Path, name: str):
    clift.channel.bernoulli(slots=300_000, p=0.5, seed=1).write(tmp_path / "big.parquet")
    (tmp_path / name).write_text("old")
    limit, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, most))
    try:
        done = command("trace", "convert", "big.parquet", name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
    error = f"error: {name}: cannot be written: File too large; nothing was changed\n"
    assert done == (2, "", error)
    assert (tmp_path / name).read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["big.parquet", name])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("format", ["text", "parquet"])
def test_a_full_device(command, format: str):
    code, _, err = command("trace", "convert", DATA / "geo.csv", "/dev/full", "--to", format)
    assert code == 2
    assert err.startswith("error: /dev/full: cannot be written: No space left on device")
    assert Path("/dev/full").is_char_device()


def test_ctrl_c_is_clean(tmp_path: Path):
    pipe = tmp_path / "slow"
    os.mkfifo(pipe)
    waiting = subprocess.Popen(
        [*CLIFT, "trace", "convert", pipe, tmp_path / "out.csv", "--format", "text"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with pipe.open("w") as slow:
        # Opening waits for the reader, who then waits for more than this.
        slow.write("t_ns,d_ns\n0,5\n")
        slow.flush()
        time.sleep(0.5)
        waiting.send_signal(signal.SIGINT)
        out, err = waiting.communicate(timeout=300)
    assert (waiting.returncode, out.strip(), err.strip()) == (130, "", "stopped")
    assert [path.name for path in tmp_path.iterdir()] == ["slow"]


def test_ctrl_c_while_writing_leaves_the_old_file(tmp_path: Path):
    clift.channel.bernoulli(slots=2_000_000, slot_ns=1000, p=0.5, seed=1).write(
        tmp_path / "big.parquet"
    )
    out = tmp_path / "out.csv"
    out.write_text("old")
    writing = subprocess.Popen([*CLIFT, "trace", "convert", tmp_path / "big.parquet", out])
    until = time.monotonic() + 300
    while not list(tmp_path.glob(".out.csv.*.partial")) and time.monotonic() < until:
        time.sleep(0.01)
    writing.send_signal(signal.SIGINT)
    assert writing.wait(timeout=300) == 130
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.parquet", "out.csv"]


def test_a_closed_output_pipe_ends_the_command_quietly():
    closed = subprocess.run(
        f"{sys.executable} -m clift trace info {DATA} --json | true",
        shell=True, executable="/bin/bash", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (closed.returncode, closed.stdout, closed.stderr) == (0, "", "")


def test_an_internal_error_gives_one_line(command, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("clift.report.trace_text.describe", broken)
    code, _, err = command("trace", "info", DATA / "geo.csv")
    assert (code, err) == (
        1,
        "error: unexpected RuntimeError: two lines; "
        "please report this with the command line that led to it\n",
    )


@pytest.mark.parametrize("lengths", [(61, 61), (3, 26_593)])
def test_labels_of_long_bursts_do_not_overlap(lengths: tuple[int, int]):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from clift.report.trace_figure import figure

    # The bursts, with as many slots received between them.
    d_ns = [1] + [0] * lengths[0] + [1] * 9 + [0] * lengths[1] + [1]
    picture = figure(clift.PhyTrace(range(0, 10 * len(d_ns), 10), d_ns), "x")
    FigureCanvasAgg(picture).draw()
    axis = picture.axes[3]
    shown = [one for one in axis.get_xticklabels(which="both") if one.get_text()]
    low, high = axis.get_xlim()
    shown = [one for one in shown if low <= one.get_position()[0] <= high]
    boxes = sorted((one.get_window_extent() for one in shown), key=lambda box: box.x0)
    assert boxes
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
