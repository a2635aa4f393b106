"""Proxies in scenario files and in Python: where they stand, what they do, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import clift

GEO = """
duration = "120 s"
[application]
type = "file"
size = "144800 B"
[transport]
profile = "papers"
congestion = "newreno"
initial_window = "1000 packets"
"""
NEAR = '[[path]]\nleg = { delay = "10 ms" }\n'
FAR = '[[path]]\nleg = { delay = "300 ms" }\n'
WINDOW = '{ window = "50 packets" }'


def completion_s(text: str) -> float:
    run = clift.simulate(clift.Scenario.parse(text))
    assert run.completion_s is not None
    return run.completion_s


def test_one_proxy_at_the_gateway() -> None:
    # 100 packets in two windows of 50 over 600 ms, behind 10 ms.
    split = completion_s(GEO + NEAR + f"[[path]]\npep = {WINDOW}\n" + FAR)
    assert split == pytest.approx(0.010 + 0.300 + 0.600, abs=1e-9)
    whole = completion_s(GEO + NEAR + FAR)
    assert whole == pytest.approx(0.310, abs=1e-9)
    assert completion_s(GEO + NEAR + "[[path]]\npep = false\n" + FAR) == whole


def test_a_pair_around_the_link_stands_there_on_the_way_back_too() -> None:
    link = """
    [channel]
    model = "bernoulli"
    erasures = 0
    rate = "100 Mbit/s"
    lldu = "1500 B"
    decoding = "1 ns"
    [link]
    rtt = "600 ms"
    """
    access = '[access]\ndelay = "10 ms"\n'
    pair = completion_s(GEO + access + link + f"pep = {WINDOW}\n")
    # A round trip of the link alone between two windows, and some slots of 0.12 ms.
    assert 0.920 < pair < 0.935
    back = '[return]\ndelay = "100 ms"\n'
    assert (
        pair - 0.201 < completion_s(GEO + access + link + f"pep = {WINDOW}\n" + back) < pair - 0.199
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[[path]]\npep = true\nleg = { delay = "1 ms" }', "path.0.pep: a proxy stands between"),
        ('[[path]]\npep = { bufer = "1 MB" }', "bufer"),
        (
            '[[path]]\npep = { buffer = "100 B" }',
            "path.0.pep.buffer: 100 bytes take no full packet",
        ),
        (
            '[[path]]\npep = { congestion = "bbr" }',
            "path.0.pep.congestion: profile `papers` supports",
        ),
        (
            NEAR + "[[path]]\npep = true\n" + FAR + '[return]\ndelay = "9 ms"',
            "path.1.pep: stands between hops, and [return] does not give its position",
        ),
        (
            NEAR + "[[path]]\npep = true\n" + FAR + '[[return.path]]\nleg = { delay = "9 ms" }',
            "return.path: the forward path has 1 proxies, the return path 0",
        ),
        (
            '[[path]]\npep = true\n[[return.path]]\npep = { buffer = "1 MB" }',
            "return.path.0.pep: only marks the position",
        ),
        (NEAR + "[link]\npep = true", "link.pep: [[path]] gives the path"),
        ("[link]\npep = 7", "link.pep: "),
    ],
)
def test_invalid_proxies_are_refused(text: str, expected: str) -> None:
    with pytest.raises(clift.ScenarioError) as told:
        clift.Scenario.parse(GEO + text)
    assert expected in str(told.value)


def test_an_explicit_way_back_has_the_proxy_where_it_is_said() -> None:
    proxy = f"[[path]]\npep = {WINDOW}\n"
    mark = "[[return.path]]\npep = true\n"
    far = '[[return.path]]\nleg = { delay = "300 ms" }\n'
    near = '[[return.path]]\nleg = { delay = "10 ms" }\n'
    usual = completion_s(GEO + NEAR + proxy + FAR)
    assert completion_s(GEO + NEAR + proxy + FAR + far + mark + near) == usual
    # All of the way back before the proxy: its round trip is 300 + 310 ms.
    assert completion_s(GEO + NEAR + proxy + FAR + far + near + mark) == pytest.approx(
        usual + 0.010, abs=1e-9
    )


def test_quic_passes_untouched() -> None:
    quic = GEO.replace('profile = "papers"', 'protocol = "quic"') + NEAR
    runs = [
        clift.simulate(clift.Scenario.parse(quic + proxy + FAR)).summary()
        for proxy in ("", "[[path]]\npep = true\n")
    ]
    # The wire of each stretch is one more leg on the way back.
    assert runs[0]["flows"] == runs[1]["flows"]
    assert "proxies" not in runs[1]["flows"][0]


def test_a_summary_says_what_the_proxy_held() -> None:
    slow = '[[path]]\nleg = { delay = "300 ms", rate = "1 Mbit/s" }\n'
    text = GEO + NEAR + '[[path]]\npep = { buffer = "20 kB" }\n' + slow
    run = clift.simulate(clift.Scenario.parse(text))
    (proxy,) = run.summary()["flows"][0]["proxies"]
    assert proxy["relayed_bytes"] == 144_800
    assert 30_000 < proxy["most_held_bytes"] <= 40_000
    assert run.series(100).num_rows > 10
    assert run.events().num_rows > 400


def test_a_capture_is_refused(tmp_path: Path) -> None:
    run = clift.simulate(clift.Scenario.parse(GEO + NEAR + "[[path]]\npep = true\n" + FAR))
    with pytest.raises(clift.ScenarioError, match="proxies split it; remove `pep`"):
        run.capture(tmp_path / "x.pcapng")


def test_proxies_vary() -> None:
    text = GEO + "[channel]\nmodel = 'bernoulli'\nerasures = 0\nrate = '2 Mbit/s'\n[vary]\n"
    text += "way.plain = { link.pep = false }\nway.pair = { link.pep = true }\n"
    text += 'way.own = { link.pep = { congestion = "hybla", buffer = "1 MB" } }\n'
    cells = clift.Scenario.parse(text).cells()
    assert [cell.labels["way"] for cell in cells] == ["plain", "pair", "own"]
    found = [clift.simulate(cell).summary()["flows"][0].get("proxies", []) for cell in cells]
    assert [len(proxies) for proxies in found] == [0, 2, 2]


def test_a_dictionary_of_python_has_the_same_keys() -> None:
    path = [
        {"leg": {"delay": "10 ms"}},
        {"pep": {"window": "50 packets"}},
        {"leg": {"delay": "300 ms"}},
    ]
    application = {"type": "file", "size": "144800 B"}
    transport = {"profile": "papers", "congestion": "newreno", "initial_window": "1000 packets"}
    run = clift.simulate({"path": path, "application": application, "transport": transport})
    assert run.completion_s == pytest.approx(0.910, abs=1e-9)


def test_a_page_over_tcp_goes_through_proxies() -> None:
    text = """
    duration = "60 s"
    [application]
    type = "request"
    request = "200 B"
    response = "12 kB"
    count = 1
    tls = 0
    """
    page = text + NEAR
    proxy = "[[path]]\npep = { held_open = true }\n"
    whole, split = (
        clift.simulate(clift.Scenario.parse(page + way + FAR)).summary()["flows"][0]
        for way in ("", proxy)
    )
    assert whole["completion_s"] == pytest.approx(1.24, abs=1e-9)
    # No handshake over the 300 ms; the one towards the server takes 20 ms.
    assert split["completion_s"] == pytest.approx(0.64, abs=1e-9)
    assert split["proxies"][0]["relayed_bytes"] == 12_000
    papers = '[[path]]\npep = { profile = "papers", congestion = "newreno" }\n'
    with pytest.raises(clift.ScenarioError, match=r"path\.1\.pep\.profile: .* sends one way"):
        clift.Scenario.parse(page + papers + FAR)
