"""An application of one's own: messages at random times, with the delay of each.

`python examples/own_application.py`, or in a scenario: `application.type = "sensor"` and
`clift run FILE --plugin examples/own_application.py`.
"""

import clift


@clift.register_application("sensor")
class Sensor:
    """Messages of one size, so many a second in the mean, after pauses without memory."""

    def __init__(self, rng, per_second=20.0, message_bytes=400):
        self.rng, self.per_second, self.size = rng, per_second, message_bytes
        self.due, self.delays = [], []

    def send(self, now_ns):
        """A message now, and the time of the next."""
        self.due.append(now_ns)
        return self.size, now_ns + 1 + int(self.rng.exponential(1e9 / self.per_second))

    def arrived(self, now_ns, start, end):
        """Counts the messages whose last byte is there."""
        while (len(self.delays) + 1) * self.size <= end:
            self.delays.append(now_ns - self.due[len(self.delays)])

    def report(self):
        """Sent, received, in time (here all), delays."""
        return len(self.due), len(self.delays), len(self.delays), self.delays


if __name__ == "__main__":
    phy = clift.channel.bernoulli(slots=60_000, slot_ns=1_000_000, p=0.1, lldu_bytes=500, seed=1)
    for scheme in ("none", "ARQ", "FEC(10/12)"):
        link = clift.tmt.apply(phy, scheme, rtt_ms=100)
        run = clift.simulate(link, duration_s=50, **{"application.type": "sensor"})
        delay = run.summary()["flows"][0]["messages"]["delay_ms"]
        print(f"{scheme}: mean {delay['mean']:.0f} ms, 95 % within {delay['p95']:.0f} ms")
