"""Checks of campaigns: coverage of 95 % intervals, and false winners.

The demo is run from twenty seeds. How their means scatter shows whether runs are independent. All
runs of a cell together then are a law whose mean is known: a thousand campaigns drawn from it, with
replacement and as large as the demo's, show how often the interval holds that mean. Two equal
alternatives under twelve conditions, drawn alike, show how often one of them is called best. The
same over measured and drawn links, with few windows and with one start; and how often a difference
of 10 % is found by as many runs as a campaign that did not find it asks for.

    python validation/campaign_statistics.py            # all, about ten minutes on two cores
    python validation/campaign_statistics.py --seeds 4  # a quick look
    python validation/campaign_statistics.py --links    # the links alone, two minutes

Ends with 1 if a bound is broken. Not called `statistics.py`: scripts beside it would import that in
the place of the standard library's.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from clift.campaign import Results, Verdict, run_campaign, verdicts
from clift.campaign.results import Cell
from clift.campaign.runs import Runs
from clift.campaign.statistics import estimates
from clift.campaign.values import Values
from clift.scenario import Scenario

DEMO = Path(__file__).parent.parent / "examples" / "geo_mobile.toml"
METRICS = (
    "completion_s",
    "goodput_kbps",
    "flows.0.segment_delay_ms.mean",
    "flows.0.in_order_delay_ms.mean",
    "links.0.packet_delay_ms.mean",
    "links.0.packet_delay_ms.p50",
)
CAMPAIGNS = 1000
CONDITIONS = 12
LOG = DEMO.parent / "link_log.csv"
GEO = {
    "model": "gilbert-elliott",
    "erasures": "2 %",
    "burst": 2,
    "rate": "263 kbit/s",
    "lldu": "33 B",
}
LEO = {
    "model": "gilbert-elliott",
    "erasures": "2 %",
    "burst": 20,
    "rate": "10 Mbit/s",
    "lldu": "1500 B",
}
FILE = {"application": {"type": "file", "size": "400 kB"}, "duration": "60 s"}
ROWS = {
    "time": "time_s:s",
    "rate": "rate_mbps:Mbit/s",
    "delay": "delay_ms:ms",
    "loss": "loss_percent:%",
}
OVER_LOG = {"trace": {"file": str(LOG), **ROWS}, "duration": "10 s"}
LINKS: dict[str, dict[str, Any]] = {
    "measured, random starts": OVER_LOG
    | {"link": {"rtt": "0 ms", "start": "random", "wrap": True}},
    "measured, one start": OVER_LOG
    | {"link": {"rtt": "0 ms", "wrap": True}, "transport": {"congestion": "bbr"}},
    "GEO, drawn": {"channel": GEO, "link": {"rtt": "500 ms"}, "duration": "20 s"},
    "file over LEO, drawn": {"channel": LEO, "link": {"rtt": "40 ms"}} | FILE,
}
"""Links by name, each with a scheme and a congestion control."""
OF_LINKS, FOUND, TRUE = 200, 0.80, 0.10
TIMES: dict[str, dict[str, Any]] = {
    f"50 kB over GEO, {rate}": {
        "channel": {"model": "bernoulli", "erasures": "0.5 %", "rate": rate},
        "link": {"rtt": "500 ms"},
        "application": {"type": "file", "size": "50 kB"},
        "duration": "60 s",
    }
    for rate in ("1 Mbit/s", "10 Mbit/s")
} | {"400 kB over LEO": LINKS["file over LEO, drawn"]}
"""Files over links on which few runs of ARQ, or one in hundreds, decide its mean time."""
# Bounds: of the mean over all cells and metrics, of each, of false winners, of scatter over what
# the runs within a campaign say (of twenty means, in the mean of all cells).
MEAN, LEAST, FALSE, SCATTER = (0.93, 0.97), 0.90, 0.05, (0.85, 1.15)

Pool = dict[tuple[int, str], np.ndarray[Any, Any]]
"""By cell and metric: what was measured, campaigns by runs."""


def main() -> int:
    """Measures everything and prints what is out of bounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="campaigns that are run")
    parser.add_argument("--keep", type=Path, help="file that keeps the runs, read if it is there")
    parser.add_argument("--links", action="store_true", help="only equals and a difference by link")
    chosen = parser.parse_args()
    if chosen.links:
        broken = over_links()
        print(*(f"OUT OF BOUNDS: {line}" for line in broken), sep="\n", end="")
        return int(bool(broken))
    labels = [cell.labels for cell in Scenario.read(DEMO).cells()]
    pool = kept(chosen.keep) or drawn(chosen.seeds)
    if chosen.keep and not chosen.keep.exists():
        np.savez(chosen.keep, **{f"{cell}/{name}": of for (cell, name), of in pool.items()})
    broken = [*scatter(pool), *coverage(pool, labels), *false_winners(pool, labels)]
    broken += over_links()
    for line in broken:
        print(f"OUT OF BOUNDS: {line}")
    return int(bool(broken))


