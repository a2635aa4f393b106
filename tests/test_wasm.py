"""The core as WebAssembly gives the same as the native one, to the last bit."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clift
from clift._clift import RECEIVED, UNIT_NEW
from clift.campaign.repairs import heights
from clift.explore.page import SAMPLES, first_answer

ROOT = Path(__file__).parents[1]
MODULE = ROOT / "python" / "clift" / "explore" / "clift.wasm"
# QUIC is no part of the core.
FILES = sorted(
    path for path in (ROOT / "examples").glob("*.toml") if '"quic"' not in path.read_text()
)
# Reads tasks, one JSON object a line, and writes an answer a line.
PROGRAM = """
const fs = require("fs");
const [worker, wasm, page] = process.argv.slice(1);
const { ask, addFile, fault } = new Function(
  `${fs.readFileSync(worker, "utf8")}; return { ask, addFile, fault };`)();
const [, scenarios] = fs.readFileSync(page, "utf8").split(/^\\/\\/ --- (?:scenarios|links) ---$/m);
const { setting, toml } = new Function(`${scenarios}; return { setting, toml };`)();
const module = new WebAssembly.Module(fs.readFileSync(wasm));
if (WebAssembly.Module.imports(module).length) throw new Error("the module imports something");
const engine = new WebAssembly.Instance(module, {}).exports;
for (const line of fs.readFileSync(0, "utf8").trim().split("\\n")) {
  const { name, request, files } = JSON.parse(line);
  for (const [file, path] of Object.entries(files)) addFile(engine, file, fs.readFileSync(path));
  let answer = ask(engine, name, request);
  // As the page runs a cell: by its own text.
  if (name === "clift_check" && answer.given)
    answer = ask(engine, "clift_run", { ...request, text: toml(setting(answer.given)), cell: 0 });
  for (const column in answer.columns) answer.columns[column] = [...answer.columns[column]];
  fs.writeSync(1, JSON.stringify(answer) + "\\n");
}
"""


def is_current() -> bool:
    """Whether the module is there and was built from the files that are there now."""
    sources = [*ROOT.glob("core/src/**/*.rs"), *ROOT.glob("bindings/wasm/src/*.rs")]
    newest = max(path.stat().st_mtime for path in sources)
    return MODULE.exists() and MODULE.stat().st_mtime >= newest


pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
    pytest.mark.skipif(not is_current(), reason="clift.wasm is not built or is old: make wasm"),
]


def answers(tasks: list[dict[str, Any]]) -> list[str]:
    """The answers of the module, a line each."""
    worker = MODULE.with_name("worker.js")
    lines = "\n".join(json.dumps(task) for task in tasks)
    command = ["node", "-e", PROGRAM, str(worker), str(MODULE), str(MODULE.with_name("explore.js"))]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def task(path: Path, cell: int, **more: Any) -> dict[str, Any]:
    """The first run of a cell, with the files that the scenario names."""
    text = path.read_text()
    named = re.findall(r'"([^"]+\.csv)"', text)
    files = {name: str(path.parent / name) for name in named if (path.parent / name).exists()}
    request = {"name": path.name, "text": text, "cell": cell} | more
    return {"name": "clift_run", "request": request, "files": files}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_first_and_the_last_cell_equal_native_ones(path: Path) -> None:
    short = {"duration": "20 s"}
    cells = clift.Scenario.read(path, short).cells()
    chosen = sorted({0, len(cells) - 1})
    changes = list(short.items())
    found = answers(
        [
            task(path, cell, changes=changes, samples=many) | {"name": name}
            for cell in chosen
            for name, many in (("clift_run", 0), ("clift_run", 50), ("clift_check", 0))
        ]
    )
    runs = clift.run_many([cells[cell].replications()[0] for cell in chosen], progress=False)
    for number, (cell, run) in enumerate(zip(chosen, runs, strict=True)):
        lines = found[3 * number : 3 * number + 3]
        plain, logged, written = (json.loads(line) for line in lines)
        expected = {"labels": cells[cell].labels, "replication": 0, "summary": run.summary()}
        assert plain == expected
        assert logged["summary"] == expected["summary"]
        assert written["summary"] == expected["summary"]


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_cell_gives_the_bytes_of_the_native_program(path: Path) -> None:
    program = ROOT / "target" / "local" / "examples" / "scenario"
    if not program.exists():
        pytest.skip("target/local/examples/scenario is missing; make test builds it")
    command = [program, path.name, "--runs", "1"]
    done = subprocess.run(command, cwd=path.parent, check=True, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    found = answers([task(path, cell) for cell in range(len(lines))])
    assert [json.loads(line) for line in found] == [json.loads(line) for line in lines]


def test_columns_equal_those_of_python() -> None:
    path = ROOT / "examples" / "demo.toml"
    [line] = answers([task(path, 0, samples=400)])
    columns = json.loads(line)["columns"]
    run = clift.run_many([clift.Scenario.read(path).cells()[0].replications()[0]], progress=False)[
        0
    ]
    series = run.series(interval_ms=1000).to_pydict()
    for name in ("time_s", "goodput_kbps", "cwnd_packets", "queue_packets"):
        assert columns[name] == [float(value) for value in series[name]]
    events = run.events()
    arrived, delay, _ = clift.campaign.segments.one_way_delays(events)
    known = dict(zip(arrived.tolist(), delay.tolist(), strict=True))
    assert max(columns["delay_ms"]) == max(delay) / 1e6
    assert min(columns["delay_ms"]) == min(delay) / 1e6
    for time, ms in zip(columns["arrival_s"], columns["delay_ms"], strict=True):
        assert known[round(time * 1e9)] / 1e6 == pytest.approx(ms, rel=1e-15)


@pytest.mark.parametrize("side", ["A", "B"])
def test_the_first_answers_of_the_page_are_those_of_the_module(side: str) -> None:
    start, stops = (
        json.loads(MODULE.with_name(f"{name}.json").read_text()) for name in ("start", "stops")
    )
    given = start | stops[0][side]
    text = "\n".join(f"{key} = {json.dumps(value)}" for key, value in given.items())
    request = {"name": "x", "text": text, "samples": SAMPLES}
    [line] = answers([{"name": "clift_run", "request": request, "files": {}}])
    found, made = json.loads(line), first_answer(given)
    assert {name: found[name] for name in made} == made


@pytest.mark.parametrize("name", ["demo", "leo", "terminals", "live_geo"])
def test_causes_equal_those_of_the_native_program(name: str) -> None:
    path = ROOT / "examples" / f"{name}.toml"
    short = {"duration": "20 s"}
    run = clift.simulate(clift.Scenario.read(path, short).cells()[0].replications()[0])
    asked = task(path, 0, changes=list(short.items()), at_ns=2_000_000_000)
    [line] = answers([asked | {"name": "clift_why"}])
    assert json.loads(line) == run.why(at=2)


@pytest.mark.parametrize("scheme", ["none", "ARQ", "HARQ(10/12, extra 1)"])
def test_a_loss_has_the_units_and_segments_of_the_native_run(scheme: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        f"""
        scheme = "{scheme}"
        duration = "20 s"
        channel = {{ model = "bernoulli", erasures = "1 %", rate = "500 kbit/s", lldu = "200 B" }}
        link = {{ rtt = "300 ms", live = true }}
        """
    )
    asked = task(path, 0, at_ns=5_000_000_000) | {"name": "clift_loss"}
    [line] = answers([asked])
    found = json.loads(line)
    run = clift.simulate(clift.Scenario.read(path))
    sent = {name: np.asarray(column) for name, column in run.units().to_pydict().items()}
    events = {name: np.asarray(column) for name, column in run.events().to_pydict().items()}
    time, arrival = sent["time_ns"], sent["arrival_ns"]
    data = (sent["kind"] == UNIT_NEW) & (sent["flow"] >= 0)
    [row, *_] = np.flatnonzero(data & (arrival < 0) & (time >= 5e9))
    at, seq, packet = time[row], sent["seq"][row], sent["first_packet"][row]
    its = (events["kind"] == RECEIVED) & (events["seq"] == seq) & (events["time_ns"] > at)
    received = events["time_ns"][its][0]
    assert (found["at_s"], found["received_s"]) == pytest.approx((at / 1e9, received / 1e9))
    assert found["seq"] == seq
    fifth = (received - at) // 5
    low, high = at - fifth, received + 3 * fifth
    here = (time <= high) & (np.where(arrival < 0, time, arrival) >= low)
    columns = {
        name: np.array([np.nan if one is None else one for one in column])
        for name, column in found["columns"].items()
    }
    assert here.sum() > 50
    assert columns["time"] == pytest.approx(time[here] / 1e9)
    expected = np.where(arrival < 0, np.nan, arrival / 1e9)[here]
    assert columns["arrival"] == pytest.approx(expected, nan_ok=True)
    assert columns["kind"].tolist() == sent["kind"][here].tolist()
    assert columns["asked"].tolist() == (sent["attempt"] > 0)[here].tolist()
    ours = (sent["first_packet"] <= packet) & (packet <= sent["last_packet"])
    assert columns["ours"].tolist() == ours[here].tolist()
    assert columns["number"].tolist() == heights(sent)[here].tolist()
    inside = (events["time_ns"] >= low) & (events["time_ns"] <= high)
    assert columns["segment_time"] == pytest.approx(events["time_ns"][inside] / 1e9)
    assert columns["segment_kind"].tolist() == events["kind"][inside].tolist()
    assert columns["segment_seq"].tolist() == events["seq"][inside].tolist()


def test_bad_input_gives_the_line_of_the_native_program() -> None:
    text = '[link]\nrat = "5 ms"\n'
    with pytest.raises(clift.ScenarioError) as native:
        clift.Scenario.parse(text, "x.toml").cells()
    missing = 'duration = "1 s"\n[trace]\nfile = "x.csv"\n'
    requests = [{"name": "x.toml", "text": text}, {"name": "x.toml", "text": missing}]
    tasks = [{"name": "clift_run", "request": one, "files": {}} for one in requests]
    first, second = (json.loads(line)["error"] for line in answers(tasks))
    assert first == str(native.value)
    assert second.startswith("x.toml line 3: trace.file: x.csv: cannot be opened")
