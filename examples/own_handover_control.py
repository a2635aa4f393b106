"""A congestion control that knows when the satellite changes, beside the same one without.

`python examples/own_handover_control.py [SKIES]`, or in a scenario with `link.handover_every`:
`transport.congestion = "foresight"` and `clift run FILE --plugin examples/own_handover_control.py`.
"""

import statistics
import sys
import tempfile
from pathlib import Path

import clift


class Reno:
    """Additive increase, and half of the window after a loss."""

    def on_ack(self, ack, window):
        """Grows the window if it limited the sender."""
        if not ack.fills_window:
            return
        left = window.slow_start(ack.segments) if window.in_slow_start else ack.segments
        window.increase(window.cwnd, left)

    def on_loss(self, window):
        """Returns half of the window."""
        return max(window.cwnd // 2, 2)


clift.register_congestion("plain")(Reno)


@clift.register_congestion("foresight")
class Foresight(Reno):
    """Holds back before a handover, then takes the window of the new rate and delay."""

    def __init__(self, mss_bytes):
        self.bits = 8 * mss_bytes
        self.rest_ns = None  # least round trip without the delay of the link
        self.now_ns = self.srtt_ns = 0
        self.current = None  # the last handover

    def fits(self, handover):
        """Returns the window that fills the link after a handover without a queue."""
        if self.rest_ns is None or handover.rate_bps is None or handover.delay_ns is None:
            return None
        round_trip_s = (self.rest_ns + handover.delay_ns) / 1e9
        return max(int(handover.rate_bps * round_trip_s / self.bits), 2)

    def on_ack(self, ack, window):
        """Follows the timetable; between handovers it is Reno."""
        self.now_ns, self.srtt_ns = ack.now_ns, ack.srtt_ns or 0
        last, coming = ack.last_handover, ack.handover
        if last and ack.now_ns < last.at_ns + last.gap_ns:
            return
        if last and (self.current is None or last.at_ns > self.current.at_ns):
            self.current = last
            window.cwnd = self.fits(last) or window.cwnd
            window.ssthresh = window.cwnd
        elif self.current and ack.rtt_ns and not self.is_fresh():
            rest_ns = ack.rtt_ns - (self.current.delay_ns or 0)
            self.rest_ns = min(rest_ns, self.rest_ns or rest_ns)
        if coming and self.current and coming.at_ns - ack.now_ns < self.srtt_ns:
            window.cwnd = min(window.cwnd, self.fits(self.current) or window.cwnd)
        else:
            super().on_ack(ack, window)

    def is_fresh(self):
        """Says whether segments of before the handover may still be under way."""
        return self.now_ns < self.current.at_ns + self.current.gap_ns + 2 * self.srtt_ns

    def on_loss(self, window):
        """Keeps the window if the queue overflowed in the gap."""
        if self.current and self.is_fresh():
            return self.fits(self.current) or window.cwnd
        return super().on_loss(window)


SCENARIO = """
duration = "60 s"
[trace]
file = "sky.csv"
time = "time_s:s"
rate = "rate_mbps:Mbit/s"
delay = "delay_ms:ms"
lldu = "1500 B"
[link]
rtt = "20 ms"
queue = "200 packets"
start = "7 s"
handover_every = "15 s"
[return]
delay = "35 ms"
"""

if __name__ == "__main__":
    skies = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    goodputs = {"plain": [], "foresight": [], "cubic": []}
    queueing = {name: [] for name in goodputs}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, skies + 1):
            table = clift.constellation.sky(90, 50, seed=seed)
            clift.constellation.write_sky(table, Path(folder, "sky.csv"))
            for name, found in goodputs.items():
                changes = {"transport.congestion": name, "seed": seed}
                scenario = clift.Scenario.parse(SCENARIO, str(Path(folder, "x.toml")), changes)
                run = clift.simulate(scenario)
                found.append(run.goodput_kbps / 1e3)
                queueing[name].append(run.numbers()["links.0.queueing_delay_ms.mean"])
    for name, found in goodputs.items():
        delay = statistics.fmean(queueing[name])
        print(f"{name}: {statistics.fmean(found):.1f} Mbit/s, {delay:.0f} ms in the queue")
    gains = [
        own - cubic for own, cubic in zip(goodputs["foresight"], goodputs["cubic"], strict=True)
    ]
    above = sum(gain > 0 for gain in gains)
    gain = statistics.fmean(gains)
    print(f"foresight is above cubic by {gain:.1f} Mbit/s, under {above} of {skies} skies")