def kept(file: Path | None) -> Pool:
    """The runs of an earlier call."""
    if file is None or not file.exists():
        return {}
    with np.load(file) as table:
        return {(int(key.split("/")[0]), key.split("/")[1]): table[key] for key in table.files}


def drawn(seeds: int) -> Pool:
    """Campaigns of the demo, each from its own seed."""
    found: dict[tuple[int, str], list[list[float]]] = {}
    for seed in range(1, seeds + 1):
        results = run_campaign(Scenario.read(DEMO, {"seed": str(1000 + seed)}))
        for index, cell in enumerate(results.cells):
            for name in METRICS:
                column = cell.column(name)
                if len(column) == cell.wanted:
                    runs = [column[run] for run in sorted(column)]
                    found.setdefault((index, name), []).append(runs)
        print(f"campaign {seed} of {seeds}", file=sys.stderr)
    return {key: np.array(rows) for key, rows in found.items() if len(rows) == seeds}


def varies(runs: np.ndarray[Any, Any]) -> bool:
    """Whether there is anything to estimate: some cells have no loss, and one outcome."""
    return bool(np.std(runs) > 1e-9 * abs(np.mean(runs)))


def scatter(pool: Pool) -> list[str]:
    """Means of campaigns scatter as runs within them do, if runs are independent."""
    ratios = []
    for runs in pool.values():
        if varies(runs):
            within = np.sqrt(np.mean(np.var(runs, axis=1, ddof=1)) / runs.shape[1])
            ratios.append(np.std(np.mean(runs, axis=1), ddof=1) / within)
    mean = float(np.sqrt(np.mean(np.square(ratios))))
    print(
        f"scatter of {len(next(iter(pool.values())))} campaigns' means over what their runs say: "
    )
    print(f"  {mean:.3f} in the mean of {len(ratios)}, {min(ratios):.2f} to {max(ratios):.2f}\n")
    inside = SCATTER[0] <= mean <= SCATTER[1]
    return [] if inside else [f"scatter {mean:.3f} is not in {SCATTER}"]


def coverage(pool: Pool, labels: list[dict[str, str]]) -> list[str]:
    """Share of campaigns whose interval contains the mean of the distribution of the runs."""
    draw = np.random.default_rng(1)
    found: dict[tuple[int, str], float] = {}
    print(
        f"coverage of 95 % intervals, {CAMPAIGNS} campaigns each (- : none or rarely an interval)"
    )
    for (cell, name), runs in pool.items():
        law = np.sort(runs.ravel())
        if not varies(law):
            continue
        columns = draw.choice(law, (runs.shape[1], CAMPAIGNS))
        told = [one for one in estimates(columns) if one.half_width is not None]
        if len(told) < CAMPAIGNS / 2:
            continue
        mean = float(np.mean(law))
        found[cell, name] = float(np.mean([one.low <= mean <= one.high for one in told]))  # type: ignore[operator]
    for cell, own in enumerate(labels):
        texts = (f"{found[cell, name]:.3f}" if (cell, name) in found else "-" for name in METRICS)
        print(f"  {' '.join(own.values()):34}", *(f"{text:>6}" for text in texts))
    values = np.array(list(found.values()))
    print(f"  mean {values.mean():.3f}, least {values.min():.3f}, of {len(values)}\n")
    broken = [
        f"{' '.join(labels[cell].values())}, {name}: {covered:.3f} is below {LEAST}"
        for (cell, name), covered in found.items()
        if covered < LEAST
    ]
    inside = MEAN[0] <= values.mean() <= MEAN[1]
    return broken + ([] if inside else [f"mean coverage {values.mean():.3f} is not in {MEAN}"])


