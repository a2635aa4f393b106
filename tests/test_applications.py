"""Web pages, requests and voice from scenarios: a computation beside them, and wrong input."""

import heapq
import json
import random
from itertools import count
from pathlib import Path

import pytest

import clift
from clift.cli.main import main

DELAY_US = 300_000
PATH = '[[path]]\nleg = { rate = "8 Mbit/s", delay = "300 ms" }\n'
# Bytes of a SYN, of an acknowledgement, and of the server's part of TLS with its headers.
SYN, ACK, FLIGHT, SEGMENT = 60, 52, 650, 1448


class Model:
    """HTTP/1.1 over a path without losses, in microseconds, of which a byte takes one.

    The window is wide open, so that what is ready waits for the link alone. The server acknowledges
    the client's first words at once; by then it is known to answer, and the acknowledgement of each
    request leaves behind its answer.
    """

    def __init__(self, objects, think_us, connections=6):
        self.objects, self.think, self.most = objects, think_us, connections
        self.events, self.order = [], count()
        self.free = self.now = self.last = 0
        self.wanted, self.arrived = [], set()
        self.lines = []
        for number, (_, parent, parse) in enumerate(objects):
            if parent is None:
                self.later(parse, self.want, number)
        while self.events:
            self.now, _, what, arguments = heapq.heappop(self.events)
            what(*arguments)

    def later(self, after, what, *arguments):
        heapq.heappush(self.events, (self.now + after, next(self.order), what, arguments))

    def send(self, size):
        """The server sends a packet; how long until the client has it."""
        self.free = max(self.free, self.now) + size
        return self.free + DELAY_US - self.now

    def want(self, number):
        self.wanted.append(number)
        self.ask()

    def ask(self):
        for line in self.lines:
            if line["ready"] and line["object"] is None and self.wanted:
                line["object"] = self.wanted.pop(0)
                self.later(DELAY_US, self.request, line)
        opening = sum(not line["ready"] for line in self.lines)
        for _ in range(min(len(self.wanted) - opening, self.most - len(self.lines))):
            self.lines.append(line := {"ready": False, "object": None})
            self.later(DELAY_US, self.syn, line)

    def syn(self, line):
        self.later(self.send(SYN) + DELAY_US, self.hello, line)

    def hello(self, line):
        self.send(ACK)
        self.later(self.send(FLIGHT), self.ready, line)

    def ready(self, line):
        line["ready"] = True
        self.ask()

    def request(self, line):
        self.later(self.think, self.answer, line)

    def answer(self, line):
        left = self.objects[line["object"]][0]
        while left > 0:
            taken = min(left, SEGMENT)
            after = self.send(taken + ACK)
            left -= taken
        self.send(ACK)
        self.later(after, self.got, line)

    def got(self, line):
        number, line["object"] = line["object"], None
        self.arrived.add(number)
        self.last = self.now
        for child, (_, parent, parse) in enumerate(self.objects):
            if parent == number:
                if parse:
                    self.later(parse, self.want, child)
                else:
                    self.wanted.append(child)
        self.ask()


@pytest.mark.parametrize("seed", range(6))
def test_a_page_is_as_a_computation_of_its_own_has_it(tmp_path, seed):
    draw = random.Random(seed)
    objects = [(draw.randrange(500, 20_000), None, 0)]
    for place in range(1, draw.randrange(8, 40)):
        parse = draw.choice([0, 1000 * draw.randrange(1, 60)])
        objects.append((draw.randrange(100, 16_000), draw.randrange(min(place, 4)), parse))
    rows = [
        f"o{n},{size},{'' if parent is None else f'o{parent}'},{parse / 1000}"
        for n, (size, parent, parse) in enumerate(objects)
    ]
    (tmp_path / "mine.csv").write_text("\n".join(["name,bytes,parent,parse_ms", *rows]) + "\n")
    (tmp_path / "page.toml").write_text(
        'duration = "200 s"\nseed = 1\n'
        '[transport]\ninitial_window = "10000 packets"\n'
        '[application]\ntype = "page"\npage = "mine.csv"\nhttp = "1.1"\nthink = "3 ms"\n' + PATH
    )
    model = Model(objects, 3000)
    assert len(model.arrived) == len(objects)
    summary = clift.simulate(tmp_path / "page.toml").summary()
    assert summary["page_load_s"] == pytest.approx(model.last / 1e6, abs=1e-9)
    page = summary["flows"][0]["page"]
    assert page["connections"] == len(model.lines)
    assert page["objects_received"] == len(objects)


