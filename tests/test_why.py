"""`clift why` and `clift attack`: budgets, chains of events, and runs with other erasures."""

import json
import random
import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command import clift as clift_command
from matplotlib.backends.backend_agg import FigureCanvasAgg

import clift
import clift._clift as _clift
from clift.diagnosis.attack import attack
from clift.diagnosis.replay import Edits, behind, bursts, effect, first_run, replay, replayed, setup
from clift.report.causes import draw

GUIDE = Path(__file__).parents[1] / "docs" / "guides" / "why.md"
GEO = """
duration = "60 s"
scheme = "ARQ"

[channel]
model = "gilbert-elliott"
erasures = "1 %"
burst = 3
rate = "2 Mbit/s"
lldu = "250 B"

[link]
rtt = "500 ms"
live = true

[transport]
profile = "papers"
cwnd_max = "120 packets"
"""


def test_the_guide_shows_what_its_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text()
    (scenario,) = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    Path("geo.toml").write_text(scenario)
    blocks = re.findall(r"```console\n\$ clift (.*?)\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 7
    for command, shown in blocks:
        printed = clift_command(*shlex.split(command)).stdout
        assert max(map(len, printed.splitlines())) <= 100
        if shown.startswith("...\n"):
            assert printed.endswith(shown.removeprefix("...\n"))
        else:
            assert printed == shown


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "geo.toml"
    made.write_text(GEO)
    return made


def why(*words: object) -> dict[str, Any]:
    ran = clift_command("why", *words, "--json")
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_the_causes_and_the_goodput_add_up_to_the_capacity(path: Path) -> None:
    found = why(path)
    run = clift.simulate(clift.Scenario.read(path))
    assert found["goodput_kbps"] == pytest.approx(run.goodput_kbps, abs=1e-9)
    costs = sum(part["kbps"] for part in found["budget"])
    assert found["goodput_kbps"] + costs == pytest.approx(found["capacity_kbps"], rel=1e-9)
    link = run.summary()["links"][0]
    assert found["capacity_kbps"] == pytest.approx(link["capacity_kbps"], rel=1e-9)
    # ns-2's TCP takes what ARQ repairs for losses: the link loses no packet.
    assert link["packets_lost"] == 0
    assert found["limited_by"] == "false_loss"
    assert found["cuts"]["losses"] == 0 < found["cuts"]["false_losses"]


def test_the_cell_that_is_explained_is_named(path: Path, tmp_path: Path) -> None:
    several = tmp_path / "x.toml"
    several.write_text(
        path.read_text().replace('scheme = "ARQ"', "")
        + '[vary]\nscheme = ["HARQ(10/12)", "none"]\n'
    )
    told = clift_command("why", str(several)).stderr
    assert "explained: scheme = HARQ(10/12), the first of 2 cells" in told
    assert clift_command("why", str(several), "--set", "scheme=none").stderr == ""


def test_erased_capacity_is_what_the_units_say(path: Path) -> None:
    run = clift.simulate(clift.Scenario.read(path))
    units = run.units().to_pandas()
    erased = 250 * 8e-3 * (units.arrival_ns < 0).sum() / 60
    parts = {part["cause"]: part["kbps"] for part in run.why()["budget"]}
    assert parts["erased"] == pytest.approx(erased, rel=1e-9)


@pytest.mark.parametrize(("erasures", "live"), [("0 %", False), ("3 %", False), ("3 %", True)])
def test_nothing_repairs_without_a_scheme(erasures: str, live: bool) -> None:
    channel = {"model": "bernoulli", "erasures": erasures, "lldu": "1500 B", "rate": "2 Mbit/s"}
    link = {"rtt": "500 ms", "live": live}
    scenario = clift.Scenario({"channel": channel, "link": link}, duration_s=20)
    budget = clift.simulate(scenario).why()["budget"]
    causes = {part["cause"] for part in budget}
    assert "repair" not in causes
    assert ("erased" in causes) == (erasures != "0 %")
    # Half a round trip of the link, full or not.
    [under_way] = [part["kbps"] for part in budget if part["cause"] == "unfinished"]
    assert 0 < under_way <= 2000 * 0.25 / 20 + 12


def test_an_instant_is_explained_by_a_chain(path: Path) -> None:
    cut = why(path)["costliest"][0]
    at = round(cut["at_s"] + 0.6, 3)
    found = why(path, "--at", f"{at} s")["moment"]
    assert found["from_s"] <= at <= found["until_s"]
    (sender,) = found["senders"]
    assert sender["cause"] == "false_loss"
    assert sender["cut"]["number"] == cut["number"]
    packet = sender["cut"]["packet"]
    times = ["sent_s", "entered_link_s", "left_queue_s", "first_erased_s", "left_link_s"]
    assert [packet[name] for name in times] == sorted(packet[name] for name in times)
    assert packet["fate"] == "arrived"
    assert packet["units_erased"] == packet["units_sent_again"] > 0
    told = clift_command("why", path, "--at", str(at)).stdout
    for word in ("was erased", "the link delivered it", "duplicate ACK", "window cut from"):
        assert word in told


def traced(
    path: Path, erased: range, *lines: str, slots: int = 2500, without: range = range(0)
) -> Path:
    """A scenario over slots of 12 ms with 1500 bytes, of which some are erased or absent."""
    rows = [f"{n * 12_000_000},{int(n not in erased)}" for n in range(slots) if n not in without]
    head = ["# clift-trace: 1", "# lldu_bytes: 1500", "# decode_ns: 1", "t_ns,d_ns"]
    (path.parent / "t.csv").write_text("\n".join([*head, *rows]) + "\n")
    keys = ('duration = "24 s"', 'trace.file = "t.csv"', 'link.rtt = "100 ms"')
    made = path.parent / "t.toml"
    made.write_text("\n".join([*keys, "link.live = true", *lines]) + "\n")
    return made


def test_quic_cuts_its_window_only_where_it_falls(path: Path) -> None:
    made = traced(path, range(0), 'link.queue = "20 packets"', 'transport.protocol = "quic"')
    found = why(made)
    assert 0 < found["cuts"]["drops"] < 20
    assert found["cuts"]["false_losses"] == 0
    for cut in found["costliest"]:
        assert cut["window_after_packets"] < cut["window_before_packets"]


_CONTROLS = [
    *(("tcp", control) for control in ("newreno", "cubic", "westwood", "dctcp", "bbr3")),
    *(("quic", control) for control in ("newreno", "cubic", "hybla", "clift-cubic")),
]


@pytest.mark.parametrize(
    ("protocol", "congestion", "ecn"),
    [
        (*control, ecn)
        for control in _CONTROLS
        for ecn in (True, False)
        if ecn or control != ("tcp", "dctcp")
    ],
)
def test_each_reduction_that_a_flow_counts_has_its_cause(
    protocol: str, congestion: str, ecn: bool
) -> None:
    leg = 'rate = "10 Mbit/s", delay = "20 ms", queue = "1000 packets", aqm = "codel"'
    run = clift.simulate(
        clift.Scenario.parse(
            f"""
            duration = "20 s"
            [transport]
            protocol = "{protocol}"
            congestion = "{congestion}"
            ecn = {str(ecn).lower()}
            [[path]]
            leg = {{ {leg} }}
            """
        )
    )
    (flow,) = run.summary()["flows"]
    cuts = {name: number for name, number in run.why()["cuts"].items() if number}
    assert flow["timeouts"] == 0 < flow["window_reductions"]
    assert cuts == {"marks" if ecn else "drops": flow["window_reductions"]}
    if ecn:
        assert flow["ecn"]["reductions"] == flow["window_reductions"]
        assert flow["retransmissions"] == flow["recovery_entries"] == 0
    else:
        assert flow["recovery_entries"] == flow["window_reductions"]


def test_a_moment_names_a_cut_that_still_costs(path: Path) -> None:
    (sender,) = why(path, "--at", "60 s")["moment"]["senders"]
    assert sender["cut"]["at_s"] > 50


def test_a_timeout_of_a_handshake_cuts_no_window(path: Path) -> None:
    found = why(made := traced(path, range(30)))
    assert found["cuts"]["unknown"] == 0
    assert found["cuts"]["handshake_timeouts"] == 1
    parts = {part["cause"]: part["kbps"] for part in found["budget"]}
    # The timer of the first SYN runs for 1 s.
    assert parts["timeout"] == pytest.approx(1000 / 24, rel=0.05)
    assert re.search(
        "^window cuts: .*; 1 timeout of handshakes$", clift_command("why", made).stdout, re.M
    )


def test_drops_of_a_queue_are_counted_apart_from_losses(path: Path) -> None:
    cuts = why(traced(path, range(1500, 1501), 'link.queue = "20 packets"'))["cuts"]
    assert cuts["losses"] == 1
    assert cuts["drops"] > 2


def test_a_chain_names_the_places(path: Path, tmp_path: Path) -> None:
    def told(erased: range, *lines: str) -> list[tuple[float, str]]:
        cut = why(traced(path, erased, *lines))["costliest"][0]
        return [(round(event["at_s"], 3), event["text"]) for event in cut["events"]]

    late = told(range(1500, 1503), 'scheme = "ARQ"', 'transport.profile = "papers"')
    assert (18.0, "its LLDU was erased") in late
    lost = told(range(1500, 1501), 'transport.cwnd_max = "12 packets"')
    assert {(18.0, "its LLDU was erased"), (18.05, "the link lost it")} <= set(lost)
    assert lost[-2][1].endswith(" packets that were sent after it had arrived")
    made = tmp_path / "net.toml"
    made.write_text("""
duration = "20 s"

[network.links.uplink]
from = "home"
to = "gateway"
duplex = true
leg = { rate = "2 Mbit/s", delay = "100 ms", queue = "10 packets" }

[[flow]]
name = "upload"
from = "home"
to = "gateway"
""")
    said = clift_command("why", made).stdout
    assert "The cut that cost most, flow upload:" in said
    assert "the queue of uplink dropped it" in said


def test_a_moment_tells_full_use_and_an_outage(path: Path) -> None:
    made = traced(path, range(1200, 1300), 'scheme = "ARQ"', without=range(800, 1000))
    for at, told in [
        ("5 s", r"all capacity was used\."),
        ("15 s", r"all capacity was used, and 91 % was erased\."),
        ("11 s", r"the link had no slots\."),
        ("9.6 s", r"all capacity was used\.\nThe capacity was 4\d\d\.\d kbit/s then, and 9"),
    ]:
        said = clift_command("why", made, "--at", at).stdout
        assert re.search(told, said), said
        assert "flow 0: " not in said.partition(" s: from ")[2]


def test_flows_in_the_same_state_are_counted(path: Path) -> None:
    made = traced(path, range(0), "flows = 8", 'transport.cwnd_max = "5 packets"')
    said = clift_command("why", made, "--set", "link.rtt=2 s", "--at", "5 s").stdout
    assert said.endswith("\n8 flows: limit cwnd_max\n"), said


def test_without_its_erasures_a_cut_does_not_happen(path: Path) -> None:
    found = why(path, "--without", f"erasures:{why(path)['costliest'][0]['number']}")
    other = found["replay"]
    assert other["goodput_kbps"] > found["goodput_kbps"]
    ((_, removed),) = other["erasures"].items()
    scenario = clift.Scenario.read(path)
    there = bursts(scenario)
    cut = found["costliest"][0]
    assert [one["burst"] for one in removed] == [one.number for one in behind(there, cut)]
    again = replay(scenario, Edits(behind(there, cut)))
    assert again.goodput_kbps == other["goodput_kbps"]
    said = clift_command("why", path, "--without", "burst:0", "--rank", "1", "--draws", "2").stdout
    assert "Without burst:0" in said
    assert "gain in this run   mean of 2 other draws" in said


def test_a_burst_is_behind_a_cut_wherever_it_began(path: Path) -> None:
    began_before = 0
    for first in range(400, 412):
        erased = range(first, first + 3)
        scenario = clift.Scenario.read(traced(path, erased, 'transport.cwnd_max = "5 packets"'))
        there = bursts(scenario)
        for cut in clift.simulate(scenario).why()["costliest"]:
            assert behind(there, cut) == there
            began_before += cut["packet"]["first_erased_s"] > there[0].at_s
    assert began_before > 2


def test_erasures_of_another_link_are_no_bursts_of_the_first(path: Path) -> None:
    scenario = clift.Scenario.read(path)
    there = bursts(scenario)
    cut = clift.simulate(scenario).why()["costliest"][0]
    cut["packet"]["erased_s"] = [there[0].last_s + 0.0005]
    assert behind(there, cut) == []


def test_the_costliest_cuts_are_measured(path: Path) -> None:
    cuts = why(path, "--draws", "3")["costliest"]
    scenario = clift.Scenario.read(path)
    for cut in cuts:
        gained = effect(scenario, Edits(behind(bursts(scenario), cut)), cut["at_s"], 3)
        assert gained is not None
        assert cut["effect_kbps"] == gained.as_dict()
    means = [cut["effect_kbps"]["mean"] for cut in cuts]
    assert means == sorted(means, reverse=True)
    estimates = [cut["cost_kbps"] for cut in cuts]
    assert estimates != sorted(estimates, reverse=True)
    said = clift_command("why", path, "--draws", "3").stdout
    assert f"(cut:{cuts[0]['number']})" in said
    assert "without its erasures, over 3 other draws of the losses after it:" in said
    # At an instant, the cut of that time is measured.
    at = f"{round(cuts[-1]['at_s'] + 0.6, 3)} s"
    (sender,) = why(path, "--at", at, "--draws", "3")["moment"]["senders"]
    assert sender["cut"]["effect_kbps"]["runs"] == 3


@pytest.mark.parametrize(
    "words",
    [
        ("--draws", "0"),
        ("--set", "link.queue=5 packets", "--set", "channel.erasures=0"),
        (
            "--set",
            "application.type=file",
            "--set",
            "application.size=3 MB",
            "--set",
            "stop_when_done=true",
        ),
    ],
)
def test_cuts_that_are_not_measured_have_an_estimate(path: Path, words: tuple[str, ...]) -> None:
    cuts = why(path, *words)["costliest"]
    assert not any("effect_kbps" in cut for cut in cuts)
    estimates = [cut["cost_kbps"] for cut in cuts]
    assert estimates == sorted(estimates, reverse=True)
    assert "estimated cost of this cut alone" in clift_command("why", path, *words).stdout


def test_a_cut_by_a_full_queue_has_no_erasures_to_take_away(path: Path) -> None:
    full = ("--set", "link.queue=5 packets", "--set", "channel.erasures=0")
    found = why(path, *full)
    cut = found["costliest"][0]
    assert cut["cause"] == "queue_full"
    name = f"erasures:{cut['number']}"
    said = clift_command("why", path, *full, "--without", name).stderr
    assert f"{path}, --without {name}: no erasure is behind this cut" in said


def test_bursts_are_ranked_by_the_mean_over_other_draws(path: Path) -> None:
    rows = why(path, "--rank", "2", "--draws", "4")["bursts"]
    scenario = clift.Scenario.read(path)
    there = bursts(scenario)
    for row in rows:
        burst = there[row["burst"]]
        assert row["gain"] == (
            replay(scenario, Edits([burst])).goodput_kbps - clift.simulate(scenario).goodput_kbps
        )
        found = effect(scenario, Edits([burst]), burst.at_s, 4)
        assert found is not None
        assert row["effect_kbps"] == found.as_dict()
    means = [row["effect_kbps"]["mean"] for row in rows]
    assert means == sorted(means, reverse=True)
    alone = why(path, "--rank", "2", "--draws", "0")["bursts"]
    assert all("effect_kbps" not in row for row in alone)
    assert alone[0]["gain"] >= alone[1]["gain"]


def test_an_effect_is_a_mean_over_other_losses_after_the_event(path: Path, tmp_path: Path) -> None:
    scenario = clift.Scenario.read(path)
    run = clift.simulate(scenario)
    cut = run.why()["costliest"][0]
    removed = behind(bursts(scenario), cut)
    found = effect(scenario, Edits(removed), cut["at_s"], 6)
    # By hand: erase what another replication erases after the cut, and receive what this one lost.
    gains = []
    own = [burst for burst in bursts(scenario) if burst.at_s > cut["at_s"]]
    core, cell, _ = scenario.task()
    for number in range(6):
        others = core.bursts(cell, (1 << 20) + number)
        slots = [
            n
            for first, many, at, _ in others
            if at > cut["at_s"] * 1e9
            for n in range(first, first + many)
        ]
        assert set(slots) != {n for one in own for n in range(one.first, one.first + one.slots)}
        with_, without = (
            replay(scenario, Edits([*own, *gone], slots)).goodput_kbps for gone in ([], removed)
        )
        gains.append(without - with_)
    assert len(set(gains)) > 1
    assert found is not None
    assert found.mean == pytest.approx(sum(gains) / 6)
    assert found.low < found.mean < found.high
    words = ("--without", f"erasures:{cut['number']}", "--draws", "6")
    assert why(path, *words)["replay"]["effect_kbps"] == found.as_dict()
    assert "effect_kbps" not in why(path, *words[:3], "0")["replay"]
    # A trace has no other draws.
    trace = tmp_path / "x.csv"
    clift.channel.bernoulli(slots=9_000, slot_ns=1_000_000, p=0.02, seed=1, lldu_bytes=250).write(
        trace
    )
    made = tmp_path / "trace.toml"
    made.write_text('duration = "8 s"\nscheme = "ARQ"\ntrace.file = "x.csv"\nlink.live = true\n')
    assert "effect_kbps" not in why(made, "--without", "burst:0")["replay"]


def both(
    path: Path, *words: str, changes: dict[str, str] | None = None
) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """What a replay gives, and the series of the run and of the replay, a row for each 10 ms."""
    scenario = clift.Scenario.read(path, changes or {})
    run = clift.simulate(scenario)
    found = run.why()
    without = [word for word in words if ":" in word]
    later = [
        (float(at), key, value, clift.Scenario.read(path, (changes or {}) | {key: value}))
        for at, key, value in (word.split(" ", 2) for word in words if ":" not in word)
    ]
    edits, replay_ = replayed(scenario, found, without, later)
    found["replay"] = replay_
    made = (scenario.setup(), setup(scenario, edits))
    return found, *(_rows(_clift.series(one, 10**7, None)) for one in made)


def _rows(series: dict[str, Any]) -> list[Any]:
    names = ("time_s", "cwnd_packets", "ssthresh_packets", "in_flight_packets", "queue_packets")
    return list(zip(*(series[name].tolist() for name in names), strict=True))


@pytest.mark.parametrize("profile", ["papers", "linux"])
@pytest.mark.parametrize("trigger", ["duplicate_acks", "timeout"])
def test_without_a_cut_the_window_stays(profile: str, trigger: str, path: Path) -> None:
    # No repair; a burst of seconds brings timeouts.
    long = trigger == "timeout"
    changes = {"scheme": "none", "transport.profile": profile}
    changes |= {"channel.erasures": "10 %" if long else "0.02 %"}
    changes |= {"channel.burst": "3000" if long else "3"}
    cuts = clift.simulate(clift.Scenario.read(path, changes)).why()["costliest"]
    cut = next(one for one in cuts if one["trigger"] == trigger)
    found, before, after = both(path, f"cut:{cut['number']}", changes=changes)
    assert found["replay"]["kept"] == [f"cut:{cut['number']}"]
    same = [row for row in before if row[0] < cut["at_s"]]
    assert same == after[: len(same)]
    reached = min(row[1] for row in before[len(same) : len(same) + 200])
    kept = min(row[1] for row in after[len(same) : len(same) + 50])
    assert reached < 0.9 * cut["window_before_packets"]
    # What the sender believes to be in flight may differ by a packet, and so does PRR's window.
    assert kept >= 0.98 * cut["window_before_packets"]


def test_another_control_or_queue_takes_over_at_an_instant(path: Path) -> None:
    changes = {"transport.profile": "linux", "transport.cwnd_max": "1000 packets"}
    changes |= {"channel.erasures": "0", "transport.congestion": "newreno"}
    found, before, after = both(path, "20 link.queue 5 packets", changes=changes)
    same = [row for row in before if row[0] < 20]
    assert same == after[: len(same)]
    assert before != after
    assert max(row[4] for row in before[len(same) + 1000 :]) > 20
    assert max(row[4] for row in after[len(same) + 1000 :]) <= 5
    assert found["replay"]["later"] == [{"at_s": 20, "key": "link.queue", "value": "5 packets"}]
    # From the start on, a control is as if it were given; later, the run is the same up to then.
    changes |= {"channel.erasures": "0.02 %", "scheme": "none"}
    given = clift.simulate(clift.Scenario.read(path, changes | {"transport.congestion": "cubic"}))
    found, before, after = both(path, "0 transport.congestion cubic", changes=changes)
    assert found["replay"]["goodput_kbps"] == given.goodput_kbps
    found, before, after = both(path, "20 transport.congestion hybla", changes=changes)
    assert [row for row in before if row[0] < 20] == [row for row in after if row[0] < 20]
    assert before != after
    words = ("--from", "20 s", "link.queue=5 packets", "-o", path.with_suffix(".svg"))
    assert clift_command("why", path, *words).returncode == 0
    assert "Goodput with the change" in path.with_suffix(".svg").read_text()


def test_another_scheme_takes_over_at_an_instant(path: Path) -> None:
    given = clift.simulate(clift.Scenario.read(path, {"scheme": "HARQ(10/15)"}))
    found, before, after = both(path, "0 scheme HARQ(10/15)")
    assert found["replay"]["goodput_kbps"] == given.goodput_kbps
    found, before, after = both(path, "20 scheme HARQ(10/15)")
    assert [row for row in before if row[0] < 20] == [row for row in after if row[0] < 20]
    # Late repairs cost ns-2's TCP most of the link over ARQ.
    assert found["goodput_kbps"] < found["replay"]["goodput_kbps"] < given.goodput_kbps
    # And back: the run is that of the first change alone until then.
    _, _, back = both(path, "20 scheme HARQ(10/15)", "40 scheme ARQ")
    assert [row for row in after if row[0] < 40] == [row for row in back if row[0] < 40]
    assert after != back
    with pytest.raises(clift.ScenarioError, match="nothing changes"):
        both(path, "20 scheme ARQ")


def test_a_control_and_a_queue_may_change_back(path: Path) -> None:
    changes = {"transport.profile": "linux", "transport.cwnd_max": "1000 packets"}
    changes |= {"link.queue": "50 packets", "transport.congestion": "cubic"}
    for key, other, first in [
        ("transport.congestion", "newreno", "cubic"),
        ("link.queue", "5 packets", "50 packets"),
    ]:
        _, before, after = both(path, f"20 {key} {other}", changes=changes)
        _, _, back = both(path, f"20 {key} {other}", f"30 {key} {first}", changes=changes)
        assert before != after
        assert [row for row in after if row[0] < 30] == [row for row in back if row[0] < 30]
        assert after != back


def test_bursts_are_those_of_the_trace(path: Path) -> None:
    scenario = clift.Scenario.read(path)
    phy = scenario.phy_trace()
    assert phy is not None
    erased = {
        n for n, (t, d) in enumerate(zip(phy.t_ns, phy.d_ns, strict=True)) if d == 0 and t <= 60e9
    }
    found = bursts(scenario)
    assert {slot for one in found for slot in range(one.first, one.first + one.slots)} == erased
    for one in found[:50]:
        assert phy.t_ns[one.first] / 1e9 == pytest.approx(one.at_s)
        assert one.first - 1 not in erased
    clear = replay(scenario, Edits(found))
    assert clear.summary()["links"][0]["units_sent_again"] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--at", "61 s"), ".toml, --at 61 s: the run ends at 60 s; give an earlier time"),
        (("--from", "61 s", "link.queue=9 packets"), ".toml, --from 61 s: the run ends at 60 s;"),
        (("-o", "gone/x.png"), "gone/x.png: folder gone does not exist"),
        (("--without", "burst:99999"), "the run has"),
        (("--without", "cut:99999"), "give one of the costliest cuts"),
        (("--without", "rain"), "give burst:N, erasures:N or cut:N"),
        (("--from", "9 s", "scheme=rain"), "--from scheme=rain: "),
        (("--set", "link.live=false", "--from", "9 s", "scheme=none"), "set link.live = true"),
        (("--from", "9 s", "link.rtt=1 s"), "can change in the middle of a run is"),
        (("--from", "9 s", "transport.congestion=rain"), "value `rain`, one of newreno, cubic"),
        (("--from", "9 s", "link.queue=rain"), "--from link.queue=rain: link.queue: "),
        (("--from", "9 s", "link.queue"), "--from link.queue: give KEY=VALUE"),
        (("--from", "9 s", "link.queue=9 packets", "--without", "cut:0"), "give it alone"),
        (
            ("--set", "transport.profile=linux", "--from", "9 s", "transport.congestion=bbr"),
            "only one of both controls has a model",
        ),
    ],
)
def test_what_does_not_exist_is_named(path: Path, words: tuple[str, ...], told: str) -> None:
    ran = clift_command("why", path, *words)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert told in ran.stderr