def false_winners(pool: Pool, labels: list[dict[str, str]]) -> list[str]:
    """Share of campaigns that name one of equal alternatives best."""
    draw = np.random.default_rng(2)
    broken = []
    for task, name in (("page", "completion_s"), ("bulk", "goodput_kbps")):
        cells = [cell for cell, own in enumerate(labels) if own.get("task") == task]
        laws = [pool[cell, name] for cell in cells if varies(pool[cell, name])]
        for alternatives in (2, 3):
            false = sum(
                any(one.best for one in verdicts(campaign(draw, laws, name, alternatives)))
                for _ in range(CAMPAIGNS // 2)
            ) / (CAMPAIGNS // 2)
            what = f"{alternatives} equal alternatives, {CONDITIONS} conditions, {task}"
            print(f"{what}: a false winner in {false:.1%} of {CAMPAIGNS // 2} campaigns")
            # Two standard errors of this many campaigns.
            if false > FALSE + 2 * np.sqrt(FALSE * (1 - FALSE) / (CAMPAIGNS // 2)):
                broken.append(f"{what}: {false:.1%}")
    return broken


def over_links() -> list[str]:
    """Share of campaigns with a false winner, and with a true one of 10 %, link by link.

    Campaigns are drawn from 300 runs of a link.
    """
    campaigns = OF_LINKS
    draw, broken = np.random.default_rng(3), over_times()
    for name, link in LINKS.items():
        scenario = Scenario({"scheme": "ARQ", "seed": 7} | link)
        whole = run_campaign(scenario.replace(runs=300))
        for few in (5, 12):
            equal = [of_two(whole, draw, few, 1.0) for _ in range(campaigns)]
            false = sum(one.best is not None and not one.is_exact for one in equal) / campaigns
            print(f"{name}: {few} runs, a false winner in {false:.1%} of {campaigns} campaigns")
            # Two standard errors of this number of campaigns.
            if false > FALSE + 2 * np.sqrt(FALSE * (1 - FALSE) / campaigns):
                broken.append(f"{name}: a false winner in {false:.1%}")
        if whole.cells[0].shared:
            continue  # of one trace there are no more windows than there are
        found, asked = 0, []
        for _ in range(campaigns):
            one = of_two(whole, draw, 6, 1 - TRUE)
            if one.best is None and one.needed is not None:
                asked.append(one.needed)
                one = of_two(whole, draw, one.needed, 1 - TRUE, again=True)
            found += one.best == "A"
        median = f", which ask for {np.median(asked):.0f} runs (median)" if asked else ""
        share = found / campaigns
        print(f"{name}: {TRUE:.0%} less found in {share:.1%} of {campaigns} campaigns{median}")
        if share < FOUND:
            broken.append(f"{name}: {TRUE:.0%} less found in {share:.1%}")
    return broken


def over_times() -> list[str]:
    """Share of campaigns that call ARQ or HARQ best where their mean times are made equal.

    Runs of both share their draws. Where one run in hundreds decides, the bound is not met.
    """
    draw, broken = np.random.default_rng(4), []
    for name, link in TIMES.items():
        scenario = {"vary": {"scheme": ["ARQ", "HARQ(10/12)"]}, "runs": 3000, "seed": 5} | link
        cells = run_campaign(Scenario(scenario)).cells
        times = np.array([cell.values.array("completion_s") for cell in cells])
        times[0] -= np.mean(times[0] - times[1])
        rates = []
        for runs in (8, 11, 12, 20, 30, 49, 50, 75, 100, 200, 400):
            false = 0
            for _ in range(CAMPAIGNS // 2):
                drawn = times[:, draw.integers(0, times.shape[1], runs)]
                whole = [Cell({"scheme": one}, True, runs) for one in "AB"]
                for cell, own in zip(whole, drawn, strict=True):
                    found = {run: {"completion_s": time} for run, time in enumerate(own)}
                    cell.values = Values(found)
                [one] = verdicts(Results("two", 1, [("scheme", ["A", "B"])], whole, []))
                false += one.best is not None
            rates.append(false / (CAMPAIGNS // 2))
            if "LEO" not in name and rates[-1] > FALSE + 2 * np.sqrt(FALSE * 0.95 * 2 / CAMPAIGNS):
                broken.append(f"{name}, {runs} runs: a false winner in {rates[-1]:.1%}")
        print(f"{name}: false winners", *(f"{rate:.1%}" for rate in rates))
    return broken


def of_two(
    whole: Results, draw: np.random.Generator, runs: int, part: float, again: bool = False
) -> Verdict:
    """The verdict on two alternatives of which the second measures `part` of the first.

    Their runs are drawn separately, so that pairs of them have no draw in common.
    """
    [law] = whole.cells
    there, windows = list(law.values), law.windows
    chosen = draw.choice(len(there), 2 * runs, replace=again or 2 * runs > len(there))
    table = Runs()
    cells = []
    factor = part if law.primary == "goodput_kbps" else 1 / part
    for number, label in enumerate("AB"):
        places = [there[at] for at in chosen[number::2]]
        found = [
            {name: law.values[place][name] for name in (law.primary, "duration_s")}
            for place in places
        ]
        for one in found:
            one[law.primary] *= factor if number else 1.0
        table.add(number, range(runs), found, [windows.get(place) for place in places])
        values = Values.of(table, number)
        cells.append(Cell({"scheme": label}, law.is_transfer, runs, values, law.shared))
    [one] = verdicts(Results("two", 1, [("scheme", ["A", "B"])], cells, [], table=table))
    return one


def campaign(
    draw: np.random.Generator, laws: list[np.ndarray[Any, Any]], name: str, alternatives: int
) -> Results:
    """A campaign whose alternatives are drawn from one law in each condition."""
    cells = []
    for condition in range(CONDITIONS):
        law = laws[condition % len(laws)]
        for alternative in range(alternatives):
            own = {"scheme": f"S{alternative}", "condition": f"c{condition}"}
            cell = Cell(own, name == "completion_s", law.shape[1])
            drawn = draw.choice(law.ravel(), law.shape[1])
            cell.values = Values({run: {name: value} for run, value in enumerate(drawn)})
            cells.append(cell)
    axes = [
        ("scheme", [f"S{number}" for number in range(alternatives)]),
        ("condition", [f"c{number}" for number in range(CONDITIONS)]),
    ]
    return Results("equal", 1, axes, cells, [], frozenset(["condition"]))


if __name__ == "__main__":
    sys.exit(main())
