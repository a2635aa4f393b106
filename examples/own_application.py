"""A custom application: messages at random times, with the delay of each.

`python examples/own_application.py`, or in a scenario: `application.type = "sensor"` and
`clift run FILE --plugin examples/own_application.py`.
"""

import clift


@clift.register_application("sensor")
class Sensor:
    """Sends messages of one size, `per_second` on average, after exponential pauses."""

    def __init__(self, rng, per_second=20.0, message_bytes=400):
        self.rng, self.per_second, self.size = rng, per_second, message_bytes
        self.due, self.delays = [], []

    def send(self, now_ns):
        """Returns the size of a message to send now, and the time of the next one."""
        self.due.append(now_ns)
        return self.size, now_ns + 1 + int(self.rng.exponential(1e9 / self.per_second))

    def arrived(self, now_ns, start, end):
        """Records the delay of each message whose last byte has arrived."""
        while (len(self.delays) + 1) * self.size <= end:
            self.delays.append(now_ns - self.due[len(self.delays)])

    def report(self):
        """Returns messages sent, received and in time (here all), and their delays."""
        return len(self.due), len(self.delays), len(self.delays), self.delays


if __name__ == "__main__":
    phy = clift.channel.bernoulli(slots=60_000, slot_ns=1_000_000, p=0.1, lldu_bytes=500, seed=1)
    for scheme in ("none", "ARQ", "FEC(10/12)"):
        link = clift.tmt.apply(phy, scheme, rtt_ms=100)
        run = clift.simulate(link, duration_s=50, **{"application.type": "sensor"})
        delay = run.summary()["flows"][0]["messages"]["delay_ms"]
        print(f"{scheme}: mean {delay['mean']:.0f} ms, 95 % within {delay['p95']:.0f} ms")
