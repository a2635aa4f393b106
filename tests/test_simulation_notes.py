"""The notes of a run where its settings, not the link, decide."""

import re
import warnings
from pathlib import Path
from typing import Any

import command
import pytest

import clift

CLEAN = clift.channel.bernoulli(slots=100_000, p=0, slot_ns=1_200_000, lldu_bytes=1500)
LINK = clift.tmt.apply(CLEAN, "none", rtt_ms=500)


def notes(link: clift.LinkTrace, **options: Any) -> list[str]:
    """What `simulate` warns of, which are the run's notes."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        run = clift.simulate(link, transport="cubic", wrap=True, **options)
    assert [str(warning.message) for warning in seen] == run.notes()
    return run.notes()


def test_a_flow_stuck_in_recovery_is_noted() -> None:
    papers = {"profile": "papers", "duration_s": 60}
    *_, stuck = notes(LINK, **papers)
    assert re.match(r"flow 0: only \d+ of \d+ segments arrived in order; .* cwnd_max ", stuck)
    assert notes(LINK, cwnd_max_packets=1400, **papers) == []
    assert notes(LINK, duration_s=60) == []


def test_losses_that_tcp_causes_are_noted() -> None:
    near = clift.tmt.apply(CLEAN, "none", rtt_ms=24)
    first, *_ = notes(near, profile="papers", duration_s=120)
    found = re.match(r"full queues dropped (\d+) of (\d+) segments, the links lost 0: ", first)
    assert found is not None
    dropped, sent = map(int, found.groups())
    assert 0.1 * sent < dropped < sent
    assert notes(near, duration_s=120) == []


def test_link_losses_and_datagrams_need_no_note() -> None:
    lossy = clift.channel.bernoulli(slots=100_000, p=0.05, slot_ns=1_200_000, lldu_bytes=1500)
    link = clift.tmt.apply(lossy, "none", rtt_ms=500)
    for options in (
        {"transport": "newreno"},
        {"transport": "udp", "message_bytes": 1000, "message_kbps": 5000},
    ):
        assert clift.simulate(link, wrap=True, duration_s=60, **options).notes() == []


def test_the_table_of_a_campaign_has_the_note(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        'duration = "60 s"\n[channel]\nmodel = "bernoulli"\nerasures = "0 %"\nslot = "1200 us"\n'
        'lldu = "1500 B"\n[transport]\nprofile = "papers"\n'
        '[vary]\ntransport.cwnd_max = ["1400 packets", "100000 packets"]\n'
    )
    done = command.clift("run", path)
    found = done.stdout[done.stdout.index("Note on 100000 packets: ") :]
    assert "segments, the links lost 0: TCP itself caused most losses" in " ".join(found.split())
    assert done.stdout.count("Note on") == 1


def test_acknowledgements_that_fill_the_way_back_with_padding_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        'duration = "5 s"\n[channel]\nmodel = "bernoulli"\nerasures = "0 %"\nrate = "20 Mbit/s"\n'
        '[return.channel]\nmodel = "bernoulli"\nerasures = "0 %"\nrate = "2 Mbit/s"\n'
    )
    with pytest.warns(UserWarning, match="padding"):
        padded = clift.simulate(path)
    (told,) = padded.notes()
    assert re.match(r"return link 0 is nearly full, mostly of padding, .* \[return.link\]", told)
    shared = clift.simulate(path, **{"return.link.packing": "bytes"})
    assert shared.notes() == []
    assert shared.goodput_kbps > 3 * padded.goodput_kbps
    assert "mostly of padding, as each packet" in " ".join(
        command.clift("run", path).stdout.split()
    )


def test_a_return_link_of_a_network_is_noted_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    channel = 'channel = { model = "bernoulli", erasures = "0 %", rate = "'
    path.write_text(
        'duration = "5 s"\n[network.links.sat]\nfrom = "a"\nto = "b"\n'
        f'{channel}20 Mbit/s" }}\nreturn.{channel}2 Mbit/s" }}\n'
        '[[flow]]\nname = "x"\nfrom = "a"\nto = "b"\n'
    )
    with pytest.warns(
        UserWarning, match=r"return link sat .* \[network\.links\.sat\.return\.link\]"
    ):
        padded = clift.simulate(path)
    shared = clift.simulate(path, **{"network.links.sat.return.link.packing": "bytes"})
    assert shared.notes() == []
    assert shared.goodput_kbps > 3 * padded.goodput_kbps