def scenario(application, transport=""):
    return f'duration = "60 s"\nseed = 1\n{transport}[application]\n{application}\n{PATH}'


def failure(tmp_path, capsys, text):
    file = tmp_path / "x.toml"
    file.write_text(text)
    with pytest.raises(SystemExit) as stop:
        main(["run", str(file)])
    assert stop.value.code == 2
    error = capsys.readouterr().err.strip()
    assert "\n" not in error, error
    return error


def test_wrong_pages_are_refused(tmp_path, capsys):
    for rows, expected in [
        ("html,9,b\nb,9,html", "line 2: `html` waits for itself: html -> b -> html"),
        ("html,9,\nb,9,c", "line 3: `b` has the parent `c`, which does not exist"),
        ("html,0,", "line 2: bytes = 0; give a whole number"),
    ]:
        (tmp_path / "mine.csv").write_text(f"name,bytes,parent\n{rows}\n")
        error = failure(tmp_path, capsys, scenario('type = "page"\npage = "mine.csv"'))
        assert "mine.csv" in error
        assert expected in error
    error = failure(tmp_path, capsys, scenario('type = "page"\npage = "none.csv"'))
    assert "none.csv" in error
    both = scenario('type = "page"\npage = "mine.csv"\nshape = "3gpp"')
    assert "application.shape" in failure(tmp_path, capsys, both)
    three = failure(tmp_path, capsys, scenario('type = "page"\nhttp = "3"'))
    assert "application.http: HTTP/3 needs QUIC" in three
    voice = failure(tmp_path, capsys, scenario('type = "voice"'))
    assert 'give [transport] protocol = "udp"' in voice


def test_http_3_and_the_built_in_pages():
    loads = {}
    for http, protocol in [("1.1", "tcp"), ("2", "tcp"), ("3", "quic")]:
        run = clift.simulate(
            {
                "duration": "60 s",
                "seed": 1,
                "transport": {"protocol": protocol},
                "application": {"type": "page", "shape": "3gpp", "http": http},
                "path": [{"leg": {"rate": "8 Mbit/s", "delay": "300 ms"}}],
            }
        )
        loads[http] = run.summary()["page_load_s"]
    # Handshake of TCP, of TLS, main object, the others, which are more than a first window holds.
    # QUIC has a round trip less of handshake, and a first window of 12,000 bytes, not packets.
    assert 5 * 0.6 + 0.13 < loads["2"] < 5 * 0.6 + 0.13 + 0.1
    # The end of the handshake, a probe of the MTU and connection ids take 2.7 kB of that, which
    # quinn's pacer makes up at five quarters of a window a round trip: a tenth of a second.
    assert 5 * 0.6 + 0.13 < loads["3"] < 5 * 0.6 + 0.13 + 0.2
    assert loads["1.1"] > loads["2"]


def test_requests_and_voice_have_metrics(tmp_path, capsys):
    text = scenario('type = "request"\nrequest = "200 B"\nresponse = "1 kB"\ncount = 5')
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(SystemExit) as stop:
        main(["run", str(tmp_path / "r.toml"), "--json"])
    assert stop.value.code == 0
    assert "response_time_ms" in capsys.readouterr().out
    own = clift.simulate(tmp_path / "r.toml").summary()["flows"][0]["requests"]
    assert own["answered"] == 5
    assert own["share_in_time"] == 1.0
    assert own["response_time_ms"]["mean"] == pytest.approx(600 + 1.104, abs=0.1)
    text = scenario('type = "voice"\ncodec = "g729"', '[transport]\nprotocol = "udp"\n')
    (tmp_path / "v.toml").write_text(text)
    summary = clift.simulate(tmp_path / "v.toml").summary()
    voice = summary["flows"][0]["voice"]
    assert summary["mos"] == voice["mos"]
    assert voice["loss_impairment"] == 11
    assert voice["mouth_to_ear_ms"] == pytest.approx(35 + 300.06 + 60, abs=0.01)
    json.dumps(summary)


def test_the_example_has_its_cells():
    example = clift.Scenario.read(Path(__file__).parent.parent / "examples" / "pages.toml")
    assert len(example.cells()) == 27


