"""A custom congestion control: additive increase and multiplicative decrease.

`python examples/own_congestion.py`, or in a scenario: `transport.congestion = "aimd"` and
`clift run FILE --plugin examples/own_congestion.py`.
"""

import clift


@clift.register_congestion("aimd")
class Aimd:
    """Adds two segments per round trip and removes a quarter of the window after a loss."""

    def on_ack(self, ack, window):
        """Grows the window if it limited the sender."""
        if not ack.fills_window:
            return
        left = ack.segments
        if window.in_slow_start:
            left = window.slow_start(ack.segments)
        window.increase(window.cwnd, 2 * left)

    def on_loss(self, window):
        """Returns the new window, three quarters of the old one."""
        return max(window.cwnd // 4 * 3, 2)


if __name__ == "__main__":
    phy = clift.channel.bernoulli(slots=60_000, slot_ns=1_000_000, p=0.002, lldu_bytes=1500, seed=1)
    link = clift.tmt.apply(phy, "none", rtt_ms=100)
    for name in ("newreno", "aimd"):
        run = clift.simulate(link, transport=name, duration_s=50)
        print(f"{name}: {run.goodput_kbps:.0f} kbit/s")