@pytest.mark.parametrize(
    ("text", "change", "told"),
    [
        ('transport.protocol = "quic"', "transport.congestion=newreno", "flow 0 cannot change"),
        ('flow = [{ transport.congestion = "cubic" }]', "transport.congestion=hybla", "nothing"),
        ("", "link.queue=20 packets", "nothing changes"),
    ],
)
def test_a_change_that_the_run_cannot_have_is_refused(
    tmp_path: Path, text: str, change: str, told: str
) -> None:
    scenario = tmp_path / "short.toml"
    scenario.write_text(
        f'duration = "4 s"\n{text}\n[channel]\nmodel = "bernoulli"\nerasures = "1 %"\n'
        'rate = "300 kbit/s"\nlldu = "250 B"\n[link]\nrtt = "50 ms"\nqueue = "20 packets"\n'
    )
    ran = clift_command("why", scenario, "--draws", 0, "--from", "2 s", change)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.count("\n") == 1
    assert f"from: {change}: {told}" in ran.stderr


def test_the_control_of_several_paths_stays() -> None:
    change = "transport.congestion=lia"
    ran = clift_command(
        "why", TWO_WAYS, "--set", "ways=both", "--set", "duration=4 s", "--from", "2 s", change
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"from: {change}: flow 0 cannot change" in ran.stderr


def test_a_path_without_a_rate_or_slots_is_refused(tmp_path: Path) -> None:
    wire = tmp_path / "wire.toml"
    wire.write_text(
        'duration = "5 s"\n[transport]\ncwnd_max = "20 packets"\n'
        '[[path]]\nleg = { delay = "10 ms" }\n'
    )
    ran = clift_command("why", wire)
    assert ran.returncode == 2
    assert "no hop of the path has a rate" in ran.stderr
    ran = clift_command("attack", wire)
    assert ran.returncode == 2
    assert "first link" in ran.stderr or "link" in ran.stderr


def test_an_attack_hurts_more_than_random_erasures() -> None:
    phy = clift.channel.bernoulli(slots=12_000, p=0, seed=1, slot_ns=10**6, lldu_bytes=1500)
    scenario = clift.Scenario(clift.LiveLink(phy, "none", rtt_ms=100), duration_s=10)
    found = attack(scenario, budget=3, runs=60)
    assert found.worst < min(found.random) <= found.before
    assert len(found.slots) == 3
    assert found.runs <= 60
    erased = Edits(erased=[slot for slot, _ in found.slots])
    assert replay(scenario, erased).goodput_kbps == found.worst
    assert attack(scenario, budget=3, runs=60) == found


def test_an_attack_on_flows_that_arrive_is_on_the_mean_of_their_times(tmp_path: Path) -> None:
    (tmp_path / "times.txt").write_text("0\n2\n")
    arrivals = {"type": "times", "file": str(tmp_path / "times.txt")}
    flow = {"application": {"type": "file", "size": "50 kB"}, "arrivals": arrivals}
    channel = {"model": "bernoulli", "erasures": 0, "slot": "6 ms", "lldu": "1500 B"}
    keys = {"channel": channel, "flow": [flow], "link": {"rtt": "100 ms"}, "duration": "2.1 s"}
    scenario = first_run(clift.Scenario(keys))
    found = attack(scenario, budget=2, runs=20)
    # The second flow does not end: it counts with the time that it had.
    first = clift.simulate(scenario).summary()["flows"][0]["completion_s"]
    assert found.before == pytest.approx((first + 0.1) / 2)
    assert found.worst > found.before
    assert "mean completion with 2 further erasures:" in found.lines()


def test_random_runs_have_budgets_that_add_up() -> None:
    draw = random.Random(5)
    for _ in range(12):
        p = draw.choice([0.0, 0.01, 0.1])
        phy = clift.channel.gilbert_elliott(slots=8000, p=p, burst=2, slot_ns=10**6, seed=1)
        scheme = draw.choice(["none", "ARQ", "HARQ(10/12)", "FEC(10/12)"])
        transport = draw.choice(["quic", "udp", "bbr", "cubic"])
        more = {"message_kbps": 100} if transport == "udp" else {}
        link = clift.LiveLink(phy, scheme, rtt_ms=200)
        run = clift.simulate(link, transport=transport, duration_s=7, flows=2, **more)
        found = run.why()
        costs = sum(part["kbps"] for part in found["budget"])
        assert found["goodput_kbps"] + costs == pytest.approx(found["capacity_kbps"], rel=1e-9)
        assert found["goodput_kbps"] == pytest.approx(run.goodput_kbps, abs=1e-9)


def test_perfetto_joins_packets_with_units(tmp_path: Path, path: Path) -> None:
    run = clift.simulate(clift.Scenario.read(path))
    file = tmp_path / "run.json"
    count = run.perfetto(file)
    events = json.loads(file.read_text())["traceEvents"]
    assert len(events) == count
    begun = [one for one in events if one["ph"] == "b"]
    assert len(begun) == run.summary()["segments_sent"]
    ended = {one["id"] for one in events if one["ph"] == "e"}
    assert len(ended) >= 0.95 * len(begun)
    erased = [one for one in events if one.get("cname") == "terrible"]
    assert len(erased) == (run.units().to_pandas().arrival_ns < 0).sum()
    started = {one["id"] for one in events if one["ph"] == "s"}
    joined = {one["id"] for one in events if one["ph"] == "t"}
    assert len(started & joined) >= 0.5 * len(started)


@pytest.mark.parametrize("live", ["true", "false"])
def test_every_arrow_of_perfetto_ends(tmp_path: Path, path: Path, live: str) -> None:
    run = clift.simulate(clift.Scenario.read(path, {"link.live": live}))
    run.perfetto(tmp_path / "run.json")
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    begun, ended = ([one for one in events if one["ph"] == kind] for kind in "sf")
    assert len(begun) == run.summary()["segments_sent"]
    assert sorted(one["id"] for one in begun) == sorted(one["id"] for one in ended)
    last = {one["id"]: one["ts"] for one in ended}
    assert all(one["ts"] < last[one["id"]] for one in begun)
    # An arrow is drawn between slices.
    slices = {(one["pid"], one["tid"], one["ts"]) for one in events if one["ph"] == "X"}
    assert all((one["pid"], one["tid"], one["ts"]) in slices for one in ended)


def test_the_tightest_link_of_a_network_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "shared.toml"
    path.write_text("""
duration = "30 s"

[network.links.fibre]
from = "server"
to = "gateway"
duplex = true
leg = { rate = "100 Mbit/s", delay = "10 ms" }

[network.links.satellite]
from = "gateway"
to = "home"
scheme = "ARQ"
channel = { model = "bernoulli", erasures = "1 %", rate = "4 Mbit/s" }
link = { rtt = "500 ms", queue = "300 packets" }
return.leg = { rate = "1 Mbit/s", delay = "250 ms" }

[[flow]]
name = "download"
from = "server"
to = "home"

[[flow]]
name = "near"
from = "server"
to = "gateway"
transport.protocol = "udp"
application = { type = "constant rate", rate = "2 Mbit/s" }
""")
    found = why(path)
    assert found["capacity_kbps"] == pytest.approx(4000, rel=0.01)
    costs = sum(part["kbps"] for part in found["budget"])
    assert found["goodput_kbps"] + costs == pytest.approx(found["capacity_kbps"], rel=1e-9)
    flows = clift.simulate(clift.Scenario.read(path)).summary()["flows"]
    seconds = found["duration_s"]
    expected = flows[0]["bytes_in_order"] * 8e-3 / seconds
    assert found["goodput_kbps"] == pytest.approx(expected, rel=1e-9)


OPPOSITE = """
duration = "20 s"
[network.links.wire]
from = "home"
to = "gateway"
duplex = true
leg = { rate = "2 Mbit/s", delay = "100 ms", queue = "10 packets" }
"""


def flow_between(one: str, other: str) -> str:
    return f'[[flow]]\nname = "{one}"\nfrom = "{one}"\nto = "{other}"\n'


@pytest.mark.parametrize("flows", [["home", "gateway"], ["gateway"]])
def test_flows_against_the_direction_of_a_link_are_explained(
    flows: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "opposite.toml"
    other = {"home": "gateway", "gateway": "home"}
    path.write_text(OPPOSITE + "".join(flow_between(one, other[one]) for one in flows))
    found = why(path)
    assert found["capacity_kbps"] == pytest.approx(2000, rel=1e-3)
    assert found["cuts"]["drops"] > 0
    texts = [event["text"] for cut in found["costliest"] for event in cut["events"]]
    assert "the queue of the return of wire dropped it" in texts


def test_a_drop_on_an_access_leg_is_named(tmp_path: Path) -> None:
    path = tmp_path / "access.toml"
    path.write_text("""
duration = "20 s"
access = { rate = "1 Mbit/s", delay = "5 ms", queue = "20 packets" }
channel = { model = "bernoulli", erasures = 0, rate = "4 Mbit/s" }
link.rtt = "100 ms"
""")
    texts = [event["text"] for cut in why(path)["costliest"] for event in cut["events"]]
    assert "the queue of the access leg dropped it" in texts


def test_the_upper_limit_of_the_window_is_no_receive_window(tmp_path: Path) -> None:
    path = tmp_path / "limit.toml"
    leg = '[[path]]\nleg = { rate = "4 Mbit/s", delay = "100 ms" }\n'
    path.write_text(f'duration = "20 s"\n{leg}')
    for key, cause in [("cwnd_max=20 packets", "cwnd_max"), ("receive_window=30 kB", None)]:
        found = why(path, "--set", f"transport.{key}")
        assert found["limited_by"] == (cause or "receive_window")


TWO_WAYS = Path(__file__).parents[1] / "examples" / "two_ways.toml"


def test_a_connection_over_two_paths_is_explained() -> None:
    both = [
        word for one in ("ways=both", "window=medium", "duration=30 s") for word in ("--set", one)
    ]
    found = why(TWO_WAYS, *both, "--at", "22 s")
    geo, leo = found["hops"]
    assert (geo["name"], leo["name"]) == ("geo", "leo")
    assert geo["capacity_kbps"] == pytest.approx(10_000, rel=1e-3)
    assert leo["capacity_kbps"] == pytest.approx(20_000, rel=1e-3)
    assert found["capacity_kbps"] == pytest.approx(30_000, rel=1e-3)
    for use in (found, leo, geo):
        costs = sum(part["kbps"] for part in use["budget"])
        assert use["goodput_kbps"] + costs == pytest.approx(use["capacity_kbps"], rel=1e-9)
    senders = found["moment"]["senders"]
    assert [(one["path"], one["over"]) for one in senders] == [(0, "leo"), (1, "geo")]
    # LEO is out from 20 to 25 s.
    assert senders[0]["cause"] == "outage"
    text = clift_command("why", TWO_WAYS, *both, "--at", "22 s").stdout
    assert re.search(r"^ +geo +leo\ncapacity ", text)
    assert "flow download, path 0 (leo): outage" in text
    # On LEO the data in order would be the same: they wait for GEO.
    cut = next(cut for cut in found["costliest"] if cut["path"] == 1)
    name = f"cut:{cut['number']}"
    replayed = why(TWO_WAYS, *both, "--without", name, "--draws", 0)["replay"]
    assert replayed["kept"] == [name]
    assert replayed["goodput_kbps"] != found["goodput_kbps"]
    # Legs have no slots whose erasures could be taken away.
    told = clift_command("why", TWO_WAYS, *both, "--rank", 2)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1


def test_an_attack_is_at_least_as_hard_as_its_random_placements() -> None:
    # Twenty erasures and forty runs: the steps have two candidates each.
    scenario = clift.Scenario(
        {
            "scheme": "ARQ",
            "channel": {"model": "bernoulli", "erasures": "0 %", "rate": "1 Mbit/s"},
            "link": {"rtt": "500 ms", "live": True},
            "duration": "8 s",
        }
    )
    for budget in (10, 20):
        found = attack(scenario, budget=budget, runs=2 * budget)
        assert found.worst <= min(found.random)
        by_search = "\n  placed by the search " in "\n".join(found.lines())
        assert by_search == (found.worst < min(found.random))


@pytest.mark.parametrize("erasures", [0.0, 0.1])
def test_the_numbers_of_causes_stay_in_their_panel(erasures: float) -> None:
    """A bar that fills the panel has its number inside, a short one beside it."""
    channel = {"model": "bernoulli", "erasures": erasures, "rate": "2 Mbit/s"}
    run = clift.simulate(clift.Scenario({"channel": channel, "duration": "20 s"}))
    figure = draw(run, run.why())
    FigureCanvasAgg(figure).draw()
    parts, time = figure.axes
    share = run.goodput_kbps / run.why()["capacity_kbps"]
    assert (share > 0.8) == (erasures == 0)
    for axes in (parts, time):
        for text in axes.texts:
            box = text.get_window_extent()
            assert axes.bbox.x0 <= box.x0
            assert box.x1 <= axes.bbox.x1
            assert box.y1 <= axes.bbox.y1
    names = [text.get_window_extent() for text in time.texts]
    assert all(one.x1 <= other.x0 for one, other in pairwise(names))
