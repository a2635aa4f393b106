"""What a run says of itself where its settings, not the link, decide."""

import subprocess
import sys
from pathlib import Path

import pytest

import clift

CLEAN = clift.channel.bernoulli(slots=100_000, p=0, slot_ns=1_200_000, lldu_bytes=1500)
LINK = clift.tmt.apply(CLEAN, "none", rtt_ms=500)


def test_a_flow_that_is_stuck_in_recovery_says_so() -> None:
    with pytest.warns(UserWarning, match=r"flow 0: of \d+ segments that arrived .* cwnd_max "):
        stuck = clift.simulate(LINK, transport="cubic", wrap=True, duration_s=60)
    assert len(stuck.notes()) == 1
    bounded = clift.simulate(
        LINK, transport="cubic", wrap=True, duration_s=60, cwnd_max_packets=1400
    )
    assert bounded.notes() == []
    assert bounded.goodput_kbps > 5 * stuck.goodput_kbps


def test_losses_and_datagrams_are_nothing_to_note() -> None:
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
        'lldu = "1500 B"\n[vary]\ntransport.cwnd_max = ["1400 packets", "100000 packets"]\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "clift", "run", path], capture_output=True, text=True, check=True
    )
    notes = [line for line in done.stdout.splitlines() if line.startswith("Note")]
    assert len(notes) == 1
    assert notes[0].startswith("Note on 100000 packets: flow 0: of ")