def test_a_video_is_in_the_summary(tmp_path):
    path = tmp_path / "video.toml"
    path.write_text(
        'duration = "100 s"\n[channel]\nmodel = "bernoulli"\nerasures = 0\nrate = "4 Mbit/s"\n'
        '[application]\ntype = "video"\nladder = ["1 Mbit/s", "2 Mbit/s", "9 Mbit/s"]\n'
        'length = "40 s"\nadaptation = "rate"\n'
    )
    summary = clift.simulate(path).summary()
    video = summary["flows"][0]["video"]
    assert (video["segments_received"], video["stalls"], video["played_s"]) == (10, 0, 40)
    assert summary["video_rate_kbps"] == video["video_rate_kbps"] > 1000
    assert summary["share_stalled"] == 0
    # Each second of start-up costs 9 Mbit/s, each switch the difference, over ten segments.
    expected = video["video_rate_kbps"] - 100 * video["rate_switches"] - 900 * video["startup_s"]
    assert summary["video_quality_kbps"] == pytest.approx(expected)
    assert summary["duration_s"] == pytest.approx(video["startup_s"] + 40)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("ladder = []", "application.ladder: 0 rates; give 1 to 64"),
        ('ladder = ["2 Mbit/s", "1 Mbit/s"]', "application.ladder: rates must increase"),
        ('ladder = ["1 Mbit/s"]\nbuffer = "3 s"', "application.buffer: 3 s does not hold"),
        (
            'ladder = ["1 Mbit/s"]\nbuffer = "7 s"\nstartup = "5 s"',
            "application.startup: playback never starts",
        ),
        ('ladder = ["1 Mbit/s"]\nsegment = "0 s"', "application.segment: 0 ns; give 1 ms"),
        ("", "missing key `ladder`"),
    ],
)
def test_a_wrong_video_is_refused(tmp_path, keys, message):
    path = tmp_path / "video.toml"
    channel = '[channel]\nmodel = "bernoulli"\nerasures = 0\n'
    path.write_text(f'{channel}[application]\ntype = "video"\n{keys}\n')
    with pytest.raises(clift.errors.ScenarioError) as error:
        clift.Scenario.read(path)
    assert message in str(error.value)


def test_the_video_example_has_its_cells():
    example = clift.Scenario.read(Path(__file__).parent.parent / "examples" / "video.toml")
    assert len(example.cells()) == 12


def test_a_conference_is_in_the_summary(tmp_path):
    path = tmp_path / "conference.toml"
    path.write_text(
        'duration = "60 s"\ntransport.protocol = "udp"\n'
        '[application]\ntype = "conference"\ndeadline = "150 ms"\n'
        '[[path]]\nleg = { rate = "1 Mbit/s", delay = "50 ms", queue = "100 packets" }\n'
    )
    summary = clift.simulate(path).summary()
    flow = summary["flows"][0]
    conference = flow["conference"]
    assert conference["conference_rate_kbps"] == summary["conference_rate_kbps"]
    assert conference["conference_rate_kbps"] == pytest.approx(flow["goodput_kbps"], rel=0.01)
    assert 500 < flow["goodput_kbps"] < 1000
    assert (conference["sent"], conference["freezes"], summary["share_frozen"]) == (1801, 0, 0)
    assert conference["share_in_time"] > 0.99
    assert conference["packets_sent"] == flow["segments_sent"]


def test_the_conference_example_has_its_cells():
    example = clift.Scenario.read(Path(__file__).parent.parent / "examples" / "conference.toml")
    assert len(example.cells()) == 8


def test_a_game_and_telemetry_wait_only_in_the_queue_of_the_download():
    example = clift.Scenario.read(Path(__file__).parent.parent / "examples" / "gaming.toml")
    deep, codel, _ = (clift.simulate(cell).summary()["flows"] for cell in example.cells())
    for flows in (deep, codel):
        down, up, reports = (flow["messages"] for flow in flows[:3])
        assert (down["sent"], up["sent"], reports["sent"]) == (1030, 1501, 61)
        # 25 ms, and 76 or 128 bytes at 2 Mbit/s; acknowledgements of the download are in between.
        assert up["delay_ms"]["min"] == pytest.approx(25.304, abs=0.001)
        assert reports["delay_ms"]["min"] == pytest.approx(25.512, abs=0.001)
        assert reports["in_time"] == 60  # the last one is under way
    # A full queue of 250 packets takes 150 ms more; CoDel keeps it near 5 ms.
    assert deep[0]["messages"]["delay_ms"]["max"] < 25 + 151
    assert deep[0]["messages"]["share_in_time"] < 0.2
    assert codel[0]["messages"]["share_in_time"] > 0.99
