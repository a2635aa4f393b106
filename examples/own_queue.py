"""A custom queue: short packets go first, and packets that waited too long are dropped.

`python examples/own_queue.py`, or in a scenario: `link.aqm = "short-first(200)"` and
`clift run FILE --plugin examples/own_queue.py`.
"""

from collections import deque

import clift


@clift.register_queue("short-first")
class ShortFirst:
    """Sends short packets first; drops packets that waited longer than `most_ms`."""

    def __init__(self, most_ms=200, short_bytes=200):
        self.most_ns = most_ms * 1_000_000
        self.short_bytes = short_bytes
        self.short, self.long = deque(), deque()

    def enqueue(self, packet):
        """Puts a packet into the queue of its size."""
        (self.short if packet.size_bytes <= self.short_bytes else self.long).append(packet)

    def dequeue(self, now_ns):
        """Returns the first short packet, otherwise the first long one that is not too old."""
        while self.short or self.long:
            packet = (self.short or self.long).popleft()
            if now_ns - packet.arrived_ns <= self.most_ns:
                return packet
            packet.drop()
        return None


if __name__ == "__main__":
    phy = clift.channel.bernoulli(slots=60_000, slot_ns=1_000_000, p=0.0, lldu_bytes=1500, seed=1)
    link = clift.tmt.apply(phy, "none", rtt_ms=100)
    for aqm in ("none", "codel", "short-first(200)"):
        run = clift.simulate(link, duration_s=50, **{"link.aqm": aqm})
        wait = run.summary()["links"][0]["queueing_delay_ms"]["mean"]
        print(f"{aqm}: {run.goodput_kbps:.0f} kbit/s, {wait:.0f} ms in the queue")
